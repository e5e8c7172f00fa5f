"""Conversions. A key has the type of the result, then that of the source."""

from __future__ import annotations

from typing import Any

from goptx.device.latency.row import Row
from goptx.device.latency.text import width

BACK = {  # how a result of some bits becomes a source of others
    (64, 64): "mov.b64 $x, $y;", (32, 32): "mov.b32 $x, $y;", (64, 32): "mov.b64 {$z, $x}, $y;",
    (32, 16): "mov.b32 {$x, $z}, $y;", (16, 16): "mov.b16 $x, $y;",
}  # fmt: skip
NARROWER, NOTHING = "LOP3|PRMT|SGXT", "no instruction: the low half"


def _alone(opcode: str, sass: str) -> Row:
    """A conversion whose result is itself a source of the next."""
    to, source = opcode.split(".")[-2:]
    return Row(opcode, "$y, $x", sass, x=source, y=to, after=BACK[width(to), width(source)])


def _and_back(opcode: str, sass: str, other: str, **more: Any) -> Row:
    """A conversion whose result is converted back by another one."""
    to, source = opcode.split(".")[-2:]
    return Row(opcode, "$y, $x", sass, x=source, y=to, then=f"{other} $x, $y", **more)


ROWS = (
    *(_alone(f"cvt.rzi.{to}.{source}", "F2I")
      for to, source in (("s32", "f32"), ("u32", "f32"), ("s64", "f32"), ("u64", "f32"), ("s64", "f64"), ("u64", "f64"),
                         ("s32", "f16"))),
    *(_alone(f"cvt.rn.{to}.{source}", "I2F")
      for to, source in (("f32", "s32"), ("f32", "u32"), ("f64", "s64"), ("f64", "u64"), ("f64", "s32"), ("f64", "u32"),
                         ("f16", "s16"))),
    _alone("cvt.f64.f32", "F2F"),
    _alone("cvt.f32.f16", "HADD2"),
    _alone("cvt.f32.bf16", "IMAD|PRMT|SHL|SHF"),
    _alone("cvt.rna.tf32.f32", "F2F|LOP3"),
    _and_back("cvt.rn.f32.f64", r"F2F\.F32", "cvt.f64.f32"),
    _and_back("cvt.rzi.s32.f64", "F2I", "cvt.rn.f64.s32"),
    _and_back("cvt.rzi.u32.f64", "F2I", "cvt.rn.f64.u32"),
    _and_back("cvt.rn.f32.s64", "I2F", "cvt.rzi.s64.f32"),
    _and_back("cvt.rn.f32.u64", "I2F", "cvt.rzi.u64.f32"),
    _and_back("cvt.rn.f16.f32", "F2F|F2FP", "cvt.f32.f16", chains=0, interval_of="cvt.f16x2.f32"),
    _and_back("cvt.rn.bf16.f32", "F2F|F2FP", "cvt.f32.bf16"),
    _and_back("cvt.rn.f16.s32", "I2F", "cvt.rzi.s32.f16"),
    *(Row(f"cvt.rn.{t}.f32", "$y, $x, $a", "F2FP", y=t, after="mov.b32 $x, $y;") for t in ("f16x2", "bf16x2")),
    # integers: conversions that preserve all bits, or drop the upper ones of a register, cost nothing
    Row("cvt.u64.u32", "$y, $x", "", y="b64", after="cvt.u32.u64 $x, $y;", why=NOTHING),
    Row("cvt.u32.u64", "$y, $x", "", y="b32", after="mov.b64 $x, {$y, $y};", why=NOTHING),
    Row("cvt.u16.u32", "%half, $x", "IMAD", declares=".reg .b16 %half, %by;", setup="cvt.u16.u32 %by, %flag;",
        then="mul.wide.u16 $x, %half, %by", why=NOTHING),
    Row("cvt.s64.s32", "$y, $x", "SHF", y="b64", after="mov.b64 {$z, $x}, $y;", minus=("xor.b32",),
        before="xor.b32 $x, $x, $a;"),
    *(Row(f"cvt.{t}32.{t}8", "$y, $x", NARROWER, x="b32", then="add.s32 $x, $y, $a") for t in "us"),
    *(Row(f"cvt.{t}32.{t}16", "$y, %half", NARROWER, x="b32", declares=".reg .b16 %half, %rest;",
          before="mov.b32 {%half, %rest}, $x;", then="add.s32 $x, $y, $a") for t in "us"),
    *(Row(f"cvt.{t}16.{t}8", "$y, $x", NARROWER, x="b16", then="add.u16 $x, $y, $a") for t in "us"),
    Row("cvt.u8.u32", "%half, $x", NARROWER, declares=".reg .b16 %half;",
        after="mov.b32 $x, {%half, %half}; add.s32 $x, $x, $a;", minus=("add.s32",)),
    Row("cvta.to.global.u64", "$x, $x", "", why="no instruction: global memory has the generic addresses"),
)  # fmt: skip
