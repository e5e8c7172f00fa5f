"""Gives each kernel the launch shape that it was written for, and lays out the shared memory of all.

Requires: linked kernels. Ensures: what remap.py ensures where kernels have shapes of their own; else that all are right
in the one shape in which they are launched; clusters suit all kernels.
"""

from __future__ import annotations

from collections.abc import Sequence

from goptx.launch.shape import Shape
from goptx.options import Placement
from goptx.sources.kernel_text import Chosen
from goptx.weaving.invariants import ensured
from goptx.weaving.link.clusters import in_clusters
from goptx.weaving.model import Linked
from goptx.weaving.shapes.launch_demands import check_shared_sizes
from goptx.weaving.shapes.remap import Layout, with_shapes
from goptx.weaving.shapes.shared_pool import check_shared


def shape(
    linked: Linked,
    chosen: Sequence[Chosen],
    shapes: Sequence[Shape] | None = None,
    placement: Placement | None = None,
    layout: Layout | None = None,
) -> Linked:
    """`shapes` has one for each of the chosen kernels; None where they are launched in one common shape. `layout` is
    that of `with_shapes`. Raises what that raises."""
    compiled = [kernel.shape for kernel in chosen]
    alike = shapes is None and all(k.shape is None and k.coarse.factor == 1 for k in chosen)
    if alike:
        return ensured("shape", in_clusters(check_shared_sizes(check_shared(linked))))
    return ensured("shape", in_clusters(with_shapes(linked, shapes, placement, layout, compiled)))
