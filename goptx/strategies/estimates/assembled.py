"""What the assembler says against a candidate of `auto`: an estimate cannot know its machine code.

Requires an assembler, no GPU.
"""

from __future__ import annotations

from goptx.cost.estimate import Estimate
from goptx.device.assembler_log import read_serialized
from goptx.device.occupancy import occupancy
from goptx.results.fused_kernel import Woven

TRIED = 5  # at most so many candidates are assembled


def problem(made: Woven, expected: Estimate, alone: int, threads: int) -> str:
    """Why the kernel, as it was made, is not to be chosen: it spills registers; its tensor operations are serialized;
    or fewer CTAs fit on an SM than was expected, and than with the registers that the kernels take `alone`. "" if
    nothing is wrong. A CTA has so many `threads` if its shape is not known. Raises `AssemblyError`."""
    found = made.assembly()
    if spilled := found.spill_store_bytes + found.spill_load_bytes:
        return f"its machine code spills registers ({spilled} bytes)"
    if remark := read_serialized(found.log):
        return f"the assembler warns: {remark}"
    shape = made.shape
    threads = (shape and shape.threads) or threads
    shared = found.shared_bytes + ((shape and shape.shared) or 0)
    fit, hoped = (
        occupancy(found.arch, registers, shared, threads).fraction
        for registers in (found.registers, max(expected.registers, alone))
    )
    if fit < hoped:
        return f"its machine code takes {found.registers} registers, with which an SM holds {fit:.0%} of its warps"
    return ""
