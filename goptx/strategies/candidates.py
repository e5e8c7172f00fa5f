"""The candidates that `auto` chooses among, and the time that each is estimated to take.

An estimate is made from the kernels alone. Woven kernels fill each other's waits, and their registers add up. Vertical
kernels wait one after the other. Interleaved kernels have only the SM in common. A woven kernel that was made is
estimated from its own code. Each estimate is made under one assumption of what is unknown (cost/assumptions.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import pairwise, product
from operator import or_

from goptx.analysis.cfg import Flow
from goptx.analysis.registers.register_demand import FULL
from goptx.cost.assumptions import Assumption, Behaviour, table
from goptx.cost.code_size import NO_CODE, CodeSize
from goptx.cost.courses import Made
from goptx.cost.estimate import Estimate, Load, Wave, estimate, next_step, side_by_side
from goptx.cost.folded_estimate import Folding, Role, folded
from goptx.cost.hardware import WARP
from goptx.cost.kernels import Acts, Alone
from goptx.cost.register_estimate import Pressure
from goptx.cost.role_registers import rounded_up
from goptx.cost.work import Course, Work, arithmetic
from goptx.launch.coarsening import MOST
from goptx.launch.launch_plan import of_few_ctas
from goptx.launch.shape import Shape
from goptx.options import Strategy
from goptx.sources.kernel_text import Chosen
from goptx.strategies.candidate import Candidate
from goptx.weaving.folding.divided_products import pieces_for
from goptx.weaving.shapes.strided import MANY

FACTORS = (1, 2, 4)  # coarsening factors; with 8, registers allow too few warps, and weaving takes long
STRATEGIES: tuple[Strategy, ...] = ("weave", "interleave", "vertical", "separate")  # of equals, the first is preferred
MOST_CODE = 1000  # lines of all copies of coarsened kernels: more take many seconds to weave
CTAS = 1 << 16  # assumed for an unknown grid: many times what a GPU holds
LONG = 2200  # cycles of a warp, twice the turnover of a CTA: CTAs that last longer gain little from being fewer
THREADS = 256  # assumed for an unknown block
# How many times as long two kernels on folded grids take as estimated: their warps wait for each other more than those
# of one kernel. Fitted to nine forms of the pairs of suite C on which rules may be fitted: 1.13 to 1.30. Groups of a
# graph gain what is estimated without it (benchmarks/graph_programs.py), and most are measured.
TOGETHER = 1.22
# By which they take longer than others if a `wgmma` is divided into pieces (least squares of 22 forms of pairs of
# benchmarks/unseen that are not held out, compared with 50 without): what the pieces cost besides reading more.
DIVIDED = 1.16
SPARSE = 0.5  # of the GPU: a grid that fills less has its CTAs spread over all SMs, if it comes first


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
        ones fill the other SMs."""
        launch = _Launch(self, candidate, tuple(kernel.unknown.middle for kernel in self.kernels), None)
        precedence = launch.precedence
        return candidate.having(streams="reversed" if precedence[-1] < precedence[0] else True)

    def each_alone(self) -> list[Estimate]:
        """Each kernel as it is, in a launch of its own, under the middle assumption."""
        middle = tuple(kernel.unknown.middle for kernel in self.kernels)
        return _Launch(self, Candidate("separate", (1,) * len(self.kernels)), middle, None).separate()

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
        behaviours = assumption.kernels if assumption else tuple(kernel.unknown.middle for kernel in self.kernels)
        launch = _Launch(self, candidate, behaviours, made)
        if candidate.option("fold") and candidate.strategy == "horizontal":
            yield candidate, launch.folded()
        elif candidate.strategy != "separate":
            yield from launch.fused()
        elif candidate.option("streams"):
            yield candidate, side_by_side(launch.separate(), launch.loads, self.arch)
        else:
            yield candidate, reduce(Estimate.then, launch.separate())


@dataclass(frozen=True)
class _Launch:
    """A candidate whose kernels behave in one way."""

    judge: Judge
    candidate: Candidate
    behaviours: Sequence[Behaviour]
    made: Made | None

    @cached_property
    def factors(self) -> list[int]:
        return [f * b for f, b in zip(self.candidate.factors, self.judge.before, strict=True)]

    @cached_property
    def acts(self) -> list[Acts]:
        return [kernel.under(its) for kernel, its in zip(self.judge.kernels, self.behaviours, strict=True)]

    @cached_property
    def shared(self) -> list[int]:
        """Bytes of shared memory of each kernel in a CTA of the launch."""
        each = zip(self.judge.kernels, self.judge.shapes, self.factors, strict=True)
        return [(kernel.shared + (shape.shared or 0)) * factor for kernel, shape, factor in each]

    @cached_property
    def loads(self) -> list[Load]:
        """Kernels of which each thread executes several are made convergent: what is short is not skipped there."""
        merged = self.candidate.strategy in ("weave", "vertical", "coarsen")
        return [
            Load(
                acts.fused if merged or factor > 1 else acts.work.units,
                shape.ctas or CTAS, shape.threads or THREADS, factor, behaviour.live,
                acts.fused_ended if merged or factor > 1 else acts.ended,
            )
            for acts, shape, factor, behaviour in zip(
                self.acts, self.judge.shapes, self.factors, self.behaviours, strict=True
            )
        ]  # fmt: skip

    def fused(self) -> Iterator[tuple[Candidate, Estimate]]:
        """One launch, without a cap or with that of the candidate, and with one that may help."""
        strategy, arch, loads, own = self.candidate.strategy, self.judge.arch, self.loads, self.shared
        everything = range(len(loads))
        ctas = [-(-load.ctas // load.joined) for load in loads]
        threads = (sum if strategy == "horizontal" else max)(load.threads for load in loads)
        together = strategy != "interleave"
        if together:
            parts = {k: ctas[k] / max(ctas) * loads[k].live for k in everything}
            waves = [self._of_several(which, threads, share * max(ctas)) for which, share in _segments(parts)]
            pressure, shared = self._pressure(everything), sum(own)
        else:
            waves = [wave for k in everything for wave in self._of_one(k, loads[k].threads, ctas[k])]
            pressure, shared = reduce(or_, (self._pressure([k]) for k in everything)), max(own)
        falling = not together and self._is_falling()
        caps = [self.candidate.cap]
        if strategy == "weave" and not caps[0] and (cap := next_step(pressure, shared, threads, arch)):
            caps.append(cap)
        for limit in caps:
            estimated = estimate(loads, waves, pressure, shared, arch, limit, together, falling)
            if not together and self._order:  # until one has ended, the next has what it leaves of the GPU
                each = [
                    estimate([load], self._of_one(k, load.threads, ctas[k]), pressure, shared, arch, limit)
                    for k, load in enumerate(loads)
                ]
                estimated = replace(estimated, cycles=max(estimated.cycles, sum(e.cycles * e.filled for e in each)))
            yield replace(self.candidate, cap=limit), estimated

    @property
    def _grids(self) -> list[tuple[int | None, int | None]]:
        """The CTAs of each kernel, and the threads of one."""
        each = zip(self.judge.shapes, self.factors, strict=True)
        return [(-(-shape.ctas // n) if shape.ctas else None, shape.threads) for shape, n in each]

    @cached_property
    def _order(self) -> Sequence[int]:
        """The kernels in the order of their CTAs, if those of one begin where those of the one before leave room; else
        nothing. By default that is so where one kernel has few (`Plan.few_first`)."""
        everything = range(len(self.loads))
        if self.candidate.option("placement") == "front":
            return everything
        if any(map(self.candidate.option, ("placement", "ratio", "binding"))):
            return ()
        few = of_few_ctas(self._grids, interleaved=True)
        return sorted(everything, key=lambda k: k not in few) if few else ()

    def _is_falling(self) -> bool:
        """Whether the CTAs of each kernel come after those of all kernels whose CTAs last longer."""
        order = [k for team in self.judge.teams for k in team] or self._order
        lasts = [self._whole([k]).latency for k in order]
        return bool(lasts) and all(one >= other for one, other in pairwise(lasts))

    def folded(self) -> Estimate:
        """Folded grids: one launch, in which each team has warps and, if they are moved, registers of its own."""
        teams = self.judge.teams or [(k,) for k in range(len(self.loads))]
        several, parts = (self.candidate.option(name) or [1] * len(teams) for name in ("teams", "parts"))
        roles = [
            Role([self.loads[k] for k in team], self._team(team, divided), n, self._free(team))
            for team, n, divided in zip(teams, several, parts, strict=True)
        ]
        own = [max(self._pressure([k]).registers for k in team) for team in teams]
        moved = self.candidate.option("role_registers")
        each = zip(moved or own, (role.threads for role in roles), strict=True)
        threads = sum(role.threads for role in roles)
        registers = rounded_up(-(-sum(r * n for r, n in each) // threads)) if moved else max(own)
        if moved:
            roles = [replace(r, pieces=self._pieces(t, registers)) for r, t in zip(roles, teams, strict=True)]
        shared = sum(n * max(self.shared[k] for k in team) for team, n in zip(teams, several, strict=True))
        found = folded(roles, self._folding(moved), registers, shared, self.judge.arch)
        factor = 1.0 if self.judge.teams else TOGETHER
        factor *= DIVIDED if any(role.pieces > 1 for role in roles) else 1.0
        return replace(found, cycles=factor * found.cycles)

    def _pieces(self, team: Sequence[int], registers: int) -> int:
        """Into how many pieces each `wgmma` of the team is divided if threads begin with so many registers."""
        needed = ((self.judge.kernels[k], self._pressure([k]).needed.value.sums) for k in team)
        return max(pieces_for(sums, registers, kernel.pieces) for kernel, sums in needed)

    def _free(self, team: Sequence[int]) -> Flow | None:
        """The flow of the kernel that a team runs, if that is one and its warps need nothing of each other."""
        kernel = self.judge.kernels[team[0]]
        return kernel.flow if len(team) == 1 and not self.shared[team[0]] and kernel.warps_are_free else None

    def _folding(self, moved: Sequence[int] | None) -> Folding:
        """The role with more registers helps, the first one if both have equally many."""
        option = self.candidate.option
        helper = int(moved is not None and moved[1] > moved[0]) if option("assist") else None
        return Folding(option("ctas"), option("fold") == "ticket", helper)

    def _team(self, kernels: Sequence[int], parts: int) -> Wave:
        """The virtual CTAs of a team, or the parts of them, one after the other. While it runs one kernel, it needs the
        code of no other."""
        ctas = [-(-self.loads[k].ctas // self.loads[k].joined) * self.loads[k].live for k in kernels]
        courses = [self._whole([k]) for k in kernels]
        latency = sum(n * course.latency for n, course in zip(ctas, courses, strict=True)) / max(sum(ctas), 1)
        threads = max(-(-self.loads[k].threads // WARP) * WARP for k in kernels) // parts
        code = max((course.code for course in courses), key=lambda code: code.passed)
        return Wave(sum(ctas) * parts, threads, latency, code)

    def separate(self) -> list[Estimate]:
        """A launch for each kernel. Several candidates are compared with the same ones."""
        if self.made is not None:
            return self._separate()
        key = self.candidate.strategy, self.candidate.factors, tuple(self.behaviours)
        found = self.judge._separate.get(key)
        if found is None:
            found = self.judge._separate[key] = self._separate()
        return found

    def _separate(self) -> list[Estimate]:
        return [
            estimate(
                [load], self._of_one(k, load.threads, -(-load.ctas // load.joined), k), self._pressure([k], k), shared,
                self.judge.arch,
            )
            for k, (load, shared) in enumerate(zip(self.loads, self.shared, strict=True))
        ]  # fmt: skip

    def _running(self, which: Sequence[int], threads: int) -> int:
        """The threads of a CTA that executes these kernels, of the `threads` that it has, which do not end at once.
        Where a kernel has barriers, the others may have to arrive at them."""
        if not which or self.candidate.strategy == "horizontal" or any(k.has_barriers for k in self.judge.kernels):
            return threads
        return max(self.judge.shapes[k].threads or THREADS for k in which)

    def _mean(self, which: Sequence[int], running: int) -> float:
        """The mean cycles of the `running` threads of a CTA that executes these kernels, as a share of those of the
        threads that execute all of them: the others have no part in kernels with smaller blocks."""
        longest, _ = self._course(which)
        if not longest or self.candidate.strategy == "horizontal":
            return 1.0
        threads = {k: self.judge.shapes[k].threads or THREADS for k in which}
        sizes = sorted({*threads.values()})
        taken = 0.0
        for before, size in pairwise((0, *sizes)):
            taken += (size - before) * self._course([k for k in which if threads[k] >= size])[0]
        return min(taken / (running * longest), 1.0)

    @property
    def precedence(self) -> list[tuple[bool, bool, float]]:
        """For each kernel of separate launches a key: the one with the least is launched first."""
        launches = self.separate()
        few = of_few_ctas(self._grids)
        return [
            (k not in few and launch.filled >= 1.0, launch.filled >= SPARSE, -self._whole([k], k).latency)
            for k, launch in enumerate(launches)
        ]

    def _of_several(self, which: Sequence[int], threads: int, ctas: float) -> Wave:
        """The CTAs that execute these kernels."""
        running = self._running(which, threads)
        return Wave(ctas, running, *self._course(which), self._pipe(which), self._mean(which, running))

    def _of_one(self, kernel: int, threads: int, ctas: int, entry: int = 0) -> list[Wave]:
        """The CTAs of a kernel that do something, and those that end at once."""
        live = ctas * self.behaviours[kernel].live
        course, pipe = self._course([kernel], entry), self._pipe([kernel])
        waves = [Wave(live, threads, *course, pipe), Wave(ctas - live, threads, 0.0)]
        return [wave for wave in waves if wave.ctas]

    def _pipe(self, which: Sequence[int]) -> float:
        """Cycles for which a warp that executes these kernels occupies the pipe that it uses most."""
        return sum(self.loads[k].joined * arithmetic(self.loads[k].units) for k in which)

    def _course(self, which: Sequence[int], entry: int = 0) -> tuple[float, CodeSize]:
        """Latency and code of a warp that executes these kernels."""
        if not which:
            return 0.0, NO_CODE
        course = self._whole(which, entry)
        return course.latency, course.code

    def _pressure(self, which: Sequence[int], entry: int = 0) -> Pressure:
        return self._whole(which, entry).pressure

    def _whole(self, which: Sequence[int], entry: int = 0) -> Course:
        if self.made is not None and self.candidate.strategy != "horizontal" and not self._unchanged(which):
            return self.made.course(self.behaviours, which, entry)
        works = [self.acts[k].work for k in which]
        joined = [self.factors[k] for k in which]
        match self.candidate.strategy:
            case "vertical":
                return reduce(Work.before, (w.in_sequence(n) for w, n in zip(works, joined, strict=True))).course
            case "horizontal":
                courses = [w.copies(n).course for w, n in zip(works, joined, strict=True)]
                return Course(
                    max(c.latency for c in courses),
                    reduce(or_, (c.pressure for c in courses)),
                    reduce(CodeSize.beside, (c.code for c in courses)),
                )
            case _:
                return reduce(Work.beside, (w.copies(n) for w, n in zip(works, joined, strict=True))).course

    def _unchanged(self, which: Sequence[int]) -> bool:
        """Whether a CTA runs one kernel only, as it is."""
        return self.candidate.strategy in ("interleave", "separate") and all(self.factors[k] == 1 for k in which)


def _segments(parts: Mapping[int, float]) -> Iterator[tuple[list[int], float]]:
    """Which kernels CTAs execute, and the shares of all CTAs that do. `parts` is the share in which each kernel does
    something. Those of one kernel are assumed to lie among those of another that has more."""
    order = sorted(parts, key=lambda k: (-parts[k], k))
    for count in range(len(order), -1, -1):
        share = parts[order[count - 1]] if count else 1.0
        more = parts[order[count]] if count < len(order) else 0.0
        if share > more:
            yield sorted(order[:count]), share - more
