"""The space of ways to run kernels: those to begin with, and those that differ from a good one in one thing.

Every way keeps the contract; what the strategies refuse is refused when it is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal

from goptx.device.sweep import CAPS
from goptx.launch.shape import Shape
from goptx.options import MEASURED_STRATEGIES, MeasuredStrategy
from goptx.strategies.candidate import Candidate
from goptx.strategies.candidates import divides
from goptx.tuning.space.partitions import Partitions

FACTORS = (1, 2, 4)  # to begin with; better ones are looked for from there on
SEPARATE = (1, 2, 4, 8)  # of kernels that are not fused: registers do not add up
ALONE: Literal["coarsen"] = "coarsen"  # the strategy of one kernel
VARIED: dict[str, dict[str, tuple[Any, ...]]] = {  # what is tried of each strategy, beside what it takes by itself
    "weave": {
        "slicing": (None, 256, 512, 1024),  # cycles; fixed ones are the paper's
        "policy": ("concat", "paper"),
        "divergence": ("park", "predicate", "duplicate"),
        "placement": ("front",),
    },
    "vertical": {"divergence": ("park", "predicate", "duplicate"), "placement": ("front",)},
    "interleave": {"placement": ("front",), "ratio": ((1, 1), (1, 2), (2, 1), (1, 4), (4, 1))},
    "horizontal": {"placement": ("front",)},
    ALONE: {"slicing": (None, 256, 512, 1024), "policy": ("concat",), "divergence": ("park", "predicate")},
}  # fmt: skip
OTHER_ORDER = {"placement": "ratio", "ratio": "placement"}  # CTAs have one
TWINS: dict[str, dict[str, Any]] = {"weave": {"slicing": None}, "separate": {"streams": True}}  # matter most


@dataclass(frozen=True, slots=True)
class Space:
    """Of kernels in these shapes; `tunable` are those that are right with other blocks; `sizes` are those of a
    horizontal kernel's CTA (see `Partitions`)."""

    shapes: Sequence[Shape]
    tunable: Sequence[bool]
    strategies: Sequence[MeasuredStrategy] = MEASURED_STRATEGIES
    sizes: Sequence[int] = ()

    @property
    def partitions(self) -> Partitions:
        """Of a horizontal kernel."""
        return Partitions(self.shapes, self.tunable, self.sizes)

    @property
    def separate(self) -> Candidate:
        """The kernels as they are, one after the other."""
        return Candidate("separate", (1,) * len(self.shapes))

    @property
    def streams(self) -> Candidate:
        """The kernels as they are, side by side."""
        return self.separate.having(streams=True)

    def first(self) -> list[Candidate]:
        """Each strategy, with kernels coarsened or not; more than two of them all alike. Woven with slices and without,
        not fused one after the other and side by side."""
        if len(self.shapes) == 1:
            return [Candidate(ALONE, (f,)) for f in SEPARATE if self._divides((f,)) and f > 1]
        found: list[Candidate] = []
        for strategy in self.strategies:
            common = [(f,) * len(self.shapes) for f in (SEPARATE if strategy == "separate" else FACTORS)]
            mixed = product(FACTORS, repeat=2) if len(self.shapes) == 2 and strategy != "horizontal" else ()
            own = [Candidate(strategy, f) for f in dict.fromkeys([*common, *mixed]) if self._divides(f)]
            found += own
            found += [way.having(**TWINS[strategy]) for way in own if strategy in TWINS]
            if strategy == "horizontal":
                found += [Candidate(strategy, common[0]).having(partition=p) for p in self.partitions.all()]
        return found

    def near(self, way: Candidate) -> Iterator[Candidate]:
        """Those that differ from it in one thing, caps apart."""
        base = way.uncapped
        for name, values in VARIED.get(way.strategy, {}).items():
            if name == "placement" and len({s.ctas for s in self.shapes}) == 1:
                continue
            if name == "ratio" and len(self.shapes) != 2:
                continue
            for value in values:
                if (name, value) not in way.options and not way.option(OTHER_ORDER.get(name, "")):
                    yield base.having(**{name: value})
        for k, factor in enumerate(way.factors):
            for other in (2 * factor, factor // 2):
                factors = (*way.factors[:k], other, *way.factors[k + 1 :])
                if other and self._divides(factors) and (way.strategy != ALONE or other > 1):
                    yield replace(base, factors=factors)

    def capped(self, way: Candidate, registers: int) -> list[Candidate]:
        """The way under each cap of the published sweep that is below the `registers` of a thread without one."""
        if way.strategy == "separate":
            return []
        return [replace(way, cap=cap) for cap in CAPS if cap < registers]

    def _divides(self, factors: Sequence[int]) -> bool:
        """Whether no CTA of any kernel is left over."""
        return all(divides(f, shape) for f, shape in zip(factors, self.shapes, strict=True))
