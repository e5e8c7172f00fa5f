"""Orders the units of a merged block by list scheduling (the policy "latency").

Requires: nodes as dependences.py makes them. Ensures: an order of all of them that keeps their precedences.

Of the ready nodes, the one with the least `Key` comes next. Far memory answers after hundreds of cycles. The *load
depth* of a unit is the number of such answers that must be awaited, one after the other, from it to the end of the
block. All kernels go down in load depth together: the one with the longest path begins, and they await their answers
together. Between two *scheduling barriers* the assembler orders code by itself, but it hoists no load above one. So
scheduling barriers come last at a load depth, and stores that no load follows come last of all. ptxas makes a branch of
adjacent instructions under one guard, which is a scheduling barrier too; so other code comes between them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple, TypeVar

from goptx.analysis.cfg import Code
from goptx.latency.cost import ISSUE
from goptx.ptx.ir import Guard, Instruction
from goptx.weaving.schedule.dependences import Effects, Node
from goptx.weaving.schedule.pressure import Pressure

K = TypeVar("K", bound=Hashable)
_Ready = tuple[tuple[int, int, int], int]  # load depth, scheduling barrier and path of a `Key`, and the node
_ALIKE = 512  # cycles by which paths may differ: between scheduling barriers the assembler orders by cycles itself


class Key(NamedTuple):
    """The greedy choice of the next unit; the least key goes first."""

    over: bool  # it would need more registers than there are
    load_depth: int  # negated: successive answers of far memory to await from it on
    scheduling_barrier: int  # 0: no. 1: loads must follow it. 2: none must. 3: none must, and it stores
    in_a_row: bool  # it has the guard of the unit emitted last
    path: int  # negated: cycles from it to the end of the block, in steps of `_ALIKE`
    emitted: int  # cycles of the units of its kernel that are emitted already
    place: int  # its original position


def list_schedule(
    nodes: Sequence[Node], pressure: Pressure, most: int, cycles: Callable[[Code], int]
) -> tuple[Code, ...]:
    """The code of all nodes; at most `most` registers live at once, if that can be. `pressure` is used up."""
    lasts = [max([sum(map(cycles, unit)) for unit in node.units]) for node in nodes]
    loads = [node.effects.loads for node in nodes]
    paths, depths, leads = _distances(nodes, lasts, loads)
    barriers = [_scheduling_barrier(node.effects, lead) for node, lead in zip(nodes, leads, strict=True)]
    nothing = [not last or n.effects.constant for n, last in zip(nodes, lasts, strict=True)]
    guards = [_guard(node.code[0]) for node in nodes]
    emitted = dict.fromkeys((k for node in nodes for k in node.parts), 0)
    left = [node.predecessors for node in nodes]
    # Where a kernel's ready nodes have one guard, their keys differ in what never changes, and in `over`.
    fixed = [(-depth, barrier, -(path // _ALIKE)) for depth, barrier, path in zip(depths, barriers, paths, strict=True)]
    ready: dict[tuple[int, Guard | None], list[_Ready]] = {}
    guard: Guard | None = None
    woven: list[Code] = []

    def over(i: int) -> bool:
        return 0 < pressure.change(i) > most - pressure.live

    def key(i: int) -> Key:
        return Key(
            over=full and over(i),
            load_depth=fixed[i][0],
            scheduling_barrier=fixed[i][1],
            in_a_row=guards[i] is not None and guards[i] == guard,
            path=fixed[i][2],
            emitted=emitted[nodes[i].parts[0]],
            place=i,
        )

    def first(heap: Sequence[_Ready]) -> _Ready:
        """The first that does not need more registers than there are; the first of all if there is none."""
        if not full or not over(heap[0][1]):
            return heap[0]
        return min([each for each in heap if not over(each[1])], default=heap[0])

    def add(i: int) -> None:
        heappush(ready.setdefault((nodes[i].parts[0], guards[i]), []), (fixed[i], i))

    for i, count in enumerate(left):
        if not count:
            add(i)
    while ready:
        full = pressure.live + pressure.most_born > most
        firsts = [first(heap)[1] for heap in ready.values()]
        i = min(firsts, key=key) if len(firsts) > 1 else firsts[0]
        _remove(ready, (nodes[i].parts[0], guards[i]), (fixed[i], i))
        pressure.take(i)
        woven += nodes[i].code
        for k in nodes[i].parts:
            emitted[k] += lasts[i]
        if not nothing[i]:  # code that becomes no machine instruction separates nothing
            guard = _guard(woven[-1])
        for j in nodes[i].successors:
            left[j] -= 1
            if not left[j]:
                add(j)
    return tuple(woven)


def _remove(heaps: dict[K, list[_Ready]], which: K, each: _Ready) -> None:
    """Takes a node out of one of the heaps, none of which is empty."""
    heap = heaps[which]
    if heap[0] == each:
        heappop(heap)
    else:
        heap.remove(each)
        heapify(heap)
    if not heap:
        del heaps[which]


def _distances(
    nodes: Sequence[Node], lasts: Sequence[int], loads: Sequence[bool]
) -> tuple[list[int], list[int], list[bool]]:
    """For each node, the cycles to the end of the block, its load depth, and whether a load must come after it."""
    paths, depths, leads = [0] * len(nodes), [0] * len(nodes), [False] * len(nodes)
    for i in reversed(_sorted(nodes)):
        far = nodes[i].effects.far
        last = path = lasts[i]
        depth, lead = 0, False
        for j, reads in nodes[i].successors.items():
            if (through := paths[j] + (last if reads else ISSUE)) > path:
                path = through
            if (through := depths[j] + (far and reads)) > depth:
                depth = through
            lead = lead or leads[j] or loads[j]
        paths[i], depths[i], leads[i] = path, depth, lead
    return paths, depths, leads


def _sorted(nodes: Sequence[Node]) -> list[int]:
    """The nodes in a topological order."""
    left = [node.predecessors for node in nodes]
    order = [i for i, count in enumerate(left) if not count]
    for i in order:
        for j in nodes[i].successors:
            left[j] -= 1
            if not left[j]:
                order.append(j)
    return order


def _scheduling_barrier(effects: Effects, leads: bool) -> int:
    """`Key.scheduling_barrier`. `leads`: a load must come after it."""
    if not effects.barrier:
        return 0
    return 1 if leads else 3 if effects.stores else 2


def _guard(code: Code) -> Guard | None:
    return code.guard if isinstance(code, Instruction) else None
