"""Whether all threads of a CTA come to its barriers.

Requires: a flow with the branches of the kernel as written.
"""

from __future__ import annotations

from collections.abc import Collection

import networkx as nx

from goptx.analysis.cfg import EXIT, Block, Flow, closure, controls
from goptx.analysis.sync.barriers import (
    blocks_needing_all_threads,
    is_barrier,
    is_cluster_barrier,
    is_counted,
    needs_all_threads,
)
from goptx.analysis.uniformity import uniformity
from goptx.ptx.ir import Immediate, Instruction
from goptx.ptx.opcodes import facts_of


def is_barrier_uniform(flow: Flow) -> bool:
    """Whether it is proved that all threads execute each barrier of the whole CTA equally often, so that none has ended
    the kernel before. Proof: each decision about a barrier is the same for the whole CTA, or every path from the
    decision to the point of reconvergence has the same barriers."""
    needed = blocks_needing_all_threads(flow)
    barriers = [(n, i) for n, b in flow.blocks.items() if n in needed for i in b.instructions() if needs_all_threads(i)]
    if not barriers:
        return True
    uniform = uniformity(flow)
    if any(uniform.of(i.guard.predicate.text) for _, i in barriers if i.guard):
        return False
    deciding = [n for n in closure([n for n, _ in barriers], controls(flow)) if uniform.branches[n]]
    joins = flow.post_dominators()
    return all(barriers_on_every_path(flow, n, joins[n] or EXIT) is not None for n in deciding)


def barriers_on_every_path(flow: Flow, start: str, join: str) -> tuple[Instruction, ...] | None:
    """The barriers of the whole CTA, in order, on each path from the end of the block `start` to the block `join`, to
    which all paths lead. None where the barriers of two paths differ, or a loop has a barrier."""
    graph = flow.graph().subgraph(set(flow.blocks) - {join})
    between = {start} | set(nx.descendants(graph, start))
    if any(start in graph.succ[n] for n in between):
        return None  # the next iteration of a loop around it begins before the paths join
    below: dict[str, tuple[Instruction, ...]] = {join: ()}
    for component in nx.strongly_connected_components(graph.subgraph(between)):  # successors first
        onward = [below[t] for n in component for t in flow.blocks[n].end.successors() if t not in component]
        if any(not _same(onward[0], other) for other in onward[1:]):
            return None
        loops = len(component) > 1 or any(n in graph.succ[n] for n in component)
        for name in component:
            found = _executed_barriers(flow.blocks[name]) if name != start else ()
            if found is None or (found and loops):
                return None
            below[name] = (*found, *(onward[0] if onward else ()))
    return below[start]


def _same(barriers: Collection[Instruction], others: Collection[Instruction]) -> bool:
    """Whether they are barriers of the same kinds and with the same ids."""
    return [*map(_kind, barriers)] == [*map(_kind, others)]


def _kind(barrier: Instruction) -> tuple[object, ...]:
    facts = facts_of(barrier.opcode)
    return facts.modifiers & {"red", "and", "or", "popc"}, barrier.operands[facts.barrier_id]


def _executed_barriers(block: Block) -> tuple[Instruction, ...] | None:
    """The barriers of the whole CTA that each thread executes in the block. None where threads may differ in that, or a
    barrier id is unknown."""
    if block.region is not None:
        return barriers_in(block.region.flow())
    found = []
    for instruction in block.instructions():
        if is_cluster_barrier(instruction):
            return None
        if is_barrier(instruction) and not is_counted(instruction):
            number = instruction.operands[facts_of(instruction.opcode).barrier_id]
            if instruction.guard is not None or not isinstance(number, Immediate):
                return None
            found.append(instruction)
    return tuple(found)


def barriers_in(flow: Flow) -> tuple[Instruction, ...] | None:
    """The barriers of the whole CTA on each path through the flow; None where paths differ."""
    first = _executed_barriers(flow.blocks[flow.entry])
    rest = barriers_on_every_path(flow, flow.entry, EXIT)
    return None if first is None or rest is None else (*first, *rest)
