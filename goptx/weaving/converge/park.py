"""park: the smallest closed piece of flow around a divergent branch becomes one block, a region.

The other kernel waits while a region runs; or, where every lane takes one of the region's `sides` once, its code may
stand on each of them (duplicate). Which of the two the merger decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import networkx as nx

from goptx.analysis.cfg import EXIT, Block, Code, Region
from goptx.analysis.dataflow import written
from goptx.analysis.sync.barrier_uniformity import barriers_in, barriers_on_every_path
from goptx.analysis.sync.barriers import is_barrier, is_cluster_barrier, is_cta_barrier, is_reduction
from goptx.analysis.sync.sync_spans import is_warp_wide
from goptx.analysis.terminators import Branch, Jump
from goptx.analysis.uniformity import Uniformity
from goptx.errors import CannotWeave
from goptx.ptx.flatten import as_written
from goptx.ptx.ir import Guard, Instruction, Name
from goptx.ptx.opcodes import facts_of
from goptx.weaving.converge.predicate import blocks_between
from goptx.weaving.converge.predicate_code import is_ours
from goptx.weaving.converge.running_lanes import Lanes
from goptx.weaving.merging.barrier_ids import unaligned
from goptx.weaving.model import Divergence


def park_barriers(lanes: Lanes, block: str) -> bool:
    """Parks the region around `block`, whose branch lets threads of a CTA reach different copies of its barriers, if
    every path through it has the same ones in the same order. Returns whether that is so."""
    head, leave, _ = _closed_region(lanes, block)
    if barriers_on_every_path(lanes.flow, head, leave) is None:
        return False
    park(lanes, block)
    return True


def park(lanes: Lanes, block: str) -> None:
    """Makes the smallest closed region around `block` one block of the flow. Raises `CannotWeave` where lanes that
    the region needs together would be separated."""
    flow = lanes.flow
    line = lanes.line(block)
    head, leave, blocks = _closed_region(lanes, block)
    first = flow.blocks[head]
    lanes.regions += 1
    name, start = f"{head}.region{lanes.regions}", f"{head}.in{lanes.regions}"
    entered_again = not blocks.isdisjoint(flow.predecessors()[head])
    # Straight code before the region need not be parked with it.
    before = Block((), Jump(name)) if entered_again else Block(first.code, Jump(name), first.pragmas)
    inner = _flat(start, first if entered_again else replace(first, code=(), pragmas=()))
    for n in flow.blocks:
        if n in blocks and n != head:
            inner |= _flat(n, flow.blocks[n])
    inner = {n: replace(b, end=b.end.retarget({head: start})) for n, b in inner.items()}
    _refuse_missing_lanes(lanes, Region(start, inner, leave), head)
    mask = lanes.masks.get(head, "")
    arrivals = _arrivals(lanes, Region(start, inner, leave), mask)
    inner = {n: replace(b, code=tuple(lanes.guards().without_ended(b.code))) for n, b in inner.items()}
    region = Region(start, {n: b.with_code(_with_copies) for n, b in inner.items()}, leave)
    if mask:
        region = replace(region, blocks=_left_by_ended(lanes, region))
    if lanes.forced != "park" and _is_acyclic(region):
        region = _with_sides(region)
    elif lanes.forced == "duplicate":
        raise CannotWeave(
            f"{lanes.at(line)}: a loop lies in what the branch decides, so no copy of the other kernel's code on each "
            'of its sides would run once; use divergence="park" or leave the choice to goptx.',
            rule="forced-divergence",
        )
    if mask:
        if any(is_ours(i) and is_warp_wide(i) for b in inner.values() for i in b.instructions()):
            raise _entangled(lanes, block)  # a vote of all lanes, where those that have ended no longer come
        region = _guarded(region, mask, f"{start}.gate", arrivals)
    lanes.divergences = [d for d in lanes.divergences if not d.regions & blocks]  # regions within this one
    lanes.divergences.append(Divergence(line, "park", frozenset((name,))))
    lanes.park(head, name, blocks, before, Block((), Jump(leave), (), region))


def _left_by_ended(lanes: Lanes, region: Region) -> dict[str, Block]:
    """The blocks of a region, which lanes that end the kernel within leave at once: what follows has no guards."""
    found: dict[str, Block] = {}
    for name, block in region.blocks.items():
        ending = [k + 1 for k, c in enumerate(block.code) if lanes.running in written(c) and _is_made(c)]
        if not ending:
            found[name] = block
            continue
        stay = f"{name}.stay{lanes.regions}"
        end = Branch(Guard(Name(lanes.running)), stay, region.leave)
        found[name] = replace(block, code=block.code[: ending[-1]], end=end)
        found[stay] = Block(block.code[ending[-1] :], block.end)
    return found


def _is_made(code: Code) -> bool:
    return isinstance(code, Instruction) and is_ours(code)


def _is_acyclic(region: Region) -> bool:
    return nx.is_directed_acyclic_graph(region.flow().graph())


def _with_sides(region: Region) -> Region:
    """The region with a block on each edge out of its first branch; no other path leads through that block."""
    first = region.blocks[region.entry]
    sides = {t: f"{region.entry}.side{i}" for i, t in enumerate(first.end.successors())}
    between = {side: Block((), Jump(target)) for target, side in sides.items()}
    blocks = {**region.blocks, region.entry: replace(first, end=first.end.retarget(sides)), **between}
    return Region(region.entry, blocks, region.leave, tuple(sides.values()))


def _guarded(region: Region, mask: str, name: str, arrivals: Sequence[Instruction]) -> Region:
    """The region entered only by the lanes of `mask`. The others arrive at the barriers `arrivals` instead."""
    past = f"{name}.past"
    guard = Block((), Branch(Guard(Name(mask)), region.entry, past))
    blocks = {**region.blocks, name: guard, past: Block(tuple(arrivals), Jump(region.leave))}
    return Region(name, blocks, region.leave, (*region.sides, past) if region.sides else ())


def _flat(name: str, block: Block) -> dict[str, Block]:
    """The block itself, or the blocks of the region that it stands for."""
    if block.region is None:
        return {name: block}
    return {name: Block((), Jump(block.region.entry)), **block.region.blocks}


def _refuse_missing_lanes(lanes: Lanes, region: Region, head: str) -> None:
    """Lanes that end the kernel in a region live on after it: no warp instruction that they do not come to may wait
    for them. The entry of the region is the block `head` of the flow."""
    ending = _ending(lanes, region)
    if not ending:
        return
    graph = region.flow().graph()
    branches = lanes.uniformity().branches
    uniform = {region.entry if n == head else n for n, u in branches.items() if u <= Uniformity.WARP}
    for name, block in region.blocks.items():
        needed = next((i for i in block.instructions() if is_warp_wide(i) and not is_ours(i)), None)
        if needed is None or facts_of(needed.opcode).reads_active_mask:
            continue
        others = graph.subgraph(set(graph) - {name})
        passing = ending.union(*(nx.ancestors(others, n) for n in ending if n != name))
        passing |= {name} if passing & set(graph.succ[name]) else set()
        coming = set(graph.pred[name]).union(*(nx.ancestors(graph, n) for n in graph.pred[name]))
        if (passing & coming) - uniform:
            raise lanes.missing(needed)


def _ending(lanes: Lanes, region: Region) -> set[str]:
    """The blocks in which lanes end the kernel, by the names that `region.flow()` has."""
    blocks = region.blocks.items()
    ending = {n for n, b in blocks if any(lanes.running in written(i) for i in b.instructions() if is_ours(i))}
    return ending | {EXIT} if region.leave == EXIT else ending


def _arrivals(lanes: Lanes, region: Region, mask: str) -> Sequence[Instruction]:
    """The barriers of the region, at which the lanes that skip it have to arrive as well: those that have ended the
    kernel live on in the fused one. Raises `CannotWeave` where threads may end within the region, or where not all
    paths through it meet the same barriers: then nobody knows at which to arrive."""
    barriers = [i for b in region.blocks.values() for i in b.instructions() if is_barrier(i) or is_cluster_barrier(i)]
    ending = _ending(lanes, region)
    if not barriers or not (lanes.running or ending):
        return ()
    met = barriers_in(region.flow())
    plain = all(is_cta_barrier(i) and not is_reduction(i) for i in barriers)
    if met is None or not plain or ending - {EXIT} or mask not in ("", lanes.running):
        raise CannotWeave(
            f"{lanes.at(barriers[0].line)}: `{as_written(barriers[0], lanes.fresh.prefix)}` stands in divergent flow "
            "that cannot be split, and threads that have ended the kernel would have to arrive there too; use "
            "separate launches.",
            rule="barrier-after-exit",
        )
    return [unaligned(barrier) for barrier in met]


def _with_copies(code: Sequence[Code]) -> tuple[Code, ...]:
    """With barriers of the whole CTA in the form that lanes of a warp may reach in different places."""
    return tuple(unaligned(c) if isinstance(c, Instruction) and is_cta_barrier(c) else c for c in code)


def _closed_region(lanes: Lanes, block: str) -> tuple[str, str, frozenset[str]]:
    """The first block of the smallest closed region around `block`, the block after it, and all its blocks."""
    flow, above = lanes.flow, lanes.flow.predecessors()
    idom, ipdom = flow.dominators(), flow.post_dominators()
    found: list[tuple[str, str, frozenset[str]]] = []
    head: str | None = block
    while head is not None and not any(leave != EXIT for _, leave, _ in found):
        leave = ipdom[head]
        while leave is not None:
            blocks = frozenset((head, *blocks_between(flow, flow.blocks[head].end.successors(), leave)))
            is_closed = all(blocks.issuperset(above[n]) for n in blocks if n != head)
            if block in blocks and is_closed and len({lanes.masks.get(n, "") for n in blocks}) == 1:
                found.append((head, leave, blocks))
                break
            leave = ipdom[leave]
        head = idom[head]
    if not found:
        raise _entangled(lanes, block)
    return min(found, key=lambda region: len(region[2]))


def _entangled(lanes: Lanes, block: str) -> CannotWeave:
    return CannotWeave(
        f"{lanes.at(lanes.line(block))}: the control flow here is too entangled to be woven (divergent loops that "
        "begin at one block, or early returns out of nested or irreducible ones); use separate launches.",
        rule="structured-divergence",
    )
