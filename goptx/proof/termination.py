"""Whether the fused kernel ends if its kernels do: each time a loop begins again, some lane's kernel has gone on.

A loop that goes on as long as any lane of the warp asks for it need only get on with the lanes that ask.

Requires: the projections have been shown, and share their terms.
"""

from __future__ import annotations

from collections.abc import Sequence

from goptx.proof.formulas import FALSE, TRUE
from goptx.proof.program import NotProved
from goptx.proof.projection import Projection


def check_termination(projections: Sequence[Projection]) -> int:
    """How many loops were looked at. Raises `NotProved`."""
    formulas, fused = projections[0].formulas, projections[0].fused
    edges = dict.fromkeys(edge for p in projections for edge in p.back)
    for edge in edges:
        idle = TRUE
        for projection in projections:
            lanes = projection.back.get(edge, {})
            still = FALSE
            for given, moved in lanes.values():
                still = still if moved else formulas.either(still, given)
            idle = formulas.both(idle, still)
        if idle != FALSE and not _is_asked_by_others(projections[0], edge, idle):
            last = fused.steps[fused.blocks[edge[0]][-1]]
            raise NotProved(last.line, f"the loop that `{last.statement}` begins again may go on when no kernel does")
    return len({head for _, head in edges})


def _is_asked_by_others(projection: Projection, edge: tuple[int, int], idle: int) -> bool:
    """Whether lanes that do not get on are in the loop only because other lanes of their warp ask for it."""
    formulas, fused = projection.formulas, projection.fused
    for start in fused.loops[edge[1]]:
        last = fused.steps[fused.blocks[start][-1]]
        every = start == edge[0] or all(
            fused.dominates(start, source) for source, head in projection.back if head == edge[1]
        )
        if last.guard and every and start in projection.ends:
            test = projection.outer.guard(projection.ends[start][0], last)
            for vote in (test, formulas.negation(test)):
                asked = projection.asked.get(vote)
                if asked is not None and formulas.both(idle, asked) == FALSE:
                    return True
    return False
