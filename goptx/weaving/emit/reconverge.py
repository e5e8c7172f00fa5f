"""Reconverges the lanes of a warp after guarded code where ptxas does not.

ptxas (seen in 12.8 to 13.0, -O1 and above) makes a branch of guarded code at the end of a block, past it into the next
block. If other paths lead there too, ptxas sets no point at which the lanes reconverge. Some lanes then come to the
next barrier without the others, so the warp arrives twice at a barrier that counts warps. A `bar.warp.sync` keeps the
block's end where it is.

Requires: the final order of all code. Ensures: the same code, with that instruction at the end of each such block that
whole warps come to.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from goptx.analysis.cfg import EXIT, Block, Code, Flow
from goptx.analysis.terminators import Jump
from goptx.ptx.ir import Immediate, Instruction
from goptx.ptx.opcodes import facts_of
from goptx.weaving.invariants import ensured
from goptx.weaving.merging.merged_blocks import Merged
from goptx.weaving.model import Converged

RECONVERGE = Instruction("bar.warp.sync", (Immediate("0xffffffff"),))


def reconverge(scheduled: Flow, converged: Sequence[Converged], merged: Merged) -> Flow:
    """The scheduled flow of kernels that have converged."""
    as_written = {k for k, c in enumerate(converged) if c.as_written}
    return ensured("reconverge", reconverged(scheduled.without_empty(), merged.diverged(as_written)), scheduled)


def reconverged(flow: Flow, diverged: Collection[str]) -> Flow:
    """`diverged` are the blocks that lanes of one warp may come to separately."""
    predecessors = flow.predecessors()

    def forks(name: str, block: Block) -> bool:
        if name in diverged or not isinstance(block.end, Jump):
            return False
        target = block.end.target
        return target != EXIT and len(predecessors[target]) > 1 and _ends_guarded(block.code)

    return Flow(
        flow.entry,
        {n: replace(b, code=(*b.code, RECONVERGE)) if forks(n, b) else b for n, b in flow.blocks.items()},
    )


def _ends_guarded(code: tuple[Code, ...]) -> bool:
    """Whether the code ends in a guarded instruction, but for instructions that ptxas may move or drop."""
    for item in reversed(code):
        if not isinstance(item, Instruction):
            return False
        if item.guard is not None:
            return True
        if not facts_of(item.opcode).moves:
            return False
    return False
