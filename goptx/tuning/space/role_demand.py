"""The registers that a kernel needs as one role of folded grids, by what the assembler says of the kernel alone.

As a role it needs a few more, for the loop over virtual CTAs. So what it spills with so many registers is taken to be
what it spills alone with fewer: rotary embedding woven x2 spills 184 bytes as a role of 64 registers, alone 32 of 64
and 160 of 56; cross entropy beside Adam 738 bytes in 32 registers each, both alone 128 of 32 and 650 of 24.

Requires an assembler, no GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from goptx.cost.role_registers import RoleDemand, rounded_up
from goptx.device.assemble import Assembly
from goptx.device.assembler_log import read_serialized
from goptx.errors import AssemblyError
from goptx.results.fused_kernel import Woven
from goptx.weaving.shapes.folded import FEWEST_REGISTERS, MOST_REGISTERS, REGISTER_STEP

SPILLS = 256  # bytes per thread that a cap may spill more than no cap
LOOP = REGISTER_STEP  # registers of the loop: the number of the virtual CTA, the last, the step, what follows from them

ENTRIES = (FEWEST_REGISTERS, 64, 96, 128)  # registers of a thread when a kernel begins, of which the least is found


def role_demand(kernel: Woven) -> RoleDemand:
    """What one kernel needs, coarsened or not. Raises `AssemblyError`."""
    alone = kernel.assembly(MOST_REGISTERS)
    free = min(rounded_up(alone.registers + LOOP), MOST_REGISTERS)
    spilled, serialized = _spilled(alone), bool(read_serialized(alone.log))

    @cache
    def made(cap: int) -> Assembly | None:
        """None where the assembler refuses the cap."""
        try:
            return kernel.assembly(cap)
        except AssemblyError:
            return None

    def slower(found: Assembly) -> bool:
        return bool(read_serialized(found.log)) and not serialized

    def holds(cap: int, more: int) -> bool:
        as_role = made(cap - LOOP) if cap - LOOP >= FEWEST_REGISTERS else None
        if as_role and not slower(as_role):
            return _spilled(as_role) <= spilled + more
        found = made(cap)
        if found is None or slower(found):
            return False
        return _spilled(found) <= spilled + more if as_role else alone.registers + LOOP <= cap

    least = _fewest(free, lambda cap: holds(cap, 0))
    tolerable = _fewest(least, lambda cap: holds(cap, SPILLS))
    entry = next((cap for cap in ENTRIES if cap < tolerable and made(cap)), tolerable)
    return RoleDemand(free, least, tolerable, alone.shared_bytes, entry)


def _spilled(made: Assembly) -> int:
    """Bytes of a thread."""
    return made.spill_store_bytes + made.spill_load_bytes


def _fewest(enough: int, holds: Callable[[int], bool]) -> int:
    """The least multiple of 8 for which it holds, if it holds for all above that."""
    low, high = FEWEST_REGISTERS, enough
    while low < high:
        middle = (low + high) // (2 * REGISTER_STEP) * REGISTER_STEP
        low, high = (low, middle) if holds(middle) else (middle + REGISTER_STEP, high)
    return high
