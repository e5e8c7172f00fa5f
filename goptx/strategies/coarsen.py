"""coarsen: one CTA does the work of several, each thread that of a thread of each, their instructions interleaved."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

from goptx.launch.shape import Shape
from goptx.options import Axis
from goptx.results.fused_kernel import Woven
from goptx.results.given_kernels import Source, chosen_from
from goptx.weaving.weave import weave
from goptx.weaving.weave_options import CoarsenOptions


def coarsen(
    source: Source,
    factor: int = 2,
    axis: Axis = "x",
    *,
    entry: str | None = None,
    shape: Shape | None = None,
    **options: Unpack[CoarsenOptions],
) -> Woven:
    """The kernel woven with copies of itself, so that one CTA does the work of `factor` CTAs.

    With G the kernel's CTAs along `axis` and q = G // factor, CTA c < q of the result along that axis runs the kernel's
    CTAs c * factor ... c * factor + factor - 1. Neighbours are put together since they read what is near, often the
    same cache lines: what one has loaded is there for the other. The G % factor CTAs left over get a CTA each.
    The kernel reads its own %ctaid and %nctaid; each copy has shared memory of its own, parameters are common to all.
    Where copies come to a barrier of the CTA at one place, one barrier serves all.

    source: PTX text, its bytes, a path, a parsed module, or a kernel that was coarsened already along this axis.
    factor: 2 to 32; in a `shape` with fewer CTAs along the axis, it is their number.
    axis: "x", "y" or "z".
    entry: may be left out where the module has only one.
    shape: in what shape the kernel would be launched alone. A grid that `factor` divides takes no branch for CTAs left
        over, and the code for them is spared; without it, the CTAs along the axis become a hidden parameter.
    options: arch, name, policy, slicing, divergence, latency, max_blocks, max_growth, presume, as of `goptx.weave`.

    The result is launched as the kernel is: `launch(stream, args, grid=G, block=B)`, with the kernel's own grid; that
    of the launch follows. Among others, in `goptx.weave` or `goptx.fuse`, it counts as one kernel with the shape that
    the kernel has. Whether coarsening makes it faster has to be measured.

    Raises what `weave` raises: `InputError` for a factor or axis that is none, `CannotWeave` for a kernel with
    clusters, one that waits for other CTAs, and one that has addresses which depend on %smid.
    """
    kernel = chosen_from(source, entry, "coarsen()")
    kernel = replace(kernel, coarse=kernel.coarse.times(factor, axis))
    if shape is None and isinstance(source, Woven) and source.plan and not source.plan.common:
        (shape,) = source.plan.shapes
    woven = weave(kernel, shapes=None if shape is None else [shape], **options)
    return replace(woven, strategy="coarsen")
