"""A kernel whose flow may be merged with another's: what convergence (converge.py, unknown.py) makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from goptx.analysis.cfg import Flow
from goptx.ptx.ir import Operand, Registers

Choice = Literal["park", "predicate", "duplicate"]
CHOICES: tuple[Choice, ...] = get_args(Choice)


@dataclass(frozen=True, slots=True)
class Divergence:
    """How the divergent branch on a line of the kernel's file is dealt with. A region is "park" until the merger
    puts the other kernel's code on its sides: its `regions` are the block that stands for it and copies of that."""

    line: int
    choice: Choice
    regions: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Converged:
    """A kernel's flow with warp-uniform branches only, regions apart.

    `registers` are the fresh ones that it needs; `warp_branches` the blocks whose branch the warps of a CTA
    may take differently; `notes` what was presumed; `last` whether it may only run when the other kernel has
    ended; `lanes_wait_apart` whether lanes of one warp may come to a wait for other threads one by one
    (waits.py); `threads` how many meet at its barriers where the woven kernel's CTA is larger (gate.py).
    `as_written`: nothing was rewritten, so lanes may be apart in any block.
    """

    flow: Flow
    registers: tuple[Registers, ...] = ()
    warp_branches: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    divergences: tuple[Divergence, ...] = ()
    last: bool = False
    threads: Operand | None = None
    lanes_wait_apart: bool = False
    as_written: bool = False
