"""predicate: both sides of a small divergent if/else or switch, one after the other, each under its predicate. A warp
of which no lane takes a long side goes past it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import networkx as nx

from goptx.analysis.cfg import Block, Code, Flow
from goptx.analysis.sync.barriers import needs_all_threads
from goptx.analysis.terminators import Branch, End, Jump, Switch
from goptx.latency.cost import ISSUE, block_cycles
from goptx.latency.slots import block_slots
from goptx.ptx.flatten import as_written
from goptx.ptx.ir import Guard, Name, Scope
from goptx.ptx.opcodes import facts_of
from goptx.weaving.converge.guards import is_of_whole_warps
from goptx.weaving.converge.predicate_code import both, copy, either, equals, invert, inverted, set_false, vote_any
from goptx.weaving.converge.running_lanes import Lanes

LONG_SIDE = 30  # issue slots that no lane of a warp may need: of more, a warp skips what it can
SHORT_SIDE = 10  # issue slots that are not worth a vote, a branch and predicates that have to be false after it
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
    if lanes.forced is None and not _is_worth_it(lanes, block, arms.blocks, join):
        return "running all sides takes longer than waiting for one"
    lanes.chose(block, "predicate")
    linearise(lanes, block, arms.blocks, join)
    return ""


def _is_worth_it(lanes: Lanes, block: str, order: Sequence[str], join: str) -> bool:
    """Whether the issue slots of the sides that a lane does not take are fewer than the cycles that the other kernel
    would have to wait, and few where the warp cannot vote."""
    flow = lanes.flow
    spans = _long_spans(lanes, block, order)
    if not spans and _unneeded(flow, block, order) > LONG_SIDE:
        return False
    skipped = {n for first, last in spans.items() for n in order[order.index(first) : last]}
    cost = {n: block_cycles(flow.blocks[n].code, lanes.cycles) for n in order}
    size = {n: len(flow.blocks[n].code) for n in order if n not in skipped}
    longest: dict[str, tuple[int, int]] = {join: (0, 0)}
    for name in [*reversed(order), block]:
        rest = max(longest[t] for t in flow.blocks[name].end.successors())
        longest[name] = (cost.get(name, 0) + rest[0], size.get(name, 0) + rest[1])
    cycles, instructions = longest[block]
    return ISSUE * (sum(size.values()) - instructions) <= cycles


def _size(lanes: Lanes, blocks: Sequence[str]) -> int:
    return sum(len(lanes.flow.blocks[n].code) for n in blocks)


def arms_between(lanes: Lanes, source: str, sides: Sequence[str], join: str) -> Arms:
    """The blocks that the `sides` of the branch of `source` lead through to `join`."""
    flow, above = lanes.flow, lanes.flow.predecessors()
    blocks = blocks_between(flow, sides, join)
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
        order = list(blocks)
        if len(order) > 1:
            order = list(nx.lexicographical_topological_sort(inside, key=flow.ranks().__getitem__))
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
    """Lays the blocks of `order` one after the other, after `source`, each under its own predicate. Where a vote finds
    no lane of the warp for what is long, the warp skips it."""
    flow = lanes.flow
    if not order:
        block = flow.blocks[source]
        lanes.straighten(source, order, join, {source: Block(block.code, Jump(join), block.pragmas)})
        return
    above, live = flow.predecessors(), lanes.live_in(source)
    outer = lanes.masks.get(source, "")
    edges: dict[tuple[str, str], str] = {}
    dominating = {n: _dominating(flow, n, order) for n in [*order, join]}
    changed: dict[str, Block] = {}
    long = _long_spans(lanes, source, order)
    begin = {name: f"{name}.vote" if name in long else name for name in order}
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
        if name in long:
            inside, below = order[i - 1 : long[name]], order[long[name] :]
            leaving = [(n, t) for n in inside for t in flow.blocks[n].end.successors() if t in below]
            edges |= {edge: lanes.fresh.predicate("if") for edge in leaving if edge not in edges}
            past = begin[order[long[name]]] if long[name] < len(order) else join
            anyone = lanes.fresh.predicate("any")
            code += [*(set_false(edges[edge]) for edge in leaving), vote_any(anyone, under)]
            end = Branch(Guard(Name(anyone)), name, past, True, lanes.line(source), safe_to_take=True)
            changed[begin[name]] = Block(tuple(code), end)
            lanes.masks |= {begin[name]: outer} if outer else {}
            code = []
        after: list[Code] = []
        for target in block.end.successors():
            if target in order:
                edge = edges.get((name, target)) or lanes.fresh.predicate("if")
                edges[name, target] = edge
                after += edge_predicate(lanes, edge, under, block.end, target)
        following = begin[order[i]] if i < len(order) else join
        changed[name] = Block((*code, *block.code, *after), Jump(following), block.pragmas)
    if long:
        lanes.flow = Flow(flow.entry, {**flow.blocks, **changed})
    else:
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


def _long_spans(lanes: Lanes, source: str, order: Sequence[str]) -> dict[str, int]:
    """Where warps vote if to run all the blocks would take many issue slots that no lane of them may need: the first
    blocks of spans, each with the position after its last one. No path leads into a span but to its first block, and
    not all paths do. There are no votes before a barrier of the whole CTA: after branches that warps take differently
    all barriers of one kernel come before those of the other."""
    flow = lanes.flow
    if lanes.wait_separately or _unneeded(flow, source, order) <= LONG_SIDE or barrier_follows(flow, source):
        return {}
    found: dict[str, int] = {}
    for i, name in enumerate(order):
        end = next((k for k in range(i, len(order)) if not flow.dominates(name, order[k])), len(order))
        around = [first for first, last in found.items() if i < last]
        always = any(_always_reached(flow, first, name) for first in around)
        if not always and sum(block_slots(flow.blocks[n]) for n in order[i:end]) > SHORT_SIDE:
            found[name] = end
    return found


def _always_reached(flow: Flow, first: str, name: str) -> bool:
    """Whether all paths from the block `first` lead through the other."""
    here: str | None = first
    while here is not None and here != name:
        here = flow.post_dominators()[here]
    return here == name


def _unneeded(flow: Flow, source: str, order: Sequence[str]) -> int:
    """The most issue slots between a branch and its join that a warp runs beyond those that its lanes need, if it runs
    all the blocks between."""
    slots = {name: block_slots(flow.blocks[name]) for name in order}
    least: dict[str, int] = {}
    for name in [*reversed(order), source]:
        least[name] = slots.get(name, 0) + min(least.get(t, 0) for t in flow.blocks[name].end.successors())
    return sum(slots.values()) - least[source]


def barrier_follows(flow: Flow, block: str) -> bool:
    """Whether a path from the block leads to a barrier of the whole CTA."""
    below = nx.descendants(flow.graph(), block)
    return any(needs_all_threads(i) for n in below for i in flow.blocks[n].instructions())


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


def blocks_between(flow: Flow, sides: Sequence[str], join: str) -> set[str]:
    """The blocks that the sides lead through without passing `join`, which is not among them."""
    found: set[str] = set()
    stack = [side for side in sides if side != join]
    while stack:
        name = stack.pop()
        if name not in found:
            found.add(name)
            stack += [t for t in flow.blocks[name].end.successors() if t != join]
    return found


def is_long(flow: Flow, side: str) -> bool:
    """Whether there is more between a side of a branch and `EXIT` than may run under predicates."""
    seen, waiting, size = {side}, [side], 0
    while waiting and size <= MAX_PREDICATED:
        block = flow.blocks[waiting.pop()]
        size += len(block.code)
        new = {t for t in block.end.successors() if t not in seen}
        seen |= new
        waiting += new
    return size > MAX_PREDICATED


def between(graph: nx.DiGraph[str], start: str, join: str) -> set[str]:
    """The blocks reachable from `start` without passing `join`, which is not among them."""
    if start == join:
        return set()
    return {start} | set(nx.descendants(graph.subgraph(set(graph) - {join}), start))
