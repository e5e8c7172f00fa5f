"""Says of each instruction of a woven entry which kernel it comes from, and where it stands in that kernel's file.

Requires: the flows that were merged, and the entry whose body holds their instructions: the passes behind the
merge order instructions and copy blocks, but make no instruction anew, so that each is known by its identity.
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
    """Of each instruction of `entry` in the order of the text, those within braces among them.

    Branches are made anew when the flow is written; one belongs to the kernel whose register it tests. What
    tests none and stands in no kernel's flow has no origin: plain jumps and the final `ret`.
    """
    code: dict[int, Kernel] = {}
    tested: dict[str, Kernel] = {}
    for kernel, flow in zip(kernels, flows, strict=True):
        code |= {id(i): kernel for i in flow.instructions()}
        tested |= {register_of(name): kernel for end in flow.ends() for name in end.reads()}

    def origin(instruction: Instruction) -> Origin | None:
        kernel = code.get(id(instruction)) or next((tested[r] for r in read(instruction) if r in tested), None)
        return Origin(kernel.letter, kernel.source, instruction.line) if kernel else None

    return tuple(origin(s) for s in statements_in(entry.body or ()) if isinstance(s, Instruction))
