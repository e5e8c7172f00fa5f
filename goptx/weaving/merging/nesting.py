"""Finds how deep each block of a kernel lies in loops and ifs, so that two kernels can be merged level by level.

Requires: a reducible flow. Kernels merged by levels come together after each if and at the head of each loop, so that a
block stands beside few others. The kernel that lies deeper runs alone until the other lies as deep, and below a limit
one runs and then the other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import networkx as nx

from goptx.analysis.cfg import EXIT, Block, Flow, loops
from goptx.analysis.terminators import Jump
from goptx.weaving.merging.product import ANY, Move, Pair

# Two for each loop around a block, or one for a loop of which it is the head; then the ifs around it in that loop.
Level = tuple[int, int]

TOP: Level = (0, 0)
BEFORE_DEEPER = ".before_deeper"  # of a block: its end, as a block of its own, before deeper code
_ALONE = (Move.FIRST, Move.SECOND)
_JOIN = ""  # the common end of the blocks of a nest; no block has this name


class Place(NamedTuple):
    """Where a block lies: its level, the deepest level that it leads to, and the level of the loop that it leads into
    if the kernel may wait there."""

    level: Level
    deepest: Level
    loop: Level | None


@dataclass(frozen=True, slots=True)
class Nests:
    """A flow, with the place of each block."""

    flow: Flow
    places: Mapping[str, Place]


def nests(flow: Flow, tallest: int | None = None, awaited: Collection[str] = ()) -> Nests:
    """Levels count from the outermost loop; or, if the `tallest` nest of both kernels is given, so that all innermost
    loops have one level. The end of a block that leads deeper becomes a block of its own: there the kernel can wait
    before an if or a loop. `awaited` are the heads of loops before which it may do so however deep they lie."""
    bodies = loops(flow)
    tall = _heights(bodies)
    levels: dict[str, Level] = {}

    def descend(head: str, body: Collection[str], depth: int) -> None:
        """Sets the levels in a loop at this depth, or in the whole flow."""
        inner = {h: b for h, b in bodies.items() if h != head and h in body}
        outermost = {h: b for h, b in inner.items() if not any(h in inner[k] for k in inner if k != h)}
        levels.update(_ifs(flow, head, body, {n: h for h, b in outermost.items() for n in b}, 2 * depth))
        for h, b in outermost.items():
            lies_in = depth + 1 if tallest is None else tallest - tall[h] + 1
            descend(h, b, lies_in)
            levels[h] = 2 * lies_in - 1, 0

    descend(flow.entry, flow.blocks.keys() - {EXIT}, 0)
    levels[EXIT] = TOP
    return _cut(flow, levels, awaited)


def height(flow: Flow) -> int:
    """The depth of the deepest loop nest."""
    return max(_heights(loops(flow)).values(), default=0)


def _heights(bodies: Mapping[str, frozenset[str]]) -> dict[str, int]:
    """For each loop, by its head, the depth of the loop nest from it inwards."""
    found: dict[str, int] = {}
    for head, body in sorted(bodies.items(), key=lambda loop: len(loop[1])):
        found[head] = 1 + max((found[h] for h in found if h in body), default=0)
    return found


def _ifs(flow: Flow, head: str, body: Collection[str], stands_for: Mapping[str, str], loop: int) -> dict[str, Level]:
    """The levels of the blocks of a loop that lie in no loop within it, and of the heads of those that do. Paths out
    of the loop or the kernel and back edges do not count."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    for name in (n for n in flow.blocks if n in body):
        here = stands_for.get(name, name)
        graph.add_node(here)
        following = [stands_for.get(t, t) for t in flow.blocks[name].end.successors() if t in body]
        graph.add_edges_from((here, t) for t in following if t not in (here, head))
    graph.add_edges_from([(n, _JOIN) for n in graph if not graph.succ[n]])
    dominators = nx.immediate_dominators(graph, head)
    postdominators = nx.immediate_dominators(graph.reverse(copy=False), _JOIN)
    ifs = {head: 0}
    for name in nx.topological_sort(graph):
        if name not in (head, _JOIN):
            ifs[name] = ifs[dominators[name]] + (not _postdominates(postdominators, dominators[name], name))
    return {name: (loop, depth) for name, depth in ifs.items()}


def _postdominates(postdominators: Mapping[str, str], name: str, other: str) -> bool:
    while name not in (other, _JOIN):
        name = postdominators[name]
    return name == other


def _cut(flow: Flow, levels: Mapping[str, Level], awaited: Collection[str]) -> Nests:
    blocks: dict[str, Block] = {}
    places: dict[str, Place] = {}
    for name, block in flow.blocks.items():
        level, following = levels[name], block.end.successors()
        if block.code and any(levels[t] > level for t in following):
            blocks[name], places[name] = replace(block, end=Jump(f"{name}{BEFORE_DEEPER}")), Place(level, level, None)
            name, block = f"{name}{BEFORE_DEEPER}", Block((), block.end)
        inner_loops = [levels[t] for t in following if t in awaited and levels[t] > level]
        deepest = max((levels[t] for t in following), default=level)
        blocks[name], places[name] = block, Place(level, deepest, max(inner_loops, default=None))
    return Nests(Flow(flow.entry, blocks), places)


class Levels:
    """The moves of two kernels at each pair of their blocks. `deepest` is the last level on which blocks of both may
    stand side by side, None for no limit."""

    def __init__(self, first: Nests, second: Nests, deepest: Level | None) -> None:
        self.deepest = deepest
        rows = {p: {n: self._moves(p, q) for n, q in second.places.items()} for p in set(first.places.values())}
        self._wanted = {n: rows[p] for n, p in first.places.items()}

    def narrowed(self, pair: Pair, moves: Sequence[Move]) -> Sequence[Move]:
        """The moves that keep both kernels on one level; all of the moves if there is no such move."""
        wanted = self._wanted[pair[0]][pair[1]]
        return wanted if moves is ANY else [m for m in moves if m in wanted] or moves

    def _moves(self, first: Place, second: Place) -> Sequence[Move]:
        wanted = self._level_moves(first, second)
        if self._is_too_deep(first.deepest) and self._is_too_deep(second.deepest):
            return tuple(m for m in wanted if m != Move.BOTH)
        return wanted

    def _level_moves(self, first: Place, second: Place) -> Sequence[Move]:
        if first.level == second.level:
            return ANY
        deeper, alone = (first, Move.FIRST) if first.level > second.level else (second, Move.SECOND)
        if deeper.loop is None or self._is_too_deep(deeper.loop):
            return (alone,)
        return ANY if first.loop == second.loop else _ALONE

    def _is_too_deep(self, level: Level) -> bool:
        return self.deepest is not None and level > self.deepest
