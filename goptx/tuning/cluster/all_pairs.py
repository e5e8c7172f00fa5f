"""Tunes all pairs of many kernels, one pair on each GPU at a time; what is done is in a folder of records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import TYPE_CHECKING, Any

from goptx.errors import GoptxError, InputError
from goptx.log import LOG
from goptx.measuring.bench.bench import Bench
from goptx.progress import progress_of
from goptx.tuning.cluster.cluster_executor import ClusterExecutor
from goptx.tuning.cluster.gpu_workers import ClusterLost, GpuWorkers
from goptx.tuning.cluster.pairs_table import PairsTable
from goptx.tuning.cluster.worker_bench import TooManyLost, WorkerBench
from goptx.tuning.measured import Measured, measured
from goptx.tuning.metric import Measure
from goptx.tuning.records import Records
from goptx.tuning.space.auto_choices import auto_choices
from goptx.tuning.tune import about_run, chosen_strategies, first_question, tune

if TYPE_CHECKING:
    from distributed import Client

Benches = Callable[[str], Any]
"""Gives the bench for a pair of that name, as a context."""


def tune_all(
    specs: Sequence[str | Path],
    client: Client | None = None,
    devices: Sequence[int] = (0,),
    records: str | Path | None = None,
    output: str | Path | None = None,
    progress: bool = True,
    **how: Any,
) -> PairsTable:
    """Tunes each pair of the kernels of these launch specifications, and gives the table of all pairs.

    client: of a cluster on whose workers kernels are made and measured; without it, here on the GPUs of `devices`.
    records: a folder with the records of each pair (FIRST+SECOND.jsonl), from which an interrupted run is continued: a
        pair that is done is not measured again. output: a folder for the result of each pair (FIRST+SECOND.json), for
        `goptx.replay`. Both are made if they are not there.
    how: other arguments of `goptx.tune`; a budget is of each pair.

    A pair that cannot be tuned is in the table with the reason. Raises `InputError`, and `ClusterLost` if no GPU is
    left; the records then keep what is done; `DeviceError` without a GPU.
    """
    pairs = _pairs(specs)
    for folder in (records, output):
        if folder:
            _made(Path(folder))
    with (
        _benches(client, devices) as (bench_for, count),
        ThreadPoolExecutor(count) as pool,
        progress_of("pairs", quiet=not progress) as tell,
    ):
        executors = _Executors(client, pairs, 2 * count, how) if client else None

        def tuned(name: str, pair: tuple[Path, Path]) -> dict[str, Any]:
            return _row(name, pair, bench_for, executors, records, output, how)

        running = [pool.submit(tuned, name, pair) for name, pair in pairs.items()]
        try:
            for done, one in enumerate(as_completed(running), 1):
                row = one.result()
                if tell:
                    tell(done, len(running), f"{row['pair']} {row['speedup'] or row['reason']}")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return PairsTable.of(one.result() for one in running)


@dataclass(slots=True)
class _Executors:
    """The executor of each pair, in their order. What `auto` chooses for the next pairs, so many, is made while others
    are measured. `how` are the arguments of `tune`."""

    client: Client
    pairs: Mapping[str, tuple[Path, Path]]
    next: int
    how: Mapping[str, Any]
    _made: dict[str, ClusterExecutor] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def of(self, name: str, arch: str) -> ClusterExecutor:
        """`arch` is the GPU's."""
        names = list(self.pairs)
        first = names.index(name)
        with self._lock:
            new = [one for one in names[first : first + self.next + 1] if one not in self._made]
            self._made |= {one: ClusterExecutor(self.client, one) for one in new}
        for one in new:
            with suppress(GoptxError):  # which tuning raises for this pair
                subject = _subject(self.pairs[one], arch, self.how)
                chosen = chosen_strategies(self.how.get("strategies"))
                self._made[one].prepare(auto_choices, *first_question(subject, chosen, None))
        return self._made[name]


def _subject(pair: tuple[Path, Path], device: str, how: Mapping[str, Any]) -> Measured:
    """The kernels of a pair, for the architecture of a device unless another is asked for."""
    arch = how.get("arch")
    subject = measured((), pair, None, None, None, arch, how.get("seed", 0), how.get("tolerance"))
    return subject if arch else subject.raised(device)


def _pairs(specs: Sequence[str | Path]) -> dict[str, tuple[Path, Path]]:
    paths = [Path(spec) for spec in specs]
    if len(paths) < 2:
        raise InputError("--all takes two launch specifications or more, of which it tunes all pairs.")
    if again := [path for path in paths if [other.stem for other in paths].count(path.stem) > 1]:
        raise InputError(f"{again[0]}: two specifications have this name, by which pairs are recorded; rename one.")
    return {f"{one.stem}+{other.stem}": (one, other) for one, other in combinations(paths, 2)}


def _made(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: this folder cannot be made ({error.strerror}); give another.") from None


@contextmanager
def _benches(client: Client | None, devices: Sequence[int]) -> Iterator[tuple[Benches, int]]:
    """What gives a bench for each pair, and how many pairs may be measured at a time."""
    if client is not None:
        workers = GpuWorkers(client)

        @contextmanager
        def on_worker(name: str) -> Iterator[WorkerBench]:
            bench = WorkerBench(workers, name)
            try:
                yield bench
            finally:
                bench.leave()

        try:
            yield on_worker, len(workers.usable)
        finally:
            workers.close()
        return
    own = [Bench(number) for number in devices]
    idle: SimpleQueue[Bench] = SimpleQueue()
    for bench in own:
        idle.put(bench)

    @contextmanager
    def here(_: str) -> Iterator[Bench]:
        bench = idle.get()
        try:
            yield bench
        finally:
            idle.put(bench)

    try:
        own[0].described()  # without a GPU, no pair can be tuned
        yield here, len(own)
    finally:
        for bench in own:
            bench.close()


def _row(
    name: str,
    pair: tuple[Path, Path],
    bench_for: Benches,
    executors: _Executors | None,
    records: str | Path | None,
    output: str | Path | None,
    how: dict[str, Any],
) -> dict[str, Any]:
    """The row of one pair, which is tuned unless its records have the result."""
    target = Path(output) / f"{name}.json" if output else None
    path = Path(records) / f"{name}.jsonl" if records else None
    try:
        with bench_for(name) as bench:
            held = _records(pair, bench, path, how)
            if held and held.finished and (target is None or target.exists()):
                return held.finished
            executor = executors.of(name, bench.described().arch) if executors else None
            best = tune(spec=pair, benches=[bench], executor=executor, records=path, progress=False, **how)
            if target:
                best.save(target)
            row = PairsTable.row(name, best)
            if held:
                held.finish(row)
            return row
    except TooManyLost as problem:  # all with this pair
        return PairsTable.row(name, reason=str(problem))
    except ClusterLost:
        raise
    except GoptxError as problem:
        return PairsTable.row(name, reason=str(problem))
    except Exception as problem:  # goptx has a fault, which is not that of the other pairs
        LOG.exception("%s cannot be tuned", name)
        return PairsTable.row(name, reason=f"{type(problem).__name__}: {problem}")


def _records(pair: tuple[Path, Path], bench: Any, path: Path | None, how: dict[str, Any]) -> Records | None:
    """The records of the pair, None if no file is given."""
    if path is None:
        return None
    where = bench.described()
    subject = _subject(pair, where.arch, how)
    chosen, measure = chosen_strategies(how.get("strategies")), Measure(how.get("metric"))
    return Records(about_run(subject, where, chosen, how.get("seed", 0), how.get("objective", "device"), measure), path)
