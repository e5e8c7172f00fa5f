"""interleave: each CTA runs a CTA of one kernel, and the grid has those of all."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from goptx.errors import InputError
from goptx.latency.table import LatencyTable, load_table
from goptx.shape import Shape
from goptx.weaving.divergence.converged import Converged
from goptx.weaving.gate import gated
from goptx.weaving.interleaved import Interleaved
from goptx.weaving.launching import Placement
from goptx.weaving.merged import merged
from goptx.weaving.one_of import one_of
from goptx.weaving.pipeline import Choices, check_request, finish, read_and_link
from goptx.weaving.result import Woven
from goptx.weaving.side import Side
from goptx.weaving.sources import Source, kernels_of, own_shapes_of

MOST = 1 << 16  # CTAs of a turn


def interleave(
    *sources: Source,
    entries: Sequence[str | None] | None = None,
    arch: str | None = None,
    name: str | None = None,
    latency: str | Path | LatencyTable | None = None,
    shapes: Sequence[Shape] | None = None,
    placement: Placement = "spread",
    ratio: Sequence[int] | None = None,
) -> Woven:
    """The kernels as they are, side by side; the block is the largest, and the shared memory that of the kernel which
    needs most.

    shapes: of each kernel.
    placement: "spread" (default; the CTAs of all kernels from the beginning of the grid to its end) or "front" (those
        of the first kernel, then those of the second, and so on).
    ratio: how many CTAs of each kernel follow each other in turn instead, until one has no more; (1, 3) is ABBBABBB...

    Other arguments and errors are those of `weave`.
    """
    check_request("concat", None, None, placement)
    kernels = kernels_of(sources, entries)
    own = own_shapes_of(sources, shapes, len(kernels), "interleave")
    if ratio is not None:
        _check_ratio(ratio, len(kernels), placement)
    layout = partial(Interleaved.of, ratio=tuple(ratio or ()))
    linked = read_and_link(kernels, arch, name, own, placement, layout)
    choices = Choices("concat", None, load_table(latency, linked.target[0]))
    converged = [gated(Converged(k.flow), k.gate) for k in linked.kernels]
    sides = [
        Side(c.flow, frozenset(), c.lanes_wait_apart, kernels=(k,), cycles=choices.cycles)
        for k, c in enumerate(converged)
    ]
    whole = merged(one_of(sides))
    return finish(kernels, linked, [s.flow for s in sides], whole, choices, converged, strategy="interleave")


def _check_ratio(ratio: Sequence[int], kernels: int, placement: Placement) -> None:
    whole = not isinstance(ratio, str | int) and all(isinstance(n, int) and not isinstance(n, bool) for n in ratio)
    if not whole or len(ratio) != kernels or min(ratio) < 1 or sum(ratio) > MOST:
        raise InputError(f"ratio={ratio} takes a number of CTAs above 0 for each of the {kernels} kernels.")
    if placement == "front":
        raise InputError(f'ratio={ratio} and placement="front" are two orders of the CTAs; give one.')
