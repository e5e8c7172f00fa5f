"""Finds loops that may wait for other threads.

A loop waits if its end depends on a strong read (volatile, relaxed, acquire, an atomic), or on a load past the L1 cache
(`ld.cv`, `ld.cg`) whose address stays the same in all iterations. The read may be in the loop or in a function that the
loop calls. A compare-and-swap that is only tried again (retry_loops.py) does not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import networkx as nx

from goptx.analysis.cfg import Flow, facts_among, left_at, loops
from goptx.analysis.dataflow import register_of
from goptx.analysis.influence import (
    NO_STRONG_READS,
    Addresses,
    Influence,
    StrongReads,
    callee_of,
    is_memory,
    strong_reads_of_call,
)
from goptx.analysis.sync.retry_loops import only_retries
from goptx.ptx.ir import Function, Instruction
from goptx.ptx.opcodes import Facts, facts_of


def waiting_loops(
    flow: Flow, function_reads: StrongReads = NO_STRONG_READS, piece: bool = False
) -> Iterator[tuple[frozenset[str], Instruction]]:
    """The blocks of each loop that may wait, with each read that decides, by data or by control, when it ends.
    `function_reads` maps functions to the strong reads that their results depend on (`strong_reads_of_functions`);
    `piece` states that the flow is a part of a larger one."""
    if not holds_strong_reads(flow, function_reads):
        return
    graph = flow.graph()
    addresses = Addresses(flow, piece)
    for header, body in _bodies(flow, graph):
        influence = Influence(flow, body, addresses, function_reads)
        if not influence.strong_reads:
            continue
        latches = [n for n in flow.blocks if n in body and header in graph.succ[n]]
        ends = [flow.blocks[n].end for n in left_at(flow, body)]
        own = {id(i) for n in body for i in flow.blocks[n].instructions()}
        for waited in influence.decide(register_of(r) for e in ends for r in e.reads()):
            uncached = id(waited) in own and facts_of(waited.opcode).bypasses_l1
            if not (uncached and influence.moves_on(waited, latches)) and not only_retries(flow, body, waited):
                yield body, waited


def strong_reads_of_functions(
    flows: Mapping[str, Flow], functions: Mapping[str, Function], unknown: StrongReads = NO_STRONG_READS
) -> StrongReads:
    """For each function, by name, the reads of memory that other threads may change on which its results, or the memory
    that it leaves, depend. `unknown` adds functions for which that is already known."""
    found = unknown
    while True:
        now = dict(unknown)
        for name, flow in flows.items():
            if holds_strong_reads(flow, found):
                influence = Influence(flow, flow.blocks, Addresses(flow), found)
                results = {r.name for r in functions[name].results}
                left = {n for n in influence.sources if is_memory(n) or n in results}
                if decided := tuple(influence.decide(left)):
                    now[name] = decided
        if now == found:
            return found
        found = now


def calls_in_waiting_loops(flow: Flow, function_reads: StrongReads) -> Iterator[tuple[Instruction, Instruction]]:
    """The calls in loops that may wait for what the called function reads, each with that read."""
    if not function_reads:
        return
    for body, waited in waiting_loops(flow, function_reads):
        for name in flow.blocks:
            for call in flow.blocks[name].instructions() if name in body else ():
                if facts_of(call.opcode).calls and waited in strong_reads_of_call(call, function_reads):
                    yield call, waited


def waiting_recursion(flow: Flow, function_reads: StrongReads, again: frozenset[str]) -> Iterator[Instruction]:
    """The reads that decide whether a function calls one of `again`, the functions through which it calls itself: such
    recursion is a loop, too."""
    if not again or not holds_strong_reads(flow, function_reads):
        return
    influence = Influence(flow, flow.blocks, Addresses(flow), function_reads)
    for name, block in flow.blocks.items():
        for call in block.instructions():
            if facts_of(call.opcode).calls and callee_of(call) in again:
                guard = {register_of(call.guard.predicate.text)} if call.guard else set()
                yield from influence.decide(guard | influence.deciders(name))


def reads_strongly(facts: Facts) -> bool:
    """Whether an instruction reads memory that other threads may change."""
    return facts.is_strong_read or facts.bypasses_l1


def holds_strong_reads(flow: Flow, function_reads: StrongReads = NO_STRONG_READS) -> bool:
    """Whether an instruction reads memory that other threads may change, itself or in a function that it calls."""
    if any(map(reads_strongly, facts_among(flow))):
        return True
    calls = (i for i in flow.instructions() if facts_of(i.opcode).calls) if function_reads else ()
    return any(strong_reads_of_call(call, function_reads) for call in calls)


def _bodies(flow: Flow, graph: nx.DiGraph[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """The loops of a flow, each with its first block, inner ones first. Loops that begin at one block are
    separate here; `loops` joins them."""
    for header, body in loops(flow).items():
        around = graph.subgraph(body - {header})
        latches = [n for n in flow.blocks if n in body and header in graph.succ[n]]
        inner = [{header, n} | (nx.ancestors(around, n) if n != header else set()) for n in latches]
        for found in sorted({*map(frozenset, inner), body}, key=lambda found: (len(found), sorted(found))):
            yield header, found
