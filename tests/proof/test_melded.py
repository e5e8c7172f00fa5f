"""Kernels in which both sides of a branch are one (simplify/meld.py) are proved, and mistakes there are not."""

from __future__ import annotations

from pathlib import Path

import pytest

import goptx
from goptx.proof.prove import prove_text
from goptx.proof.terms import Terms
from goptx.ptx.parse import parse

FILES = {p.stem: p for p in sorted((Path(__file__).parents[1] / "passes" / "meld").glob("*.ptx"))}
MELDED = [name for name, path in FILES.items() if "_meld" in path.read_text()]


def fused(name: str) -> str:
    text = FILES[name].read_text()
    return goptx.weave(text, text).text()


def is_proved(name: str, text: str) -> bool:
    module = parse(FILES[name].read_text())
    return bool(prove_text(text, [module, module]))


@pytest.mark.parametrize("name", FILES)
def test_files_of_the_pass_are_proved(name: str) -> None:
    assert is_proved(name, fused(name))


def test_most_files_are_melded() -> None:
    assert len(MELDED) >= 8


@pytest.mark.parametrize(("name", "right", "wrong"), [
    # the wrong operand is chosen
    ("sigmoid", "selp.f32 %a_meld1, %a_meld0, %a_f1, %a_p1;", "selp.f32 %a_meld1, %a_meld0, %a_meld0, %a_p1;"),
    ("sigmoid", "selp.f32 %a_meld4, 0f3F800000, %a_meld2, %a_p1;", "selp.f32 %a_meld4, 0f3F800000, %a_meld3, %a_p1;"),
    ("immediates", "selp.f32 %a_meld1, 0f40400000, 0f40000000, %a_p1;",
     "selp.f32 %a_meld1, 0f40400000, 0f40000001, %a_p1;"),
    # the sides are exchanged
    ("sigmoid", "selp.f32 %a_meld1, %a_meld0, %a_f1, %a_p1;", "selp.f32 %a_meld1, %a_f1, %a_meld0, %a_p1;"),
    ("integers", "selp.u32 %a_meld3, 3, %a_r1, %a_p1;", "selp.u32 %a_meld3, %a_r1, 3, %a_p1;"),
    ("predicates", "and.pred %a_meld6, %a_p1, %a_meld3;", "and.pred %a_meld6, %a_meld8, %a_meld3;"),
    # an operation of one side is left out
    ("sigmoid", "neg.f32 %a_meld0, %a_f1;", "mov.f32 %a_meld0, %a_f1;"),
    ("different_lengths", "sub.rn.f32 %a_meld3, %a_meld2, 0f3F800000;", "mov.f32 %a_meld3, %a_meld2;"),
    # what decides is overwritten before the last choice
    ("nested", "selp.f32 %a_meld5,", "not.pred %a_p1, %a_p1;\nselp.f32 %a_meld5,"),
    # the dividend of a reciprocal is not 1, or it is another division
    ("sigmoid", "selp.f32 %a_meld4, 0f3F800000,", "selp.f32 %a_meld4, 0f3F800001,"),
    ("reciprocals", "div.rn.f32 %a_meld2, %a_meld0, %a_meld1;", "div.rn.f32 %a_meld2, %a_meld1, %a_meld0;"),
    ("reciprocals", "div.rn.f32 %a_meld2,", "div.rn.ftz.f32 %a_meld2,"),
    ("reciprocals", "div.rn.f32 %a_meld2,", "div.rz.f32 %a_meld2,"),
])  # fmt: skip
def test_mistakes_are_refused(name: str, right: str, wrong: str) -> None:
    text = fused(name)
    assert text.count(right) == 1
    assert not is_proved(name, text.replace(right, wrong))


@pytest.mark.parametrize(("opcode", "move", "same"), [
    ("add.rn.f32", "mov.f32", True), ("setp.lt.f32", "mov.f32", True), ("fma.rn.f64", "mov.f64", True),
    ("cvt.f64.f32", "mov.f32", False), ("mov.b32", "mov.f32", False), ("add.rn.f64", "mov.f32", False),
    ("add.rn.f32", "mov.b32", False), ("call.f32", "mov.f32", False),
])  # fmt: skip
def test_a_constant_has_the_type_of_the_operation(opcode: str, move: str, same: bool) -> None:
    terms = Terms()
    x, constant = terms.make("x"), terms.make("0f40400000")
    moved = terms.make(opcode, terms.make(move, constant), x)
    assert (moved == terms.make(opcode, constant, x)) == same
    assert terms.make(opcode, terms.make(move, x), constant) != terms.make(opcode, x, constant)


@pytest.mark.parametrize("ftz", ["", ".ftz"])
@pytest.mark.parametrize("one", ["0f3F800000", "0f3f800000"])
@pytest.mark.parametrize("moved", [False, True])
def test_a_quotient_of_one_is_a_reciprocal(ftz: str, one: str, moved: bool) -> None:
    terms = Terms()
    x, dividend = terms.make("x"), terms.make(one)
    dividend = terms.make("mov.f32", dividend) if moved else dividend
    assert terms.make(f"div.rn{ftz}.f32", dividend, x) == terms.make(f"rcp.rn{ftz}.f32", x)


@pytest.mark.parametrize(("opcode", "dividend", "other"), [
    ("div.rn.f32", "0f3F800001", "rcp.rn.f32"),
    ("div.rn.f32", "0fBF800000", "rcp.rn.f32"),
    ("div.rn.f32", "1", "rcp.rn.f32"),
    ("div.rn.ftz.f32", "0f3F800000", "rcp.rn.f32"),
    ("div.rn.f32", "0f3F800000", "rcp.rn.ftz.f32"),
    ("div.rz.f32", "0f3F800000", "rcp.rz.f32"),
    ("div.approx.f32", "0f3F800000", "rcp.approx.f32"),
    ("div.full.f32", "0f3F800000", "rcp.approx.f32"),
    ("div.rn.f64", "0d3FF0000000000000", "rcp.rn.f64"),
])  # fmt: skip
def test_other_quotients_are_not(opcode: str, dividend: str, other: str) -> None:
    terms = Terms()
    x = terms.make("x")
    assert terms.make(opcode, terms.make(dividend), x) != terms.make(other, x)


def test_a_quotient_becomes_a_reciprocal_where_its_dividend_is_known() -> None:
    terms = Terms()
    x, one, test = terms.make("x"), terms.make("mov.f32", terms.make("0f3F800000")), terms.atom("test")
    quotient = terms.make("div.rn.f32", terms.choice(test, one, x), x)
    assert terms.resolved(quotient, test) == terms.make("rcp.rn.f32", x)
    assert terms.resolved(quotient, terms.formulas.negation(test)) == terms.make("div.rn.f32", x, x)
