"""Addition, multiplication, division, least and greatest: integers and floats."""

from __future__ import annotations

from goptx.device.latency.row import Row

ADD = r"IADD|VIADD|IMAD|UIADD"
TWO, THREE = "$x, $x, $a", "$x, $x, $a, $b"
CARRY = "add.cc.u32 %flag, %flag, 1;"  # so that there is one to begin with
SLOW = {"short": 2, "long": 6, "chains": 4}  # for what becomes a long sequence, or a call of one
BY = "$x, $a, $x"  # a constant divisor would be inverted once for all
WIDE = (2**33 + 12345, 2**63 - 25, 2**62 + 77)  # of 64 bits: no short cut for small ones

ROWS = (
    Row("add.u16", TWO, ADD, guarded=True),
    Row("add.s32", TWO, ADD, guarded=True),
    Row("add.s64", "$y, $x, $a", r"IADD3?\.X|IMAD\.X|UIADD3\.X", back="xor.b64 $x, $y, $b;", minus=("xor.b64",)),
    Row("add.f16", TWO, "HADD2|HFMA2", chains=0, interval_of="add.f16x2"),
    Row("add.f16x2", TWO, "HADD2|HFMA2"),
    Row("add.bf16", TWO, "HADD2|HFMA2", arch=90, chains=0, interval_of="add.bf16x2"),
    Row("add.bf16x2", TWO, "HADD2|HFMA2", arch=90),
    Row("add.f32", TWO, "FADD"),
    Row("add.f64", TWO, "DADD"),
    Row("addc.cc.u32", TWO, ADD, chains=0, setup=CARRY),
    Row("sub.u16", TWO, ADD, guarded=True),
    Row("sub.s32", TWO, ADD, guarded=True),
    Row("sub.s64", "$y, $x, $a", r"IADD3?\.X|IMAD\.X|UIADD3\.X", back="xor.b64 $x, $y, $b;", minus=("xor.b64",)),
    Row("sub.f16", TWO, "HADD2|HFMA2", chains=0, interval_of="sub.f16x2"),
    Row("sub.f16x2", TWO, "HADD2|HFMA2"),
    Row("sub.bf16", TWO, "HADD2|HFMA2", arch=90, chains=0, interval_of="sub.bf16x2"),
    Row("sub.bf16x2", TWO, "HADD2|HFMA2", arch=90),
    Row("sub.f32", TWO, "FADD"),
    Row("sub.f64", TWO, "DADD"),
    Row("subc.cc.u32", TWO, ADD, chains=0, setup=CARRY),
    Row("mul.lo.u16", TWO, "IMAD"),
    Row("mul.lo.s32", TWO, "IMAD"),
    Row("mul.lo.s64", TWO, "IMAD"),
    Row("mul.wide.u16", "$y, $x, $a", "IMAD", x="u16", y="u32", back="mov.b32 {$x, $z}, $y;"),
    Row("mul.wide.s16", "$y, $x, $a", "IMAD", x="s16", y="s32", back="mov.b32 {$x, $z}, $y;"),
    Row("mul.wide.u32", "$y, $x, $a", "IMAD", x="u32", y="u64", back="mov.b64 {$z, $x}, $y;"),
    Row("mul.wide.s32", "$y, $x, $a", "IMAD", x="s32", y="s64", back="mov.b64 {$z, $x}, $y;"),
    Row("mul.hi.u16", TWO, "IMAD"),
    Row("mul.hi.u32", TWO, "IMAD"),
    Row("mul.hi.u64", TWO, "IMAD"),
    Row("mul.f16", TWO, "HMUL2|HFMA2", chains=0, interval_of="mul.f16x2"),
    Row("mul.f16x2", TWO, "HMUL2|HFMA2"),
    Row("mul.bf16", TWO, "HMUL2|HFMA2", arch=90, chains=0, interval_of="mul.bf16x2"),
    Row("mul.bf16x2", TWO, "HMUL2|HFMA2", arch=90),
    Row("mul.f32", TWO, "FMUL"),
    Row("mul.f64", TWO, "DMUL"),
    Row("mul24.lo.u32", TWO, "IMAD"),
    Row("mul24.hi.u32", TWO, "IMAD"),
    Row("mad.lo.u16", THREE, "IMAD"),
    Row("mad.lo.s32", THREE, "IMAD"),
    Row("mad.lo.s64", THREE, "IMAD"),
    Row("mad.wide.u16", "$y, $x, $a, $y", "IMAD", x="u16", y="u32", back="mov.b32 {$x, $z}, $y;"),
    Row("mad.wide.u32", "$y, $x, $a, %c", "IMAD.WIDE", x="u32", y="u64", back="mov.b64 {$z, $x}, $y;",
        declares=".reg .b64 %c;", setup="ld.global.b64 %c, [%from+16];"),
    Row("mad.hi.u32", THREE, "IMAD"),
    Row("mad.hi.u64", THREE, "IMAD"),
    Row("mad.rn.f32", THREE, "FFMA"),
    Row("mad.rn.f64", THREE, "DFMA"),
    Row("madc.lo.cc.u32", THREE, "IMAD|IADD", chains=0, setup=CARRY),
    Row("mad24.lo.u32", THREE, "IMAD"),
    Row("mad24.hi.u32", THREE, "IMAD"),
    Row("fma.rn.f16", THREE, "HFMA2", chains=0, interval_of="fma.f16x2"),
    Row("fma.rn.f16x2", THREE, "HFMA2"),
    Row("fma.rn.bf16", THREE, "HFMA2", chains=0, interval_of="fma.bf16x2"),
    Row("fma.rn.bf16x2", THREE, "HFMA2"),
    Row("fma.rn.f32", THREE, "FFMA"),
    Row("fma.rn.f64", THREE, "DFMA"),
    Row("sad.u16", THREE, "VABSDIFF|IADD|IMNMX|VIMNMX"),
    Row("sad.u32", THREE, "VABSDIFF"),
    Row("sad.u64", THREE, "ISETP"),
    Row("div.u16", BY, "MUFU|I2F|CALL", **SLOW),
    Row("div.u32", BY, "MUFU", **SLOW),
    Row("div.s32", BY, "MUFU", **SLOW),
    Row("div.u64", BY, "CALL", **SLOW, values=WIDE),
    Row("div.s64", BY, "CALL", **SLOW, values=WIDE),
    Row("div.rn.f32", BY, "MUFU", **SLOW),
    Row("div.full.f32", BY, "MUFU", **SLOW),
    Row("div.approx.f32", BY, "MUFU", **SLOW),
    Row("div.rn.f64", BY, "MUFU", **SLOW),
    Row("rem.u16", BY, "MUFU|I2F|CALL", back="or.b16 $x, $x, $b;", minus=("or.b16",), **SLOW),
    Row("rem.u32", BY, "MUFU", back="or.b32 $x, $x, $b;", minus=("or.b32",), **SLOW),
    Row("rem.s32", BY, "MUFU", back="or.b32 $x, $x, $b;", minus=("or.b32",), **SLOW),
    Row("rem.u64", BY, "CALL", back="or.b64 $x, $x, $b;", minus=("or.b64",), **SLOW, values=WIDE),
    Row("rem.s64", BY, "CALL", back="or.b64 $x, $x, $b;", minus=("or.b64",), **SLOW, values=WIDE),
    *(Row(f"abs.s{w}", "$y, $x", sass, back=f"sub.s{w} $x, $y, $a;", minus=(f"sub.{'u' if w == 16 else 's'}{w}",))
      for w, sass in ((16, "IABS"), (32, "IABS"), (64, "ISETP"))),
    *(Row(f"neg.s{w}", "$y, $x", ADD, back=f"xor.b{w} $x, $y, $a;", minus=(f"xor.b{w}",)) for w in (16, 32, 64)),
    *(Row(f"{op}.f{w}", "$y, $x", sass, back=f"xor.b{w} $x, $y, $a;", minus=(f"xor.b{w}",), chains=0 if w == 16 else 8)
      for op in ("abs", "neg") for w, sass in ((16, "HADD2|HFMA2"), (32, "FADD"), (64, "DADD"))),
    *(
        Row(f"{op}.{kind}", TWO, sass, guarded=guarded)
        for op in ("min", "max")
        for kind, sass, guarded in (
            ("u16", "IMNMX|VIMNMX", True), ("s16", "IMNMX|VIMNMX", True), ("u32", "IMNMX|VIMNMX", True),
            ("s32", "IMNMX|VIMNMX", True), ("u64", "ISETP", False), ("s64", "ISETP", False),
            ("f16x2", "HMNMX2|VHMNMX", True), ("f32", "FMNMX", False), ("f64", "DSETP", False),
        )
    ),
    *(Row(f"{op}.{kind}", TWO, "HMNMX2|VHMNMX", guarded=True, chains=0, interval_of=f"{op}.f16x2")
      for op in ("min", "max") for kind in ("f16", "bf16")),
    Row("copysign.f32", "$y, $a, $x", "LOP3", back="add.f32 $x, $y, $b;", minus=("add.f32",)),
    Row("copysign.f64", "$y, $a, $x", "LOP3", back="add.f64 $x, $y, $b;", minus=("add.f64",)),
    Row("dp4a.u32.u32", "$x, $x, $a, $b", "IDP"),
    Row("dp2a.lo.u32.u32", "$x, $x, $a, $b", "IDP"),
)  # fmt: skip
