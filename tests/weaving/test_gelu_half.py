"""GELU in half precision, the eighth kernel of suite A: what it computes, in which arithmetic, and woven."""

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import goptx
from goptx.launch.sample_data import sample

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from suite_a import HALF, launches_of  # noqa: E402


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("grid", [4, 1])
def test_computes_gelu(grid: int, arch: str) -> None:
    """x sigmoid(1.702 x) within the roundings of half precision; one CTA takes several turns of the loop."""
    (launch,) = launches_of(HALF)
    small = launch.small()
    given: list[Any] = [sample(argument) for argument in small.arguments]
    x = given[0].astype(np.float64)
    goptx.emulate(small.file.with_name(f"{HALF}.{arch}.ptx"), grid, 256, given, races=True)
    expected = x / (1 + np.exp(-1.702 * x))
    assert not np.array_equal(given[0], x.astype(np.float16))
    assert np.abs(given[0].astype(np.float64) - expected).max() < 4e-3


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_its_arithmetic_is_of_half_precision(arch: str) -> None:
    """In the loop; constants are converted before it."""
    (launch,) = launches_of(HALF)
    loop = launch.file.with_name(f"{HALF}.{arch}.ptx").read_text().partition('.pragma "nounroll"')[2]
    assert re.findall(r"(\w+)(?:\.\w+)*\.f16x2", loop) == ["mul", "mul", "tanh", "fma"] and ".f32" not in loop


@pytest.mark.slow
def test_woven_with_wmma() -> None:
    launches = launches_of(f"{HALF}+wmma")
    check = goptx.check(*[one.file for one in launches], races=True)
    assert check, check
