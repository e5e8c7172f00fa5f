"""The rows of a picture of control flow: a row for each block, or for several similar blocks if there are very many.

Blocks that make the shape of a kernel have rows of their own as long as possible: those with barriers, those where
loops begin and end, and those with code of other kernels than their neighbours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from goptx.anatomy.blocks import Barrier, Block, Chart

MANY = 56  # rows; if there are more, similar blocks share a row
FEW = 3  # the least number of blocks that share a row


@dataclass(frozen=True)
class Row:
    blocks: tuple[Block, ...]

    @property
    def name(self) -> str:
        return self.blocks[0].name if len(self.blocks) == 1 else f"… {len(self.blocks)} blocks"

    @property
    def instructions(self) -> int:
        return sum(b.instructions for b in self.blocks)

    @property
    def cycles(self) -> int:
        """The sum over its blocks."""
        return sum(b.cycles for b in self.blocks)

    @property
    def depth(self) -> int:
        return min(b.depth for b in self.blocks)

    @property
    def lines(self) -> str:
        if len(self.blocks) == 1:
            return self.blocks[0].lines
        found = [line for b in self.blocks if b.first for line in (b.first, b.last)]
        return f"{min(found)}-{max(found)}" if found else ""

    @property
    def barriers(self) -> tuple[Barrier, ...]:
        return tuple(x for b in self.blocks for x in b.barriers)

    @cached_property
    def shares(self) -> Mapping[str, int]:
        """The instructions of each kernel."""
        found: Counter[str] = Counter()
        for b in self.blocks:
            for share in b.shares:
                found[share.kernel] += share.instructions
        return dict(sorted(found.items()))

    @property
    def waits(self) -> tuple[str, ...]:
        """The kernels that wait in all its blocks."""
        return tuple(x for x in self.blocks[0].waits if all(x in b.waits for b in self.blocks))


@dataclass(frozen=True, slots=True)
class RowEdge:
    """Edges from one row to another, and their description."""

    begin: int
    end: int
    title: str

    @property
    def back(self) -> bool:
        return self.end <= self.begin


def rows_of(chart: Chart, most: int = MANY) -> list[Row]:
    """At most `most` rows, if that is possible."""
    rows = [Row((b,)) for b in chart.blocks]
    landmarks = _landmarks(chart)
    alike: Sequence[Callable[[Block], Hashable]] = (
        lambda b: (
            b.name if b.barriers or b.name in landmarks else (b.depth, tuple(s.kernel for s in b.shares), b.waits)
        ),
        lambda b: b.name if b.barriers or b.name in landmarks else (b.depth, b.waits),
        lambda b: b.name if b.name in landmarks else b.depth,
        lambda b: b.depth if b.depth < 2 else "inner",
    )
    for key in alike:
        if len(rows) <= most:
            break
        rows = _joined(chart.blocks, key)
    return rows


def _landmarks(chart: Chart) -> set[str]:
    """The first and the last block, and those where loops begin and end."""
    rank = chart.rank()
    back = [(b.name, e.target) for b in chart.blocks for e in b.edges if rank[e.target] <= rank[b.name]]
    return {name for edge in back for name in edge} | {b.name for b in (*chart.blocks[:1], *chart.blocks[-1:])}


def _joined(blocks: Sequence[Block], key: Callable[[Block], Hashable]) -> list[Row]:
    rows: list[Row] = []
    for _, run in groupby(blocks, key=key):
        several = tuple(run)
        rows += [Row(several)] if len(several) >= FEW else [Row((b,)) for b in several]
    return rows


def edges_of(rows: Sequence[Row]) -> list[RowEdge]:
    """The edges between rows; of the edges within a row those that lead back, as one."""
    row_of = {b.name: i for i, row in enumerate(rows) for b in row.blocks}
    position = {b.name: (i, j) for i, row in enumerate(rows) for j, b in enumerate(row.blocks)}
    found: dict[tuple[int, int], list[str]] = {}
    for i, row in enumerate(rows):
        for b in row.blocks:
            for e in b.edges:
                if row_of[e.target] != i or position[e.target] <= position[b.name]:
                    title = f"{b.name} to {e.target}" + (f" {e.label}" if e.label else "")
                    found.setdefault((i, row_of[e.target]), []).append(title)
    return [RowEdge(*key, "\n".join(all_[:6] + (["…"] if len(all_) > 6 else []))) for key, all_ in found.items()]
