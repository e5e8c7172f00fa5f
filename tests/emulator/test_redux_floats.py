"""`redux.sync` of floats against Python's min and max."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from emulator.snippets import run

LANES = 64


def reduced(values: list[float], operation: str, absolute: bool, nan_wins: bool) -> float:
    numbers = [abs(v) if absolute else v for v in values]
    if any(map(math.isnan, numbers)) and (nan_wins or all(map(math.isnan, numbers))):
        return math.nan
    found = [v for v in numbers if not math.isnan(v)]
    choose = min if operation == "min" else max
    return choose(found, key=lambda v: (v, math.copysign(1, v)))  # -0 is below +0


@pytest.mark.parametrize(("operation", "modifiers"), list(product(("min", "max"), ("", ".abs", ".NaN", ".abs.NaN"))))
@pytest.mark.parametrize("kind", ["numbers", "zeros", "one NaN", "all NaN"])
def test_reductions_by_two_masks(operation: str, modifiers: str, kind: str) -> None:
    """The first warp with one mask, the second with two of 16 lanes."""
    values = np.random.default_rng(5).normal(size=LANES).astype(np.float32)
    values[3], values[40] = np.inf, -np.inf
    if kind == "zeros":
        values = np.where(np.arange(LANES) % 3 == 0, -0.0, 0.0).astype(np.float32)
    values[[5, 50] if kind == "one NaN" else slice(0, LANES if kind == "all NaN" else 0)] = np.nan
    out = np.zeros(LANES, np.float32)
    body = f"""
        mov.u32 %r1, %tid.x; mul.wide.u32 %rd5, %r1, 4; add.u64 %rd6, %rd0, %rd5; add.u64 %rd7, %rd1, %rd5;
        ld.global.f32 %f1, [%rd6]; mov.u32 %r3, -1; setp.ge.u32 %p1, %r1, 32; setp.ge.u32 %p2, %r1, 48;
        @%p1 mov.u32 %r3, 0xffff; @%p2 mov.u32 %r3, 0xffff0000;
        redux.sync.{operation}{modifiers}.f32 %f2, %f1, %r3; st.global.f32 [%rd7], %f2;
    """
    run(body, values, out, block=LANES)
    wanted: list[float] = []
    for group in (values[:32], values[32:48], values[48:]):
        wanted += [reduced(group.tolist(), operation, "abs" in modifiers, "NaN" in modifiers)] * len(group)
    expected = np.array(wanted, np.float32)
    same = (out == expected) & (np.signbit(out) == np.signbit(expected)) | np.isnan(expected)
    assert same.all()
    assert (out.view(np.uint32)[np.isnan(expected)] == 0x7FFFFFFF).all()
    assert (np.isnan(out) == np.isnan(expected)).all()
