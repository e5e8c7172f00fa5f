"""Whether instructions that threads of a warp execute together are executed in the fused kernel by those threads that
execute them together in their kernel.

Where threads of a warp may part, an instruction of the kernel may stand on one side only: then those that take this side
are the ones that come to it in the kernel. Threads whose kernel has ended count as ended there: they come along, or the
instruction's lane mask does not name them.

Requires: the projection of the kernel has been shown.
"""

from __future__ import annotations

from collections.abc import Mapping

from goptx.proof.formulas import FALSE
from goptx.proof.program import END, NotProved
from goptx.proof.projection import Projection
from goptx.proof.uniformity import varying_branches
from goptx.ptx.opcodes import Scope


def check_convergence(projection: Projection) -> int:
    """How many instructions were looked at. Raises `NotProved`."""
    fused = projection.fused
    together = {
        number: claims[0]
        for number, claims in projection.claims.items()
        if fused.steps[number].facts.row.scope in (Scope.WARP, Scope.WARPGROUP)
    }
    added = [
        s for s in fused.steps if s.facts.row.scope == Scope.WARP and s.number not in projection.foreign.union(together)
    ]
    for branch in sorted(varying_branches(fused, Scope.WARP)):
        last, region = fused.steps[fused.blocks[branch][-1]], fused.region(branch)
        for step in added:
            if fused.block_of[step.number] in region:
                raise NotProved(
                    step.line,
                    f"not all lanes of a warp may come to `{step.statement}`, by the branch in line {last.line}",
                )
        for number in projection.claims:
            step = fused.steps[number]
            if (
                step.facts.row.scope >= Scope.CTA
                and step.facts.aligned
                and fused.block_of[number] in region
                and not projection.branches.get(last.number)
            ):
                raise NotProved(
                    step.line,
                    f"not all lanes of a warp may come to `{step.statement}`, by the branch in line {last.line}",
                )
        if (
            "uni" in last.facts.modifiers
            and not any(
                "uni" in projection.kernel.steps[n].facts.modifiers for n in projection.branches.get(last.number, ())
            )
            and last.number not in projection.foreign
        ):
            raise NotProved(
                last.line, f"`{last.statement}` says that all lanes of a warp go one way, which is not shown"
            )
    at = {number: fused.block_of[number] for number in together}
    for branch in sorted(varying_branches(fused, Scope.WARP)):
        sides = [fused.side(branch, target) for target in dict.fromkeys(fused.successors(branch))]
        for number, own in together.items():
            on = [side for side in sides if any(at[n] in side for n, k in together.items() if k == own)]
            here = any(at[number] in side for side in sides)
            step, last = fused.steps[number], fused.steps[fused.blocks[branch][-1]]
            if here and len(on) > 1:
                raise NotProved(
                    step.line,
                    f"`{step.statement}` stands on several sides of the branch in line {last.line}, which threads of a warp may take differently",
                )
            if here:
                _check_ended(projection, branch, number)
    return len(together)


def _check_ended(projection: Projection, branch: int, number: int) -> None:
    """That a thread whose kernel has ended at the branch is not waited for, if it may take another side."""
    registers, cases = projection.ends[branch]
    given = next((c.given for c in cases if c.place == END), None)
    if given is None:
        return
    fused = projection.fused
    step, last = fused.steps[number], fused.steps[fused.blocks[branch][-1]]
    if step.facts.row.mask is None:
        return  # the kernel may not execute it at all after threads have ended
    ballots = projection.ballots.get(number, frozenset())
    if not any(_leaves_out(projection, value, ballots, given) for value in _data(projection, registers).values()):
        raise NotProved(
            step.line,
            f"`{step.statement}` may wait for a thread whose kernel has ended and which the branch in line {last.line} leads elsewhere",
        )


def _data(projection: Projection, registers: Mapping[str, int]) -> dict[str, int]:
    return {r: v for r, v in registers.items() if not projection.fused.is_predicate(r)}


def _leaves_out(projection: Projection, value: int, ballots: frozenset[str], given: int) -> bool:
    """Whether the value is a ballot that the instruction's mask is cut by, and a thread there has no bit in it."""
    terms = projection.terms
    return all(
        terms[found].head in ballots and terms.formula_under(terms[found].formula, here) == FALSE
        for found, here in terms.outcomes(value, given)
    )
