"""coarsen: one CTA does the work of several. Each thread does that of a thread of each, interleaved."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

from goptx.launch.shape import Shape
from goptx.options import Assume, Axis
from goptx.results.expected_gain import judged
from goptx.results.fused_kernel import Woven
from goptx.results.given_kernels import Source, chosen_from
from goptx.weaving.weave import weave
from goptx.weaving.weave_options import CoarsenOptions


@judged
def coarsen(
    source: Source,
    factor: int = 2,
    axis: Axis = "x",
    *,
    entry: str | None = None,
    shape: Shape | None = None,
    assume: Assume | None = None,
    **options: Unpack[CoarsenOptions],
) -> Woven:
    """The kernel woven with copies of itself, so that one CTA does the work of `factor` CTAs.

    With G the kernel's CTAs along `axis` and q = G // factor, CTA c < q of the result along that axis runs the kernel's
    CTAs c * factor ... c * factor + factor - 1. Neighbours are joined because they often read the same cache lines:
    what one has loaded is there for the other. The G % factor CTAs left over get a CTA each.
    The kernel reads its own %ctaid and %nctaid. Each copy has shared memory of its own; parameters are common to all.
    Where copies reach a CTA-wide barrier at one place, one barrier serves all.

    source: PTX text, its bytes, a path, a parsed module, or a kernel that is coarsened along this axis already.
    factor: 2 to 32; in a `shape` with fewer CTAs along the axis, their number is taken.
    axis: "x", "y" or "z".
    entry: may be left out where the module has only one.
    shape: the launch shape of the kernel alone. For a grid that `factor` divides, no branch and no code for CTAs left
        over is generated. Without it, the number of CTAs along the axis becomes a hidden parameter.
    assume: what is known of the kernel, for the estimate in the report, as in `goptx.weave`.
    options: arch, name, policy, slicing, divergence, latency, max_blocks, max_growth, max_inlined, presume, as in
        `goptx.weave`.

    The result is launched like the kernel: `launch(stream, args, grid=G, block=B)`, with the kernel's own grid; the
    grid of the launch follows from it. In `goptx.weave` or `goptx.fuse` it counts as one kernel with the kernel's own
    shape. Whether coarsening makes a kernel faster has to be measured.

    Raises what `weave` raises: `InputError` for a wrong factor or axis, `CannotWeave` for a kernel that has clusters,
    waits for other CTAs, or computes addresses from %smid.
    """
    kernel = chosen_from(source, entry, "coarsen()")
    kernel = replace(kernel, coarse=kernel.coarse.times(factor, axis))
    if shape is None and isinstance(source, Woven) and source.plan and not source.plan.common:
        (shape,) = source.plan.shapes
    woven = weave(kernel, shapes=None if shape is None else [shape], **options)
    return replace(woven, strategy="coarsen")
