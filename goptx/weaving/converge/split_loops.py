"""Gives each loop of one kernel one way in while the kernel is small: once merged, each way in would stand beside many
blocks of the other kernel.

Requires: a converged kernel, whose branches whole warps take together, so that convergent instructions may stand in
copies. Ensures: the same paths, and a reducible flow, within regions too: behind an irreducible loop that lanes
leave at different times ptxas does not bring them together (single_entry.py). Lanes are apart in regions, so convergent
instructions are not copied there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from goptx.analysis.cfg import EXIT, Block, Flow, Region
from goptx.analysis.sync.sync_spans import is_warp_wide
from goptx.errors import CannotWeave
from goptx.weaving.converge.single_entry import reducible
from goptx.weaving.invariants import ensured
from goptx.weaving.merging.size_limits import Limits, TooLarge
from goptx.weaving.model import Converged, Linked


def split_loops(linked: Linked, converged: Sequence[Converged], limits: Limits) -> list[Converged]:
    """Each kernel with one way into each of its loops. Raises `CannotWeave` as `split` does."""
    kernels = zip(linked.kernels, converged, strict=True)
    return ensured("split loops", [split(made, limits, k.at(k.entry.line)) for k, made in kernels], linked)


def split(converged: Converged, limits: Limits, where: str) -> Converged:
    """`where` names the kernel. Raises `CannotWeave` where that takes more instructions than the limits allow."""
    whole = converged.flow
    whole = Flow(whole.entry, {n: _one_way_in(b, limits, where) for n, b in whole.blocks.items()})
    try:
        flow, origin = reducible(whole, limits.instructions, mark=".copy")
    except TooLarge:
        raise _too_large(limits, where) from None
    return _of_copies(converged, flow, origin)


def split_as_it_is(converged: Converged, limits: Limits) -> Converged:
    """The same of a kernel that none is merged with, whose lanes may be apart anywhere: loops get one way in unless
    that would copy what lanes execute together, or takes too much. They are left as they are then, as in the kernel
    alone; but behind such a loop ptxas may lose lanes in one order of blocks and not in another."""

    def split(flow: Flow) -> tuple[Flow, dict[str, str]]:
        try:
            made, origin = reducible(flow, limits.instructions, mark=".copy")
        except TooLarge:
            return flow, {}
        return (flow, {}) if _parts_lanes(made, origin) else (made, origin)

    def inside(block: Block) -> Block:
        return replace(block, region=_within(block.region, split(block.region.flow())[0])) if block.region else block

    whole = converged.flow
    return _of_copies(converged, *split(Flow(whole.entry, {n: inside(b) for n, b in whole.blocks.items()})))


def _of_copies(converged: Converged, flow: Flow, origin: Mapping[str, str]) -> Converged:
    """The kernel with that flow, in which what is known of blocks holds for copies of them too."""
    branches = converged.warp_branches.union(n for n, old in origin.items() if old in converged.warp_branches)
    divergences = tuple(
        replace(d, regions=d.regions.union(n for n, old in origin.items() if old in d.regions))
        for d in converged.divergences
    )
    return replace(converged, flow=flow, warp_branches=branches, divergences=divergences)


def _one_way_in(block: Block, limits: Limits, where: str) -> Block:
    """The block, and if it stands for a region the loops in that with one way in each."""
    region = block.region
    if region is None:
        return block
    try:
        flow, origin = reducible(region.flow(), limits.instructions, mark=".copy")
    except TooLarge:
        raise _too_large(limits, where) from None
    if not origin:
        return block
    if _parts_lanes(flow, origin):
        raise CannotWeave(
            f"{where}: the kernel has a loop with several ways in, which its lanes run apart, and copying code until "
            "it has one would part what they execute together in it; enter loops at their heads only, or use separate "
            "launches.",
            rule="single-entry-loops",
        )
    return replace(block, region=_within(region, flow))


def _within(region: Region, flow: Flow) -> Region:
    """The region with this flow for its own."""
    inside = {n: replace(b, end=b.end.retarget({EXIT: region.leave})) for n, b in flow.blocks.items() if n != EXIT}
    return replace(region, entry=flow.entry, blocks=inside)


def _parts_lanes(flow: Flow, copies: Iterable[str]) -> bool:
    """Whether these blocks, which are copies, hold what lanes execute together."""
    return any(is_warp_wide(code) for name in copies for code in flow.blocks[name].code)


def _too_large(limits: Limits, where: str) -> CannotWeave:
    return CannotWeave(
        f"{where}: the kernel has loops with several ways in, and copying code until each has one takes more than the "
        f"{limits.instructions} instructions that max_growth= allows; enter loops at their heads only, raise "
        "max_growth=, or use separate launches.",
        rule="single-entry-loops",
    )
