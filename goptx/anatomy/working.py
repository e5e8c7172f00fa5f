"""Derives what the threads of a launch do from the result's strategy, plan and blocks.

A warp takes the critical path through the blocks of the fused kernel that hold code of the kernels it runs. Within a
block, each kernel has the same share of the cycles as of the instructions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

from goptx.anatomy.activity import Activity, Row, Segment
from goptx.anatomy.matched import Entry, Matched, matched
from goptx.anatomy.placed import Held, described, spans, warps
from goptx.latency.cost import critical_path, cycles_of, weights

if TYPE_CHECKING:
    from goptx.launch.launch_plan import Plan
    from goptx.results.fused_kernel import Woven

STRIPES = 48  # about the most stripes of a row


def activity(woven: Woven) -> Activity:
    """See `Woven.activity`."""
    found = matched(woven)
    factors = _factors(woven)
    alone = {letter: counts.estimated_cycles for letter, counts in woven.report.kernels.items()}
    rows: list[Row] = []
    notes: list[str] = []
    begin = 0.0
    for entry, plan in zip(found.entries, (launch.plan for launch in woven.launches), strict=True):
        own = {x: n for x, n in factors.items() if plan is None or x in plan.letters}
        work = _Work(found, entry, woven.strategy, own, alone)
        made = list(_rows(work, plan))
        of = "".join(own) if len(found.entries) > 1 else ""
        rows += [replace(r, segments=tuple(_later(r.segments, begin)), of=of or r.of) for r in made]
        notes += described(plan) if plan else []
        if not woven.streams:
            begin = max((s.end for r in rows for s in r.segments), default=0.0)
    if woven.plan is None or woven.plan.shape.ctas is None:
        notes.append("the shape of the launch is not known")
    return Activity(
        woven.strategy,
        found.table.arch,
        tuple((letter, k.entry.name) for letter, k in found.kernels.items()),
        tuple(factors.values()),
        max((s.end for r in rows for s in r.segments), default=0.0),
        tuple(rows),
        bool(woven.streams),
        tuple(dict.fromkeys(notes)),
    )


def _factors(woven: Woven) -> dict[str, int]:
    """The coarsening factor of each kernel, by letter: the requested one, or that which its grid allows."""
    found = {letter: c.coarse.factor for letter, c in zip(woven.report.kernels, woven.chosen, strict=True)}
    plans = [launch.plan for launch in woven.launches if launch.plan is not None]
    return found | {x: c.factor for plan in plans for x, c in zip(plan.letters, plan.coarse, strict=True)}


def _later(segments: Sequence[Segment], by: float) -> Iterator[Segment]:
    return (replace(s, begin=round(s.begin + by, 1), end=round(s.end + by, 1)) for s in segments)


def _rows(work: _Work, plan: Plan | None) -> Iterator[Row]:
    """The rows of an entry. Kernels are numbered as in the plan, or among all kernels if there is no plan."""
    name = work.entry.name
    every: Held = tuple(enumerate(work.factors.values()))
    if plan is None or plan.shape.ctas is None:
        separate = plan is not None and plan.overlaid  # each CTA runs one kernel
        for held in [((k, n),) for k, n in every] if separate else [every]:
            of = work.letters[held[0][0]] if separate else ""
            for low, high, those in warps(plan, held):
                yield Row(name, (0, None), (low, high), work.segments(those), of)
        return
    for first, last, held in spans(plan):
        for low, high, those in warps(plan, held):
            yield Row(name, (first, last), (low, high), work.segments(those))


@dataclass
class _Work:
    """What the warps of one entry do. `factors` are the coarsening factors of its kernels by letter, `alone` the cycles
    of one CTA of each."""

    found: Matched
    entry: Entry
    strategy: str
    factors: Mapping[str, int]
    alone: Mapping[str, int]

    @property
    def letters(self) -> list[str]:
        return list(self.factors)

    def segments(self, held: Held) -> tuple[Segment, ...]:
        copies = {self.letters[k]: n for k, n in held}
        if not copies:
            return ()
        whole = {x: n for x, n in self.factors.items() if x in copies}
        if len(held) == 1 and copies != whole:  # a CTA that is left over
            ((letter, _),) = copies.items()
            return _lasting([Segment(letter, 0, 0.0, float(self.alone[letter]))])
        path = self._path(frozenset(copies))
        one = sum(copies.values()) == 1
        return _lasting((_in_sequence if one or self.strategy == "vertical" else _striped)(path, copies))

    def _path(self, letters: frozenset[str]) -> list[dict[str, float]]:
        """The cycles of each kernel in the blocks of the critical path with code of these kernels."""
        shares = {
            name: {letter: n / sum(counts.values()) for letter, n in counts.items() if letter in letters}
            for name, counts in self._counts.items()
        }
        weight = {n: w * sum(shares[n].values()) for n, w in self._weights.items()}
        path = critical_path(self.entry.trace.flow, weight)
        return [{x: self._weights[n] * share for x, share in shares[n].items()} for n in path if weight[n]]

    @cached_property
    def _counts(self) -> Mapping[str, Mapping[str, int]]:
        """The number of instructions of each kernel in each block."""
        owners = {n: [o.kernel for o in self.entry.of(n) if o] for n in self.entry.trace.order}
        return {n: {x: found.count(x) for x in self.letters if x in found} for n, found in owners.items()}

    @cached_property
    def _weights(self) -> Mapping[str, int]:
        return weights(self.entry.trace.flow, lambda code: cycles_of(self.found.table, code))


def _lasting(segments: Iterable[Segment]) -> tuple[Segment, ...]:
    """The segments that take time: a kernel that ends at once has none."""
    return tuple(s for s in segments if s.end > s.begin)


def _in_sequence(path: Sequence[Mapping[str, float]], copies: Mapping[str, int]) -> Iterator[Segment]:
    """Kernel after kernel, copy after copy."""
    now = 0.0
    for letter, n in copies.items():
        total = sum(block.get(letter, 0.0) for block in path)
        for copy in range(n):
            yield Segment(letter, copy, now, now + total / n)
            now += total / n


def _striped(path: Sequence[Mapping[str, float]], copies: Mapping[str, int]) -> Iterator[Segment]:
    """Pieces of equal length; in each, every kernel and copy has its share."""
    total = sum(sum(block.values()) for block in path)
    pieces = max(4, STRIPES // max(1, sum(copies.values())))
    held: list[dict[str, float]] = [dict.fromkeys(copies, 0.0) for _ in range(pieces)]
    now = 0.0
    for block in path:
        cycles = sum(block.values())
        for i in range(int(now / total * pieces), pieces):
            low, high = i * total / pieces, (i + 1) * total / pieces
            part = (min(high, now + cycles) - max(low, now)) / cycles if cycles else 0.0
            if part <= 0:
                break
            for letter, own in block.items():
                held[i][letter] += own * part
        now += cycles
    found: list[Segment] = []
    now = 0.0
    for piece in held:
        for letter, cycles in piece.items():
            n = copies[letter]
            found += [
                Segment(letter, j, now + cycles * j / n, now + cycles * (j + 1) / n) for j in range(n if cycles else 0)
            ]
            now += cycles
    for (letter, copy), several in groupby(found, key=lambda s: (s.kernel, s.copy)):
        run = list(several)
        yield Segment(letter, copy, run[0].begin, run[-1].end)
