"""Every conversion that ptxas 13.0 accepts for sm_90 or only for sm_100a, without stochastic rounding."""

from __future__ import annotations

from itertools import product

DIRECTIONS = ("rn", "rz", "rm", "rp")
WHOLE = ("rni", "rzi", "rmi", "rpi")
INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")


def opcodes(
    modifiers: tuple[str, ...], more: tuple[str, ...], to: tuple[str, ...], source: tuple[str, ...]
) -> list[str]:
    """All combinations; an empty modifier leaves no dot."""
    return [
        ".".join(["cvt", *filter(None, (first, *rest.split("."))), to, source])
        for first, rest, to, source in product(modifiers, more, to, source)
    ]


def saturates(to: str, source: str) -> bool:
    """Whether the source has integers that the destination lacks."""
    signed, unsigned = source[0] == "s", to[0] == "u"
    return (signed and unsigned) or int(source[1:]) - signed > int(to[1:]) - (not unsigned)


SAT = ("", "sat")
FTZ = ("", "ftz")
BOTH = ("", "sat", "ftz", "ftz.sat")
FINITE = ("satfinite", "relu", "relu.satfinite")

OPCODES = (
    # integers
    *opcodes(("",), ("",), INTEGERS, INTEGERS),
    *(f"cvt.sat.{to}.{source}" for to in INTEGERS for source in INTEGERS if saturates(to, source)),
    *opcodes(WHOLE, SAT, INTEGERS, ("f16", "f64")),
    *opcodes(WHOLE, BOTH, INTEGERS, ("f32",)),
    *opcodes(WHOLE, ("",), INTEGERS[2:], ("bf16",)),
    *opcodes(DIRECTIONS, SAT, ("f16", "f64"), INTEGERS),
    *opcodes(DIRECTIONS, BOTH, ("f32",), INTEGERS),
    *opcodes(DIRECTIONS, ("",), ("bf16",), INTEGERS[2:]),
    # floats of one type
    *opcodes(("", *WHOLE), SAT, ("f16",), ("f16",)),
    *opcodes(("", *WHOLE), BOTH, ("f32",), ("f32",)),
    *opcodes(("", *WHOLE), SAT, ("f64",), ("f64",)),
    *opcodes(("", *WHOLE), ("",), ("bf16",), ("bf16",)),
    # floats of two
    *opcodes(DIRECTIONS, BOTH, ("f16",), ("f32",)),
    *opcodes(DIRECTIONS, SAT, ("f16",), ("f64",)),
    *opcodes(("", *DIRECTIONS), ("",), ("f16",), ("bf16",)),
    *opcodes(DIRECTIONS, FTZ, ("bf16",), ("f32",)),
    *opcodes(("", *DIRECTIONS), ("",), ("bf16",), ("f16",)),
    *opcodes(DIRECTIONS, ("",), ("bf16",), ("f64",)),
    *opcodes(("rn", "rz"), FINITE, ("f16", "bf16"), ("f32",)),
    *opcodes(("",), BOTH, ("f32",), ("f16",)),
    *opcodes(("", *DIRECTIONS), FTZ, ("f32",), ("bf16",)),
    *opcodes(DIRECTIONS, BOTH, ("f32",), ("f64",)),
    *opcodes(("",), SAT, ("f64",), ("f16",)),
    *opcodes(("",), BOTH, ("f64",), ("f32",)),
    *opcodes(("", *DIRECTIONS), ("",), ("f64",), ("bf16",)),
    *opcodes(("rn", "rz"), ("", "relu"), ("tf32",), ("f32",)),
    *opcodes(("rna",), ("", "satfinite"), ("tf32",), ("f32",)),
    # pairs
    *opcodes(("rn", "rz"), ("", *FINITE, "satfinite.relu"), ("f16x2", "bf16x2"), ("f32",)),
    *opcodes(("rn",), ("satfinite", "relu.satfinite", "satfinite.relu"), ("e4m3x2", "e5m2x2"), ("f32", "f16x2")),
    *opcodes(("rn",), ("", "relu"), ("f16x2",), ("e4m3x2", "e5m2x2")),
    *(f"cvt.pack.sat.{to}.s32" for to in ("u16", "s16")),
    *(f"cvt.pack.sat.{to}.s32.b32" for to in ("u8", "s8", "u4", "s4", "u2", "s2")),
)

OPCODES_100A = (
    *opcodes(("rn", "rz"), ("satfinite", "relu.satfinite", "satfinite.relu"), ("tf32",), ("f32",)),
    *opcodes(("rn",), ("satfinite", "relu.satfinite", "satfinite.relu"), ("e2m1x2", "e2m3x2", "e3m2x2"), ("f32",)),
    *opcodes(("rn",), ("satfinite", "relu.satfinite", "satfinite.relu"), ("e2m1x2",), ("f16x2",)),
    *opcodes(("rn",), ("", "relu"), ("f16x2",), ("e2m1x2", "e2m3x2", "e3m2x2")),
    *opcodes(("rz", "rp"), ("", "satfinite"), ("ue8m0x2",), ("f32", "bf16x2")),
    "cvt.rn.bf16x2.ue8m0x2",
)

# Where an H200 does not do what the manual says or suggests, and for which sources; the emulator follows the manual.
UNLIKE_H200 = {
    **dict.fromkeys(
        ("cvt.rm.ftz.f16.f32", "cvt.rp.ftz.f16.f32", "cvt.rp.ftz.sat.f16.f32"), "subnormal f32 are not flushed"
    ),
    **dict.fromkeys(
        ("cvt.rna.tf32.f32", "cvt.rna.satfinite.tf32.f32"),
        "NaN is cut like a number: infinity or the largest number, if only low bits made it NaN",
    ),
}
