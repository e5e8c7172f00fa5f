"""The stack of a thread (`alloca`), which kernels that are woven share.

Requires: kernels whose code is to be woven. Ensures: no kernel frees what another has allocated: `stackrestore` frees
all that was allocated since `stacksave`, by any kernel. Functions free what they allocate before another kernel goes
on.
"""

from __future__ import annotations

from collections.abc import Sequence

from goptx.analysis.cfg import facts_among
from goptx.errors import CannotWeave
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of
from goptx.weaving.model import Kernel


def check_stacks(kernels: Sequence[Kernel]) -> None:
    """Raises `CannotWeave` where one kernel gives back stack and another takes some."""
    taking = [(k, i) for k, kernel in enumerate(kernels) if (i := _first(kernel, "alloca"))]
    for k, kernel in enumerate(kernels):
        restore = _first(kernel, "stackrestore")
        other = next((i for n, i in taking if n != k), None)
        if restore and other:
            raise CannotWeave(
                f"{kernel.at(restore.line)}: `{kernel.quote(restore)}` would free what another kernel has taken of the "
                f"stack of the thread (`{other.opcode}`, line {other.line}); use vertical, horizontal, interleave or "
                "separate launches.",
                rule="thread-stack",
            )


def _first(kernel: Kernel, base: str) -> Instruction | None:
    if all(facts.base != base for facts in facts_among(kernel.flow)):
        return None
    return next(i for i in kernel.flow.instructions() if facts_of(i.opcode).base == base)
