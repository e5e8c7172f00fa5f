"""Folded grids among the candidates for two kernels (weaving/shapes/folded.py).

Where the target moves registers between warps, the registers of each role are derived from what the assembler says of
the kernel alone: so many CTAs are to be on an SM as leave no role without what it needs, and what is left may be
given to either role. Otherwise all threads have as many as the hungriest kernel, and no assembler is needed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import product
from threading import Lock

from goptx.cost.hardware import machine_of
from goptx.cost.role_registers import Registers, RoleDemand, divisions
from goptx.device.occupancy import occupancy
from goptx.errors import GoptxError
from goptx.launch.shape import MOST_THREADS, Shape
from goptx.log import LOG
from goptx.options import FOLDS, Fold
from goptx.results.expected_gain import unjudged
from goptx.sources.kernel_text import Chosen
from goptx.strategies.candidate import Candidate
from goptx.strategies.candidates import divides
from goptx.strategies.coarsen import coarsen
from goptx.strategies.fuse import fuse
from goptx.tuning.space.role_demand import role_demand
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
TEAMS: tuple[Teams, ...] = ((2, 1), (1, 2))  # of each kernel in a CTA, to begin with


@dataclass(slots=True)
class Folds:
    """The folded grids of these kernels in these shapes, for an architecture; none unless there are two kernels of
    known shapes, of which one has more CTAs than the GPU holds at once."""

    kernels: Sequence[Chosen]
    shapes: Sequence[Shape]
    arch: str
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
        """Every n-th CTA a team, one wave of CTAs or as many as the smaller grid has. Several teams of one kernel where
        registers are moved: as many as both need may be in a CTA then, and not in one of a team of each."""
        if not self.possible:
            return []
        self.ask_assembler()
        found = []
        for factors in self._factors():
            for registers in self._registers(factors, ONE):
                made = _candidate(factors, ONE, registers)
                found += [made, *self._of_smaller_grid(made)]
            for teams in TEAMS:
                found += [_candidate(factors, teams, r) for r in self._registers(factors, teams)[:1] if r]
        return found

    def near(self, candidate: Candidate) -> Iterator[Candidate]:
        """Those that differ from a folded one in which CTAs a team runs, in how many are launched, in registers moved
        from one role to the other, or in how many are woven."""
        registers: Registers | None = candidate.option("role_registers")
        for fold in FOLDS:
            if fold != candidate.option("fold"):
                yield (candidate.without("assist") if fold != "ticket" else candidate).having(fold=fold)
        if candidate.option("fold") == "ticket" and not candidate.option("assist") and self._may_help:
            yield candidate.having(assist=True)
        if candidate.option("teams"):
            pass  # few CTAs fit on an SM: one wave of them
        elif candidate.option("ctas"):
            yield candidate.without("ctas")
        else:
            yield from self._of_smaller_grid(candidate)
        if registers:
            for shift in (REGISTER_STEP, -REGISTER_STEP):
                if moved := self._shifted(registers, shift, candidate.option("teams") or ONE):
                    yield candidate.having(role_registers=moved)
        teams = candidate.option("teams") or ONE
        for factors in self._factors():
            if factors != candidate.factors:
                for others in self._registers(factors, teams):
                    made = Candidate(candidate.strategy, factors, None, candidate.options)
                    yield made.having(role_registers=others) if others else made
        for others in _more_or_fewer(teams):
            for registers in self._registers(candidate.factors, others)[:1]:
                if registers:
                    yield _candidate(candidate.factors, others, registers, candidate.option("fold"))

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
        """Whether a thread has room for the registers of so many copies."""
        alone = self._demands.get((kernel, 1))
        return alone is None or factor * alone.free <= MOST_AT_ENTRY

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
        for factor in WOVEN:
            asked = [
                (k, factor)
                for k, shape in enumerate(self.shapes)
                if divides(factor, shape) and (factor == 1 or self._may_be_woven(k, factor))
            ]
            with ThreadPoolExecutor(os.cpu_count()) as assemblers:
                for role, found in zip(asked, assemblers.map(self._demand, asked), strict=True):
                    if found:
                        self._demands[role] = found

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


def _candidate(factors: Factors, teams: Teams, registers: Registers | None, fold: Fold = "static") -> Candidate:
    made = Candidate("horizontal", factors).having(fold=fold)
    made = made.having(role_registers=registers) if registers else made
    return made.having(teams=teams) if teams != ONE else made


def _more_or_fewer(teams: Teams) -> Iterator[Teams]:
    """One team of a kernel more, or one less."""
    first, second = teams
    for one, other in ((first + 1, second), (first, second + 1), (first - 1, second), (first, second - 1)):
        if one and other:
            yield one, other
