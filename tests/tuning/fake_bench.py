"""A bench with prescribed answers, executors that make kernels at once or not at all, and two small kernels.

In a module of its own, since other processes have to import it.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from bodies import kernel

import goptx
from goptx import Shape
from goptx.measuring.bench.baselines import ASSEMBLED, GRAPH, GRAPH_REVERSED, STREAMS, STREAMS_REVERSED, WAYS
from goptx.measuring.bench.bench import Timed
from goptx.measuring.bench.questions import Described, Failed, Judged, Opened
from goptx.measuring.bench.workload import Workload
from goptx.results.fused_kernel import Woven
from goptx.tuning.best import Best
from goptx.tuning.making import Job, Made
from goptx.tuning.trials import Trial
from goptx.tuning.tune import tune

BODY = """
    ld.param.u64 %rd1, [{name}_in]; ld.param.u64 %rd2, [{name}_out]; ld.param.u32 %r5, [{name}_n];
    mov.u32 %r1, %tid.x; mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ntid.x; mad.lo.u32 %r1, %r6, %r7, %r1;
    mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
    ld.global.u32 %r2, [%rd4]; {operation}.u32 %r3, %r2, %r5; st.global.u32 [%rd5], %r3; ret;
"""
PLUS = kernel(BODY.format(name="plus", operation="add"), "plus")
TIMES = kernel(BODY.format(name="times", operation="mul.lo"), "times")
SHAPES = [Shape(4, 64), Shape(4, 64)]
ARGS = {"A:0": "u32[256]", "A:1": "u32[256]", "A:2": "u32:3", "B:0": "u32[256]", "B:1": "u32[256]", "B:2": "u32:5"}
SEPARATE = "separate"
IMAGINARY = Described("Imaginary", "sm_90", "580.1")


@dataclass
class FakeBench:
    """ms: of one run, by the name of a candidate; `otherwise` is the time of all others. A graph is as fast as streams.

    judged: what is wrong, by name. breaks: names; each run with one of them fails. journal: all calls of the bench.
    asked: called with each name that is judged or timed for the first time.
    """

    ms: Mapping[str, float] = field(default_factory=dict)
    otherwise: Callable[[str], float] = lambda _: 3.0
    judged: Mapping[str, Judged | Failed] = field(default_factory=dict)
    breaks: Sequence[str] = ()
    asked: Callable[[str], None] = lambda _: None
    described_as: Described = IMAGINARY
    journal: list[tuple[str, ...]] = field(default_factory=list)
    held: set[str] = field(default_factory=set)

    def described(self) -> Described:
        return self.described_as

    def open(self, workload: Workload) -> Opened:
        self.workload = workload
        self.held = set()
        return Opened(self.time_of(SEPARATE))

    def judge(self, key: str, woven: Woven, cap: int | None = None, common: Shape | None = None) -> Judged | Failed:
        self.asked(key)
        self.journal.append(("judge", key))
        answer = self.judged.get(key, Judged())
        if isinstance(answer, Judged) and not answer.wrong:
            self.held.add(key)
        return answer

    def holds(self, key: str) -> bool:
        return key in self.held

    def renew(self) -> Opened:
        self.journal.append(("renew", ""))
        return self.open(self.workload)

    def time(self, keys: Sequence[str], repeats: int, warmups: int = 1, launched: bool = False) -> Timed:
        assert {key.removesuffix(ASSEMBLED) for key in keys} <= {*WAYS, *self.held}
        self.journal.append(("launched" if launched else "time", *keys))
        if any(key in self.breaks for key in keys):
            return Timed(problem="no answer within 2 s: it hangs")
        found = {key: [self.time_of(key)] * repeats for key in keys}
        return Timed(found, host_us={key: [5.0] * repeats for key in keys} if launched else {})

    def time_of(self, key: str) -> float:
        if key in (GRAPH, STREAMS_REVERSED, GRAPH_REVERSED) and key not in self.ms:
            key = STREAMS
        return self.ms.get(key, {STREAMS: 1.0, SEPARATE: 1.2}.get(key) or self.otherwise(key))

    def close(self) -> None:
        raise AssertionError("benches of the caller stay open")

    @property
    def judgements(self) -> list[str]:
        """Those before the process is replaced for the last comparison."""
        begun = takewhile(lambda entry: entry[0] != "renew", self.journal)
        return [key for what, key, *_ in begun if what == "judge"]


class AtOnce(Executor):
    """Makes kernels in the calling thread; `made` are the candidates; `spoilt` may raise instead of making one."""

    def __init__(self, spoilt: Callable[[Job], None] = lambda _: None) -> None:
        self.made: list[str] = []
        self.spoilt = spoilt

    def submit(self, make: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        (job,) = args
        self.made.append(str(job.candidate))
        try:
            self.spoilt(job)
            future.set_result(self.done(make, job))
        except Exception as problem:
            future.set_exception(problem)
        return future

    def done(self, make: Callable[[Job], Made], job: Job) -> Made:
        return make(job)


class Pretending(AtOnce):
    """Makes nothing: gives the same kernel for each candidate, with a code of its own."""

    woven = goptx.weave(PLUS, TIMES, shapes=SHAPES)

    def done(self, make: Callable[[Job], Made], job: Job) -> Made:
        return Made(
            (Trial(job.candidate, "timed", registers=32, spill_bytes=0, occupancy=1.0, code=str(job.candidate)),),
            self.woven,
        )


def tuned(*benches: Any, **how: Any) -> Best:
    """Tunes the two small kernels; by default nothing is made."""
    what = {"shapes": SHAPES, "args": ARGS, "executor": Pretending(), "progress": False}
    return tune(PLUS, TIMES, benches=benches, **{**what, **how})


def statuses(best: Best) -> dict[str, str]:
    return {str(trial.candidate): trial.status for trial in best.table.trials}


def reason(best: Best, name: str) -> str:
    return next(trial.reason for trial in best.table.trials if str(trial.candidate) == name)
