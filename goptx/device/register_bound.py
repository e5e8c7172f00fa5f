"""The register cap with which a horizontally fused kernel retains the occupancy of its kernels (HFUSE, CGO 2022)."""

from __future__ import annotations

from collections.abc import Sequence

from goptx.device.occupancy import occupancy
from goptx.errors import InputError

REGISTERS = 1 << 16  # registers of an SM, on every architecture
MOST = 255  # registers of a thread
STEP = 8  # registers are allocated to a thread in such steps


def register_bound(threads: Sequence[int], registers: Sequence[int], arch: str, shared_bytes: int = 0) -> int | None:
    """The cap for a thread, r0 = R / (b0 d0), rounded down to a multiple of 8; None where it exceeds a thread's
    maximum.

    threads: of each kernel within the fused CTA, as in `partition`; d0 is their sum. registers: of a thread of each
    separate kernel. shared_bytes: of the fused kernel's CTA, static and dynamic. With R the registers of an SM, b0 is
    the least of R / (d_i registers_i) and of the CTAs that an SM admits by threads, shared memory and number; at
    least 1. Raises `InputError` for invalid numbers.
    """
    if len(threads) != len(registers) or not threads or min(*threads, *registers) < 1:
        raise InputError(
            f"threads={tuple(threads)} and registers={tuple(registers)}: give a number above 0 of each for each kernel."
        )
    total = sum(threads)
    alone = min(REGISTERS // (d * r) for d, r in zip(threads, registers, strict=True))
    fitting = occupancy(arch, 0, shared_bytes, total).ctas_per_sm
    bound = REGISTERS // (max(min(alone, fitting), 1) * total) // STEP * STEP
    return bound if bound < MOST else None
