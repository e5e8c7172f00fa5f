"""vote: a divergent loop goes on while any lane of the warp is in it, the others under a predicate (M16)."""

from __future__ import annotations

from dataclasses import replace

from goptx.analysis.cfg import Block, Branch, Code, Flow, Jump, closure, controls, loops
from goptx.analysis.dataflow import live_in
from goptx.analysis.uniformity import Uniformity
from goptx.ptx.flatten import as_written
from goptx.ptx.ir import Guard, Name
from goptx.ptx.opcodes import facts_of
from goptx.weaving.divergence.lanes import Lanes
from goptx.weaving.divergence.predicates import copy, inverted, set_true, vote_any


def vote(lanes: Lanes, block: str) -> str:
    """Makes the outermost divergent loop around `block` warp-uniform. Returns "" if it did, else why it cannot."""
    branches = lanes.uniformity().branches
    bodies = sorted((b for b in loops(lanes.flow).items() if block in b[1]), key=lambda b: -len(b[1]))
    for header, body in bodies:
        leaving = [n for n in lanes.flow.blocks if n in body and _leaves(lanes.flow, n, body)]
        if not any(branches[n] > Uniformity.WARP for n in leaving):
            continue
        obstacle = _obstacle(lanes, header, body, leaving, branches)
        if not obstacle:
            lanes.chose(next(n for n in leaving if branches[n] > Uniformity.WARP), "predicate")
            _vote(lanes, header, body, leaving)
        return obstacle
    return "no divergent loop"


def _leaves(flow: Flow, name: str, body: frozenset[str]) -> bool:
    return any(t not in body for t in flow.blocks[name].end.successors())


def _obstacle(
    lanes: Lanes, header: str, body: frozenset[str], leaving: list[str], branches: dict[str, Uniformity]
) -> str:
    flow, graph = lanes.flow, lanes.flow.graph()
    if len({t for n in leaving for t in graph.succ[n] if t not in body}) != 1:
        return "the loop is left to several places"
    if any(set(graph.pred[n]) - body for n in body if n != header):
        return "the loop has several ways in"
    if any(not isinstance(flow.blocks[n].end, Branch) for n in leaving):
        return "a switch leaves the loop"
    if any(lanes.masks.get(n) != lanes.masks.get(header) for n in body):
        return "some lanes end within the loop"
    if any(n in inner for h, inner in loops(flow).items() if inner < body for n in leaving):
        return "a loop within it leaves it"
    controlled = controls(flow)
    deciders = {c for n in leaving for c in closure([n], controlled) if c in body}
    if any(branches[c] > Uniformity.WARP and c not in leaving for c in deciders):
        return "it is left under a condition that differs by lane"
    together = (i for n in flow.blocks if n in body for i in flow.blocks[n].instructions())
    needed = next((i for i in together if not facts_of(i.opcode).predicable), None)
    if needed is not None:
        return f"`{as_written(needed, lanes.fresh.prefix)}` (line {needed.line}) needs its lanes together"
    return ""


def _vote(lanes: Lanes, header: str, body: frozenset[str], leaving: list[str]) -> None:
    flow = lanes.flow
    outer = lanes.masks.get(header, "")
    inside = lanes.fresh.predicate("in")
    target = next(t for t in flow.blocks[leaving[0]].end.successors() if t not in body)
    needed = live_in(flow)[target]
    before = f"{header}.enter"
    begin: Code = copy(inside, outer) if outer else set_true(inside)
    blocks: dict[str, Block] = {}
    for name, block in flow.blocks.items():
        if name == header:
            blocks[before] = Block((begin,), Jump(header))
        if name not in body:
            blocks[name] = replace(block, end=block.end.retarget({header: before}))
            continue
        lanes.masks[name] = inside
        lanes.keep(name, needed)
        blocks[name] = block
        if name in leaving:
            assert isinstance(block.end, Branch)
            stay_side = block.end.taken if block.end.taken in body else block.end.fallen
            stays = block.end.guard if block.end.taken == stay_side else inverted(block.end.guard)
            anyone = lanes.fresh.predicate("any")
            code = [*lanes.fresh.conjunction(inside, inside, stays), vote_any(anyone, inside)]
            end = Branch(Guard(Name(anyone)), stay_side, target, True, block.end.line)
            blocks[name] = replace(block, code=(*block.code, *code), end=end)
    if outer:
        lanes.masks[before] = outer
    lanes.flow = Flow(before if flow.entry == header else flow.entry, blocks)
