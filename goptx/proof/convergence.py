"""Whether instructions that threads of a warp execute together are executed in the fused kernel by those threads that
execute them together in their kernel.

Where threads of a warp may diverge, an instruction of the kernel may stand on one side only: then those that take this
side are the ones that come to it in the kernel. Threads whose kernel has ended come along, or the instruction's lane
mask does not name them.

Requires: the projection of the kernel has been proved.
"""

from __future__ import annotations

from goptx.proof.formulas import FALSE
from goptx.proof.kernel_code import END, NotProved, Step
from goptx.proof.projection import Projection
from goptx.proof.varying import varying_branches
from goptx.ptx.opcodes import Scope


def check_convergence(projection: Projection) -> int:
    """How many instructions were looked at. Raises `NotProved`."""
    fused = projection.fused
    steps = [s for s in fused.steps if s.number not in projection.foreign]
    own = [s for s in steps if s.number in projection.matched]
    unclaimed = [s for s in steps if s.number not in projection.claims]
    added = [s for s in unclaimed if s.facts.row.scope == Scope.WARP or (s.facts.row.scope and s.facts.aligned)]
    together = [s for s in own if s.facts.row.scope in (Scope.WARP, Scope.WARPGROUP)]
    for branch in sorted(varying_branches(fused, Scope.WARP)):
        last, region = fused.steps[fused.blocks[branch][-1]], fused.region(branch)
        whole = [s for s in own if s.facts.row.scope >= Scope.CTA and s.facts.aligned]
        mine = projection.branches.get(last.number, ())
        for step in (*added, *(whole if not mine else ())):
            if fused.block_of[step.number] in region:
                what = f"not all lanes of a warp may come to `{step.statement}`, by the branch in line {last.line}"
                raise NotProved(step.line, what)
        promised = any("uni" in projection.kernel.steps[n].facts.modifiers for n in mine)
        if "uni" in last.facts.modifiers and not promised and last.number not in projection.foreign:
            what = f"`{last.statement}` says that all lanes of a warp go one way, which is not proved"
            raise NotProved(last.line, what)
        _check_sides(projection, branch, last, together)
    return len(together)


def _check_sides(projection: Projection, branch: int, last: Step, together: list[Step]) -> None:
    """That what threads execute together stands on one side of a branch only."""
    fused = projection.fused
    sides = [fused.side(branch, target) for target in dict.fromkeys(fused.successors(branch))]
    for step in together:
        copies = {
            fused.block_of[s.number] for s in together if projection.matched[s.number] & projection.matched[step.number]
        }
        on = [side for side in sides if not side.isdisjoint(copies)]
        if not any(fused.block_of[step.number] in side for side in sides):
            continue
        if len(on) > 1:
            what = f"stands on several sides of the branch in line {last.line}"
            raise NotProved(step.line, f"`{step.statement}` {what}, which threads of a warp may take differently")
        _check_ended(projection, branch, last, step)


def _check_ended(projection: Projection, branch: int, last: Step, step: Step) -> None:
    """That a thread whose kernel has ended at the branch is not waited for, if it may take another side."""
    registers, cases = projection.ends[branch]
    given = next((c.given for c in cases if c.place == END), None)
    if given is None or step.facts.row.mask is None:  # without a mask, the kernel needs all threads of the warp
        return
    values = (v for r, v in registers.items() if not projection.fused.is_predicate(r))
    if not any(_leaves_out(projection, v, projection.ballots.get(step.number, set()), given) for v in values):
        what = f"may wait for a thread whose kernel has ended, which the branch in line {last.line} leads elsewhere"
        raise NotProved(step.line, f"`{step.statement}` {what}")


def _leaves_out(projection: Projection, value: int, ballots: set[str], given: int) -> bool:
    """Whether the value is a ballot that the instruction's mask is cut by, and a thread there has no bit in it."""
    terms = projection.terms
    return all(
        terms[found].head in ballots and terms.formula_under(terms[found].formula, here) == FALSE
        for found, here in terms.outcomes(value, given)
    )
