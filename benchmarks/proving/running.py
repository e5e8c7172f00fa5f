"""Fuses a pair, proves it, and says what came of it; in several processes, each pair under a time limit."""

from __future__ import annotations

import multiprocessing
import re
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import TypeVar

from proving.cases import Pair, fusing

import goptx
from goptx.errors import CannotWeave, InputError

REPEATS = 3
PATIENCE = 4.0  # seconds: what takes longer is not repeated
EXTRA = 0.5  # seconds that a proof may take beside what weaving takes
MEMORY = 6 << 30  # bytes of a process
T = TypeVar("T")


class OverTime(BaseException):
    """Not an `Exception`, so that nobody passes it over."""


@dataclass(frozen=True, slots=True)
class Job:
    group: str
    pair: str
    way: str
    kernels: Pair


@dataclass(slots=True)
class Row:
    """refused: the weaver's message, "" where it accepts the pair. reason: the first thing that is not proved, with its
    rule. fault: what is neither, such as an exception. Seconds are those of the processor, the least of several
    times; `prove_s` is that of `goptx.prove`, which begins with texts."""

    group: str
    pair: str
    way: str
    refused: str = ""
    proved: bool = False
    rule: str = ""
    reason: str = ""
    fault: str = ""
    lines: int = 0
    weave_s: float = 0.0
    prove_s: float = 0.0

    @property
    def accepted(self) -> bool:
        return not self.refused

    @property
    def in_time(self) -> bool:
        return self.prove_s <= self.weave_s + EXTRA


def run(job: Job, limit: float, repeats: int = REPEATS) -> Row:
    row = Row(job.group, job.pair, job.way)
    try:
        with _within(limit):
            _fill(row, job, repeats)
    except OverTime:
        row.fault = f"takes more than {limit:g} s"
    except MemoryError:
        row.fault = f"takes more than {MEMORY >> 30} GiB"
    return row


def _fill(row: Row, job: Job, repeats: int) -> None:
    make = fusing(job.kernels, job.way)
    try:
        fused, row.weave_s = _timed(make)
    except (CannotWeave, InputError) as error:
        row.refused = _line(str(error))
        return
    except Exception as error:
        row.fault = f"weaving: {type(error).__name__}: {_line(str(error))}"
        return
    row.lines = fused.ptx.count("\n")
    try:
        made, row.prove_s = _timed(partial(goptx.prove, fused))
        for _ in range(repeats - 1 if row.prove_s < PATIENCE else 0):
            row.prove_s = min(row.prove_s, _timed(partial(goptx.prove, fused))[1])
            row.weave_s = min(row.weave_s, _timed(make)[1])
    except Exception as error:
        row.fault = f"proving: {type(error).__name__}: {_line(str(error))}"
        return
    row.proved = made.proved
    if made.gaps:
        row.rule, row.reason = made.gaps[0].rule, _line(str(made.gaps[0]))


def _timed(what: Callable[[], T]) -> tuple[T, float]:
    _forget()
    begin = time.process_time()
    done = what()
    return done, round(time.process_time() - begin, 4)


def _forget() -> None:
    """All that was found out about instructions and kernels; what opcodes do and how long they take is known."""
    for name, module in list(sys.modules.items()):
        if name.startswith("goptx.analysis."):
            for value in list(vars(module).values()):
                getattr(value, "cache_clear", lambda: None)()


def _line(text: str) -> str:
    return re.sub(r"/\S*/(?=\w)", "", " ".join(text.split()))[:300]


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raises `OverTime` also where something between passes it over, or raises an exception of its own for it, as the
    parser of ANTLR does."""
    passed, running = False, True

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal passed
        passed = True
        if running:
            raise OverTime

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1)
    try:
        try:
            yield
        finally:
            running = False
    except BaseException:
        if not passed:
            raise
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    if passed:
        raise OverTime


def all_rows(jobs: Sequence[Job], processes: int, limit: float, repeats: int = REPEATS) -> Iterator[Row]:
    """In any order."""
    if processes == 1:
        yield from (run(job, limit, repeats) for job in jobs)
        return
    with multiprocessing.get_context("fork").Pool(processes, _begin, maxtasksperchild=100) as pool:
        yield from pool.imap_unordered(partial(run, limit=limit, repeats=repeats), jobs)


def _begin() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
