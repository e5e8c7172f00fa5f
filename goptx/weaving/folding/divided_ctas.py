"""Kernels whose CTAs may be divided: parts of a CTA run at different times, or on different SMs.

The threads of a warp stay together. Those of different warps may need each other where they wait, synchronize, share
memory, or order accesses for their CTA only.
"""

from __future__ import annotations

from goptx.analysis.cfg import Flow
from goptx.errors import CannotWeave
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import Scope, facts_of
from goptx.weaving.model import Kernel, Linked
from goptx.weaving.shapes.shared_pool import shared_of


def check_divided(linked: Linked, kernel: Kernel) -> None:
    """Raises `CannotWeave` where the plan divides CTAs of the kernel, and their warps may need each other."""
    plan = linked.plan
    if plan is None or plan.parts_of(plan.letters.index(kernel.letter)) == 1:
        return
    own, obstacle = shared_of(kernel, linked), first_obstacle(kernel.flow)
    if obstacle is not None:
        what = f"{kernel.at(obstacle.line)}: `{kernel.quote(obstacle)}` may concern other warps of its CTA"
    elif own.static or own.dynamic:
        what = f"{kernel.at(kernel.entry.line)}: the warps of a CTA share memory"
    else:
        return
    raise CannotWeave(
        f"{what}, and parts of a CTA run at different times; leave out parts= for kernel {kernel.letter}.",
        rule="folded-grids",
    )


def first_obstacle(flow: Flow) -> Instruction | None:
    """The first instruction that may concern other warps of its CTA, but for accesses to shared memory, and for loops
    that wait for other threads: those are refused wherever grids are folded."""
    return next((i for i in flow.instructions() if _concerns_others(i)), None)


def _concerns_others(instruction: Instruction) -> bool:
    facts = facts_of(instruction.opcode)
    fence = facts.row.access == "f" and facts.row.scope != Scope.WARP
    return fence or facts.row.scope > Scope.WARP or facts.calls or "cta" in facts.modifiers
