"""The candidates that `auto` chooses among, and the time that each is estimated to take.

An estimate is made from the kernels alone. Woven kernels fill each other's waits, and their registers add up. Vertical
kernels wait one after the other. Interleaved kernels have only the SM in common. A woven kernel that was made is
estimated from its own code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from operator import or_

from goptx.analysis.registers.register_estimate import FULL
from goptx.cost.estimate import Estimate, Load, Wave, estimate, next_step
from goptx.cost.kernels import Alone
from goptx.cost.work import Course, Work
from goptx.launch.coarsening import MOST
from goptx.launch.shape import Shape
from goptx.options import Strategy
from goptx.sources.kernel_text import Chosen
from goptx.strategies.candidate import Candidate

FACTORS = (1, 2, 4)  # coarsening factors; with 8, registers allow too few warps, and weaving takes long
STRATEGIES: tuple[Strategy, ...] = ("weave", "interleave", "vertical", "separate")  # of equals, the first is preferred
CTAS = 1 << 16  # assumed for an unknown grid: many times what a GPU holds
SHORT = 1 << 17  # a grid of so many CTAs, a hundred times what a GPU holds, has short ones
THREADS = 256  # assumed for an unknown block


def possible_candidates(
    kernels: Sequence[Chosen], shapes: Sequence[Shape] | None, unknown_loops: Sequence[int] | None = None
) -> list[Candidate]:
    """The candidates that may be made, without caps. Kernels of unknown grids are not coarsened; more than two kernels
    are all coarsened by one factor. `unknown_loops` are those of `Alone`, 0 by default."""
    given: Sequence[Shape | None] = shapes or [None] * len(kernels)
    loops = unknown_loops or [0] * len(kernels)
    own = [_factors(k, s, n) for k, s, n in zip(kernels, given, loops, strict=True)]
    common = [(f,) * len(own) for f in FACTORS if all(f in factors for factors in own)]
    every = list(product(*own)) if len(own) <= 2 else common
    strategies = STRATEGIES if shapes else [s for s in STRATEGIES if s != "interleave"]  # it needs known blocks
    return [Candidate(strategy, factors) for factors in every for strategy in strategies]


def divides(factor: int, shape: Shape) -> bool:
    """Whether the CTAs along x can be joined in groups of so many, and none is left over."""
    along = shape.axes("grid")[0]
    return factor == 1 or (factor <= MOST and not shape.cluster and along is not None and along % factor == 0)


def _factors(kernel: Chosen, shape: Shape | None, unknown_loops: int) -> tuple[int, ...]:
    """The factors that leave no CTA over. A CTA with a loop that may be long has enough work already, unless there are
    so many CTAs that they must be short. What copies of nested loops take is not predictable."""
    if shape is None or kernel.coarse.axis:
        return (1,)
    most = MOST
    if unknown_loops:
        most = 1 if (shape.ctas or 0) < SHORT else 2 if unknown_loops > 1 else MOST
    before = kernel.coarse.factor
    return tuple(f for f in FACTORS if f == 1 or (f <= most and divides(f * before, shape)))


@dataclass(frozen=True, slots=True)
class Judge:
    """Estimates candidates from the work of each kernel. `before`: the factor by which each is coarsened already."""

    kernels: Sequence[Alone]
    before: Sequence[int]
    shapes: Sequence[Shape]
    arch: str

    def estimates(self, candidate: Candidate, made: Sequence[Course] = ()) -> Iterator[tuple[Candidate, Estimate]]:
        """The estimates of a candidate without a cap, and with one that may help. `made` are the courses of what was
        made of it, if it was made."""
        factors = [f * b for f, b in zip(candidate.factors, self.before, strict=True)]
        loads = [
            Load(kernel.work, shape.ctas or CTAS, shape.threads or THREADS, factor)
            for kernel, shape, factor in zip(self.kernels, self.shapes, factors, strict=True)
        ]
        shared = [(k.shared + (s.shared or 0)) * f for k, s, f in zip(self.kernels, self.shapes, factors, strict=True)]
        copies = [load.work.copies(load.joined) for load in loads]
        match candidate.strategy:
            case "weave":
                beside = made or [reduce(Work.beside, copies).course]
                fills = bool(made) and reduce(or_, (course.pressure for course in made)).fills
                capped = replace(candidate, cap=FULL) if fills else candidate
                yield from self._launch(capped, loads, beside, sum(shared))
            case "vertical":
                in_sequence = reduce(Work.before, (load.work.in_sequence(load.joined) for load in loads))
                yield from self._launch(candidate, loads, made or [in_sequence.course], sum(shared))
            case "interleave":
                yield from self._launch(candidate, loads, made or [work.course for work in copies], max(shared))
            case _:
                courses = made or [work.course for work in copies]
                each = [
                    next(e for _, e in self._launch(candidate, [load], [course], own))
                    for load, course, own in zip(loads, courses, shared, strict=True)
                ]
                yield candidate, reduce(Estimate.then, each)

    def _launch(
        self, candidate: Candidate, loads: Sequence[Load], courses: Sequence[Course], shared: int
    ) -> Iterator[tuple[Candidate, Estimate]]:
        """The estimates of one launch. Its CTAs run one course for each load, or one course for all loads."""
        threads = max(load.threads for load in loads)
        ctas = [-(-load.ctas // load.joined) for load in loads]
        each = ctas if len(courses) == len(loads) else [max(ctas)]
        waves = [Wave(n, threads, course.latency, course.code) for n, course in zip(each, courses, strict=True)]
        pressure = reduce(or_, (course.pressure for course in courses))
        caps = [candidate.cap]
        if candidate.strategy == "weave" and (cap := next_step(pressure, shared, threads, self.arch)):
            caps.append(cap)
        for cap in caps:
            yield replace(candidate, cap=cap), estimate(loads, waves, pressure, shared, self.arch, cap)
