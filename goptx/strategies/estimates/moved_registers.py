"""Forms of two kernels in which each has warps of its own, and as many registers in each thread as it needs.

Where a thread of one kernel needs many registers and one of the other few, a CTA that has the registers of the first in
all threads leaves few warps to the second. With folded grids, and registers that are moved between the kernels' warps,
both keep theirs (measured on an H200, docs/folded_grids.md). Needs no assembler: how many registers each kernel needs
follows from what is live in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import sqrt

from goptx.analysis.registers.register_demand import BELOW_SUMS, OWN
from goptx.cost.kernels import Alone
from goptx.cost.role_registers import LOOP, rounded_up
from goptx.device.occupancy import occupancy
from goptx.launch.launch_plan import ALIGNMENT
from goptx.launch.shape import MOST_THREADS, Shape
from goptx.strategies.candidate import Candidate
from goptx.strategies.candidates import MOST_CODE, divides
from goptx.strategies.estimates.fold_candidates import may_be_folded
from goptx.strategies.estimates.judge import Judge
from goptx.strategies.estimates.prospects import TIE, Prospect, separate_cycles
from goptx.weaving.merging.barrier_ids import BARRIER_IDS
from goptx.weaving.shapes.folded import (
    FEWEST_REGISTERS,
    MOST_REGISTERS,
    REGISTER_STEP,
    most_at_entry,
    moves_registers,
)
from goptx.weaving.shapes.thread_view import WARPGROUP

MOST_CTAS = 8  # of the fused kernel on an SM
COPIES = (1, 2, 4)  # CTAs of the kernel with fewer registers that are woven into one
# An assembler does with fewer registers than are live in the order of the PTX where there are many: of 14 kernels with
# MANY or more, 11 need at most SAVED times these (ptxas 13.0); the others spill some.
MANY, SAVED = 96, 0.95
UNEQUAL = 2  # times as many registers as the other kernel takes: else neither has too many in a CTA of both
# How many times as good copies have to be: those of loops and of branches on data gain less than estimated. So measured
# on the fitted pairs of benchmarks/unseen and on pairs that are in neither list.
AS_COPIES = 1.25


@dataclass(frozen=True, slots=True)
class Need:
    """What a CTA of a kernel needs.

    least: registers of a thread, a multiple of 8. free: those with which a thread has all that it takes alone.
    entry: those of each thread when the fused kernel begins, whatever the kernel has afterwards.
    shared: bytes.
    """

    threads: int
    least: int
    free: int
    entry: int
    shared: int

    @classmethod
    def of(cls, kernel: Alone, shape: Shape, copies: int, parts: int) -> Need:
        """`copies`: CTAs of the kernel that are one. `parts`: into which it is divided."""
        needed = kernel.folded.value if copies == 1 else kernel.pressure.needed.value.times(copies)
        least = rounded_up(needed.live + OWN if needed.live < MANY * copies else round(SAVED * needed.live))
        free = min(max(rounded_up(needed.registers + (LOOP if needed.sums else 0)), least), MOST_REGISTERS)
        sums = needed.sums // kernel.pieces[-1]
        entry = rounded_up(sums + BELOW_SUMS if sums else FEWEST_REGISTERS)
        shared = -(-((kernel.shared + (shape.shared or 0)) * copies) // ALIGNMENT) * ALIGNMENT
        return cls((shape.threads or 0) // parts, least, free, entry, shared)


def fastest_forms(judge: Judge, most: float) -> list[tuple[Candidate, float]]:
    """The forms that are estimated to take at most so many cycles under the middle assumption, and their cycles. Those
    come first that gain most under the middle and the worst assumption together (geometric mean); of equal ones, that
    with most warps, and which help each other."""
    separate = separate_cycles(judge)
    found: list[tuple[float, int, bool, float, Candidate]] = []
    for form, threads in _forms(judge):
        if judge.under(judge.assumptions[:1], form)[form][0].cycles <= most:
            prospect = Prospect(judge.under_all(form)[form], separate)
            rating = sqrt(prospect.gain * prospect.worst[0]) / (1.0 if form.plain else AS_COPIES)
            found.append((round(rating / TIE), threads, bool(form.option("assist")), prospect.cycles, form))
    return [(form, cycles) for *_, cycles, form in sorted(found, key=lambda one: one[:3], reverse=True)]


def _forms(judge: Judge) -> Iterator[tuple[Candidate, int]]:
    """Every number of CTAs on an SM, of teams of each kernel in a CTA, and of CTAs that one team of the kernel with
    fewer registers runs at once, for which an SM has room; with the threads of all teams on an SM. None unless the
    target moves registers between warps, the grids and blocks of both kernels are known, and one of them needs many
    more registers."""
    shapes = judge.shapes
    if len(shapes) != 2 or not moves_registers(judge.arch) or not all(map(may_be_folded, shapes)):
        return
    least = [Need.of(*each, 1, 1).least for each in zip(judge.kernels, shapes, strict=True)]
    small = int(least[1] < least[0])
    if max(least) < UNEQUAL * min(least):
        return
    for copies in COPIES:
        long = copies * len(judge.kernels[small].lines) > MOST_CODE
        if copies == 1 or (divides(copies, shapes[small]) and not long):
            for parts in _parts(judge.kernels[small], shapes[small]):
                both = ((1, n) if small else (n, 1) for n in (copies, parts))
                yield from _sharing(judge, *both)


def _parts(kernel: Alone, shape: Shape) -> Iterator[int]:
    """Into how many parts CTAs may be divided: none, or teams of a warpgroup."""
    yield 1
    threads = shape.threads or 0
    if kernel.warps_are_free and not shape.shared and threads > WARPGROUP and threads % WARPGROUP == 0:
        yield threads // WARPGROUP


def _sharing(judge: Judge, factors: tuple[int, int], parts: tuple[int, int]) -> Iterator[tuple[Candidate, int]]:
    needs = [Need.of(*each) for each in zip(judge.kernels, judge.shapes, factors, parts, strict=True)]
    most = [range(1, min(MOST_THREADS // need.threads, BARRIER_IDS) + 1) for need in needs]
    for ctas, *teams in product(range(1, MOST_CTAS + 1), *most):
        if registers := _shared_out(needs, ctas, teams, judge.arch):
            form = Candidate("horizontal", factors).having(fold="ticket", role_registers=registers, teams=tuple(teams))
            form = form.having(parts=parts) if max(parts) > 1 else form
            threads = ctas * sum(need.threads * n for need, n in zip(needs, teams, strict=True))
            if _may_help(needs):  # first, for it costs nothing where there is nothing to do
                yield form.having(assist=True), threads
            yield form, threads


def _may_help(needs: Sequence[Need]) -> bool:
    """Whether warps of the kernel with more registers can run the other one."""
    less, more = (need.threads for need in sorted(needs, key=lambda need: need.least))
    powers = less & (less - 1) == 0 and more & (more - 1) == 0
    return powers and less <= more and more % WARPGROUP == 0


def _shared_out(needs: Sequence[Need], ctas: int, teams: Sequence[int], arch: str) -> tuple[int, ...]:
    """Registers of a thread of each kernel, all that an SM has; none if there is no room. What is left goes to the
    kernel that needs more, then to the other one, as far as they use it; the rest is given away so that each thread
    begins with as many as it needs then."""
    threads = [need.threads * n for need, n in zip(needs, teams, strict=True)]
    if sum(threads) > MOST_THREADS or any(n % WARPGROUP for n in threads):
        return ()
    entry = most_at_entry(ctas * sum(threads))
    shared = sum(need.shared * n for need, n in zip(needs, teams, strict=True))
    if entry < max(need.entry for need in needs) or occupancy(arch, entry, shared, sum(threads)).ctas_per_sm < ctas:
        return ()
    given = [need.least for need in needs]
    rest = entry * sum(threads) - sum(r * n for r, n in zip(given, threads, strict=True))
    if rest < 0:
        return ()
    hungry = max((0, 1), key=lambda k: needs[k].least)
    for k, most in ((hungry, needs[hungry].free), (1 - hungry, MOST_REGISTERS), (hungry, MOST_REGISTERS)):
        more = max(min(rest // threads[k] // REGISTER_STEP * REGISTER_STEP, most - given[k]), 0)
        given[k] += more
        rest -= more * threads[k]
    return tuple(given)
