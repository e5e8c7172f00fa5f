"""Tuning on the workers of a Dask cluster, with emulated GPUs: lost workers change nothing in the result."""

import csv
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from tuning import cluster_bench
from tuning.cluster_bench import FATAL, FOLDER, ClusterBench
from tuning.fake_bench import PLUS, TIMES, tuned

from goptx.device.assemble import find_ptxas
from goptx.device.child_process import Child
from goptx.errors import DeviceError, GoptxError, InputError
from goptx.measuring.bench.questions import Failed
from goptx.strategies.candidate import Candidate
from goptx.tuning.best import Best, replay
from goptx.tuning.cluster import all_pairs, cluster_executor, gpu_workers, worker_bench
from goptx.tuning.cluster.cluster_executor import ClusterExecutor
from goptx.tuning.cluster.gpu_workers import ClusterLost, GpuWorkers
from goptx.tuning.cluster.pairs_table import COLUMNS, PairsTable
from goptx.tuning.cluster.worker_bench import TooManyLost
from goptx.tuning.space.space import Space

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")


@pytest.fixture(scope="module")
def marks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("marks")
    os.environ[FOLDER] = str(folder)
    yield folder
    del os.environ[FOLDER]


@pytest.fixture(scope="module")
def client(marks: Path) -> Iterator[Any]:
    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": None, "resources": {"GPU": 1}}
    with distributed.LocalCluster(n_workers=2, **options) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module", autouse=True)
def few() -> Iterator[None]:
    """Few candidates."""
    candidates = [Candidate("vertical", factors) for factors in ((1, 1), (2, 1), (2, 2), (4, 2))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Space, "first", lambda self: candidates)
        patch.setattr(Space, "near", lambda self, candidate: iter(()))
        yield


def on(client: Any, bench: Any, monkeypatch: pytest.MonkeyPatch, **how: Any) -> Best:
    client.wait_for_workers(2, timeout=60)  # one that a test has killed is started again
    monkeypatch.setattr(worker_bench, "GpuWorkers", partial(GpuWorkers, make_bench=bench, patience=30))
    monkeypatch.setattr(gpu_workers, "POLL", 0.1)
    return tuned(client=client, executor=None, strategies=["vertical"], **how)


def trials(best: Best) -> dict[str, Any]:
    return {str(t.candidate): (t.status, t.ms, t.against, t.registers) for t in best.table.trials}


@pytest.fixture(scope="module")
def usual(client: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Best, list[str]]:
    records = tmp_path_factory.mktemp("usual") / "records"
    with pytest.MonkeyPatch.context() as patch:
        return on(client, ClusterBench, patch, records=records), sorted(records.read_text().splitlines())


@pytest.mark.slow
def test_it_is_measured_as_here(usual: tuple[Best, list[str]]) -> None:
    here = tuned(bench := ClusterBench(), executor=None, workers=1, strategies=["vertical"])
    assert bench.outputs and trials(usual[0]) == trials(here)
    assert (usual[0].candidate, usual[0].speedup, usual[0].fused.ptx) == (here.candidate, here.speedup, here.fused.ptx)


@pytest.mark.slow
@pytest.mark.parametrize("bench", [cluster_bench.Dying, cluster_bench.Failing])
def test_a_worker_that_is_lost_in_the_middle_changes_nothing(
    bench: Any, client: Any, usual: tuple[Best, list[str]], marks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    best = on(client, bench, monkeypatch, records=tmp_path / "records")
    assert (marks / {"Dying": "killed", "Failing": "broken"}[bench.__name__]).exists()
    expected, lines = usual
    assert trials(best) == trials(expected)
    assert (best.candidate, best.speedup, best.fused.ptx) == (expected.candidate, expected.speedup, expected.fused.ptx)
    assert sorted((tmp_path / "records").read_text().splitlines()) == lines, "something is counted twice, or not"


def test_what_the_scheduler_forgot_is_repeated(
    client: Any, usual: tuple[Best, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One task of each sort is cancelled, as all are when the scheduler is started again."""
    submit, forgotten = client.submit, set()

    def submitted(*args: Any, key: str, **how: Any) -> Any:
        future, what = submit(*args, key=key, **how), key.replace("-", " ").split()[0]
        if what not in forgotten and what != "describe":
            forgotten.add(what)
            future.cancel()
        return future

    monkeypatch.setattr(client, "submit", submitted)
    best = on(client, ClusterBench, monkeypatch, records=tmp_path / "records")
    assert forgotten == {"choose", "make", "open", "judge", "time", "renew", "close"}
    assert trials(best) == trials(usual[0])
    assert sorted((tmp_path / "records").read_text().splitlines()) == usual[1]


@pytest.mark.slow
def test_a_restart_in_the_middle_changes_nothing(
    client: Any, usual: tuple[Best, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All workers and what the scheduler knows are lost at the first result."""
    records = tmp_path / "records"

    def restarted() -> bool:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            if records.exists() and "vertical" in records.read_text():
                client.restart()
                return True
            time.sleep(0.01)
        return False

    with ThreadPoolExecutor(1) as pool:
        restart = pool.submit(restarted)
        best = on(client, ClusterBench, monkeypatch, records=records)
        assert restart.result()
    assert trials(best) == trials(usual[0])
    assert sorted(records.read_text().splitlines()) == usual[1]


SPEC = """
[[kernel]]
file = "{name}.ptx"
entry = "{name}"
grid = [4]
block = [64]
argument = [
    {{ name = "in", dtype = "uint32", length = 256, generator = "integers" }},
    {{ name = "out", dtype = "uint32", length = 256, role = "out" }},
    {{ name = "n", dtype = "uint32", value = 3 }},
]
"""


def specifications(folder: Path) -> list[str]:
    """Of three kernels, in the folder."""
    for name, text in (("plus", PLUS), ("times", TIMES), ("again", PLUS.replace("plus", "again"))):
        (folder / f"{name}.ptx").write_text(text)
        (folder / f"{name}.toml").write_text(SPEC.format(name=name))
    return ["plus.toml", "times.toml", "again.toml"]


@pytest.mark.slow
def test_all_pairs(client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the command line; a second run reads all from the records, and one that was interrupted goes on."""
    monkeypatch.setattr(all_pairs, "GpuWorkers", partial(GpuWorkers, make_bench=ClusterBench, patience=30))
    specifications(tmp_path)
    words = ("tune", "--all", "plus.toml", "times.toml", "again.toml", "--scheduler", client.scheduler.address,
             "--strategies", "vertical", "--records", "records", "--table", "pairs.csv", "--html", "pairs.html",
             "-o", "best")  # fmt: skip
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    pairs = ["plus+again", "plus+times", "times+again"]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "pairs.csv").read_text())))
    assert sorted(row["pair"] for row in rows) == pairs and tuple(rows[0]) == COLUMNS
    assert all(float(row["speedup"]) > 1 and row["gpu"] == "Emulator" and not row["reason"] for row in rows)
    assert "times+again" in (tmp_path / "pairs.html").read_text()
    assert replay(tmp_path / "best" / "plus+times.json").strategy == "vertical"
    before = {path.name: path.read_text() for path in (tmp_path / "records").iterdir()}
    assert sorted(before) == [f"{pair}.jsonl" for pair in pairs]
    again = run(*words, "--quiet", cwd=tmp_path)
    assert (again.returncode, (tmp_path / "pairs.csv").read_text()) == (0, done_csv(rows))
    assert {path.name: path.read_text() for path in (tmp_path / "records").iterdir()} == before
    path = tmp_path / "records" / "plus+times.jsonl"
    path.write_text("".join(before[path.name].splitlines(keepends=True)[:3]))
    assert run(*words, "--quiet", cwd=tmp_path).returncode == 0
    assert (tmp_path / "pairs.csv").read_text() == done_csv(rows)


def done_csv(rows: list[dict[str, str]]) -> str:
    return PairsTable(tuple(rows)).to_csv()


def test_tasks_have_readable_names(client: Any, usual: tuple[Best, list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    keys: list[str] = []
    submit = client.submit

    def submitted(*args: Any, key: str, **how: Any) -> Any:
        keys.append(key)
        return submit(*args, key=key, **how)

    monkeypatch.setattr(client, "submit", submitted)
    on(client, ClusterBench, monkeypatch)
    assert len(set(keys)) == len(keys)
    groups = {distributed.utils.key_split(key) for key in keys}
    asked = ("choose", "make", "open", "judge", "time", "renew", "close")
    assert groups == {"describe", *(f"{w} plus+times" for w in asked)}
    assert any(key.startswith("judge plus+times-") and key.endswith(f" {FATAL}") for key in keys)


def in_a_worker() -> Any:
    """What a process of ours answers that a worker starts."""
    child = Child(answering)
    try:
        return child.ask("question", 60)
    finally:
        child.end()


def answering(connection: Any) -> None:
    connection.send(Failed(connection.recv()))


def test_workers_may_start_a_process_that_measures(client: Any) -> None:
    """They are daemons of multiprocessing, which start none by themselves."""
    assert client.submit(in_a_worker, pure=False).result(60) == Failed("question")


@pytest.mark.slow
def test_without_a_gpu_that_can_be_used(client: Any) -> None:
    """As on any machine without GPUs: the real bench has the reason."""
    with pytest.raises(DeviceError, match=r"no GPU of the cluster tcp://.* can be used: tcp://.*: "):
        GpuWorkers(client)


DOCUMENT = Path(__file__).parents[2] / "docs" / "tuning.md"
TESTS = Path(__file__).parents[1]


@contextmanager
def started(folder: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler, workers without a GPU and one with it, by the commands that the document has: the address of the
    scheduler, and the processes."""
    scheduler, makers, gpu = re.findall(r"^\$ (.*dask (?:scheduler|worker)[^#\n]*)", DOCUMENT.read_text(), re.MULTILINE)
    running: list[subprocess.Popen[bytes]] = []

    def start(command: str) -> None:
        words = [sys.executable, "-m", *shlex.split(command.replace("CUDA_VISIBLE_DEVICES=0 ", ""))]
        own = {"PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)]), FOLDER: str(folder)}
        running.append(
            subprocess.Popen(
                [*words, "--no-dashboard"], env=os.environ | own, cwd=folder, start_new_session=True,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
        )  # fmt: skip

    file = folder / "scheduler.json"
    try:
        start(f"{scheduler} --host 127.0.0.1 --port 0 --scheduler-file {file}")
        until = time.monotonic() + 60
        while not file.exists() and time.monotonic() < until:
            time.sleep(0.1)
        address = json.loads(file.read_text())["address"]
        for command in (makers.replace("--nworkers 16", "--nworkers 1"), gpu):
            start(command.replace("tcp://node0:8786", address))
        yield address, running
    finally:
        for one in reversed(running):
            os.killpg(one.pid, signal.SIGKILL)
            one.wait()


@pytest.mark.slow
def test_the_documented_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scheduler and workers find each other; kernels are made on workers without a GPU, and where these are lost, on
    those with one; all pairs are tuned, and a worker that is killed in the middle changes nothing."""
    monkeypatch.setattr(cluster_executor, "LOOK", 0.2)
    words = ("tune", "--all", *specifications(tmp_path), "--strategies", "vertical", "--quiet")
    with started(tmp_path) as (address, processes), distributed.Client(address) as client:
        client.wait_for_workers(2, timeout=60)
        for bench in (ClusterBench, cluster_bench.Dying):
            monkeypatch.setattr(all_pairs, "GpuWorkers", partial(GpuWorkers, make_bench=bench, patience=30))
            done = run(*words, "--scheduler", address, "--table", f"{bench.__name__}.csv", cwd=tmp_path)
            assert done.returncode == 0, done.stderr
        usual, killed = ((tmp_path / f"{name}.csv").read_text() for name in ("ClusterBench", "Dying"))
        assert (tmp_path / "killed").exists() and killed == usual and usual.count("Emulator") == 3

        client.wait_for_workers(2, timeout=60)
        gpu, maker = sorted(client.run(os.getpid), key=lambda w: not gpu_workers.gpus_of(client)[w])
        pids = client.run(os.getpid)
        executor = ClusterExecutor(client, "a+b")
        assert {one.result(60) for one in [executor.submit(cluster_bench.made_by, 0.01) for _ in range(8)]} == {
            pids[maker]
        }
        waiting = [executor.submit(cluster_bench.made_by, 1.0) for _ in range(2)]
        os.killpg(processes[1].pid, signal.SIGKILL)
        assert {one.result(60) for one in waiting} == {pids[gpu]}


@pytest.mark.parametrize("problem", [RuntimeError("odd"), TooManyLost("3 workers were lost"), InputError("no data")])
def test_a_pair_that_fails_does_not_end_the_run(
    problem: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its row has the reason; of the others each has its own."""
    paths = [tmp_path / name for name in specifications(tmp_path)]
    table = all_pairs_of(paths, {"plus+times": problem}, monkeypatch)
    reasons = {row["pair"]: row["reason"] for row in table.rows}
    assert str(problem) in reasons.pop("plus+times")
    assert reasons == {"plus+again": "tried", "times+again": "tried"}


def test_a_lost_cluster_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [tmp_path / name for name in specifications(tmp_path)]
    with pytest.raises(ClusterLost, match="no GPU is left"):
        all_pairs_of(paths, {"plus+again": ClusterLost("no GPU is left")}, monkeypatch)


def all_pairs_of(paths: list[Path], problems: dict[str, Exception], monkeypatch: pytest.MonkeyPatch) -> PairsTable:
    """Tuning raises these problems, and is refused for all other pairs."""

    @contextmanager
    def benches(*_: object) -> Iterator[Any]:
        @contextmanager
        def bench(_: str) -> Iterator[Any]:
            yield ClusterBench()

        yield bench, 1

    def tune(spec: tuple[Path, Path], **_: object) -> Best:
        raise problems.get("+".join(path.stem for path in spec), GoptxError("tried"))

    monkeypatch.setattr(all_pairs, "_benches", benches)
    monkeypatch.setattr(all_pairs, "tune", tune)
    return all_pairs.tune_all(paths, progress=False)
