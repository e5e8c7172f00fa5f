"""The rows of a picture of control flow: a block each, or several that are alike where there are very many.

What makes the shape of a kernel stays by itself as long as that can be: barriers, where loops begin and end, and what
holds code of other kernels than its neighbours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from goptx.anatomy.blocks import Barrier, Block, Chart

MANY = 56  # rows, above which blocks become one that are alike
FEW = 3  # blocks that are worth it


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
        """Of all, one after the other."""
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
        """By kernel, its instructions."""
        found: Counter[str] = Counter()
        for b in self.blocks:
            for share in b.shares:
                found[share.kernel] += share.instructions
        return dict(sorted(found.items()))

    @property
    def waits(self) -> tuple[str, ...]:
        """The kernels that wait in all of it."""
        return tuple(x for x in self.blocks[0].waits if all(x in b.waits for b in self.blocks))


@dataclass(frozen=True, slots=True)
class Way:
    """Edges from one row to another, and what to say of them."""

    begin: int
    end: int
    said: str

    @property
    def back(self) -> bool:
        return self.end <= self.begin


def rows_of(chart: Chart, most: int = MANY) -> list[Row]:
    """At most so many, if that can be."""
    rows = [Row((b,)) for b in chart.blocks]
    turns = _turns(chart)
    alike: Sequence[Callable[[Block], Hashable]] = (
        lambda b: b.name if b.barriers or b.name in turns else (b.depth, tuple(s.kernel for s in b.shares), b.waits),
        lambda b: b.name if b.barriers or b.name in turns else (b.depth, b.waits),
        lambda b: b.name if b.name in turns else b.depth,
        lambda b: b.depth if b.depth < 2 else "inner",
    )
    for key in alike:
        if len(rows) <= most:
            break
        rows = _joined(chart.blocks, key)
    return rows


def _turns(chart: Chart) -> set[str]:
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


def ways_of(rows: Sequence[Row]) -> list[Way]:
    """Between rows, and from a block to itself; of edges within a row those that lead back, once."""
    row_of = {b.name: i for i, row in enumerate(rows) for b in row.blocks}
    place = {b.name: (i, j) for i, row in enumerate(rows) for j, b in enumerate(row.blocks)}
    found: dict[tuple[int, int], list[str]] = {}
    for i, row in enumerate(rows):
        for b in row.blocks:
            for e in b.edges:
                if row_of[e.target] != i or place[e.target] <= place[b.name]:
                    said = f"{b.name} to {e.target}" + (f" {e.label}" if e.label else "")
                    found.setdefault((i, row_of[e.target]), []).append(said)
    return [Way(*key, "\n".join(said[:6] + (["…"] if len(said) > 6 else []))) for key, said in found.items()]
