"""Approximate instructions: the ISA's bounds, and its tables of special cases."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction

import pytest
from emulator.floating_opcodes import APPROXIMATE, Bound
from emulator.floating_reference import WIDTHS, executed, instruction, packed, root
from emulator.rounding import FORMATS, decoded, encoded, floor_log2

from goptx.emulator.floating.floating import floating

# Of the exact value of an operand, nearly exactly: float64 is far closer than any bound of f32 or less.
FUNCTIONS: dict[str, Callable[..., Fraction]] = {
    "div": lambda a, b: a / b,
    "rcp": lambda a: 1 / a,
    "sqrt": lambda a: Fraction(root(a)),
    "rsqrt": lambda a: 1 / Fraction(root(a)),
    "sin": lambda a: Fraction(math.sin(a)),
    "cos": lambda a: Fraction(math.cos(a)),
    "lg2": lambda a: Fraction(math.log2(a)),
    "ex2": lambda a: Fraction(math.exp2(a)) if a > -1000 else Fraction(0),
    "tanh": lambda a: Fraction(math.tanh(a)),
}
POSITIVE = ("sqrt", "rsqrt", "lg2")


def format_of(opcode: str) -> str:
    return opcode.rpartition(".")[2].removesuffix("x2")


def operands_within(opcode: str, bound: Bound, count: int) -> list[int]:
    """Normal numbers of all magnitudes within the bound's range, and subnormal ones where they count."""
    chance = random.Random(opcode)
    base, format = opcode.split(".")[0], format_of(opcode)
    form = FORMATS[format]
    least = max(bound.lowest, 2.0 ** (form.lowest - (0 if "ftz" in opcode else form.mantissa)))
    most = min(bound.highest, float(form.largest), {"ex2": float(form.bias + 1)}.get(base, math.inf))
    codes = [encoded(Fraction(end), format, way) for end, way in ((least, "rp"), (most, "rm"))]
    while len(codes) < count:
        size = 2 ** chance.uniform(math.log2(least), math.log2(most))
        sign = 1 if base in POSITIVE or chance.random() < 0.5 else -1
        codes.append(encoded(Fraction(sign * min(max(size, least), most)), format, "rn"))
    return codes


def close_enough(found: int, exact: Fraction, bound: Bound, format: str, ftz: bool) -> bool:
    form = FORMATS[format]
    smallest = Fraction(2) ** form.lowest
    value = decoded(found, format)
    if ftz and abs(exact) < smallest and value == 0:
        return True
    if abs(exact) > form.largest:
        return value == (math.inf if exact > 0 else -math.inf) or abs(value) == form.largest
    exponent = max(floor_log2(abs(exact)), form.lowest) if exact else form.lowest
    unit = {"abs": Fraction(1), "rel": abs(exact), "ulp": Fraction(2) ** (exponent - form.mantissa)}[bound.kind]
    allowed = Fraction(bound.value) * unit + smallest / 2 ** (form.mantissa + 1)
    return bool(abs(Fraction(value) - exact) <= allowed)


@pytest.mark.parametrize("opcode", [opcode for opcode in APPROXIMATE if not opcode.endswith("x2")])
def test_within_the_bound(opcode: str) -> None:
    base, format = opcode.split(".")[0], format_of(opcode)
    chance = random.Random(opcode)
    for bound in APPROXIMATE[opcode]:
        columns = [operands_within(opcode, bound, 250)]
        if base == "div":
            columns.insert(0, [chance.randrange(0x00800000, 0x7F800000) for _ in columns[0]])
        for *codes, found in zip(*columns, executed(opcode, *columns), strict=True):
            exact = FUNCTIONS[base](*(Fraction(decoded(code, format)) for code in codes))
            assert close_enough(found, exact, bound, format, "ftz" in opcode), (
                f"{opcode} {[hex(c) for c in codes]}: {found:#x}"
            )


@pytest.mark.parametrize("opcode", [opcode for opcode in APPROXIMATE if opcode.endswith("x2")])
def test_packed_are_two_of_the_plain(opcode: str) -> None:
    plain, format = opcode.removesuffix("x2"), format_of(opcode)
    chance = random.Random(opcode)
    codes = [chance.getrandbits(WIDTHS[format]) for _ in range(200)]
    found = executed(plain, codes)
    assert executed(opcode, packed(codes, codes[::-1], format)) == packed(found, found[::-1], format)


# The ISA's tables --------------------------------------------------------------------------------------------------

SPECIAL = {
    "f32": (0xFF800000, 0xC0000000, 0x80000001, 0x80000000, 0, 1, 0x7F800000, 0x7FC00001),
    "f16": (0xFC00, 0xC000, 0x8001, 0x8000, 0, 1, 0x7C00, 0x7E01),
    "bf16": (0xFF80, 0xC000, 0x8001, 0x8000, 0, 1, 0x7F80, 0x7FC1),
    "f64": (0xFFF << 52, 0xC00 << 52, 1 << 63 | 1 << 32, 1 << 63, 0, 1 << 32, 0x7FF << 52, 0x7FF8 << 48),
}
TABLES = {  # of those: -inf, -2, -subnormal, -0, 0, subnormal, inf, NaN; the bound tells of what is ?
    "rcp.approx.f32":         "-0.0  -0.5  -inf -inf  inf  inf  0.0 nan",
    "rcp.approx.ftz.f32":     "-0.0  -0.5  -inf -inf  inf  inf  0.0 nan",
    "rcp.approx.ftz.f64":     "-0.0  -0.5  -inf -inf  inf  inf  0.0 nan",
    "sqrt.approx.f32":        "nan    nan   nan -0.0  0.0    ?  inf nan",
    "sqrt.approx.ftz.f32":    "nan    nan  -0.0 -0.0  0.0  0.0  inf nan",
    "rsqrt.approx.f32":       "nan    nan   nan -inf  inf    ?  0.0 nan",
    "rsqrt.approx.ftz.f32":   "nan    nan  -inf -inf  inf  inf  0.0 nan",
    "rsqrt.approx.f64":       "nan    nan   nan -inf  inf    ?  0.0 nan",
    "rsqrt.approx.ftz.f64":   "nan    nan  -inf -inf  inf  inf  0.0 nan",
    "sin.approx.f32":         "nan      ?     ? -0.0  0.0    ?  nan nan",
    "sin.approx.ftz.f32":     "nan      ?  -0.0 -0.0  0.0  0.0  nan nan",
    "cos.approx.f32":         "nan      ?   1.0  1.0  1.0  1.0  nan nan",
    "cos.approx.ftz.f32":     "nan      ?   1.0  1.0  1.0  1.0  nan nan",
    "lg2.approx.f32":         "nan    nan   nan -inf -inf -149  inf nan",
    "lg2.approx.ftz.f32":     "nan    nan  -inf -inf -inf -inf  inf nan",
    "ex2.approx.f32":         "0.0   0.25   1.0  1.0  1.0  1.0  inf nan",
    "ex2.approx.ftz.f32":     "0.0   0.25   1.0  1.0  1.0  1.0  inf nan",
    "ex2.approx.f16":         "0.0   0.25   1.0  1.0  1.0  1.0  inf nan",
    "ex2.approx.ftz.bf16":    "0.0   0.25   1.0  1.0  1.0  1.0  inf nan",
    "tanh.approx.f32":        "-1.0     ?     ? -0.0  0.0    ?  1.0 nan",
    "tanh.approx.f16":        "-1.0     ?     ? -0.0  0.0    ?  1.0 nan",
    "tanh.approx.bf16":       "-1.0     ?     ? -0.0  0.0    ?  1.0 nan",
}  # fmt: skip


@pytest.mark.parametrize("opcode", TABLES)
def test_special_cases(opcode: str) -> None:
    format = format_of(opcode)
    for code, found, text in zip(
        SPECIAL[format], executed(opcode, list(SPECIAL[format])), TABLES[opcode].split(), strict=True
    ):
        if text == "?":
            continue
        value = float(text)
        if format == "f64" and math.isnan(value):
            assert found == 0x7FFFFFFF00000000 if "ftz" in opcode else math.isnan(decoded(found, format))
        else:
            expected = encoded(Fraction(value) if math.isfinite(value) and value else value, format, "rn")
            assert found == expected, f"{opcode} {code:#x}: {found:#x}, {expected:#x}"


def test_division_by_reciprocal() -> None:
    large, infinity, one, least = 0x7E800001, 0x7F800000, 0x3F800000, 1  # large is just above 2**126
    for ftz in ("", ".ftz"):
        operands = (
            [one, one | 1 << 31, infinity, one, 0, infinity, infinity],
            [large, large, large, infinity, 0, infinity, 0],
        )
        nan = 0x7FFFFFFF
        assert executed(f"div.approx{ftz}.f32", *operands) == [0, 1 << 31, nan, 0, nan, nan, infinity]
        full = executed(f"div.full{ftz}.f32", *operands)
        assert full[2:] == [infinity, 0, nan, nan, infinity]
        assert full[0] == (0 if ftz else encoded(1 / Fraction(decoded(large, "f32")), "f32", "rn"))
    assert executed("div.full.ftz.f32", [least], [least]) == [0x7FFFFFFF]
    assert executed("div.full.f32", [least], [least]) == [one]


def test_tanh_passes_subnormal_numbers_through() -> None:
    for opcode, codes in (
        ("tanh.approx.f32", [1, 0x807FFFFF]),
        ("tanh.approx.f16", [1, 0x83FF]),
        ("tanh.approx.bf16", [1, 0x807F]),
    ):
        assert executed(opcode, codes) == codes


def test_only_the_high_words_count() -> None:
    for opcode in ("rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64"):
        one, below_infinity = 0x3FF00000 << 32, 0x7FF00000 << 32 | 1
        found = executed(opcode, [one, one | 0xFFFFFFFF, below_infinity, 0x40100000 << 32 | 5])
        assert found[0] == found[1] == one and found[2] == 0
        assert all(code & 0xFFFFFFFF == 0 for code in found)
    assert executed("rcp.approx.ftz.f64", [0x7FE << 52, 0xFFD << 52]) == [0, 0x8010 << 48]  # subnormal, and not


def test_sources() -> None:
    assert instruction("div.full.ftz.f32").sources == ("f32", "f32")
    assert instruction("ex2.approx.ftz.bf16x2").sources == ("bf16x2",)
    for opcode in (
        "ex2.approx.bf16",
        "tanh.approx.ftz.f32",
        "rcp.approx.f64",
        "sqrt.approx.f64",
        "div.full.f64",
        "sin.f32",
    ):
        assert floating(opcode) is None
