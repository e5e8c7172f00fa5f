"""Merges the copies of a coarsened kernel, before all other merging.

Requires: the copies' flows, without range guards of their own. Ensures: the predicate that ends all copies is tested
once, and so is the one that ends all copies but the last. Those are merged with each other first, so only the last copy
stands twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from goptx.analysis.cfg import EXIT, Block, Flow
from goptx.analysis.terminators import Branch
from goptx.ptx.ir import Guard, Name
from goptx.weaving.merging.choose import sequential
from goptx.weaving.merging.lockstep import in_lockstep
from goptx.weaving.merging.merge import cut_at_waits, merge, merge_order
from goptx.weaving.merging.merge_input import MergeInput
from goptx.weaving.merging.size_limits import MergeLimits
from goptx.weaving.merging.slice import SlicingThresholds, slice
from goptx.weaving.model import CopyPredicates, Linked
from goptx.weaving.shapes.range_guard import GATE

Copies = tuple[CopyPredicates, list[MergeInput]]


def merge_copies(
    linked: Linked, inputs: Sequence[MergeInput], slicings: Sequence[SlicingThresholds], limits: MergeLimits
) -> list[MergeInput]:
    """One input for each kernel, of those of its copies. Raises what `merge` raises."""
    merged = []
    for ends, copies in _copies_of_each(linked, inputs):
        whole, *others = merge_order(linked, copies)
        for copy in others:
            if copy is others[-1]:  # the CTAs that are left over run it too, and skip the others
                whole = _skipped(whole, ends.left_over)
            pair = cut_at_waits(whole, copy)
            whole = merge([slice(pair, slicing) for slicing in slicings], limits)
        merged.append(_ended(whole, ends))
    return merged


def sequential_copies(linked: Linked, inputs: Sequence[MergeInput]) -> list[MergeInput]:
    """One input for each kernel, in which a copy begins when the one before it has ended."""
    merged = []
    for ends, copies in _copies_of_each(linked, inputs):
        whole, *others = copies
        for copy in others:
            if copy is others[-1]:
                whole = _skipped(whole, ends.left_over)
            whole = sequential(whole, copy)
        merged.append(_ended(whole, ends))
    return merged


def _copies_of_each(linked: Linked, inputs: Sequence[MergeInput]) -> Iterator[Copies]:
    """The copies of each kernel, marked where they run in lockstep, and the predicates that end them."""
    for letter in dict.fromkeys(k.letter for k in linked.kernels):
        quotes = [k.quote for k in linked.kernels if k.letter == letter]
        copies = [replace(s, copy=True) for k, s in zip(linked.kernels, inputs, strict=True) if k.letter == letter]
        yield linked.together.get(letter, CopyPredicates()), in_lockstep(copies, quotes)


def _ended(whole: MergeInput, ends: CopyPredicates) -> MergeInput:
    """All copies of a kernel, with the guards by which threads skip them."""
    whole = replace(whole, copy=False, in_lockstep=False)
    return _skipped(_skipped(whole, ends.beyond, "beyond"), ends.ended)


def _skipped(side: MergeInput, ended: str | None, name: str = GATE) -> MergeInput:
    """With a guard before it: threads for which the predicate holds skip it."""
    if ended is None:
        return side
    end = Branch(Guard(Name(ended)), EXIT, side.flow.entry, uniform=True)
    return replace(side, flow=Flow(name, {name: Block((), end), **side.flow.blocks}))
