"""interleave: each CTA runs a CTA of one kernel, and the grid has those of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path

from goptx.analysis.cfg import Flow
from goptx.errors import InputError
from goptx.latency.table import LatencyTable
from goptx.launch.shape import Shape
from goptx.options import Assume, ParameterPairs, Placement
from goptx.results.expected_gain import judged
from goptx.results.fused_kernel import Woven
from goptx.results.given_kernels import Source, kernels_of, own_shapes_of
from goptx.strategies.dispatch import choices_of, side_by_side, split_loops_of_each
from goptx.weaving.converge.converge import converge_kernel
from goptx.weaving.dependent.shared_inputs import InCommon
from goptx.weaving.link.link import link
from goptx.weaving.merging.barrier_ids import prepare_barriers
from goptx.weaving.model import Converged, Linked
from goptx.weaving.request import check_request
from goptx.weaving.shapes.interleaved import Interleaved
from goptx.weaving.shapes.launch_demands import known_shape
from goptx.weaving.shapes.range_guard import guard_ranges
from goptx.weaving.shapes.shape_kernels import shape

MOST = 1 << 16  # CTAs of one round of the ratio


@judged
def interleave(
    *sources: Source,
    entries: Sequence[str | None] | None = None,
    arch: str | None = None,
    name: str | None = None,
    latency: str | Path | LatencyTable | None = None,
    max_inlined: int | None = None,
    shapes: Sequence[Shape] | None = None,
    assume: Assume | None = None,
    placement: Placement | None = None,
    ratio: Sequence[int] | None = None,
    presume: bool = True,
    same: ParameterPairs = (),
) -> Woven:
    """The kernels unchanged, side by side. The block is the largest of theirs, and so is the shared memory.

    shapes: one for each kernel.
    placement: "spread" (the CTAs of all kernels from the beginning of the grid to its end) or "front" (those of the
        first kernel, then those of the second, and so on). By default spread; but a kernel of which the GPU runs all
        CTAs at once, beside one of which it does not run half, comes first, or takes turns with the first.
    ratio: how many CTAs of each kernel stand in one round, which is repeated until a kernel has no more CTAs; (1, 3) is
        ABBBABBB...
    same: pairs of parameters that are one, such as ("A:0", "B:0"): a buffer that no kernel writes, or a number. The
        fused kernel has the first of them. Each kernel loads for itself, because a thread runs one kernel only.

    Other arguments and errors are those of `weave`.
    """
    check_request("concat", None, None, placement)
    kernels = kernels_of(sources, entries, max_inlined=max_inlined)
    own = own_shapes_of(sources, shapes, kernels, "interleave")
    if ratio is not None:
        _check_ratio(ratio, len(kernels), placement)
    layout = partial(Interleaved.of, ratio=tuple(ratio or ()))
    linked = link(kernels, arch, name, own)
    shaped = shape(linked, kernels, own, placement, layout)
    shaped, common = InCommon.found(shaped, same, "interleave")
    shaped = replace(shaped, notes=(*shaped.notes, *common.loaded_by_each(shaped)))
    choices = choices_of(shaped, latency, presume)
    converged = [
        converge_kernel(shaped, k, choices) if shaped.is_copy(k) else Converged(k.flow, as_written=True)
        for k in shaped.kernels
    ]
    looped = split_loops_of_each(shaped, guard_ranges(shaped, converged))
    flows = _with_barriers_of_copies(shaped, looped)
    return side_by_side("interleave", kernels, shaped, looped, flows, choices)


def _with_barriers_of_copies(linked: Linked, converged: Sequence[Converged]) -> list[Flow]:
    """A CTA has the barriers of one kernel only, which are in the way of those of its copies alone."""
    flows: list[Flow] = []
    for _, several in groupby(zip(linked.kernels, converged, strict=True), key=lambda made: made[0].letter):
        copies, own = zip(*several, strict=True)
        flows += prepare_barriers(copies, own, known_shape(linked)) if len(copies) > 1 else [own[0].flow]
    return flows


def _check_ratio(ratio: Sequence[int], kernels: int, placement: Placement | None) -> None:
    whole = not isinstance(ratio, str | int) and all(isinstance(n, int) and not isinstance(n, bool) for n in ratio)
    if not whole or len(ratio) != kernels or min(ratio) < 1 or sum(ratio) > MOST:
        raise InputError(f"ratio={ratio} takes a number of CTAs above 0 for each of the {kernels} kernels.")
    if placement == "front":
        raise InputError(f'ratio={ratio} and placement="front" are two orders of the CTAs; give one.')
