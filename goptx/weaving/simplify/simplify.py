"""Rewrites each kernel so that it needs fewer instructions.

Requires: shaped kernels. Ensures: each computes what it did, with effects in their order; registers are declared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from goptx.analysis.loops.trips import loop_trips
from goptx.analysis.numbering import completed
from goptx.launch.shape import Shape
from goptx.weaving.dependent.dead_code import without_unused
from goptx.weaving.invariants import ensured
from goptx.weaving.model import Kernel, Linked
from goptx.weaving.shapes.scalar_code import Fresh, free_stem
from goptx.weaving.simplify.constant_divisors import by_shifts
from goptx.weaving.simplify.definitions import DIVISION
from goptx.weaving.simplify.meld import meld
from goptx.weaving.simplify.quotient_guards import by_products
from goptx.weaving.simplify.sink import after_early_ends


def simplify(linked: Linked, shapes: Sequence[Shape] | None) -> Linked:
    """The kernels without divergent branches whose sides can be one, and with cheaper divisions, or without them.
    `shapes` has the launches in which the given kernels would run alone, as far as they are known: whether the lanes of
    a warp diverge may depend on it."""
    own = linked.own_shapes(shapes)
    melded = (meld(k, number, own.get(k.letter)) for number, k in enumerate(linked.kernels))
    kernels = tuple(_with_cheap_divisions(k, number) for number, k in enumerate(melded))
    return ensured("simplify", replace(linked, kernels=kernels))


def _with_cheap_divisions(kernel: Kernel, number: int) -> Kernel:
    if not any(map(DIVISION.fullmatch, kernel.flow.opcodes)):
        return kernel
    fresh = Fresh(free_stem(f"%{kernel.prefix}_q", kernel.register_names()))
    before = completed(kernel.flow, number)
    is_long = None in loop_trips(before).values()
    flow = by_products(by_shifts(before, fresh), fresh, is_long)
    if flow is not before:
        (flow,) = without_unused([completed(flow, number)], before)
    return replace(kernel, flow=after_early_ends(flow), registers=(*kernel.registers, *fresh.declared()))
