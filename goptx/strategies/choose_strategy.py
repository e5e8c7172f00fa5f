"""The search for the candidate that is estimated to be fastest.

All candidates are estimated from the given kernels first (estimates/judge.py). The best of them is made, and estimated
again from its own code. This is repeated until the best is one that was made. The same kernels and shapes give the same
choice everywhere.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from goptx.cost.assumptions import Known
from goptx.cost.courses import made_of
from goptx.cost.hardware import machine_of
from goptx.cost.kernels import each_alone
from goptx.errors import CannotLink, CannotWeave, TooLarge
from goptx.latency.table import LatencyTable
from goptx.launch.shape import Shape
from goptx.log import LOG
from goptx.results.decision import CandidateEstimate, Decision
from goptx.results.fused_kernel import Woven
from goptx.sources.kernel_text import Chosen
from goptx.strategies.auto_decision import Decided
from goptx.strategies.candidate import Candidate, unchanged
from goptx.strategies.candidates import MOST_CODE, STRATEGIES, possible_candidates
from goptx.strategies.estimates.assembled import TRIED, problem
from goptx.strategies.estimates.fold_candidates import fold_candidates
from goptx.strategies.estimates.judge import Judge
from goptx.strategies.estimates.launches import CTAS, THREADS
from goptx.strategies.estimates.prospects import TIE, Prospect, best, separate_cycles
from goptx.strategies.separate import ANY

REFUSALS = (CannotWeave, CannotLink, TooLarge)  # what one strategy refuses so, another may take
QUICK = ("interleave", "vertical", "weave", "horizontal")  # from what is made fastest to what takes longest
MADE = 4  # at most so many candidates are made; plain separate launches do not count
SLOWER = f"no fused kernel is estimated to be {TIE:.0%} faster than separate launches"


@dataclass(slots=True)
class Search:
    """The choice among candidates for kernels in these shapes. `makers` are the strategies. `slices`: whether goptx may
    choose not to slice blocks. `known` is what is known of each kernel. `assemble`: whether the best candidates are
    assembled before one is chosen."""

    kernels: Sequence[Chosen]
    shapes: Sequence[Shape] | None
    makers: Mapping[str, Callable[..., Woven]]
    arch: str
    table: LatencyTable
    slices: bool
    known: Sequence[Known]
    assemble: bool = False
    made: dict[Candidate, Woven] = field(default_factory=dict)  # without caps
    refused: dict[Candidate, str] = field(default_factory=dict)
    dropped: dict[Candidate, str] = field(default_factory=dict)  # for what the assembler says
    decided: Decided | None = None

    @property
    def _shapes(self) -> Sequence[Shape]:
        return self.shapes or [ANY] * len(self.kernels)

    def best(self) -> Woven:
        machine = machine_of(self.arch)
        try:
            kernels = each_alone(self.kernels, machine, self.table, self.known, self._shapes)
        except CannotWeave as reason:  # only `separate` takes a kernel whose control flow is not known
            LOG.warning("not fused: %s", reason)
            return self.makers["separate"](*self.kernels, notes=[f"not fused: {reason}"])
        judge = Judge(kernels, [k.coarse.factor for k in self.kernels], self._shapes, self.arch)
        sizes = [len(a.lines) for a in kernels]
        every = possible_candidates(self.kernels, self.shapes, kernels)
        possible = [c for c in every if c.plain or c.size(sizes) <= MOST_CODE]
        if "horizontal" in self.makers:
            possible += [c for c in fold_candidates(judge, self.arch) if c.plain or c.size(sizes) <= MOST_CODE]
        possible += [judge.side_by_side(c) for c in possible if c.strategy == "separate"]
        among = (judge.among_each_other(c) for c in possible if c.strategy == "interleave")
        possible += [c for c in among if c]

        def estimates(candidate: Candidate) -> dict[Candidate, Prospect]:
            made = made_of(self.made[candidate], kernels, self.table) if candidate in self.made else None
            found = judge.under_all(candidate, made).items()
            return {c: Prospect(each, least) for c, each in found if each[0].cycles < inf}

        least = separate_cycles(judge)
        found = {capped: p for c in possible for capped, p in estimates(c).items()}
        for candidate in possible:  # a candidate that does not fit on an SM is refused with a reason
            if candidate.plain and not candidate.options and candidate not in found:
                self._make(candidate)
        while found:
            candidate = best(found, judge.is_known)
            if candidate.uncapped in self.made:
                whole = candidate.uncapped.having(slicing=None)
                if not self._is_sliced(candidate) or whole in self.made or not self._make(whole):
                    if not self._is_dropped(candidate, found):
                        return self._chosen(candidate, found)
                    found = self._without_dropped(found)
                    continue
                found |= estimates(whole)
                continue
            if candidate.option("streams") and not self._may_be_fused(possible):
                found = {c: e for c, e in found.items() if not c.option("streams")}
                continue
            found = {c: e for c, e in found.items() if c.uncapped != candidate.uncapped}
            plain_separate = candidate.plain and candidate.strategy == "separate"
            if len(self.made) >= MADE and not plain_separate:
                continue
            if self._make(candidate.uncapped):
                found |= estimates(candidate.uncapped)
            else:
                found = {c: e for c, e in found.items() if not candidate.is_part_of(c)}
        return self._done(self.makers["separate"](*self.kernels), None, self._reasons())

    def _is_dropped(self, candidate: Candidate, found: Mapping[Candidate, Prospect]) -> bool:
        """Whether the assembler speaks against the candidate. Separate launches are never dropped."""
        if not self.assemble or candidate.strategy == "separate":
            return False
        made, alone = self.made[candidate.uncapped], unchanged(len(self.kernels))
        registers = self.made[alone].assembly().registers if self._make(alone) else 0
        capped = made.capped(candidate.cap) if candidate.cap else made
        if why := problem(capped, found[candidate].middle, registers, THREADS):
            self.dropped[candidate] = why
            LOG.info("not %s: %s", candidate, why)
        return bool(why)

    def _without_dropped(self, found: Mapping[Candidate, Prospect]) -> dict[Candidate, Prospect]:
        """Without what was dropped; if enough was assembled, separate launches only."""
        enough = len(self.dropped) >= TRIED
        return {c: e for c, e in found.items() if c not in self.dropped and (not enough or c.strategy == "separate")}

    def _is_sliced(self, candidate: Candidate) -> bool:
        """Whether blocks of what was made are sliced, and may be left whole instead."""
        sliced = self.made[candidate.uncapped].report.slicing is not None
        return self.slices and candidate.strategy == "weave" and not candidate.options and sliced

    def _may_be_fused(self, possible: Sequence[Candidate]) -> bool:
        """Whether some strategy fuses the kernels. Those that none takes may wait for each other's CTAs, or for all of
        their own: then they are not launched side by side either."""
        fused = [c for c in possible if c.plain and c.strategy != "separate"]
        return any(map(self._make, sorted(fused, key=lambda c: QUICK.index(c.strategy))))

    def _make(self, candidate: Candidate) -> bool:
        """Makes the candidate if that was not tried before. Returns whether it is made."""
        if candidate in self.made:
            return True
        if candidate not in self.refused:
            try:
                self.made[candidate] = self.makers[candidate.strategy](
                    *candidate.coarse(self.kernels), **dict(candidate.options)
                )
            except REFUSALS as reason:
                self.refused[candidate] = str(reason)
                LOG.info("not %s: %s", candidate, reason)
        return candidate in self.made

    def _chosen(self, candidate: Candidate, found: Mapping[Candidate, Prospect]) -> Woven:
        candidates = [
            CandidateEstimate(
                str(c),
                p.cycles,
                p.middle.registers,
                p.middle.occupancy,
                p.middle.decided_by,
                c.uncapped in self.made,
                p.gain,
                p.worst[0],
            )
            for c, p in sorted(found.items(), key=lambda item: (item[0] != candidate, item[1].cycles))
        ]
        decision = Decision(tuple(candidates), _decided(candidate, found), self._assumed(), candidate.to_dict())
        self.decided = Decided(candidate, decision, tuple(self._reasons()))
        return self._capped(self.made[candidate.uncapped])

    def as_decided(self, decided: Decided) -> Woven:
        """Made as an earlier search decided."""
        self.decided, candidate = decided, decided.candidate
        return self._capped(self.makers[candidate.strategy](*candidate.coarse(self.kernels), **dict(candidate.options)))

    def _capped(self, made: Woven) -> Woven:
        assert self.decided
        cap = self.decided.candidate.cap
        return self._done(made.capped(cap) if cap else made, self.decided.decision, self.decided.refused)

    def _done(self, made: Woven, decision: Decision | None, refused: Sequence[str]) -> Woven:
        notes = [f"not {reason}" for reason in refused]
        if made.strategy == "separate":
            LOG.log(logging.WARNING if refused else logging.INFO, "not fused: %s", "; ".join(refused) or SLOWER)
            notes = notes or [f"not fused: {SLOWER}"]
        return made.reported(replace(made.report, notes=(*made.report.notes, *notes), decision=decision))

    def _reasons(self) -> list[str]:
        """Why candidates were refused or dropped."""
        return [*self._refusals(), *(f"{candidate}: {why}" for candidate, why in self.dropped.items())]

    def _refusals(self) -> list[str]:
        """Each reason once, with the candidates that it refuses, except those of which a part is refused for it."""
        notes: list[str] = []
        for reason in dict.fromkeys(self.refused.values()):
            against = [c for c, why in self.refused.items() if why == reason]
            least = [c for c in against if not any(other != c and other.is_part_of(c) for other in against)]
            least.sort(key=lambda c: ((*STRATEGIES, "horizontal").index(c.strategy), c.factors))
            notes.append(f"{', '.join(map(str, least))}: {reason}")
        return notes

    def _assumed(self) -> tuple[str, ...]:
        own = self.shapes or ()
        grids = "" if own and all(s.ctas for s in own) else f"grids of {CTAS} CTAs where they are not known"
        blocks = "" if own and all(s.threads for s in own) else f"blocks of {THREADS} threads where they are not known"
        return tuple(what for what in (grids, blocks) if what)


def _decided(chosen: Candidate, found: Mapping[Candidate, Prospect]) -> str:
    """Why the candidate is chosen, and by how much it is estimated to be faster than other strategies."""
    own, least = found[chosen].cycles, min(e.cycles for e in found.values())
    near = f"within {TIE:.0%} of the least estimate, and faster in the mean of all assumptions"
    why = "the least estimate" if own == least else near
    others = [c for c in found if c.strategy != chosen.strategy]
    if not others:
        return why
    other = min(others, key=lambda c: found[c].cycles)
    return f"{why}; of another strategy: {other}, {found[other].cycles / own - 1:+.1%}"
