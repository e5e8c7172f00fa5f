"""The space of candidates: those to begin with, and those that differ from a good one in one option.

Every candidate leaves the kernels' results unchanged. A candidate that its strategy refuses is refused when it is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal

from goptx.device.sweep import CAPS
from goptx.launch.launch_plan import of_few_ctas
from goptx.launch.shape import Shape
from goptx.options import BINDINGS, MEASURED_STRATEGIES, PLACEMENTS, STREAMS, MeasuredStrategy, Placement, Streams
from goptx.strategies.candidate import Candidate, unchanged
from goptx.strategies.candidates import divides
from goptx.tuning.space.folds import Folds
from goptx.tuning.space.partitions import Partitions

FACTORS = (1, 2, 4)  # coarsening factors to begin with; the search varies the best
SEPARATE = (1, 2, 4, 8)  # factors of kernels that are not fused: their registers do not add up
ALONE: Literal["coarsen"] = "coarsen"  # the strategy of one kernel
VARIED: dict[str, dict[str, tuple[Any, ...]]] = {  # the options that are tried for each strategy beside its defaults
    "weave": {
        "slicing": (None, 256, 512, 1024),  # cycles; the fixed thresholds are the paper's
        "policy": ("concat", "paper"),
        "divergence": ("park", "predicate", "duplicate"),
        "placement": PLACEMENTS,
    },
    "vertical": {"divergence": ("park", "predicate", "duplicate"), "placement": PLACEMENTS},
    "interleave": {
        "placement": PLACEMENTS,
        "ratio": ((1, 1), (1, 2), (2, 1), (1, 4), (4, 1)),
        "binding": BINDINGS,
        "fold": ("static", "ticket"),
    },
    "horizontal": {"placement": PLACEMENTS},
    "separate": {"streams": (True, "reversed")},
    ALONE: {"slicing": (None, 256, 512, 1024), "policy": ("concat",), "divergence": ("park", "predicate")},
}  # fmt: skip
OTHER_ORDER = {  # what fixes the order of CTAs, too: only one may be given
    "placement": ("ratio", "binding"), "ratio": ("placement",), "binding": ("placement",),
}  # fmt: skip
OF_TWO = ("ratio", "binding", "fold")  # options that are tried for two kernels only
OF_WAVES = ("binding", "fold")  # and only if the larger grid is more than one wave
VARIANTS: dict[str, dict[str, Any]] = {  # the options that matter most: each first candidate is also tried with them
    "weave": {"slicing": None}, "separate": {"streams": True},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Space:
    """The candidates for kernels in these shapes. `tunable` marks the kernels that are right with other blocks; `sizes`
    are the sizes of a horizontal kernel's CTA (see `Partitions`). `folds` are the folded
    grids of horizontal kernels, if these are tried."""

    shapes: Sequence[Shape]
    tunable: Sequence[bool]
    strategies: Sequence[MeasuredStrategy] = MEASURED_STRATEGIES
    sizes: Sequence[int] = ()
    folds: Folds | None = None

    @property
    def partitions(self) -> Partitions:
        """The partitions of a horizontal kernel."""
        return Partitions(self.shapes, self.tunable, self.sizes)

    @property
    def separate(self) -> Candidate:
        """The unchanged kernels, one after the other."""
        return unchanged(len(self.shapes))

    def unchanged(self, streams: Streams) -> Candidate:
        """The unchanged kernels, one after the other or side by side."""
        return self.separate.having(streams=streams) if streams else self.separate

    @property
    def all_unchanged(self) -> list[Candidate]:
        return [self.unchanged(streams) for streams in STREAMS]

    def first(self) -> list[Candidate]:
        """Each strategy, with kernels coarsened or not; more than two kernels all have one factor. Weave with slicing
        and without; separate launches one after the other and side by side."""
        if len(self.shapes) == 1:
            return [Candidate(ALONE, (f,)) for f in SEPARATE if self._divides((f,)) and f > 1]
        found: list[Candidate] = []
        for strategy in self.strategies:
            common = [(f,) * len(self.shapes) for f in (SEPARATE if strategy == "separate" else FACTORS)]
            mixed = product(FACTORS, repeat=2) if len(self.shapes) == 2 and strategy != "horizontal" else ()
            own = [Candidate(strategy, f) for f in dict.fromkeys([*common, *mixed]) if self._divides(f)]
            found += own
            found += [candidate.having(**VARIANTS[strategy]) for candidate in own if strategy in VARIANTS]
            if strategy == "horizontal":
                found += [Candidate(strategy, common[0]).having(partition=p) for p in self.partitions.all()]
                found += self.folds.first() if self.folds else []
            if strategy == "interleave" and self._waves:
                bound = [candidate.having(binding="sm") for candidate in own if max(candidate.factors) <= 2]
                found += [*bound, *(candidate.having(ratio=(1, 1)) for candidate in bound)]
        return found

    def near(self, candidate: Candidate) -> Iterator[Candidate]:
        """The candidates that differ from this one in one option or one factor; register caps are left out."""
        base = candidate.uncapped
        if candidate.option("fold") and candidate.strategy == "horizontal":
            yield from self.folds.near(base) if self.folds else ()
            return
        for name, values in VARIED.get(candidate.strategy, {}).items():
            if name == "placement" and len({s.ctas for s in self.shapes}) == 1:
                continue
            if (name in OF_TWO and len(self.shapes) != 2) or (name in OF_WAVES and not self._waves):
                continue
            for value in values:
                if value == self._placement:  # the default
                    continue
                if (name, value) not in candidate.options and not any(map(candidate.option, OTHER_ORDER.get(name, ()))):
                    yield base.having(**{name: value})
        for k, factor in enumerate(candidate.factors):
            for other in (2 * factor, factor // 2):
                factors = (*candidate.factors[:k], other, *candidate.factors[k + 1 :])
                if other and self._divides(factors) and (candidate.strategy != ALONE or other > 1):
                    yield replace(base, factors=factors)

    def capped(self, candidate: Candidate, registers: int) -> list[Candidate]:
        """The candidate under each cap of the published sweep below `registers`, those per thread without a cap. None
        where the kernels are separate, or have registers of their own."""
        if candidate.strategy == "separate" or candidate.option("role_registers"):
            return []
        return [replace(candidate, cap=cap) for cap in CAPS if cap < registers]

    @property
    def _waves(self) -> bool:
        """Whether there are two kernels, of which one has more CTAs than the GPU holds at once."""
        return self.folds is not None and self.folds.possible

    @property
    def _placement(self) -> Placement:
        """Where the CTAs of a smaller grid lie by default."""
        return "front" if of_few_ctas([(s.ctas, s.threads) for s in self.shapes], interleaved=True) else "spread"

    def _divides(self, factors: Sequence[int]) -> bool:
        """Whether no CTA of any kernel is left over."""
        return all(divides(f, shape) for f, shape in zip(factors, self.shapes, strict=True))
