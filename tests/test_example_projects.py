"""The example projects: they have the same files, and their woven kernels write what their kernels write alone.
.ci/readme.py builds them."""

from pathlib import Path

import pytest

import goptx

EXAMPLES = Path(__file__).parents[1] / "examples"
NAMES = ("saxpy", "mix")


@pytest.mark.parametrize("name", NAMES)
def test_package_has_the_kernels_of_the_cmake_project(name: str) -> None:
    copied = EXAMPLES / "python_package" / "kernels" / f"{name}.ptx"
    assert copied.read_bytes() == (EXAMPLES / "cmake" / f"{name}.sm_80.ptx").read_bytes()


def test_kernels_woven_do_what_they_do_alone() -> None:
    shapes = [goptx.Shape(4, 256), goptx.Shape(2, 128)]
    args = {"A:0": "f32[1000]", "A:1": "f32[1000]", "A:2": "f32:0.75", "A:3": "u32:1000"}
    args |= {"B:0": "u32[200]:1..1000", "B:1": "u32:9", "B:2": "u32:200"}
    kernels = [EXAMPLES / "cmake" / f"{name}.sm_80.ptx" for name in NAMES]
    check = goptx.check(*kernels, shapes=shapes, args=args)
    assert check, check
