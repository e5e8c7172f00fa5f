"""The syntax tree of a random kernel: what Hypothesis draws, and what `writer.py` makes PTX of.

Every tree is a valid kernel. Statements name registers by small numbers, which the writer takes modulo the size of
the pool that is meant; all registers of the pools have values from the beginning on.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from goptx.weaving.divergence.converged import Choice

Numbers = tuple[int, ...]  # each from 0 to 15


class Level(IntEnum):
    """Who is sure to execute a place together: all threads of the CTA that have not ended, all such lanes of a warp,
    those of them in a known mask, or nobody knows who."""

    CTA = 0
    WARP = 1
    PART = 2
    LONE = 3


@dataclass(frozen=True, slots=True)
class Guard:
    register: int
    negated: bool


@dataclass(frozen=True, slots=True)
class Plain:
    """An instruction of `arithmetic.py`, by its row."""

    row: str
    numbers: Numbers
    guard: Guard | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """Something with memory that every thread may do for itself; kinds are in `memory.py`."""

    kind: str
    numbers: Numbers
    guard: Guard | None = None


@dataclass(frozen=True, slots=True)
class Together:
    """Something that lanes do together, at a place where it is known which; kinds are in `together.py`."""

    kind: str
    numbers: Numbers


@dataclass(frozen=True, slots=True)
class Meeting:
    """Something that all threads of a CTA do together; kinds are in `meeting.py`."""

    kind: str
    numbers: Numbers


@dataclass(frozen=True, slots=True)
class Call:
    """v[0] = function(v[1], v[2])."""

    function: int
    numbers: Numbers
    uniform: bool


@dataclass(frozen=True, slots=True)
class Condition:
    """A test; kinds are in `conditions.py`. Joined by "and" or "or" the second test, and the `work` ahead of it, are
    only reached where the first leaves it open."""

    kind: str
    numbers: Numbers
    joined: tuple[str, tuple[Plain, ...], Condition] | None = None


@dataclass(frozen=True, slots=True)
class If:
    """`arms`: "lone" or "together", at the `level` given, or "masked" or "halves", where the lanes of each arm know
    each other. `promised` makes the branch a `bra.uni`, which only holds for "together"."""

    condition: Condition
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    arms: str
    level: Level
    promised: bool = False


@dataclass(frozen=True, slots=True)
class Count:
    """How often a loop runs, 0 to 4 times, or which of 2 or 4 cases is taken; kinds are in `conditions.py`."""

    kind: str
    numbers: Numbers


@dataclass(frozen=True, slots=True)
class Loop:
    """`form` is "strided" or one of `control.FORMS`; some have a second body, and a condition of where to enter.
    `level` is that of the bodies."""

    form: str
    level: Level
    count: Count
    body: tuple[Statement, ...]
    second: tuple[Statement, ...] = ()
    enter: Condition | None = None


@dataclass(frozen=True, slots=True)
class Switch:
    index: Count
    level: Level
    cases: tuple[tuple[Statement, ...], ...]
    falls: tuple[bool, ...]
    promised: bool = False


@dataclass(frozen=True, slots=True)
class Leave:
    """Threads end, by one of `control.ENDS`."""

    condition: Condition
    form: str
    numbers: Numbers


@dataclass(frozen=True, slots=True)
class Skip:
    """Out of the innermost loop ("break"), or to its next turn ("continue")."""

    kind: str
    condition: Condition


Statement = Plain | Access | Together | Meeting | Call | If | Loop | Switch | Leave | Skip
Extent = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Kernel:
    """One entry and how it is launched.

    n: threads with a number from n on end at the guard, if there is one: "" (none), "first" or "loaded" (after loads).
    scale: a scalar parameter. level: of the body; at `Level.LONE` no threads do anything together.
    exact: no warp has lanes that end apart from others, or is not full.
    tile: where each thread gets a word of shared memory that others may read: "" (nowhere), "before" or "after" the
    guard. bins: whether there are totals in shared memory. start: how registers get their first values.
    """

    name: str
    grid: Extent
    block: Extent
    n: int
    scale: int
    guard: str
    level: Level
    exact: bool
    tile: str
    bins: bool
    start: str
    functions: tuple[tuple[Statement, ...], ...]
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two kernels of one launch shape, how they are woven, and the seed of their data and of the warps' order."""

    first: Kernel
    second: Kernel
    policy: str
    slicing: str | int | None
    divergence: Choice | None
    seed: int
