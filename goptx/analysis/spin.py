"""Finds loops that may wait for other threads (M18)."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx

from goptx.analysis.cfg import Flow, closure, controls, loops
from goptx.analysis.dataflow import read, register_of, written
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of


def waiting_loops(flow: Flow) -> Iterator[tuple[frozenset[str], Instruction]]:
    """The loops that a volatile, relaxed or acquire load or an atomic inside decides, by data or by control, when
    to end: their blocks and that instruction."""
    if not any(map(_asks, flow.instructions())):
        return
    graph = flow.graph()
    controlled = controls(flow)
    for body in _bodies(flow, graph):
        sources: dict[str, frozenset[str]] = {}
        volatile: dict[str, Instruction] = {}
        for name in flow.blocks:
            if name not in body:
                continue
            deciders = closure([name], controlled) & body
            conditions = {register_of(r) for d in deciders for r in flow.blocks[d].end.reads()}
            for instruction in flow.blocks[name].instructions():
                asks = _asks(instruction)
                for register in written(instruction):
                    sources[register] = sources.get(register, frozenset()) | read(instruction) | conditions
                    if asks:
                        volatile[register] = instruction
        ends = [flow.blocks[n].end for n in flow.blocks if n in body and set(graph.succ[n]) - body]
        tested = [register_of(r) for e in ends for r in e.reads()]
        waited = [r for r in sorted({*tested, *closure(tested, sources)}) if r in volatile]
        if waited:
            yield body, volatile[waited[0]]


def _asks(instruction: Instruction) -> bool:
    """Whether it reads what other threads may change."""
    facts = facts_of(instruction.opcode)
    return facts.volatile and facts.loads


def _bodies(flow: Flow, graph: nx.DiGraph[str]) -> Iterator[frozenset[str]]:
    """The loops of a flow, inner ones first where several begin at one block: `loops` knows those as one."""
    for header, body in loops(flow).items():
        around = graph.subgraph(body - {header})
        latches = [n for n in flow.blocks if n in body and header in graph.succ[n]]
        inner = [{header, n} | (nx.ancestors(around, n) if n != header else set()) for n in latches]
        yield from sorted({*map(frozenset, inner), body}, key=lambda found: (len(found), sorted(found)))
