"""Measures the latency table of the current GPU: `measure(...)`, which `goptx latency measure` calls.

Every row of `rows/` becomes a small module (`text.py`), is assembled, checked for the expected machine code
(`machine_code.py`), and timed by a process of its own (`microbenchmark_process.py`), while the next ones are assembled.
Rows that fail are left out and reported.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime

from goptx.device.assemble import Assembly, assemble
from goptx.device.latency.children import Child
from goptx.device.latency.jobs import Device, Job, Launch, Timed
from goptx.device.latency.machine_code import Code, disassembled, find_disassembler, one_repetition
from goptx.device.latency.microbenchmark_process import PACE
from goptx.device.latency.rounds import Sample, sample
from goptx.device.latency.row import Row
from goptx.device.latency.rows import ROWS
from goptx.device.latency.text import (
    INTERVAL,
    LATENCY,
    entry_name,
    kinds,
    module_text,
    operand_bytes,
    repetitions,
    stored,
)
from goptx.device.load import current_device
from goptx.errors import AssemblyError, DeviceError, GoptxError
from goptx.progress import Progress

TOGETHER = 16  # rows in one module


class NotMeasured(UserWarning):
    """An instruction that could not be measured, and why."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A row's job and the machine code of one repetition, or the reason why there is no job."""

    row: Row
    job: Job | None = None
    sass: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """A row, with the cycles of one repetition in a chain and side by side; either may be missing.

    timed: the rounds from which both were computed, by kind. megahertz: the SM's clock just before them.
    """

    row: Row
    sass: str
    latency: Sample | None
    interval: Sample | None
    timed: tuple[Timed, ...] = ()
    megahertz: float = 0.0


@dataclass(frozen=True, slots=True)
class Measurement:
    """All results of one device, in the order of the rows, by key or name.

    megahertz: the SM's clock, least and most. problems: why the others are missing. seconds: the duration.
    """

    device: Device
    assembler: str
    date: str
    megahertz: tuple[float, float]
    rows: Mapping[str, Measured]
    problems: Mapping[str, str] = field(default_factory=dict)
    replaced: int = 0


def measure(rows: Sequence[Row] = ROWS, progress: Progress | None = None) -> Measurement:
    """Measures `rows` on the current device.

    Raises DeviceError without a GPU, AssemblyError without an assembler or a disassembler.
    """
    tool = find_disassembler()
    arch = f"sm_{current_device().arch}"
    pace = assemble(PACE.format(arch=arch), entry="pace")
    child = Child(pace.cubin)
    measured: dict[str, Measured] = {}
    problems: dict[str, str] = {}
    clocks: list[float] = []
    try:
        for n, ready in enumerate(_ready(rows, arch, tool)):
            row = ready.row
            if progress:
                progress(n, len(rows), f"next {row.key}")
            if ready.job is None:
                problems[row.key] = ready.problem
                continue
            answer = child.answer(ready.job)
            if answer.problem:
                problems[row.key] = answer.problem
                continue
            clocks.append(answer.megahertz)
            samples = {one.kind: sample(one.cycles, *repetitions(row, one.kind)) for one in answer.timed}
            latency, interval = samples.get(LATENCY), samples.get(INTERVAL)
            measured[row.key] = Measured(row, ready.sass, latency, interval, answer.timed, answer.megahertz)
    finally:
        child.end()
    if not clocks:
        raise DeviceError(f"nothing could be measured: {next(iter(problems.values()), 'no rows')}")
    if progress:
        progress(len(rows), len(rows), "")
    date = datetime.now(UTC).date().isoformat()
    return Measurement(
        child.device, pace.assembler, date, (min(clocks), max(clocks)), measured, problems, child.replaced
    )


def _ready(rows: Sequence[Row], arch: str, tool: str) -> Iterator[Ready]:
    """Each row, assembled and checked, in order; several modules at once."""
    modules = [rows[n : n + TOGETHER] for n in range(0, len(rows), TOGETHER)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for ready in pool.map(lambda some: prepared(some, arch, tool), modules):
            yield from ready


def prepared(rows: Sequence[Row], arch: str, tool: str) -> list[Ready]:
    """Rows in one module for `arch`, checked with the disassembler `tool`; or the reasons why that is impossible."""
    old = [row for row in rows if row.arch > int(arch.removeprefix("sm_"))]
    rest = [row for row in rows if row not in old]
    none = [Ready(row, problem=f"needs sm_{row.arch}") for row in old]
    if not rest:
        return none
    try:
        assembly = assemble(module_text(rest, arch), entry=entry_name(rest[0], kinds(rest[0])[0]))
        module = disassembled(assembly.cubin, tool)
    except (GoptxError, OSError) as error:
        if len(rest) == 1:
            return [*none, Ready(rest[0], problem=str(error))]
        return [*none, *(ready for row in rest for ready in prepared([row], arch, tool))]  # some rows are at fault
    return [*none, *(_checked_row(row, assembly, module) for row in rest)]


def _checked_row(row: Row, assembly: Assembly, module: Mapping[str, Code]) -> Ready:
    try:
        sass = [one_repetition(row, kind, module) for kind in kinds(row)]
    except AssemblyError as error:
        return Ready(row, problem=str(error))
    launches = tuple(
        Launch(kind, entry_name(row, kind), operand_bytes(row, kind), stored(row, kind)) for kind in kinds(row)
    )
    return Ready(row, Job(row.key, assembly.cubin, launches, row.threads, row.ring), sass[0])
