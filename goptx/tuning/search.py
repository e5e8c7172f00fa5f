"""The search: ways are made by an executor and tried as they come, on every device that is there; the best of them are
varied; successive halving finds the fastest; and that is measured against separate launches once more, in turn.

Nothing that becomes of a way ends the run. The same times give the same choice.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from hashlib import sha256
from queue import SimpleQueue
from statistics import median
from typing import Protocol

from goptx.device.bench.bench import Timed
from goptx.device.bench.questions import STREAMS, Failed, Judged
from goptx.progress import Progress
from goptx.strategies.way import Way
from goptx.tuning.budget import Budget
from goptx.tuning.foresight import Foresight
from goptx.tuning.making import Made
from goptx.tuning.records import Records
from goptx.tuning.space import Space
from goptx.tuning.trials import Trial
from goptx.weaving.result import Woven

FIRST, MOST = 3, 20  # runs of a way when it is tried, and of those that are left at last
LEADERS, ROUNDS = 3, 4  # the best ways, which are varied, and how often
GAIN = 1.005  # by which a round has to better the best, or it is the last
SURVIVORS, FINALISTS = 16, 3  # ways that are timed again, and those that are measured against separate launches
WARMUPS = 3
OTHER_BLOCK = "; in blocks of other sizes it may round otherwise: tolerance= says by how much it may differ"


class Bench(Protocol):
    """As `goptx.device.bench.bench.Bench`, with the kernels opened."""

    def judge(self, key: str, woven: Woven, cap: int | None) -> Judged | Failed: ...
    def holds(self, key: str) -> bool: ...
    def time(self, keys: Sequence[str], repeats: int, warmups: int) -> Timed: ...


@dataclass(frozen=True, slots=True)
class Found:
    """The way that was chosen, its kernel (None for the kernels as they are), and the last measurement: milliseconds
    of single runs of what was compared."""

    way: Way
    woven: Woven | None
    ms: Mapping[str, Sequence[float]]

    def median(self, key: str) -> float:
        return median(self.ms[key])

    @property
    def baseline(self) -> float:
        """Milliseconds of the kernels as they are, by whichever of the two ways is faster."""
        return min(self.median(STREAMS), self.median("separate"))

    @property
    def speedup(self) -> float:
        return self.baseline / self.median(str(self.way)) if self.woven else 1.0


@dataclass(slots=True)
class Search:
    """`submit` has a way made; `benches` are the devices, each with the kernels opened."""

    space: Space
    foresight: Foresight
    submit: Callable[[Way], Future[Made]]
    benches: Sequence[Bench]
    records: Records
    budget: Budget
    progress: Progress | None = None
    _made: dict[Way, Woven] = field(default_factory=dict)  # without caps
    _codes: dict[str, Way] = field(default_factory=dict)  # by digests
    _idle: SimpleQueue[Bench] = field(default_factory=SimpleQueue)
    _done: int = 0

    def best(self) -> Found:
        for bench in self.benches:
            self._idle.put(bench)
        self._try_all(self.space.first())
        for _ in range(ROUNDS):
            leaders = self._leaders()
            before = max((t.speedup for t in leaders), default=0.0)
            self._try_all(way for leader in leaders for way in self.space.near(leader.way))
            if max((t.speedup for t in self._leaders()), default=0.0) <= GAIN * before:
                break
        return self._compared(self._halved(self._timed()[:SURVIVORS]))

    def _timed(self) -> list[Trial]:
        """The fastest first; of equals the one that was made of less."""
        found = [t for t in self.records.trials.values() if t.status == "timed" and t.way != self.space.separate]
        return sorted(found, key=lambda t: (-t.speedup, t.way.factors, str(t.way)))

    def _leaders(self) -> list[Trial]:
        """The best, each of another way without caps."""
        return list({t.way.uncapped: t for t in reversed(self._timed())}.values())[::-1][:LEADERS]

    def _try_all(self, ways: Iterable[Way]) -> None:
        """Makes and times those that were not tried before, as far as there is time."""
        known = self.records.trials
        new = [w for w in dict.fromkeys(ways) if w not in known or known[w].status == "left out"]
        todo, pruned = self.foresight.sorted(new)
        for trial in pruned:
            self.records.add(trial)
        with ThreadPoolExecutor(len(self.benches)) as timers:
            tried = [timers.submit(self._try, made) for made in self._as_made(todo)]
            for one in tried:
                one.result()

    def _as_made(self, ways: Sequence[Way]) -> Iterator[Made]:
        """What becomes of them, as it comes; what does not in time is left out."""
        waited: dict[Future[Made], Way] = {}
        for way in ways:
            if self.budget.left() > 0:
                waited[self.submit(way)] = way
        late = set(ways) - set(waited.values())
        while waited:
            done, _ = wait(waited, timeout=self.budget.left(), return_when=FIRST_COMPLETED)
            if not done:
                late |= set(waited.values())
                for future in waited:
                    future.cancel()
                break
            for future in sorted(done, key=list(waited).index):
                yield self._result(waited.pop(future), future)
        for way in ways:
            if way in late:
                self.records.add(Trial(way, "left out", "there was no time left"))

    def _result(self, way: Way, future: Future[Made]) -> Made:
        problem = future.exception()
        if problem is not None:  # the process that made it ended, or goptx has a fault
            return Made((Trial(way, "failed", f"it could not be made: {type(problem).__name__}: {problem}"),))
        return self._told_apart(future.result())

    def _told_apart(self, made: Made) -> Made:
        """Without what is the same code as that of another way."""
        way = made.trials[0].way
        if made.woven is None:
            return made
        own = self._codes.setdefault(sha256(made.woven.ptx.encode()).hexdigest(), way)
        if own != way:
            return Made((made.trials[0].failed("pruned", f"the same code as {own}"),))
        self._made[way] = made.woven
        return made

    def _try(self, made: Made) -> None:
        """All trials of what was made; that without a cap is recorded last, and so says that the others are."""
        for trial in reversed(made.trials):
            if trial.status == "timed":
                assert made.woven
                trial = self._tried(trial, made.woven)
            self.records.add(trial)
        self._done += 1
        if self.progress:
            best = next(iter(self._timed()), None)
            self.progress(self._done, 0, f"best {best.way} {best.speedup:.2f}" if best else "")

    def _tried(self, trial: Trial, woven: Woven) -> Trial:
        if self.budget.left() <= 0:
            return trial.failed("left out", "there was no time left")
        bench, key = self._idle.get(), str(trial.way)
        try:
            judged = bench.judge(key, woven, trial.way.cap)
            if isinstance(judged, Failed):
                return trial.failed("failed", judged.problem)
            if judged.wrong and trial.way.option("partition"):
                return trial.failed("pruned", judged.wrong + OTHER_BLOCK)
            if judged.wrong:
                return trial.failed("wrong", judged.wrong)
            timed = bench.time([STREAMS, key], FIRST, 1)
        finally:
            self._idle.put(bench)
        if timed.problem:
            return trial.failed("failed", timed.problem)
        return trial.contracting(judged.contracted).timed(timed.ms[key], timed.ms[STREAMS])

    def _halved(self, trials: list[Trial]) -> list[Trial]:
        """The few that are left when the slower half was dropped again and again, while the others are run twice as
        often."""
        repeats = FIRST
        while len(trials) > FINALISTS and self.budget.left(reserved=True) > 0:
            repeats = min(2 * repeats, MOST)
            shares = [trials[k :: len(self.benches)] for k in range(len(self.benches))]
            with ThreadPoolExecutor(len(self.benches)) as timers:
                jobs = [
                    timers.submit(self._again, bench, share, repeats)
                    for bench, share in zip(self.benches, shares, strict=True)
                    if share
                ]
            again = [trial for job in jobs for trial in job.result()]
            for trial in again:
                self.records.add(trial)
            ranked = sorted((t for t in again if t.status == "timed"), key=lambda t: -t.speedup)
            trials = ranked[: max(FINALISTS, len(trials) // 2)]
        return trials[:FINALISTS]

    def _again(self, bench: Bench, trials: Sequence[Trial], repeats: int) -> list[Trial]:
        """Timed together; where that fails, each alone."""
        held, lost = self._held(bench, trials)
        timed = bench.time([STREAMS, *(str(t.way) for t in held)], repeats, 1)
        if not timed.problem:
            return [*(t.timed(timed.ms[str(t.way)], timed.ms[STREAMS]) for t in held), *lost]
        if len(held) == 1:
            return [held[0].failed("failed", timed.problem), *lost]
        return [*(t for one in held for t in self._again(bench, [one], repeats)), *lost]

    def _held(self, bench: Bench, trials: Sequence[Trial]) -> tuple[list[Trial], list[Trial]]:
        """Those that the bench can time, and those that it cannot: they were tried on another device, or in a run that
        this one goes on with."""
        held: list[Trial] = []
        lost: list[Trial] = []
        for trial in trials:
            problem = "" if bench.holds(str(trial.way)) else self._brought(bench, trial)
            (lost if problem else held).append(trial.failed("failed", problem) if problem else trial)
        return held, lost

    def _brought(self, bench: Bench, trial: Trial) -> str:
        """Brings a kernel to a bench; what was in the way, "" for nothing."""
        woven = self._woven(trial.way)
        if woven is None:
            return "it could not be made again"
        judged = bench.judge(str(trial.way), woven, trial.way.cap)
        return judged.problem if isinstance(judged, Failed) else judged.wrong

    def _woven(self, way: Way) -> Woven | None:
        if way.uncapped not in self._made:
            made = self.submit(way.uncapped)
            if made.exception() is not None or made.result().woven is None:
                return None
            self._told_apart(made.result())
        return self._made.get(way.uncapped)

    def _compared(self, finalists: Sequence[Trial]) -> Found:
        """The fastest of them, if it is faster than the kernels as they are."""
        bench = self.benches[0]
        held = self._held(bench, finalists)[0]
        compared = self._in_turn(bench, held)
        while held and compared.problem:
            held = held[:-1] if len(held) > 1 else []
            compared = self._in_turn(bench, held)
        found = Found(self.space.separate, None, compared.ms)
        for trial in held:
            key = str(trial.way)
            self.records.add(trial.timed(compared.ms[key], compared.ms[STREAMS]))
            if found.median(key) < min(found.baseline, found.median(str(found.way))):
                found = Found(trial.way, self._woven(trial.way), compared.ms)
        return found

    def _in_turn(self, bench: Bench, trials: Collection[Trial]) -> Timed:
        return bench.time([STREAMS, str(self.space.separate), *(str(t.way) for t in trials)], MOST, WARMUPS)
