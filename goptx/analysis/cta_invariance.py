"""Finds where threads with the same number in different CTAs behave the same, so that copies of a kernel, each for
another CTA, can run in lockstep.

Requires: the converged flows of the copies, with the same edges between blocks. Ensures: as long as no copy has ended,
all copies come to the blocks found here in the same order, and at the branches found here each thread takes the same
target in all copies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import networkx as nx

from goptx.analysis.cfg import EXIT, Code, Flow, controls
from goptx.analysis.dataflow import depends_on, register_of, sets
from goptx.analysis.terminators import Branch
from goptx.analysis.uniformity import is_constant_load
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of

# Launch values that a thread reads and that are the same in every CTA.
_EQUAL = ("%tid", "%ntid", "%nctaid", "%laneid", "%lanemask", "%warpid", "%nwarpid", "%gridid")
_DIFFERS = "differs"  # not the name of any register

Quote = Callable[[object], str]


@dataclass(frozen=True, slots=True)
class CtaInvariance:
    """The blocks that all CTAs execute alike, and those of them whose branch all CTAs decide alike."""

    blocks: frozenset[str]
    branches: frozenset[str]


def cta_invariance(flows: Sequence[Flow], quotes: Sequence[Quote]) -> CtaInvariance:
    """The invariant blocks and branches, by their names in the first of the flows. Each of `quotes` renders the
    registers and instructions of one flow under names that are common to all flows."""
    flow, quote = flows[0], quotes[0]
    graph: nx.DiGraph[str | tuple[str, str]] = nx.DiGraph()  # from what decides a value to what it decides
    graph.add_node(_DIFFERS)
    known = frozenset[str]().union(*(sets(i) for b in flow.blocks.values() for i in b.instructions()))
    for name, deciders in controls(flow).items():
        for decider in deciders:
            graph.add_edge(("runs", decider), ("runs", name))
            if EXIT not in flow.blocks[decider].end.successors():  # else a thread that is not there has ended
                graph.add_edge(("branch", decider), ("runs", name))
    for name, block in flow.blocks.items():
        for code in block.code:
            sources = [r for r in depends_on(code) if r in known or not _is_parameter(code)]
            for register in sets(code):
                graph.add_edge(("runs", name), register)
                graph.add_edges_from((source, register) for source in sources)
                if _differs(code):
                    graph.add_edge(_DIFFERS, register)
        for instruction in block.instructions() if block.region else ():
            graph.add_edges_from((_DIFFERS, register) for register in sets(instruction))
        graph.add_edges_from((register_of(r), ("branch", name)) for r in block.end.reads())
    others = [n for n in graph if isinstance(n, str) and n not in known and not n.startswith(_EQUAL)]
    graph.add_edges_from((_DIFFERS, name) for name in others if name != _DIFFERS)
    differently = frozenset(_written_differently(flows, quotes))
    graph.add_edges_from((_DIFFERS, name) for name in known if quote(name) in differently)
    differing = nx.descendants(graph, _DIFFERS)
    blocks = frozenset(n for n in flow.blocks if ("runs", n) not in differing)
    decided = (n for n in blocks if isinstance(flow.blocks[n].end, Branch) and ("branch", n) not in differing)
    return CtaInvariance(blocks, frozenset(decided))


def _written_differently(flows: Sequence[Flow], quotes: Sequence[Quote]) -> Iterator[str]:
    """The registers that not all copies write with the same instructions in the same blocks."""
    for blocks in zip(*(flow.blocks.values() for flow in flows), strict=True):
        texts = [Counter(map(quote, block.code)) for block, quote in zip(blocks, quotes, strict=True)]
        for block, quote in zip(blocks, quotes, strict=True):
            for code in block.code:
                if len({found[quote(code)] for found in texts}) > 1:
                    yield from map(quote, sets(code))


def _is_parameter(code: Code) -> bool:
    return isinstance(code, Instruction) and facts_of(code.opcode).space == "param"


def _differs(code: Code) -> bool:
    """Whether it may give different values for the same inputs."""
    if not isinstance(code, Instruction):
        return True
    facts = facts_of(code.opcode)
    if not facts.known or facts.is_atomic or facts.calls or facts.depends_on_active_lanes:
        return True
    return bool(facts.row.access) and not is_constant_load(code, facts)
