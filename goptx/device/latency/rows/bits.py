"""Bits, comparisons, selection, and what only moves."""

from __future__ import annotations

from goptx.device.latency.row import Row

BITS = (0x12345, 0x777, 0x555)
TWO = "$x, $x, $a"
FROM_32 = {"x": "b32"}
LOW = "cvt.u32.u64 $z, $x;"

ROWS = (
    *(Row(f"{op}.b{w}", TWO, "LOP3", guarded=True, values=BITS) for op in ("and", "or", "xor") for w in (16, 32, 64)),
    *(Row(f"not.b{w}", "$x, $x", "LOP3", guarded=True) for w in (16, 32, 64)),
    # A PLOP3 takes three predicates. Two operations, with others each time, are as much as it can do at once.
    *(Row(f"{op}.pred", "$x, $x, $a", "PLOP3", ahead=f"{other}.pred $x, $x, $c;", values=(1, 1, 1), widths=(1, 2, 2),
          chains=2)
      for op, other in (("and", "xor"), ("or", "xor"), ("xor", "and"))),
    Row("not.pred", "$x, $x", "PLOP3", back="and.pred $x, $x, $a; xor.pred $x, $x, $c;", values=(1, 1, 1),
        widths=(1, 2, 2), chains=2),
    *(Row(f"cnot.b{w}", "$y, $x", "ISETP", back=f"xor.b{w} $x, $y, $a;", minus=(f"xor.b{w}",)) for w in (16, 32, 64)),
    Row("lop3.b32", "$x, $x, $a, $b, 0x6a", "LOP3"),
    *(Row(f"{op}.{sign}{width}", "$x, $x, %shift", "SHF|SHL|SHR|IMAD|USHF", guarded=True,
          declares=".reg .b32 %shift;", setup="and.b32 %shift, %flag, 5;")
      for op, sign in (("shl", "b"), ("shr", "u"), ("shr", "s")) for width in (16, 32, 64)),
    Row("shf.r.wrap.b32", "$x, $x, $a, $b", "SHF"),
    Row("bfe.u32", "$x, $x, 3, 20", "SGXT|SHF|BFE|LOP3", guarded=True),
    Row("bfe.s32", "$x, $x, 3, 20", "SGXT|SHF|BFE|LOP3", guarded=True),
    Row("bfe.u64", "$x, $x, 3, 40", "SHF|LOP3", guarded=True),
    Row("bfe.s64", "$x, $x, 3, 40", "SHF", guarded=True),
    Row("bfi.b32", "$x, $a, $x, 5, 9", "LOP3|PRMT|SHF|BMSK", guarded=True),
    Row("bfi.b64", "$x, $a, $x, 5, 9", "LOP3|PRMT|SHF|BMSK", guarded=True),
    Row("bfind.u32", "$x, $x", "FLO", **FROM_32),
    Row("bfind.s32", "$x, $x", "FLO", **FROM_32),
    Row("bfind.u64", "$y, $x", "FLO", x="u64", y="u32", ahead=LOW, back="mov.b64 $x, {$z, $y};"),
    Row("bfind.s64", "$y, $x", "FLO", x="s64", y="u32", ahead=LOW, back="mov.b64 $x, {$z, $y};"),
    Row("brev.b32", "$y, $x", "BREV", back="add.s32 $x, $y, $a;", minus=("add.s32",)),
    Row("brev.b64", "$y, $x", "BREV", back="add.s64 $x, $y, $a;", minus=("add.s64",)),
    Row("popc.b32", "$x, $x", "POPC"),
    Row("popc.b64", "$y, $x", "POPC", x="b64", y="b32", ahead=LOW, back="mov.b64 $x, {$z, $y};"),
    Row("clz.b32", "$x, $x", "FLO"),
    Row("clz.b64", "$y, $x", "FLO", x="b64", y="b32", ahead=LOW, back="mov.b64 $x, {$z, $y};"),
    Row("fns.b32", "$x, $x, 0, 1", "POPC|FLO|LOP3", short=1, long=3, chains=2),
    Row("bmsk.clamp.b32", "$x, $x, $a", "BMSK"),
    Row("szext.wrap.s32", "$x, $x, $a", "SGXT"),
    Row("prmt.b32", "$x, $x, $a, $b", "PRMT"),
    *(Row(f"setp.lt.{kind}", "$q, $x, $a", sass, back=f"selp.b{width} $x, $b, $x, $q;", minus=(f"selp.b{width}",),
          chains=0 if kind == "f16" else 8)
      for kind, width, sass in (("u16", 16, "ISETP"), ("s16", 16, "ISETP"), ("u32", 32, "ISETP"), ("s32", 32, "ISETP"),
                                ("u64", 64, "ISETP"), ("s64", 64, "ISETP"), ("f16", 16, "HSETP2"),
                                ("f32", 32, "FSETP"), ("f64", 64, "DSETP"))),
    Row("set.lt.u32.u32", TWO, "ISETP|ISET|SEL", x="u32"),
    Row("set.lt.u32.f32", TWO, "FSETP|FSET", x="u32", name="set.u32.f32"),
    Row("set.lt.f32.f32", TWO, "FSETP|FSET"),
    *(Row(f"selp.{kind}", "$x, $x, $a, $g", "SEL|FSEL") for kind in ("b16", "b32", "b64", "f32", "f64")),
    Row("slct.u32.s32", "$x, $x, $a, $x", "ISETP|SEL", x="u32"),
    Row("testp.finite.f32", "$q, $x", "FSETP|ISETP", back="selp.b32 $x, $a, $x, $q;", minus=("selp.b32",), x="f32"),
    Row("testp.finite.f64", "$q, $x", "DSETP|ISETP", back="selp.b64 $x, $a, $x, $q;", minus=("selp.b64",), x="f64"),
    *(Row(f"mov.{kind}", "$x, $a", "MOV|IMAD|SEL|FSEL", guarded=True) for kind in ("b16", "b32", "b64", "f32", "f64")),
    Row("mov.pred", "$x, $a", "PLOP3|ISETP|SEL", guarded=True, values=(1, 1, 1), chains=2),
)  # fmt: skip
