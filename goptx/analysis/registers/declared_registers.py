"""What each declared register is: its type, and the number of 32-bit registers that it takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from goptx.ptx.ir import Registers


def declared_types(declared: Iterable[Registers]) -> dict[str, str]:
    """The types of registers that are not vectors, without the dot."""
    return {name: one.types[0][1:] for one in declared if len(one.types) == 1 for name in _names(one)}


def widths(declared: Iterable[Registers]) -> dict[str, int]:
    """The widths by name. Predicates have registers of their own and take 0."""
    found: dict[str, int] = {}
    for one in declared:
        found |= dict.fromkeys(_names(one), _width(one.types))
    return found


def _names(declared: Registers) -> Iterator[str]:
    for name, count in declared.names:
        yield from [name] if count is None else (f"{name}{i}" for i in range(count))


def _width(types: Sequence[str]) -> int:
    """The width of a declaration: that of its last type, times the components of a vector."""
    bits = "".join(c for c in types[-1] if c.isdigit())
    lanes = next((int(t[2:]) for t in types if t in (".v2", ".v4", ".v8")), 1)
    return lanes * -(-int(bits or 0) // 32)
