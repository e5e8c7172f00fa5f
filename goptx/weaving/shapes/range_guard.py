"""Range guards: before a kernel with fewer warps or CTAs than the fused one, the surplus ones skip it.

Requires: a converged flow, in which every CTA barrier meets all threads of the kernel's own CTA. Ensures: whole warps
skip the kernel. The analyses before this pass do not see these warps: they see the kernel's own CTA only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from goptx.analysis.cfg import EXIT, Block, Flow
from goptx.analysis.terminators import Branch
from goptx.ptx.ir import Guard, Name
from goptx.weaving.invariants import ensured
from goptx.weaving.model import Converged, Linked, RangeGuard

RANGE_GUARD = "gate"  # the block


def guard_ranges(linked: Linked, converged: Sequence[Converged]) -> list[Converged]:
    """Each kernel with its guard before it."""
    guarded = [
        with_range_guard(made, kernel.range_guard) for kernel, made in zip(linked.kernels, converged, strict=True)
    ]
    return ensured("guard ranges", guarded, linked)


def with_range_guard(converged: Converged, range_guard: RangeGuard | None) -> Converged:
    """With the guard before it, if there is one."""
    if range_guard is None or range_guard.ended is None:
        return replace(converged, threads=range_guard.threads) if range_guard else converged
    flow = converged.flow
    end = Branch(Guard(Name(range_guard.ended)), EXIT, flow.entry, uniform=True)
    return replace(
        converged,
        flow=Flow(RANGE_GUARD, {RANGE_GUARD: Block(range_guard.code, end), **flow.blocks}),
        threads=range_guard.threads,
    )
