"""predicate: both sides of a small divergent if/else or switch, one after the other, each under its predicate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import networkx as nx

from goptx.analysis.cfg import Block, Code, Flow
from goptx.analysis.terminators import Branch, End, Jump, Switch
from goptx.latency.cost import ISSUE, block_cycles
from goptx.ptx.flatten import as_written
from goptx.ptx.ir import Scope
from goptx.ptx.opcodes import facts_of
from goptx.weaving.converge.guards import is_of_whole_warps
from goptx.weaving.converge.predicate_code import both, copy, either, equals, invert, inverted
from goptx.weaving.converge.running_lanes import Lanes

MAX_PREDICATED = 96  # instructions of an if/else that still run under predicates: each keeps one alive


@dataclass(frozen=True, slots=True)
class Arms:
    """The blocks between a branch and its join in topological order, or why they cannot run under predicates."""

    blocks: tuple[str, ...]
    obstacle: str = ""


def predicate(lanes: Lanes, block: str) -> str:
    """Makes what the branch of `block` decides straight code. Returns "" if it did, else why it cannot."""
    join = lanes.flow.post_dominators()[block]
    end = lanes.flow.blocks[block].end
    if join is None:
        return "its sides never join"
    arms = arms_between(lanes, block, end.successors(), join)
    if arms.obstacle:
        return arms.obstacle
    if lanes.forced is None and not _is_worth_it(lanes, block, arms, join):
        return "running all sides takes longer than waiting for one"
    lanes.chose(block, "predicate")
    linearise(lanes, block, arms.blocks, join)
    return ""


def _is_worth_it(lanes: Lanes, block: str, arms: Arms, join: str) -> bool:
    """Whether the issue slots of the sides that a lane does not take are fewer than the cycles that the other kernel
    would have to wait."""
    flow = lanes.flow
    cost = {n: block_cycles(flow.blocks[n].code, lanes.cycles) for n in arms.blocks}
    longest: dict[str, tuple[int, int]] = {join: (0, 0)}
    for name in [*reversed(arms.blocks), block]:
        rest = max(longest[t] for t in flow.blocks[name].end.successors())
        own = (cost.get(name, 0), len(flow.blocks[name].code) if name != block else 0)
        longest[name] = (own[0] + rest[0], own[1] + rest[1])
    cycles, instructions = longest[block]
    return ISSUE * (_size(lanes, arms.blocks) - instructions) <= cycles


def _size(lanes: Lanes, blocks: Sequence[str]) -> int:
    return sum(len(lanes.flow.blocks[n].code) for n in blocks)


def arms_between(lanes: Lanes, source: str, sides: Sequence[str], join: str) -> Arms:
    """The blocks that the `sides` of the branch of `source` lead through to `join`."""
    flow, above = lanes.flow, lanes.flow.predecessors()
    blocks = _between(flow, sides, join)
    inside: nx.DiGraph[str] = nx.DiGraph()
    inside.add_nodes_from(blocks)
    inside.add_edges_from((n, t) for n in blocks for t in flow.blocks[n].end.successors() if t in blocks)
    obstacle = ""
    if source in blocks or not nx.is_directed_acyclic_graph(inside):
        obstacle = "a loop is in it"
    elif any(set(above[n]) - blocks - {source} for n in blocks):
        obstacle = "it is entered from elsewhere too"
    elif any(lanes.masks.get(n) != lanes.masks.get(source) for n in blocks):
        obstacle = "some lanes end within it"
    elif _size(lanes, sorted(blocks)) > MAX_PREDICATED:
        obstacle = f"it has more than {MAX_PREDICATED} instructions"
    else:
        rank = {n: i for i, n in enumerate(flow.reverse_postorder())} if len(blocks) > 1 else {}
        order = list(nx.lexicographical_topological_sort(inside, key=rank.__getitem__)) if rank else list(blocks)
        obstacle = next((o for n in order for o in obstacles(lanes, lanes.flow.blocks[n])), "")
        if not obstacle:
            return Arms(tuple(order))
    return Arms((), obstacle)


def obstacles(lanes: Lanes, block: Block) -> Iterator[str]:
    """What of a block cannot run under a predicate."""
    if block.region:
        yield "it holds flow that cannot run under predicates"
    for code in block.code:
        if isinstance(code, Scope):
            yield "it holds a call"
        elif is_of_whole_warps(code) and lanes.wait_separately:
            yield "lanes that others wait for would wait at a vote"
        elif not facts_of(code.opcode).predicable and not is_of_whole_warps(code):
            yield f"`{as_written(code, lanes.fresh.prefix)}` (line {code.line}) needs its lanes together"


def linearise(lanes: Lanes, source: str, order: Sequence[str], join: str) -> None:
    """Lays the blocks of `order` one after the other, after `source`, each under its own predicate."""
    flow, above = lanes.flow, lanes.flow.predecessors()
    live = lanes.live_in(source)
    outer = lanes.masks.get(source, "")
    edges: dict[tuple[str, str], str] = {}
    dominating = {n: _dominating(flow, n, order) for n in [*order, join]}
    changed: dict[str, Block] = {}
    for i, name in enumerate(order):
        elsewhere = [n for n in [*order[i + 1 :], join] if name not in dominating[n]]
        lanes.preserve(name, frozenset().union(*(live[n] for n in elsewhere)))
    for i, name in enumerate([source, *order]):
        block = flow.blocks[name]
        code: list[Code] = []
        if name != source:
            incoming = [edges[p, name] for p in above[name]]
            code, lanes.masks[name] = _disjunction(lanes, incoming)
        under = lanes.masks.get(name, "") if name != source else outer
        after: list[Code] = []
        for target in block.end.successors():
            if target in order:
                edges[name, target] = edge = lanes.fresh.predicate("if")
                after += edge_predicate(lanes, edge, under, block.end, target)
        following = order[i] if i < len(order) else join
        changed[name] = Block((*code, *block.code, *after), Jump(following), block.pragmas)
    lanes.straighten(source, order, join, changed)


def _dominating(flow: Flow, name: str, blocks: Sequence[str]) -> set[str]:
    """Those of the blocks through which every path to the block `name` leads. All paths to them are such, up to the
    first block that is not among them."""
    found: set[str] = set()
    idom = flow.dominators()
    above = idom.get(name)
    while above is not None and above in blocks:
        found.add(above)
        above = idom[above]
    return found


def edge_predicate(lanes: Lanes, edge: str, under: str, end: End, target: str) -> Sequence[Code]:
    """What sets `edge` for the lanes that go from a block, run under `under`, to `target`."""
    match end:
        case Branch():
            guard = end.guard if end.taken == target else inverted(end.guard)
            if under:
                return lanes.fresh.conjunction(edge, under, guard)
            return [invert(edge, guard.predicate.text) if guard.negated else copy(edge, guard.predicate.text)]
        case Switch(index, targets):
            cases = [i for i, t in enumerate(targets) if t == target]
            code: list[Code] = [equals(edge, index, cases[0])]
            for case in cases[1:]:
                also = lanes.fresh.named("case")
                code += [equals(also, index, case), either(edge, edge, also)]
            return [*code, both(edge, under, edge)] if under else code
    return [copy(edge, under)]


def _disjunction(lanes: Lanes, terms: list[str]) -> tuple[list[Code], str]:
    if len(terms) == 1:
        return [], terms[0]
    result = lanes.fresh.predicate("if")
    code: list[Code] = [either(result, terms[0], terms[1])]
    code += [either(result, result, term) for term in terms[2:]]
    return code, result


def _between(flow: Flow, sides: Sequence[str], join: str) -> set[str]:
    """The blocks that the sides lead through without passing `join`, which is not among them."""
    found: set[str] = set()
    stack = [side for side in sides if side != join]
    while stack:
        name = stack.pop()
        if name not in found:
            found.add(name)
            stack += [t for t in flow.blocks[name].end.successors() if t != join]
    return found


def between(graph: nx.DiGraph[str], start: str, join: str) -> set[str]:
    """The blocks reachable from `start` without passing `join`, which is not among them."""
    if start == join:
        return set()
    return {start} | set(nx.descendants(graph.subgraph(set(graph) - {join}), start))
