"""How many CTAs of a kernel fit on one SM, from its costs alone: no GPU needed.

The limits per compute capability are those of the CUDA C++ Programming Guide, "Technical Specifications per
Compute Capability" (the same numbers as cuda::arch_traits in libcu++). The rules are those of NVIDIA's
occupancy calculator, cuda_occupancy.h: registers are allocated per warp in units of 256 and per quarter of
the SM, shared memory in units of 128 or 256 bytes with 1 KiB per CTA for the driver from 8.0 on, and named
barriers come from a pool per SM from 9.0 on.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from goptx.errors import InputError

_WARP = 32
_KIB = 1024
_MAX_THREADS_PER_CTA = 1024
_MAX_REGISTERS_PER_THREAD = 255
_REGISTERS_PER_SM = 65536
_REGISTER_UNIT = 256
_QUARTERS = 4


@dataclass(frozen=True, slots=True)
class SmLimits:
    """The capacity of one SM: CTAs, warps, shared memory in bytes (of all CTAs together), named barriers (0: no limit).
    Shared memory is allocated in units of `shared_unit`, with `reserved_shared` per CTA."""

    ctas: int
    warps: int
    shared_bytes: int
    barriers: int
    shared_unit: int
    reserved_shared: int

    @property
    def shared_bytes_per_cta(self) -> int:
        """The most shared memory that one CTA may ask for (static and dynamic, opted into), in bytes."""
        return self.shared_bytes - self.reserved_shared


def _sm(ctas: int, warps: int, shared_kib: int, barriers_per_cta: int = 0, *, before_ampere: bool = False) -> SmLimits:
    unit, reserved = (256, 0) if before_ampere else (128, _KIB)
    return SmLimits(ctas, warps, shared_kib * _KIB, ctas * barriers_per_cta, unit, reserved)


LIMITS: dict[tuple[int, int], SmLimits] = {
    (7, 0): _sm(32, 64, 96, before_ampere=True),
    (7, 2): _sm(32, 64, 96, before_ampere=True),
    (7, 5): _sm(16, 32, 64, before_ampere=True),
    (8, 0): _sm(32, 64, 164),
    (8, 6): _sm(16, 48, 100),
    (8, 7): _sm(16, 48, 164),
    (8, 8): _sm(16, 48, 100),
    (8, 9): _sm(24, 48, 100),
    (9, 0): _sm(32, 64, 228, 2),
    (10, 0): _sm(32, 64, 228, 2),
    (10, 1): _sm(24, 48, 228, 1),
    (10, 3): _sm(32, 64, 228, 2),
    (11, 0): _sm(24, 48, 228, 1),
    (12, 0): _sm(24, 48, 100, 1),
    (12, 1): _sm(24, 48, 100, 1),
}
"""Limits by compute capability (major, minor); each has 65,536 registers per SM and 1,024 threads per CTA at
most."""


@dataclass(frozen=True, slots=True)
class Occupancy:
    """CTAs and warps resident on one SM, of `max_warps`; `fraction` is their ratio, 0 to 1.

    `limited_by` is the resource that admits no further CTA: "warps", "ctas", "registers", "shared", "barriers", or
    "threads" for a CTA larger than any SM admits; the hardware's own limits win ties. `note` reports when the
    numbers are those of another compute capability, else it is empty. Shared memory is assumed to have its largest
    share of the L1.
    """

    ctas_per_sm: int
    warps_per_sm: int
    max_warps: int
    fraction: float
    limited_by: str
    note: str = ""


@lru_cache(64)
def sm_limits(arch: str) -> tuple[SmLimits, str]:
    """Limits of `arch` ("sm_90", "sm_90a", "compute_120") and a note, empty when the table has that very one.

    An unknown compute capability gets the nearest lower one of the table. Raises InputError below 7.0 or when
    `arch` is not the name of an architecture.
    """
    named = re.fullmatch(r"(?:sm|compute)_(\d+)(\d)[af]?", str(arch))
    if named is None:
        raise InputError(f"`{arch}` is not an architecture such as sm_90.")
    capability = int(named[1]), int(named[2])
    known = max((row for row in LIMITS if row <= capability), default=None)
    if known is None:
        raise InputError(f"{arch}: compute capabilities below 7.0 are not supported")
    note = "" if known == capability else f"limits of sm_{known[0]}{known[1]}, for want of those of {arch}"
    return LIMITS[known], note


@lru_cache(4096)
def occupancy(
    arch: str, registers: int, shared_bytes: int, threads: int, *, barriers: int = 1, launched: int = 0
) -> Occupancy:
    """Occupancy of a kernel with `registers` per thread, `shared_bytes` (static and dynamic) and `threads`
    per CTA. If more are `launched`, the others end at once: a CTA begins when there is room for all of its warps, and
    stays with those of `threads`.

    `barriers` is the number of named barriers per CTA, as the assembler reports it. A kernel that cannot be
    launched at all has 0 CTAs. Raises InputError for an unknown kind of architecture or an invalid number.
    """
    if threads < 1 or registers < 0 or shared_bytes < 0 or barriers < 0:
        raise InputError(
            f"occupancy of {threads} threads, {registers} registers, {shared_bytes} bytes, {barriers} "
            "barriers: threads must be at least 1, the others not negative"
        )
    limits, note = sm_limits(arch)
    launched = max(threads, launched)
    warps, whole = (_round_up(n, _WARP) // _WARP for n in (threads, launched))
    ctas_by = {
        "threads": 0 if launched > _MAX_THREADS_PER_CTA else limits.ctas,
        "warps": _filled(limits.warps, warps, whole),
        "ctas": limits.ctas,
        "registers": _ctas_by_registers(registers, warps, whole, limits),
        "shared": _ctas_by_shared(shared_bytes, limits),
        "barriers": limits.barriers // max(barriers, 1) if limits.barriers else limits.ctas,
    }
    if ctas_by["threads"]:
        del ctas_by["threads"]
    limited_by = min(ctas_by, key=lambda limit: ctas_by[limit])  # the first of equals in the order above
    ctas = ctas_by[limited_by]
    return Occupancy(ctas, ctas * warps, limits.warps, ctas * warps / limits.warps, limited_by, note)


def _filled(room: int, warps: int, whole: int) -> int:
    """How many CTAs are in the room for so many warps, if each has `whole` warps, of which `warps` stay."""
    return (room - whole) // warps + 1 if whole <= room else 0


def _ctas_by_registers(registers: int, warps: int, whole: int, limits: SmLimits) -> int:
    if registers == 0:
        return limits.ctas
    per_warp = _round_up(registers * _WARP, _REGISTER_UNIT)
    # The hardware checks a launch as if every quarter of the SM had as many warps of the CTA as the fullest quarter.
    if registers > _MAX_REGISTERS_PER_THREAD or per_warp * _round_up(whole, _QUARTERS) > _REGISTERS_PER_SM:
        return 0
    return _filled(warps_by_registers(registers), warps, whole)


def warps_by_registers(registers: int) -> int:
    """For how many warps the registers of an SM are enough, at `registers` (above 0) per thread."""
    per_warp = _round_up(registers * _WARP, _REGISTER_UNIT)
    return _REGISTERS_PER_SM // _QUARTERS // per_warp * _QUARTERS


def _ctas_by_shared(shared_bytes: int, limits: SmLimits) -> int:
    if shared_bytes > limits.shared_bytes_per_cta:
        return 0
    per_cta = _round_up(shared_bytes + limits.reserved_shared, limits.shared_unit)
    return limits.shared_bytes // per_cta if per_cta else limits.ctas


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
