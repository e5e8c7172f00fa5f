"""Makes kernels on the workers of a cluster; what a restarted scheduler forgot is made again."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from itertools import count
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from goptx.tuning.cluster.gpu_workers import POLL, ClusterLost

if TYPE_CHECKING:
    from distributed import Client

AGAIN = 3  # how often a task that was forgotten is repeated
RETURN = 60  # seconds for a restarted scheduler to come back


class ClusterExecutor(Executor):
    """Runs `make` on any worker of the client's cluster, in tasks named for the kernels (`name`) and the candidate. A
    task whose worker is lost is repeated by Dask; one that the scheduler forgot is submitted again. `shutdown` leaves
    the client open. The futures raise what the task raises, `ClusterLost` if the scheduler does not come back, and
    `BrokenExecutor` where Dask gives up a task because worker after worker was lost with it.
    """

    def __init__(self, client: Client, name: str) -> None:
        self._client, self._name = client, name
        self._run, self._number = uuid4().hex[:8], count(1)

    def submit(self, make: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        made: Future[Any] = Future()
        self._submit(made, AGAIN, make, *args, **options)
        return made

    def _submit(self, made: Future[Any], again: int, make: Callable[..., Any], *args: Any, **options: Any) -> None:
        more = getattr(args[0], "candidate", "") if args else ""
        key = f"make {self._name}-{self._run}{next(self._number)} {more}".rstrip()
        task = self._client.submit(make, *args, key=key, pure=False, **options)

        def ended(_: Any) -> None:
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
