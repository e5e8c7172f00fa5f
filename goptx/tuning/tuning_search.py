"""The search: an executor makes candidates, which are tried as they are ready, on every device; the best are varied and
tried under more register caps; `finals.py` chooses among them.

No failure of a candidate ends the run. The same times give the same choice, also in a run that resumes the records of
another: it takes the same steps, except those whose result is recorded.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from queue import SimpleQueue

from goptx.errors import DeviceError
from goptx.log import LOG
from goptx.measuring.bench.baselines import SEPARATE, best_baseline
from goptx.progress import Progress
from goptx.results.fused_kernel import Woven
from goptx.strategies.candidate import Candidate
from goptx.time_budget import Budget
from goptx.tuning.finals import FIRST, Finals, Found
from goptx.tuning.judging import BenchLike, judged
from goptx.tuning.making import Made, under_cap
from goptx.tuning.metric import Measure
from goptx.tuning.records import Records
from goptx.tuning.space.pruning import Pruning
from goptx.tuning.space.space import Space
from goptx.tuning.timers import timers
from goptx.tuning.trials import Trial

LEADERS, ROUNDS = 5, 4  # how many of the best candidates are varied, and how often
GAIN = 1.005  # a round that improves the best by less is the last
SURVIVORS = 16  # candidates that are timed again
BASELINE_RUNS = 10  # of each way to run the unchanged kernels, before the search
NO_TIME = "there was no time left"
PATIENCE = 60  # seconds to wait for what is to be tried first, at least


@dataclass(slots=True)
class Search:
    """`submit` starts making a candidate; `benches` are the devices, each with the kernels opened. `baselines` are the
    ways to run the unchanged kernels; candidates are compared with the fastest of them. `launched`: by the time with
    that of the host. `measure` gives the number that is compared. `extra` are the caller's own candidates, which are
    tried whatever their estimates. `begin` has those to try first besides: half of the time is waited for them, or a
    minute. The very first is tried even if no time is left then."""

    space: Space
    pruning: Pruning
    submit: Callable[[Candidate], Future[Made]]
    benches: Sequence[BenchLike]
    records: Records
    budget: Budget
    baselines: Sequence[str] = (SEPARATE,)
    launched: bool = False
    progress: Progress | None = None
    measure: Measure = field(default_factory=Measure)
    extra: Sequence[Candidate] = ()
    begin: Future[list[Candidate]] | None = None
    _against: str = SEPARATE  # the fastest of the baselines
    _made: dict[Candidate, Woven] = field(default_factory=dict)  # without caps
    _codes: dict[str, Candidate] = field(init=False)  # the first candidate of each code, by digest
    _steps: set[Candidate] = field(default_factory=set)  # the candidates that this run has reached
    _idle: SimpleQueue[BenchLike] = field(default_factory=SimpleQueue)
    _done: int = 0
    _assured: Candidate | None = None  # tried even if no time is left

    def __post_init__(self) -> None:
        self._codes = {t.code: t.candidate for t in self.records.all() if t.code and t.status != "pruned"}

    def best(self) -> Found:
        """Searches, and gives the choice of `Finals.best`."""
        for bench in self.benches:
            self._idle.put(bench)
        self._against = self._fastest_baseline()
        self._try_all(self.space.first(), [*self._own(), *self._to_begin_with()])
        for _ in range(ROUNDS):
            leaders = self._leaders()
            before = max((t.speedup for t in leaders), default=0.0)
            self._try_all(candidate for leader in leaders for candidate in self.space.near(leader.candidate))
            if max((t.speedup for t in self._leaders()), default=0.0) <= GAIN * before:
                break
        self._sweep_caps()
        finals = Finals(
            self.space, self._woven, self.benches, self.records, self.budget, self.baselines, self._against,
            self.launched, self.measure,
        )  # fmt: skip
        return finals.best(self._timed()[:SURVIVORS])

    def _own(self) -> list[Candidate]:
        """The caller's candidates, without their caps."""
        return list(dict.fromkeys(candidate.uncapped for candidate in self.extra))

    def _to_begin_with(self) -> list[Candidate]:
        if self.begin is None:
            return []
        try:
            chosen = self.begin.result(max(self.budget.left() / 2, PATIENCE))
        except DeviceError:  # nothing can be made any more
            raise
        except Exception as problem:
            LOG.warning("tuning does not begin with what auto chooses: %r", problem)
            return []
        found = [one for one in chosen if one not in self.space.all_unchanged]
        self._assured = found[0] if found else None
        return found

    def _fastest_baseline(self) -> str:
        timed = self.benches[0].time(self.baselines, BASELINE_RUNS, 1, self.launched)
        if timed.problem:
            raise DeviceError(f"the unchanged kernels cannot be measured: {timed.problem}")
        return best_baseline({name: self.measure.of_unchanged(name, runs) for name, runs in timed.ms.items()})

    def _timed(self) -> list[Trial]:
        """The timed trials of this run, the fastest first, without the unchanged kernels."""
        tried = [t for t in self.records.all() if t.candidate.uncapped in self._steps]
        unchanged = self.space.all_unchanged
        found = [t for t in tried if t.status == "timed" and t.candidate not in unchanged]
        return sorted(found, key=Trial.rank)

    def _leaders(self) -> list[Trial]:
        """The best trials, of each candidate without its cap only one."""
        best: dict[Candidate, Trial] = {}
        for trial in self._timed():
            best.setdefault(trial.candidate.uncapped, trial)
        return list(best.values())[:LEADERS]

    def _try_all(self, candidates: Iterable[Candidate], before: Sequence[Candidate] = ()) -> None:
        """Makes and times the candidates that were not tried before, while there is time: first those that are to be
        tried `before` others, whatever their estimates."""
        new = [candidate for candidate in dict.fromkeys([*before, *candidates]) if candidate not in self._steps]
        self._steps |= set(new)
        promising, pruned = self.pruning.sorted(candidate for candidate in new if candidate not in before)
        for trial in pruned:
            if self.records.lack(trial.candidate):
                self.records.add(trial)
        todo = list(filter(self.records.lack, [*dict.fromkeys(before), *promising]))
        with timers(len(self.benches)) as pool:
            tried = [pool.submit(self._try, made) for made in self._as_made(todo)]
            for one in tried:
                one.result()

    def _sweep_caps(self) -> None:
        """Tries the best candidates under the caps of the published sweep, and the caller's under theirs. Their kernels
        are made already; only machine code is made, by this machine's processors side by side."""
        swept = [candidate for leader in self._leaders() for candidate in self._caps_of(leader.candidate)]
        own = [candidate for candidate in self.extra if candidate.cap]
        new = list(filter(self.records.lack, dict.fromkeys([*own, *swept])))
        kernels = [self._woven(candidate) for candidate in new]
        with ThreadPoolExecutor(os.cpu_count()) as assemblers, timers(len(self.benches)) as pool:
            made = assemblers.map(self._under_cap, new, kernels)
            for one in [pool.submit(self._try, each) for each in made]:
                one.result()

    def _caps_of(self, candidate: Candidate) -> list[Candidate]:
        free = self.records.trials.get(candidate.uncapped)
        return self.space.capped(candidate.uncapped, free.registers or 0) if free else []

    def _under_cap(self, candidate: Candidate, woven: Woven | None) -> Made:
        if woven is None:
            return Made((Trial(candidate, "failed", "it could not be made again"),))
        if self.budget.left() <= 0:
            return Made((Trial(candidate, "left out", NO_TIME),))
        return Made((under_cap(candidate, woven, always=candidate in self.extra),), woven)

    def _as_made(self, candidates: Sequence[Candidate]) -> Iterator[Made]:
        """The made candidates, as they are ready. A candidate that is not ready in time is left out."""
        waited: dict[Future[Made], Candidate] = {}
        for candidate in candidates:
            if self.budget.left() > 0 or candidate == self._assured:
                waited[self.submit(candidate)] = candidate
        late = set(candidates) - set(waited.values())
        while waited:
            patience = PATIENCE if self._assured in waited.values() else 0
            done, _ = wait(waited, timeout=max(self.budget.left(), patience), return_when=FIRST_COMPLETED)
            if not done:
                late |= set(waited.values())
                for future in waited:
                    future.cancel()
                break
            for future in sorted(done, key=list(waited).index):
                yield self._distinct(self._result(waited.pop(future), future))
        for candidate in candidates:
            if candidate in late:
                self.records.add(Trial(candidate, "left out", NO_TIME))

    def _result(self, candidate: Candidate, future: Future[Made]) -> Made:
        """The outcome of making the candidate. When a process of the pool dies, all waiting candidates fail; each is
        then made again alone, to find the one at fault."""
        try:
            try:
                return future.result()
            except BrokenExecutor:
                return self.submit(candidate).result(self.budget.left())
        except TimeoutError:
            return Made((Trial(candidate, "left out", NO_TIME),))
        except DeviceError:  # nothing can be made or measured any more
            raise
        except Exception as problem:  # the process that made it ended, or goptx has a fault
            return Made((Trial(candidate, "failed", f"it could not be made: {type(problem).__name__}: {problem}"),))

    def _distinct(self, made: Made) -> Made:
        """The same, but pruned if another candidate has the same code."""
        trial = made.trials[0]
        if made.woven is None:
            return made
        first = self._codes.setdefault(trial.code, trial.candidate)
        if first != trial.candidate:
            return Made((trial.failed("pruned", f"the same code as {first}"),))
        self._made[trial.candidate] = made.woven
        return made

    def _try(self, made: Made) -> None:
        """Tries the candidate with and without caps. The trial without a cap is recorded last: once it is in the
        records, so are the others."""
        for trial in filter(lambda t: self.records.lack(t.candidate), reversed(made.trials)):
            if trial.status == "timed":
                assert made.woven
                trial = self._tried(trial, made.woven)
            self.records.add(trial)
        self._done += 1
        if self.progress:
            best = next(iter(self._timed()), None)
            self.progress(self._done, 0, f"best {best.candidate} {best.speedup:.2f}" if best else "")

    def _tried(self, trial: Trial, woven: Woven) -> Trial:
        if self.budget.left() <= 0 and trial.candidate != self._assured:
            return trial.failed("left out", NO_TIME)
        bench, key = self._idle.get(), str(trial.candidate)
        try:
            trial = judged(bench, trial, woven)
            if trial.status != "timed":
                return trial
            timed = bench.time([self._against, key], FIRST, 1, self.launched)
        finally:
            self._idle.put(bench)
        if timed.problem:
            return trial.failed("failed", timed.problem)
        return trial.timed(timed.ms[key], timed.ms[self._against], self.measure, self._against)

    def _woven(self, candidate: Candidate) -> Woven | None:
        """The kernel of the candidate without its cap; made again if an earlier run made it, which this one resumes."""
        own = candidate.uncapped
        if own not in self._made and (woven := self._result(own, self.submit(own)).woven):
            self._made[own] = woven
        return self._made.get(own)
