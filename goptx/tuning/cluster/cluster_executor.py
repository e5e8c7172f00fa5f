"""Makes kernels on the workers of a cluster; what a restarted scheduler forgot is made again."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from itertools import count
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from goptx.tuning.cluster.gpu_workers import NO_ANSWER, POLL, ClusterLost, gpus_of
from goptx.tuning.space.auto_choices import auto_choices

if TYPE_CHECKING:
    from distributed import Client

AGAIN = 3  # how often a task that was forgotten is repeated
RETURN = 60  # seconds for a restarted scheduler to come back
LOOK = 2  # seconds between two looks at which workers there are


class ClusterExecutor(Executor):
    """Runs `make` on the workers of the client's cluster that have no GPU, so that no question to a GPU waits for a
    kernel that is being made; on any worker if all have one. The tasks are named for the kernels (`name`) and the
    candidate. A task whose worker is lost is repeated by Dask; one that the scheduler forgot, or whose workers have all
    left, is submitted again. `prepare` starts a task for a later `submit` of the same function. `shutdown` leaves the
    client open. The futures raise what the task raises, `ClusterLost` if the scheduler does not come back, and
    `BrokenExecutor` where Dask gives up a task because worker after worker was lost with it.
    """

    def __init__(self, client: Client, name: str) -> None:
        self._client, self._name = client, name
        self._run, self._number = uuid4().hex[:8], count(1)
        self._lock = Lock()
        self._makers, self._looked = frozenset[str](), float("-inf")
        self._waiting: dict[str, tuple[Any, frozenset[str]]] = {}  # tasks, and the only workers that may run them
        self._looking = False
        self._prepared: dict[Callable[..., Any], Future[Any]] = {}

    def prepare(self, make: Callable[..., Any], /, *args: Any) -> None:
        """Starts what will be asked for."""
        self._prepared[make] = self.submit(make, *args)

    def submit(self, make: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        if make in self._prepared:
            return self._prepared.pop(make)
        made: Future[Any] = Future()
        self._submit(made, AGAIN, make, *args, **options)
        return made

    def _submit(self, made: Future[Any], again: int, make: Callable[..., Any], *args: Any, **options: Any) -> None:
        more = getattr(args[0], "candidate", "") if args else ""
        what = "choose" if make is auto_choices else "make"
        key = f"{what} {self._name}-{self._run}{next(self._number)} {more}".rstrip()
        where = self._without_gpu()
        task = self._client.submit(make, *args, key=key, pure=False, workers=sorted(where) or None, **options)
        if where:
            self._watch(key, task, where)

        def ended(_: Any) -> None:
            with self._lock:
                self._waiting.pop(key, None)
            try:
                if task.cancelled():
                    raise CancelledError
                result = task.result()
            except CancelledError:
                if made.cancelled():
                    return
                try:
                    if not again or not self._returned():
                        raise ClusterLost("the scheduler of the cluster does not answer any more; start it again.")
                    self._submit(made, again - 1, make, *args, **options)
                except Exception as problem:
                    _settle(made, made.set_exception, problem)
            except Exception as problem:
                killed = type(problem).__name__ == "KilledWorker"  # with the task, or while it waited there
                _settle(made, made.set_exception, BrokenExecutor(str(problem)) if killed else problem)
            else:
                _settle(made, made.set_result, result)

        def cancelled(done: Future[Any]) -> None:
            if done.cancelled():
                task.cancel()

        made.add_done_callback(cancelled)
        task.add_done_callback(ended)

    def _without_gpu(self) -> frozenset[str]:
        """The workers without a GPU, by a look that is not old."""
        with self._lock:
            if time.monotonic() - self._looked > LOOK:
                try:
                    self._makers = frozenset(w for w, has_gpu in gpus_of(self._client).items() if not has_gpu)
                except NO_ANSWER:
                    self._makers = frozenset()
                self._looked = time.monotonic()
            return self._makers

    def _watch(self, key: str, task: Any, where: frozenset[str]) -> None:
        """Dask runs the task nowhere else, even if all these workers are lost."""
        with self._lock:
            self._waiting[key] = task, where
            if not self._looking:
                self._looking = True
                Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        """Cancels the tasks whose workers have all left, so that they are submitted again, until all tasks are done."""
        while True:
            time.sleep(LOOK)
            with self._lock:
                waiting = list(self._waiting.values())
                self._looking = bool(waiting) and self._client.status not in ("closed", "closing")
                if not self._looking:
                    return
            try:
                there = gpus_of(self._client).keys()
            except NO_ANSWER:
                continue
            for task, where in waiting:
                if there and not where & there:
                    self._looked = float("-inf")
                    task.cancel()

    def _returned(self) -> bool:
        """Whether the scheduler answers, or answers again in time."""
        deadline = time.monotonic() + RETURN
        while self._client.status == "connecting" and time.monotonic() < deadline:
            time.sleep(POLL)
        return bool(self._client.status == "running")


def _settle(made: Future[Any], give: Callable[[Any], None], outcome: Any) -> None:
    """Gives the outcome to the future, unless it was cancelled."""
    if made.set_running_or_notify_cancel():
        give(outcome)
