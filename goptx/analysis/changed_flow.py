"""Flows that differ from a known one in a few blocks: what is known of that serves for them.

Requires: a flow, and the blocks that change. Ensures: the reverse postorder, loops, predecessors, dominators and
post-dominators that the new flow has cached are those that would be found anew. Whoever changes one place of a kernel
after another would otherwise take time quadratic in the number of these places.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import replace
from itertools import pairwise

from goptx.analysis.cfg import EXIT, Block, Flow, loops


def straightened(flow: Flow, source: str, order: Sequence[str], join: str, changed: Mapping[str, Block]) -> Flow:
    """The flow in which the blocks of `order` follow `source` one after the other, and then `join`: `changed` has
    `source` and them with such ends.

    Where before they led to each other and to `join` only, no other block is reached differently, and what is known
    of the flow serves for the new one.
    """
    new = Flow(flow.entry, {**flow.blocks, **changed})
    chain, inside = [source, *order], {source, *order}
    if not leads_only_to(flow, chain, join):
        return new
    if postorder := flow.found("reverse_postorder"):
        outside = [n for n in postorder if n == source or n not in inside]
        at = outside.index(source) + 1
        new.with_found(reverse_postorder=(*outside[:at], *order, *outside[at:]))
    if "_loops" in flow.__dict__:  # the path from the source to the join was in the same loops
        new.with_found(loops=flow.found("loops"))
    above = flow.predecessors()
    others = [n for n in above[join] if n not in inside]
    layout = {n: i for i, n in enumerate(flow.blocks)} if others else {}
    entering = tuple(sorted([*others, chain[-1]], key=layout.__getitem__)) if others else (chain[-1],)
    new.with_found(predecessors={**above, **{n: (p,) for p, n in pairwise(chain)}, join: entering})
    if idom := flow.found("dominators"):
        last = {join: chain[-1]} if idom[join] in inside else {}
        new.with_found(dominators=idom | dict(pairwise(reversed(chain))) | last)
    if ipdom := flow.found("post_dominators"):
        new.with_found(post_dominators=ipdom | dict(pairwise([*chain, join])))
    return new


def leads_only_to(flow: Flow, chain: Sequence[str], join: str) -> bool:
    """Whether the blocks of `chain` lead to `join` and, beside it, to each other, but not back to the first."""
    return all(t == join or t in chain[1:] for name in chain for t in flow.blocks[name].end.successors())


def entered_through(flow: Flow, header: str, before: str, block: Block, changed: Mapping[str, Block]) -> Flow:
    """The flow with the new block `before` above a single-entry loop: it jumps to the header, and all that entered
    the loop leads to it. `changed` has blocks of the loop with other code; they lead where they led.

    Requires: no block of the loop but the header has predecessors outside. Then all paths to the header from outside,
    and only these, lead through the new block.
    """
    body, above = loops(flow)[header], flow.predecessors()
    outside = tuple(n for n in above[header] if n not in body)
    redirected = {n: replace(flow.blocks[n], end=flow.blocks[n].end.retarget({header: before})) for n in outside}
    blocks: dict[str, Block] = {}
    for name, old in {**flow.blocks, **redirected, **changed}.items():
        if name == header:
            blocks[before] = block
        blocks[name] = old
    order, idom, ipdom = flow.reverse_postorder(), flow.dominators(), flow.post_dominators()
    at = order.index(header)
    entering = {before, *above[header]}.difference(outside)
    after = {n: before for n, join in ipdom.items() if join == header and n not in body}
    return Flow(before if flow.entry == header else flow.entry, blocks).with_found(
        reverse_postorder=(*order[:at], before, *order[at:]),
        loops={h: b | {before} if header in b and h != header else b for h, b in loops(flow).items()},
        predecessors={**above, before: outside, header: tuple(n for n in blocks if n in entering)},
        dominators={**idom, before: idom[header], header: before},
        post_dominators={**ipdom, **after, before: header},
    )


def parked(flow: Flow, head: str, region: str, inside: Set[str], before: Block, block: Block) -> Flow:
    """The flow in which the block `region` follows `head`, which is `before` then, instead of the blocks `inside`. They
    have `head` among them, are entered through it only, and lead to one block outside, as `block` does."""
    removed = {n for n in inside if n != head}
    (leave,) = block.end.successors()
    blocks: dict[str, Block] = {}
    for name, old in flow.blocks.items():
        if name not in removed:
            blocks[name] = old
        if name == head:
            blocks |= {head: before, region: block}
    new = Flow(flow.entry, blocks)
    if leave == EXIT or not inside.isdisjoint(flow.predecessors()[head]):
        return new  # threads may stay within, or other loops begin at the head
    order = [n for n in flow.reverse_postorder() if n not in removed]
    at = order.index(head) + 1
    bodies = {h: b for h, b in loops(flow).items() if h not in removed}
    idom = {n: d for n, d in flow.dominators().items() if n not in removed}
    ipdom = {n: d for n, d in flow.post_dominators().items() if n not in removed}
    above = {n: p for n, p in flow.predecessors().items() if n not in removed}
    return new.with_found(
        reverse_postorder=(*order[:at], region, *order[at:]),
        loops={h: b - removed | {region} if head in b else b for h, b in bodies.items()},
        predecessors=above | _entering(new, [region, leave], {head, region, *above[leave]} - removed),
        dominators=idom | {region: head, leave: region if idom[leave] in inside else idom[leave]},
        post_dominators=ipdom | {head: region, region: leave},
    )


def sides_in_turn(
    flow: Flow, source: str, arms: Mapping[str, Collection[str]], join: str, changed: Mapping[str, Block]
) -> Flow:
    """The flow in which the `arms` of the branch of `source`, by their first blocks, come one after the other before
    `join`, where all of them led: a new block above each leads there or past it. The new blocks are those of
    `changed` that are not in the flow, in this order.

    Requires: the arms are disjoint, each is entered from `source` only, and none leads to it but through `join`.
    """
    entries = [n for n in changed if n not in flow.blocks]
    blocks: dict[str, Block] = {}
    for name, old in flow.blocks.items():
        blocks[name] = changed.get(name, old)
        if name == source:
            blocks |= {n: changed[n] for n in entries}
    new = Flow(flow.entry, blocks)
    if join == EXIT:
        return new  # threads may stay within
    after = dict(zip(entries, [*entries[1:], join], strict=True))
    arm_of = {name: entry for entry, arm in zip(entries, arms.values(), strict=True) for name in arm}
    idom, ipdom, above = flow.dominators(), flow.post_dominators(), flow.predecessors()
    last = entries[-1] if idom[join] == source or idom[join] in arm_of else idom[join]
    first = dict(zip(arms, entries, strict=True))
    leading = {name: after[entry] for name, entry in arm_of.items() if ipdom[name] == join}
    bodies = {h: b.union(entries) if source in b else b for h, b in loops(flow).items()}
    order = flow.reverse_postorder()
    inside = [n for n in order if n in arm_of]
    in_turn = [n for entry in entries for n in (entry, *(n for n in inside if arm_of[n] == entry))]
    at = order.index(source) + 1
    if arm_of.keys().isdisjoint(loops(flow)):  # else what a side leads to may come before the body of a loop on it
        new.with_found(reverse_postorder=(*order[:at], *in_turn, *(n for n in order[at:] if n not in arm_of)))
    return new.with_found(
        loops={h: bodies[h] for h in new.reverse_postorder() if h in bodies},  # loops on sides make it another one
        predecessors={**above, **_entering(new, [*entries, *arms, join], {source, *entries, *arm_of, *above[join]})},
        dominators=idom | dict(pairwise([*reversed(entries), source])) | first | {join: last},
        post_dominators=ipdom | leading | {source: entries[0]} | after,
    )


def _entering(flow: Flow, targets: Collection[str], sources: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The predecessors of the targets, which are among the sources, in layout order."""
    found: dict[str, list[str]] = {target: [] for target in targets}
    for name in flow.blocks:
        for target in flow.blocks[name].end.successors() if name in sources else ():
            if target in found:
                found[target].append(name)
    return {target: tuple(above) for target, above in found.items()}
