"""Instructions after which a thread may see what others released, and functions without such instructions."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from goptx.analysis.cfg import instructions_in
from goptx.analysis.influence import callee_of
from goptx.ptx.ir import Function, Instruction, Item, Scope
from goptx.ptx.opcodes import facts_of


def may_acquire(instruction: Instruction, non_acquiring: Collection[str] = ()) -> bool:
    """Whether its thread may see after it what others released. Calls of `non_acquiring` functions do not count."""
    facts = facts_of(instruction.opcode)
    return facts.acquires and not (facts.calls and callee_of(instruction) in non_acquiring)


def non_acquiring_functions(items: Iterable[Item]) -> frozenset[str]:
    """The functions without acquires, barriers and fences, in themselves and in the functions that they call."""
    bodies = {i.name: i.body for i in items if isinstance(i, Function) and i.body is not None}
    code = {n: list(instructions_in(Scope(body))) for n, body in bodies.items()}
    found = frozenset(code)
    while True:
        left = {n for n in found if not any(may_acquire(i, found) or is_barrier_or_fence(i) for i in code[n])}
        if left == found:
            return found
        found = frozenset(left)


def is_barrier_or_fence(instruction: Instruction) -> bool:
    """Whether it is a barrier or a fence, where a thread passes on to others what it has acquired."""
    return facts_of(instruction.opcode).row.access == "f"
