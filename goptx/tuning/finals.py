"""The end of a search: successive halving finds the best candidates, which are then measured against the unchanged
kernels, and once more in a new process with their data in other places of the memory.

Requires trials that were timed, the fastest first. A candidate that fails now is recorded as failed and not chosen. One
is chosen only if it is faster than every baseline in both measurements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from goptx.errors import DeviceError
from goptx.measuring.bench.baselines import ASSEMBLED, SEPARATE, WAYS, best_baseline, launched_as
from goptx.measuring.bench.bench import Timed
from goptx.results.fused_kernel import Woven
from goptx.strategies.candidate import Candidate
from goptx.time_budget import Budget
from goptx.tuning.judging import BenchLike, judged
from goptx.tuning.metric import Measure
from goptx.tuning.records import Records
from goptx.tuning.space.space import Space
from goptx.tuning.timers import timers
from goptx.tuning.trials import Trial

FIRST, MOST = 3, 20  # runs of a candidate: in its first trial, and in the last comparisons
FINALISTS = 3  # candidates that are measured against separate launches
WARMUPS = 3
GAIN = 1.005  # a candidate is chosen only if it is faster than the unchanged kernels by this factor

Medians = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Found:
    """The candidate that was chosen, and its kernel (None for the unchanged kernels).

    speedup: over the baseline, in the measurement in which it is lower. baseline: the fastest way to run the unchanged
    kernels. ms: medians of the last measurement, by what was compared, in milliseconds. launched_ms, host_us: the same
    with launches from the host on an idle device, and microseconds until the host had launched.
    """

    candidate: Candidate
    woven: Woven | None
    speedup: float
    baseline: str
    ms: Medians
    launched_ms: Medians = field(default_factory=dict)
    host_us: Medians = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Compared:
    """By what was compared: medians in milliseconds, and the numbers by which the choice is made."""

    ms: Medians
    values: Medians


@dataclass(frozen=True, slots=True)
class Finals:
    """`woven` gives the kernel of a candidate, None if it cannot be made. `baselines` are the ways to run the unchanged
    kernels, `against` the fastest of them before. `launched`: candidates are compared by the time with that of the
    host. `measure` gives the number that is compared."""

    space: Space
    woven: Callable[[Candidate], Woven | None]
    benches: Sequence[BenchLike]
    records: Records
    budget: Budget
    baselines: Sequence[str] = (SEPARATE,)
    against: str = SEPARATE
    launched: bool = False
    measure: Measure = field(default_factory=Measure)

    def best(self, trials: Sequence[Trial]) -> Found:
        """The chosen candidate. Raises `DeviceError` if even the unchanged kernels cannot be measured any more."""
        held, first = self._compared(self._halved(trials))
        faster = [t for t in held if _speedup(first, t.candidate) >= GAIN]
        if not faster:
            return self._chosen([], first, first)
        self.benches[0].renew()
        again, second = self._compared(faster)
        return self._chosen(again, first, second)

    def _chosen(self, trials: Sequence[Trial], first: Compared, second: Compared) -> Found:
        """The fastest candidate by the worse of its measurements, or the unchanged kernels."""
        worse = {t.candidate: min(_speedup(each, t.candidate) for each in (first, second)) for t in trials}
        best = max(worse, key=lambda c: worse[c], default=None)
        baseline = best_baseline(second.values)
        host = self._as_launched([] if best is None else [str(best)])
        launched_ms, host_us = ({key: median(runs) for key, runs in of.items()} for of in (host.ms, host.host_us))
        if best is not None and worse[best] >= GAIN:
            return Found(best, self.woven(best), worse[best], baseline, second.ms, launched_ms, host_us)
        own = launched_as(baseline)
        lost = min(1.0, second.values[baseline] / second.values[own])
        return Found(self.space.unchanged(WAYS[own]), None, lost, baseline, second.ms, launched_ms, host_us)

    def _as_launched(self, keys: Sequence[str]) -> Timed:
        own = [name for name in self.baselines if not name.endswith(ASSEMBLED)]
        return self.benches[0].time([*own, *keys], MOST, WARMUPS, launched=True)

    def _halved(self, trials: Sequence[Trial]) -> Sequence[Trial]:
        """The finalists: the slower half is dropped again and again, and the others are run twice as often."""
        repeats = FIRST
        while len(trials) > FINALISTS and self.budget.left(reserved=True) > 0:
            repeats = min(2 * repeats, MOST)
            shares = [(bench, trials[k :: len(self.benches)]) for k, bench in enumerate(self.benches)]
            with timers(len(self.benches)) as pool:
                jobs = [pool.submit(self._again, bench, share, repeats) for bench, share in shares if share]
                again = [trial for job in jobs for trial in job.result()]
            for trial in again:
                self.records.add(trial)
            ranked = sorted((t for t in again if t.status == "timed"), key=Trial.rank)
            trials = ranked[: max(FINALISTS, len(trials) // 2)]
        return trials[:FINALISTS]

    def _again(self, bench: BenchLike, trials: Sequence[Trial], repeats: int) -> list[Trial]:
        """Times the trials in one measurement; if that fails, each alone."""
        held, lost = self._held(bench, trials)
        timed = bench.time([self.against, *(str(t.candidate) for t in held)], repeats, 1, self.launched)
        if not timed.problem:
            against = timed.ms[self.against]
            return [*(t.timed(timed.ms[str(t.candidate)], against, self.measure, self.against) for t in held), *lost]
        if len(held) == 1:
            return [held[0].failed("failed", timed.problem), *lost]
        return [*(t for one in held for t in self._again(bench, [one], repeats)), *lost]

    def _held(self, bench: BenchLike, trials: Sequence[Trial]) -> tuple[list[Trial], list[Trial]]:
        """The trials that the bench can time, and those that failed when their kernels were opened there: they were
        tried on another device, in another process, or in the earlier run that this one resumes."""
        there = [t if bench.holds(str(t.candidate)) else self._brought(bench, t) for t in trials]
        return [t for t in there if t.status == "timed"], [t for t in there if t.status != "timed"]

    def _brought(self, bench: BenchLike, trial: Trial) -> Trial:
        """The trial, with its kernel opened on this bench (`judged`)."""
        woven = self.woven(trial.candidate)
        return judged(bench, trial, woven) if woven else trial.failed("failed", "it could not be made again")

    def _compared(self, finalists: Sequence[Trial]) -> tuple[list[Trial], Compared]:
        """The finalists that did not fail, compared with each other and with all baselines."""
        bench = self.benches[0]
        held, lost = self._held(bench, finalists)
        compared = self._interleaved(bench, held)
        while held and compared.problem:
            alone = [t for one in held for t in self._again(bench, [one], FIRST)]
            lost += [t for t in alone if t.status != "timed"]
            right = [t for t in alone if t.status == "timed"]
            held = right if len(right) < len(held) else held[:-1]  # unknown which one fails: drop the slowest
            compared = self._interleaved(bench, held)
        if compared.problem:
            raise DeviceError(f"the unchanged kernels cannot be measured: {compared.problem}")
        ms = {key: median(runs) for key, runs in compared.ms.items()}
        values = {name: self.measure.of_unchanged(name, compared.ms[name]) for name in self.baselines}
        values |= {str(t.candidate): self.measure(t.timing(compared.ms[str(t.candidate)])) for t in held}
        baseline = best_baseline(values)
        for trial in held:
            runs, against = compared.ms[str(trial.candidate)], compared.ms[baseline]
            self.records.add(trial.timed(runs, against, self.measure, baseline))
        for trial in lost:
            self.records.add(trial)
        return held, Compared(ms, values)

    def _interleaved(self, bench: BenchLike, trials: Sequence[Trial]) -> Timed:
        return bench.time([*self.baselines, *(str(t.candidate) for t in trials)], MOST, WARMUPS, self.launched)


def _speedup(found: Compared, candidate: Candidate) -> float:
    """Over the fastest way to run the unchanged kernels in one measurement; 0 if the candidate was not timed there."""
    values, name = found.values, str(candidate)
    return min(values[way] for way in WAYS if way in values) / values[name] if name in values else 0.0
