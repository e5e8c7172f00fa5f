"""Orders candidates by their estimated cost before they are made, and prunes those that are estimated too slow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from goptx.cost.assumptions import known_of, with_arguments
from goptx.cost.hardware import machine_of
from goptx.cost.kernels import each_alone
from goptx.errors import CannotWeave
from goptx.latency.table import load_table
from goptx.launch.shape import Shape
from goptx.options import Assume
from goptx.sources.kernel_text import Chosen
from goptx.strategies.candidate import Candidate
from goptx.strategies.estimates.judge import Judge
from goptx.tuning.space.space import ALONE
from goptx.tuning.trials import Trial

MUCH = 2.1  # times the least estimate: a candidate above it is pruned. Two launches of short kernels are at twice one
MOST_CODE = 1500  # lines of all copies of coarsened kernels; more take many seconds to weave


@dataclass(frozen=True, slots=True)
class Pruning:
    """`judge` makes the estimates, None for kernels whose control flow is not known; `sizes` are the kernels' lines."""

    judge: Judge | None
    sizes: tuple[int, ...]

    @classmethod
    def of(
        cls,
        kernels: Sequence[Chosen],
        shapes: Sequence[Shape],
        arch: str,
        assume: Assume | None = None,
        arguments: Sequence[Sequence[object]] | None = None,
    ) -> Pruning:
        """`assume` is what the caller knows of the kernels; `arguments`, those of each kernel, tell how often loops run
        where it does not. Raises `InputError` where `assume` does not fit the kernels."""
        machine, table = machine_of(arch), load_table(None, arch)
        known = known_of(assume, len(kernels))
        if arguments:
            known = [
                own if own.arguments is not None or own.specification else with_arguments(own, values)
                for own, values in zip(known, arguments, strict=True)
            ]
        try:
            found = each_alone(kernels, machine, table, known, shapes)
        except CannotWeave:
            return cls(None, (0,) * len(kernels))
        return cls(Judge(found, [1] * len(kernels), shapes, arch), tuple(len(a.lines) for a in found))

    def sorted(self, candidates: Iterable[Candidate]) -> tuple[list[Candidate], list[Trial]]:
        """The candidates to try, the lowest estimate first, and the pruned ones as trials. A candidate without an
        estimate is sorted as if it had the median estimate. Each strategy as it is comes first, whatever its estimate:
        these are few, and the estimates of groups of many kernels are far from their times."""
        candidates = list(candidates)
        long = {candidate for candidate in candidates if not candidate.plain and candidate.size(self.sizes) > MOST_CODE}
        pruned = [
            Trial(candidate, "pruned", f"more than {MOST_CODE} lines of code")
            for candidate in candidates
            if candidate in long
        ]
        estimates = {candidate: self.estimate(candidate) for candidate in candidates if candidate not in long}
        known = sorted(e for e in estimates.values() if e is not None)
        least, middle = (known[0], known[len(known) // 2]) if known else (0.0, 0.0)
        tried: dict[Candidate, float] = {}
        for candidate, found in estimates.items():
            estimate = middle if found is None else found
            if estimate <= MUCH * least or found is None or candidate.default:
                tried[candidate] = estimate
            else:
                reason = f"estimated to take {estimate / least:.1f} times as long as the best estimate"
                pruned.append(Trial(candidate, "pruned", reason))
        return sorted(tried, key=lambda candidate: (not candidate.default, tried[candidate])), pruned

    def estimate(self, candidate: Candidate) -> float | None:
        """Estimated kilocycles, None if the model has no estimate."""
        strategy = "weave" if candidate.strategy == ALONE else candidate.strategy
        folded = strategy == "horizontal" and bool(candidate.option("fold"))
        if self.judge is None or (strategy == "horizontal" and not folded):
            return None
        options = candidate.options if folded else ()
        found = self.judge.estimates(replace(candidate, strategy=strategy, cap=None, options=options))
        return min(estimate.cycles for _, estimate in found)
