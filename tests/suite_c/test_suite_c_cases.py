"""The kernels of suite C are right on the emulator, in the sizes for checks; its pairs and groups have the sizes of
their tables."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import goptx
from goptx.launch.sample_data import sample
from goptx.launch.specification import Argument, read_specification

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from suite_c import FITTED, FOLDER, PAIRS, specifications_of
from suite_c.cases import BARS, GROUPS, bar_of, given, is_known, kernels_of, measured_of
from suite_c.sizes import Sized
from unseen import HELD_OUT
from unseen import PAIRS as UNSEEN_PAIRS

BENCHMARKS = FOLDER.parent
OWN = sorted(path.stem for path in (FOLDER / "kernels").glob("*.toml"))
HALF: Mapping[str, Any] = {"rtol": 1.5e-3, "atol": 2e-4}
FLOAT: Mapping[str, Any] = {"rtol": 2e-5, "atol": 2e-6}
Arguments = Mapping[str, Any]


# Kernels


def adam_step(a: Arguments) -> Arguments:
    p, g, m, v = (a[name].astype(float) for name in "pgmv")
    first, second = m + (1 - a["beta1"]) * (g - m), v + (1 - a["beta2"]) * (g * g - v)
    return {"p": p - a["rate"] * first / (np.sqrt(second) + a["eps"]), "m": first, "v": second}


def embedding(a: Arguments) -> Arguments:
    return {"y": a["table"].reshape(-1, 4096)[a["index"]].ravel()}


def head_norm(a: Arguments) -> Arguments:
    x = a["x"].astype(float).reshape(-1, 128)
    return {"x": (x / np.sqrt((x * x).mean(1, keepdims=True) + a["eps"]) * a["weight"]).ravel()}


def dequantise(a: Arguments) -> Arguments:
    nibbles = a["packed"].view(np.uint32)[:, None] >> np.arange(0, 32, 4, dtype=np.uint32) & 15
    by_group = nibbles.reshape(-1, 128).astype(float)
    return {"y": ((by_group - a["zero"][:, None]) * a["scale"][:, None].astype(float)).ravel()}


def product(a: Arguments) -> Arguments:
    m, n, k = (int(a[name]) for name in "mnk")
    left, right = (a[name].astype(float).reshape(shape) for name, shape in (("a", (m, k)), ("b", (k, n))))
    return {"c": (left @ right).ravel()}


def attention(a: Arguments) -> Arguments:
    q, k, v = (a[name].astype(float).reshape(-1, int(a["tokens"]), 64) for name in "qkv")
    score = np.exp2(q @ k.transpose(0, 2, 1) * float(a["scale"]))
    return {"y": (score / score.sum(-1, keepdims=True) @ v).ravel()}


REFERENCES = {made.__name__: made for made in (adam_step, embedding, head_norm, dequantise)}
ON_TENSOR_CORES = {"product": product, "narrow_product": product, "attention": attention}


def compare(name: str, reference: Callable[[Arguments], Arguments], ptx: object, seed: int, shared: int) -> None:
    launch = read_specification(FOLDER / "kernels" / f"{name}.toml")[0].small()
    launch = replace(launch, arguments=tuple(map(_few_rows, launch.arguments)))
    values = [sample(argument, seed) for argument in launch.arguments]
    before = {a.name: np.copy(value) for a, value in zip(launch.arguments, values, strict=True)}
    goptx.emulate(ptx, launch.grid, launch.block, values, entry=launch.entry, shared=shared)
    expected = reference(before)
    assert set(expected) == {a.name for a in launch.arguments if a.is_array and a.role != "in"}
    for argument, left in zip(launch.arguments, values, strict=True):
        if argument.name in expected:
            allowed = HALF if argument.dtype == "float16" else FLOAT
            np.testing.assert_allclose(np.asarray(left), expected[argument.name], err_msg=argument.name, **allowed)


def _few_rows(argument: Argument) -> Argument:
    """The table of embeddings has 40 rows, so that it is made quickly."""
    argument = replace(argument, length=40 * 4096) if argument.name == "table" else argument
    return replace(argument, high=40) if argument.name == "index" else argument


@pytest.mark.slow(all_cases=True)
@pytest.mark.parametrize("name", REFERENCES)
def test_kernel_gives_what_its_reference_gives(name: str) -> None:
    launch = read_specification(FOLDER / "kernels" / f"{name}.toml")[0]
    for seed in (0, 1):
        compare(name, REFERENCES[name], launch.file, seed, launch.shared)


@pytest.fixture(scope="module")
def source() -> ModuleType:
    """kernels/make.py, which needs Triton."""
    pytest.importorskip("triton")
    spec = importlib.util.spec_from_file_location("suite_c_kernels", FOLDER / "kernels" / "make.py")
    assert spec and spec.loader
    module = sys.modules["suite_c_kernels"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow(all_cases=True)
@pytest.mark.parametrize("name", ON_TENSOR_CORES)
def test_kernel_on_tensor_cores_gives_what_its_reference_gives(name: str, source: ModuleType) -> None:
    """As Triton compiles it for sm_80: the emulator lacks `wgmma`."""
    ptx, about = source.made(source.KERNELS[name], architecture=80)
    compare(name, ON_TENSOR_CORES[name], ptx, 0, about.shared)


def test_every_kernel_has_a_reference() -> None:
    assert sorted([*REFERENCES, *ON_TENSOR_CORES]) == OWN


@pytest.mark.parametrize("name", OWN)
def test_specification_fits_the_kernel(name: str) -> None:
    """As many arguments as parameters, of their sizes; sizes for checks are of arguments that there are."""
    path = FOLDER / "kernels" / f"{name}.toml"
    (launch,) = read_specification(path)
    (entry,) = goptx.read(launch.file).entries
    assert entry.name == launch.entry and ".file" not in launch.file.read_text()
    assert [p.size for p in entry.parameters] == [
        8 if a.is_array else np.dtype(a.dtype).itemsize for a in launch.arguments
    ]
    check, names = tomllib.loads(path.read_text())["check"], {a.name: a.is_array for a in launch.arguments}
    assert all(names[one] for one in check["lengths"]) and not any(names[one] for one in check.get("values", ()))


# Pairs and groups


def test_no_pair_is_held_out_of_what_rules_are_fitted_on() -> None:
    assert not {*PAIRS} & {*UNSEEN_PAIRS[HELD_OUT]} and {*FITTED} < {*PAIRS}
    assert len(PAIRS) == len({*PAIRS}) == 18 and {*BARS} < {*PAIRS}
    assert bar_of("softmax+dropout") == 0.99 and bar_of(FITTED[0]) == 1.17
    assert all(map(is_known, (*PAIRS, *GROUPS))) and not is_known("product")


def test_kernels_of_unseen_are_used_where_they_are_the_same() -> None:
    paths = [path.relative_to(BENCHMARKS).as_posix() for path in specifications_of("product+softmax")]
    assert paths == ["suite_c/kernels/product.toml", "unseen/kernels/triton/softmax.toml"]


@pytest.mark.parametrize(
    ("name", "kernel", "grid", "sizes"),
    [
        ("product+softmax", 1, (16384,), {"x": 16384 * 4096, "columns": 4096}),
        ("product+dropout", 1, (65536,), {"n": 1 << 26}),
        ("attention+decode_attention", 1, (64, 16), {"k": 1024 * 2048 * 128, "tokens": 2048}),
        ("softmax+cross_entropy", 1, (4096,), {"logits": 4096 * 50257}),
        ("small_product+dropout", 0, (64,), {"m": 1024, "n": 1024, "k": 4096, "b": 4096 * 1024}),
        ("product+adam_step", 1, (32768,), {"p": 1 << 25}),
        ("query and key norms, 1 tokens", 1, (1,), {"x": 1024, "rows": 8}),
        ("two small GEMMs, 128 tokens", 0, (32,), {"m": 128, "n": 1024, "k": 4096, "a": 128 * 4096}),
        ("GEMM with 64 rows and GEMV", 0, (64,), {"m": 64, "n": 4096, "c": 64 * 4096}),
    ],
)
def test_sizes_of_the_table(name: str, kernel: int, grid: tuple[int, ...], sizes: Mapping[str, int]) -> None:
    launch = kernels_of(name)[kernel].launch()
    assert launch.grid == grid
    assert {a.name: a.length or a.value for a in launch.arguments if a.name in sizes} == sizes


def test_groups_have_tokens_of_the_issue_and_several_kernels() -> None:
    assert {name for name in GROUPS if "norms" in name} == {
        f"query and key norms, {n} tokens" for n in (1, 8, 32, 128, 256, 2048)
    }
    assert all(len(kernels) > 1 for kernels in GROUPS.values())


def test_a_size_of_an_argument_that_is_not_there_is_refused() -> None:
    with pytest.raises(KeyError, match="softmax has no argument rows"):
        Sized("softmax", values={"rows": 1}).launch()


def test_what_is_measured_has_the_size_of_the_case() -> None:
    found = measured_of("three GEMVs, 1 token")
    assert [shape.ctas for shape in found.shapes] == [1024, 256, 256]
    lengths = [[getattr(a, "length", 0) for a in own][:3] for own in found.workload.arguments]
    assert lengths == [[4096, 4096 * 4096, 4096], *[[1024, 1024 * 4096, 4096]] * 2]
    small = measured_of("three GEMVs, 1 token", small=True)
    assert [shape.ctas for shape in small.shapes] == [2, 2, 2]
    assert given("product+adam_step")["args"] is None, "which has the sizes of its specifications"
