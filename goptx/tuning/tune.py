"""tune(): the fastest candidate that measuring finds, never slower than the unchanged kernels."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from goptx.errors import DependenceWarning, InputError
from goptx.launch.shape import Shape
from goptx.measuring.bench.bench import Bench
from goptx.measuring.bench.questions import Described
from goptx.options import MEASURED_STRATEGIES, OBJECTIVES, Assume, MeasuredStrategy, Objective, is_whole
from goptx.progress import progress_of
from goptx.results.given_kernels import Source
from goptx.time_budget import Budget
from goptx.tuning.best import Best, capped, digest
from goptx.tuning.cluster.cluster_executor import ClusterExecutor
from goptx.tuning.cluster.worker_bench import on_cluster, opened
from goptx.tuning.finals import Found
from goptx.tuning.judging import BenchLike
from goptx.tuning.makers import makers
from goptx.tuning.making import Job
from goptx.tuning.measured import Arguments, Measured, Specification, measured
from goptx.tuning.metric import Measure, Metric
from goptx.tuning.records import Records
from goptx.tuning.space.auto_choices import auto_choices, with_arguments
from goptx.tuning.space.folds import Folds
from goptx.tuning.space.own_candidates import own_candidates
from goptx.tuning.space.partitions import D0, Partitions, sizes_of
from goptx.tuning.space.pruning import Pruning
from goptx.tuning.space.space import Space
from goptx.tuning.trials import Table, Trial
from goptx.tuning.tuning_search import Search
from goptx.version import own_version
from goptx.weaving.dependent.common_variables import dependences_by_variables

if TYPE_CHECKING:
    from distributed import Client


class WrongOutput(UserWarning):
    """A candidate does not write what the kernels alone write: a bug of goptx or of the assembler."""


def tune(
    *sources: Source,
    spec: Specification | None = None,
    entries: Sequence[str | None] | None = None,
    shapes: Sequence[Shape] | None = None,
    args: Arguments | None = None,
    assume: Assume | None = None,
    strategies: Sequence[MeasuredStrategy] | None = None,
    d0: D0 | None = None,
    budget: str | float | Budget | None = None,
    objective: Objective = "device",
    executor: Executor | None = None,
    workers: int | None = None,
    devices: Sequence[int] = (0,),
    records: str | Path | None = None,
    arch: str | None = None,
    seed: int = 0,
    tolerance: float | None = None,
    extra: Sequence[Mapping[str, Any]] | None = None,
    metric: Metric | None = None,
    progress: bool = True,
    benches: Sequence[BenchLike] | None = None,
    client: Client | None = None,
) -> Best:
    """Makes, checks and times many candidates on a GPU, and gives the fastest.

    They are compared with the best that one has without goptx: the kernels as the machine code of their framework, one
    after the other, on streams, and as branches of a CUDA graph, in both orders. Before it is chosen, the fastest
    candidate is compared with all of these once more, in a new process with its data in other places of the memory.

    sources, entries: as in `goptx.weave`. For a single kernel, coarsening is tried. Without sources, the kernels are
        those of `spec`.
    spec: launch specifications (their paths), which describe the shapes and the data of the launches; by default those
        beside the kernels' files.
    shapes, args: instead of specifications, the shape of each kernel, and arguments: by name ("A:2") as `goptx.check`
        takes them, or a sequence for each kernel. Arrays, of numpy or on a device, are copied to the measuring device.
    assume: what is known of the kernels, as in `goptx.weave`: it makes estimates more exact, by which candidates are
        ordered, and left out where they are far from the best. How often loops run is known from the arguments where
        these decide it.
    strategies: the strategies to try, of "weave", "vertical", "interleave", "horizontal" and "separate".
    d0: the threads of a horizontal kernel's CTA, one number or several, multiples of 128 up to 1,024: each is shared
        out among the kernels that are `tunable` in steps of 128 (HFUSE, CGO 2022). By default the sum of the kernels'
        own blocks, and 1,024.
    budget: how long it may take: "90s", "5m", "1h" or seconds; by default until nothing better is found. The kernels'
        first runs, which need data and a compiler, what `auto` chooses, and the last comparisons are not cut short.
    objective: what is compared: "device", the time on the device alone, of CUDA graphs, for which it does not wait; or
        "launched", the time from the first launch by the host, on an idle device, as for a few short kernels.
    executor: makes the kernels, without a GPU: any `concurrent.futures.Executor` whose processes have goptx; by default
        a pool of `workers` processes, as many as there are processors.
    devices: numbers of GPUs of one kind that measure side by side.
    records: a file to which each result is appended as it comes; an interrupted run is resumed from there.
    arch: the architecture to make kernels for; by default the GPU's, if that of the kernels is lower.
    seed: of the data. tolerance: the largest allowed absolute difference of floating-point results, for kernels that
        add in no fixed order; by default all bits have to agree, except for contraction.
    extra: candidates of your own, tried first, whatever their estimates: a "strategy" with options of `goptx.fuse`,
        and if wanted the coarsening "factors" of the kernels and a register "cap", such as
        {"strategy": "weave", "slicing": 300, "factors": (2, 1), "cap": 40}. They are checked as all others.
    metric: a measure of your own: `metric(timing)` gives a number above 0, of which the least is the best, for each
        candidate and each way to run the unchanged kernels; by default the median of `timing.ms`, the milliseconds of
        the runs. `timing` has also `name`, `registers`, `spill_bytes` and `occupancy`, which are None for the
        unchanged kernels. `best.speedup` is the quotient of these numbers.
    progress: write the progress to standard error.
    benches: where to measure, instead of on `devices`; they stay open.
    client: a client of a Dask cluster (`distributed.Client`), on whose workers kernels are made and measured, instead
        of here. Measuring are the workers that announce a GPU (`dask worker ... --resources "GPU=1"`). Those whose
        times of the unchanged kernels differ by more than 3 % from those of most others are not used.

    Raises `DeviceError` without a GPU, `InputError`, `DependentKernels`, and what reading the kernels raises. A failure
    of one candidate, even a hang, is recorded in the table; wrong results give a `WrongOutput` warning.
    """
    if objective not in OBJECTIVES:
        raise InputError(f"objective={objective!r} is not one of {', '.join(OBJECTIVES)}.")
    chosen = chosen_strategies(strategies)
    sizes = _sizes(d0, chosen)
    measure = Measure(metric)
    limit = Budget.of(budget)
    _check_devices(devices)
    if workers is not None and not (is_whole(workers) and workers > 0):
        raise InputError(f"workers={workers!r} is not a number of processes; give 1 or more.")
    subject = measured(sources, spec, entries, shapes, args, arch, seed, tolerance)
    Partitions(subject.shapes, subject.tunable, sizes).check()
    for sentence in dependences_by_variables(subject.kernels):
        warnings.warn(f"{sentence}.", DependenceWarning, stacklevel=2)
    own = own_candidates(extra, len(subject.kernels))
    with ExitStack() as stack:
        measuring: Sequence[BenchLike]
        if client and not benches:
            measuring = stack.enter_context(on_cluster(client, subject))
        else:
            measuring = benches or [stack.enter_context(closing(Bench(number))) for number in devices]
        where = _of_one_kind([bench.described() for bench in measuring])
        if arch is None:
            subject = subject.raised(where.arch)
        limit.start()
        pruning = Pruning.of(subject.kernels, subject.shapes, subject.arch, assume, subject.workload.arguments)
        folds = Folds(subject.kernels, subject.shapes, subject.arch, pruning)
        meanwhile = stack.enter_context(ThreadPoolExecutor(2))  # while the devices make the data
        if "horizontal" in chosen:
            meanwhile.submit(folds.ask_assembler)
        if client and executor is None:
            executor = ClusterExecutor(client, subject.name)
        beginner = executor if isinstance(executor, ClusterExecutor) else meanwhile
        begin = beginner.submit(auto_choices, *first_question(subject, chosen, assume))
        measuring = opened(measuring, subject.workload)
        about = about_run(subject, where, chosen, seed, objective, measure)
        trials = Records(about, None if records is None else Path(records))
        made = stack.enter_context(makers(subject, executor, workers))
        space = Space(subject.shapes, subject.tunable, chosen, sizes, folds)
        tell = stack.enter_context(progress_of("tried", quiet=not progress))
        found = Search(
            space, pruning, made.submit, measuring, trials, limit, subject.workload.baselines, objective == "launched",
            tell, measure, own, begin,
        ).best()  # fmt: skip
    best = _best(subject, found, trials.all(), where, limit, objective)
    for trial in best.bugs:
        warnings.warn(f"{trial.candidate}: {trial.reason}; please report it", WrongOutput, stacklevel=2)
    return best


def first_question(subject: Measured, strategies: Sequence[MeasuredStrategy], assume: Assume | None) -> tuple[Any, ...]:
    """The arguments of `auto_choices`, which gives the candidates to try before others: what `auto` chooses by what is
    assumed, and by that and the kernels' arguments. For a single kernel none."""
    several = len(subject.kernels) > 1
    assumed = (assume, with_arguments(assume, subject.workload.arguments)) if several else ()
    return subject.kernels, subject.shapes, subject.arch, strategies, assumed


def chosen_strategies(given: Sequence[MeasuredStrategy] | None) -> tuple[MeasuredStrategy, ...]:
    if isinstance(given, str):
        raise InputError(f'strategies= takes a list, for example strategies=["{given}"].')
    if unknown := [name for name in given or () if name not in MEASURED_STRATEGIES]:
        raise InputError(f"strategy `{unknown[0]}` cannot be tuned; expected some of {', '.join(MEASURED_STRATEGIES)}.")
    return tuple(s for s in MEASURED_STRATEGIES if given is None or s in given)


def _sizes(d0: D0 | None, strategies: Sequence[str]) -> tuple[int, ...]:
    sizes = sizes_of(d0)
    if sizes and "horizontal" not in strategies:
        raise InputError(f"d0={d0} is for horizontal kernels, which strategies= leaves out; name horizontal there too.")
    return sizes


def _check_devices(devices: Sequence[int]) -> None:
    if not devices:
        raise InputError("devices= names no GPU; give its number, for example devices=[0].")
    if len(set(devices)) < len(devices):
        raise InputError(f"devices={list(devices)} names a GPU twice; kernels that it runs at once cannot be timed.")


def _of_one_kind(described: Sequence[Described]) -> Described:
    for one in described:
        if one.gpu != described[0].gpu:
            raise InputError(
                f"devices= names GPUs of two kinds, {described[0].gpu} and {one.gpu}, whose times cannot be compared."
            )
    return described[0]


def about_run(
    subject: Measured, where: Described, strategies: Sequence[str], seed: int, objective: Objective, measure: Measure
) -> dict[str, Any]:
    """The description of a run; records with the same description can be resumed."""
    return {
        "kernels": [digest(kernel) for kernel in subject.kernels],
        "shapes": list(map(str, subject.shapes)),
        "arguments": sha256(repr([_fixed(v) for _, v in subject.workload.params]).encode()).hexdigest(),
        "tunable": list(subject.tunable),
        "seed": seed,
        "tolerance": subject.workload.tolerance,
        "strategies": list(strategies),
        "objective": objective,
        "metric": measure.identity,
        "arch": subject.arch,
        "goptx": own_version(),
        "gpu": where.gpu,
        "driver": where.driver,
        "assembler": subject.workload.separate.assembly().assembler,
    }


def _fixed(value: object) -> object:
    return sha256(np.ascontiguousarray(value).tobytes()).hexdigest() if isinstance(value, np.ndarray) else value


def _best(
    subject: Measured, found: Found, trials: Iterable[Trial], where: Described, budget: Budget, objective: Objective
) -> Best:
    workload = subject.workload
    ranked = sorted(enumerate(trials), key=lambda each: _rank(each[1], found))
    about = {
        "goptx": own_version(),
        "gpu": where.gpu,
        "driver": where.driver,
        "assembler": workload.separate.assembly().assembler,
        "date": datetime.now(UTC).date().isoformat(),
        "seconds": round(budget.spent, 1),
    }
    job = Job(subject.kernels, subject.shapes, subject.tunable, found.candidate, subject.arch)
    streams = found.candidate.option("streams")
    separate = workload.separate.side_by_side(streams) if streams else workload.separate
    woven = capped(found.woven, found.candidate) if found.woven else separate
    unchanged = {f"{name} (unchanged)": found.ms[name] for name in workload.baselines if name in found.ms}
    table = Table(tuple(t for _, t in ranked), found.candidate, unchanged, tuple(position for position, _ in ranked))
    return Best(
        woven, found.candidate, found.speedup, found.ms, table, about, job, found.baseline, objective,
        found.launched_ms, found.host_us,
    )  # fmt: skip


def _rank(trial: Trial, found: Found) -> tuple[Any, ...]:
    """The sort key of the table: the chosen candidate, the other timed ones, the fastest first, and the rest."""
    return trial.candidate != found.candidate, trial.status != "timed", -trial.speedup, str(trial.candidate)
