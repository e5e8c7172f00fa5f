"""Finds loops that may wait for other threads.

A loop waits if its end depends on a strong read in it (volatile, relaxed, acquire, an atomic), or on a load past the L1
cache (`ld.cv`, `ld.cg`) of an address that is not another one each time around; in it, or in a function that it calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import networkx as nx

from goptx.analysis.cfg import Flow, loops
from goptx.analysis.dataflow import register_of
from goptx.analysis.influence import NOTHING_ASKED, Addresses, Asked, Influence, asked_by, callee_of, is_memory
from goptx.ptx.ir import Function, Instruction
from goptx.ptx.opcodes import facts_of


def waiting_loops(
    flow: Flow, asked: Asked = NOTHING_ASKED, piece: bool = False
) -> Iterator[tuple[frozenset[str], Instruction]]:
    """The blocks of each loop that may wait, with each read that decides, by data or by control, when it ends. `asked`
    has the functions of whose results the like can be said (`asked_in`); `piece` says that the flow is one of a larger
    one."""
    if not any(may_ask(i, asked) for i in flow.instructions()):
        return
    graph = flow.graph()
    addresses = Addresses(flow, piece)
    for header, body in _bodies(flow, graph):
        influence = Influence(flow, body, addresses, asked)
        if not influence.asked:
            continue
        latches = [n for n in flow.blocks if n in body and header in graph.succ[n]]
        ends = [flow.blocks[n].end for n in flow.blocks if n in body and set(graph.succ[n]) - body]
        own = {id(i) for n in body for i in flow.blocks[n].instructions()}
        for waited in influence.decide(register_of(r) for e in ends for r in e.reads()):
            anew = id(waited) in own and facts_of(waited.opcode).asks_anew
            if not (anew and influence.moves_on(waited, latches)):
                yield body, waited


def asked_in(flows: Mapping[str, Flow], functions: Mapping[str, Function], unknown: Asked = NOTHING_ASKED) -> Asked:
    """Of each function, by name, the reads of what other threads may change that its results, or what it leaves in
    memory, depend on; `unknown` are more functions, of which that is known."""
    found = unknown
    while True:
        now = dict(unknown)
        for name, flow in flows.items():
            if any(may_ask(i, found) for i in flow.instructions()):
                influence = Influence(flow, flow.blocks, Addresses(flow), found)
                results = {r.name for r in functions[name].results}
                left = {n for n in influence.sources if is_memory(n) or n in results}
                if decided := tuple(influence.decide(left)):
                    now[name] = decided
        if now == found:
            return found
        found = now


def asking_calls(flow: Flow, asked: Asked) -> Iterator[tuple[Instruction, Instruction]]:
    """The calls in loops that may wait for what the function called reads, each with that read."""
    if not asked:
        return
    for body, waited in waiting_loops(flow, asked):
        for name in flow.blocks:
            for call in flow.blocks[name].instructions() if name in body else ():
                if facts_of(call.opcode).calls and waited in asked_by(call, asked):
                    yield call, waited


def waiting_recursion(flow: Flow, asked: Asked, again: frozenset[str]) -> Iterator[Instruction]:
    """The reads that decide whether a function calls one of `again`, which lead to itself: a loop, too."""
    if not again or not any(may_ask(i, asked) for i in flow.instructions()):
        return
    influence = Influence(flow, flow.blocks, Addresses(flow), asked)
    for name, block in flow.blocks.items():
        for call in block.instructions():
            if facts_of(call.opcode).calls and callee_of(call) in again:
                guard = {register_of(call.guard.predicate.text)} if call.guard else set()
                yield from influence.decide(guard | influence.deciders(name))


def may_ask(instruction: Instruction, asked: Asked = NOTHING_ASKED) -> bool:
    """Whether it reads what other threads may change, itself or in a function that it calls."""
    facts = facts_of(instruction.opcode)
    return facts.asks or facts.asks_anew or (facts.calls and bool(asked_by(instruction, asked)))


def _bodies(flow: Flow, graph: nx.DiGraph[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """The loops of a flow, each with its first block, inner ones first where several begin at one block: `loops` knows
    those as one."""
    for header, body in loops(flow).items():
        around = graph.subgraph(body - {header})
        latches = [n for n in flow.blocks if n in body and header in graph.succ[n]]
        inner = [{header, n} | (nx.ancestors(around, n) if n != header else set()) for n in latches]
        for found in sorted({*map(frozenset, inner), body}, key=lambda found: (len(found), sorted(found))):
            yield header, found
