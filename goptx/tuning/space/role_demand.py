"""The registers that a kernel needs as one role of folded grids, by what the assembler says of the kernel alone.

Requires an assembler, no GPU.
"""

from __future__ import annotations

from collections.abc import Callable

from goptx.cost.role_registers import RoleDemand, rounded_up
from goptx.device.assembler_log import read_serialized
from goptx.results.fused_kernel import Woven
from goptx.weaving.shapes.folded import FEWEST_REGISTERS, MOST_REGISTERS, REGISTER_STEP

SPILLS = 256  # bytes per thread that a cap may spill more than no cap


def role_demand(kernel: Woven) -> RoleDemand:
    """What one kernel needs, coarsened or not. Raises `AssemblyError`."""
    alone = kernel.assembly(MOST_REGISTERS)
    free = rounded_up(alone.registers)
    spilled, serialized = alone.spill_store_bytes + alone.spill_load_bytes, bool(read_serialized(alone.log))

    def holds(cap: int, more: int) -> bool:
        made = kernel.assembly(cap)
        slower = bool(read_serialized(made.log)) and not serialized
        return not slower and made.spill_store_bytes + made.spill_load_bytes <= spilled + more

    least = _fewest(free, lambda cap: holds(cap, 0))
    return RoleDemand(free, least, _fewest(least, lambda cap: holds(cap, SPILLS)), alone.shared_bytes)


def _fewest(enough: int, holds: Callable[[int], bool]) -> int:
    """The least multiple of 8 for which it holds, if it holds for all above that."""
    low, high = FEWEST_REGISTERS, enough
    while low < high:
        middle = (low + high) // (2 * REGISTER_STEP) * REGISTER_STEP
        low, high = (low, middle) if holds(middle) else (middle + REGISTER_STEP, high)
    return high
