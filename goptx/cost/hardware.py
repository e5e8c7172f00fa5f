"""What a GPU can do in a cycle: the few numbers that the cost model takes from the hardware, each with its source.

The unit of time is a cycle of the SM's clock; that of throughput one quarter of an SM, which issues one warp
instruction in a cycle (Tesla V100 whitepaper; the same up to Blackwell).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from goptx.device.occupancy import sm_limits

QUARTERS = 4  # of an SM, each with a scheduler
WARP = 32  # threads


@dataclass(frozen=True, slots=True)
class Machine:
    """sms: of the GPU. memory: bytes that all SMs together move in a cycle. turnover: cycles from the end of a CTA to
    the end of the next in its place, if that has nothing to do. gap: cycles between two launches of a stream.
    code_cache: bytes of machine code that are at hand to issue. fetch: bytes of code from beyond it that an SM gets in
    a cycle. lanes: of an SM, by unit, threads whose instruction it begins in a cycle."""

    sms: int
    memory: float
    turnover: float
    gap: float
    code_cache: int
    fetch: float
    lanes: Mapping[str, int]

    def cycles(self, unit: str) -> float:
        """For which one warp instruction holds a unit of a quarter."""
        return WARP * QUARTERS / self.lanes[unit]


def _lanes(integer: int, double: int, special: int) -> Mapping[str, int]:
    """`issue` is what the schedulers give out; `shared` the pipeline to shared memory and L1, 128 bytes in a cycle."""
    return MappingProxyType(
        {"issue": 128, "integer": integer, "double": double, "special": special, "shared": 32}
    )  # fmt: skip


# Lanes: CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions".
# Turnover: a million empty CTAs of 256 threads take an H200 0.55 ms, 0.53 ns each (measured). With 8 of them on each of
# 132 SMs that is 0.53 * 8 * 132 ns = 560 ns = 1,100 cycles of 1.98 GHz. An A100 is assumed to take as many.
# Gap: 2 microseconds, assumed.
# Memory: 92 % of the DRAM's peak (H200: 4.8 TB/s; A100 of 80 GB: 2.04 TB/s) by the boost clock (1.98 GHz; 1.41 GHz),
# the share that streaming kernels reach.
# Code cache, fetch: measured on an H200 (benchmarks/when_fusion_loses.py). A loop of multiply-adds keeps its speed up
# to 33 kB of machine code; with 49, 65, 97 and 145 kB it takes 1.12, 1.23, 1.29 and 1.37 times as long. That is what
# bytes beyond 36 KiB take at 150 bytes in a cycle, as this model counts bytes, and while they come nothing is issued.
# Published: 128 KiB for an SM of a V100 ("L1.5": Jia et al. 2018, arXiv 1804.06826), 46 KiB of a T4 (Jia et al. 2019,
# arXiv 1903.07486), and a smaller cache for each quarter (12 KiB on a V100, 32 KiB on an A100: GTC 2021, S33322, as
# tables of compute capabilities quote it), which is what the H200's figure comes near. An A100 is ASSUMED to behave so.
MACHINES: Mapping[tuple[int, int], Machine] = MappingProxyType(
    {
        (8, 0): Machine(
            108, 0.92 * 2040 / 1.41, 1100, 2.0 * 1410, 36 << 10, 150, _lanes(integer=64, double=32, special=16)
        ),
        (9, 0): Machine(
            132, 0.92 * 4800 / 1.98, 1100, 2.0 * 1980, 36 << 10, 150, _lanes(integer=64, double=64, special=16)
        ),
    }
)


def machine_of(arch: str) -> Machine:
    """That of `arch` ("sm_90"), else of the nearest lower architecture that is known, else of the lowest. Raises
    `InputError`."""
    sm_limits(arch)
    number = int("".join(c for c in arch if c.isdigit()))
    capability = divmod(number, 10)
    return MACHINES[max((known for known in MACHINES if known <= capability), default=min(MACHINES))]
