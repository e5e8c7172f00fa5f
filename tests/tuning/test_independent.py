"""Tuned results are measured by a program that has nothing of goptx; here its driver records what it asks for."""

import ctypes
import json
import sys
from itertools import count
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from goptx.device.assemble import find_ptxas

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from independent import measuring_child, table  # noqa: E402
from independent.cases import Case, cases, write  # noqa: E402

needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
WAYS = ["separate", "streams", "graph", "streams, reversed", "graph, reversed", "tuned"]


class Driver(ModuleType):
    """Answers every call with a new handle, counts calls by name, and reads zeros from the device."""

    def __init__(self) -> None:
        super().__init__("driver")
        self.calls: dict[str, list[Any]] = {}
        self.handles = count(1)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cu"):
            return SimpleNamespace(
                CU_STREAM_NON_BLOCKING=1, CU_EVENT_DEFAULT=0, CU_EVENT_DISABLE_TIMING=2,
                CU_STREAM_CAPTURE_MODE_RELAXED=2, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES=8,
            )  # fmt: skip

        def answer(*args: Any) -> tuple[int, Any]:
            self.calls.setdefault(name, []).append(args)
            if name == "cuMemcpyDtoH":
                ctypes.memset(args[0], 0, args[2])
            return 0, 0.5 if name == "cuEventElapsedTime" else next(self.handles)

        return answer


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    made, bindings = Driver(), ModuleType("cuda.bindings")
    bindings.driver = made  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cuda", ModuleType("cuda"))
    monkeypatch.setitem(sys.modules, "cuda.bindings", bindings)
    monkeypatch.setattr(measuring_child, "PERIOD", 1024)
    return made


def test_every_tuned_result_is_a_case() -> None:
    found = [str(case) for case in cases()]
    assert len(found) == len(set(found)) == 2 * 28 + 16 + 2
    assert {"A natural sort+stms", "B batchnorm+hist", "D strided chain"} <= set(found)


@needs_ptxas
def test_a_pair_is_written_and_measured(driver: Driver, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(Case("A", "paper", "gelu+harris"), tmp_path)
    case = json.loads(path.read_text())
    assert [launch["entry"] for launch in case["kernels"]] == ["gelu", "harris"]
    (fused,) = case["tuned"]
    assert [next(iter(a.values())) for a in fused["arguments"] if "array" in a] == ["A:0", "B:0", "B:1", "B:2", "B:3"]
    for array in case["arrays"].values():  # so many elements are not needed here
        array["length"] = 4096
    path.write_text(json.dumps(case))
    measuring_child.main(path, 1)
    row = json.loads(capsys.readouterr().out.removeprefix("RESULT "))
    assert sorted(row["ms"]) == sorted(row["launched_ms"]) == sorted(row["host_us"]) == sorted(WAYS)
    assert all(runs == [0.5] * measuring_child.REPEATS for runs in row["ms"].values())
    assert [d["elements"] for d in row["differences"].values()] == [0, 0]
    assert len(driver.calls["cuGraphInstantiate"]) == 4  # of these ways, all but streams
    shapes = {args[1:7] for args in driver.calls["cuLaunchKernel"]}
    assert shapes == {(1048576, 1, 1, 256, 1, 1), (fused["grid"][0], 1, 1, 256, 1, 1)}


@needs_ptxas
def test_a_chain_has_no_branches(driver: Driver, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(Case("D", "element", "chain"), tmp_path)
    case = json.loads(path.read_text())
    assert len(case["kernels"]) == 4 and len(case["tuned"]) == 1
    assert set(case["arrays"]) == {"a", "b", "c", "d", "t1", "t2", "t3", "out"}
    for array in case["arrays"].values():
        array["length"] = 4096
    path.write_text(json.dumps(case))
    measuring_child.main(path, 1)
    row = json.loads(capsys.readouterr().out.removeprefix("RESULT "))
    assert sorted(row["ms"]) == ["separate", "tuned"] and list(row["differences"]) == ["out"]


def test_the_child_has_nothing_of_goptx() -> None:
    text = Path(measuring_child.__file__).read_text()
    assert "import goptx" not in text and "from goptx" not in text


def test_differences() -> None:
    one = np.array([1, 100, np.nan, 0], np.float32)
    other = one + np.array([0, 1, 0, 1e-3], np.float32)
    found = measuring_child.compared(one.view(np.uint8), other.view(np.uint8), one.dtype)
    assert (found["elements"], found["of"], round(found["largest"], 4)) == (2, 4, 0.01)
    other[2] = 0
    assert measuring_child.compared(one.view(np.uint8), other.view(np.uint8), one.dtype)["largest"] > 1e300


def row(**facts: Any) -> dict[str, Any]:
    ms = {"separate": [2.0], "graph": [1.5], "tuned": [1.0]}
    about = {"suite": "A", "shape": "paper", "name": "a+b", "found": "weave", "claimed": 1.5}
    return {**about, "ms": ms, "launched_ms": ms, "host_us": ms, "differences": {}, **facts}


def difference(dtype: str, elements: int, largest: float = 0.0) -> dict[str, Any]:
    return {"A:0": {"dtype": dtype, "elements": elements, "of": 10**6, "largest": largest}}


def test_speedups_are_over_the_fastest_way() -> None:
    assert (table.baseline(row()), table.speedup(row())) == ("graph", 1.5)
    assert table.speedup({"problem": "hangs"}) is None
    about = {"gpu": "H200", "date": "x", "driver": "x", "commit": "x", "command": "x", "seconds": 1}
    slower = row(ms={"separate": [1.0], "tuned": [2.0]})
    lost = {"suite": "B", "shape": "", "name": "c+d", "problem": "hangs"}
    text = table.table({**about, "rows": [row(), slower, lost]})
    assert "| A paper | a+b | yes | 1.500 | graph | 1.000 | 1.500 | 1.5 |" in text
    assert "least 0.500, below 0.99: 1; not measured: 1." in text and "| B  | c+d | NO hangs |" in text


@pytest.mark.parametrize(
    ("found", "right"),
    [
        ({}, True),
        (difference("float32", 10**6, 9e-5), True),
        (difference("float32", 1, 2e-4), False),
        (difference("float16", 5, 1e-3), True),
        (difference("uint8", 100), True),
        (difference("uint8", 101), False),
    ],
)
def test_rounding_is_not_an_error(found: dict[str, Any], right: bool) -> None:
    assert table.is_right(row(differences=found)) == right
