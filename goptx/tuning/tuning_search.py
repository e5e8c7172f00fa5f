"""The search: ways are made by an executor and tried as they come, on every device that is there; the best of them are
varied, and tried under more register caps; and `finals.py` chooses among them.

Nothing that becomes of a way ends the run. The same times give the same choice, also of a run that goes on with the
records of another: it takes the same steps, but for those of which the records know the result.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from queue import SimpleQueue

from goptx.measuring.bench.questions import STREAMS
from goptx.progress import Progress
from goptx.results.fused_kernel import Woven
from goptx.strategies.candidate import Candidate
from goptx.tuning.budget import Budget
from goptx.tuning.finals import FIRST, Finals, Found
from goptx.tuning.judging import Place, judged
from goptx.tuning.making import Made, under_cap
from goptx.tuning.records import Records
from goptx.tuning.space.pruning import Pruning
from goptx.tuning.space.space import Space
from goptx.tuning.timers import timers
from goptx.tuning.trials import Trial

LEADERS, ROUNDS = 5, 4  # the best ways, which are varied, and how often
GAIN = 1.005  # by which a round has to better the best, or it is the last
SURVIVORS = 16  # ways that are timed again
NO_TIME = "there was no time left"


@dataclass(slots=True)
class Search:
    """`submit` has a way made; `benches` are the devices, each with the kernels opened."""

    space: Space
    pruning: Pruning
    submit: Callable[[Candidate], Future[Made]]
    benches: Sequence[Place]
    records: Records
    budget: Budget
    progress: Progress | None = None
    _made: dict[Candidate, Woven] = field(default_factory=dict)  # without caps
    _codes: dict[str, Candidate] = field(init=False)  # the first of each, by digests
    _steps: set[Candidate] = field(default_factory=set)  # ways that this run has come to
    _idle: SimpleQueue[Place] = field(default_factory=SimpleQueue)
    _done: int = 0

    def __post_init__(self) -> None:
        self._codes = {t.code: t.way for t in self.records.all() if t.code and t.status != "pruned"}

    def best(self) -> Found:
        """As `Finals.best`."""
        for bench in self.benches:
            self._idle.put(bench)
        self._try_all(self.space.first())
        for _ in range(ROUNDS):
            leaders = self._leaders()
            before = max((t.speedup for t in leaders), default=0.0)
            self._try_all(way for leader in leaders for way in self.space.near(leader.way))
            if max((t.speedup for t in self._leaders()), default=0.0) <= GAIN * before:
                break
        self._sweep_caps()
        finals = Finals(self.space, self._woven, self.benches, self.records, self.budget)
        return finals.best(self._timed()[:SURVIVORS])

    def _timed(self) -> list[Trial]:
        """The fastest first."""
        tried = [t for t in self.records.all() if t.way.uncapped in self._steps]
        as_they_are = self.space.separate, self.space.streams
        found = [t for t in tried if t.status == "timed" and t.way not in as_they_are]
        return sorted(found, key=Trial.rank)

    def _leaders(self) -> list[Trial]:
        """The best, each of another way without caps."""
        best: dict[Candidate, Trial] = {}
        for trial in self._timed():
            best.setdefault(trial.way.uncapped, trial)
        return list(best.values())[:LEADERS]

    def _try_all(self, ways: Iterable[Candidate]) -> None:
        """Makes and times those that were not tried before, as far as there is time."""
        new = [way for way in dict.fromkeys(ways) if way not in self._steps]
        self._steps |= set(new)
        promising, pruned = self.pruning.sorted(new)
        for trial in pruned:
            if self.records.lack(trial.way):
                self.records.add(trial)
        todo = list(filter(self.records.lack, promising))
        with timers(len(self.benches)) as pool:
            tried = [pool.submit(self._try, made) for made in self._as_made(todo)]
            for one in tried:
                one.result()

    def _sweep_caps(self) -> None:
        """The best ways under the caps of the published sweep: no kernel is made for them, only machine code, which
        this machine's processors make side by side."""
        new = [way for leader in self._leaders() for way in self._caps_of(leader.way) if self.records.lack(way)]
        kernels = [self._woven(way) for way in new]
        with ThreadPoolExecutor(os.cpu_count()) as assemblers, timers(len(self.benches)) as pool:
            made = assemblers.map(self._under_cap, new, kernels)
            for one in [pool.submit(self._try, each) for each in made]:
                one.result()

    def _caps_of(self, way: Candidate) -> list[Candidate]:
        free = self.records.trials.get(way.uncapped)
        return self.space.capped(way.uncapped, free.registers or 0) if free else []

    def _under_cap(self, way: Candidate, woven: Woven | None) -> Made:
        if woven is None:
            return Made((Trial(way, "failed", "it could not be made again"),))
        if self.budget.left() <= 0:
            return Made((Trial(way, "left out", NO_TIME),))
        return Made((under_cap(way, woven),), woven)

    def _as_made(self, ways: Sequence[Candidate]) -> Iterator[Made]:
        """What becomes of them, as it comes; what does not in time is left out."""
        waited: dict[Future[Made], Candidate] = {}
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
                yield self._told_apart(self._result(waited.pop(future), future))
        for way in ways:
            if way in late:
                self.records.add(Trial(way, "left out", NO_TIME))

    def _result(self, way: Candidate, future: Future[Made]) -> Made:
        """Where a process ends, all fail that wait for one; then each is made again alone, which shows whose fault it
        was."""
        try:
            try:
                return future.result()
            except BrokenExecutor:
                return self.submit(way).result(self.budget.left())
        except TimeoutError:
            return Made((Trial(way, "left out", NO_TIME),))
        except Exception as problem:  # the process that made it ended, or goptx has a fault
            return Made((Trial(way, "failed", f"it could not be made: {type(problem).__name__}: {problem}"),))

    def _told_apart(self, made: Made) -> Made:
        """Without what is the same code as that of another way."""
        trial = made.trials[0]
        if made.woven is None:
            return made
        first = self._codes.setdefault(trial.code, trial.way)
        if first != trial.way:
            return Made((trial.failed("pruned", f"the same code as {first}"),))
        self._made[trial.way] = made.woven
        return made

    def _try(self, made: Made) -> None:
        """All trials of what was made; that without a cap is recorded last, and so says that the others are."""
        for trial in filter(lambda t: self.records.lack(t.way), reversed(made.trials)):
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
            return trial.failed("left out", NO_TIME)
        bench, key = self._idle.get(), str(trial.way)
        try:
            trial = judged(bench, trial, woven)
            if trial.status != "timed":
                return trial
            timed = bench.time([STREAMS, key], FIRST, 1)
        finally:
            self._idle.put(bench)
        if timed.problem:
            return trial.failed("failed", timed.problem)
        return trial.timed(timed.ms[key], timed.ms[STREAMS])

    def _woven(self, way: Candidate) -> Woven | None:
        """Without its cap; of a way that a run made with which this one goes on, it is made again."""
        own = way.uncapped
        if own not in self._made and (woven := self._result(own, self.submit(own)).woven):
            self._made[own] = woven
        return self._made.get(own)
