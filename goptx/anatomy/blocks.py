"""Anatomy: the control flow of kernels and of the fused kernel, and which blocks of the kernels its blocks hold.

Plain data, with text for a terminal; chart.py derives it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from goptx.display import as_svg, as_text, brief, columns


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge to a block. `kind` is "jump", "taken", "fallen" or "case"; `label` is the guard of a taken branch."""

    target: str
    kind: str
    label: str


@dataclass(frozen=True, slots=True)
class Barrier:
    """An instruction that synchronises the threads of a CTA or of a cluster, or acts on an mbarrier. `line` is its line
    in the kernel's file, 0 if goptx inserted it; `kernel` is the letter of its kernel."""

    kernel: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Share:
    """Instructions of a kernel in a block of the fused kernel, and how many of them goptx inserted for it."""

    kernel: str
    instructions: int
    inserted: int


@dataclass(frozen=True, slots=True)
class Pair:
    """So many instructions in a block of the fused kernel come from this block of a kernel; if there are several
    `blocks`, it is not known from which of them."""

    kernel: str
    blocks: tuple[str, ...]
    instructions: int


@dataclass(frozen=True, slots=True)
class Block:
    """A basic block, in the order of the text.

    first, last: its lines in its file, 0 for blocks of the fused kernel and empty ones.
    instructions: with the branch at its end, as reports count them, which count one `ret` of the kernel too.
    cycles: estimated, for one warp and one execution. depth: the number of loops around it.
    For a block of a kernel: `stands_in` are the blocks of the fused kernel with code of it; `copies` is the largest
    number of these that hold one instruction, None if that is unknown.
    For a block of the fused kernel: `shares` and `pairs` name the origins of its code; `waits` are the kernels that
    wait while it runs although they have not finished: if there are any, it is a dummy block.
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
        """Its lines in its file, such as "41-73"; "" if it has none."""
        if not self.first:
            return ""
        return f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"


def waiting(kernels: Sequence[str]) -> str:
    """A text such as "A waits", "A B wait"."""
    return f"{' '.join(kernels)} wait{'s' if len(kernels) == 1 else ''}"


@dataclass(frozen=True, slots=True)
class Chart:
    """The blocks of one entry, in the order of the text, "exit" last. `letter` is that of a kernel, "" for the fused
    kernel. `trouble` is the reason if the flow is unknown, else ""."""

    __repr__ = brief

    letter: str
    name: str
    source: str
    blocks: tuple[Block, ...]
    trouble: str = ""

    def rank(self) -> Mapping[str, int]:
        """The position of each block."""
        return {b.name: i for i, b in enumerate(self.blocks)}

    def __str__(self) -> str:
        title = f"{self.letter} {self.name} ({self.source})" if self.letter else f"{self.name} ({self.source})"
        if self.trouble:
            return f"{title}\n  unknown flow: {self.trouble}"
        table = columns([_HEAD, *map(_row, self.blocks)], right=range(2, 6))
        return "\n".join([title, *(f"  {line}".rstrip() for line in table)])


@dataclass(frozen=True, slots=True)
class Anatomy:
    """`woven` has a chart for each entry: one, or several if the kernels stay separate. `latency` is the architecture
    whose latency table of goptx gives the cycles."""

    __repr__ = brief

    strategy: str
    latency: str
    kernels: tuple[Chart, ...]
    woven: tuple[Chart, ...]

    @property
    def dummies(self) -> int:
        """Blocks of the fused kernel in which a kernel waits although it has not finished."""
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
    """What a block of the fused kernel holds, or which blocks of the fused kernel hold a kernel's block."""
    if block.shares:
        held = " ".join(f"{s.kernel}:{_of(block, s.kernel)}" for s in block.shares)
        return f"{held}, {waiting(block.waits)}" if block.waits else held
    if block.stands_in:
        few = ",".join(block.stands_in[:3]) + (",..." if len(block.stands_in) > 3 else "")
        return f"in {few}" + (f" x{block.copies}" if (block.copies or 1) > 1 else "")
    return ""


def _of(block: Block, letter: str) -> str:
    """The first few of the kernel's blocks in this block."""
    names = ["|".join(p.blocks) for p in block.pairs if p.kernel == letter] or ["inserted"]
    return ",".join(names[:3]) + (",..." if len(names) > 3 else "")
