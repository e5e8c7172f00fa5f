"""A kernel whose flow may be merged with another's: what convergence (converge.py, unknown.py) makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from goptx.analysis.cfg import Flow

Choice = Literal["park", "predicate", "duplicate"]
CHOICES: tuple[Choice, ...] = get_args(Choice)


@dataclass(frozen=True, slots=True)
class Divergence:
    """How the divergent branch on a line of the kernel's file is dealt with. A region is "park" until the merger
    puts the other kernel's code on its sides: it is the block `region` then, "" for what is no region."""

    line: int
    choice: Choice
    region: str = ""


@dataclass(frozen=True, slots=True)
class Converged:
    """A kernel's flow with warp-uniform branches only, regions apart.

    `predicates` and `words` are the fresh registers (`.pred`, `.b32`) that it needs; `warp_branches` the
    blocks whose branch the warps of a CTA may take differently; `notes` what was presumed; `last` whether it
    may only run when the other kernel has ended; `lanes_wait_apart` whether lanes of one warp may come to a
    wait for other threads one by one (waits.py).
    """

    flow: Flow
    predicates: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    warp_branches: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    divergences: tuple[Divergence, ...] = ()
    last: bool = False
    lanes_wait_apart: bool = False
