"""Logic, shifts, and instructions on bits, against definitions bit by bit."""

import random

import pytest
from emulator.agreement import Reference, agree, bits_for, check, signed
from emulator.integer_opcodes import OPCODES

from goptx.emulator.integer.integer import integer


def bit(n: int, i: int) -> int:
    return (n >> i) & 1


def field(n: int, width: int) -> list[int]:
    """Bits, the lowest first."""
    return [bit(n, i) for i in range(width)]


def number(bits: list[int]) -> int:
    return sum(b << i for i, b in enumerate(bits))


def three_bits(table: int) -> Reference:
    """Bit by bit: those of a, b and c are the index into the table."""
    return lambda a, b, c, _: number([bit(table, 4 * bit(a, i) + 2 * bit(b, i) + bit(c, i)) for i in range(32)])


def shifted(opcode: str) -> Reference:
    name, t = opcode.split(".")
    width = int(t[1:])
    if name == "shl":
        return lambda a, n: a << min(n, width)
    return lambda a, n: a >> min(n, width)  # Python's shift keeps the sign that the operand has


def funnel(opcode: str) -> Reference:
    _, direction, mode, _ = opcode.split(".")

    def apply(a: int, b: int, c: int) -> int:
        n = min(c, 32) if mode == "clamp" else c % 32
        both = b << 32 | a
        return (both << n) >> 32 if direction == "l" else both >> n

    return apply


def extract(opcode: str) -> Reference:
    t = opcode.split(".")[1]
    width = int(t[1:])

    def apply(a: int, b: int, c: int) -> int:
        first, length = b % 256, c % 256
        sign = bit(a, min(first + length - 1, width - 1)) if t[0] == "s" and length else 0
        return number([bit(a, first + i) if i < length and first + i < width else sign for i in range(width)])

    return apply


def insert(opcode: str) -> Reference:
    width = int(opcode.split(".")[1][1:])

    def apply(a: int, b: int, c: int, d: int) -> int:
        first, length = c % 256, d % 256
        return number([bit(a, i - first) if first <= i < first + length else bit(b, i) for i in range(width)])

    return apply


def mask(opcode: str) -> Reference:
    clamps = ".clamp" in opcode

    def apply(a: int, b: int) -> int:
        first, length = (a, b) if clamps else (a % 32, b % 32)
        return number([first <= i < first + length for i in range(32)])

    return apply


def extend(opcode: str) -> Reference:
    _, mode, t = opcode.split(".")

    def apply(a: int, n: int) -> int:
        n = min(n, 32) if mode == "clamp" else n % 32
        if n == 0:
            return 0
        return signed(a, n) if t == "s32" else a % (1 << n)

    return apply


def find(opcode: str) -> Reference:
    *words, t = opcode.split(".")
    width = int(t[1:])

    def apply(a: int) -> int:
        position = (~a if a < 0 else a).bit_length() - 1
        return width - 1 - position if "shiftamt" in words and position >= 0 else position

    return apply


def find_nth(mask: int, base: int, offset: int) -> int:
    """The ISA's loop, for a base within the word."""
    base %= 32
    if offset == 0:
        return base if bit(mask, base) else -1
    positions = range(base, 32) if offset > 0 else range(base, -1, -1)
    found = [p for p in positions if bit(mask, p)]
    return found[abs(offset) - 1] if abs(offset) <= len(found) else -1


def permute(opcode: str) -> Reference:
    """The bytes of {b, a} from the lowest on; in the special modes as in the ISA's table, highest first."""
    mode = opcode.removeprefix("prmt.b32").removeprefix(".")
    rows = {
        "f4e": ["3210", "4321", "5432", "6543"],
        "b4e": ["5670", "6701", "7012", "0123"],
        "rc8": ["0000", "1111", "2222", "3333"],
        "ecl": ["3210", "3211", "3222", "3333"],
        "ecr": ["0000", "1110", "2210", "3210"],
        "rc16": ["1010", "3232", "1010", "3232"],
    }

    def apply(a: int, b: int, c: int) -> int:
        pool = a.to_bytes(4, "little") + b.to_bytes(4, "little")
        if mode:
            return int.from_bytes(bytes(pool[int(i)] for i in rows[mode][c % 4]), "big")
        out = []
        for nibble in ((c >> at) & 15 for at in (0, 4, 8, 12)):
            byte = pool[nibble & 7]
            out.append((255 if byte >= 128 else 0) if nibble & 8 else byte)
        return int.from_bytes(bytes(out), "little")

    return apply


def reference(opcode: str) -> Reference:
    name, *_, last = opcode.split(".")
    width = int(last[1:]) if name in ("popc", "clz", "brev") else 0
    simple: dict[str, Reference] = {
        "and": lambda a, b: a & b,
        "or": lambda a, b: a | b,
        "xor": lambda a, b: a ^ b,
        "not": lambda a: ~a,
        "cnot": lambda a: a == 0,
        "popc": lambda a: sum(field(a, width)),
        "clz": lambda a: width - a.bit_length(),
        "brev": lambda a: number(field(a, width)[::-1]),
        "fns": find_nth,
    }
    of_opcode = {
        "shl": shifted, "shr": shifted, "shf": funnel, "bfe": extract, "bfi": insert, "bmsk": mask, "szext": extend,
        "bfind": find, "prmt": permute,
    }  # fmt: skip
    return simple[name] if name in simple else of_opcode[name](opcode)


BASES = "and or xor not cnot shl shr shf bfe bfi bmsk szext popc clz brev bfind fns prmt".split()


@pytest.mark.parametrize("opcode", [o for o in OPCODES if o.split(".")[0] in BASES and o != "fns.b32"])
def test_bits(opcode: str) -> None:
    check(integer(opcode), reference(opcode), seed=opcode)


def test_find_nth() -> None:
    """Bases within the word, offsets that are found as often as not, and the least of all."""
    instruction, source = integer("fns.b32"), random.Random(1)
    assert instruction is not None
    masks, bases = bits_for("b32", 3000, source), [source.randrange(32) for _ in range(3000)]
    offsets = [source.choice([0, 1, -1, 2, -2, 3, -5, 8, 31, 32, -32, 33, -(2**31), 2**31 - 1]) for _ in range(3000)]
    unsigned = [o % 2**32 for o in offsets]
    agree(instruction, find_nth, (masks, bases, unsigned), 3000)
    for i in range(20):
        agree(instruction, find_nth, (masks[:30], bases[i], unsigned[:30]), 30)
        agree(instruction, find_nth, (masks[i], bases[:30], unsigned[i]), 30)
        agree(instruction, find_nth, (masks[i], bases[i], unsigned[i]), 1)


@pytest.mark.parametrize(
    ("operands", "found"), [((3, 1), 3), ((3, -1), 3), ((2, 1), 3), ((2, -1), 1)], ids=lambda v: str(v)
)
def test_find_nth_examples_of_the_manual(operands: tuple[int, int], found: int) -> None:
    instruction = integer("fns.b32")
    assert instruction is not None
    base, offset = operands
    agree(instruction, lambda *_: found, ([0xAAAAAAAA] * 3, [base] * 3, [offset % 2**32] * 3), 3)


@pytest.mark.parametrize("shift", ["shl.b16", "shr.s16", "shr.u32", "shr.s32", "shl.b64", "shr.s64", "shr.b64"])
def test_shifts_by_every_amount(shift: str) -> None:
    """Long enough for the vector units to be used, amounts far beyond the width among them."""
    instruction, width = integer(shift), int(shift[-2:])
    assert instruction is not None
    amounts = [*range(300), 2**15, 2**16, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1]
    for value in (1, (1 << width) - 1, 1 << (width - 1)):
        agree(instruction, shifted(shift), ([value] * len(amounts), amounts), len(amounts))


@pytest.mark.slow
def test_lop3() -> None:
    """All functions of three bits."""
    for table in range(256):
        check(integer("lop3.b32"), three_bits(table), seed=str(table), immediates={3: table})


@pytest.mark.parametrize("function", [lambda a, b, c: a & b & c, lambda a, b, c: (a & b | c) ^ a, lambda a, b, c: a])
def test_lop3_tables_are_what_the_function_gives_for_three_constants(function: Reference) -> None:
    check(
        integer("lop3.b32"),
        lambda a, b, c, _: function(a, b, c),
        seed="",
        immediates={3: function(0xF0, 0xCC, 0xAA) & 255},
    )


@pytest.mark.parametrize("name", ["and", "or"])
@pytest.mark.parametrize("table", [0x00, 0x01, 0x80, 0xC0, 0xE8, 0xFF])
def test_lop3_with_predicate(name: str, table: int) -> None:
    def expected(a: int, b: int, c: int, _: int, q: int) -> tuple[int, int]:
        result = three_bits(table)(a, b, c, _)
        return result, ((result != 0) and q) if name == "and" else ((result != 0) or q)

    check(integer(f"lop3.{name}.b32"), expected, seed=f"{name}{table}", immediates={3: table})


def test_prmt_with_constant_selectors() -> None:
    """Each byte of either register at each place, alone and beside others, sign or not."""
    source = random.Random(2)
    selectors = [nibble << at for nibble in range(16) for at in (0, 4, 8, 12)]
    for selector in [*selectors, 0x5410, 0x7632, 0x0123, 0x7777, 0xFFFF, *(source.getrandbits(32) for _ in range(50))]:
        check(integer("prmt.b32"), permute("prmt.b32"), seed=str(selector), immediates={2: selector})
