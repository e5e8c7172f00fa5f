"""After which instructions a thread may see what others released, and which functions hold none of these."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from goptx.analysis.cfg import instructions_in
from goptx.analysis.influence import callee_of
from goptx.ptx.ir import Function, Instruction, Item, Scope
from goptx.ptx.opcodes import facts_of


def may_acquire(instruction: Instruction, harmless: Collection[str] = ()) -> bool:
    """Whether its thread may see after it what others released; calls of `harmless` functions apart."""
    facts = facts_of(instruction.opcode)
    return facts.acquires and not (facts.calls and callee_of(instruction) in harmless)


def harmless_functions(items: Iterable[Item]) -> frozenset[str]:
    """Those in which a thread acquires nothing and meets no others, nor in what they call."""
    bodies = {i.name: i.body for i in items if isinstance(i, Function) and i.body is not None}
    code = {n: list(instructions_in(Scope(body))) for n, body in bodies.items()}
    found = frozenset(code)
    while True:
        left = {n for n in found if not any(may_acquire(i, found) or is_meeting(i) for i in code[n])}
        if left == found:
            return found
        found = frozenset(left)


def is_meeting(instruction: Instruction) -> bool:
    """Whether it is a barrier or a fence, where threads hand on to others what they have acquired."""
    return facts_of(instruction.opcode).row.access == "f"
