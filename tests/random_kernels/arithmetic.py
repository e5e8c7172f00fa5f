"""The instructions that a thread executes for itself, as rows: an opcode and the sources of its operands.

Capital letters stand for registers of a pool: R 32 bits, W 64, F f32, D f64, H 16, Q predicates. I is a constant, S one
from 0 to 31, Z a divisor that is never zero (Y one of 64 bits). Rows of several instructions are carry chains.

Left out are instructions whose results ptxas 13.0 (-O1 and above) changes: `rcp.approx` of the result of another, and
of `ex2.approx`, and `div.approx` by these, become a copy, a negation or a product, in unrolled loops and not in others;
`min` and `max` of a register with itself become a copy, so that NaNs are not canonical.
"""

from __future__ import annotations

import re
from collections.abc import Callable

INTEGER = """
add.u32 R, R, R
add.s32 R, R, I
add.sat.s32 R, R, R
sub.u32 R, R, R
sub.s32 R, R, I
mul.lo.u32 R, R, R
mul.lo.s32 R, R, I
mul.hi.u32 R, R, R
mul.hi.s32 R, R, R
mul24.lo.s32 R, R, R
mad.lo.u32 R, R, R, R
mad.lo.s32 R, R, I, R
mad.hi.u32 R, R, R, R
mad24.lo.u32 R, R, R, R
div.u32 R, R, Z
div.s32 R, R, Z
rem.u32 R, R, Z
rem.s32 R, R, Z
div.u32 R, R, 7
rem.s32 R, R, 10
abs.s32 R, R
neg.s32 R, R
min.s32 R, R, R
max.s32 R, R, I
min.u32 R, R, R
max.u32 R, R, R
sad.u32 R, R, R, R
and.b32 R, R, R
or.b32 R, R, R
xor.b32 R, R, R
and.b32 R, R, I
xor.b32 R, R, I
not.b32 R, R
cnot.b32 R, R
lop3.b32 R, R, R, R, 0x96
lop3.b32 R, R, R, R, 0xe8
lop3.b32 R, R, R, R, 0x1b
shl.b32 R, R, S
shl.b32 R, R, R
shr.u32 R, R, S
shr.s32 R, R, S
shr.u32 R, R, R
shf.l.wrap.b32 R, R, R, R
shf.r.clamp.b32 R, R, R, S
bfe.u32 R, R, S, S
bfe.s32 R, R, R, S
bfi.b32 R, R, R, S, S
bfind.u32 R, R
bfind.shiftamt.s32 R, R
brev.b32 R, R
popc.b32 R, R
clz.b32 R, R
prmt.b32 R, R, R, I
prmt.b32 R, R, R, 0x2107
prmt.b32.rc8 R, R, R, R
dp4a.u32.s32 R, R, R, R
dp2a.lo.s32.u32 R, R, R, R
bmsk.clamp.b32 R, R, S
szext.wrap.s32 R, R, S
slct.s32.s32 R, R, R, R
mov.b32 R, R
mov.u32 R, I
selp.b32 R, R, R, Q
selp.s32 R, I, R, Q
"""
WIDE = """
mul.wide.u32 W, R, R
mul.wide.s32 W, R, I
mad.wide.u32 W, R, R, W
add.u64 W, W, W
add.s64 W, W, 12345
sub.u64 W, W, W
mul.lo.u64 W, W, W
mul.hi.u64 W, W, W
mad.lo.s64 W, W, W, W
div.u64 W, W, Y
rem.s64 W, W, Y
min.s64 W, W, W
max.u64 W, W, W
abs.s64 W, W
neg.s64 W, W
and.b64 W, W, W
or.b64 W, W, W
xor.b64 W, W, W
not.b64 W, W
shl.b64 W, W, S
shr.u64 W, W, R
shr.s64 W, W, S
bfe.u64 W, W, S, S
bfi.b64 W, W, W, S, S
brev.b64 W, W
popc.b64 R, W
clz.b64 R, W
bfind.u64 R, W
mov.b64 W, {R, R}
mov.b64 {R, R}, W
cvt.u64.u32 W, R
cvt.s64.s32 W, R
cvt.u32.u64 R, W
selp.b64 W, W, W, Q
"""
FLOAT = """
add.f32 F, F, F
add.rz.f32 F, F, F
sub.f32 F, F, F
sub.sat.f32 F, F, F
mul.f32 F, F, F
mul.rn.ftz.f32 F, F, F
mul.f32 F, F, 0f3F000000
fma.rn.f32 F, F, F, F
fma.rm.f32 F, F, F, F
div.rn.f32 F, F, F
sqrt.rn.f32 F, F
rcp.rn.f32 F, F
abs.f32 F, F
neg.f32 F, F
min.f32 F, F, F
max.NaN.f32 F, F, F
copysign.f32 F, F, F
selp.f32 F, F, F, Q
mov.f32 F, F
mov.b32 R, F
cvt.rn.f32.s32 F, R
cvt.rz.f32.u32 F, R
cvt.rzi.s32.f32 R, F
cvt.rni.u32.f32 R, F
cvt.rmi.f32.f32 F, F
testp.finite.f32 Q, F
"""
DOUBLE = """
add.f64 D, D, D
sub.f64 D, D, D
mul.f64 D, D, D
fma.rn.f64 D, D, D, D
div.rn.f64 D, D, D
sqrt.rn.f64 D, D
rcp.rn.f64 D, D
min.f64 D, D, D
abs.f64 D, D
cvt.f64.f32 D, F
cvt.rn.f32.f64 F, D
cvt.rn.f64.s32 D, R
cvt.rzi.s32.f64 R, D
setp.lt.f64 Q, D, D
"""
HALF = """
add.f16 H, H, H
mul.f16 H, H, H
fma.rn.f16 H, H, H, H
min.f16 H, H, H
neg.f16 H, H
cvt.rn.f16.f32 H, F
cvt.f32.f16 F, H
add.f16x2 R, R, R
fma.rn.f16x2 R, R, R, R
fma.rn.bf16x2 R, R, R, R
add.u16 H, H, H
mul.lo.s16 H, H, H
mul.wide.u16 R, H, H
shr.s16 H, H, S
cvt.u16.u32 H, R
cvt.s32.s16 R, H
cvt.u32.u16 R, H
cvt.s32.s8 R, R
cvt.sat.u8.s32 R, R
mov.b32 R, {H, H}
mov.b32 {H, H}, R
setp.ge.f16 Q, H, H
"""
PREDICATE = """
setp.lt.s32 Q, R, R
setp.ge.u32 Q, R, R
setp.eq.s32 Q, R, I
setp.ne.and.s32 Q, R, R, Q
setp.gt.or.u32 Q, R, R, !Q
setp.lt.s32 Q|Q, R, R
setp.hi.xor.u32 Q|Q, R, R, Q
setp.ne.b64 Q, W, W
setp.lt.s64 Q, W, W
setp.gt.f32 Q, F, F
setp.leu.f32 Q, F, F
setp.num.f32 Q|Q, F, F
set.lt.u32.s32 R, R, R
set.gt.f32.f32 F, F, F
and.pred Q, Q, Q
or.pred Q, Q, Q
xor.pred Q, Q, Q
not.pred Q, Q
mov.pred Q, Q
"""
CARRY = """
add.cc.u32 R, R, R; addc.u32 R, R, R
add.cc.u32 R, R, R; addc.cc.u32 R, R, R; addc.u32 R, R, R
add.cc.u32 R, R, R; xor.b32 R, R, R; addc.cc.u32 R, R, I; mul.lo.u32 R, R, R; addc.u32 R, R, R
add.cc.u64 W, W, W; addc.u64 W, W, W
sub.cc.u32 R, R, R; subc.u32 R, R, R
sub.cc.s32 R, R, R; subc.cc.s32 R, R, I; subc.s32 R, R, R
mad.lo.cc.u32 R, R, R, R; madc.hi.u32 R, R, R, R
mad.lo.cc.u32 R, R, R, R; madc.hi.cc.u32 R, R, R, R; addc.u32 R, R, 0
add.cc.u32 R, R, R; addc.u32 R, R, R; sub.cc.u32 R, R, R; subc.u32 R, R, R
"""
APPROXIMATE = """
ex2.approx.ftz.f32 F, F
lg2.approx.f32 F, F
sin.approx.f32 F, F
rsqrt.approx.f32 F, F
sqrt.approx.ftz.f32 F, F
div.full.f32 F, F, F
tanh.approx.f32 F, F
"""
FAMILIES = {
    "integer": INTEGER, "64 bits": WIDE, "float": FLOAT, "double": DOUBLE, "half": HALF, "predicate": PREDICATE,
    "carry": CARRY, "approximate": APPROXIMATE,
}  # fmt: skip
ROWS = {family: tuple(text.strip().splitlines()) for family, text in FAMILIES.items()}
FAMILY_OF = {row: family for family, rows in ROWS.items() for row in rows}

POOLS = {"R": ("v", 8), "W": ("w", 4), "F": ("f", 4), "D": ("d", 2), "H": ("h", 4), "Q": ("q", 4)}
CONSTANTS = (
    1,
    0,
    2,
    3,
    5,
    31,
    32,
    255,
    4096,
    65535,
    0x2107,
    0x55555555,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    1103515245,
)
_OPERANDS = re.compile(r"\b[RWFDHQISZY]\b")


def operands(row: str) -> int:
    """How many numbers the row takes."""
    return len(_OPERANDS.findall(row))


def register(pool: str, number: int) -> str:
    stem, size = POOLS[pool]
    return f"%{stem}{number % size}"


def filled(row: str, numbers: tuple[int, ...], divisor: Callable[[str, str], str]) -> list[str]:
    """The row's instructions. `divisor` gives a register that is never zero, from one and its type. Two destinations
    are never the same register, nor the two operands of a `min` or `max` of floating point."""
    made = []
    rest = (number + 3 * (i // len(numbers)) for i, number in enumerate(numbers * operands(row)))
    for text in row.split("; "):
        taken: list[str] = []

        pair = re.match(r"\S+ (\w\|\w|\{)", text) is not None
        # The position from which on registers differ.
        distinct = 0 if pair else 1 if re.match(r"(min|max)\S* [FDH]", text) else None

        def operand(match: re.Match[str], taken: list[str] = taken, distinct: int | None = distinct) -> str:
            word, number = match[0], next(rest)
            if word == "I":
                return str(CONSTANTS[number % len(CONSTANTS)])
            if word == "S":
                return str(2 * number % 32 + number // 16)
            if word in "ZY":
                return divisor(register("R" if word == "Z" else "W", number), word)
            name = register(word, number)
            if distinct is not None and taken[distinct:] == [name]:
                name = register(word, number + 1)
            taken.append(name)
            return name

        opcode, _, arguments = text.partition(" ")
        made.append(f"{opcode} {_OPERANDS.sub(operand, arguments)};")
    return made
