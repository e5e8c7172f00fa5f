"""What the tuner asks of a place where kernels are measured, and what a judgement makes of a trial."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from goptx.launch.shape import Shape
from goptx.measuring.bench.bench import Timed
from goptx.measuring.bench.questions import Described, Failed, Judged
from goptx.measuring.bench.workload import Workload
from goptx.results.fused_kernel import Woven
from goptx.tuning.trials import Trial

OTHER_BLOCK = "; in blocks of other sizes it may round otherwise: tolerance= says by how much it may differ"


class Place(Protocol):
    """As `goptx.measuring.bench.bench.Bench`. Kernels are judged and timed when they are opened."""

    def described(self) -> Described: ...
    def open(self, workload: Workload) -> object: ...
    def judge(self, key: str, woven: Woven, cap: int | None, common: Shape | None = None) -> Judged | Failed: ...
    def holds(self, key: str) -> bool: ...
    def time(self, keys: Sequence[str], repeats: int, warmups: int) -> Timed: ...


def judged(bench: Place, trial: Trial, woven: Woven) -> Trial:
    """The trial, which can be timed there now; or why it cannot."""
    answer = bench.judge(str(trial.way), woven, trial.way.cap)
    if isinstance(answer, Failed):
        return trial.failed("failed", answer.problem)
    if answer.wrong and trial.way.option("partition"):
        return trial.failed("pruned", answer.wrong + OTHER_BLOCK)
    return trial.failed("wrong", answer.wrong) if answer.wrong else trial.contracting(answer.contracted)
