"""What the cost model says of ways before they are made: in which order to try them, and which not at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from goptx.cost.hardware import machine_of
from goptx.cost.kernels import alone
from goptx.errors import CannotWeave
from goptx.latency.table import load_table
from goptx.launch.shape import Shape
from goptx.sources.kernel_text import Chosen
from goptx.strategies.candidate import Candidate
from goptx.strategies.candidates import Judge
from goptx.tuning.space.space import ALONE
from goptx.tuning.trials import Trial

MUCH = 2.0  # times the least estimate: the model is not that wrong
MOST_CODE = 1500  # lines of all copies of coarsened kernels: more take many seconds to weave


@dataclass(frozen=True, slots=True)
class Pruning:
    """`judge` is None for kernels whose control flow is not known."""

    judge: Judge | None
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, kernels: Sequence[Chosen], shapes: Sequence[Shape], arch: str) -> Pruning:
        machine, table = machine_of(arch), load_table(None, arch)
        try:
            found = [alone(kernel, machine, table) for kernel in kernels]
        except CannotWeave:
            return cls(None, (0,) * len(kernels))
        return cls(Judge(found, [1] * len(kernels), shapes, arch), tuple(len(a.lines) for a in found))

    def sorted(self, ways: Iterable[Candidate]) -> tuple[list[Candidate], list[Trial]]:
        """Those to be tried, the most promising first, and those that are not. Ways that the model knows nothing of
        come behind those that it takes for the better half."""
        ways = list(ways)
        long = {way for way in ways if not way.plain and way.size(self.sizes) > MOST_CODE}
        pruned = [Trial(way, "pruned", f"more than {MOST_CODE} lines of code") for way in ways if way in long]
        estimates = {way: self.estimate(way) for way in ways if way not in long}
        known = sorted(e for e in estimates.values() if e is not None)
        least, middle = (known[0], known[len(known) // 2]) if known else (0.0, 0.0)
        tried: dict[Candidate, float] = {}
        for way, found in estimates.items():
            estimate = middle if found is None else found
            if estimate <= MUCH * least or found is None:
                tried[way] = estimate
            else:
                reason = f"estimated to take {estimate / least:.1f} times as long as the best estimate"
                pruned.append(Trial(way, "pruned", reason))
        return sorted(tried, key=tried.__getitem__), pruned

    def estimate(self, way: Candidate) -> float | None:
        """Kilocycles, None where the model has none."""
        strategy = "weave" if way.strategy == ALONE else way.strategy
        if self.judge is None or strategy == "horizontal":
            return None
        found = self.judge.estimates(replace(way, strategy=strategy, cap=None, options=()))
        return min(estimate.cycles for _, estimate in found)
