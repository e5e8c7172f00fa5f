"""Lanes that have gone past a block of the fused kernel: whether they may have executed what their kernel has not had.

A lane for which the kernel has ended may come along to where threads meet, if it changes nothing for the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from goptx.proof.code.kernel_code import END, NotProved, Step
from goptx.proof.code.step_forms import FULL, mask_of, quoted
from goptx.proof.formulas import FALSE, TRUE
from goptx.proof.lanes.lane_states import Case, Event
from goptx.proof.sync.unaided import only_ends
from goptx.proof.sync.waits import is_counted
from goptx.proof.terms import Term, Terms
from goptx.ptx.opcodes import Scope

if TYPE_CHECKING:
    from goptx.proof.projection import Projection


def ballots_in(terms: Terms, mask: int) -> list[Term]:
    """The ballots by which a mask of lanes is cut."""
    term = terms[mask]
    parts = [term] if not term.parts else map(terms.__getitem__, term.parts * (term.head == "and.b32"))
    return [b for b in parts if b.head.startswith("ballot ")]


@dataclass
class LeftLanes:
    """`events` are those of the block, by their steps in the fused kernel."""

    of: Projection
    events: Mapping[int, Event]

    def __post_init__(self) -> None:
        self.terms, self.formulas, self.kernel = self.of.terms, self.of.formulas, self.of.kernel

    def _under(self, formula: int, case: Case) -> int:
        return self.terms.formula_under(formula, case.given)

    def _where(self, case: Case, event: Event, comes: int) -> int:
        """The formula of the lanes of a case that execute an event, or of those that do not. What decides that may be
        known by other comparisons."""
        its = (self.formulas.same(guard, comes) for guard in (event.guard, self._under(event.guard, case)))
        return self.formulas.both(case.given, self.formulas.both(*its))

    def check(self, case: Case, cases: Sequence[Case]) -> None:
        """That the kernel has had all events of the block which a lane may execute. A lane for which the kernel has
        ended may come along to where threads meet, since there it counts as one that does; not one whose kernel has
        an event of the block afterwards and ends after it."""
        for event in self.events.values():
            step, meets = event.step, event.step.facts.row.scope and event.step.facts.row.access in ("", "f")
            if step.number in self.of.handed and not self.of.stores(step.number):
                continue  # who does not need the value may have it
            counted = is_counted(step) and any(is_counted(self.kernel.steps[n]) for n in self.of.claims[step.number])
            ended = case.place == END and all(n < step.number for n in case.order)
            passed_by = (
                case.place == END and step.number in case.done - case.met and not only_ends(self.of.fused, step.number)
            )
            if passed_by and meets and not counted:
                self._check_mask(case, event, (FALSE,))  # some lanes have had it, and others have ended
            if ended and meets and not counted:
                self._check_mask(case, event)
                own = [self.kernel.steps[n] for n in self.of.claims[step.number]]
                if any(s.facts.row.writes or s.facts.reduces for s in own) and step.number not in case.done:
                    self._check_exchange(case, event)
            elif step.facts.row.scope in (Scope.WARP, Scope.WARPGROUP) and not ended:
                if step.number not in case.done:
                    place = "is past it" if case.place == END else f"is at {quoted(self.kernel.steps[case.place])}"
                    raise NotProved(step.line, f"a lane whose kernel {place} may pass `{step.statement}`")
            elif step.number not in case.done and self._under(event.guard, case) != FALSE:
                if is_counted(step) and self._comes_along(case, event, cases, ended):
                    self._check_exchange(case, event)
                    self.of.comers.add(step.number)
                    continue
                place = "has ended" if case.place == END else f"is at {quoted(self.kernel.steps[case.place])}"
                raise NotProved(step.line, f"a lane whose kernel {place} may execute `{step.statement}`")

    def _comes_along(self, case: Case, event: Event, cases: Sequence[Case], ended: bool) -> bool:
        """Whether a lane comes to a barrier with a count only because another lane of its warp does, for which the
        kernel is there; and its own kernel has ended: the barrier counts warps. Or it cannot be that the kernel has
        not: lanes of a warp come to an aligned barrier together, and this lane's kernel does not come to it next."""
        asked = event.asked
        if asked is None:
            return False
        others = [c for c in cases if event.step.number not in c.done]
        own = [self.kernel.steps[n] for n in self.of.claims[event.step.number]]
        return (
            all(self._under(asked, c) == FALSE for c in (case, *others))
            and all(is_counted(s) for s in own)
            and (ended or (all(s.facts.aligned for s in own) and not self._comes_next(case, event.step, own)))
        )

    def _comes_next(self, case: Case, step: Step, barriers: Sequence[Step]) -> bool:
        """Whether one of these may be the kernel's next barrier with a count."""
        for number in case.order:
            if number > step.number and is_counted(self.events[number].step):
                mine = [self.kernel.steps[n] for n in self.of.claims[number]]
                return not all(s.facts.aligned and s not in barriers for s in mine)
        return case.place != END and self.kernel.comes_to(case.place, {s.number for s in barriers}, self._counted)

    @cached_property
    def _counted(self) -> frozenset[int]:
        return frozenset(s.number for s in self.kernel.steps if is_counted(s))

    def _check_mask(self, case: Case, event: Event, ways: Sequence[int] = (TRUE, FALSE)) -> None:
        """That of the lanes that have ended, the mask names those that come along and no others; `ways`: of those that
        come, or of those that do not."""
        step, position = event.step, mask_of(event.step)
        if position is None:
            return
        for comes in ways:
            given = self._where(case, event, comes)
            for found, _ in self.terms.outcomes(event.operands[position], given) if given != FALSE else ():
                bits = {ballot.formula for ballot in ballots_in(self.terms, found)}
                named = comes in bits if bits else comes == TRUE and self.terms[found].head in FULL
                if not named:
                    what = "names" if comes == FALSE else "does not name"
                    what = f"perhaps {what} a lane whose kernel has ended, and which {'comes' if comes else 'stays'}"
                    raise NotProved(step.line, f"`{step.statement}` {what}")

    def _check_exchange(self, case: Case, event: Event) -> None:
        """That lanes which have ended do not change what the others learn of each other: they bring what changes
        nothing. What comes from a lane that has ended is undefined in the kernel, too (`shfl`)."""
        step, words = event.step, event.step.facts.modifiers
        given = self._where(case, event, TRUE)
        if given == FALSE or not (step.facts.reduces or (step.facts.is_lane_exchange and step.facts.base != "shfl")):
            return
        if step.facts.reads_active_mask:
            cuts = self.of.cuts.get(step.number, ())
            right = bool(cuts) and all(self.terms.formula_under(self.terms[b].formula, given) == FALSE for b in cuts)
            right &= event.results[0] not in self.of.active
        else:
            asked = self.terms[event.operands[-1 if step.facts.reduces else 0]].formula
            neutral = FALSE if words & {"any", "ballot", "or", "popc"} else TRUE
            asks = step.facts.reduces or (step.facts.votes and "uni" not in words)
            right = asks and self.terms.truths_are_equal(asked, neutral, given)
        if not right:
            raise NotProved(step.line, f"a lane whose kernel has ended may change the result of `{step.statement}`")
