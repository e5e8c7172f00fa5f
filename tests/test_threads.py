"""Several threads, and several processes: weaving gives the same bytes, and cached values are made once."""

import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from bodies import GUARD, kernel

import goptx
from goptx import Shape
from goptx.device.executable import Executable
from goptx.launch.parameter import Parameter
from goptx.memo import Memo

KERNELS = Path(__file__).parents[1] / "examples" / "kernels"
THREADS = 8


@pytest.fixture
def _often() -> Iterator[None]:
    """Threads switch after few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def at_once(tasks: list[Callable[[], Any]]) -> list[Any]:
    """The results of the tasks, which all begin together, each in a thread."""
    together = threading.Barrier(len(tasks))

    def run(task: Callable[[], Any]) -> Any:
        together.wait()
        return task()

    with ThreadPoolExecutor(len(tasks)) as pool:
        return list(pool.map(run, tasks))


def texts() -> list[str]:
    """Different kernels that are not parsed yet."""
    bodies = [
        GUARD.format(body="st.shared.u32 [tile], %r1; bar.sync 0; ld.shared.u32 %r3, [tile];"),
        "LOOP: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra LOOP; ret;",
        "ld.param.u64 %rd1, [{k}_in]; ld.global.u32 %r3, [%rd1]; setp.gt.u32 %p1, %r3, %r4; @%p1 ret; bar.sync 0; ret;",
    ]
    named = [(f"k{i}", body.replace("{k}", f"k{i}").replace("[k_n]", f"[k{i}_n]")) for i, body in enumerate(bodies)]
    return [kernel(body, name) for name, body in named]


def several(jobs: Sequence[tuple[str, str, dict[str, Any]]]) -> list[str]:
    return [goptx.weave(a, b, **options).ptx for a, b, options in jobs]


@pytest.mark.slow
@pytest.mark.usefixtures("_often")
def test_weaving_in_threads_gives_what_it_gives_alone() -> None:
    options: list[dict[str, Any]] = [{}, {"policy": "paper", "slicing": 20}, {"shapes": [Shape(4, 64), Shape(9, 32)]}]
    jobs = [(a, b, o) for a, b in product(texts(), texts()) for o in options]
    shares = [jobs[i::THREADS] for i in range(THREADS)]
    woven = at_once([partial(several, share) for share in shares])
    assert woven == [several(share) for share in shares]


@pytest.mark.usefixtures("_often")
def test_weaving_one_module_in_threads() -> None:
    harris, lud = (goptx.read(KERNELS / f"{name}.sm_90.ptx") for name in ("harris", "lud"))
    assert len(set(at_once([lambda: goptx.weave(harris, lud).ptx for _ in range(4)]))) == 1


COLD = """
import sys, threading
from pathlib import Path
import goptx
sys.setswitchinterval(1e-5)
pairs = [("sort", "harris"), ("stms", "micnd"), ("micnd", "lud"), ("harris", "stms")]
files = {name: Path(sys.argv[1]) / f"{name}.sm_90.ptx" for pair in pairs for name in pair}
together, found = threading.Barrier(len(pairs)), {}

def run(pair):
    together.wait()
    found[pair] = goptx.weave(*[files[name] for name in pair]).ptx

threads = [threading.Thread(target=run, args=[pair]) for pair in pairs]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert found == {pair: goptx.weave(*[files[name] for name in pair]).ptx for pair in pairs}
"""


@pytest.mark.slow
def test_threads_may_be_the_first_to_use_goptx() -> None:
    """In a process where nothing is imported or cached yet."""
    subprocess.run([sys.executable, "-c", COLD, str(KERNELS)], check=True, timeout=120)


# Memos ---------------------------------------------------------------------------------------------


def test_threads_make_a_thing_once_and_wait_for_nothing_else() -> None:
    memo: Memo[str, int] = Memo()
    made: list[str] = []
    inside = threading.Event()

    def slow() -> int:
        inside.set()
        time.sleep(0.2)
        made.append("slow")
        return 1

    def other() -> int:
        inside.wait()
        value = memo.made("other", lambda: 2)
        assert made == []  # while the slow one is still being made
        return value

    assert at_once([lambda: memo.made("slow", slow)] * 6 + [other]) == [1] * 6 + [2]
    assert made == ["slow"]


def test_what_fails_is_tried_again() -> None:
    memo: Memo[str, int] = Memo()
    with pytest.raises(ZeroDivisionError):
        memo.made("a", lambda: 1 // 0)
    assert memo.made("a", lambda: 3) == 3


def test_a_memo_is_bounded_if_asked_for() -> None:
    memo: Memo[int, int] = Memo(most=4)
    assert [memo.made(i, partial(abs, -i)) for i in range(9)] == list(range(9))
    assert len(memo) <= 4


def test_threads_assemble_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []

    class Made:
        registers, cubin = 8, b"cubin"

    def assemble_all(*_: object, max_registers: int | None, **__: object) -> list[Made]:
        time.sleep(0.05)
        calls.append(max_registers)
        return [Made()]

    monkeypatch.setattr("goptx.device.assemble.assemble_all", assemble_all)
    woven = goptx.weave(*texts()[:2])
    assert at_once([woven.cubin, lambda: woven.cubin(32)] * 4) == [b"cubin"] * 8
    assert sorted(map(str, calls)) == ["32", "None"]


def test_threads_load_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[bytes] = []

    class Device:
        device_id = 0

    def load_all(cubin: bytes, names: list[str]) -> list[str]:
        time.sleep(0.05)
        calls.append(cubin)
        return names

    monkeypatch.setattr("goptx.device.executable.current_device", Device)
    monkeypatch.setattr("goptx.device.executable.load_all", load_all)
    monkeypatch.setattr("goptx.device.executable.remember", lambda *loaded: None)
    monkeypatch.setattr(Executable, "assembly", lambda self, cap: SimpleNamespace(cubin=b"%a" % cap))
    woven = goptx.weave(*texts()[:2])
    loads: list[Callable[[], Any]] = [woven.load, lambda: woven.load(32)]
    assert at_once(loads * 3) == [woven.name] * 6
    assert sorted(calls) == [b"32", b"None"]
    Device.device_id = 1
    woven.load()
    assert len(calls) == 3


# Pickles ------------------------------------------------------------------------------------------------------


def test_results_travel_to_other_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    woven = goptx.weave(*texts()[1:], shapes=[Shape(4, 64), Shape(None, 32)])
    monkeypatch.setattr("goptx.device.executable.current_device", lambda: type("Device", (), {"device_id": 0}))
    loaded = [threading.Lock()]  # which no pickle takes
    monkeypatch.setattr("goptx.device.executable.load_all", lambda cubin, names: loaded)
    monkeypatch.setattr("goptx.device.executable.remember", lambda *loaded: None)
    monkeypatch.setattr(Executable, "assembly", lambda self, cap: SimpleNamespace(cubin=b""))
    woven.load()
    there = pickle.loads(pickle.dumps(woven))
    assert there == woven
    assert (there.ptx, there.params, there.origins, there.shape) == (
        woven.ptx,
        woven.params,
        woven.origins,
        woven.shape,
    )
    assert str(there.report) == str(woven.report)
    assert len(woven.executable._loaded) == 1 and len(there.executable._loaded) == 0
    for part in (woven.report, woven.shape, *woven.params):
        assert pickle.loads(pickle.dumps(part)) == part
    assert any(isinstance(p, Parameter) and p.access == "read" for p in there.params)


def test_what_was_assembled_travels_too(monkeypatch: pytest.MonkeyPatch) -> None:
    woven = goptx.weave(*texts()[:2])
    woven.executable._assembled.made((None, True, None), lambda: "assembled")  # type: ignore[arg-type, return-value]
    there = pickle.loads(pickle.dumps(woven))
    assert there.assembly() == "assembled"
    there.executable._assembled.made("new", lambda: "made")  # its locks are new
