"""A bench on a worker: which worker is taken, and what follows when one is lost; without a cluster."""

import logging
from collections.abc import Callable, Collection
from concurrent.futures import Future
from typing import Any

import pytest
from tuning.fake_bench import ARGS, IMAGINARY, PLUS, SEPARATE, SHAPES, TIMES, FakeBench, Pretending

from goptx.errors import DeviceError, InputError
from goptx.measuring.bench.questions import Described, Failed, Judged
from goptx.tuning.cluster import measuring_tasks
from goptx.tuning.cluster.gpu_workers import ClusterLost, GpuWorkers, WorkerLost
from goptx.tuning.cluster.measuring_tasks import _Held
from goptx.tuning.cluster.worker_bench import WorkerBench, agree, agreeing
from goptx.tuning.measured import measured
from goptx.version import own_version

WORKLOAD = measured([PLUS, TIMES], shapes=SHAPES, args=ARGS).workload
WOVEN = Pretending.woven
VERSION = own_version()


class Closing(FakeBench):
    def close(self) -> None:
        self.journal.append(("close", ""))


class Workers:
    """Workers in this process. `benches` are theirs; `lose` says whether a task loses its worker."""

    make_bench = FakeBench

    def __init__(self, *benches: FakeBench, lose: Callable[[str, str], bool] = lambda *_: False) -> None:
        self.held = {f"w{k}": _Held(self.make_bench, bench) for k, bench in enumerate(benches)}
        self.lose, self.users, self.keys = lose, dict.fromkeys(self.held, 0), [("", "")]

    def present(self) -> list[str]:
        return list(self.held)

    def lease(self, without: Collection[str] = ()) -> tuple[str, Described]:
        fitting = [worker for worker in self.held if worker not in without]
        if not fitting:
            raise ClusterLost("no worker is left")
        found = min(fitting, key=lambda worker: (self.users[worker], worker))
        self.users[found] += 1
        return found, IMAGINARY

    def give_back(self, worker: str) -> None:
        self.users[worker] -= 1

    def key(self, what: str, more: str = "") -> str:
        return f"{what} {more}"

    def ran(self, worker: str, key: str, task: Callable[..., Any], *args: Any) -> Any:
        self.keys.append((worker, key))
        if worker not in self.held or self.lose(worker, key):
            self.held.pop(worker, None)
            raise WorkerLost(f"{worker} left the cluster")
        before, measuring_tasks._HELD = measuring_tasks._HELD, self.held[worker]
        try:
            return task(*args)
        finally:
            measuring_tasks._HELD = before


def bench_of(workers: Workers, session: str = "") -> WorkerBench:
    bench = WorkerBench(workers, "a+b", session)  # type: ignore[arg-type]
    bench.open(WORKLOAD)
    return bench


def test_what_was_judged_on_a_lost_worker_is_judged_on_the_next_before_it_is_timed() -> None:
    one, two = Closing({"weave": 0.5}), Closing({"weave": 0.5})
    workers = Workers(one, two, lose=lambda worker, key: worker == "w0" and key.startswith("time"))
    bench = bench_of(workers)
    assert bench.judge("weave", WOVEN) == Judged() and bench.holds("weave") and bench.worker == "w0"
    assert bench.time([SEPARATE, "weave"], 3).ms == {SEPARATE: [1.2] * 3, "weave": [0.5] * 3}
    assert bench.worker == "w1"
    assert two.journal == [("time", SEPARATE), ("judge", "weave"), ("time", SEPARATE, "weave")]


def test_a_kernel_that_is_wrong_on_the_next_gpu() -> None:
    workers = Workers(
        Closing(), Closing(judged={"weave": Judged("A:1 differs")}), lose=lambda w, k: (w, k[:4]) == ("w0", "time")
    )
    bench = bench_of(workers)
    bench.judge("weave", WOVEN)
    assert bench.time(["weave"], 3).problem == "weave is right on one GPU, and on w1 it is not: A:1 differs"
    workers = Workers(
        Closing(), Closing(judged={"weave": Failed("it hangs")}), lose=lambda w, k: (w, k[:4]) == ("w0", "time")
    )
    bench = bench_of(workers)
    bench.judge("weave", WOVEN)
    assert bench.time(["weave"], 3).problem == "it hangs"


def test_a_question_that_loses_worker_after_worker_is_the_reason() -> None:
    workers = Workers(*(Closing() for _ in range(4)), lose=lambda _, key: key.endswith("weave"))
    bench = bench_of(workers)
    answer = bench.judge("weave", WOVEN)
    assert isinstance(answer, Failed)
    assert answer.problem.startswith("3 workers were lost with it: w0 left the cluster; w1 left the cluster; w2 left")
    assert bench.judge("vertical", WOVEN) == Judged() and bench.worker == "w3"


def test_no_worker_is_left() -> None:
    workers = Workers(Closing(), lose=lambda _, key: key.endswith("weave"))
    bench = bench_of(workers)
    with pytest.raises(ClusterLost, match="no worker is left"):
        bench.judge("weave", WOVEN)


class Broken(Closing):
    def open(self, workload: Any) -> Any:
        raise DeviceError("the unchanged kernels cannot be measured: it hangs")


def test_a_gpu_that_hangs_is_left_for_another_and_the_last_one_has_the_reason() -> None:
    assert bench_of(Workers(Broken(), Closing())).worker == "w1"
    with pytest.raises(DeviceError, match="cannot be measured: it hangs"):
        bench_of(Workers(Broken(), Broken()))


def test_benches_of_one_session_share_a_worker() -> None:
    """When the worker of one is lost; the workload is opened once there."""
    workers = Workers(
        Closing(),
        Closing(),
        lose=lambda worker, _: worker == "w0" and any(k == ("w1", "open a+b ") for k in workers.keys),
    )
    first, second = bench_of(workers, "s"), bench_of(workers, "s")
    assert (first.worker, second.worker) == ("w0", "w1")
    first.judge("weave", WOVEN)
    second.judge("vertical", WOVEN)
    assert first.time(["weave"], 1).ms and second.time(["vertical"], 1).ms
    assert (first.worker, second.worker) == ("w1", "w1")
    assert sum(key == ("w1", "open a+b ") for key in workers.keys) == 1


def test_gpus_that_do_not_agree_are_not_mixed(caplog: pytest.LogCaptureFixture) -> None:
    times = (1.29, 1.2, 1.22, 1.19)
    workers = Workers(*(Closing({SEPARATE: ms}) for ms in times))
    benches = [WorkerBench(workers, "a+b", "s") for _ in times]  # type: ignore[arg-type]
    for bench in benches:
        bench.described()
    with caplog.at_level(logging.WARNING, "goptx"):
        assert agreeing(benches, WORKLOAD) == benches[1:]
    assert (
        "w0 has another speed: the unchanged kernels take 1.2900 ms on its GPU, and 1.2000 ms on others" in caplog.text
    )
    assert workers.held["w0"].bench.journal[-1] == ("close", "")
    workers.lose = lambda worker, _: worker == "w1"  # the slower one, which nobody uses now, does not take its place
    assert benches[1].judge("weave", WOVEN) == Judged() and benches[1].worker in ("w2", "w3")
    assert "w0 has another speed: the unchanged kernels take 1.2900 ms on its GPU, and 1.2000 ms" in caplog.text


def test_three_percent() -> None:
    assert agree(1.0, 1.029) and agree(1.029, 1.0) and not agree(1.0, 1.031)


def test_close_frees_the_gpu_and_forgives_a_lost_worker() -> None:
    one = Closing()
    workers = Workers(one)
    bench = bench_of(workers)
    bench.close()
    bench.close()
    assert one.journal[-1] == ("close", "") and workers.users == {"w0": 0}
    bench = bench_of(workers)
    workers.lose = lambda *_: True
    bench.close()
    assert workers.users == {"w0": 0}


def test_a_worker_that_is_left_goes_on() -> None:
    """Its process is there for the next kernels, and is ended by `close` only."""
    bench = Closing()
    workers = Workers(bench)
    one, other = bench_of(workers), WorkerBench(workers, "c+d")  # type: ignore[arg-type]
    one.leave()
    assert workers.users == {"w0": 0} and one.worker == ""
    one.close()
    assert ("close", "") not in bench.journal
    other.open(WORKLOAD)
    other.close()
    assert bench.journal[-1] == ("close", "")


class Scheduler:
    """A client of a scheduler whose workers answer at once. `gpus` are those that they describe."""

    status = "running"

    def __init__(self, **gpus: Any) -> None:
        self.gpus, self.scheduler = gpus, self
        self.asked: list[tuple[str, str]] = []

    def scheduler_info(self) -> None: ...

    def sync(self, ask: Any) -> Any:
        return ask()

    def identity(self) -> Any:
        return {"workers": {name: {"resources": {"GPU": 1} if gpu else {}} for name, gpu in self.gpus.items()}}

    def submit(self, task: Any, *args: Any, workers: list[str], **how: Any) -> Any:
        self.asked.append((task.__name__, workers[0]))
        future: Any = Future()
        future.release = lambda: None
        gpu = self.gpus[workers[0]]
        if isinstance(gpu, Exception):
            future.set_exception(gpu)
        else:
            future.set_result(gpu if isinstance(gpu, tuple) else (VERSION, gpu))
        return future


H200, H100 = Described("H200", "sm_90", "580", "1"), Described("H100", "sm_90", "580", "2")
OTHER = Described("H200", "sm_90", "580", "3")


def usable(**gpus: Any) -> list[str]:
    return GpuWorkers(Scheduler(**gpus), patience=0).usable


def test_which_workers_are_used(caplog: pytest.LogCaptureFixture) -> None:
    assert usable(a=H200, b=OTHER, c=None) == ["a", "b"]
    assert usable(a=H100, b=H200, c=OTHER) == ["b", "c"]
    assert "a: not used: its H100 is of another kind than most, or another worker has it" in caplog.text
    assert usable(a=H200, b=H200) == ["a"], "two workers with one GPU"
    assert usable(a=DeviceError("no usable GPU"), b=H200) == ["b"]
    assert "not used: a: no usable GPU" in caplog.text


@pytest.mark.parametrize(
    ("gpus", "error", "message"),
    [
        (
            {},
            ClusterLost,
            "no worker of the cluster announces a GPU; start one for each GPU with `CUDA_VISIBLE_DEVICES",
        ),
        ({"a": None}, ClusterLost, "no worker of the cluster announces a GPU"),
        ({"a": DeviceError("none")}, ClusterLost, "no GPU of the cluster can be used: a: none"),
        ({"a": ("0.0.1", H200)}, InputError, f"a has goptx 0.0.1; install goptx {VERSION} there, as here."),
        (
            {"a": ImportError("No module named 'goptx'")},
            InputError,
            "No module named 'goptx'; the worker needs goptx ",
        ),
    ],
)
def test_workers_that_cannot_be_used(gpus: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        usable(**gpus)


def test_all_workers_free_their_gpus_at_last() -> None:
    scheduler = Scheduler(a=H200, b=H100, c=OTHER, d=None, e=DeviceError("none"))
    workers = GpuWorkers(scheduler, patience=0)
    del scheduler.gpus["c"], scheduler.asked[:]
    workers.close()
    assert sorted(scheduler.asked) == [("close_bench", "a"), ("close_bench", "b")]


def test_a_lost_worker_is_not_replaced_in_time() -> None:
    scheduler = Scheduler(a=H200, b=H100, c=OTHER)
    workers = GpuWorkers(scheduler, patience=0)
    assert [workers.lease()[0], workers.lease()[0], workers.lease()[0]] == ["a", "c", "a"]
    assert workers.lease({"a"})[0] == "c"
    with pytest.raises(
        ClusterLost, match=r"no worker with a H200 is left in the cluster but 2 that cannot be used; start"
    ):
        workers.lease({"a", "c"})
    scheduler.gpus.clear()
    with pytest.raises(
        ClusterLost, match="no worker with a H200 is left in the cluster; start one, then repeat the run"
    ):
        workers.lease()
    scheduler.status = "closed"
    with pytest.raises(
        ClusterLost, match="the scheduler of the cluster does not answer any more; start it again, then"
    ):
        workers.lease()
