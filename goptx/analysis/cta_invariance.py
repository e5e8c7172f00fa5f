"""What a thread of one CTA does as the thread with its number in other CTAs does, so that copies of a kernel, each of
another CTA, can run in step.

Requires: the converged flows of the copies, whose blocks lead to each other alike. Ensures: as long as none of them has
ended, all come to the blocks found here in one and the same order, and at the branches found here each thread goes the
same way in all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import networkx as nx

from goptx.analysis.cfg import EXIT, Code, Flow, controls
from goptx.analysis.dataflow import read, register_of, written
from goptx.analysis.terminators import Branch
from goptx.analysis.uniformity import is_constant_load
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of

# What a thread reads of the launch that is the same in every CTA.
_EQUAL = ("%tid", "%ntid", "%nctaid", "%laneid", "%lanemask", "%warpid", "%nwarpid", "%gridid")
_DIFFERS = "differs"  # no register is called so

Quote = Callable[[object], str]


@dataclass(frozen=True, slots=True)
class Alike:
    """The blocks that all CTAs come to alike, and those of them whose branch they decide alike."""

    blocks: frozenset[str]
    branches: frozenset[str]


def alike(flows: Sequence[Flow], quotes: Sequence[Quote]) -> Alike:
    """Both by the names that they have in the first of the flows; `quotes` give registers, and instructions, of each by
    the names that they have in all of them."""
    flow, quote = flows[0], quotes[0]
    graph: nx.DiGraph[str | tuple[str, str]] = nx.DiGraph()  # from what decides a value to what it decides
    graph.add_node(_DIFFERS)
    known = frozenset[str]().union(*(written(i) for b in flow.blocks.values() for i in b.instructions()))
    for name, deciders in controls(flow).items():
        for decider in deciders:
            graph.add_edge(("runs", decider), ("runs", name))
            if EXIT not in flow.blocks[decider].end.successors():  # else whoever is not there has ended
                graph.add_edge(("branch", decider), ("runs", name))
    for name, block in flow.blocks.items():
        for code in block.code:
            sources = [r for r in read(code) if r in known or not _is_parameter(code)]
            for register in written(code):
                graph.add_edge(("runs", name), register)
                graph.add_edges_from((source, register) for source in sources)
                if _differs(code):
                    graph.add_edge(_DIFFERS, register)
        for instruction in block.instructions() if block.region else ():
            graph.add_edges_from((_DIFFERS, register) for register in written(instruction))
        graph.add_edges_from((register_of(r), ("branch", name)) for r in block.end.reads())
    others = [n for n in graph if isinstance(n, str) and n not in known and not n.startswith(_EQUAL)]
    graph.add_edges_from((_DIFFERS, name) for name in others if name != _DIFFERS)
    otherwise = frozenset(_written_otherwise(flows, quotes))
    graph.add_edges_from((_DIFFERS, name) for name in known if quote(name) in otherwise)
    differing = nx.descendants(graph, _DIFFERS)
    blocks = frozenset(n for n in flow.blocks if ("runs", n) not in differing)
    decided = (n for n in blocks if isinstance(flow.blocks[n].end, Branch) and ("branch", n) not in differing)
    return Alike(blocks, frozenset(decided))


def _written_otherwise(flows: Sequence[Flow], quotes: Sequence[Quote]) -> Iterator[str]:
    """Registers that not all copies write by the same instructions in the same blocks."""
    for blocks in zip(*(flow.blocks.values() for flow in flows), strict=True):
        texts = [Counter(map(quote, block.code)) for block, quote in zip(blocks, quotes, strict=True)]
        for block, quote in zip(blocks, quotes, strict=True):
            for code in block.code:
                if len({found[quote(code)] for found in texts}) > 1:
                    yield from map(quote, written(code))


def _is_parameter(code: Code) -> bool:
    return isinstance(code, Instruction) and facts_of(code.opcode).space == "param"


def _differs(code: Code) -> bool:
    """Whether it may give other values where it reads the same."""
    if not isinstance(code, Instruction):
        return True
    facts = facts_of(code.opcode)
    if not facts.known or facts.is_atomic or facts.calls or facts.depends_on_active_lanes:
        return True
    return bool(facts.row.access) and not is_constant_load(code, facts)
