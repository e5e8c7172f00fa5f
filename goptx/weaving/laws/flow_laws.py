"""The laws of every flow, whichever pass has made it.

A law is a function whose docstring begins with what holds. It yields the places where that does not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import networkx as nx

from goptx.analysis.cfg import EXIT, Block, Flow
from goptx.analysis.terminators import Branch, Stop


class Problem(NamedTuple):
    """A place where a law is broken: what is found there, and in which block of which kernel."""

    found: str
    block: str = ""
    kernel: str = ""


Problems = Iterator[Problem]
Law = Callable[..., Problems]


def begins_and_ends(flow: Flow) -> Problems:
    """A flow has its entry and `exit` among its blocks; no block leads to the entry, and only `exit` stops."""
    for name in (flow.entry, EXIT):
        if name not in flow.blocks:
            yield Problem("it is not there", name)
    for name, block in flow.blocks.items():
        if flow.entry in block.end.successors():
            yield Problem(f"it leads to the entry `{flow.entry}`", name)
        if isinstance(block.end, Stop) != (name == EXIT):
            yield Problem(f"it ends in {type(block.end).__name__}", name)


def leads_to_blocks(flow: Flow) -> Problems:
    """Each block leads to blocks of the flow, and the two sides of a branch are two blocks."""
    for name, block in flow.blocks.items():
        for target in block.end.successors():
            if target not in flow.blocks:
                yield Problem(f"`{target}` is not there", name)
        if isinstance(block.end, Branch) and block.end.taken == block.end.fallen:
            yield Problem(f"both sides are `{block.end.taken}`", name)


def regions_are_closed(flow: Flow) -> Problems:
    """A block that stands for a region has no code of its own; the region is entered at a block of its own and left to
    one that is not, and every path through it passes one of its sides, once."""
    for name, block in flow.blocks.items():
        region = block.region
        if region is None:
            continue
        if block.code:
            yield Problem(f"it has a region and `{str(block.code[0]).strip()}`", name)
        if region.entry not in region.blocks or region.leave in region.blocks:
            yield Problem(f"the region is entered at `{region.entry}` and left to `{region.leave}`", name)
            continue
        inner = region.flow()
        for law in (leads_to_blocks, regions_are_closed):
            yield from (problem._replace(block=f"{name}/{problem.block}") for problem in law(inner))
        graph, sides = inner.graph(), {*region.sides}
        if not sides <= region.blocks.keys():
            yield Problem(f"the sides {sorted(sides - region.blocks.keys())} are not there", name)
        elif any(nx.descendants(graph, side) & sides for side in sides):
            yield Problem("a path passes two of its sides", name)
        elif sides and EXIT in nx.descendants(graph.subgraph(graph.nodes - sides), region.entry):
            yield Problem("a path passes none of its sides", name)


OF_FLOWS: tuple[Callable[[Flow], Problems], ...] = (begins_and_ends, leads_to_blocks, regions_are_closed)


def problems_of(flow: Flow, kernel: str = "") -> Problems:
    """The places where the flow breaks a law, with that law."""
    for law in OF_FLOWS:
        for problem in law(flow):
            rule = " ".join((law.__doc__ or "").split()).rstrip(".")
            yield problem._replace(kernel=kernel, found=f"{problem.found} ({rule})")


def with_inner(blocks: Mapping[str, Block]) -> Iterator[tuple[str, Block]]:
    """The blocks by name, and those of their regions."""
    for name, block in blocks.items():
        yield name, block
        if block.region:
            yield from with_inner(block.region.blocks)
