"""The counters: those of a profile (`goptx.measuring.profiling.metrics`), more stalls, the resources of a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from goptx.measuring.profiling.counters import Reading
from goptx.measuring.profiling.metrics import ALL, CYCLES, STALLS, TIME, Metric

Counts = Mapping[str, float | None]  # by the short name of a metric; None for a counter that the device lacks

DRAM_LIMIT, LIMIT = 0.90, 0.95  # of the peak that a kernel can reach, of DRAM and of all else


@dataclass(frozen=True, slots=True)
class Resource:
    """A unit of the GPU, as a share of whose peak its use is counted in elapsed cycles. `limit`: what a kernel can
    reach of it."""

    name: str
    counter: str
    limit: float = LIMIT


def _stall(reason: str, meaning: str) -> Metric:
    return Metric(reason, f"smsp__warp_issue_stalled_{reason}_per_warp_active.pct", "%", meaning)


MORE_STALLS = (
    _stall("branch_resolving", "for the target of a branch"),
    _stall("dispatch_stall", "for the dispatcher, which holds back an instruction"),
    _stall("drain", "for stores to end after the last instruction"),
    _stall("gmma", "for the tensor core's warpgroup instructions"),
    _stall("imc_miss", "for a constant that is not in its cache"),
    _stall("misc", "for other reasons"),
    _stall("sleeping", "asleep by an instruction"),
    _stall("tex_throttle", "for space in the queue to the texture unit"),
)
ALL_STALLS = (*STALLS, *MORE_STALLS)
SELECTED = "selected"  # not a stall: the warp issues an instruction
SCOREBOARDS = ("long_scoreboard", "short_scoreboard")
MEMORY_STALLS = (
    "long_scoreboard", "short_scoreboard", "lg_throttle", "mio_throttle", "tex_throttle", "membar", "drain",
)  # fmt: skip


def _pipe(name: str, counter: str) -> Resource:
    return Resource(name, f"sm__{counter}.avg.pct_of_peak_sustained_elapsed")


RESOURCES = (  # as an H200 has them: half precision runs in the FMA and tensor pipes
    Resource("DRAM", "dram__throughput.avg.pct_of_peak_sustained_elapsed", DRAM_LIMIT),
    Resource("L2", "lts__throughput.avg.pct_of_peak_sustained_elapsed"),
    Resource("issue slots", "smsp__issue_active.avg.pct_of_peak_sustained_elapsed"),
    Resource("L1 data, shared", "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"),
    Resource("L1 requests", "l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed"),
    Resource("L1 write-back", "l1tex__lsu_writeback_active.avg.pct_of_peak_sustained_elapsed"),
    Resource("L1 to L2", "l1tex__m_l1tex2xbar_req_cycles_active.avg.pct_of_peak_sustained_elapsed"),
    _pipe("MIO queue", "mio_inst_issued"),
    _pipe("load/store", "inst_executed_pipe_lsu"),
    _pipe("ALU", "pipe_alu_cycles_active"),
    _pipe("FMA", "pipe_fma_cycles_active"),
    _pipe("FMA heavy", "pipe_fmaheavy_cycles_active"),
    _pipe("FMA lite", "pipe_fmalite_cycles_active"),
    _pipe("XU", "inst_executed_pipe_xu"),
    _pipe("tensor", "pipe_tensor_cycles_active"),
    _pipe("FP64", "pipe_fp64_cycles_active"),
    _pipe("ADU", "inst_executed_pipe_adu"),
    _pipe("CBU", "inst_executed_pipe_cbu"),
    _pipe("uniform", "inst_executed_pipe_uniform"),
    _pipe("TMA", "pipe_tma_cycles_active"),
)
ACTIVE = Metric("active cycles", "smsp__cycles_active.avg", "", "cycles in which a scheduler had a warp")
INSTRUCTIONS = Metric("instructions", "smsp__inst_executed.sum", "", "instructions of warps")
DRAM_BYTES = Metric("DRAM bytes", "dram__bytes.sum", "", "bytes read from DRAM and written")
L2_SECTORS = Metric("L2 sectors", "lts__t_sectors.sum", "", "sectors that the L2 was asked for")
L1_SECTORS = Metric("L1 sectors", "l1tex__t_sectors.sum", "", "sectors that the L1 was asked for")
HALF_IN_TENSOR = Metric(
    "HFMA2.MMA", "smsp__inst_executed_pipe_tensor_op_hmma_type_hfma2.sum", "", "half precision in the tensor pipe"
)
WORK = (ACTIVE, INSTRUCTIONS, HALF_IN_TENSOR, DRAM_BYTES, L2_SECTORS, L1_SECTORS)
SUMS = (TIME, CYCLES, *WORK)  # which add up where launches follow each other
ALL_COUNTED = (
    *ALL, *MORE_STALLS, *WORK, *(Metric(r.name, r.counter, "%", "use of the resource") for r in RESOURCES),
)  # fmt: skip
COUNTERS = tuple(dict.fromkeys(metric.counter for metric in ALL_COUNTED))


def counts_of(reading: Reading) -> Counts:
    """The counts of a launch, to five digits, which is more than repeats of a launch agree to."""
    values = {metric.short: reading.values.get(metric.counter) for metric in ALL_COUNTED}
    return {short: None if value is None else float(f"{value:.5g}") for short, value in values.items()}
