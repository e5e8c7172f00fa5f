"""Arguments that are recognised together: by how it is found that those of a launch are those of the launch before.

Requires: types of arguments that are those of the group, one thread at a time. Ensures: contents and extents that a
group leaves out are the present ones. What a group notes counts from `accept` on, so that arguments that are refused
change nothing. No array is held here.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from operator import is_, itemgetter
from typing import Any, Protocol

from goptx.launch.arguments import Slot
from goptx.launch.device_arrays import Extent, contiguous, framework_of, raw

Content = int | bytes
Found = tuple[int, Content, Extent | None]
"""The number of a parameter; its bytes where it is passed by value as a block of bytes, else the number that they are
(little-endian); the extent of a pointer, None of others."""

_NOTHING: Any = object()  # equal to no argument


class ArgumentGroup(Protocol):
    """Some of the arguments of a launch.

    way: how each is recognised by `same_arguments`, "" if it cannot be. positions: the numbers of their parameters.
    """

    way: str
    positions: Sequence[int]

    def changes(self, given: Sequence[Any], sized: bool) -> Iterable[Found]:
        """Those of the `given` arguments of all parameters that may have changed since the last `accept`. Unless they
        are `sized`, arrays at the same addresses are not compared by their sizes. Raises `InputError`."""

    def accept(self) -> None:
        """The arguments of the last `changes` are in use now."""

    def forget(self) -> None:
        """All arguments count as changed."""


def groups(slots: Sequence[Slot], kinds: Sequence[Any]) -> list[ArgumentGroup]:
    """The groups of arguments of these types."""
    found: dict[Callable[..., ArgumentGroup], list[int]] = {}
    for i, (slot, kind) in enumerate(zip(slots, kinds, strict=True)):
        found.setdefault(_group(slot, kind), []).append(i)
    return [make([slots[i] for i in positions], positions) for make, positions in found.items()]


def _group(slot: Slot, kind: Any) -> Callable[..., ArgumentGroup]:
    """That of an argument of this type."""
    if slot.pointer and framework_of(kind) == "cupy" and all(hasattr(kind, name) for name in ("data", "flags")):
        return _CupyArrays
    if slot.pointer and all(hasattr(kind, name) for name in ("data_ptr", "nbytes", "is_contiguous", "is_cuda")):
        return _Tensors
    return _Constants if _is_constant(kind) else _Others


def _picker(positions: Sequence[int]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """What takes the elements at these positions."""
    if len(positions) > 1:
        return itemgetter(*positions)
    (only,) = positions
    return lambda given: (given[only],)


def packed(slot: Slot, i: int, arg: Any) -> Found:
    """The argument of parameter `i`. Raises `InputError`."""
    if type(arg) is int and slot.integer and 0 <= arg < slot.end:
        return i, arg, raw(arg) if slot.pointer else None
    content, extent = slot.packed(arg)
    return i, content if slot.kind == "array" else int.from_bytes(content, "little"), extent


class _Constants:
    """Objects that cannot change: numbers, numpy's scalars, bytes, None. Equal ones of one type have equal contents,
    except zeros, which may have a sign."""

    way = "constant"

    def __init__(self, slots: Sequence[Slot], positions: Sequence[int]) -> None:
        self._slots, self.positions, self._pick = slots, positions, _picker(positions)
        self.forget()

    def forget(self) -> None:
        self._before = self._now = (_NOTHING,) * len(self._slots)
        self._zeros = False

    def changes(self, given: Sequence[Any], sized: bool) -> Iterable[Found]:
        now, before = self._pick(given), self._before
        self._now = now
        if now == before and not (self._zeros and not all(map(is_, now, before))):
            return ()
        return [
            packed(slot, i, arg)
            for slot, i, arg, old in zip(self._slots, self.positions, now, before, strict=True)
            if arg is not old and not (arg and arg == old)
        ]

    def accept(self) -> None:
        if self._now is not self._before:
            self._before = self._now
            self._zeros = 0 in self._now  # of any type


class _Tensors:
    """Tensors as torch has them. Their memory, shape and strides may change at any time, so they are read each time.

    A tensor at the address of the one before is not asked again whether it is on the device: host and device have one
    space of addresses.
    """

    way = "tensor"

    def __init__(self, slots: Sequence[Slot], positions: Sequence[int]) -> None:
        self._slots, self.positions, self._pick = slots, positions, _picker(positions)
        self.forget()

    def forget(self) -> None:
        unknown = [_NOTHING] * len(self._slots)
        self._before = self._now = unknown, unknown  # addresses, sizes in bytes

    def changes(self, given: Sequence[Any], sized: bool) -> Iterable[Found]:
        tensors = self._pick(given)
        self._now = self._before
        for tensor, address, size in zip(tensors, *self._before):  # noqa: B905, strict=True is slow
            if tensor.data_ptr() != address or (sized and (tensor.nbytes != size or not tensor.is_contiguous())):
                break
        else:
            return ()
        return self._read(tensors)

    def _read(self, tensors: Sequence[Any]) -> list[Found]:
        addresses, sizes, found = list[Any](), list[Any](), list[Found]()
        for slot, i, tensor in zip(self._slots, self.positions, tensors, strict=True):
            if tensor.is_cuda and tensor.is_contiguous():
                address, size = tensor.data_ptr(), tensor.nbytes
                found.append((i, address, contiguous(address, size)))
            else:  # also what is not taken
                address = size = _NOTHING
                found.append(packed(slot, i, tensor))
            addresses.append(address)
            sizes.append(size)
        self._now = addresses, sizes
        return found

    def accept(self) -> None:
        self._before = self._now


class _CupyArrays:
    """Arrays of CuPy. One of them has the same bytes as long as it lives: only its shape can be set, which moves none,
    so the same object needs no second look."""

    way = "array"

    def __init__(self, slots: Sequence[Slot], positions: Sequence[int]) -> None:
        self._slots, self.positions, self._pick = slots, positions, _picker(positions)
        self.forget()

    def forget(self) -> None:
        self._before: list[weakref.ref[Any]] = []
        self._now = self._before

    def changes(self, given: Sequence[Any], sized: bool) -> Iterable[Found]:
        arrays = self._pick(given)
        self._now = self._before
        if self._before and all(map(is_, arrays, [ref() for ref in self._before])):
            return ()
        self._now = list(map(weakref.ref, arrays))
        return [_of_cupy(slot, i, array) for slot, i, array in zip(self._slots, self.positions, arrays, strict=True)]

    def accept(self) -> None:
        self._before = self._now


def _of_cupy(slot: Slot, i: int, array: Any) -> Found:
    if not array.flags.c_contiguous:
        return packed(slot, i, array)
    address = array.data.ptr
    return i, address, contiguous(address, array.nbytes)


class _Others:
    """Arguments that are packed each time, since they may have changed: arrays of other frameworks, structures."""

    way = ""

    def __init__(self, slots: Sequence[Slot], positions: Sequence[int]) -> None:
        self._slots, self.positions = slots, positions

    def changes(self, given: Sequence[Any], sized: bool) -> Iterable[Found]:
        return [packed(slot, i, given[i]) for slot, i in zip(self._slots, self.positions, strict=True)]

    def accept(self) -> None:
        pass

    def forget(self) -> None:
        pass


@lru_cache(maxsize=256)
def _is_constant(kind: Any) -> bool:
    """Whether objects of the type never change."""
    import numpy as np

    return kind in (int, float, bool, bytes, type(None)) or (
        issubclass(kind, np.number | np.bool_) and kind.__module__ == "numpy"
    )
