"""The most registers that the assembler may give a thread, by the launch bounds of its kernel and the size of an SM."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from goptx.ptx.ir import Directive, whole_number

MOST = 255  # registers of a thread
UNIT = 8  # registers of a thread are multiples of it
_OF_SM, _WARP = 65_536, 32  # registers of an SM; threads of a warp

_LIMITS = (".reqntid", ".maxntid", ".minnctapersm", ".maxnreg")


@dataclass(frozen=True, slots=True)
class RegisterLimit:
    """`most` registers of a thread; `threads` of a CTA, 0 if the bounds do not say."""

    most: int = MOST
    threads: int = 0

    @staticmethod
    def of(bounds: Iterable[Directive]) -> RegisterLimit:
        """With `most` the CTAs that the bounds demand fit on an SM: one, or `.minnctapersm`, of `.maxntid` threads."""
        values = {d.name: prod(map(whole_number, d.values)) for d in bounds if d.name in _LIMITS}
        threads = values.get(".reqntid") or values.get(".maxntid") or 0
        most = min(values.get(".maxnreg", MOST), MOST)
        if threads:
            most = min(most, _fitting(max(values.get(".minnctapersm", 1), 1), threads))
        return RegisterLimit(most, threads)


def without_loss(registers: int, threads: int) -> int:
    """The most registers of a thread with which as many CTAs of so many threads fit on an SM as with these."""
    ctas = _OF_SM // (_whole(threads, _WARP) * _whole(registers, UNIT))
    return min(_fitting(max(ctas, 1), threads), MOST)


def _fitting(ctas: int, threads: int) -> int:
    return _OF_SM // (ctas * _whole(threads, _WARP)) // UNIT * UNIT


def _whole(number: int, unit: int) -> int:
    return -(-number // unit) * unit
