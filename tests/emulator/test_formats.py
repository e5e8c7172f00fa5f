"""Formats against their definitions, and rounding into them against whole-number arithmetic."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from emulator.rounding import FORMATS, decoded, encoded, largest_code, telling_values
from hypothesis import given
from hypothesis import strategies as st

from goptx.emulator.floating.formats import decode, encode, round_to_odd_sum
from goptx.emulator.instructions.lanewise import DTYPES, Array

RANDOM = np.random.default_rng(7)
LARGE = ("f32", "tf32", "f16", "bf16")
SMALL = ("e5m2", "e4m3", "e2m3", "e3m2", "e2m1")
BITS = {"f32": np.uint32, "tf32": np.uint32, "f16": np.uint16, "bf16": np.uint16}


def scalar(value: float) -> Fraction | float:
    """As `rounding` wants it."""
    return Fraction(value) if math.isfinite(value) and value else value


def bits_of(rounded: Array, name: str) -> list[int]:
    """As plain numbers; of a tf32 the upper 19 bits, after a look at the others."""
    if name not in LARGE:
        assert rounded.dtype == np.uint8
        return [int(code) for code in rounded]
    assert rounded.dtype == DTYPES[name]
    bits = [int(code) for code in rounded.view(BITS[name])]
    if name == "tf32":
        assert not any(code & 0x1FFF for code in bits)
        return [code >> 13 for code in bits]
    return bits


DIRECTIONS = ("rn", "rz", "rm", "rp")


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """As the callers of both modules hold it."""
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("saturate", [False, True])
@pytest.mark.parametrize(
    ("name", "rounding"), [*itertools.product((*LARGE, *SMALL), DIRECTIONS), ("tf32", "rna"), ("bf16", "rna")]
)
def test_rounding(name: str, rounding: str, saturate: bool) -> None:
    values = telling_values(name)
    found = bits_of(encode(values, name, rounding, saturate=saturate), name)
    expected = [encoded(scalar(value), name, rounding, saturate=saturate) for value in values.tolist()]
    wrong = [(v.hex(), hex(f), hex(e)) for v, f, e in zip(values.tolist(), found, expected, strict=True) if f != e]
    assert not wrong


@pytest.mark.parametrize("rounding", DIRECTIONS)
@pytest.mark.parametrize("name", ["f32", "f16"])
def test_flushing(name: str, rounding: str) -> None:
    form = FORMATS[name]
    below = 1 - np.arange(40) * 2.0 ** (-form.mantissa - 4)  # by eighths of a step at the smallest normal number
    edge = np.ldexp(np.concatenate([below, np.nextafter(below, 0), np.nextafter(below, 2)]), form.lowest)
    values = np.concatenate([telling_values(name), edge, -edge])
    found = bits_of(encode(values, name, rounding, ftz=True), name)
    assert found == [encoded(scalar(value), name, rounding, ftz=True) for value in values.tolist()]


@pytest.mark.parametrize("name", SMALL)
def test_every_small_number(name: str) -> None:
    form = FORMATS[name]
    for code, value in enumerate(decode(np.arange(256, dtype=np.uint8), name).tolist()):
        expected = float(decoded(code % (2 * form.sign), name))
        assert value == expected or (math.isnan(value) and math.isnan(expected))
        assert math.copysign(1, value) == math.copysign(1, expected) or math.isnan(value)


@pytest.mark.parametrize("name", LARGE)
def test_every_kind_of_large_number(name: str) -> None:
    form = FORMATS[name]
    codes = [0, 1, 2**form.mantissa - 1, 2**form.mantissa, largest_code(form), largest_code(form) + 1, form.nan]
    codes += [int(code) for code in RANDOM.integers(0, form.sign, 500)]
    codes += [code | form.sign for code in codes]
    dropped = 13 if name == "tf32" else 0
    bits = np.array([code << dropped for code in codes], BITS[name])
    bits |= BITS[name]((1 << dropped) - 1)
    for code, value in zip(codes, decode(bits, name).tolist(), strict=True):
        expected = float(decoded(code, name))
        assert value == expected or (math.isnan(value) and math.isnan(expected))
        assert math.copysign(1, value) == math.copysign(1, expected) or math.isnan(value)


def test_floats_are_decoded_as_their_bits() -> None:
    for dtype, name in ((np.float16, "f16"), (np.float32, "f32")):
        values = np.array([0.1, -0.0, np.inf, 6e-8], dtype)
        assert decode(values, name).tolist() == decode(values.view(BITS[name]), name).tolist() == values.tolist()


@pytest.mark.parametrize("name", [*LARGE, *SMALL, "ue8m0"])
def test_no_dimension(name: str) -> None:
    for rounding in DIRECTIONS:
        for value in (0.0, 1.3, -1e-42, 1e39, math.nan):
            one = encode(np.array(value), name, rounding, saturate=True, ftz=True)
            (same,) = encode(np.array([value]), name, rounding, saturate=True, ftz=True)
            assert one.shape == () and one.tobytes() == same.tobytes()
            (again,) = decode(np.array([one]), name)
            assert decode(one, name).tobytes() == again.tobytes()


def test_exponents_alone() -> None:
    """ue8m0: powers of two from 2**-127 to 2**127 without sign or zero, 0xff for NaN."""
    assert decode(np.arange(256, dtype=np.uint8), "ue8m0").tolist()[:255] == [2.0 ** (e - 127) for e in range(255)]
    assert math.isnan(decode(np.array(255, np.uint8), "ue8m0"))
    tiny, large = 2.0**-127, 2.0**127
    values = [0.0, tiny / 2, tiny, tiny * 1.25, 2 * tiny, 1.0, 1.75, -1.75, large, large * 1.5, math.inf, math.nan]
    exact = np.array(values)
    assert encode(exact, "ue8m0", "rz").tolist() == [0, 0, 0, 0, 1, 127, 127, 127, 254, 254, 255, 255]
    assert encode(exact, "ue8m0", "rp").tolist() == [0, 0, 0, 1, 1, 127, 128, 128, 254, 255, 255, 255]
    assert encode(exact, "ue8m0", "rp", saturate=True).tolist()[-4:] == [254, 254, 254, 255]


doubles = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


@given(doubles, doubles, st.integers(-120, 120))
def test_sums_round_right_twice(a: float, b: float, distance: int) -> None:
    """Sums whose parts differ much in size, cancel or end in a tie: rounding to odd first acts like an exact sum."""
    for second in (b, -a, math.ldexp(math.frexp(b)[0], math.frexp(a)[1] + distance) if abs(a) < 1e250 else b):
        odd = round_to_odd_sum(np.array([a]), np.array([second]))
        exact = Fraction(a) + Fraction(second)
        if exact == Fraction(float(odd[0])):
            assert not exact or a + second == odd[0]
        else:
            assert int(odd.view(np.int64)[0]) & 1
            assert abs(Fraction(float(odd[0])) - exact) < Fraction(math.ulp(a + second))
        for name in LARGE:
            for rounding in DIRECTIONS:
                expected = encoded(exact or float(odd[0]), name, rounding)
                assert bits_of(encode(odd, name, rounding), name) == [expected]


def test_sums_at_ties() -> None:
    """Sums that float64 itself would round to a tie of the narrower format."""
    one, tie, crumb = np.array([1.0]), np.array([2.0**-24]), np.array([2.0**-90])
    above = encode(round_to_odd_sum(one + tie, crumb), "f32")
    below = encode(round_to_odd_sum(one + tie, -crumb), "f32")
    assert above.tolist() == [1 + 2.0**-23] and below.tolist() == [1.0]
    assert encode(one + tie + crumb, "f32").tolist() == [1.0]  # the trap


def test_sums_of_specials() -> None:
    a = np.array([np.inf, -np.inf, np.inf, np.nan, 1.0, 0.0, -0.0, 0.0, np.inf])
    b = np.array([1.0, 1.0, -np.inf, 1.0, np.nan, -0.0, -0.0, 5e-324, np.inf])
    np.testing.assert_array_equal(round_to_odd_sum(a, b), a + b)
    np.testing.assert_array_equal(np.signbit(round_to_odd_sum(a, b))[5:7], [False, True])
