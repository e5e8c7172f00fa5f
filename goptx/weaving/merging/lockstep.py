"""Finds where copies of one kernel can go the same way together, so that the merger need not copy their code for all
the ways that they might take.

Requires: the converged flows of the copies. Ensures: marks, which choose.py and product.py go by. What every CTA
decides alike the copies decide once (`Branch.lockstep`), and blocks that all CTAs execute alike they execute together
(`Block.lockstep`).
Where a warp goes if any of its lanes has to, around a loop for example, it goes if any lane of any copy has to
(`Branch.safe_to_take`): a copy of which no lane has to does nothing there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from goptx.analysis.cfg import Block, Code, Flow, loops
from goptx.analysis.cta_invariance import Quote, cta_invariance
from goptx.analysis.sync.barriers import is_cta_barrier
from goptx.analysis.terminators import Branch, Jump
from goptx.weaving.merging.merge_input import MergeInput


def in_step(copies: Sequence[MergeInput], quotes: Sequence[Quote]) -> list[MergeInput]:
    """The copies with marks; as they are if their flows are not the same. `quotes` give the code of each by the names
    that the kernel's file has."""
    if len({_form(copy.flow) for copy in copies}) > 1 or len(copies) == 1:
        return list(copies)
    flows = [_ends_apart(copy.flow.cut(_rendezvous, "meet")) for copy in copies]
    found = cta_invariance(flows, quotes)
    begins = [n if n in found.blocks and _rendezvous(b.code, 0) else "" for n, b in flows[0].blocks.items()]
    ends = [n if n in found.branches else "" for n in flows[0].blocks]
    return [
        replace(copy, flow=_marked(flow, begins, ends), in_step=True) for copy, flow in zip(copies, flows, strict=True)
    ]


def _rendezvous(code: Sequence[Code], first: int = 1) -> list[int]:
    """Where all threads of the CTA meet, from a position on."""
    return [i for i, c in enumerate(code) if i >= first and is_cta_barrier(c)]


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
            block = replace(block, end=replace(block.end, lockstep=end, safe_to_take=name in lasting))
        blocks[name] = replace(block, lockstep=begin)
    return Flow(flow.entry, blocks)


def _lasting(flow: Flow) -> frozenset[str]:
    """The branches by which a warp may go where none of its lanes has to: what is there has no loop but those that it
    then leaves at once, and no region, in which lanes go their own ways."""
    votes = [n for n, b in flow.blocks.items() if isinstance(b.end, Branch) and b.end.safe_to_take]
    left = {
        h for h, body in loops(flow).items() if any(n in body and not body.issuperset(_ways(flow, n)) for n in votes)
    }
    endless = loops(flow).keys() - left
    return frozenset(
        n for n in votes if not any(m in endless or flow.blocks[m].region for m in _within(flow, *_ways(flow, n)))
    )


def _ways(flow: Flow, name: str) -> Sequence[str]:
    return flow.blocks[name].end.successors()


def _within(flow: Flow, begin: str, behind: str) -> set[str]:
    """What lies between."""
    found, work = {begin}, [begin]
    while work:
        for name in _ways(flow, work.pop()):
            if name != behind and name not in found:
                found.add(name)
                work.append(name)
    return found
