"""Nsight Compute on a real GPU: every kernel is counted, and how many issue slots it uses is known."""

from pathlib import Path

import pytest

import goptx
from goptx.device.load import current_device
from goptx.errors import DeviceError
from goptx.launch.specification import read_specification
from goptx.measuring.profiling.metrics import STALLS
from goptx.measuring.profiling.ncu import NotPermitted, find_ncu
from goptx.measuring.profiling.profile_result import Profile
from goptx.options import Strategy

pytestmark = pytest.mark.gpu

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"


def profiled(strategy: Strategy) -> Profile:
    """GELU and WMMA in their small sizes."""
    try:
        current_device()
        find_ncu()
    except DeviceError as error:
        pytest.skip(str(error))
    small = [read_specification(KERNELS / f"{name}.toml")[0].small() for name in ("gelu", "wmma")]
    try:
        return goptx.profile(
            *(launch.file for launch in small),
            shapes=[goptx.Shape(launch.grid, launch.block, launch.shared) for launch in small],
            args=[launch.arguments for launch in small],
            strategy=strategy,
        )
    except NotPermitted as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(("strategy", "fused"), [("weave", ["fused"]), ("separate", ["fused 1", "fused 2"])])
def test_every_launch_is_counted(strategy: Strategy, fused: list[str]) -> None:
    done = profiled(strategy)
    assert [launch.title for launch in done.launches] == ["A gelu", "B wmma", *fused]
    for launch in done.launches:
        for metric in ("ISU", "AOC"):
            assert 0 < (launch.counts[metric] or 0) <= 100
        assert (launch.counts["time"] or 0) > 0
        assert (launch.counts["cycles"] or 0) > 100
        assert any(launch.counts[stall.short] for stall in STALLS)
    assert 0 < (done.issue_alone or 0) <= 100
    assert 0 < (done.issue_fused or 0) <= 100
