"""Which kernel's CTAs are taken in strides, so that the few that do something run beside CTAs of other kernels.

A kernel that is launched with many more CTAs than it has work for ends most of them at once: all but the first, as a
rule. What the first CTAs do then takes long, while the others have nothing beside them. Taken in strides, those that do
something lie all over the grid. Where all of them do, the kernel takes nearly all of the time in any order.
"""

from __future__ import annotations

from goptx.analysis.early_ends import early_end
from goptx.analysis.loops.trips import trips_in_launch
from goptx.launch.launch_plan import STRIDE, Plan
from goptx.weaving.model import Kernel, Linked

MANY = 1 << 18  # CTAs, hundreds of times what a GPU holds: they are short, or most end at once


def strided(linked: Linked, plan: Plan) -> frozenset[int]:
    """The kernel whose CTAs may end at once and run loops of unknown length otherwise, if it has very many, and the
    others have no such loops."""
    given = linked.given
    if len(given) < 2 or not any((shape.ctas or 0) >= MANY for shape in plan.shapes):
        return frozenset()
    long = [k for k, kernel in enumerate(given) if _is_long(kernel, plan, k)]
    return frozenset(long) if len(long) == 1 and _may_be_strided(given[long[0]], plan, long[0]) else frozenset()


def _is_long(kernel: Kernel, plan: Plan, position: int) -> bool:
    """Whether it has loops of unknown length."""
    return None in trips_in_launch(kernel.flow, plan.shapes[position]).values()


def _may_be_strided(kernel: Kernel, plan: Plan, position: int) -> bool:
    shape, coarse = plan.shapes[position], plan.coarse[position]
    along_x = shape.axes("grid")[1:] == (1, 1) and (coarse.factor == 1 or coarse.axis == 0)
    ctas = shape.ctas or 0
    return along_x and ctas >= MANY and not ctas % (STRIDE * coarse.factor) and early_end(kernel.flow) is not None
