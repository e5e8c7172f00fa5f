"""Brings the lanes of a warp together behind guarded code where ptxas loses some of them.

ptxas (12.8 to 13.0 seen, -O1 and above) makes a branch of guarded code at the end of a block, past it into the block
behind. If other ways lead there too, it sets no point at which the lanes meet again: some come to the next barrier
without the others, and to one that counts warps twice. A `bar.warp.sync` keeps the block's end where it is.

Requires: the final order of all code. Ensures: the same code, and that instruction at the end of each such block that
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

MEET = Instruction("bar.warp.sync", (Immediate("0xffffffff"),))


def reconverge(scheduled: Flow, converged: Sequence[Converged], merged: Merged) -> Flow:
    """The scheduled flow of kernels that have converged."""
    as_written = {k for k, c in enumerate(converged) if c.as_written}
    return ensured("reconverge", reconverged(scheduled.without_empty(), merged.apart(as_written)), scheduled)


def reconverged(flow: Flow, apart: Collection[str]) -> Flow:
    """`apart` are the blocks that lanes of one warp may come to without each other."""
    ways_in = flow.graph().pred

    def forks(name: str, block: Block) -> bool:
        if name in apart or not isinstance(block.end, Jump):
            return False
        target = block.end.target
        return target != EXIT and len(ways_in[target]) > 1 and _ends_guarded(block.code)

    return Flow(
        flow.entry,
        {n: replace(b, code=(*b.code, MEET)) if forks(n, b) else b for n, b in flow.blocks.items()},
    )


def _ends_guarded(code: tuple[Code, ...]) -> bool:
    """Whether nothing stands behind guarded code that ptxas would not move or drop."""
    for item in reversed(code):
        if not isinstance(item, Instruction):
            return False
        if item.guard is not None:
            return True
        if not facts_of(item.opcode).moves:
            return False
    return False
