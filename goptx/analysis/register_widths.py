"""How many registers of 32 bits each declared register takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from goptx.ptx.ir import Registers


def widths(declared: Iterable[Registers]) -> dict[str, int]:
    """By name. Predicates have registers of their own and take none."""
    found: dict[str, int] = {}
    for one in declared:
        width = _width(one.types)
        for name, count in one.names:
            found |= dict.fromkeys([name] if count is None else [f"{name}{i}" for i in range(count)], width)
    return found


def _width(types: Sequence[str]) -> int:
    """Of a declaration: the type at its end, of vectors as often as they have components."""
    bits = "".join(c for c in types[-1] if c.isdigit())
    lanes = next((int(t[2:]) for t in types if t in (".v2", ".v4", ".v8")), 1)
    return lanes * -(-int(bits or 0) // 32)
