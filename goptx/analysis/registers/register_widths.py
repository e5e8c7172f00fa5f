"""The number of 32-bit registers that each declared register takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from goptx.ptx.ir import Registers


def widths(declared: Iterable[Registers]) -> dict[str, int]:
    """The widths by name. Predicates have registers of their own and take 0."""
    found: dict[str, int] = {}
    for one in declared:
        width = _width(one.types)
        for name, count in one.names:
            found |= dict.fromkeys([name] if count is None else [f"{name}{i}" for i in range(count)], width)
    return found


def _width(types: Sequence[str]) -> int:
    """The width of a declaration: that of its last type, times the components of a vector."""
    bits = "".join(c for c in types[-1] if c.isdigit())
    lanes = next((int(t[2:]) for t in types if t in (".v2", ".v4", ".v8")), 1)
    return lanes * -(-int(bits or 0) // 32)
