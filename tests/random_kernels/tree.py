"""The syntax tree of a random kernel: what Hypothesis draws, and what `writer.py` makes PTX of.

Every tree is a valid kernel. Statements name registers by small numbers, which the writer takes modulo the size of
the pool that is meant; all registers of the pools have values from the beginning on.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from math import prod

from goptx.launch.shape import Shape
from goptx.options import Choice, Placement, Policy, Slicing

Numbers = tuple[int, ...]  # each from 0 to 15


class Level(IntEnum):
    """Which threads are sure to execute a place together: all threads of the CTA that have not ended (of the party, if
    parties have diverged), all such lanes of a warp, those of them in a known mask, or an unknown set."""

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
    """Something that all threads of a CTA, or of a party, do together; kinds are in `meeting.py` and `phases.py`."""

    kind: str
    numbers: Numbers


@dataclass(frozen=True, slots=True)
class Parties:
    """The warps of the two parties diverge, and wait at barriers that count them."""

    first: tuple[Statement, ...]
    second: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Handover:
    """One party writes words that the other reads, in rounds; each does something else in between. `form` is one of
    `parties.FORMS`."""

    form: str
    rounds: Count
    producers: tuple[Statement, ...]
    consumers: tuple[Statement, ...]
    numbers: Numbers


@dataclass(frozen=True, slots=True)
class Copying:
    """An asynchronous copy, something else, and then what was copied; kinds are in `copying.py`."""

    kind: str
    body: tuple[Statement, ...]
    numbers: Numbers


@dataclass(frozen=True, slots=True)
class Wait:
    """Threads of a CTA wait for others of it in a loop of their own; `form` is one of `waits.FORMS`, `read` one of
    `waits.READS`. depth: how many calls deep the flag is read. whole: whether the loop is in the function too."""

    form: str
    read: str
    depth: int
    whole: bool
    numbers: Numbers


@dataclass(frozen=True, slots=True)
class Message:
    """One thread writes data, then a flag; others look at the flag, do not wait for it, and read the data if they find
    it set. release, acquire: among those of `messages.py`."""

    release: str
    acquire: str
    scope: str
    spaces: tuple[str, str]
    numbers: Numbers


@dataclass(frozen=True, slots=True)
class Sides:
    """Warps take either side of a branch, and meet equally many barriers of the whole CTA on it. `by` is one of
    `sides.BY`. meets: what they meet there, a kind of `sides.MEETS` and numbers; bodies: what each side does before
    each of these and after the last."""

    by: str
    meets: tuple[tuple[str, Numbers], ...]
    first: tuple[tuple[Statement, ...], ...]
    second: tuple[tuple[Statement, ...], ...]
    numbers: Numbers


@dataclass(frozen=True, slots=True)
class Gone:
    """Lanes that branch away and end, while a warp operation of the others names them still; kinds are in `gone.py`."""

    kind: str
    condition: Condition
    by: str
    body: tuple[Plain, ...]
    numbers: Numbers


@dataclass(frozen=True, slots=True)
class Call:
    """v[2] = function(v[0], v[1]), or a predicate is."""

    function: int
    numbers: Numbers
    uniform: bool
    guard: Guard | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """A test; kinds are in `conditions.py`. Joined by "and" or "or" the second test, and the `work` before it, are
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


Statement = (
    Plain
    | Access
    | Together
    | Meeting
    | Parties
    | Handover
    | Copying
    | Wait
    | Message
    | Sides
    | Gone
    | Call
    | If
    | Loop
    | Switch
    | Leave
    | Skip
)
Extent = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """A device function; kinds are in `functions.py`. `common`: whether all kernels have it."""

    kind: str
    body: tuple[Plain, ...]
    numbers: Numbers
    common: bool = False


@dataclass(frozen=True, slots=True)
class Kernel:
    """One entry and how it is launched.

    n: threads with a number from n on end at the guard, if there is one: "" (none), "first" or "loaded" (after loads).
    scale: a scalar parameter. level: of the body; at `Level.LONE` no threads do anything together.
    exact: no warp has lanes that end separately, or is not full. counted: each warp has threads to the end.
    phases: every thread lives to the end. cut: the warps of the first party, 0 where there are no parties; producers:
    which party, 0 or 1, hands over to the other. broadcast: whether a shuffle says that a warp's number is its lanes'.
    tile: where each thread gets a word of shared memory that others may read: "" (nowhere), "before" or "after" the
    guard. bins: whether there are totals in shared memory. dynamic: whether the tile is in dynamic shared memory, and
    the bytes after it there. start: how registers get their first values. moved: whether threads store `out` at places
    that are separate for each `scale`. more: whether there are parameters for `more` words and a structure (`more.py`);
    those of the old generator have none. chain: whether each CTA waits for the one before it (`waits.chain`), and how.
    """

    name: str
    grid: Extent
    block: Extent
    n: int
    scale: int
    guard: str
    level: Level
    exact: bool
    counted: bool
    phases: bool
    cut: int
    producers: int
    broadcast: bool
    tile: str
    bins: bool
    dynamic: int | None
    start: str
    functions: tuple[Function, ...]
    body: tuple[Statement, ...]
    moved: bool = False
    more: bool = False
    chain: Wait | None = None

    @property
    def threads(self) -> int:
        """Of a CTA."""
        return prod(self.block)

    @property
    def counted_threads(self) -> int:
        """As barriers count them, by whole warps."""
        return -(-self.threads // 32) * 32

    @property
    def tile_bytes(self) -> int:
        return -(-4 * self.threads // 128) * 128

    @property
    def shape(self) -> Shape:
        return Shape(self.grid, self.block, 0 if self.dynamic is None else self.tile_bytes + self.dynamic)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two kernels, or more, how they are woven, and the seed of their data and of the warps' order.

    unknown: None if the kernels are woven for one launch shape, which is not stated; else what is not stated of
    each kernel's own: "" (all is), "grid", "axis" (of it), "block", "shared" or "all".
    """

    kernels: tuple[Kernel, ...]
    policy: Policy
    slicing: Slicing
    divergence: Choice | None
    unknown: tuple[str, ...] | None
    placement: Placement
    seed: int
