"""Code of nvcc, Triton and Numba, run and compared with the meaning of its source (tests/emulator/compiled/)."""

from __future__ import annotations

import math
import struct
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import goptx
from goptx.emulator.emulation import Emulation
from goptx.ptx.ir import Module

FOLDER = Path(__file__).parent / "compiled"
RANDOM = np.random.default_rng(11)


@cache
def module(name: str) -> Module:
    return goptx.read(FOLDER / f"{name}.sm_80.ptx")


def cuda(entry: str, grid: Any, block: Any, *arguments: object, **options: Any) -> Emulation:
    return goptx.emulate(module("cuda"), grid, block, arguments, entry=entry, **options)


def integers(low: int, high: int, count: int, dtype: Any = np.int32) -> np.ndarray:
    return RANDOM.integers(low, high, count).astype(dtype)


# nvcc -----------------------------------------------------------------------------------------------


def test_structures() -> None:
    n = 70
    given = np.frombuffer(RANDOM.bytes(24 * n), np.uint8).reshape(n, 24).copy()
    out, sums = np.zeros_like(given), np.zeros(n, np.float32)
    record = struct.pack("<dfih5sx", 1.5, 0.25, 7, -3, bytes([1, 2, 3, 255, 5]))
    pair = np.array((2, 0.5), [("a", "i4"), ("b", "f4")])
    cuda("structures", 3, 32, record, pair, given, out, sums, n)
    assert (out[:, :23] == given[::-1, :23]).all()
    assert sums.tolist() == [1.5 + 0.25 * i + 7 - 3 + (1, 2, 3, -1, 5)[i % 5] + 1 for i in range(n)]


def test_slow_paths() -> None:
    """Reduction of large angles through a table and local memory; logarithm and exponential in doubles."""
    x = np.array([0.0, -0.0, 1, -2, 1e5, 1.06e5, -3e20, 3e38, 1e-40, math.inf, math.nan, 7.5, 22, 1e9], np.float32)
    y = np.array([0.5, 2, -3, 1e10, 0.1, math.inf, 2.5, 0, -0.0, -1, 1e-300, 1, 700, -2])
    sines, powers = np.zeros(14, np.float32), np.zeros(14)
    cuda("slow_paths", 1, 32, x, sines, y, powers, 14)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(sines, np.sin(x.astype(float)).astype(np.float32), rtol=3e-7)
        np.testing.assert_allclose(powers, np.power(y, np.roll(y, -1)), rtol=1e-14)


def test_wide_integers() -> None:
    x, y = (np.frombuffer(RANDOM.bytes(256), np.int64).copy() for _ in range(2))
    y[::3] >>= 40
    x[1], y[1] = -(1 << 63), 3
    out = np.zeros((32, 4), np.int64)
    cuda("wide", 1, 32, x, y, out)

    def quotient(a: int, b: int) -> int:
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)

    for a, b, got in zip(x.tolist(), y.tolist(), out.tolist(), strict=True):
        product = quotient(a * b, b + 7)
        want = [product, product >> 64, quotient(a, b), a % (1 << 64) % (b % (1 << 64))]
        assert [v % (1 << 64) for v in got] == [v % (1 << 64) for v in want]


def test_halves() -> None:
    x, y = (RANDOM.normal(size=(32, 2)).astype(np.float16) for _ in range(2))
    b = (RANDOM.normal(size=32).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    out, c = np.zeros_like(x), np.zeros_like(b)
    cuda("halves", 1, 32, x, y, out, b, c)
    exact = x.astype(float) * y + np.maximum(x, y)
    assert (out == exact.astype(np.float16)).all()
    wide, got = ((v.astype(np.uint32) << 16).view(np.float32).astype(float) for v in (b, c))
    np.testing.assert_allclose(got, wide * wide + wide, rtol=2.0**-8)


def test_choices() -> None:
    x, out = integers(-2, 12, 100), np.zeros(100, np.int32)
    cuda("choices", 1, 100, x, out, 100)
    fixed = {0: 11, 1: 6, 2: 98, 3: 103, 6: 6 ^ 0x55, 9: 100}
    assert out.tolist() == [{4: i, 5: i * i}.get(v, fixed.get(v, 1234)) for i, v in enumerate(x.tolist())]


def test_calls_of_itself_and_through_tables() -> None:
    out = np.zeros(32, np.int32)
    cuda("calls", 1, 32, out)
    assert out.tolist() == [(i * i if i & 1 else 3 * i) + 1000 * (0, 1, 1, 2, 3, 5, 8)[i % 7] for i in range(32)]


def test_initial_values() -> None:
    out = np.zeros(32, np.int32)
    cuda("initial", 1, 32, out)
    letters = [ord(name[1]) for name in ("zero", "one", "two")]
    quads = ((1, 2, 3, 4), (5, 6, 7, 8))
    assert out.tolist() == [letters[i % 3] + (7 + 3, 5 + 5)[i & 1] + quads[i % 2][i % 4] for i in range(32)]


def test_printf() -> None:
    lines = [
        f"{i} {i * 1.5:5.2f} {('even', 'odd')[i & 1]} {chr(97 + i)} {i << 40} % {i:<4d}| {i * 255:x}\n"
        for i in range(5)
    ]
    assert cuda("report", 1, 8, 5).printed == "".join(lines)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_last_block_adds_up(seed: int) -> None:
    given = integers(0, 99, 8 * 64)
    parts, out, histogram = np.zeros(8, np.int32), np.zeros(2, np.int32), np.zeros(8, np.int32)
    cuda("last_block", 8, 64, given, parts, out, histogram, races=True, seed=seed)
    assert out.tolist() == [given.sum(), (given % 2).sum()]
    assert histogram.tolist() == np.bincount(given % 8, minlength=8).tolist()


@pytest.mark.parametrize("seed", [0, 1])
def test_asynchronous_stages(seed: int) -> None:
    given, out = integers(0, 99, 5 * 128), np.zeros(128, np.int32)
    cuda("stages", 1, 128, given, out, 5, seed=seed)
    assert out.tolist() == [sum(int(given[128 * k + (7 * i + k) % 128]) for k in range(5)) for i in range(128)]


def test_spaces() -> None:
    out = np.zeros(32, np.int32)
    cuda("spaces", 1, 32, np.array([9], np.int32), out)
    assert out.tolist() == [(701, i * 100 + 2, 904)[i % 3] for i in range(32)]


# Triton, whose kernels have two more parameters, for scratch memory --------------------------------------


def test_triton_softmax() -> None:
    x = RANDOM.normal(size=(3, 400)).astype(np.float32)
    out = np.zeros_like(x)
    goptx.emulate(module("triton_softmax"), 3, 128, [x, out, 400, 400, None, None], shared=16)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(axis=1, keepdims=True), rtol=1e-5)


def test_triton_product() -> None:
    """`cp.async` in three stages, `ldmatrix` and `mma`, with addresses that avoid bank conflicts."""
    a, b = ((RANDOM.integers(-8, 9, shape) / 8).astype(np.float16) for shape in ((64, 128), (128, 64)))
    c = np.zeros((64, 64), np.float16)
    goptx.emulate(module("triton_product"), (2, 2), 128, [a, b, c, 64, 64, 128, None, None], shared=8192, races=True)
    assert (c == (a.astype(float) @ b).astype(np.float16)).all()


def test_triton_histogram() -> None:
    x, out = integers(0, 10, 608), np.zeros(10, np.int32)
    goptx.emulate(module("triton_histogram"), 3, 128, [x, out, 608, None, None], shared=2048)
    assert out.tolist() == np.bincount(x, minlength=10).tolist()


# nvcc without optimisation: objects live in local memory, and fields of bits are set one by one ----------


def test_coalesced_threads_of_a_debug_build() -> None:
    n = 200
    given = RANDOM.integers(0, 13, n, np.int32)
    out, total = np.zeros(n, np.int32), np.zeros(1, np.int32)
    goptx.emulate(module("unoptimised"), 4, 64, [given, out, total, np.int32(n)])
    odd = given & 1 == 1
    padded = np.concatenate([odd, np.zeros(24, bool)]).reshape(-1, 32)
    ranks = (np.cumsum(padded, axis=1) - 1 + 100 * padded.sum(axis=1, keepdims=True)).ravel()[:n]
    assert out.tolist() == np.where(odd, ranks, 0).tolist() and total[0] == odd.sum()


# Numba, whose arrays are seven parameters or more ------------------------------------------------------


def parameters(array: np.ndarray) -> list[object]:
    return [0, 0, array.size, array.itemsize, array, *array.shape, *array.strides]


def test_numba_division() -> None:
    x, y = integers(-(10**12), 10**12, 100, np.int64), integers(1, 999, 100, np.int64)
    y[::2] *= -1
    out = np.zeros(100, np.int64)
    goptx.emulate(module("numba_division"), 1, 128, [v for a in (x, y, out) for v in parameters(a)])
    assert (out == x // y * 1000 + x % y).all()


def test_numba_tiles() -> None:
    a, b = (integers(-9, 9, 1024, np.float32).reshape(32, 32) for _ in range(2))
    c = np.zeros_like(a)
    goptx.emulate(module("numba_tiles"), (2, 2), (16, 16), [v for m in (a, b, c) for v in parameters(m)], races=True)
    assert (c == a @ b).all()
