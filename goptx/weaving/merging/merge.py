"""Merges any number of kernels: the first two, then the result with the third, and so on.

Requires: converged kernels whose barriers are prepared. Ensures: what fallback.py ensures for each merge. The places
where one kernel may have to wait for another depend on both, so before each merge the two are cut there, then sliced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from goptx.weaving.invariants import ensured
from goptx.weaving.link.stacks import check_stacks
from goptx.weaving.merging.fallback import fit, one_after_the_other
from goptx.weaving.merging.merge_input import MergeInput
from goptx.weaving.merging.size_limits import MergeLimits
from goptx.weaving.merging.sync_order import Order
from goptx.weaving.model import Linked

Pair = tuple[MergeInput, MergeInput]


def merge_order(linked: Linked, inputs: Sequence[MergeInput]) -> list[MergeInput]:
    """The inputs in the order in which they are merged: a kernel that runs last comes last, and so do kernels with
    fewer
    warps than others. Where some warps skip a kernel, the barriers of the next one have to come before or after those
    of all merged kernels.

    Raises `CannotWeave` for kernels that cannot share the stack of a thread.
    """
    check_stacks([linked.kernels[k] for each in inputs for k in each.kernels])
    return sorted(inputs, key=lambda each: (each.last, len(inputs) > 2 and bool(each.threads)))


def cut_at_waits(first: MergeInput, second: MergeInput) -> Pair:
    """Both kernels, with blocks cut where one may have to wait for the other."""
    order = Order([first, second])
    flows = [each.flow.cut(partial(order.cuts, i), "bar") for i, each in enumerate((first, second))]
    cut = replace(first, flow=flows[0]), replace(second, flow=flows[1])
    return ensured("cut at waits", cut, (first, second))


def merge(candidates: Sequence[Pair], limits: MergeLimits) -> MergeInput:
    """The two kernels as one. The candidates are these two with different slicings, the coarsest last; the one whose
    merge is smallest is taken. Raises `CannotWeave` where none stays within the limits."""
    first, second = candidates[-1]
    numbers = sorted((*first.kernels, *second.kernels))
    found = fit(candidates, limits.of(numbers), limits.named(numbers))
    notes = (*found.side.notes, found.note) if found.note else found.side.notes
    taken = candidates[found.chosen]
    return ensured("merge", replace(found.side, slicing=taken[0].slicing, notes=notes), taken)


def merge_in_sequence(pair: Pair, limits: MergeLimits) -> MergeInput:
    """The two kernels as one, the second after the first. Raises `CannotWeave` where they exceed the limits."""
    numbers = sorted((*pair[0].kernels, *pair[1].kernels))
    return ensured("merge", one_after_the_other(pair, limits.of(numbers), limits.named(numbers)), pair)
