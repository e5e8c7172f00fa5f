"""Special functions."""

from __future__ import annotations

from goptx.device.latency.row import Row

ONE = "$x, $x"
SLOW = {"short": 2, "long": 6, "chains": 4}

ROWS = (
    Row("rcp.rn.f32", ONE, "MUFU", **SLOW),
    Row("rcp.approx.f32", ONE, "MUFU"),
    Row("rcp.approx.ftz.f32", "$y, $x", "MUFU", back="add.f32 $x, $y, $a;", minus=("add.f32",), name="rcp.approx.ftz.f32"),
    Row("rcp.rn.f64", ONE, "MUFU", **SLOW),
    Row("rcp.approx.ftz.f64", ONE, "MUFU"),
    Row("sqrt.rn.f32", "$y, $x", "MUFU", back="add.f32 $x, $y, $a;", minus=("add.f32",), **SLOW),
    Row("sqrt.approx.f32", "$y, $x", "MUFU", back="add.f32 $x, $y, $a;", minus=("add.f32",)),
    Row("sqrt.rn.f64", "$y, $x", "MUFU", back="add.f64 $x, $y, $a;", minus=("add.f64",), **SLOW),
    Row("rsqrt.approx.f32", ONE, "MUFU"),
    Row("rsqrt.approx.ftz.f64", ONE, "MUFU"),
    Row("sin.approx.f32", ONE, "MUFU"),
    Row("cos.approx.f32", ONE, "MUFU"),
    Row("lg2.approx.f32", "$y, $x", "MUFU", back="add.f32 $x, $y, %high;", minus=("add.f32",),
        declares=".reg .b32 %high;", setup="cvt.rn.f32.u32 %high, %flag; add.f32 %high, %high, 0f40A00000;"),
    Row("ex2.approx.f32", "$y, $x", "MUFU", back="neg.f32 $x, $y;"),
    Row("ex2.approx.ftz.f32", "$y, $x", "MUFU", back="neg.f32 $x, $y;", name="ex2.approx.ftz.f32"),
    Row("ex2.approx.f16", ONE, "MUFU", values=(0.5, 1, 1)),
    Row("ex2.approx.f16x2", ONE, "MUFU", values=(0.5, 1, 1)),
    Row("tanh.approx.f32", ONE, "MUFU"),
    Row("tanh.approx.f16", ONE, "MUFU"),
    Row("tanh.approx.f16x2", ONE, "MUFU"),
)  # fmt: skip
