"""Folded grids among the candidates for two kernels (weaving/shapes/folded.py).

Where the target moves registers between warps, the registers of each role are derived from what the assembler says of
the kernel alone: so many CTAs are to be on an SM as leave no role without what it needs, and what is left may be
given to either role. Otherwise all threads have as many as the hungriest kernel, and no assembler is needed.

To begin with there are a few forms that differ much: in how many virtual CTAs are woven, and in how many teams each
kernel has in a CTA. All else is varied in those that turn out to be fast.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import product
from threading import Lock
from typing import Protocol

from goptx.cost.hardware import machine_of
from goptx.cost.role_registers import Registers, RoleDemand, divisions, is_short
from goptx.device.occupancy import occupancy
from goptx.errors import GoptxError
from goptx.launch.shape import MOST_THREADS, Shape
from goptx.log import LOG
from goptx.options import FOLDS
from goptx.results.expected_gain import unjudged
from goptx.sources.kernel_text import Chosen
from goptx.strategies.candidate import Candidate
from goptx.strategies.candidates import divides
from goptx.strategies.coarsen import coarsen
from goptx.strategies.fuse import fuse
from goptx.tuning.space.role_demand import role_demand
from goptx.tuning.trials import Trial
from goptx.weaving.shapes.folded import (
    FEWEST_REGISTERS,
    MOST_AT_ENTRY,
    MOST_REGISTERS,
    REGISTER_STEP,
    moves_registers,
)
from goptx.weaving.shapes.thread_view import WARPGROUP

WOVEN = (1, 2)  # virtual CTAs of a kernel that are woven: two have twice the loads in flight
Factors = tuple[int, ...]
Teams = tuple[int, int]
ONE: Teams = (1, 1)
TEAMS: tuple[Teams, ...] = ((2, 1), (1, 2), (3, 1), (1, 3))  # of each kernel in a CTA, to begin with
FIRST = 10  # candidates to begin with: each takes a tenth of a second of a GPU, and half a second to make
FREE = 1.01  # times the estimate without tickets: what tickets may cost, for they also balance what no estimate knows


class Estimates(Protocol):
    """Of candidates: what `Pruning` has."""

    def estimate(self, candidate: Candidate) -> float | None: ...
    def sorted(self, candidates: Iterable[Candidate]) -> tuple[list[Candidate], list[Trial]]: ...


@dataclass(slots=True)
class Folds:
    """The folded grids of these kernels in these shapes, for an architecture; none unless there are two kernels of
    known shapes, of which one has more CTAs than the GPU holds at once. Without `estimates` none is preferred."""

    kernels: Sequence[Chosen]
    shapes: Sequence[Shape]
    arch: str
    estimates: Estimates | None = None
    _divided: dict[tuple[Factors, Teams], Sequence[Registers | None]] = field(default_factory=dict)
    _demands: dict[tuple[int, int], RoleDemand] = field(default_factory=dict)
    _asking: Lock = field(default_factory=Lock)

    @property
    def possible(self) -> bool:
        """Whether there is anything to fold."""
        if len(self.shapes) != 2 or not all(s.threads and s.ctas and not s.cluster for s in self.shapes):
            return False
        if sum(self._threads) > MOST_THREADS:
            return False
        return max(s.ctas or 0 for s in self.shapes) > self._wave

    def first(self) -> list[Candidate]:
        """One wave of CTAs with a team of each kernel; and with several teams of one, where registers are moved: as
        many as both need may be in a CTA then, and not in one of a team of each. Of these, those with the least
        estimates, so that there are at most `FIRST` in all; and those that are not to be made."""
        if not self.possible:
            return []
        self.ask_assembler()
        found = []
        for factors, teams in product(self._factors(), (ONE, *TEAMS)):
            for registers in self._to_begin_with(factors, teams):
                if teams == ONE:
                    found.append(_candidate(factors, teams, registers))
                elif registers:
                    found.append(self._balanced(_candidate(factors, teams, registers)))
        if self.estimates is None:
            return found
        promising, pruned = self.estimates.sorted(found)
        several = [candidate for candidate in promising if candidate.option("teams")]
        left_out = several[max(FIRST - len(promising) + len(several), 0) :]
        return [c for c in promising if c not in left_out] + [trial.candidate for trial in pruned]

    def near(self, candidate: Candidate) -> Iterator[Candidate]:
        """Those that differ from a folded one in which CTAs a team runs, in how many are launched, in registers moved
        from one role to the other, in how many are woven, or in the number of teams."""
        registers: Registers | None = candidate.option("role_registers")
        teams: Teams = candidate.option("teams") or ONE
        yield from self._given_out_otherwise(candidate)
        if teams != ONE:
            pass  # few CTAs fit on an SM: one wave of them
        elif candidate.option("ctas"):
            yield candidate.without("ctas")
        else:
            yield from self._of_smaller_grid(candidate)
        shifts = (REGISTER_STEP, -REGISTER_STEP) if registers else ()
        moved = (self._shifted(registers, shift, teams) for shift in shifts if registers)
        for others in (*moved, *self._registers(candidate.factors, teams)):
            if others and others != registers:
                yield candidate.having(role_registers=others)
        for factors in self._factors():
            if factors != candidate.factors:
                for others in self._to_begin_with(factors, teams):
                    made = replace(candidate, factors=factors).without("role_registers")
                    yield made.having(role_registers=others) if others else made
        for more_or_fewer in _more_or_fewer(teams):
            for others in self._registers(candidate.factors, more_or_fewer)[:1]:
                if others:
                    made = candidate.without("ctas").without("teams").having(role_registers=others)
                    yield made.having(teams=more_or_fewer) if more_or_fewer != ONE else made

    def _given_out_otherwise(self, candidate: Candidate) -> Iterator[Candidate]:
        """Virtual CTAs given to teams in another way."""
        for fold in FOLDS:
            if fold != candidate.option("fold"):
                yield candidate.without("assist").having(fold=fold)
        if not candidate.option("assist") and self._may_help:
            yield candidate.having(fold="ticket", assist=True)

    def _balanced(self, candidate: Candidate) -> Candidate:
        """With tickets and teams that help each other, where both may and tickets cost next to nothing."""
        helping = candidate.having(fold="ticket", assist=True)
        if self.estimates is None or not self._may_help:
            return candidate
        with_tickets, without = self.estimates.estimate(helping), self.estimates.estimate(candidate)
        return helping if with_tickets and without and with_tickets <= FREE * without else candidate

    # Shapes -------------------------------------------------------------------------------------------------

    @property
    def _threads(self) -> Registers:
        """Of each kernel in a CTA: whole warps."""
        first, second = (-(-(s.threads or 1) // 32) * 32 for s in self.shapes)
        return first, second

    @property
    def _may_help(self) -> bool:
        """Whether teams of one kernel may run CTAs of the other."""
        first, second = self._threads
        return first == second and first & (first - 1) == 0 and (not self._moves or first % WARPGROUP == 0)

    @property
    def _fitting(self) -> int:
        """CTAs on an SM, by threads and dynamic shared memory."""
        shared = sum(s.shared or 0 for s in self.shapes)
        return occupancy(self.arch, FEWEST_REGISTERS, shared, sum(self._threads)).ctas_per_sm

    @property
    def _wave(self) -> int:
        """CTAs on the GPU at once."""
        return machine_of(self.arch).sms * self._fitting

    def _of_smaller_grid(self, candidate: Candidate) -> Iterator[Candidate]:
        """Each CTA runs one CTA of the kernel that has fewer."""
        fewer = min((s.ctas or 0) // f for s, f in zip(self.shapes, candidate.factors, strict=True))
        if fewer > self._wave:
            yield candidate.having(ctas=fewer)

    def _factors(self) -> Iterator[Factors]:
        for factors in product(WOVEN, repeat=2):
            fits = all(f == 1 or self._may_be_woven(k, f) for k, f in enumerate(factors))
            if fits and all(divides(f, s) for f, s in zip(factors, self.shapes, strict=True)):
                yield factors

    def _may_be_woven(self, kernel: int, factor: int) -> bool:
        """Whether a thread has room for the registers of so many copies, and these are not too long."""
        alone = self._demands.get((kernel, 1))
        if alone and factor * alone.free > MOST_AT_ENTRY:
            return False
        woven = Candidate("horizontal", tuple(factor if k == kernel else 1 for k in (0, 1))).having(fold="static")
        return self.estimates is None or bool(self.estimates.sorted([woven])[0])

    # Registers ----------------------------------------------------------------------------------------------

    @property
    def _moves(self) -> bool:
        """Whether registers can be moved between the kernels' warps."""
        return moves_registers(self.arch) and not any(n % WARPGROUP for n in self._threads)

    def ask_assembler(self) -> None:
        """What each role needs, as it is and with two virtual CTAs woven. This takes seconds, once: another thread may
        do so before `first` needs it, which then waits."""
        with self._asking:
            if self.possible and self._moves and not self._demands:
                self._ask()

    def _ask(self) -> None:
        """Of both kernels at once."""
        with ThreadPoolExecutor(2) as assemblers:
            for one in [assemblers.submit(self._ask_of, kernel) for kernel in (0, 1)]:
                one.result()

    def _ask_of(self, kernel: int) -> None:
        for factor in WOVEN:
            possible = divides(factor, self.shapes[kernel]) and (factor == 1 or self._may_be_woven(kernel, factor))
            if possible and (found := self._demand((kernel, factor))):
                self._demands[kernel, factor] = found

    def _demand(self, role: tuple[int, int]) -> RoleDemand | None:
        """None where the kernel cannot be made so."""
        kernel, factor = role
        source, shape = self.kernels[kernel], self.shapes[kernel]
        try:
            with unjudged():
                if factor > 1:
                    return role_demand(coarsen(source, factor, arch=self.arch, shape=shape))
                return role_demand(fuse(source, strategy="separate", arch=self.arch, shapes=[shape]))
        except GoptxError as error:
            LOG.info("folded grids do not have kernel %s woven x%s: %s", source.entry, factor, error)
            return None

    def _registers(self, factors: Factors, teams: Teams) -> Sequence[Registers | None]:
        """Ways to share out the registers of an SM, with as many CTAs on it as possible; [None] where none are
        moved."""
        if not self._moves:
            return [None]
        if (factors, teams) not in self._divided:
            first, second = (self._demands.get((k, f)) for k, f in enumerate(factors))
            threads, most = self._of_teams(teams), self._most(factors, teams)
            self._divided[factors, teams] = divisions(threads, first, second, most) if first and second else []
        return self._divided[factors, teams]

    def _to_begin_with(self, factors: Factors, teams: Teams) -> Sequence[Registers | None]:
        """The first way to share out registers, and those in which a role is a little short of them."""
        found, alone = self._registers(factors, teams), [self._demands.get((k, f)) for k, f in enumerate(factors)]
        return [*found[:1], *(r for r in found[1:] if r and is_short(r, alone))]

    def _of_teams(self, teams: Teams) -> Registers:
        """The threads of all teams of each kernel in a CTA."""
        (first, second), (one, other) = self._threads, teams
        return first * one, second * other

    def _most(self, factors: Factors, teams: Teams) -> int:
        """CTAs on an SM, by threads and all shared memory."""
        threads, shared = sum(self._of_teams(teams)), 0
        for k, (factor, own) in enumerate(zip(factors, teams, strict=True)):
            alone = self._demands.get((k, 1))
            shared += factor * own * ((alone.shared_bytes if alone else 0) + (self.shapes[k].shared or 0))
        return occupancy(self.arch, FEWEST_REGISTERS, shared, threads).ctas_per_sm if threads <= MOST_THREADS else 0

    def _shifted(self, registers: Registers, shift: int, teams: Teams) -> Registers | None:
        """`shift` registers of a thread moved from the second role to the first; None where it has no so many."""
        (mine, its), (own, other) = registers, self._of_teams(teams)
        first = mine + shift
        second = (mine * own + its * other - first * own) // other // REGISTER_STEP * REGISTER_STEP
        return (first, second) if all(FEWEST_REGISTERS <= r <= MOST_REGISTERS for r in (first, second)) else None


def _candidate(factors: Factors, teams: Teams, registers: Registers | None) -> Candidate:
    made = Candidate("horizontal", factors).having(fold="static")
    made = made.having(role_registers=registers) if registers else made
    return made.having(teams=teams) if teams != ONE else made


def _more_or_fewer(teams: Teams) -> Iterator[Teams]:
    """One team of a kernel more, or one less."""
    first, second = teams
    for one, other in ((first + 1, second), (first, second + 1), (first - 1, second), (first, second - 1)):
        if one and other:
            yield one, other
