"""The ten realistic kernels of examples/ give the same results as a few lines of numpy, or hashlib.

Each runs alone on the strict emulator with race detection, in two orders of its warps and for both architectures.
Rounded results are compared within their rounding; all others are exact.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import goptx
from goptx.device.assemble import assemble, find_ptxas
from goptx.launch.sample_data import sample
from goptx.launch.specification import read_specification

KERNELS = Path(__file__).parents[1] / "examples" / "kernels"

Array = np.ndarray[Any, np.dtype[Any]]
Reference = Callable[..., dict[str, Array]]


def reduce(x: Array, n: int, **_: Any) -> dict[str, Array]:
    """Of whole numbers, so that no sum is rounded. CTAs take turns at 1024 elements; the rest is the first one's."""
    whole = n // 4 * 4
    cta = np.arange(whole) // 1024 % 4
    partial = np.bincount(cta, weights=x[:whole])
    partial[0] += x[whole:].sum()
    return {"partial": partial, "ticket": np.zeros(1), "sum": x.sum(keepdims=True)}


def scan(**given: Any) -> dict[str, Array]:
    tiles = [given["in"][i : i + 1024] for i in range(0, given["n"], 1024)]
    sums = [np.cumsum(tile, dtype=np.uint32) for tile in tiles]
    return {
        "out": np.concatenate([s - tile for s, tile in zip(sums, tiles, strict=True)]),
        "totals": np.array([s[-1] for s in sums]),
    }


def histogram(x: Array, low: np.float32, scale: np.float32, bins: int, **_: Any) -> dict[str, Array]:
    position = (x - low) * scale
    inside = position[(position >= 0) & (position < bins)]
    assert 0 < len(inside) < len(x)
    return {"counts": np.bincount(inside.astype(int), minlength=bins)}


def stencil(k: float, width: int, height: int, **given: Any) -> dict[str, Array]:
    u = given["in"].reshape(height, width).astype(np.float64)
    p = np.pad(u, 1, mode="edge")
    around = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
    return {"out": (u + k * (around - 4 * u)).ravel()}


def transpose(width: int, height: int, **given: Any) -> dict[str, Array]:
    return {"out": given["in"].reshape(height, width).T.ravel()}


def gemm(a: Array, b: Array, m: int, n: int, k: int, **_: Any) -> dict[str, Array]:
    return {"c": (a.reshape(m, k).astype(np.float64) @ b.reshape(k, n).astype(np.float64)).ravel()}


def pipeline(taps: Array, **given: Any) -> dict[str, Array]:
    return {"out": np.correlate(given["in"].astype(np.float64), taps.astype(np.float64))}


def softmax(rows: int, columns: int, **given: Any) -> dict[str, Array]:
    x = given["in"].reshape(rows, columns).astype(np.float64)
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return {"out": (powers / powers.sum(axis=1, keepdims=True)).ravel()}


def layernorm(gamma: Array, beta: Array, epsilon: float, rows: int, columns: int, **given: Any) -> dict[str, Array]:
    x = given["in"].reshape(rows, columns).astype(np.float64)
    centred = x - x.mean(axis=1, keepdims=True)
    return {"out": (centred / np.sqrt(x.var(axis=1, keepdims=True) + epsilon) * gamma + beta).ravel()}


def sha256(messages: Array, lengths: Array, stride: int, n: int, **_: Any) -> dict[str, Array]:
    texts = [messages[i * stride :][:length].tobytes() for i, length in enumerate(lengths[:n])]
    return {"digests": np.frombuffer(b"".join(hashlib.sha256(text).digest() for text in texts), np.uint8)}


EXACT: dict[str, Any] = {"rtol": 0}
ROUNDED: dict[Reference, dict[str, Any]] = {
    stencil: {"rtol": 1e-6},  # a few roundings to 24 bits, none of a small difference
    gemm: {"rtol": 0, "atol": 2e-6},  # 72 products of at most 1
    pipeline: {"rtol": 0, "atol": 2e-6},  # 16 products of at most 1
    softmax: {"rtol": 5e-6},  # ex2.approx of arguments down to -32, which are rounded to 2^-20
    layernorm: {"rtol": 0, "atol": 2e-6},  # rsqrt.approx and div.approx, values of at most 4
}
REFERENCES: tuple[Reference, ...] = (reduce, scan, histogram, transpose, sha256, *ROUNDED)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("reference", REFERENCES, ids=lambda r: r.__name__)
def test_kernel_gives_what_its_reference_gives(reference: Reference, arch: str) -> None:
    launch = read_specification(KERNELS / f"{reference.__name__}.toml")[0].small()
    file = launch.file.with_name(f"{launch.entry}.{arch}.ptx")
    names = [a.name for a in launch.arguments]
    expected = reference(**dict(zip(names, map(sample, launch.arguments), strict=True)))
    assert list(expected) == [a.name for a in launch.arguments if a.role != "in" and a.is_array]
    for seed in (0, 1):
        values: list[Any] = [sample(a) for a in launch.arguments]
        goptx.emulate(file, launch.grid, launch.block, values, shared=launch.shared, races=True, seed=seed)
        for name, value in expected.items():
            left = values[names.index(name)]
            np.testing.assert_allclose(left, value, err_msg=name, **ROUNDED.get(reference, EXACT))


# FIPS 180-2, appendix B, and the standard's validation system: none of them made by hashlib.
LONG = b"".join(bytes(range(first, first + 8)) for first in range(ord("a"), ord("n") + 1))  # abcdefgh bcdefghi ...
VECTORS = {
    b"": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    b"abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq": (
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    LONG: "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
}


@pytest.mark.slow
def test_sha256_of_published_vectors() -> None:
    digests = np.zeros(32 * len(VECTORS), np.uint8)
    text = b"".join(message.ljust(112, b"\xaa") for message in VECTORS)
    lengths = np.array([len(message) for message in VECTORS], np.uint32)
    arguments = [np.frombuffer(text, np.uint8), lengths, digests, np.uint32(112), np.uint32(len(VECTORS))]
    goptx.emulate(KERNELS / "sha256.sm_90.ptx", 1, 32, arguments)
    assert [digest.tobytes().hex() for digest in digests.reshape(-1, 32)] == list(VECTORS.values())


@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("reference", REFERENCES, ids=lambda r: r.__name__)
def test_kernel_assembles_without_spills(reference: Reference, arch: str) -> None:
    made = assemble((KERNELS / f"{reference.__name__}.{arch}.ptx").read_text(), entry=reference.__name__)
    assert made.arch == arch
    assert made.spill_store_bytes == made.spill_load_bytes == 0
