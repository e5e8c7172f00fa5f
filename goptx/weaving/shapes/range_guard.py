"""gate: ahead of a kernel with fewer warps or CTAs than the woven one, those too many end it at once.

Requires: a converged flow, in which every CTA barrier meets all threads of the kernel's own CTA. Ensures: whole warps
pass by; the analyses ahead of this pass never saw them, so to them the kernel's CTA is all there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from goptx.analysis.cfg import EXIT, Block, Flow
from goptx.analysis.terminators import Branch
from goptx.ptx.ir import Guard, Name
from goptx.weaving.invariants import ensured
from goptx.weaving.model import Converged, Linked, RangeGuard

GATE = "gate"  # the block


def guard_ranges(linked: Linked, converged: Sequence[Converged]) -> list[Converged]:
    """Each kernel with its guard ahead of it."""
    guarded = [
        with_range_guard(made, kernel.range_guard) for kernel, made in zip(linked.kernels, converged, strict=True)
    ]
    return ensured("guard ranges", guarded, linked)


def with_range_guard(converged: Converged, gate: RangeGuard | None) -> Converged:
    """With the gate ahead of it, if there is one."""
    if gate is None or gate.ended is None:
        return replace(converged, threads=gate.threads) if gate else converged
    flow = converged.flow
    end = Branch(Guard(Name(gate.ended)), EXIT, flow.entry, uniform=True)
    return replace(converged, flow=Flow(GATE, {GATE: Block(gate.code, end), **flow.blocks}), threads=gate.threads)
