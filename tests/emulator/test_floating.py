"""From an opcode to its family: which spellings are instructions, and their sources and results."""

from __future__ import annotations

import pytest
from emulator.floating_opcodes import APPROXIMATE, EXACT

from goptx.emulator.floating.floating import floating

# Spellings that ptxas 13 refuses, that belong to other families, or that mean nothing.
NONE = """
    fma.f32 fma.f16 mad.f32 mad.rn.f16 fma.rz.f16 fma.rn.ftz.bf16 fma.rn.sat.bf16 fma.rn.sat.relu.f16 fma.rn.relu.f32
    fma.rn.sat.f32x2 mad.rn.f32x2 fma.rn.ftz.f32.f16 fma.rn.f16.f32 fma.rn.f32.f16.f16 fma.rn.oob.f16 mul.f32.f16
    add.ftz.bf16 add.sat.bf16 add.rz.f16 add.sat.f64 add.ftz.f64 add.sat.f32x2 add.ftz.f32.f16 add.rn.rz.f32
    add.ftz.ftz.f32 add.rna.f32 add add. .f32 add.f32. add.s32 add.cc.u32 add.F32 sub.relu.f32
    min.NaN.f64 min.abs.f16 min.xorsign.f32 min.ftz.bf16 min.f32x2 max.nan.f32 max.relu.s32
    abs.ftz.bf16 abs.ftz.f64 neg.f32x2 neg.s32 copysign.ftz.f32 copysign.f16
    div.f32 div.f64 div.full.f64 div.rn.ftz.f64 div.rn.sat.f32 div.approx.full.f32 rcp.f32 sqrt.approx.f64 rsqrt.rn.f32
    rcp.rn.ftz.f64 rsqrt.f32 sin.f32 ex2.approx.ftz.f16 ex2.approx.f32x2
    testp.f32 testp.normal.f16 testp.normal.finite.f32
    setp.f32 setp.lo.f32 setp.eq.ftz.f64 setp.eq.ftz.bf16 setp.eq.and.or.f32 setp.eq.f32x2 setp.eq.s32 setp.eq.lt.f32
    set.eq.f32 set.eq.f64.f64 set.eq.ftz.f32.f64 set.eq.ftz.bf16.f32 set.eq.f16.bf16 set.eq.u16.f32 set.eq.f32.f16
    set.eq.bf16x2.f16x2 set.eq.u16.f16x2 set.eq.u32.s32 mov.f32 cvt.rn.f32.f64 fma.rn.f128
""".split()


@pytest.mark.parametrize("opcode", NONE)
def test_no_guessing(opcode: str) -> None:
    assert floating(opcode) is None


def test_every_form_is_found() -> None:
    for opcode in (*EXACT, *APPROXIMATE):
        found = floating(opcode)
        assert found is not None, opcode
        types = [word for word in opcode.split(".") if word[0] in "bfsu" and word[-1].isdigit()]
        assert found.sources[0] == types[-1], opcode
        expected = (
            ("pred", "pred") if opcode.startswith("setp") else ("pred",) if opcode.startswith("testp") else (types[0],)
        )
        assert found.results == expected, opcode


def test_no_form_twice() -> None:
    assert len(set(EXACT)) == len(EXACT)
    assert not set(EXACT) & APPROXIMATE.keys()


def test_modifiers_stand_in_any_order() -> None:
    for opcode in ("add.sat.ftz.rz.f32", "min.NaN.ftz.f32", "max.abs.xorsign.NaN.f16x2", "setp.ftz.and.lt.f32"):
        assert floating(opcode) is not None, opcode
    assert floating("add.f32.rn.ftz") is not None  # the ISA's own examples have modifiers after types
    assert floating("set.eq.f32.u32") is None
    assert floating("add.f16.f32") is None


def test_mixed_precision_takes_the_last_source_wide() -> None:
    assert getattr(floating("add.rz.sat.f32.bf16"), "sources", None) == ("bf16", "f32")
    assert getattr(floating("fma.rn.f32.f16"), "sources", None) == ("f16", "f16", "f32")
