"""The messages to and from the measuring process; see `microbenchmark_process.py`."""

from __future__ import annotations

from dataclasses import dataclass

from goptx.device.latency.row import Ring


@dataclass(frozen=True, slots=True)
class Launch:
    """An entry of a cubin, for a kind of measurement. operands: the contents of its parameter `from`; results: how many
    registers it stores."""

    kind: str
    entry: str
    operands: bytes
    results: int


@dataclass(frozen=True, slots=True)
class Job:
    """The microbenchmark of one row, ready to run."""

    name: str
    cubin: bytes
    launches: tuple[Launch, ...]
    threads: int
    ring: Ring | None


@dataclass(frozen=True, slots=True)
class Timed:
    """The result of one launch: cycles of the short and of the long part in each round, and the final registers."""

    kind: str
    cycles: tuple[tuple[int, int], ...]
    results: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """problem: why there is no result, or "". broken: whether the process is unusable."""

    timed: tuple[Timed, ...] = ()
    megahertz: float = 0.0
    problem: str = ""
    broken: bool = False


@dataclass(frozen=True, slots=True)
class Device:
    """The measured device: name, architecture, driver and CUDA version, clocks in MHz as reported by the driver."""

    name: str
    arch: str
    driver: str
    cuda: str
    sm_megahertz: int
    memory_megahertz: int
