"""Bits, comparisons, selection and moves."""

from __future__ import annotations

from typing import Any

from goptx.device.latency.row import Row

ONE, TWO, OTHER = "$x, $x", "$x, $x, $a", "$y, $x"
SHIFT: dict[str, Any] = {"guarded": True, "declares": ".reg .b32 %shift;", "setup": "add.u32 %shift, %zero, 5;"}
# two words of 32 bits: the low one stays, the high one becomes the result
HALVES: dict[str, Any] = {"y": "b32", "before": "cvt.u32.u64 $z, $x;", "after": "mov.b64 $x, {$z, $y};"}
# A PLOP3 takes three predicates, so it can do two operations at once if their operands change each time.
PREDICATES: dict[str, Any] = {"values": (1, 1, 1), "widths": (1, 2, 2), "chains": 2}
FIELDS = "LOP3|PRMT|SHF|BMSK"
COMPARED = (  # type, that of the selection, mnemonic, chains
    *((f"{t}{w}", f"b{w}", "ISETP", 8) for t in "us" for w in (16, 32, 64)),
    ("f16", "b16", "HSETP2", 0), ("f32", "b32", "FSETP", 8), ("f64", "b64", "DSETP", 8),
)  # fmt: skip

ROWS = (
    *(Row(f"{op}.b{w}", TWO, "LOP3", guarded=True) for op in ("and", "or", "xor") for w in (16, 32, 64)),
    *(Row(f"not.b{w}", ONE, "LOP3", guarded=True) for w in (16, 32, 64)),
    *(Row(f"cnot.b{w}", OTHER, "ISETP", then=f"xor.b{w} $x, $y, $a") for w in (16, 32, 64)),
    *(Row(f"{op}.pred", TWO, "PLOP3", before=f"{other}.pred $x, $x, $c;", **PREDICATES)
      for op, other in (("and", "xor"), ("or", "xor"), ("xor", "and"))),
    Row("not.pred", ONE, "PLOP3", after="and.pred $x, $x, $a; xor.pred $x, $x, $c;", **PREDICATES),
    Row("lop3.b32", "$x, $x, $a, $b, 0x6a", "LOP3"),
    *(Row(f"{op}{w}", "$x, $x, %shift", "SHF|SHL|SHR|IMAD", **SHIFT)
      for op in ("shl.b", "shr.u", "shr.s") for w in (16, 32, 64)),
    Row("shf.r.wrap.b32", "$x, $x, $a, $b", "SHF"),
    *(Row(f"bfe.{t}32", "$x, $x, 3, 20", "SHF", guarded=True) for t in "us"),
    *(Row(f"bfe.{t}64", "$x, $x, 3, 40", "SHF", guarded=True) for t in "us"),
    *(Row(f"bfi.b{w}", "$x, $a, $x, 5, 9", FIELDS, guarded=True) for w in (32, 64)),
    *(Row(f"bfind.{t}32", ONE, "FLO", x="b32") for t in "us"),
    *(Row(f"bfind.{t}64", OTHER, "FLO", x="b64", **HALVES) for t in "us"),
    *(Row(f"brev.b{w}", OTHER, "BREV", then=f"add.s{w} $x, $y, $a") for w in (32, 64)),
    *(Row(f"{op}.b32", ONE, sass) for op, sass in (("popc", "POPC"), ("clz", "FLO"))),
    *(Row(f"{op}.b64", OTHER, sass, **HALVES) for op, sass in (("popc", "POPC"), ("clz", "FLO"))),
    Row("fns.b32", "$x, $x, 0, 1", "POPC", short=1, long=3, chains=2),
    Row("bmsk.clamp.b32", TWO, "BMSK"),
    Row("szext.wrap.s32", TWO, "SGXT"),
    Row("prmt.b32", "$x, $x, $a, $b", "PRMT"),
    # the other half of the chain is a selection
    *(Row(f"setp.lt.{t}", "$q, $x, $a", sass, then=f"selp.{b} $x, $b, $x, $q", chains=n) for t, b, sass, n in COMPARED),
    *(Row(f"testp.finite.f{w}", "$q, $x", "[FDI]SETP", then=f"selp.b{w} $x, $a, $x, $q") for w in (32, 64)),
    Row("set.lt.u32.u32", TWO, "ISETP"),
    Row("set.lt.u32.f32", TWO, "FSETP|FSET", name="set.u32.f32"),
    Row("set.lt.f32.f32", TWO, "FSETP|FSET"),
    *(Row(f"selp.{t}", "$x, $x, $a, $g", "F?SEL") for t in ("b16", "b32", "b64", "f32", "f64")),
    Row("slct.u32.s32", "$x, $x, $a, $x", "ISETP|SEL"),
    # without a guard the assembler would remove it
    *(Row(f"mov.{t}", "$x, $a", "MOV|IMAD|F?SEL", guarded=True) for t in ("b16", "b32", "b64", "f32", "f64")),
    Row("mov.pred", "$x, $a", "PLOP3|ISETP", guarded=True, values=(1, 1, 1), chains=2),
)  # fmt: skip
