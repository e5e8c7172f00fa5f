"""Dummy blocks: merged blocks in which one kernel waits while the other goes on.

A kernel waits before a barrier, so that no thread waits there for a thread that the other kernel delays. There are two
rules for where. `deadlock_rule` is the published one (GoPTX, DAC 2025), for merge="paper": the second kernel waits
before its synchronising code as long as the first can still reach some. goptx's own merge asks how uniform branches
are, so that a kernel waits less often: `Order.allows` in sync_order.py has the rules, and choose.py chooses among the
moves that they allow. Both give a `Move` for each pair of blocks, by which product.py makes the blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import networkx as nx

from goptx.analysis.cfg import EXIT, Code, Flow
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of
from goptx.weaving.merging.merged_blocks import MergedBlock
from goptx.weaving.merging.product import Move, Pair


def is_dummy(block: MergedBlock) -> bool:
    """Whether a kernel that has not finished waits throughout the block."""
    waiting = [any(n != EXIT and k not in c.runs for k, n in c.stands.items()) for c in block.states]
    return any(waiting) and not block.woven


def deadlock_rule(first: Flow, second: Flow) -> Callable[[Pair], Move]:
    """The second kernel waits before its sync code while the first can still reach some."""
    syncs = [frozenset(n for n, b in f.blocks.items() if any(map(is_sync, b.code))) for f in (first, second)]
    graph = first.graph()
    reaches = syncs[0].union(*(nx.ancestors(graph, n) for n in syncs[0]))
    return lambda pair: Move.FIRST if pair[0] in reaches and pair[1] in syncs[1] else Move.BOTH


def is_sync(code: Code) -> bool:
    """Whether the paper counts it as synchronizing: barriers, and all opcodes with `.sync`."""
    if not isinstance(code, Instruction):
        return False
    facts = facts_of(code.opcode)
    return facts.barrier or "sync" in facts.modifiers


def around_syncs(code: Sequence[Code]) -> list[int]:
    """Where to cut a block so that each sync instruction stands in one of its own."""
    return [i for i in range(1, len(code)) if is_sync(code[i - 1]) or is_sync(code[i])]
