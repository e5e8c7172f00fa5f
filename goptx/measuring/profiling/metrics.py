"""The metrics of a profile (Table II of the GoPTX paper), by what Nsight Compute calls them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Metric:
    """`short` is the name of a row, `counter` that of Nsight Compute, `unit` the unit in a profile, `meaning` a text
    for the reader."""

    short: str
    counter: str
    unit: str
    meaning: str


def _share(short: str, counter: str, meaning: str) -> Metric:
    return Metric(short, counter, "%", meaning)


def _stall(reason: str, meaning: str) -> Metric:
    return _share(reason, f"smsp__warp_issue_stalled_{reason}_per_warp_active.pct", meaning)


TIME = Metric("time", "gpu__time_duration.sum", "us", "how long the launch took under the profiler")
CYCLES = Metric("cycles", "sm__cycles_elapsed.max", "", "elapsed cycles of an SM, by which I12 weights kernels")
ISSUE = _share(
    "ISU", "smsp__issue_active.avg.pct_of_peak_sustained_active", "issue slots in which a warp issued an instruction"
)
METRICS = (
    Metric(
        "EWPC", "smsp__warps_eligible.sum.per_cycle_active", "warps", "warps that could issue, of all SMs, in a cycle"
    ),
    _share("AOC", "sm__warps_active.avg.pct_of_peak_sustained_active", "achieved occupancy: warps on an SM"),
    _share("DU", "dram__throughput.avg.pct_of_peak_sustained_elapsed", "DRAM throughput"),
    _share("L2U", "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", "sectors that the L2 served"),
    _share("L2HR", "lts__t_sector_hit_rate.pct", "sectors found in the L2"),
    ISSUE,
    _share("LSU", "smsp__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active", "load/store unit"),
    _share("TCU", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "tensor cores"),
    _share("SPU", "smsp__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active", "single-precision unit (FMA)"),
    _share(
        "TSU", "sm__mio2rf_writeback_active.avg.pct_of_peak_sustained_elapsed", "path from memory units to registers"
    ),
    _share("THR", "l1tex__t_sector_hit_rate.pct", "sectors found in the L1"),
)
STALLS = (
    _stall("long_scoreboard", "for global or local memory"),
    _stall("short_scoreboard", "for shared memory or the special function unit"),
    _stall("wait", "for a fixed latency to pass"),
    _stall("barrier", "for other warps at a barrier"),
    _stall("math_pipe_throttle", "for an arithmetic unit that is busy"),
    _stall("mio_throttle", "for space in the queue to shared memory and special functions"),
    _stall("lg_throttle", "for space in the queue to global and local memory"),
    _stall("not_selected", "while another warp was chosen"),
    _stall("no_instruction", "for instructions to be fetched, or after a branch"),
    _stall("membar", "for a fence"),
)
ALL = (TIME, CYCLES, *METRICS, *STALLS)
COUNTERS = tuple(metric.counter for metric in ALL)
