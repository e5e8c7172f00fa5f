"""The end of a search: successive halving finds the best of the ways that were tried, and those are measured against
separate launches once more, in turn.

Requires trials that were timed, the fastest first. A way that fails now is recorded so and is not chosen.
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
from goptx.tuning.judging import Place, judged
from goptx.tuning.records import Records
from goptx.tuning.space.space import Space
from goptx.tuning.timers import timers
from goptx.tuning.trials import Trial

FIRST, MOST = 3, 20  # runs of a way when it is tried, and of those that are left at last
FINALISTS = 3  # ways that are measured against separate launches
WARMUPS = 3
GAIN = 1.005  # by which streams of their own are faster than one, or one will do


@dataclass(frozen=True, slots=True)
class Found:
    """The way that was chosen, its kernel (None for the kernels as they are), and the last measurement: milliseconds
    of single runs of what was compared."""

    way: Candidate
    woven: Woven | None
    ms: Mapping[str, Sequence[float]]

    def median(self, key: str) -> float:
        return median(self.ms[key])

    @property
    def baseline(self) -> float:
        """Milliseconds of the kernels as they are, by whichever of the two ways is faster."""
        return min(self.median(STREAMS), self.median(SEPARATE))

    @property
    def speedup(self) -> float:
        return self.baseline / self.median(str(self.way)) if self.woven else 1.0


@dataclass(frozen=True, slots=True)
class Finals:
    """`woven` gives what a way made, None where it cannot."""

    space: Space
    woven: Callable[[Candidate], Woven | None]
    benches: Sequence[Place]
    records: Records
    budget: Budget

    def best(self, trials: Sequence[Trial]) -> Found:
        """Raises `DeviceError` where even the kernels as they are cannot be measured any more."""
        return self._compared(self._halved(trials))

    def _halved(self, trials: Sequence[Trial]) -> Sequence[Trial]:
        """The few that are left when the slower half was dropped again and again, while the others are run twice as
        often."""
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

    def _again(self, bench: Place, trials: Sequence[Trial], repeats: int) -> list[Trial]:
        """Timed together; where that fails, each alone."""
        held, lost = self._held(bench, trials)
        timed = bench.time([STREAMS, *(str(t.way) for t in held)], repeats, 1)
        if not timed.problem:
            return [*(t.timed(timed.ms[str(t.way)], timed.ms[STREAMS]) for t in held), *lost]
        if len(held) == 1:
            return [held[0].failed("failed", timed.problem), *lost]
        return [*(t for one in held for t in self._again(bench, [one], repeats)), *lost]

    def _held(self, bench: Place, trials: Sequence[Trial]) -> tuple[list[Trial], list[Trial]]:
        """Those that the bench can time, and those that it cannot: they were tried on another device, or in a run that
        this one goes on with."""
        there = [t if bench.holds(str(t.way)) else self._brought(bench, t) for t in trials]
        return [t for t in there if t.status == "timed"], [t for t in there if t.status != "timed"]

    def _brought(self, bench: Place, trial: Trial) -> Trial:
        """As `judged`."""
        woven = self.woven(trial.way)
        return judged(bench, trial, woven) if woven else trial.failed("failed", "it could not be made again")

    def _compared(self, finalists: Sequence[Trial]) -> Found:
        """The fastest of them, if it is faster than the kernels as they are."""
        bench = self.benches[0]
        held, lost = self._held(bench, finalists)
        compared = self._in_turn(bench, held)
        while held and compared.problem:
            alone = [t for one in held for t in self._again(bench, [one], FIRST)]
            lost += [t for t in alone if t.status != "timed"]
            right = [t for t in alone if t.status == "timed"]
            held = right if len(right) < len(held) else held[:-1]  # nobody knows which: without the slowest
            compared = self._in_turn(bench, held)
        if compared.problem:
            raise DeviceError(f"the kernels cannot be measured as they are: {compared.problem}")
        ms = {key: median(runs) for key, runs in compared.ms.items()}
        for trial in held:
            self.records.add(trial.timed(compared.ms[str(trial.way)], compared.ms[STREAMS]))
        best = min(held, key=lambda t: ms[str(t.way)], default=None)
        several = len(self.space.shapes) > 1
        way = self.space.streams if several and ms[STREAMS] * GAIN < ms[SEPARATE] else self.space.separate
        found = Found(way, None, compared.ms)
        if best and ms[str(best.way)] < min(ms[STREAMS], ms[SEPARATE]):
            found = Found(best.way, self.woven(best.way), compared.ms)
        for trial in lost:
            self.records.add(trial)
        return found

    def _in_turn(self, bench: Place, trials: Sequence[Trial]) -> Timed:
        return bench.time([STREAMS, SEPARATE, *(str(t.way) for t in trials)], MOST, WARMUPS)
