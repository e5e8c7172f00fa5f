"""Values that are computed once and cached, whichever thread asks first."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property, wraps
from threading import Lock
from typing import Any, Generic, TypeVar, overload

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
T = TypeVar("T")
A = TypeVar("A")


class Same(Generic[T]):
    """An object compared by identity, which remains valid while it is held here. For keys that are quick to compare."""

    def __init__(self, held: T) -> None:
        self.held = held

    def __hash__(self) -> int:
        return id(self.held)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.held is other.held


class once(Generic[T]):
    """A property that is computed when it is first read, and from then on is an attribute like any other. As
    `functools.cached_property`, without the lock that this has before Python 3.12 and which takes longer than a short
    computation. Threads that ask at one time may both compute it."""

    def __init__(self, find: Callable[[Any], T]) -> None:
        self.find = find
        self.__doc__ = find.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> once[T]: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> once[T] | T:
        if instance is None:
            return self
        found = instance.__dict__[self.name] = self.find(instance)
        return found


def cached_in_argument(find: Callable[[A], T]) -> Callable[[A], T]:
    """Decorates a function of an object that never changes and has a `__dict__`: the result is stored there."""
    name = f"_of_{find.__module__}.{find.__name__}"

    @wraps(find)
    def stored(of: A) -> T:
        attributes = of.__dict__
        if name not in attributes:
            attributes[name] = find(of)
        found: T = attributes[name]
        return found

    return stored


class Memo(dict[K, V]):
    """A dictionary that computes missing values, which are never None. A slow computation, such as assembling, runs
    once for each key and in one thread, while other threads may ask for other keys.

    most: when there are as many, all are removed; 0 for no limit. Can be pickled if its contents can.
    """

    def __init__(self, contents: dict[K, V] | tuple[()] = (), most: int = 0) -> None:
        super().__init__(contents)
        self.most = most
        self._lock = Lock()
        self._making: dict[K, Lock] = {}

    def made(self, key: K, make: Callable[[], V]) -> V:
        """The cached value for the key; `make` computes it. Exceptions of `make` are not cached."""
        found = self.get(key)
        if found is not None:
            return found
        with self._lock:
            making = self._making.setdefault(key, Lock())
        with making:
            found = self.get(key)
            if found is None:
                found = make()
                if self.most and len(self) >= self.most:
                    self.clear()
                    self._making.clear()
                self[key] = found
            return found

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self), self.most)


class Deferred(Generic[T]):
    """A value that is computed when it is first asked for. `make` has no effects: threads that ask at one time may both
    call it. A pickle holds the value."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make

    @cached_property
    def value(self) -> T:
        return self._make()

    def __reduce__(self) -> tuple[Any, ...]:
        return computed, (self.value,)


def computed(value: T) -> Deferred[T]:
    """A value that is known already, where one that may be deferred is wanted."""
    return Deferred(lambda: value)
