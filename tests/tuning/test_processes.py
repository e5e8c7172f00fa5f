"""Kernels made by processes: those of a pool, also in a script that does not expect any, and those of a cluster."""

import os
import subprocess
import sys
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from tuning.fake_bench import ARGS, PLUS, SHAPES, TIMES, AtOnce, FakeBench, statuses, tuned

from goptx.device.assemble import find_ptxas
from goptx.device.child_process import without_main
from goptx.strategies.candidate import Candidate
from goptx.tuning.best import Best
from goptx.tuning.makers import makers
from goptx.tuning.measured import measured
from goptx.tuning.space.space import Space

ROOT = Path(__file__).parents[2]
FAST = {"vertical x2 x2": 0.5, "vertical x1 x2": 0.6}
pytestmark = pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")

SCRIPT = """
print("begins")
from tuning.fake_bench import FakeBench, tuned

best = tuned(FakeBench({"vertical x2 x2": 0.5}), executor=None, workers=2, strategies=["vertical"])
print(best.candidate, best.speedup)
"""


def result(best: Best) -> tuple[Any, ...]:
    return best.candidate, best.speedup, best.fused.ptx, best.table.trials


@pytest.fixture(scope="module")
def expected() -> tuple[Any, ...]:
    return result(tuned(FakeBench(FAST), executor=AtOnce(), strategies=["vertical"]))


@pytest.mark.slow
def test_a_script_without_a_guard_runs_once(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("begins\nvertical x2 x2 2.0\n", "")


@pytest.mark.slow
def test_processes_of_the_caller(expected: tuple[Any, ...]) -> None:
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        best = tuned(FakeBench(FAST), executor=pool, strategies=["vertical"])
        assert pool.submit(len, "it is open still").result() == 16
    assert (best.candidate, best.fused.ptx) == (expected[0], expected[2])


@pytest.mark.slow
def test_workers_of_a_cluster(expected: tuple[Any, ...]) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, processes=True, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        best = tuned(FakeBench(FAST), executor=client.get_executor(), strategies=["vertical"])
    assert (best.candidate, best.speedup, best.fused.ptx) == expected[:3]
    assert {t.candidate for t in best.table.trials} == {t.candidate for t in expected[3]}


class Deadly:
    """Ends each process that unpickles it."""

    def __reduce__(self) -> Any:
        return os._exit, (1,)

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __str__(self) -> str:
        return "deadly"


DEADLY = Candidate("vertical", (1, 1)).having(divergence=Deadly())


@pytest.mark.slow
def test_a_pool_is_replaced_when_a_process_dies() -> None:
    subject = measured([PLUS, TIMES], shapes=SHAPES, args=ARGS)
    with makers(subject, None, 1) as made:
        assert isinstance(made.submit(DEADLY).exception(60), BrokenExecutor)
        assert made.submit(Candidate("vertical", (1, 1))).result(60).trials[0].status == "timed"
    with without_main(), ProcessPoolExecutor(1, get_context("spawn")) as pool, makers(subject, pool, None) as made:
        assert isinstance(made.submit(DEADLY).exception(60), BrokenExecutor)
        assert isinstance(
            made.submit(Candidate("vertical", (1, 1))).exception(60), BrokenExecutor
        )  # an executor of the caller is not replaced


@pytest.mark.slow
def test_a_candidate_that_kills_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    first = [Candidate("vertical", (1, 1)), DEADLY, Candidate("vertical", (2, 2)), Candidate("vertical", (1, 2))]
    monkeypatch.setattr(Space, "first", lambda self: first)
    monkeypatch.setattr(Space, "near", lambda self, candidate: iter(()))
    monkeypatch.setattr("goptx.tuning.tune.auto_choices", lambda *_: [])
    best = tuned(FakeBench(FAST), executor=None, workers=2)
    assert statuses(best) == {
        "vertical x2 x2": "timed", "vertical x1 x2": "timed", "vertical": "timed",
        "vertical divergence=deadly": "failed",
    }  # fmt: skip
    assert str(best.candidate) == "vertical x2 x2"
    assert best.table.trials[-1].reason.startswith("it could not be made: BrokenProcessPool: ")
