"""Whether the fused kernel ends if its kernels do: each time a loop begins again, some lane's kernel has gone on.

A loop that goes on as long as any lane of the warp asks for it need only get on with the lanes that ask, and so do
loops in which the whole warp is for the sake of such a lane.

Requires: the projections have been proved, and share their terms.
"""

from __future__ import annotations

from collections.abc import Sequence

from goptx.proof.code.kernel_code import ASKED, END, OF_CTA, NotProved, Program
from goptx.proof.formulas import FALSE, TRUE
from goptx.proof.projection import Projection
from goptx.proof.sync.convergence import diverging_branches
from goptx.proof.sync.varying import varying_branches
from goptx.ptx.opcodes import Scope


def check_termination(projections: Sequence[Projection], given: int = TRUE, whole: Program | None = None) -> int:
    """How many loops were looked at, for the threads of which `given` holds. `whole` is the code of all threads of the
    CTA, where others of it may ask. Raises `NotProved`."""
    fused = projections[0].fused
    diverging = diverging_branches(projections) if fused.loop_heads else frozenset[int]()
    edges = dict.fromkeys(edge for p in projections for edge in p.back)
    for edge in edges:
        idle = projections[0].formulas.both(given, _idle(projections, edge))
        if idle == FALSE or any(_is_asked_by_others(p, edge, idle, diverging, whole or fused) for p in projections):
            continue
        last = fused.steps[fused.blocks[edge[0]][-1]]
        raise NotProved(last.line, f"the loop that `{last.statement}` begins again may go on when no kernel does")
    return len({head for _, head in edges})


def _idle(projections: Sequence[Projection], edge: tuple[int, int]) -> int:
    """The lanes of which no kernel has gone on since the loop began."""
    formulas, idle = projections[0].formulas, TRUE
    for projection in projections:
        still = FALSE
        for given, moved in projection.back.get(edge, {}).values():
            still = still if moved else formulas.either(still, given)
        idle = formulas.both(idle, still)
    return idle


def _is_asked_by_others(
    projection: Projection, edge: tuple[int, int], idle: int, diverging: frozenset[int], of_cta: Program
) -> bool:
    """Whether lanes that do not get on are in the loop only because other lanes of their warp, or threads of their CTA,
    ask for it: in the loop itself, or before it, and no branch has led those elsewhere since."""
    for name, asked in projection.asked.get(edge, {}).items():
        if projection.formulas.both(idle, asked) != FALSE:
            continue
        asking, blocks, divided, fused = name.removeprefix(ASKED), projection.asking, diverging, projection.fused
        if asking.startswith(OF_CTA):
            asking, blocks, fused = asking.removeprefix(OF_CTA), projection.asking_of_cta, of_cta
            divided = varying_branches(fused, Scope.CTA)
        if asking.isdigit():
            found = _is_there(fused, int(asking), edge, divided)
        else:  # the last block that asked: all lanes come to such blocks together, and to the edge
            inside = frozenset[int]().union(*map(fused.region, divided))
            found = inside.isdisjoint(blocks | {edge[0]})
        if found:
            return True
    return False


def _is_there(fused: Program, start: int, edge: tuple[int, int], diverging: frozenset[int]) -> bool:
    """Whether threads that left a block together are together where the loop begins again."""
    alike = start in fused.natural_loop(edge) or diverging.isdisjoint(_between(fused, start, edge[0]))
    return alike and fused.dominates(start, edge[0])


def _between(fused: Program, first: int, last: int) -> frozenset[int]:
    """The blocks on paths from one block to another that do not come to the first one again."""
    following = [t for t in fused.successors(first) if t not in (END, first)]
    after = (fused.reached(t, lambda b: () if b == first else fused.successors(b)) for t in following)
    before = fused.reached(last, lambda b: () if b == first else fused.predecessors[b])
    return frozenset().union(*after) & before - {first}
