"""The registers that a kernel needs as one role of folded grids, by what the assembler says of the kernel alone.

As a role it needs a few more, for the loop over virtual CTAs. So what it spills with so many registers is taken to be
what it spills alone with fewer: rotary embedding woven x2 spills 184 bytes as a role of 64 registers, alone 32 of 64
and 160 of 56; cross entropy beside Adam 738 bytes in 32 registers each, both alone 128 of 32 and 650 of 24.

Requires an assembler, no GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import cache

from goptx.cost.role_registers import RoleDemand, rounded_up
from goptx.device.assemble import Assembly
from goptx.device.assembler_log import read_serialized
from goptx.errors import AssemblyError
from goptx.results.fused_kernel import Woven
from goptx.weaving.shapes.folded import FEWEST_REGISTERS, MOST_REGISTERS, REGISTER_STEP

SPILLS = 256  # bytes per thread that a cap may spill more than no cap
LOOP = REGISTER_STEP  # registers of the loop: the number of the virtual CTA, the last, the step, what follows from them

PROBES = 3  # caps that the assembler is asked of at once
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
        below = cap - LOOP
        as_role = made(below) if below >= FEWEST_REGISTERS else None
        if as_role and not slower(as_role):
            return _spilled(as_role) <= spilled + more
        found = made(cap)
        if found is None or slower(found):
            return False
        if as_role:  # other code
            return _spilled(found) <= spilled + more
        few = more > 0 and below < FEWEST_REGISTERS and _spilled(found) <= spilled
        return few or alone.registers + LOOP <= cap

    with ThreadPoolExecutor(2) as searches, ThreadPoolExecutor(2 * PROBES) as assemblers:

        def fewest(more: int) -> int:
            return _fewest(free, lambda cap: holds(cap, more), assemblers)

        entries = assemblers.map(made, ENTRIES)
        least, tolerable = searches.map(fewest, (0, SPILLS))
        tolerable = min(least, tolerable)
        entry = next((cap for cap, found in zip(ENTRIES, entries, strict=True) if found), tolerable)
    return RoleDemand(free, least, tolerable, alone.shared_bytes, min(entry, tolerable))


def _spilled(made: Assembly) -> int:
    """Bytes of a thread."""
    return made.spill_store_bytes + made.spill_load_bytes


def _fewest(enough: int, holds: Callable[[int], bool], assemblers: Executor) -> int:
    """The least multiple of 8 for which it holds, if it holds for all above that. On every machine the same caps are
    asked, so that the result is the same."""
    low, high = FEWEST_REGISTERS, enough
    while low < high:
        parts = (low + (high - low) * part // (PROBES + 1) for part in range(1, PROBES + 1))
        probes = list(dict.fromkeys(part // REGISTER_STEP * REGISTER_STEP for part in parts))
        found = dict(zip(probes, assemblers.map(holds, probes), strict=True))
        high = next((cap for cap in probes if found[cap]), high)
        low = max((cap + REGISTER_STEP for cap in probes if cap < high), default=low)
    return high
