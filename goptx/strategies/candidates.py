"""The ways to run kernels that `auto` chooses among, and what each is estimated to take.

What a strategy makes of kernels is foretold from the kernels alone: woven, one works while the other waits, and needs
registers beside it; in turn, one waits after the other; in CTAs of their own they have nothing but the SM in common. A
woven kernel that was made is looked at itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from operator import or_

from goptx.cost.estimate import Estimate, Load, Wave, estimate, next_step
from goptx.cost.kernels import Alone
from goptx.cost.work import Course, Work
from goptx.launch.coarsening import MOST
from goptx.launch.shape import Shape
from goptx.options import Strategy
from goptx.sources.kernel_text import Chosen
from goptx.strategies.candidate import Candidate

FACTORS = (1, 2, 4)  # CTAs of a kernel in one; with 8, registers allow too few warps, and weaving takes long
STRATEGIES: tuple[Strategy, ...] = ("weave", "interleave", "vertical", "separate")  # equals are preferred in this order
CTAS = 1 << 16  # taken for a grid that is not known: many times what a GPU holds
SHORT = 1 << 17  # CTAs of a grid, a hundred times what a GPU holds, of which each must be short
THREADS = 256  # taken for a block that is not known


def ways(
    kernels: Sequence[Chosen], shapes: Sequence[Shape] | None, unknown_loops: Sequence[int] | None = None
) -> list[Candidate]:
    """Those that may be made, without caps. Kernels are not coarsened where grids are not known; more than two of them
    all by one factor. `unknown_loops` are those of `Alone`, 0 by default."""
    given: Sequence[Shape | None] = shapes or [None] * len(kernels)
    loops = unknown_loops or [0] * len(kernels)
    own = [_factors(k, s, n) for k, s, n in zip(kernels, given, loops, strict=True)]
    common = [(f,) * len(own) for f in FACTORS if all(f in factors for factors in own)]
    every = list(product(*own)) if len(own) <= 2 else common
    strategies = STRATEGIES if shapes else [s for s in STRATEGIES if s != "interleave"]  # which has to know blocks
    return [Candidate(strategy, factors) for factors in every for strategy in strategies]


def divides(factor: int, shape: Shape) -> bool:
    """Whether so many CTAs along x can be one, and none is left over."""
    along = shape.axes("grid")[0]
    return factor == 1 or (factor <= MOST and not shape.cluster and along is not None and along % factor == 0)


def _factors(kernel: Chosen, shape: Shape | None, unknown_loops: int) -> tuple[int, ...]:
    """By which no CTA is left over. Each CTA of a kernel that may go round long has enough to do, unless there are so
    many that they must be short; what copies of nested loops take nobody can tell."""
    if shape is None or kernel.coarse.axis:
        return (1,)
    most = MOST
    if unknown_loops:
        most = 1 if (shape.ctas or 0) < SHORT else 2 if unknown_loops > 1 else MOST
    before = kernel.coarse.factor
    return tuple(f for f in FACTORS if f == 1 or (f <= most and divides(f * before, shape)))


@dataclass(frozen=True, slots=True)
class Judge:
    """Estimates ways to run kernels, of which it has the work, and by how many CTAs each was coarsened before."""

    kernels: Sequence[Alone]
    before: Sequence[int]
    shapes: Sequence[Shape]
    arch: str

    def estimates(self, way: Candidate, made: Sequence[Course] = ()) -> Iterator[tuple[Candidate, Estimate]]:
        """Of a way, without a cap and with one that may help. `made` says how warps go through what was made, if it
        was."""
        factors = [f * b for f, b in zip(way.factors, self.before, strict=True)]
        loads = [
            Load(kernel.work, shape.ctas or CTAS, shape.threads or THREADS, factor)
            for kernel, shape, factor in zip(self.kernels, self.shapes, factors, strict=True)
        ]
        shared = [(k.shared + (s.shared or 0)) * f for k, s, f in zip(self.kernels, self.shapes, factors, strict=True)]
        copies = [load.work.copies(load.joined) for load in loads]
        match way.strategy:
            case "weave":
                yield from self._launch(way, loads, made or [reduce(Work.beside, copies).course], sum(shared))
            case "vertical":
                in_turn = reduce(Work.before, (load.work.in_sequence(load.joined) for load in loads))
                yield from self._launch(way, loads, made or [in_turn.course], sum(shared))
            case "interleave":
                yield from self._launch(way, loads, made or [work.course for work in copies], max(shared))
            case _:
                courses = made or [work.course for work in copies]
                each = [
                    next(e for _, e in self._launch(way, [load], [course], own))
                    for load, course, own in zip(loads, courses, shared, strict=True)
                ]
                yield way, reduce(Estimate.then, each)

    def _launch(
        self, way: Candidate, loads: Sequence[Load], courses: Sequence[Course], shared: int
    ) -> Iterator[tuple[Candidate, Estimate]]:
        """Of one launch with CTAs of each of the courses, which are as many as loads, or one for all of them."""
        threads = max(load.threads for load in loads)
        ctas = [-(-load.ctas // load.joined) for load in loads]
        each = ctas if len(courses) == len(loads) else [max(ctas)]
        waves = [Wave(n, threads, course.latency, course.code) for n, course in zip(each, courses, strict=True)]
        pressure = reduce(or_, (course.pressure for course in courses))
        caps: list[int | None] = [None]
        if way.strategy == "weave" and (cap := next_step(pressure, shared, threads, self.arch)):
            caps.append(cap)
        for cap in caps:
            yield replace(way, cap=cap), estimate(loads, waves, pressure, shared, self.arch, cap)
