"""The numbers that the cost model needs of the hardware, each with its source.

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
# Measured on an H200 (benchmarks/memory_pieces.py), by kind of access: loads, stores, atomic operations. The time of
# a sector of 32 bytes in the L2, over that of one that DRAM streams; of a sector in DRAM; and of a line of 128 bytes
# there, at least, if none beside it is accessed: DRAM gives 42 lines of one sector in a nanosecond, and 32 of four.
IN_L2, EACH, LEAST = (0.73, 0.95, 1.25), (1.0, 1.0, 3.5), (3.4, 4.7, 8.6)
L2_SPEED = 1 / IN_L2[0]  # bytes from the L2 cache in a cycle over those from DRAM


@dataclass(frozen=True, slots=True)
class Machine:
    """sms: of the GPU. memory: bytes that all SMs move in a cycle. l2: bytes of the L2 cache. turnover: cycles from the
    end of a CTA to the end of an empty CTA that replaces it. gap: cycles between two launches of a stream.
    code_cache: bytes of machine code in the instruction cache. fetch: bytes of code that an SM fetches into it in
    a cycle. lanes: for each unit, threads of an SM for which it begins an instruction in a cycle. tensor: products
    of halves that its tensor cores add up in a cycle. by_warp: the share of that which `mma` and `wmma` reach. minimum:
    whether one instruction adds integers and takes the minimum."""

    sms: int
    memory: float
    l2: int
    turnover: float
    gap: float
    code_cache: int
    fetch: float
    lanes: Mapping[str, int]
    tensor: int
    by_warp: float
    minimum: bool = False

    def products(self, element: str, by_warpgroup: bool) -> float:
        """Products of elements that the tensor cores of an SM add up in a cycle."""
        return self.tensor * TENSOR.get(element, 1.0) * (1.0 if by_warpgroup else self.by_warp)

    def cycles(self, unit: str) -> float:
        """Cycles for which one warp instruction occupies a unit of a quarter of an SM."""
        return WARP * QUARTERS / self.lanes[unit]


def _lanes(integer: int, double: int, special: int) -> Mapping[str, int]:
    """`issue` are the schedulers; `multiplier` multiplies integers; `shared` is the pipeline to shared memory and L1,
    128 bytes in a cycle."""
    return MappingProxyType(
        {"issue": 128, "integer": integer, "multiplier": 64, "double": double, "special": special, "shared": 32}
    )


# Products of each type of elements for one of halves, by the whitepapers of the A100 and, of doubles, the H100.
TENSOR = dict.fromkeys(("e4m3", "e5m2", "s8", "u8"), 2.0) | {
    "tf32": 1 / 2,
    "f64": 1 / 16,
    "s4": 4.0,
    "u4": 4.0,
    "b1": 16.0,
}

# Lanes: CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions".
# Turnover: a million empty CTAs of 256 threads take an H200 0.55 ms, 0.53 ns each (measured). With 8 of them on each of
# 132 SMs that is 0.53 * 8 * 132 ns = 560 ns = 1,100 cycles of 1.98 GHz. An A100 is assumed to take as many.
# Gap: 2 microseconds, assumed.
# Memory: 92 % of the DRAM's peak (H200: 4.8 TB/s; A100 of 80 GB: 2.04 TB/s) by the boost clock (1.98 GHz; 1.41 GHz),
# the share that streaming kernels reach.
# L2: the whitepapers.
# Tensor: the products of halves that the whitepapers of the A100 and the H100 give for an SM. `mma` and `wmma` of an
# H200 begin every 5.98 cycles for 16 x 8 x 16 products of a warp (latency_tables/sm_90.toml): 0.67 of that.
# Code cache, fetch: measured on an H200 (benchmarks/when_fusion_loses.py). A loop of multiply-adds has full speed up to
# 33 kB of machine code; with 49, 65, 97 and 145 kB it takes 1.12, 1.23, 1.29 and 1.37 times as long. This fits bytes
# beyond 36 KiB, as this model counts bytes, fetched at 150 bytes in a cycle, during which nothing is issued.
# Published: 128 KiB for an SM of a V100 ("L1.5": Jia et al. 2018, arXiv 1804.06826), 46 KiB of a T4 (Jia et al. 2019,
# arXiv 1903.07486), and a smaller cache for each quarter (12 KiB on a V100, 32 KiB on an A100: GTC 2021, S33322, as
# tables of compute capabilities quote it), which is near the H200's figure. An A100 is ASSUMED to behave the same.
MACHINES: Mapping[tuple[int, int], Machine] = MappingProxyType(
    {
        (8, 0): Machine(
            sms=108, memory=0.92 * 2040 / 1.41, l2=40 << 20, turnover=1100, gap=2.0 * 1410,
            code_cache=36 << 10, fetch=150,
            lanes=_lanes(integer=64, double=32, special=16), tensor=1024, by_warp=1.0,
        ),
        (9, 0): Machine(
            sms=132, memory=0.92 * 4800 / 1.98, l2=50 << 20, turnover=1100, gap=2.0 * 1980,
            code_cache=36 << 10, fetch=150,
            lanes=_lanes(integer=64, double=64, special=16), tensor=2048, by_warp=0.67, minimum=True,
        ),
    }
)  # fmt: skip


def machine_of(arch: str) -> Machine:
    """The machine of `arch` ("sm_90"), else of the nearest lower known architecture, else of the lowest. Raises
    `InputError`."""
    sm_limits(arch)
    number = int("".join(c for c in arch if c.isdigit()))
    capability = divmod(number, 10)
    return MACHINES[max((known for known in MACHINES if known <= capability), default=min(MACHINES))]
