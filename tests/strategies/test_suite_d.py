"""Suite D: four kernels of a chain become one that touches memory five times for each element."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import goptx
from goptx.launch.specification import read_specification

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

from suite_d import FOLDER, FORMS, WAYS, chain, fused, passes, region  # noqa: E402

N = 1000


def arrays() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    made = {name: rng.random(N, dtype=np.float32) for name in "abcd"}
    return made | {name: np.zeros(N, np.float32) for name in ("t1", "t2", "t3", "out")}


def arguments(by_name: dict[str, Any]) -> list[list[Any]]:
    launches = read_specification(FOLDER / "chain.toml")
    return [[by_name[a.name] if a.is_array else N for a in launch.arguments] for launch in launches]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize(("candidate", "most"), [("vertical", 11), ("internalised", 5)])
def test_the_chain_as_one_kernel(form: str, arch: str, candidate: str, most: int) -> None:
    alone, together = arrays(), arrays()
    for entry, own in zip(chain(form), arguments(alone), strict=True):
        goptx.emulate(FOLDER / f"chain.{arch}.ptx", 3, 256, own, entry=entry)
    woven = fused(form, candidate, arch)
    assert set(WAYS) == {"vertical", "internalised"}
    assert passes(woven.ptx) == most
    goptx.emulate(woven, 3, 256, arguments(together))
    written = ("out",) if candidate == "internalised" else ("t1", "t2", "t3", "out")
    assert all((alone[n].view(np.uint32) == together[n].view(np.uint32)).all() for n in written)
    assert all(together[n].any() == (n in written) for n in ("t1", "t2", "t3", "out"))
    assert woven.resources().spill_bytes == 0


def test_the_internalised_chain_has_few_parameters() -> None:
    left = [(p.kernel, p.original[-1]) for p in fused("element", "internalised").params if p.instead is None]
    assert left == [("A", "0"), ("A", "1"), ("A", "3"), ("B", "1"), ("C", "1"), ("D", "2")]
    a, b, c, d, t1, t2, t3, out = range(0x100000, 0x900000, 0x100000)
    given = [[a, b, t1, N], [a, c, t2, N], [t2, d, t3, N], [t1, t3, out, N]]
    assert [int(x) for x in fused("element", "internalised").arguments(*given)] == [a, b, N, c, d, out]


def test_the_suite_says_what_it_needs() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.suite_d", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "python -m benchmarks.suite_d" in done.stdout


def test_the_table_of_the_region() -> None:
    times = {name: {"host_ms": 0.5, "elapsed_ms": 2.0} for name in region.TIMES}
    first = {"host_ms": 900.0, "elapsed_ms": 901.0}
    measured = {**times, "first": first, "region_device_ms": 1.9, "separate_device_ms": 4.0}
    row = {"form": "element", "region": {**measured, "separate": {"host_ms": 0.04, "elapsed_ms": 4.0}}}
    lines = region.table([row, {"form": "strided"}])
    assert "| element | four launches | 0.040 | 4.000 | 4.000 | 1.00 |" in lines
    assert "| element | region, first time | 900.000 | 901.000 |  | 0.00 |" in lines
    assert "| element | region, hundredth time | 0.500 | 2.000 | 1.900 | 2.00 |" in lines
    assert region.table([{"form": "element"}]) == []
