"""The workers of a Dask cluster that have a GPU: which there are, who uses them, and tasks that run on one of them."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Collection
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from inspect import signature
from itertools import count
from threading import Event, Lock
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from goptx.errors import DeviceError, InputError
from goptx.log import LOG
from goptx.measuring.bench.bench import Bench
from goptx.measuring.bench.questions import Described
from goptx.tuning.cluster.measuring_tasks import MakeBench, close_bench, describe
from goptx.version import own_version

if TYPE_CHECKING:
    from distributed import Client

RESOURCE = "GPU"  # what a worker announces, for each task that it may run at a time
POLL = 0.5  # seconds between two looks at whether a worker is still there
PATIENCE = 120  # seconds for a worker to come in place of a lost one
URGENT = 10  # the priority of measuring over making


NO_ANSWER = (  # of a scheduler that is being restarted
    OSError, RuntimeError, AttributeError, KeyError, TypeError, CancelledError, asyncio.CancelledError,
)  # fmt: skip


class WorkerLost(Exception):
    """The worker left the cluster, or the scheduler forgot the task, before the task was done."""


class ClusterLost(DeviceError):
    """The cluster can no longer measure."""


def gpus_of(client: Client) -> dict[str, bool]:
    """The addresses of all workers, and whether they announce a GPU. The scheduler is asked anew: what the client keeps
    of it may have no workers. Raises one of `NO_ANSWER`."""
    limited = "n_workers" in signature(type(client).scheduler_info).parameters  # from Dask 2025.4 on
    ask: Any = client.scheduler.identity
    workers = client.sync(ask, **({"n_workers": -1} if limited else {}))["workers"]
    return {worker: facts.get("resources", {}).get(RESOURCE, 0) >= 1 for worker, facts in workers.items()}


class GpuWorkers:
    """The workers that announce the resource "GPU", all with a GPU of one kind: that of most of them. Threads may share
    it. `make_bench` makes the bench of a worker; `patience`: seconds to wait for a worker in place of a lost one.

    Raises `InputError` for workers that cannot be used, `ClusterLost` if there are none.
    """

    def __init__(self, client: Client, make_bench: MakeBench = Bench, patience: float = PATIENCE) -> None:
        self.client, self.make_bench, self.patience = client, make_bench, patience
        self._lock, self._users = Lock(), Counter[str]()
        self._run, self._number = uuid4().hex[:8], count(1)
        self._described: dict[str, Described] = {}
        self._broken: dict[str, str] = {}  # why a worker cannot be used
        found = self.present()
        if not found:
            raise ClusterLost(
                f"no worker of {self._where()} announces a GPU; start one for each GPU with "
                f'`CUDA_VISIBLE_DEVICES=0 dask worker tcp://... --nthreads 1 --resources "{RESOURCE}=1"`.'
            )
        with ThreadPoolExecutor(len(found)) as asking:
            there = [worker for worker, works in zip(found, asking.map(self._works, found), strict=True) if works]
        if not there:
            raise ClusterLost(f"no GPU of {self._where()} can be used: {'; '.join(self._broken.values())}")
        kinds = Counter(self._kind(self._described[worker]) for worker in there)
        self.kind = max(kinds, key=lambda kind: (kinds[kind], kind))
        self.usable = [worker for worker in there if self._fits(worker)]
        for worker in sorted(set(there) - set(self.usable)):
            LOG.warning("%s: not used: its %s is of another kind than most, or another worker has it", worker,
                        self._described[worker].gpu)  # fmt: skip

    def present(self) -> list[str]:
        """The addresses of the workers that announce a GPU now."""
        try:
            workers = gpus_of(self.client)
        except NO_ANSWER as problem:
            LOG.warning("the scheduler does not answer: %r", problem)
            return []
        return sorted(worker for worker, has_gpu in workers.items() if has_gpu)

    def lease(self, without: Collection[str] = ()) -> tuple[str, Described]:
        """A worker, of those that fewest use, and its GPU. Raises `ClusterLost` if none comes in time."""
        deadline = time.monotonic() + self.patience
        while True:
            self._check()
            fitting = [w for w in self.present() if w not in without and self._fits(w)]
            with self._lock:
                if fitting:
                    found = min(fitting, key=lambda worker: (self._users[worker], worker))
                    self._users[found] += 1
                    return found, self._described[found]
            if time.monotonic() >= deadline:
                left = f" but {len(without)} that cannot be used" if without else ""
                raise ClusterLost(
                    f"no worker with a {self.kind[0]} is left in {self._where()}{left}; start one, then repeat the "
                    "run with the same records (records=, --records), which keep what is done."
                )
            time.sleep(POLL)

    def give_back(self, worker: str) -> None:
        with self._lock:
            self._users[worker] -= 1

    def close(self) -> None:
        """Ends the processes that measure on all workers, and frees the memory of their GPUs."""
        for worker in set(self.present()) & set(self._described):
            with suppress(WorkerLost, DeviceError):  # it has freed its GPU already
                self.ran(worker, self.key("close"), close_bench)

    def key(self, what: str, more: str = "") -> str:
        """The name of a task, of which Dask's dashboard counts those with equal `what` together; no two are equal."""
        return f"{what}-{self._run}{next(self._number)} {more}".rstrip()

    def ran(self, worker: str, key: str, task: Callable[..., Any], *args: Any) -> Any:
        """The result of the task on this worker, alone on its GPU. Raises `WorkerLost`, and what the task raises."""
        self._check()
        future = self.client.submit(
            task, *args, key=key, workers=[worker], resources={RESOURCE: 1}, pure=False, priority=URGENT
        )
        done = Event()
        future.add_done_callback(lambda _: done.set())
        try:
            while not done.wait(POLL):
                self._check()
                if worker not in self.present():
                    raise WorkerLost(f"{worker} left the cluster")
            if future.cancelled():
                raise WorkerLost("the scheduler forgot the task")
            return future.result()
        except (CancelledError, OSError) as error:
            raise WorkerLost(f"the task was lost: {error}") from None
        except Exception as error:
            if type(error).__name__ == "KilledWorker":
                raise WorkerLost(str(error)) from None
            raise
        finally:
            future.release()

    def _describe(self, worker: str) -> None:
        try:
            version, found = self.ran(worker, self.key("describe", worker), describe, self.make_bench)
        except ImportError as error:
            raise InputError(f"{worker}: {error}; the worker needs goptx {own_version()}.") from None
        if version != own_version():
            raise InputError(f"{worker} has goptx {version}; install goptx {own_version()} there, as here.")
        self._described[worker] = found

    def _works(self, worker: str) -> bool:
        """Whether it has a GPU that can be used."""
        if worker not in self._described and worker not in self._broken:
            try:
                self._describe(worker)
            except WorkerLost as problem:
                LOG.warning("%s: %s", worker, problem)
                return False
            except DeviceError as problem:
                self._broken[worker] = f"{worker}: {problem}"
                LOG.warning("not used: %s", self._broken[worker])
        return worker in self._described

    def _fits(self, worker: str) -> bool:
        """Whether its GPU is of the kind, and not that of another worker which is there."""
        if not self._works(worker) or self._kind(self._described[worker]) != self.kind:
            return False
        serial = self._described[worker].serial
        others = [self._described[w].serial for w in self.present() if w < worker and w in self._described]
        return not serial or serial not in others

    @staticmethod
    def _kind(found: Described) -> tuple[str, str, str]:
        return found.gpu, found.arch, found.driver

    def _where(self) -> str:
        return f"the cluster {getattr(self.client.scheduler, 'address', '')}".rstrip()

    def _check(self) -> None:
        if self.client.status in ("closed", "closing"):
            raise ClusterLost(
                "the scheduler of the cluster does not answer any more; start it again, then repeat the run with the "
                "same records (records=, --records), which keep what is done."
            )
