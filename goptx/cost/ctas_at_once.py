"""How many CTAs of a fused kernel a GPU holds at once, where grids are folded."""

from __future__ import annotations

from goptx.cost.hardware import machine_of
from goptx.cost.register_estimate import pressure
from goptx.device.occupancy import occupancy
from goptx.weaving.model import Linked
from goptx.weaving.shapes.folded import FEWEST_REGISTERS, Folded
from goptx.weaving.shapes.interleaved import Interleaved


def ctas_at_once(plan: Folded, linked: Linked) -> int:
    """By threads, shared memory where it is known, and registers: those at entry, or else as many as the hungriest
    kernel is estimated to take. At least one for each SM.

    An assembler may get by with fewer than estimated. So an SM gets two CTAs if there is room for all but the
    registers: where one fits in fact, it runs them one after the other, each with half of the work."""
    arch, shared, threads = linked.target[0], plan.shape.shared or 0, sum(plan.role_threads)
    if plan.registers_at_entry:
        each = occupancy(arch, plan.registers_at_entry, shared, threads).ctas_per_sm
    else:
        each = _estimated(linked, shared, threads)
    return machine_of(arch).sms * max(each, 1)


def ctas_of_each(plan: Interleaved, linked: Linked) -> tuple[int, ...]:
    """As many of interleaved kernels as a GPU holds at once, shared out equally; at least one of each for each SM. What
    is left over is the first kernels'."""
    places = _estimated(linked, plan.shape.shared or 0, plan.shape.threads or 0)
    share, more = divmod(places, len(plan.letters))
    sms = machine_of(linked.target[0]).sms
    return tuple(sms * max(share + (k < more), 1) for k in range(len(plan.letters)))


def _estimated(linked: Linked, shared: int, threads: int) -> int:
    """CTAs on an SM, each thread with as many registers as the hungriest kernel is estimated to take."""
    arch = linked.target[0]
    registers = max(pressure(k.flow, k.registers).registers for k in linked.kernels)
    fewest = occupancy(arch, FEWEST_REGISTERS, shared, threads).ctas_per_sm
    return max(occupancy(arch, registers, shared, threads).ctas_per_sm, min(2, fewest))
