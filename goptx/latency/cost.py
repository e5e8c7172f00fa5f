"""Estimates how long code takes one warp.

Cycles of the device's clock. The model issues in order, one instruction every `ISSUE` cycles, and lets an
instruction wait until its operands are ready; memory always answers after the table's latency. It ignores
other warps, caches and busy units, so it ranks orders of one block instead of predicting a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from goptx.analysis.cfg import Code, Flow, depths, instructions_in
from goptx.analysis.dataflow import read, written
from goptx.latency.table import LatencyTable
from goptx.ptx.ir import Scope

ISSUE = 2  # cycles between independent instructions of a warp: HPEC 2022 (arXiv 2208.11174), Table 2

Cycles = Callable[[Code], int]
T = TypeVar("T", int, float)


def cycles_of(table: LatencyTable, code: Code) -> int:
    """The latency of an instruction, or the sum for those in a call's braces."""
    if isinstance(code, Scope):
        return sum(map(table.cycles_of, instructions_in(code)))
    return table.cycles_of(code)


def issued(code: Iterable[Code], cycles: Cycles) -> Iterator[tuple[int, int]]:
    """When each instruction of straight code is issued, and when its result is ready, from cycle 0 on."""
    ready: dict[str, int] = {}
    issue = 0
    for item in code:
        for register in read(item):
            if (ready_at := ready.get(register, 0)) > issue:
                issue = ready_at
        done = issue + cycles(item)
        for register in written(item):
            ready[register] = done
        yield issue, done
        issue += ISSUE


def block_cycles(code: Iterable[Code], cycles: Cycles) -> int:
    """Cycles from the first instruction's issue until the last result is ready."""
    finish = 0
    for issue, done in issued(code, cycles):
        finish = max(finish, done, issue + ISSUE)
    return finish


def flow_cycles(flow: Flow, cycles: Cycles) -> int:
    """Cycles of the critical path through the flow, where blocks count ten times for each loop around them."""
    return sum(critical_path(flow, weights(flow, cycles)).values())


def weights(flow: Flow, cycles: Cycles) -> dict[str, int]:
    """The cycles of each reachable block, ten times for each loop around it."""
    depth = depths(flow)
    found: dict[str, int] = {}
    for name in flow.reverse_postorder():
        block = flow.blocks[name]
        own = block_cycles(block.code, cycles) if block.code else 0
        if block.region:
            own = flow_cycles(block.region.flow(), cycles)
        found[name] = own * 10 ** depth[name]
    return found


def critical_path(flow: Flow, weight: Mapping[str, T]) -> dict[str, T]:
    """The blocks of the critical path through the flow, without back edges, each with its weight."""
    order = flow.reverse_postorder()
    rank = {name: i for i, name in enumerate(order)}
    below: dict[str, list[str]] = {}
    longest: dict[str, T] = {}
    for name in reversed(order):
        below[name] = [t for t in flow.blocks[name].end.successors() if rank[t] > rank[name]]
        longest[name] = weight[name] + max((longest[t] for t in below[name]), default=0)
    path, here = {}, [flow.entry]
    while here:
        path[here[0]] = weight[here[0]]
        here = sorted(below[here[0]], key=longest.__getitem__)[-1:]
    return path
