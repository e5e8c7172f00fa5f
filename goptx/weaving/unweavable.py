"""Instructions that cannot be woven with any other kernel, and why."""

from __future__ import annotations

from collections.abc import Callable

from goptx.analysis.influence import Addresses
from goptx.errors import CannotWeave
from goptx.ptx.ir import Address, Instruction
from goptx.ptx.opcodes import facts_of

# By the resource that a CTA has once for all of its kernels.
REFUSED = {
    "registers": "kernels that share a CTA share its pool of registers, and where one waits for registers the "
    "other's warps may hold them",
    "tensor memory": "tensor memory is allocated for the whole CTA",
    "CTAs to come": "a CTA that has not begun belongs to the other kernel too",
    "breakpoint": "a breakpoint stops both kernels",
    "handles": "it reaches memory through a handle, which no address can be compared with",
}


Describe = Callable[[Instruction], str]  # names an instruction and its place


def refuse_instruction(instruction: Instruction, describe: Describe) -> None:
    """Raises `CannotWeave` for an instruction that cannot be woven."""
    resource = facts_of(instruction.opcode).exclusive
    if resource:
        raise CannotWeave(
            f"{describe(instruction)} cannot be woven: {REFUSED[resource]}; use separate launches.",
            rule="exclusive-resources",
        )


def refuse_spin(waited: Instruction, describe: Describe, addresses: Addresses) -> None:
    """Raises `CannotWeave` if a loop that waits for what the instruction reads may wait for other CTAs. `addresses` are
    those of the flow that it stands in."""
    facts = facts_of(waited.opcode)
    own_memory = facts.space == "shared" and "shared::cluster" not in facts.modifiers
    if not facts.space:
        own_memory = all(addresses.is_shared(o) for o in waited.operands if isinstance(o, Address))
    if not (own_memory or facts.acts_on_mbarrier or "cta" in facts.modifiers):
        raise CannotWeave(
            f"{describe(waited)} decides when a loop ends, so the loop may wait for other CTAs, which the woven "
            "kernel, with its larger CTAs, could keep from running; use separate launches.",
            rule="wait-for-other-ctas",
        )
