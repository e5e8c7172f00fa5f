"""Waits other than at plain barriers: whether a thread that is held up somewhere may still have to end one.

Say that all threads hang, after as many plain barriers, and some at another wait of kernel X. If every thread that is
elsewhere comes in X, without doing what may end such a wait, to a plain barrier of X or to its end, then X alone hangs
as well. So it is enough that no thread waits for another kernel between such a wait, of anybody, and what may end it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import networkx as nx

from goptx.proof.code.kernel_code import END, NotProved, Program, Step
from goptx.proof.code.step_forms import is_full, mask_of
from goptx.proof.projection import Projection
from goptx.proof.sync.convergence import diverging_branches
from goptx.proof.sync.unaided import common_region
from goptx.proof.sync.waits import Waits, is_barrier, is_plain_barrier, waits_of
from goptx.ptx.opcodes import Scope


@dataclass
class Holds:
    """What other waits there are in the fused kernel, and whether a thread that is held up somewhere may still have to
    end one."""

    fused: Program
    projections: Mapping[str, Projection]
    own: Mapping[str, Sequence[Step]]
    added: Sequence[Step]

    def check(self) -> None:
        """That kernels which concern other CTAs are the only ones that wait, and that lanes of a warp do not wait for
        each other in one kernel while they wait in another."""
        for letter, waits in self.waits.items():
            others = [*self.added, *(s for other, its in self.own.items() if other != letter for s in its)]
            others += [self.fused.steps[n] for n in self.held if self.held[n] != letter]
            if waits.cluster and others:
                what = f"`{others[0].statement}` waits, and kernel {letter} waits for other CTAs of its cluster"
                raise NotProved(others[0].line, what)
        together = [s for s in self.fused.steps if s.facts.row.scope in (Scope.WARP, Scope.WARPGROUP)]
        for step in together:
            self._check_lanes(step)
        for branch, region in sorted(self._regions.items()):
            self._check_sides(branch, region, together)

    def _check_sides(self, branch: int, region: frozenset[int], together: Sequence[Step]) -> None:
        """That lanes do not wait for others that are at a plain barrier on a side of a branch, and wait there for all
        threads of the CTA: at an instruction of the whole warp after it, unless both are one kernel's; or where the
        sides meet, if no kernel has that barrier."""
        fused = self.fused
        sides = [t for t in fused.successors(branch) if t != END]
        first = [n for n in self._met if fused.block_of[n] in region and self._is_next(sides, n)]
        after = [s for s in together if first and fused.block_of[s.number] not in region]
        after = [s for s in after if self._is_next(sides, s.number)]
        for number in first:
            barrier, own = fused.steps[number], [p for p in self.projections.values() if number in p.matched]
            if not own and self._pass_by(sides, region):
                raise NotProved(barrier.line, f"not all lanes of a warp may come to `{barrier.statement}`")
            for step in after:
                if not any(step.number in p.matched for p in own):
                    what = f"may wait for a lane that waits at `{barrier.statement}` for all threads"
                    raise NotProved(step.line, f"`{step.statement}` {what}")

    def _is_next(self, sides: Sequence[int], number: int) -> bool:
        """Whether lanes may come from the beginning of one of these blocks to a step, and pass no plain barrier."""
        stops = self._met - {number}
        return any(self.fused.comes_to(self.fused.blocks[t][0], {number}, stops) for t in sides)

    def _pass_by(self, sides: Sequence[int], region: frozenset[int]) -> bool:
        """Whether lanes may come from the beginning of one of these blocks out of the region, past no plain barrier."""
        stops = {self.fused.block_of[n] for n in self._met}
        following = self.fused.successors
        return any(
            b not in region for t in sides for b in self.fused.reached(t, lambda b: () if b in stops else following(b))
        )

    @cached_property
    def _met(self) -> frozenset[int]:
        """The barriers at which all threads wait, or all of a kernel."""
        return _where_all_wait(self.fused.steps).union(*map(self._plain, self.projections))

    @cached_property
    def _regions(self) -> Mapping[int, frozenset[int]]:
        """The blocks on the sides of each branch that lanes of a warp may take differently."""
        return {b: common_region(self.fused, b) for b in diverging_branches(self.projections.values())}

    def _check_lanes(self, step: Step) -> None:
        """That lanes which come to an instruction of a whole warp one by one, because they wait in another kernel, do
        not hold up a lane there which that kernel waits for."""
        for number, letter in self.held.items():
            if step.number in self.projections[letter].matched or not self.awaits(letter, step):
                continue
            if number in self._one_by_one and self._reaches(number, step, self._meets(letter)):
                wait = self.fused.steps[number]
                what = f"`{step.statement}` may hold up a lane for another one that waits in line {wait.line}"
                raise NotProved(step.line, f"{what}, and what kernel {letter} waits for comes after it")

    @cached_property
    def waits(self) -> Mapping[str, Waits]:
        """Those of each kernel, by its own steps."""
        return {letter: waits_of(p.kernel) for letter, p in self.projections.items()}

    @cached_property
    def held(self) -> Mapping[int, str]:
        """The steps of the fused kernel at which a thread may wait, not at a plain barrier, with the kernel."""
        return {
            number: letter
            for letter, p in self.projections.items()
            for number, own in p.matched.items()
            if not own.isdisjoint(self.waits[letter].held)
        }

    @cached_property
    def _releases(self) -> Mapping[str, frozenset[int]]:
        return {
            letter: frozenset(n for n, own in p.matched.items() if not own.isdisjoint(self.waits[letter].releases))
            for letter, p in self.projections.items()
        }

    @cached_property
    def _one_by_one(self) -> frozenset[int]:
        """Those waits at which some lanes of a warp may be without the others."""
        return frozenset(
            n for n in self.held if self.fused.block_of[n] in self._inside or not is_barrier(self.fused.steps[n])
        )

    @cached_property
    def _inside(self) -> frozenset[int]:
        """The blocks on sides of branches that lanes of a warp may take differently."""
        return frozenset[int]().union(*self._regions.values())

    def _meets(self, letter: str) -> frozenset[int]:
        """The instructions of the kernel that all lanes of a warp come to, and wait for each other."""
        projection = self.projections[letter]
        return frozenset(
            n
            for n, own in projection.matched.items()
            if self.fused.block_of[n] not in self._inside
            and all(_is_of_whole_warp(projection.kernel.steps[m]) for m in own)
        )

    def _plain(self, letter: str) -> frozenset[int]:
        """The kernel's plain barriers, which may count its threads in the fused kernel: nobody passes one while a
        thread of the kernel waits elsewhere."""
        projection = self.projections[letter]
        plain = _where_all_wait(projection.kernel.steps)
        return frozenset(n for n, own in projection.matched.items() if own and own <= plain)

    def awaits(self, letter: str, step: Step) -> bool:
        """Whether a thread may do, after that step and before the kernel's next plain barrier, what ends a wait."""
        ends = self._releases[letter]
        return bool(ends) and self._leads(step, ends, self._plain(letter))

    def _reaches(self, number: int, step: Step, meets: frozenset[int]) -> bool:
        """Whether a thread may come from a wait to that step, and pass no plain barrier and none of these steps."""
        stops = _where_all_wait(self.fused.steps) | meets | self._plain(self.held[number])
        return self._leads(self.fused.steps[number], frozenset([step.number]), stops)

    def _leads(self, step: Step, ends: frozenset[int], stops: frozenset[int]) -> bool:
        """Whether one of these steps comes after that step, with none of the others in between."""
        return any(self.fused.comes_to(first, ends, stops) for first in self.fused.following(step))

    def check_held(self, held: frozenset[int], barriers: Sequence[Step]) -> None:
        """That threads which are at these waits, while others are at these barriers, wait for none of those."""
        order: nx.DiGraph[str] = nx.DiGraph()
        for letter in {self.held[n] for n in held}:
            for step in barriers:
                if step not in self.own[letter] and self.awaits(letter, step):
                    self._fail(step, letter, held)
            for number in held:
                if self.held[number] != letter and self.awaits(letter, self.fused.steps[number]):
                    order.add_edge(letter, self.held[number], step=self.fused.steps[number])
        if not nx.is_directed_acyclic_graph(order):
            letter, _, step = min(order.edges(data="step"), key=lambda e: e[2].number)
            self._fail(step, letter, held)

    def _fail(self, step: Step, letter: str, held: frozenset[int]) -> None:
        wait = self.fused.steps[min(n for n in held if self.held[n] == letter)]
        what = f"a thread may be held up at `{step.statement}` before it does what ends the wait in line {wait.line}"
        raise NotProved(step.line, f"{what}, where kernel {letter} waits")


def _is_of_whole_warp(step: Step) -> bool:
    return step.facts.row.scope == Scope.WARP and mask_of(step) is not None and is_full(step) and not step.guard


def _where_all_wait(steps: Iterable[Step]) -> frozenset[int]:
    """The numbers of the plain barriers at which threads wait."""
    return frozenset(s.number for s in steps if is_plain_barrier(s) and s.facts.row.blocking)
