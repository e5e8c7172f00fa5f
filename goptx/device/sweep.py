"""The register-cap sweep: one kernel at several caps, timed on the device; fewer registers buy occupancy with
spills."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any, Protocol

from goptx.device.load import Shape, current_device
from goptx.display import as_html, as_text, brief, columns
from goptx.errors import InputError

if TYPE_CHECKING:
    from cuda.core import Kernel

UNCAPPED = 256
"""The cap that stands for none: a thread has at most 255 registers."""

CAPS = (32, 40, 48, 64, 80, 128, UNCAPPED)
"""Registers of a thread, as the GoPTX paper (DAC 2025) sweeps them."""


class ResourcesLike(Protocol):
    """Registers per thread, spilled bytes per thread, shared bytes per CTA; occupancy 0 to 1, None without a
    block."""

    @property
    def registers(self) -> int: ...
    @property
    def spill_bytes(self) -> int: ...
    @property
    def shared_bytes(self) -> int: ...
    @property
    def occupancy(self) -> float | None: ...


class Sweepable(Protocol):
    """A woven kernel, as far as the sweep needs it; `max_registers=None` is no cap."""

    def resources(self, *, max_registers: int | None, block: Any) -> ResourcesLike: ...
    def load(self, *, max_registers: int | None) -> "Kernel": ...


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One cap: registers per thread, spilled bytes per thread, occupancy (0 to 1, None when no block was
    given), and the time of one launch in milliseconds (median, least, most), NaN when it was not timed: the kernel does
    not fit on an SM, or `problem` says why. Where there is no machine code, the costs are 0. contracted: what differs
    from the kernels alone where multiplications and additions may be contracted, and only there."""

    __repr__ = brief

    cap: int
    registers: int
    spill_bytes: int
    occupancy: float | None
    ms: float
    ms_min: float
    ms_max: float
    problem: str = ""
    contracted: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON; None in the place of NaN."""
        return {name: None if value != value else value for name, value in asdict(self).items()}


@dataclass(frozen=True, slots=True)
class Sweep:
    """The rows in the order of the caps; `str()` is an aligned table, the best row marked with `*`."""

    __repr__ = brief

    rows: tuple[SweepRow, ...]

    @property
    def best(self) -> SweepRow:
        """The row of the least median time, the first of equals; raises InputError when no row could run."""
        timed = [row for row in self.rows if not math.isnan(row.ms)]
        if not timed:
            why = next((row.problem for row in self.rows if row.problem), "the kernel does not fit on an SM")
            raise InputError(f"no register cap of the sweep could run: {why}")
        return min(timed, key=lambda row: row.ms)

    _repr_pretty_ = as_text

    _repr_html_ = as_html

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON: the rows, and the cap of the best one, None where no row was timed."""
        timed = [row for row in self.rows if not math.isnan(row.ms)]
        return {"rows": [row.to_dict() for row in self.rows], "best": self.best.cap if timed else None}

    def __str__(self) -> str:
        head = ("cap", "registers", "spill bytes", "occupancy", "ms", "min", "max", "")
        lines = [head, *(self._cells(row) for row in self.rows)]
        notes = [f"{_cap_text(row.cap)}: {row.problem}" for row in self.rows if row.problem]
        notes += [f"{_cap_text(row.cap)}: with contraction, {row.contracted}" for row in self.rows if row.contracted]
        return "\n".join([*columns(lines, right=range(len(head))), *notes])

    def _cells(self, row: SweepRow) -> tuple[str, ...]:
        timed = not math.isnan(row.ms)
        times = [f"{ms:.4f}" if timed else "-" for ms in (row.ms, row.ms_min, row.ms_max)]
        return (
            _cap_text(row.cap),
            str(row.registers) if row.registers else "-",
            str(row.spill_bytes) if row.registers else "-",
            "-" if row.occupancy is None else f"{row.occupancy:.0%}",
            *times,
            "*" if timed and row is self.best else "",
        )


def _cap_text(cap: int) -> str:
    return "none" if cap >= UNCAPPED else str(cap)


def check_runs(repeats: int, warmups: int) -> None:
    """Raises `InputError` for what is not a number of timed runs, and of runs before them."""
    if repeats < 1 or warmups < 0:
        raise InputError(
            f"repeats={repeats}, warmups={warmups}: a sweep takes 1 repeat or more, and 0 warm-ups or more."
        )


def sweep(
    woven: Sweepable,
    run: Callable[["Kernel", Any], object],
    registers: Sequence[int] = CAPS,
    *,
    block: Shape | None = None,
    stream: Any = None,
    warmups: int = 3,
    repeats: int = 20,
) -> Sweep:
    """Assembles `woven` at each cap of `registers` (per thread; 256 and more: none) and times it on the
    device.

    `run(kernel, stream)` launches the kernel once on the stream it is given, and does not wait. `block`
    (threads) is what occupancy is computed for. Each cap is launched `warmups` times untimed, then `repeats`
    times between a pair of device events each. `stream` is a cuda.core Stream or any object with
    `__cuda_stream__`; None makes one.

    Kernels shorter than what the host needs to queue a launch (some 20 microseconds on an H200 machine) show
    that time instead. A cap at which no CTA fits on an SM is not run. Raises DeviceError without a GPU,
    InputError for `repeats` below 1.
    """
    check_runs(repeats, warmups)
    device = current_device()
    queue = device.create_stream() if stream is None else device.create_stream(stream)
    device.sync()  # what the caller prepared on other streams is there before the first launch
    rows = []
    for cap in registers:
        limit = cap if cap < UNCAPPED else None
        cost = woven.resources(max_registers=limit, block=block)
        times = [math.nan]
        if cost.occupancy != 0:
            kernel = woven.load(max_registers=limit)
            times = _time(device, queue, partial(run, kernel, queue), warmups, repeats)
        rows.append(
            SweepRow(cap, cost.registers, cost.spill_bytes, cost.occupancy, median(times), min(times), max(times))
        )
    return Sweep(tuple(rows))


def _time(device: Any, stream: Any, once: Callable[[], object], warmups: int, repeats: int) -> list[float]:
    """Milliseconds of each of `repeats` calls of `once`, all queued before the first is waited for."""
    for _ in range(warmups):
        once()
    pairs = [tuple(device.create_event({"timing_enabled": True}) for _ in range(2)) for _ in range(repeats)]
    for start, end in pairs:
        stream.record(start)
        once()
        stream.record(end)
    stream.sync()
    return [end - start for start, end in pairs]
