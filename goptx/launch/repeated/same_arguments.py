"""Whether a launch has the arguments of the one before: a function that asks just that, written for their types.

Requires: arguments that were packed. Ensures: what is recognised has the same contents and, if sizes count, the same
extents. No array is held here. The text of the function is compiled once for each combination of types; nothing that
a user gives becomes part of it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

Same = Callable[[Sequence[Sequence[Any]]], bool]
"""Takes one sequence for each kernel. Raises `ValueError` or `TypeError` where there are more or fewer, and whatever an
argument raises that is asked for its address."""

_TESTS = {
    # Memory, shape and strides of a tensor may change at any time.
    "tensor": "type(a{i}) is t{i} and a{i}.data_ptr() == v{i}",
    "sized tensor": "type(a{i}) is t{i} and a{i}.data_ptr() == v{i} and a{i}.nbytes == n{i} and a{i}.is_contiguous()",
    # An array of CuPy has the same bytes as long as it lives.
    "array": "v{i}() is a{i}",
    # A zero has a sign, so one is recognised as itself only; the others together.
    "zero": "a{i} is v{i}",
    "constant": "",
}


def same_arguments(args: Sequence[Sequence[Any]], ways: Sequence[str], sized: bool) -> Same:
    """What recognises these arguments, which are in use. ways: how each of them is recognised, as "constant", "tensor"
    or "array". sized: arrays at the same addresses are compared by their sizes, too."""
    given = [arg for own in args for arg in own]
    names = tuple(_name(arg, way, sized) for arg, way in zip(given, ways, strict=True))
    values: dict[str, Any] = {}
    for i, (arg, name) in enumerate(zip(given, names, strict=True)):
        values[f"t{i}"] = type(arg)
        values[f"n{i}"] = arg.nbytes if name == "sized tensor" else 0
        values[f"v{i}"] = weakref.ref(arg) if name == "array" else arg.data_ptr() if "tensor" in name else arg
    constants = tuple(arg for arg, name in zip(given, names, strict=True) if name == "constant")
    return _maker(tuple(map(len, args)), names)(values, constants, list(map(type, constants)))


def _name(arg: Any, way: str, sized: bool) -> str:
    if way == "tensor" and sized:
        return "sized tensor"
    return "zero" if way == "constant" and not arg else way


@lru_cache(maxsize=64)
def _maker(counts: tuple[int, ...], names: tuple[str, ...]) -> Callable[[dict[str, Any], Any, Any], Same]:
    """Takes values by name, the constants together and their types, and makes the function."""
    numbers = iter(range(len(names)))
    unpacked = ", ".join("[" + ", ".join(f"a{next(numbers)}" for _ in range(count)) + "]" for count in counts)
    constants = "".join(f"a{i}, " for i, name in enumerate(names) if name == "constant")
    tests = [_TESTS[name].format(i=i) for i, name in enumerate(names) if name != "constant"]
    text = "\n".join(
        [
            "def make(values, constants, types):",
            *(f"    {word}{i} = values['{word}{i}']" for i in range(len(names)) for word in "tnv"),
            "    def same(args):",
            f"        [{unpacked}] = args",
            f"        own = ({constants})",
            f"        return {' and '.join(['[*map(type, own)] == types and own == constants', *tests])}",
            "    return same",
        ]
    )
    scope: dict[str, Any] = {}
    exec(compile(text, "<same arguments>", "exec"), scope)
    made: Callable[[dict[str, Any], Any, Any], Same] = scope["make"]
    return made
