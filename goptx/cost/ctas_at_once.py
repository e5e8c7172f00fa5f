"""How many CTAs of a fused kernel a GPU holds at once, where grids are folded."""

from __future__ import annotations

from goptx.cost.hardware import machine_of
from goptx.cost.register_estimate import pressure
from goptx.device.occupancy import occupancy
from goptx.weaving.model import Linked
from goptx.weaving.shapes.folded import Folded


def ctas_at_once(plan: Folded, linked: Linked) -> int:
    """By threads, dynamic shared memory where it is known, and registers: those at entry, or else as many as the
    hungriest kernel is estimated to take. At least one for each SM."""
    arch = linked.target[0]
    registers = plan.registers_at_entry or max(pressure(k.flow, k.registers).registers for k in linked.kernels)
    fitting = occupancy(arch, registers, plan.shape.shared or 0, sum(plan.partition)).ctas_per_sm
    return machine_of(arch).sms * max(fitting, 1)
