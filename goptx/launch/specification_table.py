"""The tables of a launch specification: which keys each has, and which values a key takes.

Ensures: what is not so is refused by an `InputError` with the file, the table, the key and what it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from goptx.errors import InputError
from goptx.options import is_whole

Kind = tuple[Callable[[Any], bool], str]  # whether it is a value of this kind; the kind in words


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_number(value: Any) -> bool:
    return is_whole(value) or isinstance(value, float)


def _is_count(value: Any) -> bool:
    return is_whole(value) and 0 <= value < 1 << 63


def _is_extent(value: Any) -> bool:
    return isinstance(value, list) and 1 <= len(value) <= 3 and all(_is_count(n) and n for n in value)


def _is_range(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(_is_number(n) and isfinite(n) for n in value)


def _is_list_of_tables(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(table, Mapping) for table in value)


def _has_each(kind: Kind) -> Kind:
    return lambda v: isinstance(v, Mapping) and all(map(kind[0], v.values())), f"a table; in it each name has {kind[1]}"


TEXT: Kind = _is_text, "a text"
NUMBER: Kind = _is_number, "a number"
COUNT: Kind = _is_count, "a whole number from 0 on"
EXTENT: Kind = _is_extent, "one to three whole numbers above 0 in brackets, such as [1024]"
SWITCH: Kind = (lambda v: isinstance(v, bool)), "true or false"

FILE: Mapping[str, Kind] = {
    "kernel": (_is_list_of_tables, "a list of tables, [[kernel]]"),
    "check": (
        lambda v: isinstance(v, Mapping) or _is_list_of_tables(v),
        "a table [check], or [[check]] of each kernel",
    ),
}
KERNEL: Mapping[str, Kind] = {
    "file": TEXT, "entry": TEXT, "grid": EXTENT, "block": EXTENT, "shared": COUNT, "cubin": TEXT, "tunable": SWITCH,
    "argument": (_is_list_of_tables, "a list of tables, [[kernel.argument]]"),
}  # fmt: skip
ARGUMENT: Mapping[str, Kind] = {
    "name": TEXT, "dtype": TEXT, "value": NUMBER, "length": COUNT, "generator": TEXT, "seed": COUNT, "role": TEXT,
    "range": (_is_range, "two numbers in brackets, such as [0, 100]"),
}  # fmt: skip
CHECK: Mapping[str, Kind] = {
    "grid": EXTENT, "block": EXTENT, "shared": COUNT, "lengths": _has_each(COUNT), "values": _has_each(NUMBER),
}  # fmt: skip


def check_table(where: str, table: Mapping[str, Any], keys: Mapping[str, Kind]) -> None:
    """Raises `InputError` for a key that is not among `keys`, and for a value that is not of its kind. `where` names
    the table in the message."""
    for key, value in table.items():
        if key not in keys:
            raise InputError(f"{where}: unknown key `{key}`; expected {', '.join(sorted(keys))}.")
        is_right, words = keys[key]
        if not is_right(value):
            raise InputError(f"{where}: `{key}` is {words}, not {str(value)[:60]!r}.")
