"""Estimates how long code takes one warp.

Cycles of the device's clock. The model issues in order, one instruction every `ISSUE` cycles, and lets an
instruction wait until what it reads is ready; memory always answers after the table's latency. It knows
nothing of other warps, caches or busy units, so it ranks orders of one block rather than predict a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from goptx.analysis.cfg import Code, Flow, depths
from goptx.analysis.dataflow import read, register_of, written

ISSUE = 2  # cycles between independent instructions of a warp: HPEC 2022 (arXiv 2208.11174), Table 2

Cycles = Callable[[Code], int]


def block_cycles(code: Iterable[Code], cycles: Cycles, end_reads: Iterable[str] = ()) -> int:
    """Cycles from the first instruction's issue until the last result is there."""
    ready: dict[str, int] = {}
    issue = finish = 0
    for item in code:
        issue = max([issue, *(ready.get(r, 0) for r in read(item))])
        done = issue + cycles(item)
        ready.update(dict.fromkeys(written(item), done))
        finish = max(finish, done)
        issue += ISSUE
    return max([finish, issue, *(ready.get(register_of(r), 0) for r in end_reads)])


def flow_cycles(flow: Flow, cycles: Cycles) -> int:
    """Cycles of the longest way through the flow, blocks counted ten times for each loop around them."""
    depth = depths(flow)
    order = flow.reverse_postorder()
    rank = {name: i for i, name in enumerate(order)}
    longest: dict[str, int] = {}
    for name in reversed(order):
        block = flow.blocks[name]
        own = block_cycles(block.code, cycles, block.end.reads()) * 10 ** depth[name] if block.code else 0
        if block.region:
            own = flow_cycles(block.region.flow(), cycles) * 10 ** depth[name]
        ahead = [longest[t] for t in block.end.successors() if rank[t] > rank[name]]  # back edges left out
        longest[name] = own + max(ahead, default=0)
    return longest[flow.entry]
