"""The interface of a bench that the tuner uses, and the trial that follows from a bench's judgement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from goptx.launch.shape import Shape
from goptx.measuring.bench.bench import Timed
from goptx.measuring.bench.questions import Described, Failed, Judged
from goptx.measuring.bench.workload import Workload
from goptx.results.fused_kernel import Woven
from goptx.tuning.trials import Trial

OTHER_BLOCK = "; blocks of another size may round differently: give the allowed difference as tolerance="


class BenchLike(Protocol):
    """The methods of `goptx.measuring.bench.bench.Bench`. Requires `open` before all others but `described`."""

    def described(self) -> Described: ...
    def open(self, workload: Workload) -> object: ...
    def judge(self, key: str, woven: Woven, cap: int | None, common: Shape | None = None) -> Judged | Failed: ...
    def holds(self, key: str) -> bool: ...
    def time(self, keys: Sequence[str], repeats: int, warmups: int, launched: bool = False) -> Timed: ...
    def renew(self) -> object: ...


def judged(bench: BenchLike, trial: Trial, woven: Woven) -> Trial:
    """The trial, ready to be timed on this bench; or not timed, with the reason."""
    answer = bench.judge(str(trial.candidate), woven, trial.candidate.cap)
    if isinstance(answer, Failed):
        return trial.failed("failed", answer.problem)
    if answer.wrong and trial.candidate.option("partition"):
        return trial.failed("pruned", answer.wrong + OTHER_BLOCK)
    return trial.failed("wrong", answer.wrong) if answer.wrong else trial.contracting(answer.contracted)
