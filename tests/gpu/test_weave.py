"""Every pair of tests/constructs woven on a GPU gives what separate launches give, bit for bit."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from weaving.test_waiting import PARTNERS
from weaving.waiting_kernels import KERNELS, NOT_EMULATED

import goptx
from goptx.device.load import current_device
from goptx.errors import DeviceError

pytestmark = pytest.mark.gpu
HERE = Path(__file__).parent
ROOT = HERE.parent.parent
COUNT = len(goptx.read(ROOT / "tests" / "constructs" / "constructs.sm_80.ptx").entries)


@pytest.fixture(scope="module", autouse=True)
def _gpu() -> None:
    try:
        current_device()
    except DeviceError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(("policy", "slicing"), [("latency", "adaptive"), ("paper", "40")])
def test_constructs(policy: str, slicing: str) -> None:
    results = in_child("constructs", policy, slicing)
    assert len(results) == COUNT**2
    wrong = {p: r for p, r in results.items() if r != "right" and not r.startswith("REFUSED CannotWeave")}
    assert not wrong


@pytest.mark.parametrize("partner", [*PARTNERS, *NOT_EMULATED])
def test_kernels_that_wait(partner: str) -> None:
    """Some of them are not on the emulator."""
    if current_device().arch != "90":
        pytest.skip("the kernels are for sm_90a")
    pairs = [f"{a}+{b}" for name in (*KERNELS, *NOT_EMULATED) for a, b in ((name, partner), (partner, name))]
    results = in_child("waiting", "latency", "adaptive", *dict.fromkeys(pairs))
    refused = {p for p, r in results.items() if r.startswith("REFUSED CannotWeave")}
    assert all("register_ids" in p or p == "cluster+cluster" for p in refused)
    assert not {p: r for p, r in results.items() if r != "right" and p not in refused}


def in_child(*arguments: str) -> dict[str, str]:
    """The result of each pair that pair_runner.py ran with the arguments."""
    command = [sys.executable, str(HERE / "pair_runner.py"), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
        output, errors = done.stdout, done.stderr
    except subprocess.TimeoutExpired as expired:
        output, errors = (expired.stdout or b"").decode(), "no answer within the time limit"
    started = re.findall(r"START (\S+)", output)
    results = dict(re.findall(r"RESULT (\S+) (.*)", output))
    hung = [pair for pair in started if pair not in results]
    assert not hung, f"{hung[0]} hangs"
    assert results, errors
    return results


@pytest.mark.parametrize("shape", ["paper", "natural"])
def test_suite_a_in_small(shape: str) -> None:
    """All 28 pairs by every scheme, and the kernels coarsened, at the sizes of their `[check]`."""
    command = [sys.executable, "-m", "benchmarks.suite_a", "--small", "--commit", "test", "--shapes", shape]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
