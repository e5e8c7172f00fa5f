"""gate: ahead of a kernel with fewer warps or CTAs than the woven one, those too many end it at once.

Requires: a converged flow, in which every CTA barrier meets all threads of the kernel's own CTA. Ensures: whole warps
pass by; the analyses ahead of this pass never saw them, so to them the kernel's CTA is all there is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from goptx.analysis.cfg import EXIT, Block, Flow
from goptx.analysis.ends import Branch
from goptx.ptx.ir import Guard, Instruction, Name, Operand
from goptx.weaving.divergence.converged import Converged

GATE = "gate"  # the block


@dataclass(frozen=True, slots=True)
class Gate:
    """`code` sets the predicate `ended` of the threads that end at once: the same for all threads of a CTA, or, where
    `threads` is given, for those of a warp. `threads` (a multiple of 32) is for how many the kernel's barriers wait.
    A copy of a kernel, which does not end by itself (copies.py), has no `ended` but may have `threads`."""

    code: tuple[Instruction, ...]
    ended: str | None
    threads: Operand | None


def gated(converged: Converged, gate: Gate | None) -> Converged:
    """With the gate ahead of it, if there is one."""
    if gate is None or gate.ended is None:
        return replace(converged, threads=gate.threads) if gate else converged
    flow = converged.flow
    end = Branch(Guard(Name(gate.ended)), EXIT, flow.entry, uniform=True)
    return replace(converged, flow=Flow(GATE, {GATE: Block(gate.code, end), **flow.blocks}), threads=gate.threads)
