"""Anatomy: the control flow of kernels and of what was woven of them, and which blocks of theirs stand in which of it.

Plain data, with text for a terminal; chart.py derives it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from goptx.display import as_svg, as_text, brief


@dataclass(frozen=True, slots=True)
class Edge:
    """To a block. `kind` is "jump", "taken", "fallen" or "case"; `label` the guard under which it is taken."""

    target: str
    kind: str
    label: str


@dataclass(frozen=True, slots=True)
class Barrier:
    """What synchronises the threads of a CTA or of a cluster, or acts on an mbarrier. `line` is that of the kernel's
    file, 0 where goptx put it there; `kernel` the letter of the one that it is from."""

    kernel: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Share:
    """Instructions of a kernel in a block of W, and how many of them goptx inserted for it."""

    kernel: str
    instructions: int
    inserted: int


@dataclass(frozen=True, slots=True)
class Pair:
    """So many instructions in a block of W are of that block of a kernel; of one of `blocks` where these are several,
    and it cannot be told of which."""

    kernel: str
    blocks: tuple[str, ...]
    instructions: int


@dataclass(frozen=True, slots=True)
class Block:
    """Straight code, as it stands in the text.

    first, last: its lines in its file, 0 for blocks of W and empty ones.
    instructions: with the branch at its end, as reports count them, which count one `ret` of the kernel too.
    cycles: estimated, for one warp, once through. depth: in how many loops it lies.
    Of a kernel: `stands_in` are the blocks of W with code of it, `copies` the most of these that one instruction stands
    in, None where that cannot be told.
    Of W: `shares` and `pairs` say whose code it is, and `waits` which kernels wait while it runs although they have not
    finished: a dummy block, if there are any.
    """

    __repr__ = brief

    name: str
    first: int
    last: int
    instructions: int
    cycles: int
    depth: int
    barriers: tuple[Barrier, ...]
    edges: tuple[Edge, ...]
    stands_in: tuple[str, ...] = ()
    copies: int | None = None
    shares: tuple[Share, ...] = ()
    pairs: tuple[Pair, ...] = ()
    waits: tuple[str, ...] = ()

    @property
    def lines(self) -> str:
        """In its file, such as "41-73"; "" where it has none."""
        if not self.first:
            return ""
        return f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"


def waiting(kernels: Sequence[str]) -> str:
    """Such as "A waits", "A B wait"."""
    return f"{' '.join(kernels)} wait{'s' if len(kernels) == 1 else ''}"


@dataclass(frozen=True, slots=True)
class Chart:
    """The blocks of one entry, in the order of the text, "exit" last. `letter` is that of a kernel, "" of what was
    woven. `trouble` says why the flow cannot be told, where it cannot."""

    __repr__ = brief

    letter: str
    name: str
    source: str
    blocks: tuple[Block, ...]
    trouble: str = ""

    def rank(self) -> Mapping[str, int]:
        """Of each block its place."""
        return {b.name: i for i, b in enumerate(self.blocks)}

    def __str__(self) -> str:
        title = f"{self.letter} {self.name} ({self.source})" if self.letter else f"{self.name} ({self.source})"
        if self.trouble:
            return f"{title}\n  flow cannot be told: {self.trouble}"
        return "\n".join([title, *_table([_HEAD, *map(_row, self.blocks)])])


@dataclass(frozen=True, slots=True)
class Anatomy:
    """`woven` has a chart for each entry: one, but where kernels stay separate. `latency` names the table that cycles
    are of: that of this architecture which goptx brings."""

    __repr__ = brief

    strategy: str
    latency: str
    kernels: tuple[Chart, ...]
    woven: tuple[Chart, ...]

    @property
    def dummies(self) -> int:
        """Blocks of W in which a kernel waits although it has not finished."""
        return sum(bool(b.waits) for chart in self.woven for b in chart.blocks)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def __str__(self) -> str:
        head = f"strategy {self.strategy}, latencies {self.latency}, dummy blocks {self.dummies}"
        return "\n".join([head, *map(str, (*self.kernels, *self.woven))])

    _repr_pretty_ = as_text

    _repr_svg_ = as_svg


_HEAD = ("block", "lines", "instr.", "cycles", "loops", "barriers", "", "next")


def _row(block: Block) -> tuple[str, ...]:
    counts = (block.instructions, block.cycles, block.depth, len(block.barriers))
    following = ", ".join(f"{e.label} {e.target}".strip() for e in block.edges)
    return (block.name, block.lines, *map(str, counts), _where(block), following)


def _where(block: Block) -> str:
    """What a block of W holds, or where that of a kernel stands."""
    if block.shares:
        held = " ".join(f"{s.kernel}:{_of(block, s.kernel)}" for s in block.shares)
        return f"{held}, {waiting(block.waits)}" if block.waits else held
    if block.stands_in:
        few = ",".join(block.stands_in[:3]) + (",..." if len(block.stands_in) > 3 else "")
        return f"in {few}" + (f" x{block.copies}" if (block.copies or 1) > 1 else "")
    return ""


def _of(block: Block, letter: str) -> str:
    """The kernel's blocks there, the first few of them."""
    names = ["|".join(p.blocks) for p in block.pairs if p.kernel == letter] or ["inserted"]
    return ",".join(names[:3]) + (",..." if len(names) > 3 else "")


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [c.rjust(w) if 2 <= i <= 5 else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        yield f"  {'  '.join(cells)}".rstrip()
