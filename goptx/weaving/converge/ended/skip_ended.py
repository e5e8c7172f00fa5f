"""skip: warps and CTAs in which no thread runs the kernel any more go past what is left of its loops.

Requires: a flow in which threads that end early live on, as `lanes.running` tells (retire.py). What only computes runs
for them too, so a loop may take them to a count that no thread of the kernel alone has: compilers know from a guard
such as `if (i >= n) return` that n is positive after it. Ensures: a loop outside of regions is run by a warp only if
one of its lanes runs the kernel; or, where the loop or what follows it has a barrier of the whole CTA, if some thread
of the CTA does and all its warps take the loop's branches alike. Copies of a kernel skip code without loops together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace

import networkx as nx

from goptx.analysis.cfg import EXIT, Block, Flow, closure, controls, left_at, loops
from goptx.analysis.sync.barriers import blocks_needing_all_threads, is_barrier, is_counted, needs_all_threads
from goptx.analysis.sync.sync_spans import is_of_warpgroup
from goptx.analysis.terminators import Branch, Jump, Switch
from goptx.analysis.uniformity import Uniformity
from goptx.latency.slots import block_slots
from goptx.ptx.ir import Guard, Immediate, Instruction, Name, whole_number
from goptx.ptx.opcodes import facts_of
from goptx.weaving.converge.predicate import LONG_SIDE, between
from goptx.weaving.converge.predicate_code import any_of_cta, is_ours, vote_any
from goptx.weaving.converge.retire import holds
from goptx.weaving.converge.running_lanes import Lanes

LONG = 50  # issue slots; for less, a vote and a branch would delay the first loads of each warp that runs by more


def skip_ended(lanes: Lanes) -> None:
    """Puts a test before loops and long code that threads which have ended would run."""
    if not lanes.running:
        return
    for first in _worth_asking(lanes):
        below = nx.descendants(lanes.flow.graph(), first) | {first}
        waits, together = (holds(lanes.flow, below, what) for what in (needs_all_threads, is_of_warpgroup))
        if not waits and not together:
            _skip(lanes, first, EXIT, vote_any)
        elif _decided_at_most(lanes, first, Uniformity.CTA) and _leaves_barrier_0(lanes.flow):
            _skip(lanes, first, EXIT, any_of_cta)
        elif not waits:  # all warps of a warpgroup have ended, or none
            _skip(lanes, first, EXIT, vote_any)
    if not lanes.wait_separately:
        _split_after_barriers(lanes)
        for block in _past_barriers(lanes):
            _skip(lanes, block, EXIT, vote_any)
    for header, leave in list(_without_barrier(lanes)):
        before = lanes.flow, dict(lanes.masks)
        alike = _alike_at_barriers(lanes)
        _skip(lanes, header, leave, vote_any)
        if _alike_at_barriers(lanes) != alike:  # the loop computes what decides about a barrier after it
            lanes.flow, lanes.masks = before


def _worth_asking(lanes: Lanes) -> list[str]:
    """Of the blocks where the others go on after lanes have ended those from where, before the next of them, a loop is
    reached or code of more than `LONG` issue slots; `LONG_SIDE` where those that ended took a side of their own."""
    graph, bodies = lanes.flow.graph(), _run_by_ended(lanes)
    reached = {lanes.flow.entry, *nx.descendants(graph, lanes.flow.entry)}
    places = [first for first, end in lanes.after_ends.items() if end in reached]
    found = []
    for first in places:
        until_next = graph.subgraph(set(graph) - (set(places) - {first}))
        below = nx.descendants(until_next, first) | {first}
        if any(body & below for body in bodies):
            found.append(first)
    if lanes.wait_separately:  # votes would hold up lanes that others wait for
        return found
    waiting = _before_barriers(lanes.flow) | _waiting(lanes.flow)  # there the CTA is asked, which takes a barrier
    least = {n: LONG_SIDE if n in lanes.other_sides - waiting else LONG for n in places}
    return found + [n for n in _before_long_code(lanes.flow, least, found) if n not in found]


def _run_by_ended(lanes: Lanes) -> list[frozenset[str]]:
    """The loops that lanes which have ended may run for more than one trip. They leave a loop that lanes leave at
    different times on their first trip, but not loops within it."""
    branches, every = lanes.uniformity().branches, loops(lanes.flow).values()
    return [
        body
        for body in every
        if all(branches[n] <= Uniformity.WARP for n in left_at(lanes.flow, body))
        or any(inner < body for inner in every)
    ]


def _before_long_code(flow: Flow, least: Mapping[str, int], asked: Collection[str]) -> list[str]:
    """Of the places, the last ones first, those from where a path passes more issue slots than `least` has for them
    before one that asks."""
    rank = flow.ranks()
    found: list[str] = []
    slots: dict[str, int] = {}  # of the longest path from each block
    for name in reversed(flow.reverse_postorder()):
        below = [slots[t] for t in flow.graph().succ[name] if rank[t] > rank[name]]
        slots[name] = block_slots(flow.blocks[name]) + max(below, default=0)
        if name in least and (name in asked or slots[name] > least[name]):
            found.append(name)
            slots[name] = 0
    return found


def _split_after_barriers(lanes: Lanes) -> None:
    """Splits blocks after the last barrier of the whole CTA, where long code or a loop follows."""
    flow = lanes.flow
    waiting = _waiting(flow)
    for name in waiting - _before_barriers(flow):
        block = flow.blocks[name]
        last = max(k for k, c in enumerate(block.code) if needs_all_threads(c)) + 1
        rest = f"{name}.last"
        if lanes.masks.get(name) == lanes.running and block.code[last:]:
            blocks = dict[str, Block]()
            for n, old in lanes.flow.blocks.items():
                blocks[n] = Block(old.code[:last], Jump(rest), old.pragmas) if n == name else old
                if n == name:
                    blocks[rest] = Block(old.code[last:], old.end)
            lanes.flow = Flow(flow.entry, blocks)
            lanes.masks[rest] = lanes.running


def _past_barriers(lanes: Lanes) -> list[str]:
    """Where warps that have ended come past the last barrier of the whole CTA, if long code or a loop follows."""
    flow, graph = lanes.flow, lanes.flow.graph()
    coming = _waiting(flow) | _before_barriers(flow)
    first = [n for n in flow.blocks if n not in coming and n != EXIT and coming & set(graph.pred[n])]
    here = [n for n in first if lanes.masks.get(n) == lanes.running and not _asks(flow.blocks[n])]
    looping = set[str]().union(*_run_by_ended(lanes))
    long = _before_long_code(flow, dict.fromkeys(here, LONG), ())
    found = [n for n in here if n in long or looping & (nx.descendants(graph, n) | {n})]
    below = {n: nx.descendants(graph, n) | {n} for n in found}
    return [
        n for n in found if _decided_at_most(lanes, n, Uniformity.WARP) and not holds(flow, below[n], is_of_warpgroup)
    ]


def _waiting(flow: Flow) -> frozenset[str]:
    return frozenset(blocks_needing_all_threads(flow))


def _before_barriers(flow: Flow) -> frozenset[str]:
    """The blocks from which a barrier of the whole CTA is reached in another block, or in the next trip of a loop."""
    graph = flow.graph()
    return frozenset(n for name in _waiting(flow) for p in graph.pred[name] for n in (p, *nx.ancestors(graph, p)))


def _asks(block: Block) -> bool:
    """Whether the block is a test whether any thread runs."""
    return any(is_ours(c) and facts_of(c.opcode).votes for c in block.code if isinstance(c, Instruction))


def _leaves_barrier_0(flow: Flow) -> bool:
    """Whether only barriers of the whole CTA can have the number 0."""
    counted = [i for i in flow.instructions() if is_barrier(i) and is_counted(i)]
    numbers = [i.operands[facts_of(i.opcode).barrier_id] for i in counted]
    return all(isinstance(n, Immediate) and whole_number(n.text) != 0 for n in numbers)


def _decided_at_most(lanes: Lanes, block: str, uniform: Uniformity, body: Collection[str] = ()) -> bool:
    """Whether the threads of a CTA, or of a warp, come together to a block from outside of its loop, if it has one."""
    branches = lanes.uniformity().branches
    return all(branches[n] <= uniform for n in closure([block], controls(lanes.flow)) if n not in body)


def _without_barrier(lanes: Lanes) -> Iterator[tuple[str, str]]:
    """The heads of the outermost loops that threads which have ended run on their way to a barrier of the whole CTA,
    without one in the loop or after it until all paths meet; and the block where they do."""
    flow, graph, bodies = lanes.flow, lanes.flow.graph(), loops(lanes.flow)
    skipped = set[str]()
    for header in sorted(bodies, key=lambda h: -len(bodies[h])):
        body, leave = bodies[header], flow.post_dominators()[header]
        while leave in body:
            leave = flow.post_dominators()[leave]
        if leave is None or header in skipped or lanes.masks.get(header) != lanes.running:
            continue
        passed = between(graph, header, leave)
        if (
            not holds(flow, passed, needs_all_threads)
            and holds(flow, {leave, *nx.descendants(graph, leave)}, needs_all_threads)
            and _decided_at_most(lanes, header, Uniformity.WARP, body)
        ):
            skipped |= passed
            yield header, leave


def _alike_at_barriers(lanes: Lanes) -> frozenset[str]:
    """Of the branches that decide whether barriers of the whole CTA are reached, those that it takes together."""
    barriers = [n for n in lanes.flow.blocks if holds(lanes.flow, [n], needs_all_threads)]
    branches = lanes.uniformity().branches
    return frozenset(n for n in closure(barriers, controls(lanes.flow)) if branches[n] == Uniformity.CTA)


def _skip(lanes: Lanes, block: str, leave: str, test: Callable[[str, str], Instruction]) -> None:
    """Sends threads that come to `block` from outside of its loop on to `leave` if the test finds none that runs."""
    body = loops(lanes.flow).get(block, frozenset())
    alive = f"{block}.alive"
    anyone = lanes.fresh.predicate("any")
    blocks: dict[str, Block] = {}
    for name, old in lanes.flow.blocks.items():
        if name == block:
            line = old.end.line if isinstance(old.end, Branch | Switch) else 0  # that of no instruction with effects
            end = Branch(Guard(Name(anyone)), block, leave, line=line, safe_to_take=True)
            blocks[alive] = Block((test(anyone, lanes.running),), end)
        blocks[name] = old if name in body else replace(old, end=old.end.retarget({block: alive}))
    lanes.masks[alive] = lanes.running
    lanes.skipped = True
    lanes.flow = Flow(alive if lanes.flow.entry == block else lanes.flow.entry, blocks)
