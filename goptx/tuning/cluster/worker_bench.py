"""A bench on a worker of a cluster. A worker that is lost, or whose GPU can no longer be used, is replaced by another
with an equal GPU: the workload is opened there, and the question that was open is asked again.

Each question is one task, in which candidate and baselines run on one GPU. Its answer is taken once, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from statistics import median
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from goptx.errors import DeviceError
from goptx.launch.shape import Shape
from goptx.log import LOG
from goptx.measuring.bench.baselines import SEPARATE
from goptx.measuring.bench.bench import Timed
from goptx.measuring.bench.questions import Described, Failed, Judged
from goptx.measuring.bench.workload import Workload
from goptx.results.fused_kernel import Woven
from goptx.tuning.cluster.gpu_workers import ClusterLost, GpuWorkers, WorkerLost
from goptx.tuning.cluster.measuring_tasks import Lacking, ask, close_session, open_session
from goptx.tuning.judging import BenchLike
from goptx.tuning.measured import Measured

if TYPE_CHECKING:
    from distributed import Client

AGREE = 0.03  # GPUs count as different if their times of the unchanged kernels differ by a larger share
RUNS = 10  # of the unchanged kernels, by which GPUs are compared
LOSSES = 3  # workers that may be lost with one question before the question counts as the reason


class WorkerBench:
    """`workers` are the cluster's GPUs; `name` names the kernels in the tasks; benches of one `session` have one
    workload, which a worker opens once for all of them. Has the methods of
    `goptx.measuring.bench.bench.Bench`; raises as they do, and `ClusterLost` if no GPU is left.

    reference: the median of the unchanged kernels in milliseconds, from which no GPU of this bench differs by more than
        3 %; None until a workload is opened.
    """

    def __init__(self, workers: GpuWorkers, name: str, session: str = "") -> None:
        self.reference: float | None = None
        self._workers, self._name, self._session = workers, name, session or uuid4().hex
        self._worker = ""  # "" for none
        self._gpu: Described | None = None
        self._workload: Workload | None = None
        self._judged: dict[str, tuple[Any, ...]] = {}  # the arguments of `judge`, by key, of kernels that are right
        self._excluded: set[str] = set()  # workers that this bench does not use

    @property
    def worker(self) -> str:
        """The address of the worker; "" before the first question."""
        return self._worker

    def described(self) -> Described:
        if self._gpu is None:
            self._worker, self._gpu = self._workers.lease(self._excluded)
        return self._gpu

    def open(self, workload: Workload) -> object:
        if self._workload is not None:
            self._session = uuid4().hex
        self._workload, self._judged, self.reference = workload, {}, None
        return self._asked("open", self._opened)

    def judge(self, key: str, woven: Woven, cap: int | None = None, common: Shape | None = None) -> Judged | Failed:
        arguments = key, woven, cap, common
        try:
            answer: Judged | Failed = self._asked(key, lambda: self._answer(key, (), "judge", *arguments))
        except TooManyLost as problem:
            return Failed(str(problem))
        if isinstance(answer, Judged) and not answer.wrong:
            self._judged[key] = arguments
        return answer

    def holds(self, key: str) -> bool:
        return key in self._judged

    def time(self, keys: Sequence[str], repeats: int, warmups: int = 1, launched: bool = False) -> Timed:
        needed = tuple(key for key in keys if key in self._judged)
        arguments = tuple(keys), repeats, warmups, launched
        try:
            answer: Timed | Failed = self._asked(
                ", ".join(needed) or "baselines", lambda: self._answer("time", needed, "time", *arguments)
            )
        except TooManyLost as problem:
            return Timed(problem=str(problem))
        return Timed(problem=answer.problem) if isinstance(answer, Failed) else answer

    def renew(self) -> object:
        self._judged = {}
        return self._asked("renew", lambda: self._answer("renew", (), "renew"))

    def close(self) -> None:
        """Frees the GPU. A worker that is lost meanwhile has freed it already."""
        if self._worker:
            try:
                self._ran("close", close_session, self._session)
            except (WorkerLost, DeviceError):
                pass
            finally:
                self.leave()

    def leave(self) -> None:
        """Gives the worker back. Its process goes on and keeps the data, which the next kernels may have in common."""
        if self._worker:
            self._workers.give_back(self._worker)
            self._worker, self._gpu = "", None

    def _asked(self, what: str, question: Callable[[], Any]) -> Any:
        """The answer to the question, on another worker if one is lost."""
        problems: list[str] = []
        while True:
            self.described()
            try:
                return question()
            except WorkerLost as problem:
                problems.append(str(problem))
            except ClusterLost:
                raise
            except DeviceError as problem:  # the GPU can no longer be used, or the unchanged kernels cannot be
                if self._excluded >= set(self._workers.present()) - {self._worker}:
                    raise
                problems.append(f"{self._worker}: {problem}")
                self._excluded.add(self._worker)
            LOG.warning("%s: %s is repeated on another worker: %s", self._name, what, problems[-1])
            self.leave()
            if len(problems) >= LOSSES:
                raise TooManyLost(f"{len(problems)} workers were lost with it: {'; '.join(problems)}")

    def _answer(self, what: str, keys: tuple[str, ...], method: str, *arguments: Any) -> Any:
        """The answer of the worker; what it lacks is brought to it first."""
        while True:
            answer = self._ran(f"{method} {what}".strip(), ask, self._session, keys, method, *arguments)
            if not isinstance(answer, Lacking):
                return answer
            if answer.workload:
                self._opened()
            for key in answer.keys:
                brought = self._ran(f"judge {key}", ask, self._session, (), "judge", *self._judged[key])
                if isinstance(brought, Failed):
                    return brought
                if isinstance(brought, Judged) and brought.wrong:
                    return Failed(f"{key} is right on one GPU, and on {self._worker} it is not: {brought.wrong}")

    def _opened(self) -> object:
        """Opens the workload on the worker. One whose GPU is not as fast as those before is left for
        another."""
        opened, ms = self._ran(
            "open", open_session, self._workers.make_bench, self._session, self._workload, RUNS, SEPARATE
        )
        if ms:
            found = median(ms)
            self.reference = self.reference or found
            if not agree(found, self.reference):
                self._excluded.add(self._worker)
                raise WorkerLost(
                    f"{self._worker} has another speed: the unchanged kernels take {found:.4f} ms on its GPU, and "
                    f"{self.reference:.4f} ms on the others of this kind"
                )
        return opened

    def _ran(self, what: str, task: Callable[..., Any], *args: Any) -> Any:
        method, _, more = what.partition(" ")
        return self._workers.ran(self._worker, self._workers.key(f"{method} {self._name}", more), task, *args)


class TooManyLost(ClusterLost):
    """Workers were lost with one question again and again."""


def agree(ms: float, other: float) -> bool:
    """Whether two times of the same kernels, in milliseconds, are those of equal GPUs."""
    return abs(ms - other) <= AGREE * min(ms, other)


def agreeing(benches: Sequence[WorkerBench], workload: Workload) -> list[WorkerBench]:
    """Opens the workload on all benches side by side, and gives those of the largest group whose GPUs agree within 3 %,
    the first of equal groups. The others are left out: they are closed, and a warning is logged."""
    with ThreadPoolExecutor(len(benches)) as opening:
        list(opening.map(lambda bench: bench.open(workload), benches))
    groups = [[other for other in benches if agree(_ms(other), _ms(one))] for one in benches]
    largest = max(groups, key=len)
    middle = benches[groups.index(largest)]
    for bench in benches:
        if bench not in largest:
            times = f"{_ms(bench):.4f} ms on its GPU, and {_ms(middle):.4f} ms on others of this kind"
            LOG.warning("%s has another speed: the unchanged kernels take %s", bench.worker, times)
            bench.close()
        else:
            bench.reference = middle.reference
    return largest


def _ms(bench: WorkerBench) -> float:
    return bench.reference or 0.0


@contextmanager
def on_cluster(client: Client, subject: Measured) -> Iterator[list[WorkerBench]]:
    """A bench on each GPU of the cluster, closed at last."""
    workers, session = GpuWorkers(client), uuid4().hex
    benches = [WorkerBench(workers, subject.name, session) for _ in workers.usable]
    try:
        yield benches
    finally:
        for bench in benches:
            bench.close()


def opened(benches: Sequence[BenchLike], workload: Workload) -> Sequence[BenchLike]:
    """The benches to use, with the workload opened: of those of a cluster, the ones whose GPUs agree."""
    if own := [bench for bench in benches if isinstance(bench, WorkerBench)]:
        return agreeing(own, workload)
    for bench in benches:
        bench.open(workload)
    return benches
