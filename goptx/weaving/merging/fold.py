"""Merges any number of kernels: the first two, then the result with the third, and so on.

Requires: converged kernels whose barriers are prepared. Ensures: what fallback.py ensures of each merge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from goptx.analysis.cfg import Flow
from goptx.weaving.merging.fallback import fit
from goptx.weaving.merging.merge_input import MergeInput
from goptx.weaving.merging.size_limits import Limits
from goptx.weaving.merging.sync_order import Order

Slicing = Callable[[int, Flow], Flow]  # of a kernel, by its number


@dataclass(frozen=True, slots=True)
class Folded:
    """The kernels as one, which of the slicings was taken (that of the last merge), and how they were merged if not
    freely, and why."""

    side: MergeInput
    chosen: int
    notes: tuple[str, ...]


def fold(
    sides: Sequence[MergeInput],
    slicings: Sequence[Slicing],
    limits: Callable[[Sequence[int]], Limits],
    where: Sequence[str],
) -> Folded:
    """`slicings` are tried in turn; `limits` has those for the merge of some kernels, by number, `where` names all
    kernels in messages. Raises `CannotWeave`."""
    # What runs last is merged last. So are kernels with fewer warps than others: where some warps pass by a kernel,
    # the next one's barriers have to come before or behind those of all that is merged.
    order = sorted(range(len(sides)), key=lambda k: (sides[k].last, len(sides) > 2 and bool(sides[k].threads)))
    joint, chosen, notes = sides[order[0]], 0, list[str]()
    for k in order[1:]:
        cut = _cut(joint, sides[k])
        ways = [(_sliced(cut[0], slicing), _sliced(cut[1], slicing)) for slicing in slicings]
        numbers = sorted((*joint.kernels, *sides[k].kernels))
        found = fit(ways, limits(numbers), " and ".join(where[n] for n in numbers))
        joint, chosen = found.side, found.chosen
        notes += [found.note] if found.note else []
    return Folded(joint, chosen, tuple(dict.fromkeys(notes)))


def _cut(first: MergeInput, second: MergeInput) -> tuple[MergeInput, MergeInput]:
    """Cut where one may have to wait for the other."""
    order = Order([first, second])
    flows = [side.flow.cut(partial(order.cuts, i), "bar") for i, side in enumerate((first, second))]
    return replace(first, flow=flows[0]), replace(second, flow=flows[1])


def _sliced(side: MergeInput, slicing: Slicing) -> MergeInput:
    """In slices, which merged kernels are in already."""
    return side if side.cells is not None else replace(side, flow=slicing(side.kernels[0], side.flow))
