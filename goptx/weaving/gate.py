"""gate: ahead of a kernel with fewer warps or CTAs than the woven one, those too many end it at once.

Requires: a converged flow, in which every CTA barrier meets all threads of the kernel's own CTA. Ensures: whole warps
pass by; the analyses ahead of this pass never saw them, so to them the kernel's CTA is all there is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from goptx.analysis.cfg import EXIT, Block, Branch, Flow, Jump
from goptx.ptx.ir import Guard, Instruction, Name, Operand
from goptx.weaving.divergence.converged import Converged


@dataclass(frozen=True, slots=True)
class Gate:
    """`code` sets the predicates `ended` of the threads that end at once, asked one after the other: the same for all
    threads of a CTA, or, where `threads` is given, the first for those of a warp. None of them ends nobody: copies of
    a kernel have their gates side by side. `threads` (a multiple of 32) is for how many the kernel's barriers wait."""

    code: tuple[Instruction, ...]
    ended: tuple[str | None, ...]
    threads: Operand | None


def gated(converged: Converged, gate: Gate | None) -> Converged:
    """With the gate ahead of it, if there is one."""
    if gate is None:
        return converged
    flow = converged.flow
    names = ["gate", *(f"gate{i}" for i in range(1, len(gate.ended))), flow.entry]
    blocks: dict[str, Block] = {}
    for name, following, ended in zip(names, names[1:], gate.ended, strict=False):
        end = Branch(Guard(Name(ended)), EXIT, following, uniform=True) if ended else Jump(following)
        blocks[name] = Block(() if blocks else gate.code, end)
    return replace(converged, flow=Flow("gate", {**blocks, **flow.blocks}), threads=gate.threads)
