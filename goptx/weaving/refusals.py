"""What cannot be woven whatever stands beside it, and why (design.md, contracts 3 and 6)."""

from __future__ import annotations

import re

from goptx.errors import CannotWeave
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of

# By the beginning of the opcode; "" is for what names a cluster in any other way.
REFUSED = {
    "setmaxnreg": "register reallocation: the pool of registers that it takes from is another one when kernels share "
    "a CTA, and where it waits for registers the other kernel may hold them",
    "griddepcontrol": "programmatic dependent launch",
    "wgmma": "warpgroup instructions",
    "tcgen05": "tensor memory: it is allocated for the whole CTA",
    "brkpt": "breakpoints",
}
CLUSTERS = "cluster synchronisation, memory and registers"


def refuse_instruction(instruction: Instruction, said: str) -> None:
    """Raises `CannotWeave` for an instruction that cannot be woven; `said` names it and its place."""
    meaning = next((m for word, m in REFUSED.items() if instruction.opcode.startswith(word)), "")
    if not meaning and _is_of_clusters(instruction):
        meaning = CLUSTERS
    if meaning:
        raise CannotWeave(
            f"{said}: {meaning} cannot be woven (contract 3, one order of waiting); use separate launches."
        )


def _is_of_clusters(instruction: Instruction) -> bool:
    """Whether it concerns other CTAs of a cluster. Without `mapa`, addresses of the window `.shared::cluster` are the
    CTA's own, which is how copies into shared memory and their mbarriers are spelled."""
    words = instruction.opcode.split(".")
    if words[0] in ("mapa", "getctarank", "clusterlaunchcontrol") or "multicast::cluster" in words:
        return True
    if words[:2] == ["barrier", "cluster"] or re.search(r"%(is_explicit_|n)?cluster", str(instruction)):
        return True
    return "shared::cluster" in words and facts_of(instruction.opcode).base in ("ld", "st", "atom", "red")


def refuse_spin(waited: Instruction, said: str) -> None:
    """Raises `CannotWeave` if a loop that waits for what the instruction reads may wait for other CTAs; `said` names it
    and its place."""
    facts = facts_of(waited.opcode)
    if facts.base != "mbarrier" and (facts.space != "shared" or "shared::cluster" in facts.modifiers):
        raise CannotWeave(
            f"{said} decides when a loop ends, so the loop may wait for other CTAs (M18), which the woven kernel, "
            "with its larger CTAs, could keep from running; use separate launches."
        )
