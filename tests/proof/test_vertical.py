"""Certificates of kernels that run one after the other in each thread."""

from __future__ import annotations

from pathlib import Path

import pytest

import goptx
from goptx.checking.certify import prove

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
PAIRS = [("harris", "lud"), ("softmax", "sort"), ("scan", "histogram"), ("wmma", "transpose"), ("sort", "sort")]


def kernel(name: str) -> Path:
    return KERNELS / f"{name}.sm_90.ptx"


@pytest.mark.parametrize("names", PAIRS, ids="-".join)
def test_examples_are_proved(names: tuple[str, str]) -> None:
    made = prove(goptx.fuse(*map(kernel, names), strategy="vertical"))
    assert made and made.strategy == "vertical", str(made)


def test_three_kernels_are_proved() -> None:
    assert prove(goptx.fuse(*map(kernel, ("lud", "harris", "scan")), strategy="vertical"))
