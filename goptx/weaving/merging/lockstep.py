"""Finds where copies of one kernel can run in lockstep, so that the merger need not copy their code for all
combinations of paths.

Requires: the converged flows of the copies. Ensures: marks, which choose.py and product.py follow. A branch that all
CTAs decide equally is decided once for all copies (`Branch.lockstep`). Blocks that all CTAs execute equally often are
executed by all copies together (`Block.lockstep`). Some branches a warp takes if any of its lanes has to, around a loop
for example: it takes them if any lane of any copy has to (`Branch.safe_to_take`), and a copy without such a lane does
nothing there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from goptx.analysis.cfg import Block, Code, Flow, loops
from goptx.analysis.cta_invariance import Quote, cta_invariance
from goptx.analysis.sync.barriers import is_cta_barrier
from goptx.analysis.terminators import Branch, Jump
from goptx.weaving.merging.merge_input import MergeInput


def in_lockstep(copies: Sequence[MergeInput], quotes: Sequence[Quote]) -> list[MergeInput]:
    """The copies with marks; unchanged if their flows differ. `quotes` give the code of each with the names of the
    kernel's file."""
    if len({_form(copy.flow) for copy in copies}) > 1 or len(copies) == 1:
        return list(copies)
    flows = [_ends_in_own_blocks(copy.flow.cut(_cta_barriers, "meet")) for copy in copies]
    found = cta_invariance(flows, quotes)
    begins = [n if n in found.blocks and _cta_barriers(b.code, 0) else "" for n, b in flows[0].blocks.items()]
    ends = [n if n in found.branches else "" for n in flows[0].blocks]
    return [
        replace(copy, flow=_marked(flow, begins, ends), in_lockstep=True)
        for copy, flow in zip(copies, flows, strict=True)
    ]


def _cta_barriers(code: Sequence[Code], first: int = 1) -> list[int]:
    """The positions of CTA-wide barriers, from `first` on."""
    return [i for i, c in enumerate(code) if i >= first and is_cta_barrier(c)]


def _ends_in_own_blocks(flow: Flow) -> Flow:
    """With the branch after a region in a block of its own: copies of a branch may be one, regions may not."""
    blocks = dict[str, Block]()
    for name, block in flow.blocks.items():
        if block.region and isinstance(block.end, Branch):
            blocks[name] = replace(block, end=Jump(f"{name}.end"))
            name, block = f"{name}.end", Block((), block.end)
        blocks[name] = block
    return Flow(flow.entry, blocks)


def _form(flow: Flow) -> tuple[object, ...]:
    """How each block leads to which others, by their places. The code of copies differs by the CTA that it is for."""
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
    """The branches that a warp may take where none of its lanes has to: beyond them lie no loops except those that it
    then leaves at once, and no regions, in which lanes diverge."""
    votes = [n for n, b in flow.blocks.items() if isinstance(b.end, Branch) and b.end.safe_to_take]
    left = {
        h
        for h, body in loops(flow).items()
        if any(n in body and not body.issuperset(_successors(flow, n)) for n in votes)
    }
    endless = loops(flow).keys() - left
    return frozenset(
        n for n in votes if not any(m in endless or flow.blocks[m].region for m in _within(flow, *_successors(flow, n)))
    )


def _successors(flow: Flow, name: str) -> Sequence[str]:
    return flow.blocks[name].end.successors()


def _within(flow: Flow, begin: str, after: str) -> set[str]:
    """The blocks on paths from `begin` that come before `after`."""
    found, work = {begin}, [begin]
    while work:
        for name in _successors(flow, work.pop()):
            if name != after and name not in found:
                found.add(name)
                work.append(name)
    return found
