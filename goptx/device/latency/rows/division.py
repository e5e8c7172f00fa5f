"""Division, and special functions: many of them are long sequences or calls of such."""

from __future__ import annotations

from typing import Any

from goptx.device.latency.row import Row

ONE, OTHER = "$x, $x", "$y, $x"
BY = "$x, $a, $x"  # a constant divisor would be inverted once
FEW: dict[str, Any] = {"short": 2, "long": 6, "chains": 4}
# quotients that become divisors, with 64-bit ones too large for the fast path for small numbers
SHORT: dict[str, Any] = {"values": (7, 50_001, 50_003), **FEW}
WORD: dict[str, Any] = {"values": (7, 987_654_321, 987_654_399), **FEW}
WIDE: dict[str, Any] = {"values": (2**33 + 12345, 2**63 - 25, 2**63 - 77), **FEW}
HALF: dict[str, Any] = {"values": (0.5, 1, 1)}

ROWS = (
    Row("div.u16", BY, "MUFU|I2F|CALL", **SHORT),
    *(Row(f"div.{t}32", BY, "MUFU", **WORD) for t in "us"),
    *(Row(f"div.{t}64", BY, "CALL", **WIDE) for t in "us"),
    Row("rem.u16", BY, "MUFU|I2F|CALL", then="or.b16 $x, $x, $b", **SHORT),
    *(Row(f"rem.{t}32", BY, "MUFU", then="or.b32 $x, $x, $b", **WORD) for t in "us"),
    *(Row(f"rem.{t}64", BY, "CALL", then="or.b64 $x, $x, $b", **WIDE) for t in "us"),
    *(Row(f"div.{t}", BY, "MUFU", **FEW) for t in ("rn.f32", "full.f32", "approx.f32", "rn.f64")),
    Row("rcp.rn.f32", ONE, "MUFU", **FEW),
    Row("rcp.rn.f64", ONE, "MUFU", **FEW),
    Row("rcp.approx.f32", ONE, "MUFU"),
    Row("rcp.approx.ftz.f32", OTHER, "MUFU", then="add.f32 $x, $y, $a", name="rcp.approx.ftz.f32"),
    Row("rcp.approx.ftz.f64", ONE, "MUFU"),
    *(Row(f"sqrt.rn.f{w}", OTHER, "MUFU", then=f"add.f{w} $x, $y, $a", **FEW) for w in (32, 64)),
    Row("sqrt.approx.f32", OTHER, "MUFU", then="add.f32 $x, $y, $a"),
    Row("rsqrt.approx.f32", ONE, "MUFU"),
    Row("rsqrt.approx.ftz.f64", ONE, "MUFU"),
    Row("sin.approx.f32", ONE, "MUFU"),
    Row("cos.approx.f32", ONE, "MUFU"),
    Row("lg2.approx.f32", OTHER, "MUFU", then="add.f32 $x, $y, $a", values=(4, 5, 6)),
    Row("ex2.approx.f32", OTHER, "MUFU", after="neg.f32 $x, $y;"),  # the sign is a part of the next operand
    Row("ex2.approx.ftz.f32", OTHER, "MUFU", after="neg.f32 $x, $y;", name="ex2.approx.ftz.f32"),
    *(Row(f"ex2.approx.{t}", ONE, "MUFU", **HALF) for t in ("f16", "f16x2")),
    *(Row(f"tanh.approx.{t}", ONE, "MUFU") for t in ("f32", "f16", "f16x2")),
)  # fmt: skip
