"""The launches of a candidate whose kernels behave in one way: their CTAs, registers and caps, and their estimates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import pairwise
from operator import or_
from typing import TYPE_CHECKING

from goptx.analysis.cfg import Flow
from goptx.analysis.registers.register_demand import FULL, Demand
from goptx.cost.assumptions import Behaviour
from goptx.cost.code_size import NO_CODE, CodeSize
from goptx.cost.courses import Made
from goptx.cost.estimate import Estimate, Load, Wave, estimate, lasting, next_step, steps
from goptx.cost.folded_estimate import Folding, Role, folded
from goptx.cost.hardware import WARP, machine_of
from goptx.cost.kernels import Acts
from goptx.cost.register_estimate import Pressure
from goptx.cost.role_registers import LOOP, rounded_up
from goptx.cost.work import Course, Work, arithmetic
from goptx.device.occupancy import occupancy, sm_limits
from goptx.launch.launch_plan import of_few_ctas
from goptx.strategies.candidate import Candidate
from goptx.weaving.folding.divided_products import pieces_for

if TYPE_CHECKING:
    from goptx.strategies.estimates.judge import Judge

CTAS = 1 << 16  # assumed for an unknown grid: many times what a GPU holds
THREADS = 256  # assumed for an unknown block
# How many times as long two kernels on folded grids take as estimated: their warps wait for each other more than those
# of one kernel. Fitted to nine forms of the pairs of suite C on which rules may be fitted: 1.13 to 1.30. Groups of a
# graph gain what is estimated without it (benchmarks/graph_programs.py), and most are measured.
TOGETHER = 1.22
# By which they take longer than others if a `wgmma` is divided into pieces (least squares of 22 forms of pairs of
# benchmarks/unseen that are not held out, compared with 50 without): what the pieces cost besides reading more.
DIVIDED = 1.16
# By which they take longer for each register that a thread with `wgmma` is short of, compared with what the assembler
# would give: so measured on eight pairs of flash attention in benchmarks/unseen, none held out, with 8 to 32 too few
# (0.1 to 1 %).
SHORT = 0.003
# Registers below a cap that spilled values pass through. With them, and what the memory moves (cost/estimate.py),
# nearly the best caps are found for 64 interleaved pairs of benchmarks/unseen that are not held out: they gain 4.4 % by
# them, 5.5 % is possible, and the worst loses 4 % (1 to 5 registers, and 64 to 256 bytes, were tried).
ASIDE = 3
# Of what is live, the share that a kernel in CTAs of its own may spill under a cap: what it takes when half is spilled
# is not foreseen (GEMV with 32 registers takes 1.7 times as long as estimated). 0.3 to 0.5 fit as well. With `wgmma`
# none may: of seven pairs of flash attention so capped, none held out, six took 1.03 to 1.7 times as long as estimated.
MOST_SPILLED = 1 / 3
# By which kernels take longer than estimated whose CTAs run beside each other instead of in turn. With it, 8 of 70
# pairs of benchmarks/unseen, none held out, are estimated to gain 5 % or more by that; they gain 3 to 29 %.
CROWDED = 1.06
SPARSE = 0.5  # of the GPU: a grid that fills less has its CTAs spread over all SMs, if it comes first
# An SM divides its memory between the L1 and shared memory in one of these ways (of 8 KB and more: CUDA C Programming
# Guide), by what the kernel wants that runs there; a kernel that wants more waits until the SM is idle. So it was
# measured on an H200 (benchmarks/shared_memory_waits.py), but that an SM may keep twice what is wanted.
CARVEOUTS, WIDER = tuple(n << 10 for n in (8, 16, 32, 64, 100, 132, 164, 196, 228)), 2
# Of what a kernel leaves idle at its end, the share that such another one fills: with 0.2 the order is within 3 % of
# the better one for 147 of 148 pairs of benchmarks/unseen that are not held out (146 with 1).
REST = 0.2


@dataclass(frozen=True)
class Launch:
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
        """One launch, without a cap or with that of the candidate, and with those that may help."""
        estimated = self._in_own_ctas if self.candidate.strategy == "interleave" else self._in_common_ctas
        for cap in [self.candidate.cap] if self.candidate.cap else self._caps():
            yield replace(self.candidate, cap=cap), estimated(cap)

    def _in_common_ctas(self, cap: int | None) -> Estimate:
        """Each CTA has one of each kernel."""
        most = max(self.ctas)
        parts = {k: ctas / most * self.loads[k].live for k, ctas in enumerate(self.ctas)}
        spilled = max(self._all.possible - cap, 0) if cap else 0
        waves = [self._of_several(which, self._threads, share * most, spilled) for which, share in _segments(parts)]
        return estimate(self.loads, waves, self._all, sum(self.shared), self.judge.arch, cap)

    def _in_own_ctas(self, cap: int | None) -> Estimate:
        """Each CTA has one of one kernel. Where they come in turn, the next kernel has what the one before leaves of
        the GPU, until that has ended."""
        loads, under = self.loads, (self._all, max(self.shared), self.judge.arch, cap)
        each = [self._of_one(k, loads[k].threads, ctas, cap=cap) for k, ctas in enumerate(self.ctas)]
        waves = [wave for own in each for wave in own]
        found = estimate(loads, waves, *under, together=False, longest_first=self._is_falling())
        if self._order:
            in_turn = [estimate([load], own, *under) for load, own in zip(loads, each, strict=True)]
            found = replace(found, cycles=max(found.cycles, sum(one.cycles * one.filled for one in in_turn)))
        if self.candidate.option("ratio"):
            found = replace(found, cycles=CROWDED * self._last_of_few(found.cycles))
        return found

    def _last_of_few(self, cycles: float) -> float:
        """When the last CTA of a kernel with few of them ends, if these are among the first of another kernel's, and
        all others end after so many cycles; or these."""
        ratio: Sequence[int] = self.candidate.option("ratio")
        if len(self.few) != 1 or len(ratio) != 2:
            return cycles
        (k,) = self.few
        begun = min(self.ctas[k] / ratio[k] * ratio[1 - k] / self.ctas[1 - k], 1.0)
        return max(cycles, begun * cycles + lasting(self._whole([k]).latency, machine_of(self.judge.arch)))

    def _caps(self) -> list[int | None]:
        """No register cap, and those that may help, of equals the best first. Of woven kernels that is one which takes
        few registers; of kernels in CTAs of their own those with which more CTAs of any of them fit on an SM, for only
        kernels that need more registers spill."""
        needed, arch = self._all, self.judge.arch
        if self.candidate.strategy == "weave":
            cap = next_step(needed, sum(self.shared), self._threads, arch)
            return [None, cap] if cap else [None]
        if self.candidate.strategy != "interleave":
            return [None]
        if max(self.factors) > 1:  # what copies need is not foreseen well enough
            return [None]
        if needed.registers <= FULL < needed.possible:  # alone, each kernel has no more, but together they may have
            return [FULL, None]
        each = [self._needed(k) for k in range(len(self.loads))]
        possible = steps(needed, max(self.shared), [load.threads for load in self.loads], arch)
        most = [0 if own.sums else MOST_SPILLED * own.live for own in each]
        few = (c for c in possible if all(own.spilled(c - ASIDE) <= n for own, n in zip(each, most, strict=True)))
        return [None, *few]

    @cached_property
    def _all(self) -> Pressure:
        """The pressure of the kernels, or in CTAs of their own of any of them."""
        everything = range(len(self.loads))
        if self.candidate.strategy == "interleave":
            return reduce(or_, (self._pressure([k]) for k in everything))
        return self._pressure(everything)

    def _needed(self, kernel: int) -> Demand:
        """The registers that a kernel needs alone."""
        return self._unmade([kernel]).pressure.needed.value

    @property
    def ctas(self) -> list[int]:
        """The CTAs of each kernel in the launch."""
        return [-(-load.ctas // load.joined) for load in self.loads]

    @property
    def _threads(self) -> int:
        """The threads of a CTA that has all kernels."""
        return (sum if self.candidate.strategy == "horizontal" else max)(load.threads for load in self.loads)

    @property
    def _grids(self) -> list[tuple[int | None, int | None]]:
        """The CTAs of each kernel, and the threads of one."""
        each = zip(self.judge.shapes, self.factors, strict=True)
        return [(-(-shape.ctas // n) if shape.ctas else None, shape.threads) for shape, n in each]

    @cached_property
    def few(self) -> frozenset[int]:
        """The interleaved kernels that have few CTAs."""
        return of_few_ctas(self._grids, interleaved=True)

    @cached_property
    def _order(self) -> Sequence[int]:
        """The kernels in the order of their CTAs, if those of one begin where those of the one before leave room; else
        nothing. By default that is so where one kernel has few (`Plan.few_first`)."""
        everything = range(len(self.loads))
        if self.candidate.option("placement") == "front":
            return everything
        if any(map(self.candidate.option, ("placement", "ratio", "binding"))):
            return ()
        return sorted(everything, key=lambda k: k not in self.few) if self.few else ()

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
        short = max(map(self._short_of, teams, moved)) if moved else 0
        factor *= 1.0 + SHORT * short
        return replace(found, cycles=factor * found.cycles)

    def _short_of(self, team: Sequence[int], registers: int) -> int:
        """The registers that a thread of a team is short of for its kernels with `wgmma`, if it has so many."""
        needed = (self._pressure([k]).needed.value for k in team)
        return max([0, *(own.registers + LOOP - registers for own in needed if own.sums)])

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

    def comes_first(self, kernel: int, other: int) -> bool:
        """Whether of two separate launches side by side this one leaves less of the GPU idle if it is the first."""
        return self._precedence(kernel, other) <= self._precedence(other, kernel)

    def _precedence(self, kernel: int, other: int) -> tuple[bool, bool, float]:
        """A key, the less the better the kernel is before the other. Where that has to wait until an SM is idle, little
        of it fills what this one leaves."""
        launch, waits = self.separate()[kernel], self._carveout(other) > WIDER * self._carveout(kernel)
        length = self._whole([kernel], kernel).latency * (REST if waits else 1.0)
        in_rounds = self.ctas[kernel] > machine_of(self.judge.arch).sms * self._beside_each_other(kernel)
        return in_rounds or waits, launch.filled >= SPARSE or waits, -length

    def _carveout(self, kernel: int) -> int:
        """The bytes that an SM keeps as shared memory for a kernel: for as many of its CTAs as it has room for."""
        wanted = self._beside_each_other(kernel) * (self.shared[kernel] + sm_limits(self.judge.arch)[0].reserved_shared)
        return next((size for size in CARVEOUTS if wanted <= size), CARVEOUTS[-1])

    def _beside_each_other(self, kernel: int) -> int:
        """The CTAs of a kernel for which an SM has room."""
        registers = self._pressure([kernel], kernel).registers
        return occupancy(self.judge.arch, registers, self.shared[kernel], self.loads[kernel].threads).ctas_per_sm

    def _of_several(self, which: Sequence[int], threads: int, ctas: float, spilled: int) -> Wave:
        """The CTAs that execute these kernels."""
        running = self._running(which, threads)
        return Wave(ctas, running, *self._course(which), self._pipe(which), self._mean(which, running), spilled)

    def _of_one(self, kernel: int, threads: int, ctas: int, entry: int = 0, cap: int | None = None) -> list[Wave]:
        """The CTAs of a kernel that do something, and those that end at once."""
        live = ctas * self.behaviours[kernel].live
        course, pipe = self._course([kernel], entry), self._pipe([kernel])
        spilled = self._needed(kernel).spilled(cap - ASIDE) if cap else 0
        ended = Wave(ctas - live, threads, 0.0, ends=True)
        waves = [Wave(live, threads, *course, pipe, spilled=spilled), ended]
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
        return self._unmade(which)

    def _unmade(self, which: Sequence[int]) -> Course:
        """The course of a warp that executes these kernels, by what is known of each alone."""
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
