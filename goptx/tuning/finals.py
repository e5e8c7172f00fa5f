"""The end of a search: successive halving finds the best candidates, which are then measured once more, interleaved
with separate launches.

Requires trials that were timed, the fastest first. A candidate that fails now is recorded as failed and not chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from goptx.errors import DeviceError
from goptx.measuring.bench.bench import Timed
from goptx.measuring.bench.questions import SEPARATE, STREAMS
from goptx.results.fused_kernel import Woven
from goptx.strategies.candidate import Candidate
from goptx.tuning.budget import Budget
from goptx.tuning.judging import BenchLike, judged
from goptx.tuning.records import Records
from goptx.tuning.space.space import Space
from goptx.tuning.timers import timers
from goptx.tuning.trials import Trial

FIRST, MOST = 3, 20  # runs of a candidate: in its first trial, and in the last comparison
FINALISTS = 3  # candidates that are measured against separate launches
WARMUPS = 3
GAIN = 1.005  # one stream is chosen unless a stream for each kernel is faster by this factor


@dataclass(frozen=True, slots=True)
class Found:
    """The candidate that was chosen, its kernel (None for the unchanged kernels), and the last measurement: the
    milliseconds of each run, by what was compared."""

    candidate: Candidate
    woven: Woven | None
    ms: Mapping[str, Sequence[float]]

    def median(self, key: str) -> float:
        return median(self.ms[key])

    @property
    def baseline(self) -> float:
        """Milliseconds of the unchanged kernels, on one stream or on a stream for each, whichever is faster."""
        return min(self.median(STREAMS), self.median(SEPARATE))

    @property
    def speedup(self) -> float:
        return self.baseline / self.median(str(self.candidate)) if self.woven else 1.0


@dataclass(frozen=True, slots=True)
class Finals:
    """`woven` gives the kernel of a candidate, None if it cannot be made."""

    space: Space
    woven: Callable[[Candidate], Woven | None]
    benches: Sequence[BenchLike]
    records: Records
    budget: Budget

    def best(self, trials: Sequence[Trial]) -> Found:
        """The chosen candidate. Raises `DeviceError` if even the unchanged kernels cannot be measured any more."""
        return self._compared(self._halved(trials))

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
        timed = bench.time([STREAMS, *(str(t.candidate) for t in held)], repeats, 1)
        if not timed.problem:
            return [*(t.timed(timed.ms[str(t.candidate)], timed.ms[STREAMS]) for t in held), *lost]
        if len(held) == 1:
            return [held[0].failed("failed", timed.problem), *lost]
        return [*(t for one in held for t in self._again(bench, [one], repeats)), *lost]

    def _held(self, bench: BenchLike, trials: Sequence[Trial]) -> tuple[list[Trial], list[Trial]]:
        """The trials that the bench can time, and those that failed when their kernels were opened there: they were
        tried on another device, or in the earlier run that this one resumes."""
        there = [t if bench.holds(str(t.candidate)) else self._brought(bench, t) for t in trials]
        return [t for t in there if t.status == "timed"], [t for t in there if t.status != "timed"]

    def _brought(self, bench: BenchLike, trial: Trial) -> Trial:
        """The trial, with its kernel opened on this bench (`judged`)."""
        woven = self.woven(trial.candidate)
        return judged(bench, trial, woven) if woven else trial.failed("failed", "it could not be made again")

    def _compared(self, finalists: Sequence[Trial]) -> Found:
        """The fastest finalist, if it is faster than the unchanged kernels."""
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
        for trial in held:
            self.records.add(trial.timed(compared.ms[str(trial.candidate)], compared.ms[STREAMS]))
        best = min(held, key=lambda t: ms[str(t.candidate)], default=None)
        several = len(self.space.shapes) > 1
        candidate = self.space.streams if several and ms[STREAMS] * GAIN < ms[SEPARATE] else self.space.separate
        found = Found(candidate, None, compared.ms)
        if best and ms[str(best.candidate)] < min(ms[STREAMS], ms[SEPARATE]):
            found = Found(best.candidate, self.woven(best.candidate), compared.ms)
        for trial in lost:
            self.records.add(trial)
        return found

    def _interleaved(self, bench: BenchLike, trials: Sequence[Trial]) -> Timed:
        return bench.time([STREAMS, SEPARATE, *(str(t.candidate) for t in trials)], MOST, WARMUPS)
