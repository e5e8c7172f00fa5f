"""How many CTAs of a fused kernel a GPU holds at once, where grids are folded."""

from __future__ import annotations

from goptx.cost.hardware import machine_of
from goptx.cost.register_estimate import pressure
from goptx.device.occupancy import occupancy
from goptx.weaving.model import Linked
from goptx.weaving.shapes.folded import FEWEST_REGISTERS, Folded


def ctas_at_once(plan: Folded, linked: Linked) -> int:
    """By threads, dynamic shared memory where it is known, and registers: those at entry, or else as many as the
    hungriest kernel is estimated to take. At least one for each SM.

    An assembler may get by with fewer than estimated. So an SM gets two CTAs if there is room for all but the
    registers: where one fits in fact, it runs them one after the other, each with half of the work."""
    arch, shared, threads = linked.target[0], plan.shape.shared or 0, sum(plan.role_threads)

    def fitting(registers: int) -> int:
        return occupancy(arch, registers, shared, threads).ctas_per_sm

    if plan.registers_at_entry:
        each = fitting(plan.registers_at_entry)
    else:
        estimated = max(pressure(k.flow, k.registers).registers for k in linked.kernels)
        each = max(fitting(estimated), min(2, fitting(FEWEST_REGISTERS)))
    return machine_of(arch).sms * max(each, 1)
