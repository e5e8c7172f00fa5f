"""interleave: each CTA runs a CTA of one kernel, and the grid has those of all."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from goptx.errors import InputError
from goptx.latency.table import LatencyTable
from goptx.launch.shape import Shape
from goptx.options import Assume, ParameterPairs, Placement
from goptx.results.expected_gain import judged
from goptx.results.fused_kernel import Woven
from goptx.results.given_kernels import Source, kernels_of, own_shapes_of
from goptx.weaving.ctas_of_one_kernel import interleaved
from goptx.weaving.request import check_request
from goptx.weaving.shapes.interleaved import Interleaved

MOST = 1 << 16  # CTAs of one round of the ratio


@judged
def interleave(
    *sources: Source,
    entries: Sequence[str | None] | None = None,
    arch: str | None = None,
    name: str | None = None,
    latency: str | Path | LatencyTable | None = None,
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
        CTAs at once, beside one of which it does not run half, comes first, the second after one CTA of the first.
    ratio: how many CTAs of each kernel stand in one round, which is repeated until a kernel has no more CTAs; (1, 3) is
        ABBBABBB...
    same: pairs of parameters that are one, such as ("A:0", "B:0"): a buffer that no kernel writes, or a number. The
        fused kernel has the first of them. Each kernel loads for itself, because a thread runs one kernel only.

    Other arguments and errors are those of `weave`.
    """
    check_request("concat", None, None, placement)
    kernels = kernels_of(sources, entries)
    own = own_shapes_of(sources, shapes, kernels, "interleave")
    if ratio is not None:
        _check_ratio(ratio, len(kernels), placement)
    layout = partial(Interleaved.of, ratio=tuple(ratio or ()))
    return interleaved(kernels, own, arch, name, latency, placement, layout, presume, same)


def _check_ratio(ratio: Sequence[int], kernels: int, placement: Placement | None) -> None:
    whole = not isinstance(ratio, str | int) and all(isinstance(n, int) and not isinstance(n, bool) for n in ratio)
    if not whole or len(ratio) != kernels or min(ratio) < 1 or sum(ratio) > MOST:
        raise InputError(f"ratio={ratio} takes a number of CTAs above 0 for each of the {kernels} kernels.")
    if placement == "front":
        raise InputError(f'ratio={ratio} and placement="front" are two orders of the CTAs; give one.')
