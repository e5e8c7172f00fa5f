"""The space of ways to run kernels: those to begin with, and those that differ from a good one in one thing.

Every way keeps the contract; what the strategies refuse is refused when it is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any

from goptx.shape import Shape
from goptx.strategies.way import Way
from goptx.strategies.ways import divides

FACTORS = (1, 2, 4)  # to begin with; better ones are looked for from there on
SEPARATE = (1, 2, 4, 8)  # of kernels that are not fused: registers do not add up
STRATEGIES = ("weave", "vertical", "interleave", "horizontal", "separate")
ALONE = "coarsen"  # the strategy of one kernel
STEP, THREADS = 128, 1024  # of partitions, and of a CTA at most (M9)
VARIED: dict[str, dict[str, tuple[Any, ...]]] = {  # what is tried of each strategy, beside what it takes by itself
    "weave": {
        "slicing": (None, 256, 512, 1024),  # cycles; fixed ones are the paper's (M4)
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
    """Of kernels in these shapes; `tunable` are those that are right with other blocks."""

    shapes: Sequence[Shape]
    tunable: Sequence[bool]
    strategies: Sequence[str] = STRATEGIES

    @property
    def separate(self) -> Way:
        """The kernels as they are, one after the other."""
        return Way("separate", (1,) * len(self.shapes))

    @property
    def streams(self) -> Way:
        """The kernels as they are, side by side."""
        return self.separate.having(streams=True)

    def first(self) -> list[Way]:
        """Each strategy, with kernels coarsened or not; more than two of them all alike. Woven with slices and without,
        not fused one after the other and side by side."""
        if len(self.shapes) == 1:
            return [Way(ALONE, (f,)) for f in SEPARATE if self._divides((f,)) and f > 1]
        found: list[Way] = []
        for strategy in self.strategies:
            common = [(f,) * len(self.shapes) for f in (SEPARATE if strategy == "separate" else FACTORS)]
            mixed = product(FACTORS, repeat=2) if len(self.shapes) == 2 and strategy != "horizontal" else ()
            own = [Way(strategy, f) for f in dict.fromkeys([*common, *mixed]) if self._divides(f)]
            found += own
            found += [way.having(**TWINS[strategy]) for way in own if strategy in TWINS]
            if strategy == "horizontal":
                found += self._partitioned(Way(strategy, common[0]))
        return found

    def near(self, way: Way) -> Iterator[Way]:
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

    def _divides(self, factors: Sequence[int]) -> bool:
        """Whether no CTA of any kernel is left over."""
        return all(divides(f, shape) for f, shape in zip(factors, self.shapes, strict=True))

    def _partitioned(self, way: Way) -> Iterator[Way]:
        """Two kernels of which one at least takes other blocks, by how many threads each has (M9)."""
        own = [shape.threads or 0 for shape in self.shapes]
        if len(own) != 2 or not any(self.tunable):
            return
        parts = [(d, total - d) for total in (min(sum(own), THREADS), THREADS) for d in range(STEP, total, STEP)]
        if not all(self.tunable):
            most = THREADS - own[self.tunable.index(False)]
            parts = [(d, own[1]) if self.tunable[0] else (own[0], d) for d in range(STEP, most + 1, STEP)]
        rows = [prod(n or 1 for n in shape.block[:-1]) for shape in self.shapes]
        for part in dict.fromkeys(parts):
            if list(part) != own and all(d % row == 0 for d, row in zip(part, rows, strict=True)):
                yield way.having(partition=part)
