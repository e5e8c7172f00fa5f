"""Descriptions of arguments as text, their data, and the search for specifications."""

from pathlib import Path

import numpy as np
import pytest

import goptx
from goptx.launch.sample_data import POISON, sample
from goptx.launch.specification import Argument, described, find_specification


@pytest.mark.parametrize(
    ("text", "dtype", "low", "high"),
    [
        ("f32[1024]", np.float32, 0, 1),
        ("f16[1024]", np.float16, 0, 1),
        ("f64[1024]:-2..2.5", np.float64, -2, 2.5),
        ("i32[1024]", np.int32, 0, 99),
        ("u8[1024]", np.uint8, 0, 99),
        ("i16[1024]:-5..5", np.int16, -5, 4),
        ("u64[1024]:0..0x10", np.uint64, 0, 15),
    ],
)
def test_random_arrays(text: str, dtype: type[np.generic], low: float, high: float) -> None:
    array = sample(described("A:0", text), 0)
    assert isinstance(array, np.ndarray)
    assert array.dtype == dtype
    assert array.shape == (1024,)
    assert array.min() >= low and array.max() <= high
    if dtype(0).dtype.kind in "iu":
        assert len(np.unique(array)) == high - low + 1
    else:
        assert len(np.unique(array)) > 500


def test_other_arrays_and_scalars() -> None:
    assert sample(described("A:0", "f32[3]:zeros"), 0).tolist() == [0, 0, 0]
    assert sample(described("A:0", "u16[3]:arange"), 0).tolist() == [0, 1, 2]
    for text, value in (
        ("i32:-7", np.int32(-7)),
        ("u8:0xff", np.uint8(255)),
        ("i64:-9223372036854775808", np.int64(-(1 << 63))),
        ("f32:1.5", np.float32(1.5)),
        ("f64:-inf", np.float64(-np.inf)),
    ):
        got = sample(described("A:0", text), 0)
        assert (got, got.dtype) == (value, value.dtype)


@pytest.mark.parametrize(
    "text",
    """f32 f32[] f32[0] f32[-1] f32[1.5] f32[4 f32[4]: f32[4]:ones f32[4]:1 f32[4]:2..1 f32[4]:1..1 i32[4]:0..1.5 f31[4]
    bf16[4] float32[4] i8:128 i8:-129 u8:256 u8:-1 i32: i32:x i32:1.0 f32:x [4] :1 i8[4]:0..300""".split(),
)
def test_descriptions_that_cannot_be_read(text: str) -> None:
    with pytest.raises(
        goptx.InputError, match=r"argument A:0 \(x\): `.*` cannot be read; .*f32\[1024\].*i32:1024.*bf16"
    ):
        described("A:0 (x)", text)


def test_equal_seeds_equal_data() -> None:
    first, second = (Argument("x", "float32", None, 100, "uniform", 0, 1, seed) for seed in (1, 2))
    assert sample(first, 5).tobytes() == sample(first, 5).tobytes()
    assert sample(first, 5).tobytes() != sample(second, 5).tobytes()
    assert sample(first, 5).tobytes() != sample(first, 6).tobytes()


def test_generators_of_specifications() -> None:
    normal = sample(Argument("x", "float64", None, 10000, "normal", 3, 0.5), 0)
    assert isinstance(normal, np.ndarray)
    assert abs(normal.mean() - 3) < 0.05 and abs(normal.std() - 0.5) < 0.05
    assert set(sample(Argument("x", "float32", None, 100, "integers", -1, 2), 0).tolist()) == {-1, 0, 1}
    out = sample(Argument("x", "float32", None, 10, role="out"), 0)
    assert out.tobytes() == bytes([POISON]) * 40


def test_data_that_cannot_be_made() -> None:
    with pytest.raises(goptx.InputError, match="argument x: `bf16` is not a numpy dtype"):
        sample(Argument("x", "bf16", None, 4, "zeros"), 0)
    with pytest.raises(goptx.InputError, match="argument x: 1000000000 elements of float32 are too many to emulate"):
        sample(Argument("x", "float32", None, 10**9, "zeros"), 0)


SPECIFICATION = '[[kernel]]\nfile = "a.ptx"\nentry = "a"\ngrid = [1]\nblock = [32]\n'


@pytest.mark.parametrize("name", ["a.ptx", "a.sm_90.ptx", "a.sm_100a.ptx", "a"])
def test_a_specification_lies_beside_its_file(name: str, tmp_path: Path) -> None:
    assert find_specification(tmp_path / name, "a") is None
    (tmp_path / "a.toml").write_text(SPECIFICATION)
    launch = find_specification(tmp_path / name, "a")
    assert launch is not None and launch.block == (32,)
    assert find_specification(tmp_path / name, "b") is None
