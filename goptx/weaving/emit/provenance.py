"""Finds for each instruction of a fused entry the kernel that it comes from, and its line in that kernel's file.

Requires: the flows that were merged, and the entry whose body holds their instructions, each with its provenance.
"""

from __future__ import annotations

from collections.abc import Sequence

from goptx.analysis.cfg import Flow
from goptx.analysis.dataflow import read, register_of
from goptx.ptx.ir import Function, Instruction
from goptx.ptx.walk import statements_in
from goptx.results.fused_kernel import Origin
from goptx.weaving.model import Kernel


def origins(kernels: Sequence[Kernel], flows: Sequence[Flow], entry: Function) -> tuple[Origin | None, ...]:
    """The origin of each instruction of `entry` in the order of the text, including those within braces.

    Branches are made when the flow is written; a branch belongs to the kernel whose register it tests. Plain jumps and
    the final `ret` have no origin.
    """
    tested = {register_of(name): k for k, flow in enumerate(flows) for end in flow.ends() for name in end.reads()}

    def origin(instruction: Instruction) -> Origin | None:
        number = instruction.kernel
        if number is None:
            number = next((tested[r] for r in read(instruction) if r in tested), None)
        return None if number is None else Origin(kernels[number].letter, kernels[number].source, instruction.line)

    return tuple(origin(s) for s in statements_in(entry.body or ()) if isinstance(s, Instruction))
