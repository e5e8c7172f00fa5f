"""Kernels with instructions that goptx has no facts about: they run last, whole and as written.

Requires: the control flow of one kernel. Ensures: each of its instructions stands in the woven kernel once and is
reached by the same threads together as in the kernel alone; a thread that ends the kernel ends.
"""

from __future__ import annotations

from goptx.analysis.cfg import EXIT, Block, Flow, Region, facts_among
from goptx.analysis.terminators import Jump, Stop
from goptx.errors import CannotWeave
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of
from goptx.weaving.converge.single_entry import is_reducible
from goptx.weaving.model import Converged


def first_unknown(flow: Flow) -> Instruction | None:
    """The first instruction of a flow that the opcode table lacks; None where it knows all."""
    if all(facts.known for facts in facts_among(flow)):
        return None
    return next(i for i in flow.instructions() if not facts_of(i.opcode).known)


def whole(flow: Flow, described: str) -> Converged:
    """The whole flow as one region, to run after the other kernel. `described` names the unknown instruction.

    Raises `CannotWeave` where a loop has multiple entries, since undoing that would copy instructions.
    """
    if not is_reducible(flow):
        raise CannotWeave(
            f"{described} is not an instruction that goptx knows, and a loop of its kernel has multiple entries, which "
            "weaving would have to copy; use separate launches.",
            rule="known-instructions",
        )
    inside = {n: b for n, b in flow.blocks.items() if n != EXIT}
    block = Block((), Jump(EXIT), (), Region(flow.entry, inside, EXIT))
    note = f"{described} is not an instruction that goptx knows: its kernel runs after the other, as it is written"
    return Converged(Flow("whole", {"whole": block, EXIT: Block((), Stop())}), notes=(note,), last=True)
