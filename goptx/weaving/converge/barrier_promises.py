"""What a correct kernel promises by its aligned barriers: branches that the lanes of a warp take together.

Requires: the control flow of one kernel. Ensures: a branch is marked `.uni` where a warp whose lanes diverged there
would stand at two different aligned barriers, which is undefined (PTX ISA, `barrier`): on each side every path comes to
one, no path ends the kernel before, and the sides have no first barrier in common.
"""

from __future__ import annotations

from collections.abc import Collection

import networkx as nx

from goptx.analysis.cfg import EXIT, Block, Flow
from goptx.analysis.sync.barriers import is_barrier, is_counted
from goptx.analysis.terminators import Branch
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of


def warp_branches(flow: Flow) -> frozenset[str]:
    """The blocks whose branch each warp takes together by that promise. Kernels whose barriers are all for the whole
    CTA promise more, see `check_barriers` (converge.py)."""
    barriers = [i for b in flow.blocks.values() for i in b.code if isinstance(i, Instruction) and is_barrier(i)]
    if not any(map(is_counted, barriers)):
        return frozenset()
    barrier_blocks = {n for n, b in flow.blocks.items() if _has_aligned_barrier(b)} | {EXIT}
    graph = flow.with_virtual_exits()
    return frozenset(
        name
        for name, block in flow.blocks.items()
        if isinstance(block.end, Branch)
        and _are_disjoint([_first_barriers(graph, t, barrier_blocks) for t in block.end.successors()])
    )


def _has_aligned_barrier(block: Block) -> bool:
    """Whether every lane that runs the block comes to an aligned barrier."""
    barriers = [i for i in block.code if isinstance(i, Instruction) and is_barrier(i)]
    return any(i.guard is None and facts_of(i.opcode).aligned for i in barriers)


def _first_barriers(graph: nx.DiGraph[str], start: str, barrier_blocks: Collection[str]) -> set[str]:
    """Those of the blocks `barrier_blocks` that can be the first on a path from `start`."""
    first, seen, work = set[str](), {start}, [start]
    while work:
        name = work.pop()
        if name in barrier_blocks:
            first.add(name)
            continue
        work += [t for t in graph.succ[name] if t not in seen]
        seen.update(graph.succ[name])
    return first


def _are_disjoint(sides: list[set[str]]) -> bool:
    return not any(EXIT in side for side in sides) and not sides[0] & sides[1]
