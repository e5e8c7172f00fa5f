"""Conversions. A key has the type of the result, then that of the source."""

from __future__ import annotations

from typing import Any

from goptx.device.latency.row import Row

_WIDTHS = {"u8": 16, "s8": 16, "u16": 16, "s16": 16, "f16": 16, "bf16": 16, "u32": 32, "s32": 32, "f32": 32,
           "tf32": 32, "u64": 64, "s64": 64, "f64": 64}  # fmt: skip
_BACK = {  # how a result, of these bits, becomes a source of those, at no cost
    (64, 64): "mov.b64 $x, $y;", (32, 32): "mov.b32 $x, $y;", (64, 32): "mov.b64 {$z, $x}, $y;",
    (32, 16): "mov.b32 {$x, $z}, $y;", (16, 16): "mov.b16 $x, $y;",
}  # fmt: skip


def _free(opcode: str, sass: str, **more: Any) -> Row:
    """A conversion whose result is a source again as it is."""
    to, source = opcode.split(".")[-2:]
    return Row(opcode, "$y, $x", sass, x=source, y=to, back=_BACK[_WIDTHS[to], _WIDTHS[source]], **more)


def _there_and_back(opcode: str, sass: str, other: str, minus: str, **more: Any) -> Row:
    """A conversion whose result another one, `other`, turns back."""
    to, source = opcode.split(".")[-2:]
    return Row(opcode, "$y, $x", sass, x=source, y=to, back=f"{other} $x, $y;", minus=(minus,), **more)


F2I, I2F = "F2I", "I2F"

ROWS = (
    *(_free(f"cvt.rzi.{to}.f32", F2I) for to in ("s32", "u32", "s64", "u64")),
    *(_free(f"cvt.rn.f32.{source}", I2F) for source in ("s32", "u32")),
    *(_free(f"cvt.rzi.{to}.f64", F2I) for to in ("s64", "u64")),
    *(_free(f"cvt.rn.f64.{source}", I2F) for source in ("s64", "u64", "s32", "u32")),
    _free("cvt.f64.f32", "F2F"),
    _free("cvt.f32.f16", "HADD2"),
    _free("cvt.f32.bf16", "IMAD|PRMT|SHL|SHF"),
    _free("cvt.rna.tf32.f32", "F2F|LOP3|IADD|VIADD|F2FP|SEL"),
    _free("cvt.rzi.s32.f16", F2I),
    _free("cvt.rn.f16.s16", I2F),
    _there_and_back("cvt.rn.f32.f64", "F2F", "cvt.f64.f32", "cvt.f64.f32"),
    _there_and_back("cvt.rzi.s32.f64", F2I, "cvt.rn.f64.s32", "cvt.f64.s32"),
    _there_and_back("cvt.rzi.u32.f64", F2I, "cvt.rn.f64.u32", "cvt.f64.u32"),
    _there_and_back("cvt.rn.f32.s64", I2F, "cvt.rzi.s64.f32", "cvt.s64.f32"),
    _there_and_back("cvt.rn.f32.u64", I2F, "cvt.rzi.u64.f32", "cvt.u64.f32"),
    _there_and_back("cvt.rn.f16.f32", "F2F|F2FP", "cvt.f32.f16", "cvt.f32.f16", chains=0, interval_of="cvt.f16x2.f32"),
    _there_and_back("cvt.rn.bf16.f32", "F2F|F2FP", "cvt.f32.bf16", "cvt.f32.bf16"),
    _there_and_back("cvt.rn.f16.s32", I2F, "cvt.rzi.s32.f16", "cvt.s32.f16"),
    Row("cvt.rn.f16x2.f32", "$y, $x, $a", "F2FP", x="f32", y="f16x2", back="mov.b32 $x, $y;"),
    Row("cvt.rn.bf16x2.f32", "$y, $x, $a", "F2FP", x="f32", y="bf16x2", back="mov.b32 $x, $y;"),
    # integers of other widths: what keeps all bits costs nothing
    *(Row(f"cvt.{to}.{source}", "$y, $x", "", x=source, y=to, back="cvt.u32.u64 $x, $y;", why="no instruction: the low half")
      for to, source in (("u64", "u32"),)),
    Row("cvt.u32.u64", "$y, $x", "", x="u64", y="u32", back="mov.b64 $x, {$y, $y};", why="no instruction: the low half"),
    Row("cvt.s64.s32", "$y, $x", "SHF", x="s32", y="s64", back="mov.b64 {$z, $x}, $y; xor.b32 $x, $x, $a;", minus=("xor.b32",)),
    *(Row(f"cvt.{to}.{source}", "$y, $x", "LOP3|PRMT|SGXT", x="b32", back="add.s32 $x, $y, $a;", minus=("add.s32",))
      for to, source in (("u32", "u8"), ("s32", "s8"))),
    *(Row(f"cvt.{to}.{source}", "$y, %half", "LOP3|PRMT|SGXT", x="b32", declares=".reg .b16 %half, %rest;",
          ahead="mov.b32 {%half, %rest}, $x;", back="add.s32 $x, $y, $a;", minus=("add.s32",))
      for to, source in (("u32", "u16"), ("s32", "s16"))),
    *(Row(f"cvt.{to}.{source}", "$y, $x", "LOP3|PRMT|SGXT", x="b16", back="add.u16 $x, $y, $a;", minus=("add.u16",))
      for to, source in (("u16", "u8"), ("s16", "s8"))),
    Row("cvt.u16.u32", "%half, $x", "IMAD", x="b32", declares=".reg .b16 %half, %by;", setup="cvt.u16.u32 %by, %flag;",
        back="mul.wide.u16 $x, %half, %by;", minus=("mul.wide.u16",), why="no instruction of its own: the low half"),
    Row("cvt.u8.u32", "%half, $x", "PRMT|LOP3", x="b32", declares=".reg .b16 %half;",
        back="mov.b32 $x, {%half, %half}; add.s32 $x, $x, $a;", minus=("add.s32",)),
    Row("cvta.to.global.u64", "$x, $x", "", why="no instruction: the windows of global memory and of generic addresses are one"),
)  # fmt: skip
