"""The questions to the measuring process and its answers; see `measuring_process.py`."""

from __future__ import annotations

from dataclasses import dataclass, field

from goptx.launch.shape import Shape
from goptx.measuring.bench.workload import Workload
from goptx.results.fused_kernel import Woven


@dataclass(frozen=True, slots=True)
class Open:
    """Make the data, and run the kernels alone; answered by `Opened`. `moved`: in other places of the memory, and in
    another order, than without it."""

    workload: Workload
    moved: bool = False


@dataclass(frozen=True, slots=True)
class Opened:
    """ms: one run of the kernels, one after the other."""

    ms: float


@dataclass(frozen=True, slots=True)
class Describe:
    """Describe the device; answered by `Described`."""


@dataclass(frozen=True, slots=True)
class Described:
    """The name of the GPU, its architecture such as "sm_90", the driver's version, and the identity of this one GPU, ""
    if it is not known."""

    gpu: str
    arch: str
    driver: str
    serial: str = ""


@dataclass(frozen=True, slots=True)
class Hold:
    """A kernel to be judged and timed, under a register cap; answered by `Judged`. A kernel that was `judged` before is
    not compared again. `common` is the shape of all kernels, needed if the kernel was not made for given shapes."""

    key: str
    woven: Woven
    cap: int | None = None
    common: Shape | None = None
    judged: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """Whether the kernel writes what its kernels alone write, bit for bit.

    wrong: what differs if contraction is forbidden, "" if nothing. contracted: what differs only in the timed builds,
    in which the assembler contracted other multiplications and additions.
    """

    wrong: str = ""
    contracted: str = ""


@dataclass(frozen=True, slots=True)
class Time:
    """Time these, one run of each after the other; answered by `Times`. The unchanged kernels may be among them, by the
    names of `baselines.py`. `launched`: from the host, on an idle device; otherwise as CUDA graphs, on a busy one."""

    keys: tuple[str, ...]
    repeats: int
    warmups: int
    launched: bool = False


@dataclass(frozen=True, slots=True)
class Times:
    """By key, milliseconds of each run, and microseconds until the host had launched it, where it did."""

    ms: dict[str, list[float]]
    host_us: dict[str, list[float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failed:
    """problem: why there is no answer. input: whether the input is at fault. broken: whether the process can no longer
    be used."""

    problem: str
    input: bool = False
    broken: bool = False


Question = Describe | Open | Hold | Time
Answer = Described | Opened | Judged | Times | Failed
