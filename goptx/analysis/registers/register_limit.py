"""The most registers that the assembler may give a thread, by the launch bounds of its kernel."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from goptx.ptx.ir import Directive, whole_number

MOST = 255  # registers of a thread
_OF_SM, _UNIT, _WARP = 65_536, 8, 32  # registers of an SM; those of a thread are multiples of 8; threads of a warp

_LIMITS = (".reqntid", ".maxntid", ".minnctapersm", ".maxnreg")


def most_registers(bounds: Iterable[Directive]) -> int:
    """With so many the CTAs that the bounds demand fit on an SM: one, or `.minnctapersm`, of `.maxntid` threads."""
    values = {d.name: prod(map(whole_number, d.values)) for d in bounds if d.name in _LIMITS}
    threads = values.get(".reqntid") or values.get(".maxntid")
    most = values.get(".maxnreg", MOST)
    if threads:
        warps = -(-threads // _WARP) * max(values.get(".minnctapersm", 1), 1)
        most = min(most, _OF_SM // (warps * _WARP) // _UNIT * _UNIT)
    return min(most, MOST)
