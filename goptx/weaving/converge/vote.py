"""vote: a divergent loop goes on while any lane of the warp is in it, the others under a predicate; so does a
warp enter a side of a branch, with a loop on it, if any of its lanes does.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from goptx.analysis.cfg import Block, Code, closure, controls, left_at, loops
from goptx.analysis.sync.spin_loops import waiting_loops
from goptx.analysis.terminators import Branch, Jump
from goptx.ptx.ir import Guard, Name
from goptx.weaving.converge.predicate import blocks_between, edge_predicate, obstacles
from goptx.weaving.converge.predicate_code import copy, inverted, set_true, vote_any
from goptx.weaving.converge.running_lanes import Lanes


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop that lanes of one warp leave at different times, by the branches at the end of `leaving`."""

    header: str
    body: frozenset[str]
    leaving: tuple[str, ...]
    divergent: str  # the first of them that lanes take differently


def divergent_loop(lanes: Lanes, block: str) -> Loop | None:
    """The outermost divergent loop around a block; None if there is none."""
    flow = lanes.flow
    around = [(header, body) for header, body in loops(flow).items() if block in body]
    for header, body in sorted(around, key=lambda loop: -len(loop[1])):
        leaving = left_at(flow, body)
        divergent = next((n for n in leaving if lanes.diverges(n)), None)
        if divergent is not None:
            return Loop(header, body, tuple(leaving), divergent)
    return None


def vote(lanes: Lanes, loop: Loop) -> str:
    """Makes a divergent loop warp-uniform. Returns "" if it did, else why it cannot."""
    obstacle = _obstacle(lanes, loop.header, loop.body, loop.leaving)
    if not obstacle:
        lanes.chose(loop.divergent, "predicate")
        _vote(lanes, loop.header, loop.body, loop.leaving)
    return obstacle


def _obstacle(lanes: Lanes, header: str, body: frozenset[str], leaving: Sequence[str]) -> str:
    flow, above = lanes.flow, lanes.flow.predecessors()
    own = {n: flow.blocks[n] for n in flow.blocks if n in body}
    if lanes.wait_separately or _waits(lanes, body):
        return _WAITS
    if len({t for n in leaving for t in own[n].end.successors() if t not in body}) != 1:
        return "the loop is left to several places"
    if any(not body.issuperset(above[n]) for n in body if n != header):
        return "the loop has multiple entries"
    if any(not isinstance(own[n].end, Branch) for n in leaving):
        return "a switch leaves the loop"
    if any(lanes.masks.get(n) != lanes.masks.get(header) for n in body):
        return "some lanes end within the loop"
    if any(n in inner for inner in loops(flow).values() if inner < body for n in leaving):
        return "a loop within it leaves it"
    divergent = {n for n in own if n not in leaving and lanes.diverges(n)}
    if divergent and any(not divergent.isdisjoint(closure([n], controls(flow))) for n in leaving):
        return "it is left under a condition that differs by lane"
    return next((o for block in own.values() for o in obstacles(lanes, block)), "")


_WAITS = "lanes that others wait for would wait at a vote"


def _waits(lanes: Lanes, blocks: Collection[str]) -> bool:
    return lanes.reads_strongly and any(not body.isdisjoint(blocks) for body, _ in waiting_loops(lanes.flow))


def _vote(lanes: Lanes, header: str, body: frozenset[str], leaving: Sequence[str]) -> None:
    flow = lanes.flow
    outer = lanes.masks.get(header, "")
    inside = lanes.fresh.predicate("in")
    target = next(t for t in flow.blocks[leaving[0]].end.successors() if t not in body)
    needed = lanes.live_in(header)[target]
    before = f"{header}.enter"
    begin: Code = copy(inside, outer) if outer else set_true(inside)
    changed: dict[str, Block] = {}
    for name, block in flow.blocks.items():
        if name not in body:
            continue
        lanes.masks[name] = inside
        lanes.preserve(name, needed)
        changed[name] = block
        if name in leaving:
            assert isinstance(block.end, Branch)
            stay_side = block.end.taken if block.end.taken in body else block.end.fallen
            stays = block.end.guard if block.end.taken == stay_side else inverted(block.end.guard)
            anyone = lanes.fresh.predicate("any")
            code = [*lanes.fresh.conjunction(inside, inside, stays), vote_any(anyone, inside)]
            end = Branch(Guard(Name(anyone)), stay_side, target, True, block.end.line, safe_to_take=True)
            changed[name] = replace(block, code=(*block.code, *code), end=end)
    if outer:
        lanes.masks[before] = outer
    lanes.for_all.add(before)
    lanes.enter_through(header, before, Block((begin,), Jump(header)), changed)
    lanes.voted(leaving)


def vote_sides(lanes: Lanes, block: str) -> str:
    """Sends the warp through each side of the branch of `block` that any of its lanes takes, one after the other.
    Returns "" if it did, else why it cannot. Left to goptx, only for sides with a loop."""
    flow, above = lanes.flow, lanes.flow.predecessors()
    end, join = flow.blocks[block].end, flow.post_dominators()[block]
    if not isinstance(end, Branch):
        return "it is a switch with a side that no predicate can guard"
    if join is None:
        return "its sides never join"
    arms = {side: frozenset(blocks_between(flow, [side], join)) for side in end.successors() if side != join}
    inside = frozenset[str]().union(*arms.values())
    if block in inside or sum(map(len, arms.values())) != len(inside):
        return "its sides are not disjoint"
    if any(set(above[n]) - arm - {block} for arm in arms.values() for n in arm):
        return "it is entered from elsewhere too"
    if any(lanes.masks.get(n) != lanes.masks.get(block) for n in inside):
        return "some lanes end within it"
    if lanes.wait_separately or _waits(lanes, inside):
        return _WAITS
    if lanes.forced is None and not any(body & inside for body in loops(flow).values() if block not in body):
        return "its sides have no loop"
    obstacle = next((o for n in flow.blocks if n in inside for o in obstacles(lanes, flow.blocks[n])), "")
    if not obstacle:
        lanes.chose(block, "predicate")
        _vote_sides(lanes, block, end, arms, join)
    return obstacle


def _vote_sides(lanes: Lanes, block: str, end: Branch, arms: dict[str, frozenset[str]], join: str) -> None:
    live = lanes.live_in(block)
    under = lanes.masks.get(block, "")
    edges = {side: lanes.fresh.predicate("if") for side in arms}
    entries = [f"{block}.side{i}" for i in range(len(arms))]
    after = dict(zip(arms, [*entries[1:], join], strict=True))
    later: frozenset[str] = live[join]
    for side in reversed(arms):
        for name in arms[side]:
            lanes.masks[name] = edges[side]
            lanes.preserve(name, later)
        later |= live[side]
    old = lanes.flow.blocks
    code = [c for side in arms for c in edge_predicate(lanes, edges[side], under, end, side)]
    changed = {block: replace(old[block], code=(*old[block].code, *code), end=Jump(entries[0]))}
    for entry, side in zip(entries, arms, strict=True):
        anyone = lanes.fresh.predicate("any")
        enters = Branch(Guard(Name(anyone)), side, after[side], True, end.line, safe_to_take=True)
        changed[entry] = Block((vote_any(anyone, edges[side]),), enters)
    for side, arm in arms.items():
        changed |= {n: replace(old[n], end=old[n].end.retarget({join: after[side]})) for n in arm}
    lanes.take_in_turn(block, arms, join, changed)
    lanes.voted(entries)
