"""Comparisons of quotients by products, divisions by shifts: proved as goptx makes them, and not where a number, a
relation or an operand is wrong."""

from pathlib import Path

import pytest
from proof.fused_text import ADDRESS, Given, certificate

import goptx
from goptx.launch.specification import read_specification
from goptx.proof.quotients import DIVISIBLE

SECOND = Path(__file__).parents[2] / "benchmarks" / "suite_a" / "second"
A = ADDRESS + "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %nctaid.x;\n"
STORE = "@%p1 st.global.u32 [%d2], %r1;"
SIGNED = """
shr.s32 %a_r4, %a_r2, 31;
xor.b32 %a_r5, %a_r2, %a_r4;
sub.s32 %a_r5, %a_r4, %a_r5;
not.b32 %a_r6, %a_r4;
or.b32 %a_r6, %a_r6, 1;
setp.lt.s32 %a_p2, %a_r3, 1;
not.b32 %a_r7, %a_r5;
selp.b32 %a_r7, %a_r7, 0, %a_p2;
cvt.s64.s32 %a_d3, %a_r7;
mul.wide.s32 %a_d4, %a_r3, %a_r5;
add.s64 %a_d4, %a_d4, %a_d3;
mul.wide.s32 %a_d5, %a_r1, %a_r6;
setp.le.s64 %a_p1, %a_d5, %a_d4;
"""
ABOVE = SIGNED.replace("%a_r3, 1;", "%a_r3, 0;").replace("not.b32 %a_r7, %a_r5;\n", "")
ABOVE = ABOVE.replace("selp.b32 %a_r7, %a_r7, 0,", "selp.b32 %a_r7, -1, %a_r5,")
UNSIGNED = """
mov.b64 %a_d3, {%a_r1, 0};
mul.wide.u32 %a_d4, %a_r3, %a_r2;
setp.ge.u64 %a_p1, %a_d3, %a_d4;
"""
UNSIGNED_ABOVE = UNSIGNED.replace("setp", "mov.b64 %a_d5, {%a_r2, 0};\nadd.u64 %a_d4, %a_d4, %a_d5;\nsetp")
TILE = """
shr.s32 %a_r8, %a_r1, 31;
shr.u32 %a_r8, %a_r8, 27;
add.s32 %a_r8, %a_r1, %a_r8;
shr.s32 %a_r1, %a_r8, 5;
max.s32 %a_r3, %a_r3, -2147483647;
add.s32 %a_r3, %a_r3, -1;
shr.s32 %a_r3, %a_r3, 4;
"""


def made(first: str, last: str, code: str) -> bool:
    """Whether it is proved that the code does what the two instructions do."""
    given = Given(f"{A}{first}\n{last}\n{STORE}")
    return certificate(given, f"A1\nA2\nA3\nA4\nA5\n{code}\nA8").proved


@pytest.mark.parametrize(
    ("relation", "code", "holds"),
    [("ge", SIGNED, "le"), ("lt", SIGNED, "gt"), ("gt", ABOVE, "le"), ("le", ABOVE, "gt")],
    ids=["ge", "lt", "gt", "le"],
)
def test_signed(relation: str, code: str, holds: str) -> None:
    code = code.replace("setp.le.s64", f"setp.{holds}.s64")
    assert made("div.s32 %r4, %r1, %r2;", f"setp.{relation}.s32 %p1, %r4, %r3;", code)
    given = Given(f"{A}div.s32 %r4, %r1, %r2;\nsetp.{relation}.s32 %p1, %r4, %r3;\n{STORE}")
    assert DIVISIBLE in certificate(given, f"A1\nA2\nA3\nA4\nA5\n{code}\nA8").presumed
    assert DIVISIBLE not in certificate(given, "\n".join(f"A{n}" for n in range(1, 9))).presumed
    mirrored = {"ge": "le", "lt": "gt", "gt": "lt", "le": "ge"}[relation]
    assert made("div.s32 %r4, %r1, %r2;", f"setp.{mirrored}.s32 %p1, %r3, %r4;", code)


@pytest.mark.parametrize(
    ("relation", "code", "holds"),
    [("ge", UNSIGNED, "ge"), ("lo", UNSIGNED, "lt"), ("gt", UNSIGNED_ABOVE, "ge"), ("ls", UNSIGNED_ABOVE, "lt")],
    ids=["ge", "lt", "gt", "le"],
)
def test_unsigned(relation: str, code: str, holds: str) -> None:
    code = code.replace("setp.ge.u64", f"setp.{holds}.u64")
    assert made("div.u32 %r4, %r1, %r2;", f"setp.{relation}.u32 %p1, %r4, %r3;", code)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("setp.le.s64", "setp.gt.s64"),
        ("setp.le.s64", "setp.lt.s64"),
        ("%a_r3, 1;", "%a_r3, 0;"),
        ("%a_r7, 0, %a_p2", "0, %a_r7, %a_p2"),
        ("not.b32 %a_r7, %a_r5;", "mov.u32 %a_r7, %a_r5;"),
        ("not.b32 %a_r6, %a_r4;", "mov.u32 %a_r6, %a_r4;"),
        ("shr.s32 %a_r4, %a_r2, 31", "shr.u32 %a_r4, %a_r2, 31"),
        ("shr.s32 %a_r4, %a_r2, 31", "shr.s32 %a_r4, %a_r3, 31"),
        ("sub.s32 %a_r5, %a_r4, %a_r5", "sub.s32 %a_r5, %a_r5, %a_r4"),
        ("mul.wide.s32 %a_d4, %a_r3, %a_r5", "mul.wide.s32 %a_d4, %a_r3, %a_r2"),
        ("mul.wide.s32 %a_d5, %a_r1, %a_r6", "mul.wide.s32 %a_d5, %a_r3, %a_r6"),
        ("mul.wide.s32 %a_d5, %a_r1, %a_r6", "mul.wide.u32 %a_d5, %a_r1, %a_r6"),
        ("add.s64 %a_d4, %a_d4, %a_d3", "sub.s64 %a_d4, %a_d4, %a_d3"),
        ("cvt.s64.s32", "cvt.u64.u32"),
    ],
    ids=[
        "opposite", "strict", "limit", "sides", "more", "factor", "logical", "other", "negative", "divisor", "top",
        "unsigned", "difference", "extension",
    ],
)  # fmt: skip
def test_wrong_signed_products(old: str, new: str) -> None:
    assert old in SIGNED
    assert not made("div.s32 %r4, %r1, %r2;", "setp.ge.s32 %p1, %r4, %r3;", SIGNED.replace(old, new))


@pytest.mark.parametrize(
    ("relation", "code", "old", "new"),
    [
        ("ge", UNSIGNED, "setp.ge.u64", "setp.gt.u64"),
        ("ge", UNSIGNED, "setp.ge.u64", "setp.ge.s64"),
        ("ge", UNSIGNED, "mul.wide.u32", "mul.wide.s32"),
        ("ge", UNSIGNED, "%a_r3, %a_r2;", "%a_r3, %a_r1;"),
        ("ge", UNSIGNED_ABOVE, "", ""),
        ("gt", UNSIGNED, "", ""),
        ("gt", UNSIGNED_ABOVE, "{%a_r2, 0}", "{%a_r3, 0}"),
        ("ge", UNSIGNED, "{%a_r1, 0}", "{0, %a_r1}"),
        ("ge", UNSIGNED, "{%a_r1, 0}", "{%a_r1, 1}"),
    ],
    ids=["strict", "signed", "product", "factors", "above", "not_above", "addend", "exchanged", "high"],
)
def test_wrong_unsigned_products(relation: str, code: str, old: str, new: str) -> None:
    assert not made("div.u32 %r4, %r1, %r2;", f"setp.{relation}.u32 %p1, %r4, %r3;", code.replace(old, new))
    assert not made("div.s32 %r4, %r1, %r2;", f"setp.{relation}.s32 %p1, %r4, %r3;", code)  # of another type


def of_tiles(code: str, k: int = 4, by: str = "32", relation: str = "ge") -> bool:
    """A quotient of a quotient by a power of two, multiplied by 2**k."""
    lines = (
        f"div.s32 %r1, %r1, {by};\ndiv.s32 %r4, %r1, %r2;\nshl.b32 %r4, %r4, {k};\nsetp.{relation}.s32 %p1, %r4, %r3;"
    )
    given = Given(f"{A}{lines}\n{STORE}")
    return certificate(given, f"A1\nA2\nA3\nA4\nA5\n{code}\nA10").proved


def test_multiplied_quotients() -> None:
    assert of_tiles(TILE + ABOVE)
    assert of_tiles(TILE + ABOVE, by="WARP_SZ")
    rest = TILE.replace("max.s32 %a_r3, %a_r3, -2147483647;\nadd.s32 %a_r3, %a_r3, -1;\n", "")
    assert of_tiles(rest + ABOVE, relation="gt")
    assert not of_tiles(rest + ABOVE)  # rounded up
    assert not of_tiles(TILE + SIGNED)
    assert not of_tiles(TILE.replace("max.s32 %a_r3, %a_r3, -2147483647;\n", "") + ABOVE)  # m - 1 may overflow
    assert not of_tiles(TILE.replace("r3, 4;", "r3, 3;") + ABOVE)
    assert not of_tiles(TILE.replace("r8, 27;", "r8, 28;") + ABOVE)
    small = TILE.replace("r8, 27;", "r8, 28;").replace("a_r8, 5;", "a_r8, 4;")
    assert not of_tiles(small + ABOVE, by="16")  # 2**4 times that may overflow
    assert of_tiles(small.replace("r3, 4;", "r3, 3;") + ABOVE, k=3, by="16")


RAISED = "shr.s32 %a_r4, %a_r1, 31;\nshr.u32 %a_r5, %a_r4, 29;\nadd.s32 %a_r6, %a_r1, %a_r5;\n"
SHIFTS = {
    "div.u32": "shr.u32 %a_r4, %a_r1, 3;",
    "rem.u32": "and.b32 %a_r4, %a_r1, 7;",
    "div.s32": f"{RAISED}shr.s32 %a_r4, %a_r6, 3;",
    "rem.s32": f"{RAISED}and.b32 %a_r6, %a_r6, -8;\nsub.s32 %a_r4, %a_r1, %a_r6;",
}
WRONG = (("3;", "2;"), ("7;", "6;"), ("29", "28"), ("-8", "-4"), ("shr.s32 %a_r4, %a_r6", "shr.u32 %a_r4, %a_r6"))


def divides(opcode: str, code: str) -> bool:
    given = Given(f"{ADDRESS}{opcode} %r4, %r1, 8;\nst.global.u32 [%d2], %r4;")
    return certificate(given, f"A1\nA2\nA3\n{code}\nA5").proved


@pytest.mark.parametrize("opcode", SHIFTS)
def test_divisions_by_powers_of_two(opcode: str) -> None:
    code = SHIFTS[opcode]
    assert [other for other in SHIFTS if divides(other, code)] == [opcode]
    for old, new in WRONG:
        assert old not in code or not divides(opcode, code.replace(old, new))


def test_numbers_of_launches_that_are_not_negative_are_divided_as_unsigned_ones() -> None:
    """So the number of a warp is one for it, and 16 times a row of tiles does not overflow."""
    tiles = "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmad.lo.s32 %r4, %r2, %r3, %r1;\ndiv.s32 %r5, %r4, 32;\n"
    kernel = Given(f"{ADDRESS}{tiles}st.global.u32 [%d2], %r5;").kernel("A")
    made = goptx.weave(kernel, kernel, shapes=[goptx.Shape(1 << 12, 256)] * 2)
    assert "div." not in made.ptx and goptx.prove(made)


def test_rows_of_tiles_in_strides_are_proved() -> None:
    """The number of a CTA is a remainder and a quotient there, whose sum has a range of its own."""
    launches = [read_specification(SECOND / f"{name}.toml")[0] for name in ("harris", "wmma")]
    shapes = [goptx.Shape(launch.grid, launch.block) for launch in launches]
    made = goptx.weave(*(launch.file for launch in launches), shapes=shapes)
    assert "in strides of 128" in str(made.report)
    assert goptx.prove(made), str(goptx.prove(made))
