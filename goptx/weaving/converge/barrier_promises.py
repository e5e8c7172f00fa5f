"""What a correct kernel promises by its aligned barriers: branches that the lanes of a warp take together.

Requires: the control flow of one kernel. Ensures: a branch is marked `.uni` where a warp whose lanes parted there would
stand at two different aligned barriers, which is undefined (PTX ISA, `barrier`): on each side every way meets one, no
way ends the kernel before, and none that one side meets first is one that the other meets first.
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
    meeting = {n for n, b in flow.blocks.items() if _meets(b)} | {EXIT}
    graph = flow.with_virtual_exits()
    return frozenset(
        name
        for name, block in flow.blocks.items()
        if isinstance(block.end, Branch) and _are_apart([_met(graph, t, meeting) for t in block.end.successors()])
    )


def _meets(block: Block) -> bool:
    """Whether whoever runs the block meets an aligned barrier."""
    barriers = [i for i in block.code if isinstance(i, Instruction) and is_barrier(i)]
    return any(i.guard is None and facts_of(i.opcode).aligned for i in barriers)


def _met(graph: nx.DiGraph[str], start: str, meeting: Collection[str]) -> set[str]:
    """Those of the blocks `meeting` that can be the first on a way from `start`."""
    first, seen, work = set[str](), {start}, [start]
    while work:
        name = work.pop()
        if name in meeting:
            first.add(name)
            continue
        work += [t for t in graph.succ[name] if t not in seen]
        seen.update(graph.succ[name])
    return first


def _are_apart(sides: list[set[str]]) -> bool:
    return not any(EXIT in side for side in sides) and not sides[0] & sides[1]
