"""Finds where copies of one kernel can go the same way together, so that the merger need not copy their code for all
the ways that they might take.

Requires: the converged flows of the copies. Ensures: marks, which merge.py and product.py go by. What every CTA decides
alike the copies decide once (`Branch.step`), and where all CTAs meet alike they do so together (`Block.step`). A loop
that goes on while any lane of the warp is in it goes on while any lane of any copy is (`Branch.lasting`): a copy that
all lanes have left does nothing in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from goptx.analysis.alike import Quote, alike
from goptx.analysis.cfg import Block, Branch, Code, Flow, Jump, is_rendezvous, loops
from goptx.weaving.side import Side


def in_step(copies: Sequence[Side], quotes: Sequence[Quote]) -> list[Side]:
    """The copies with marks; as they are if their flows are not the same. `quotes` give the code of each by the names
    that the kernel's file has."""
    if len({_form(copy.flow) for copy in copies}) > 1 or len(copies) == 1:
        return list(copies)
    flows = [_ends_apart(copy.flow.cut(_rendezvous, "meet")) for copy in copies]
    found = alike(flows, quotes)
    begins = [n if n in found.blocks and _rendezvous(b.code, 0) else "" for n, b in flows[0].blocks.items()]
    ends = [n if n in found.branches else "" for n in flows[0].blocks]
    return [
        replace(copy, flow=_marked(flow, begins, ends), in_step=True) for copy, flow in zip(copies, flows, strict=True)
    ]


def _rendezvous(code: Sequence[Code], first: int = 1) -> list[int]:
    """Where all threads of the CTA meet, from a position on."""
    return [i for i, c in enumerate(code) if i >= first and is_rendezvous(c)]


def _ends_apart(flow: Flow) -> Flow:
    """With the branch behind a region in a block of its own: regions stand beside none, branches in step do."""
    blocks = dict[str, Block]()
    for name, block in flow.blocks.items():
        if block.region and isinstance(block.end, Branch):
            blocks[name] = replace(block, end=Jump(f"{name}.end"))
            name, block = f"{name}.end", Block((), block.end)
        blocks[name] = block
    return Flow(flow.entry, blocks)


def _form(flow: Flow) -> tuple[object, ...]:
    """How each block leads to which others, by their places. Of their code that differs by which CTA it is of."""
    places = {name: place for place, name in enumerate(flow.blocks)}
    blocks = flow.blocks.values()
    return places[flow.entry], *((bool(b.region), type(b.end), *map(places.get, b.end.successors())) for b in blocks)


def _marked(flow: Flow, begins: Sequence[str], ends: Sequence[str]) -> Flow:
    lasting = _lasting(flow)
    blocks = dict[str, Block]()
    for begin, end, (name, block) in zip(begins, ends, flow.blocks.items(), strict=True):
        if isinstance(block.end, Branch):
            block = replace(block, end=replace(block.end, step=end, lasting=name in lasting))
        blocks[name] = replace(block, step=begin)
    return Flow(flow.entry, blocks)


def _lasting(flow: Flow) -> frozenset[str]:
    """The branches by which a warp leaves a loop that it may as well stay in: all that is in it that may not end
    then is such a loop too, and regions, in which lanes go their own ways, may not be entered."""
    votes = frozenset(n for n, b in flow.blocks.items() if isinstance(b.end, Branch) and b.end.lasting)
    bodies = loops(flow)
    ends = {
        h
        for h, body in bodies.items()
        if any(n in votes and flow.blocks[n].end.successors()[1] not in body for n in body)
    }
    found = set[str]()
    for body in (bodies[h] for h in ends):
        within = [h for h in bodies if h in body]
        if ends.issuperset(within) and not any(flow.blocks[n].region for n in body):
            found |= {n for n in votes & body if flow.blocks[n].end.successors()[1] not in body}
    return frozenset(found)
