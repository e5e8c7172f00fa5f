"""leave: where one side of a branch only ends the kernel, the lanes that stay are kept in a predicate.

From there on it guards what has effects or may fault; the rest runs for all lanes, so that a thread which ended walks
on to `EXIT` and still arrives at barriers (M14).
"""

from __future__ import annotations

from dataclasses import replace

import networkx as nx

from goptx.analysis.cfg import EXIT, Block, Branch, Flow, Jump, closure, controls, holds_barrier, loops
from goptx.analysis.uniformity import Uniformity
from goptx.weaving.divergence.lanes import Lanes
from goptx.weaving.divergence.predicate import arms_between, linearise
from goptx.weaving.divergence.predicates import inverted, set_false


def leave_early(lanes: Lanes) -> None:
    """Turns each divergent branch that ends the kernel on one side into the predicate `running`: on straight code where
    that side can run under predicates, else where the lanes meet again."""
    while _leave_straight(lanes) or _leave_to_join(lanes):
        pass


def _ending(lanes: Lanes) -> list[tuple[str, Branch]]:
    """The blocks whose branch may end the kernel for some lanes of a warp only; ahead of a barrier, for some warps."""
    branches = lanes.uniformity().branches
    # Warps may end one by one, but not ahead of a barrier: theirs would then be missing.
    agreed = Uniformity.CTA if any(map(holds_barrier, lanes.flow.blocks.values())) else Uniformity.WARP
    found = []
    for name in lanes.flow.reverse_postorder():
        end = lanes.flow.blocks[name].end
        known = lanes.masks.get(name, lanes.running) == lanes.running
        if branches[name] > agreed and isinstance(end, Branch) and known:
            found.append((name, end))
    return found


def _leave_straight(lanes: Lanes) -> bool:
    cyclic = frozenset().union(*loops(lanes.flow).values())
    for name, end in _ending(lanes):
        ends: list[tuple[int, tuple[str, ...], str]] = []
        for side, other in ((end.taken, end.fallen), (end.fallen, end.taken)) if name not in cyclic else ():
            arm = arms_between(lanes, name, [side], EXIT)
            if not arm.obstacle and other not in arm.blocks and other != EXIT:
                ends.append((sum(len(lanes.flow.blocks[n].code) for n in arm.blocks), arm.blocks, other))
        if not ends:
            continue
        _, arm_blocks, stays = min(ends, key=lambda e: e[0])  # the shorter side is the one that ends
        lanes.some_end()
        lanes.chose(name, "predicate")
        goes_on = end.guard if end.taken == stays else inverted(end.guard)
        linearise(lanes, name, arm_blocks, stays)
        code = [*lanes.fresh.conjunction(lanes.running, lanes.running, goes_on), *lanes.running_changed()]
        lanes.append(name, code)  # ahead of the arm, which may change what the branch read
        _run_by_those_that_stay(lanes, arm_blocks[-1] if arm_blocks else name)
        return True
    return False


def _leave_to_join(lanes: Lanes) -> bool:
    """Where lanes end amid a loop, or with code that no predicate can guard: they go to where the others leave the
    loop, or to where those go on, and from there on are told apart by `running`."""
    graph, controlled = lanes.flow.graph(), controls(lanes.flow)
    ending = dict(_ending(lanes))
    for name in ending:
        inside = max((b for b in loops(lanes.flow).values() if name in b), key=len, default=frozenset((name,)))
        ways = [n for n in lanes.flow.blocks if n not in inside and inside & set(graph.pred[n])]
        join = max(ways, key=lambda n: len(nx.descendants(graph, n)), default=EXIT)
        arms = {way: _only_ends(graph, inside, way) for way in ways if way != join}
        sources = {s for way in arms for s in graph.pred[way] if s in inside}
        if join == EXIT or not sources or any(arm is None or join in arm for arm in arms.values()):
            continue
        if sources.isdisjoint(ending) and closure(sources, controlled).isdisjoint(ending):
            continue
        lanes.some_end()
        arm = frozenset().union(*filter(None, arms.values()))
        _redirect(lanes, inside, arm, join)
        return True
    return False


def _only_ends(graph: nx.DiGraph[str], inside: frozenset[str], way: str) -> frozenset[str] | None:
    """The blocks that a way out of `inside` leads to, if none is reached in another way."""
    arm = frozenset() if way == EXIT else frozenset((way, *nx.descendants(graph, way))) - {EXIT}
    elsewhere = any(set(graph.pred[n]) - arm - inside for n in arm)
    return None if elsewhere else arm


def _redirect(lanes: Lanes, inside: frozenset[str], arm: frozenset[str], join: str) -> None:
    """Sends lanes that end, out of `inside` or at the end of `arm`, to the others ahead of `join`."""
    ended, met = f"{join}.ended", f"{join}.met"
    blocks: dict[str, Block] = {}
    for name, block in lanes.flow.blocks.items():
        if name == join:
            blocks[ended] = Block((set_false(lanes.running),), Jump(met))
            blocks[met] = Block(tuple(lanes.running_changed()), Jump(join))
        targets = {EXIT: ended, join: met} if name in inside else {EXIT: ended} if name in arm else {}
        blocks[name] = replace(block, end=block.end.retarget(targets))
    lanes.flow = Flow(lanes.flow.entry, blocks)
    _run_by_those_that_stay(lanes, ended)


def _run_by_those_that_stay(lanes: Lanes, name: str) -> None:
    below = nx.descendants(lanes.flow.graph(), name)
    lanes.masks.update({n: lanes.running for n in below if n not in lanes.masks})
