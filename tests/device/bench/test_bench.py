"""The place where kernels are judged and timed: what it asks its process, and what it does when there is no answer."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from device.bench import serving
from tuning.fake_bench import ARGS, PLUS, SHAPES, TIMES

import goptx
from goptx.errors import DeviceError, InputError
from goptx.measuring.bench import bench as module
from goptx.measuring.bench.bench import Bench, Timed
from goptx.measuring.bench.questions import Described, Failed, Judged, Opened
from goptx.measuring.bench.workload import Workload
from goptx.tuning.measured import measured

WOVEN = goptx.weave(PLUS, TIMES, shapes=SHAPES)


def workload(seed: int = 0) -> Workload:
    return measured([PLUS, TIMES], shapes=SHAPES, args=ARGS, seed=seed).workload


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """Has judged two kernels, which are right."""
    monkeypatch.setattr(module, "serve", serving.imaginary)
    monkeypatch.setattr(module, "LIMIT", 60)  # however slow this machine is
    monkeypatch.setattr(module, "SLOW", 0)
    made = Bench(3)
    assert made.described() == Described("Imaginary 3", "sm_90", "580.1")
    assert made.open(workload()) == Opened(10.0)
    assert isinstance(made.judge("one", WOVEN), Judged)
    assert made.judge("two", WOVEN, 40) == Judged(
        contracted="describe, open 0, judge one, judge two capped at 40"  # as the process has it
    )
    yield made
    made.close()


def test_judged_and_timed(bench: Bench) -> None:
    timed = bench.time(["one", "two"], 5)
    assert (list(timed.ms), timed.problem) == (["one", "two"], "")
    assert all(len(runs) == 5 for runs in timed.ms.values())
    assert (bench.holds("one"), bench.holds("two"), bench.holds("other")) == (True, True, False)
    assert bench.replaced == 0


def test_what_is_wrong_or_refused_is_not_held(bench: Bench) -> None:
    assert bench.judge("wrong", WOVEN) == Judged(wrong="A:1 differs")
    assert bench.judge(serving.REFUSED, WOVEN) == Failed("the driver refuses kernel")
    assert not bench.holds("wrong") and not bench.holds(serving.REFUSED)
    assert bench.replaced == 0


LOST = [
    (serving.HANGING, "no answer within 1 s: it hangs"),
    (serving.ENDING, "the process ended without an answer"),
    (serving.BREAKING, "the driver answers CUDA_ERROR_ILLEGAL_ADDRESS"),
]
AGAIN = "open 0, hold one, hold two capped at 40"  # the kernels that were right are brought to the new process


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], AbstractContextManager[None]]:
    """Waits for a second only for what hangs."""

    @contextmanager
    def waiting(name: str) -> Iterator[None]:
        with monkeypatch.context() as patched:
            if serving.HANGING in name:
                patched.setattr(module, "LIMIT", 1)
            yield

    return waiting


@pytest.mark.slow
@pytest.mark.parametrize(("name", "problem"), LOST)
def test_a_kernel_that_is_the_end_of_the_process_that_judges_it(
    bench: Bench, impatient: Any, name: str, problem: str
) -> None:
    with impatient(name):
        assert bench.judge(name, WOVEN) == Failed(problem, broken=True)
    assert not bench.holds(name)
    assert bench.replaced == 1
    assert bench.judge("three", WOVEN) == Judged(contracted=f"{AGAIN}, judge three")
    assert bench.replaced == 1


@pytest.mark.slow
@pytest.mark.parametrize(("name", "problem"), LOST)
def test_a_kernel_that_is_the_end_of_the_process_that_times_it(
    bench: Bench, impatient: Any, name: str, problem: str
) -> None:
    name = f"later {name}"
    assert isinstance(bench.judge(name, WOVEN), Judged)
    with impatient(name):
        assert bench.time(["one", name], 2) == Timed(problem=problem)
    assert bench.time(["one"], 2) == Timed({"one": [float(len(f"{AGAIN}, hold {name}, time one"))] * 2})
    assert bench.replaced == 1


def test_limits(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run may take a hundred times as long as the kernels alone, which take 10 ms."""
    monkeypatch.setattr(module, "LIMIT", 20)
    monkeypatch.setattr(module, "SLOW", 100)
    limits: list[float] = []
    ask = bench._child.ask

    def asked(question: Any, seconds: float) -> Any:
        limits.append(seconds)
        return ask(question, seconds)

    monkeypatch.setattr(bench._child, "ask", asked)
    bench.judge("three", WOVEN)
    bench.time(["one", "two"], 5, 3)
    bench.described()
    assert limits == [20 + 1, 20 + 2 * 8, module.START]


@pytest.mark.slow
def test_another_workload_begins_anew(bench: Bench) -> None:
    assert bench.open(workload(7)) == Opened(10.0)
    assert not bench.holds("one")
    assert "open 7" in str(bench.judge("one", WOVEN))
    bench.close()
    assert bench.judge("two", WOVEN) == Judged(contracted="open 7, hold one, judge two")


@pytest.mark.slow
def test_data_that_cannot_be_made(bench: Bench) -> None:
    with pytest.raises(InputError, match=r"^run twice on equal data, the kernels alone give two results$"):
        bench.open(workload(1))
    with pytest.raises(DeviceError, match=r"the unchanged kernels cannot be measured: .*LAUNCH_FAILED"):
        bench.open(workload(2))
    assert bench.open(workload(3)) == Opened(10.0)


@pytest.mark.slow
def test_without_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "serve", serving.without_device)
    with pytest.raises(DeviceError, match=r"^no usable NVIDIA GPU$"):
        Bench().described()
    monkeypatch.setattr(module, "serve", serving.deaf)
    with pytest.raises(DeviceError, match="the process ended"):
        Bench().described()
