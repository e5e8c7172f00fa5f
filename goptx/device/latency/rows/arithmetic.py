"""Addition, multiplication, minimum and maximum of integers and floats."""

from __future__ import annotations

from goptx.device.latency.row import Row

TWO, THREE = "$x, $x, $a", "$x, $x, $a, $b"
ADD, CARRIED = "U?IADD|VIADD|IMAD", r"(U?IADD3?|IMAD)\.X"
HALVES, HMNMX = "HADD2|HMUL2|HFMA2", "V?HMNMX"
CARRY = "add.cc.u32 %flag, %flag, 1;"  # for an initial carry
HIGH, LOW_HALF = "mov.b64 {$z, $x}, $y;", "mov.b32 {$x, $z}, $y;"
NEWER = {"bf16": 90, "bf16x2": 90}  # before sm_90 they are computed by fma


def _scalar(opcode: str, operands: str, sass: str, pair: str, guarded: bool = False) -> Row:
    """A row for halves. Their chains would be executed in pairs, so the interval is that of pairs."""
    arch = 80 if opcode.startswith("fma") else NEWER.get(opcode.rpartition(".")[2], 80)
    return Row(opcode, operands, sass, chains=0, interval_of=pair, guarded=guarded, arch=arch)


ROWS = (
    *(Row(f"{op}.{t}", TWO, ADD, guarded=True) for op in ("add", "sub") for t in ("u16", "s32")),
    *(Row(f"{op}.s64", "$y, $x, $a", CARRIED, then="xor.b64 $x, $y, $b") for op in ("add", "sub")),
    *(Row(f"{op}.cc.u32", TWO, ADD, chains=0, setup=CARRY) for op in ("addc", "subc")),
    *(Row(f"{op}.{t}x2", TWO, HALVES, arch=NEWER.get(t, 80)) for op in ("add", "sub", "mul") for t in ("f16", "bf16")),
    *(_scalar(f"{op}.{t}", TWO, HALVES, f"{op}.{t}x2") for op in ("add", "sub", "mul") for t in ("f16", "bf16")),
    *(Row(f"{op}.{t}", TWO, sass) for op in ("add", "sub") for t, sass in (("f32", "FADD"), ("f64", "DADD"))),
    *(Row(f"mul.{t}", TWO, sass) for t, sass in (("f32", "FMUL"), ("f64", "DMUL"))),
    *(Row(f"mul.{part}", TWO, "IMAD") for part in ("lo.u16", "lo.s32", "lo.s64", "hi.u16", "hi.u32", "hi.u64")),
    *(Row(f"mul.wide.{t}16", "$y, $x, $a", "IMAD", y="b32", after=LOW_HALF) for t in "us"),
    *(Row(f"mul.wide.{t}32", "$y, $x, $a", "IMAD", y="b64", after=HIGH) for t in "us"),
    *(Row(f"mul24.{part}.u32", TWO, "IMAD") for part in ("lo", "hi")),
    *(Row(f"mad.{part}", THREE, "IMAD") for part in ("lo.u16", "lo.s32", "lo.s64", "hi.u32", "hi.u64")),
    Row("mad.wide.u16", "$y, $x, $a, $y", "IMAD", y="b32", after=LOW_HALF, start="mov.b32 $y, %zero;"),
    Row("mad.wide.u32", "$y, $x, $a, %c", "IMAD", y="b64", after=HIGH, declares=".reg .b64 %c;",
        setup="ld.global.b64 %c, [%from];"),
    *(Row(f"{op}.rn.{t}", THREE, sass) for op in ("mad", "fma") for t, sass in (("f32", "FFMA"), ("f64", "DFMA"))),
    *(Row(f"mad24.{part}.u32", THREE, "IMAD") for part in ("lo", "hi")),
    Row("madc.lo.cc.u32", THREE, ADD, chains=0, setup=CARRY),
    *(Row(f"fma.rn.{t}x2", THREE, HALVES) for t in ("f16", "bf16")),
    *(_scalar(f"fma.rn.{t}", THREE, HALVES, f"fma.{t}x2") for t in ("f16", "bf16")),
    Row("sad.u16", THREE, "VABSDIFF|V?IMNMX"),
    Row("sad.u32", THREE, "VABSDIFF"),
    Row("sad.u64", THREE, "ISETP"),
    Row("abs.s16", "$y, $x", "IABS", then="sub.u16 $x, $y, $a"),
    Row("abs.s32", "$y, $x", "IABS", then="sub.s32 $x, $y, $a"),
    Row("abs.s64", "$y, $x", "ISETP", then="sub.s64 $x, $y, $a"),
    *(Row(f"neg.s{w}", "$y, $x", ADD, then=f"xor.b{w} $x, $y, $a") for w in (16, 32, 64)),
    *(Row(f"{op}.f{w}", "$y, $x", sass, then=f"xor.b{w} $x, $y, $a", chains=chains)
      for op in ("abs", "neg") for w, sass, chains in ((16, HALVES, 0), (32, "FADD", 8), (64, "DADD", 8))),
    *(Row(f"{op}.{t}{w}", TWO, "V?IMNMX", guarded=True) for op in ("min", "max") for t in "us" for w in (16, 32)),
    *(Row(f"{op}.{t}64", TWO, "ISETP") for op in ("min", "max") for t in "us"),
    *(Row(f"{op}.f16x2", TWO, HMNMX, guarded=True) for op in ("min", "max")),
    *(_scalar(f"{op}.{t}", TWO, HMNMX, f"{op}.f16x2", guarded=True) for op in ("min", "max") for t in ("f16", "bf16")),
    *(Row(f"{op}.{t}", TWO, sass) for op in ("min", "max") for t, sass in (("f32", "FMNMX"), ("f64", "DSETP"))),
    *(Row(f"copysign.f{w}", "$y, $a, $x", "LOP3", then=f"add.f{w} $x, $y, $b") for w in (32, 64)),
    *(Row(opcode, THREE, "IDP") for opcode in ("dp4a.u32.u32", "dp2a.lo.u32.u32")),
)  # fmt: skip
