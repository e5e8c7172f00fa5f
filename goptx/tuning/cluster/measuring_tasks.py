"""What a worker of a cluster is asked: it has one bench, which holds the kernels of one session at a time.

Every task can be repeated on another worker: what a task needs and the worker does not have is named in the answer
(`Lacking`), and is brought in tasks of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from goptx.measuring.bench.questions import Described
from goptx.version import own_version

MakeBench = Callable[[], Any]
"""Makes the bench of a worker, as `goptx.measuring.bench.bench.Bench` is."""


@dataclass(frozen=True, slots=True)
class Lacking:
    """What the worker does not have: the whole workload of the session, or these kernels of it."""

    workload: bool = True
    keys: tuple[str, ...] = ()


@dataclass(slots=True)
class _Held:
    """The bench of this worker, and the session whose workload is opened on it."""

    make: MakeBench | None = None
    bench: Any = None
    session: str = ""
    lock: Lock = field(default_factory=Lock)  # a worker with many threads still measures one thing at a time


_HELD = _Held()


def describe(make: MakeBench) -> tuple[str, Described]:
    """The version of goptx on this worker, and its device. Raises `DeviceError`."""
    with _HELD.lock:
        return own_version(), _bench(make).described()


def open_session(make: MakeBench, session: str, workload: Any, runs: int, way: str) -> tuple[Any, list[float]]:
    """Opens the workload; the workload of another session is no longer open then. Gives what `Bench.open` gives, and
    the milliseconds of so many runs of the unchanged kernels in this way. Raises as `Bench.open`."""
    with _HELD.lock:
        bench = _bench(make)
        _HELD.session = ""
        opened = bench.open(workload)
        _HELD.session = session
        timed = bench.time([way], runs, 1)
        return opened, timed.ms.get(way, [])


def ask(session: str, keys: Sequence[str], method: str, *args: Any) -> Any:
    """The answer of a method of the bench, which needs the kernels of these keys; or `Lacking`."""
    with _HELD.lock:
        if _HELD.session != session:
            return Lacking()
        if missing := tuple(key for key in keys if not _HELD.bench.holds(key)):
            return Lacking(False, missing)
        return getattr(_HELD.bench, method)(*args)


def close_session(session: str) -> None:
    """Ends the process that measures and frees the memory of its device, if it still belongs to the session."""
    with _HELD.lock:
        if _HELD.session == session:
            _close()


def close_bench() -> None:
    """The same, whatever the session."""
    with _HELD.lock:
        _close()


def _close() -> None:
    if _HELD.bench is not None:
        _HELD.bench.close()
    _HELD.session = ""


def _bench(make: MakeBench) -> Any:
    if _HELD.make != make:
        if _HELD.bench is not None:
            _HELD.bench.close()
        _HELD.make, _HELD.bench, _HELD.session = make, make(), ""
    return _HELD.bench
