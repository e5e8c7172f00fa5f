"""leave: where one side of a branch only ends the kernel, the lanes that stay are held in a predicate.

From there on it guards what has effects or may fault; the rest runs for all lanes, so that a thread which ended walks
on to `EXIT` and still arrives at barriers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from heapq import heappop, heappush

import networkx as nx

from goptx.analysis.cfg import EXIT, Block, Code, Flow, closure, controls, loops
from goptx.analysis.dataflow import written
from goptx.analysis.sync.barriers import blocks_needing_all_threads, needs_all_threads
from goptx.analysis.sync.sync_spans import is_warp_wide
from goptx.analysis.terminators import Branch, Jump
from goptx.analysis.uniformity import ALL_LANES, Uniformity
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of
from goptx.weaving.converge.lane_masks import name_own_lanes, needs_lanes
from goptx.weaving.converge.predicate import arms_between, between, is_long, linearise
from goptx.weaving.converge.predicate_code import both, inverted, is_ours, set_false
from goptx.weaving.converge.running_lanes import Lanes


def leave_early(lanes: Lanes) -> None:
    """Turns each divergent branch that ends the kernel on one side into the predicate `running`: on straight code where
    that side can run under predicates, else where the lanes reconverge."""
    while _leave_one(lanes):
        pass


def _leave_one(lanes: Lanes) -> bool:
    """Whether it turned a branch into that predicate. Several are turned at once where each has `EXIT` itself as one
    side: the other paths stay as they were, and so do the analyses of them."""
    branches, graph = lanes.uniformity().branches, lanes.flow.graph()
    # Warps may end one by one, but not before a barrier of the whole CTA: their arrivals would be missing.
    needed = blocks_needing_all_threads(lanes.flow)
    above = [p for n in needed for p in graph.pred[n]]
    while above:
        n = above.pop()
        if n not in needed:
            needed.add(n)
            above += graph.pred[n]
    agreed = {n: Uniformity.WARP if needed.isdisjoint(graph.succ[n]) else Uniformity.CTA for n in branches}
    diverging = frozenset(n for n, uniform in branches.items() if uniform > agreed[n])
    if not diverging:
        return False
    ends = _ends(lanes.flow)
    staying = _Staying(lanes.flow, ends)
    left = undone = False  # whether there was such a branch, and one that could not be turned before
    for name in lanes.flow.reverse_postorder():
        if name in diverging and name in ends and lanes.masks.get(name, lanes.running) == lanes.running:
            if left and not lanes.diverges(name):
                return True
            inside, join = _reconvergence(staying, name, diverging)
            if len(inside) == 1 and _leave_straight(lanes, name):
                left = ends[name] == EXIT and lanes.flow.blocks[name].end.successors() == (staying.after(name),)
                if undone or not left:
                    return True
                continue
            if left:
                return True
            undone = True
            if join != EXIT:
                lanes.some_end()
                arms = frozenset[str]().union(*(_arm(lanes.flow, n, ends[n]) or () for n in inside if n in ends))
                name_own_lanes(lanes, ends[name], arms, name if len(inside) == 1 else None)
                _redirect(lanes, name, inside, arms, join)
                return True
    return left


def _ends(flow: Flow) -> dict[str, str]:
    """Of the blocks whose branch has a side that only ends the kernel, that side: where both do the one without warp
    instructions, or else the shorter one. The exit of a loop that goes on is not such a side, nor is a side from where
    threads come to a block that they pass on the other side too."""
    bodies, joins = loops(flow), flow.post_dominators()
    after: dict[str, str] = {}
    graph = flow.graph()
    layout = {n: i for i, n in enumerate(flow.blocks)}
    for body in bodies.values():
        ways = sorted({t for n in body for t in graph.succ[n]} - body, key=layout.__getitem__)
        on = max(ways, key=lambda n: len(nx.descendants(graph, n))) if len(ways) > 1 else ways[0] if ways else EXIT
        after |= dict.fromkeys((n for n in body if on in graph.succ[n]), on)
    candidates = [
        ((holds(flow, arm, needs_lanes), _instructions(flow, arm), i), name, side, arm)
        for i, (name, block) in enumerate(flow.blocks.items())
        for side in (block.end.successors() if isinstance(block.end, Branch) and joins[name] == EXIT else ())
        if side != after.get(name) and (arm := _arm(flow, name, side)) is not None
    ]
    found: dict[str, str] = {}
    removed, cut = set[str](), set[str]()  # blocks, and blocks of which the edge to `EXIT` is removed
    for _, name, side, arm in sorted(candidates, key=lambda candidate: candidate[0]):
        also_cut = cut | {name} if side == EXIT else cut
        sources = {name}.union(*(graph.pred[n] for n in arm)) - arm
        others = {n: set(graph.succ[n]) - {side} for n in sources}
        if name not in found and _all_reach_exit(flow, others, removed | arm, also_cut):
            found[name] = side
            removed |= arm
            cut = also_cut
    return found


def _all_reach_exit(
    flow: Flow, successors: Mapping[str, Collection[str]], removed: Collection[str], cut: Collection[str]
) -> bool:
    """Whether each block of `successors` reaches `EXIT` through one of these successors: without the blocks in
    `removed`, and without the edges to `EXIT` of the blocks in `cut`."""
    graph = flow.graph()
    known: dict[str, bool] = {}  # whether a block reaches `EXIT`

    def reaches_exit(start: str) -> bool:
        seen, waiting = {start}, [start]
        while waiting:
            name = waiting.pop()
            if name in removed:
                continue
            if known.get(name) or (EXIT in graph.succ[name] and name not in cut):
                known[start] = True
                return True
            new = [t for t in graph.succ[name] if t != EXIT and t not in seen and known.get(t, True)]
            seen.update(new)
            waiting += new
        known.update(dict.fromkeys(seen, False))
        return False

    order = flow.ranks()
    below_first = sorted(successors, key=lambda n: -order.get(n, 0))
    return all(any(reaches_exit(t) for t in sorted(successors[n]) if t != EXIT) for n in below_first)


def _arm(flow: Flow, name: str, side: str) -> frozenset[str] | None:
    """The blocks that a side of the branch of `name` leads to, if it only ends the kernel: they are reached by branches
    alone whose other side goes on, and hold no barrier of the CTA and no warp instruction of all lanes."""
    graph = flow.graph()
    arm = _reached(flow, name, side)
    if arm is None:
        return None
    sources = {name}.union(*(graph.pred[n] for n in arm)) - arm
    if any(EXIT in others or others & arm or not others for others in (set(graph.succ[n]) - {side} for n in sources)):
        return None
    return None if holds(flow, arm, _needs_all) else arm


def _reached(flow: Flow, name: str, side: str) -> frozenset[str] | None:
    """The blocks that a side of the branch of `name` leads to, without `EXIT`; None if the other side or the branch
    itself is among them, or a block that only leads to them is not, or if threads stay in an endless loop there.

    Goes through them in reverse postorder. So what of the blocks above one is not among those seen before leads to it
    from elsewhere, and mostly the first block where paths join decides.
    """
    rank, graph = flow.ranks(), flow.graph()
    others = set(graph.succ[name]) - {side}
    if EXIT in others:
        return None
    seen = set[str]() if side == EXIT else {side}
    waiting = [rank[n] for n in seen]
    order = flow.reverse_postorder()
    while waiting:
        at = heappop(waiting)
        block = order[at]
        if block == name or block in others:
            return None
        elsewhere = (p for p in graph.pred[block] if p not in seen and p != name and rank.get(p, at) < at)
        if any(not on or on & seen for on in (set(graph.succ[p]) - {side} for p in elsewhere)):
            return None
        for target in graph.succ[block]:
            if target != EXIT and target not in seen:
                seen.add(target)
                heappush(waiting, rank[target])
    return frozenset(seen) if seen <= flow.ending else None


def holds(flow: Flow, blocks: Iterable[str], what: Callable[[Instruction], bool]) -> bool:
    """Whether one of these blocks has such an instruction."""
    return any(what(i) for n in blocks for i in flow.blocks[n].instructions())


def _needs_all(instruction: Instruction) -> bool:
    """Whether it is a barrier of the whole CTA, or a warp instruction of all lanes that have not ended."""
    if needs_all_threads(instruction):
        return True
    if not is_warp_wide(instruction) or facts_of(instruction.opcode).reads_active_mask:
        return False
    return facts_of(instruction.opcode).row.mask is None or str(instruction.operands[-1]) in ALL_LANES


def _instructions(flow: Flow, blocks: Iterable[str]) -> int:
    return sum(len(flow.blocks[n].code) for n in blocks)


class _Staying:
    """The flow, and the same without the sides that only end the kernel."""

    def __init__(self, flow: Flow, ends: Mapping[str, str]) -> None:
        self.flow, self.ends = flow, ends

    @cached_property
    def staying(self) -> Flow:
        def of(name: str, block: Block) -> Block:
            return replace(block, end=block.end.retarget({self.ends[name]: self.after(name)}))

        return Flow(self.flow.entry, {n: of(n, b) if n in self.ends else b for n, b in self.flow.blocks.items()})

    def after(self, name: str) -> str:
        """Where the lanes go from the block that do not end."""
        return _other(self.flow.blocks[name], self.ends[name])


def _reconvergence(around: _Staying, name: str, diverging: frozenset[str]) -> tuple[frozenset[str], str]:
    """The blocks around `name` in which lanes may diverge, and the one after them where those that did not end
    reconverge; `EXIT` if there is no such block."""
    flow, ends, staying = around.flow, around.ends, around.staying
    graph, joins, controlled = staying.graph(), staying.post_dominators(), controls(staying)
    pred = flow.graph().pred
    inside = {name}
    while True:
        wider = inside.union(*(body for body in loops(flow).values() if body & inside))
        for n in inside & ends.keys():
            arm = _arm(flow, n, ends[n]) or frozenset()
            wider |= {source for a in arm for source in pred[a]} - arm
        for decider in closure(inside, controlled) & diverging:
            wider |= {decider}.union(*(between(graph, s, joins[decider] or EXIT) for s in graph.succ[decider]))
        if wider <= inside:
            break
        inside |= wider
    joined = {t for n in inside for t in graph.succ[n]} - inside
    return frozenset(inside), joined.pop() if len(joined) == 1 else EXIT


def _other(block: Block, side: str) -> str:
    return next(s for s in block.end.successors() if s != side)


def _leave_straight(lanes: Lanes, name: str) -> bool:
    """Where all running lanes pass the branch: the side that ends runs under predicates, the rest after it."""
    end = lanes.flow.blocks[name].end
    assert isinstance(end, Branch)
    ends: list[tuple[int, tuple[str, ...], str]] = []
    for side, other in ((end.taken, end.fallen), (end.fallen, end.taken)):
        if is_long(lanes.flow, side):
            continue
        arm = arms_between(lanes, name, [side], EXIT)
        if not arm.obstacle and other not in arm.blocks and other != EXIT:
            ends.append((sum(len(lanes.flow.blocks[n].code) for n in arm.blocks), arm.blocks, other))
    if not ends:
        return False
    _, arm_blocks, stays = min(ends, key=lambda e: e[0])  # the shorter side is the one that ends
    lanes.some_end()
    lanes.chose(name, "predicate")
    goes_on = end.guard if end.taken == stays else inverted(end.guard)
    linearise(lanes, name, arm_blocks, stays)
    code = [*lanes.fresh.conjunction(lanes.running, lanes.running, goes_on), *lanes.running_changed()]
    lanes.append(name, code)  # before the arm, which may change what the branch read
    _run_by_those_that_stay(lanes, arm_blocks[-1] if arm_blocks else name)
    lanes.after_ends[stays] = name
    if any(lanes.flow.blocks[n].code for n in arm_blocks):
        lanes.other_sides.add(stays)
    return True


def _redirect(lanes: Lanes, name: str, inside: frozenset[str], arms: frozenset[str], join: str) -> None:
    """Sends lanes that end, out of `inside` or at the end of its `arms`, to the others before `join`."""
    ended, met = f"{join}.ended", f"{join}.met"
    blocks: dict[str, Block] = {}
    for n, block in lanes.flow.blocks.items():
        if n == join:
            blocks[ended] = Block((set_false(lanes.running),), Jump(met))
            blocks[met] = Block(tuple(lanes.running_changed()), Jump(join))
        targets = {EXIT: ended, join: met} if n in inside else {EXIT: ended} if n in arms else {}
        blocks[n] = replace(block, end=block.end.retarget(targets))
    lanes.flow = Flow(lanes.flow.entry, blocks)
    if name in lanes.masks:
        lanes.masks[ended] = lanes.masks[name]
    _run_by_those_that_stay(lanes, ended)
    lanes.after_ends[met] = ended


def _run_by_those_that_stay(lanes: Lanes, name: str) -> None:
    blocks = lanes.flow.blocks
    below, waiting = set[str](), [*blocks[name].end.successors()]
    while waiting:
        n = waiting.pop()
        if n not in below:
            below.add(n)
            waiting += blocks[n].end.successors()
    changed = {n: b for n, b in blocks.items() if n in below and n not in lanes.masks}
    if changed:
        lanes.masks |= dict.fromkeys(changed, lanes.running)
        made = {n: replace(b, code=tuple(_sides_of_running(lanes, b.code))) for n, b in changed.items()}
        lanes.flow = Flow(lanes.flow.entry, {**blocks, **made})


def _sides_of_running(lanes: Lanes, code: Iterable[Code]) -> Iterator[Code]:
    """The code of a block that all lanes ran until now: those that have ended before go to neither side of a branch at
    its end that has been converted already."""
    for item in code:
        yield item
        if isinstance(item, Instruction) and is_ours(item):
            yield from (both(side, side, lanes.running) for side in written(item) if lanes.fresh.is_side(side))
