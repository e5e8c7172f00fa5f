"""Whether the fused kernel ends if its kernels do: each time a loop begins again, some lane's kernel has gone on.

A loop that goes on as long as any lane of the warp asks for it need only get on with the lanes that ask. Where all
threads of a CTA decide alike whether a kernel's loop goes on, threads whose kernel has ended follow it; that the loop
ends if all of them have ended is presumed.

Requires: the projections have been proved, and share their terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from goptx.proof.formulas import FALSE, TRUE
from goptx.proof.kernel_code import ASKED, END, NotProved, Program, Step
from goptx.proof.projection import Projection
from goptx.proof.sync.convergence import diverging_branches
from goptx.proof.sync.varying import varying_branches
from goptx.ptx.opcodes import Scope


def check_termination(projections: Sequence[Projection]) -> tuple[int, list[str]]:
    """How many loops were looked at, and what is presumed of them. Raises `NotProved`."""
    fused = projections[0].fused
    varying = varying_branches(fused, Scope.CTA) if fused.loop_heads else frozenset[int]()
    diverging = diverging_branches(projections) if fused.loop_heads else frozenset[int]()
    presumed = []
    edges = dict.fromkeys(edge for p in projections for edge in p.back)
    for edge in edges:
        idle = _idle(projections, edge)
        if idle == FALSE or any(_is_asked_by_others(p, edge, idle, diverging) for p in projections):
            continue
        leaving = list(_leaving(projections[0], edge))
        owned = all(any(last.number in p.branches for p in projections) for last in leaving)
        if leaving and owned and varying.isdisjoint(fused.block_of[last.number] for last in leaving):
            presumed.append(f"the loop that the branch in line {leaving[0].line} leaves ends if all threads have ended")
        else:
            last = fused.steps[fused.blocks[edge[0]][-1]]
            raise NotProved(last.line, f"the loop that `{last.statement}` begins again may go on when no kernel does")
    return len({head for _, head in edges}), presumed


def _idle(projections: Sequence[Projection], edge: tuple[int, int]) -> int:
    """The lanes of which no kernel has gone on since the loop began."""
    formulas, idle = projections[0].formulas, TRUE
    for projection in projections:
        still = FALSE
        for given, moved in projection.back.get(edge, {}).values():
            still = still if moved else formulas.either(still, given)
        idle = formulas.both(idle, still)
    return idle


def _is_asked_by_others(projection: Projection, edge: tuple[int, int], idle: int, diverging: frozenset[int]) -> bool:
    """Whether lanes that do not get on are in the loop only because other lanes of their warp ask for it: in the loop
    itself, or before it, and no branch has led those elsewhere since."""
    fused = projection.fused
    loop = fused.natural_loop(edge)
    return any(
        projection.formulas.both(idle, asked) == FALSE
        and fused.dominates(start := int(name.removeprefix(ASKED)), edge[0])
        and (start in loop or diverging.isdisjoint(_between(fused, start, edge[0])))
        for name, asked in projection.asked.get(edge, {}).items()
    )


def _between(fused: Program, first: int, last: int) -> frozenset[int]:
    """The blocks on paths from one block to another that do not come to the first one again."""
    following = [t for t in fused.successors(first) if t not in (END, first)]
    after = (fused.reached(t, lambda b: () if b == first else fused.successors(b)) for t in following)
    before = fused.reached(last, lambda b: () if b == first else fused.predecessors[b])
    return frozenset().union(*after) & before - {first}


def _leaving(projection: Projection, edge: tuple[int, int]) -> Iterator[Step]:
    """The branches by which lanes leave a loop."""
    fused = projection.fused
    loop = fused.natural_loop(edge)
    for start in sorted(loop):
        if any(t == END or t not in loop for t in fused.successors(start)):
            yield fused.steps[fused.blocks[start][-1]]
