"""The candidates that `auto` chooses among: which strategies and coarsening factors kernels may be made with."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from goptx.analysis.registers.register_demand import FULL
from goptx.cost.kernels import Alone
from goptx.launch.coarsening import MOST
from goptx.launch.shape import Shape
from goptx.options import Strategy
from goptx.sources.kernel_text import Chosen
from goptx.strategies.candidate import Candidate
from goptx.weaving.shapes.strided import MANY

FACTORS = (1, 2, 4)  # coarsening factors; with 8, registers allow too few warps, and weaving takes long
STRATEGIES: tuple[Strategy, ...] = ("weave", "interleave", "vertical", "separate")  # of equals, the first is preferred
MOST_CODE = 1000  # lines of all copies of coarsened kernels: more take many seconds to weave
LONG = 2200  # cycles of a warp, twice the turnover of a CTA: CTAs that last longer gain little from being fewer


def possible_candidates(
    kernels: Sequence[Chosen], shapes: Sequence[Shape] | None, alone: Sequence[Alone] | None = None
) -> list[Candidate]:
    """The candidates that may be made, without caps. Kernels of unknown grids are not coarsened; more than two kernels
    are all coarsened by one factor. `alone` are the kernels as analysed; without, all are taken to be short."""
    given: Sequence[Shape | None] = shapes or [None] * len(kernels)
    analysed: Sequence[Alone | None] = alone or [None] * len(kernels)
    own = [_factors(k, s, a) for k, s, a in zip(kernels, given, analysed, strict=True)]
    common = [(f,) * len(own) for f in FACTORS if all(f in factors for factors in own)]
    every = list(product(*own)) if len(own) <= 2 else common
    strategies = STRATEGIES if shapes else [s for s in STRATEGIES if s != "interleave"]  # it needs known blocks
    return [Candidate(strategy, factors) for factors in every for strategy in strategies]


def divides(factor: int, shape: Shape) -> bool:
    """Whether the CTAs along x can be joined in groups of so many, and none is left over."""
    along = shape.axes("grid")[0]
    return factor == 1 or (factor <= MOST and not shape.cluster and along is not None and along % factor == 0)


def _factors(kernel: Chosen, shape: Shape | None, alone: Alone | None) -> tuple[int, ...]:
    """The factors that leave no CTA over."""
    if shape is None or kernel.coarse.axis:
        return (1,)
    most = _most_copies(alone, shape.ctas or 0) if alone else MOST
    before = kernel.coarse.factor
    return tuple(f for f in FACTORS if f == 1 or (f <= most and divides(f * before, shape)))


def _most_copies(alone: Alone, ctas: int) -> int:
    """How often a kernel may be coarsened. Fewer CTAs save their turnover, and copies fill each other's waits: a CTA
    with a long loop, or one that lasts long otherwise, gains nothing by that, and one whose threads have many registers
    already has independent work for each of them. What copies of nested loops take is not predictable."""
    if ctas >= MANY:
        return 2 if alone.unknown_loops > 1 else MOST
    course = alone.work.course
    is_long = alone.unknown_loops or course.latency > LONG or course.pressure.registers > FULL
    return 1 if is_long else MOST
