"""The time that each candidate is estimated to take.

An estimate is made from the kernels alone. Woven kernels fill each other's waits, and their registers add up. Vertical
kernels wait one after the other. Interleaved kernels have only the SM in common. A woven kernel that was made is
estimated from its own code. Each estimate is made under one assumption of what is unknown (cost/assumptions.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce

from goptx.cost.assumptions import Assumption, table
from goptx.cost.courses import Made
from goptx.cost.estimate import Estimate, side_by_side
from goptx.cost.kernels import Alone
from goptx.launch.shape import Shape
from goptx.strategies.candidate import Candidate, unchanged
from goptx.strategies.estimates.launches import Launch
from goptx.weaving.shapes.interleaved import early_ratio


@dataclass(frozen=True)
class Judge:
    """Estimates candidates from the work of each kernel. `before`: the factor by which each is coarsened already.
    `teams`: on folded grids, the kernels whose CTAs each team of warps runs; by default each kernel has its own.
    Otherwise the kernels in the order in which they are launched, each a team."""

    kernels: Sequence[Alone]
    before: Sequence[int]
    shapes: Sequence[Shape]
    arch: str
    teams: Sequence[Sequence[int]] = ()
    _separate: dict[tuple[object, ...], list[Estimate]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def is_known(self) -> bool:
        """Whether it is known how long the warps of each kernel run."""
        return all(kernel.is_known for kernel in self.kernels)

    @cached_property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The table of assumptions for these kernels, the middle one first."""
        return table([kernel.unknown for kernel in self.kernels])

    def side_by_side(self, candidate: Candidate) -> Candidate:
        """Separate launches side by side, in the order that leaves less of the GPU idle. A kernel of which it runs all
        CTAs at once begins first: started later it would wait for the others, and its CTAs would come last. Of two such
        kernels the one with few CTAs does, which would all go to the few SMs where the other leaves room (192 CTAs so
        took 5.6 times as long on an H200). Else the one with the longer CTAs does: while the last of them run, short
        ones fill the other SMs, if these have enough shared memory for them at once."""
        in_order = self._launch(candidate).comes_first(0, len(self.kernels) - 1)
        return candidate.having(streams=True if in_order else "reversed")

    def among_each_other(self, candidate: Candidate) -> Candidate | None:
        """Two interleaved kernels, of which one has few CTAs, with these among the first of the other's rather than
        before them: where each fills the GPU, one would run after the other. None for other kernels, and where it is
        not known how long they run."""
        launch = self._launch(candidate)
        if len(self.kernels) != 2 or len(launch.few) != 1 or not self.is_known or not candidate.default:
            return None
        return candidate.having(ratio=early_ratio(launch.ctas, *launch.few))

    def each_alone(self) -> list[Estimate]:
        """Each kernel as it is, in a launch of its own, under the middle assumption."""
        return self._launch(unchanged(len(self.kernels))).separate()

    def under_all(self, candidate: Candidate, made: Made | None = None) -> dict[Candidate, tuple[Estimate, ...]]:
        """The estimates of a candidate under each assumption, without a cap, and with one that may help."""
        return self.under(self.assumptions, candidate, made)

    def under(
        self, assumptions: Sequence[Assumption], candidate: Candidate, made: Made | None = None
    ) -> dict[Candidate, tuple[Estimate, ...]]:
        """As `under_all`, under these assumptions."""
        found: dict[Candidate, list[Estimate]] = {}
        for assumption in assumptions:
            for capped, estimated in self.estimates(candidate, made, assumption):
                found.setdefault(capped, []).append(estimated)
        return {capped: tuple(estimated) for capped, estimated in found.items()}

    def estimates(
        self, candidate: Candidate, made: Made | None = None, assumption: Assumption | None = None
    ) -> Iterator[tuple[Candidate, Estimate]]:
        """The estimates of a candidate under one assumption, by default the middle one. `made` is what was made of it,
        if it was made."""
        launch = self._launch(candidate, made, assumption)
        if candidate.option("fold") and candidate.strategy == "horizontal":
            yield candidate, launch.folded()
        elif candidate.strategy != "separate":
            yield from launch.fused()
        elif candidate.option("streams"):
            yield candidate, side_by_side(launch.separate(), launch.loads, self.arch)
        else:
            yield candidate, reduce(Estimate.then, launch.separate())

    def _launch(self, candidate: Candidate, made: Made | None = None, assumption: Assumption | None = None) -> Launch:
        """The candidate under an assumption, by default the middle one."""
        behaviours = assumption.kernels if assumption else tuple(kernel.unknown.middle for kernel in self.kernels)
        return Launch(self, candidate, behaviours, made)
