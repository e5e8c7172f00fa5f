"""Copies blocks so that every loop of a flow has one way in.

Requires: any flow. Ensures: the same paths, and no irreducible loop. Merging makes such loops where one
kernel ends amid a loop of the other, and ptxas loses convergence in them: on an H200 a vote behind a
divergent branch of such a flow was taken by a part of the warp only (ptxas 13.0, -O1 and above).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import networkx as nx

from goptx.analysis.cfg import Flow
from goptx.errors import CannotWeave

MAX_GROWTH = 3  # times as many blocks as at first


def reducible(flow: Flow) -> tuple[Flow, dict[str, str]]:
    """The flow with copies, and for each copy the name of its original (node splitting).

    Raises `CannotWeave` where that takes too many copies.
    """
    origin: dict[str, str] = {}
    limit = MAX_GROWTH * len(flow.blocks)
    while found := _several_ways_in(flow.graph(), flow.entry, flow.blocks):
        flow = _split(flow, *found, origin)
        if len(flow.blocks) > limit:
            raise CannotWeave(
                f"the merged control flow has loops with several ways in, and undoing that takes more than {limit} "
                "blocks; use slicing=None or separate launches."
            )
    return flow, origin


def _several_ways_in(
    graph: nx.DiGraph[str], entry: str, order: Collection[str]
) -> tuple[frozenset[str], list[str]] | None:
    """A loop that can be entered at more than one block: its blocks, and those where it is entered."""
    work = [frozenset(order)]
    while work:
        inside = work.pop()
        for component in nx.strongly_connected_components(graph.subgraph(inside)):
            if len(component) == 1:
                continue
            ways = [n for n in order if n in component and (n == entry or not component.issuperset(graph.pred[n]))]
            if len(ways) > 1:
                return frozenset(component), ways
            work.append(frozenset(component) - set(ways))
    return None


def _split(flow: Flow, loop: frozenset[str], ways: list[str], origin: dict[str, str]) -> Flow:
    """Keeps one way into the loop; what the others reach before they come to it is copied for them."""
    graph = flow.graph()
    within = {n: [t for t in graph.succ[n] if t in loop] for n in loop}
    reached = {h: _reached(within, [w for w in ways if w != h], h) for h in ways}
    header = min(ways, key=lambda h: (len(reached[h]), ways.index(h)))
    copied = [n for n in flow.blocks if n in reached[header]]  # sets have no fixed order
    copies = {n: f"{origin.get(n, n)}_c{len(origin) + i}" for i, n in enumerate(copied)}
    blocks = {}
    for name, block in flow.blocks.items():
        blocks[name] = block if name in loop else replace(block, end=block.end.retarget(copies))
        if name in copies:
            blocks[copies[name]] = replace(block, end=block.end.retarget(copies))
            origin[copies[name]] = origin.get(name, name)
    return Flow(copies.get(flow.entry, flow.entry), blocks)


def _reached(within: Mapping[str, Sequence[str]], starts: Sequence[str], header: str) -> set[str]:
    """What `starts` lead to within the loop without passing the header, themselves among it."""
    reached, work = set(starts), list(starts)
    while work:
        for target in within[work.pop()]:
            if target != header and target not in reached:
                reached.add(target)
                work.append(target)
    return reached
