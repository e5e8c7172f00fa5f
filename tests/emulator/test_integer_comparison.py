"""Comparison of integers and selection, against Python's."""

import operator
import struct

import pytest
from emulator.agreement import Reference, check
from emulator.integer_opcodes import OPCODES

from goptx.emulator.integer.integer import integer

COMPARE = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
    "lo": operator.lt, "ls": operator.le, "hi": operator.gt, "hs": operator.ge,
}  # fmt: skip
COMBINE = {"and": lambda t, c: t and c, "or": lambda t, c: t or c, "xor": lambda t, c: t != c}
ONE = {"u32": 2**32 - 1, "s32": -1, "f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}


def of(name: str) -> list[str]:
    return [o for o in OPCODES if o.split(".")[0] == name]


def comparison(words: list[str]) -> Reference:
    """The comparison, combined with a predicate where the opcode says so, and its counterpart."""
    compare, combine = COMPARE[words[0]], COMBINE.get(words[1])

    def both(a: int, b: int, c: int = 0) -> tuple[bool, bool]:
        holds = compare(a, b)
        return (combine(holds, bool(c)), combine(not holds, bool(c))) if combine else (holds, not holds)

    return both


@pytest.mark.parametrize("opcode", of("setp"))
def test_setp(opcode: str) -> None:
    check(integer(opcode), comparison(opcode.split(".")[1:]), seed=opcode)


@pytest.mark.parametrize("opcode", of("set"))
def test_set(opcode: str) -> None:
    words = opcode.split(".")[1:]
    both, one = comparison(words), ONE[words[-2]]
    check(integer(opcode), lambda *operands: one if both(*operands)[0] else 0, seed=opcode)


@pytest.mark.parametrize("opcode", of("selp"))
def test_selp(opcode: str) -> None:
    """Bits are copied, signalling NaNs too."""
    check(integer(opcode), lambda a, b, c: a if c else b, seed=opcode)


def is_at_least_zero(bits: int, flushes: bool) -> bool:
    number = struct.unpack("<f", struct.pack("<I", bits))[0]
    return number >= 0 or (flushes and abs(number) < 2.0**-126)


@pytest.mark.parametrize("opcode", of("slct"))
def test_slct(opcode: str) -> None:
    if opcode.endswith(".s32"):
        check(integer(opcode), lambda a, b, c: a if c >= 0 else b, seed=opcode)
    else:
        check(integer(opcode), lambda a, b, c: a if is_at_least_zero(c, ".ftz" in opcode) else b, seed=opcode)
