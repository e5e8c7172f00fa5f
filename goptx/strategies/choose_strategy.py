"""The search for the way to run kernels that is estimated to be fastest.

All ways are judged from the kernels as they are (candidates.py). The best of them is made, and judged by what came of
it; and so on, until the best is one that was made. The same kernels and shapes give the same choice everywhere.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from goptx.cost.estimate import Estimate
from goptx.cost.hardware import machine_of
from goptx.cost.kernels import alone, courses_of
from goptx.errors import CannotLink, CannotWeave, TooLarge
from goptx.latency.table import LatencyTable
from goptx.launch.shape import Shape
from goptx.log import LOG
from goptx.results.decision import CandidateEstimate, Decision
from goptx.results.fused_kernel import Woven
from goptx.sources.kernel_text import Chosen
from goptx.strategies.auto_decision import Decided
from goptx.strategies.candidate import Candidate
from goptx.strategies.candidates import CTAS, STRATEGIES, THREADS, Judge, ways
from goptx.strategies.separate import ANY

REFUSALS = (CannotWeave, CannotLink, TooLarge)  # what another strategy may take
MADE = 4  # kernels that are made at most, and separate ones as they are
TIE = 0.01  # estimates that differ by less are taken to be equal
MOST_CODE = 1000  # lines of all copies of coarsened kernels: more take many seconds to weave
SLOWER = f"no fused kernel is estimated to be {TIE:.0%} faster than separate launches"


@dataclass(slots=True)
class Search:
    """The choice among the ways to run kernels in these shapes; `makers` are the strategies; `slices` is whether it is
    left to goptx if blocks are sliced when kernels are woven."""

    kernels: Sequence[Chosen]
    shapes: Sequence[Shape] | None
    makers: Mapping[str, Callable[..., Woven]]
    arch: str
    table: LatencyTable
    slices: bool = True
    made: dict[Candidate, Woven] = field(default_factory=dict)  # without caps
    refused: dict[Candidate, str] = field(default_factory=dict)
    decided: Decided | None = None

    def best(self) -> Woven:
        machine = machine_of(self.arch)
        try:
            kernels = [alone(kernel, machine, self.table) for kernel in self.kernels]
        except CannotWeave as reason:  # no strategy but one takes a kernel whose control flow is not known
            LOG.warning("not fused: %s", reason)
            return self.makers["separate"](*self.kernels, notes=[f"not fused: {reason}"])
        shapes = self.shapes or [ANY] * len(self.kernels)
        judge = Judge(kernels, [k.coarse.factor for k in self.kernels], shapes, self.arch)
        sizes = [len(a.lines) for a in kernels]
        loops = [a.unknown_loops for a in kernels]
        possible = [w for w in ways(self.kernels, self.shapes, loops) if w.plain or w.size(sizes) <= MOST_CODE]

        def estimates(way: Candidate) -> dict[Candidate, Estimate]:
            courses = courses_of(self.made[way], kernels, self.table) if way in self.made else ()
            return {w: e for w, e in judge.estimates(way, courses) if e.cycles < inf}

        found = {way: e for w in possible for way, e in estimates(w).items()}
        for way in possible:  # what does not fit on an SM is refused, and says why
            if way.plain and way not in found:
                self._make(way)
        while found:
            way = self._best(found)
            if way.uncapped in self.made:
                whole = way.uncapped.having(slicing=None)
                if not self._is_sliced(way) or whole in self.made or not self._make(whole):
                    return self._chosen(way, found)
                found |= estimates(whole)
                continue
            found = {w: e for w, e in found.items() if w.uncapped != way.uncapped}
            as_they_are = way.plain and way.strategy == "separate"
            if len(self.made) >= MADE and not as_they_are:
                continue
            if self._make(way.uncapped):
                found |= estimates(way.uncapped)
            else:
                found = {w: e for w, e in found.items() if not way.is_part_of(w)}
        return self._done(self.makers["separate"](*self.kernels), None, self._refusals())

    def _is_sliced(self, way: Candidate) -> bool:
        """Whether what was made may become another where blocks are not sliced."""
        sliced = self.made[way.uncapped].report.slicing is not None
        return self.slices and way.strategy == "weave" and not way.options and sliced

    def _best(self, found: Mapping[Candidate, Estimate]) -> Candidate:
        """The fastest, or of those that are as fast the one with the fewest CTAs: they cost time even where their
        threads have nothing to do, which is not foreseen."""
        least = min(e.cycles for e in found.values())
        near = [w for w in found if found[w].cycles <= least * (1 + TIE)]
        return min(near, key=lambda w: (-min(w.factors), found[w].cycles))

    def _make(self, way: Candidate) -> bool:
        """Whether it can be."""
        if way in self.made:
            return True
        if way not in self.refused:
            try:
                self.made[way] = self.makers[way.strategy](*way.coarse(self.kernels), **dict(way.options))
            except REFUSALS as reason:
                self.refused[way] = str(reason)
                LOG.info("not %s: %s", way, reason)
        return way in self.made

    def _chosen(self, way: Candidate, found: Mapping[Candidate, Estimate]) -> Woven:
        candidates = [
            CandidateEstimate(str(w), e.cycles, e.registers, e.occupancy, e.decided_by, w.uncapped in self.made)
            for w, e in sorted(found.items(), key=lambda item: (item[0] != way, item[1].cycles))
        ]
        decision = Decision(tuple(candidates), _decided(way, found), self._assumed())
        self.decided = Decided(way, decision, tuple(self._refusals()))
        return self._capped(self.made[way.uncapped])

    def as_decided(self, decided: Decided) -> Woven:
        """Made as a search decided before."""
        self.decided, way = decided, decided.way
        return self._capped(self.makers[way.strategy](*way.coarse(self.kernels), **dict(way.options)))

    def _capped(self, made: Woven) -> Woven:
        assert self.decided
        cap = self.decided.way.cap
        return self._done(made.capped(cap) if cap else made, self.decided.decision, self.decided.refused)

    def _done(self, made: Woven, decision: Decision | None, refused: Sequence[str]) -> Woven:
        notes = [f"not {reason}" for reason in refused]
        if made.strategy == "separate":
            LOG.log(logging.WARNING if refused else logging.INFO, "not fused: %s", "; ".join(refused) or SLOWER)
            notes = notes or [f"not fused: {SLOWER}"]
        return made.reported(replace(made.report, notes=(*made.report.notes, *notes), decision=decision))

    def _refusals(self) -> list[str]:
        """Each reason once, with the ways that it is against, but for those of which part is refused for it."""
        notes: list[str] = []
        for reason in dict.fromkeys(self.refused.values()):
            against = [way for way, why in self.refused.items() if why == reason]
            least = [way for way in against if not any(w != way and w.is_part_of(way) for w in against)]
            least.sort(key=lambda way: (STRATEGIES.index(way.strategy), way.factors))
            notes.append(f"{', '.join(map(str, least))}: {reason}")
        return notes

    def _assumed(self) -> tuple[str, ...]:
        own = self.shapes or ()
        grids = "" if own and all(s.ctas for s in own) else f"grids of {CTAS} CTAs where they are not known"
        blocks = "" if own and all(s.threads for s in own) else f"blocks of {THREADS} threads where they are not known"
        return tuple(what for what in (grids, blocks) if what)


def _decided(chosen: Candidate, found: Mapping[Candidate, Estimate]) -> str:
    """What was for the way that is chosen, and by how much it is ahead of other strategies."""
    own, least = found[chosen].cycles, min(e.cycles for e in found.values())
    why = "the least estimate" if own == least else f"within {TIE:.0%} of the least estimate and of fewest CTAs"
    others = [way for way in found if way.strategy != chosen.strategy]
    if not others:
        return why
    other = min(others, key=lambda way: found[way].cycles)
    return f"{why}; of another strategy: {other}, {found[other].cycles / own - 1:+.1%}"
