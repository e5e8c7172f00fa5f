"""Products of matrices against sums of fractions, over fragments as the ISA's figures have them."""

from __future__ import annotations

import math
import random
import re
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from emulator.agreement import signed
from emulator.matrix_figures import BITS, FIGURES, Codes, accumulator, collected, spread
from emulator.matrix_opcodes import OPCODES, OPCODES_120A
from emulator.rounding import FORMATS, decoded, encoded, largest_code

from goptx.device.assemble import assemble
from goptx.emulator.instructions.lanewise import DTYPES, Array
from goptx.emulator.matrices.fragments import fragment, matrix_access
from goptx.emulator.matrices.matrix import Product, product

MMA = [o for o in OPCODES if o.startswith("mma.")]
FIGURED = [*(o for o in MMA if not re.search(r"m8n8k4.*f16", o)), *OPCODES_120A]
QUADS = [o for o in MMA if o not in FIGURED]
PRODUCTS = [o for o in OPCODES if product(o)]

NO_OPCODES = """
    mma.sync.m16n8k16.row.col.f32.f16.f16.f32  mma.aligned.m16n8k16.row.col.f32.f16.f16.f32
    mma.sync.aligned.row.col.f32.f16.f16.f32  mma.sync.aligned.m16n8k16.f32.f16.f16.f32
    mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16
    mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f32  mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f32
    mma.sync.aligned.m16n8k16.row.col.f32.bf16.f16.f32  mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16
    mma.sync.aligned.m16n8k4.row.col.f32.f16.f16.f32  mma.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32
    mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32  mma.sync.aligned.m16n8k32.row.col.s32.s8.s4.s32
    mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.popc  mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.or.popc
    mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.xor.popc  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16
    mma.sync.aligned.m8n8k4.row.col.rn.rz.f64.f64.f64.f64  mma.sync.aligned.m8n8k4.row.col.rna.f64.f64.f64.f64
    mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m1.f32
    mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f32.e3m2.e3m2.f32
    mma.sync.aligned.m16n8k32.row.col.f32.e3m2.e3m2.f32  mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.s32.s8.s8.s32
    mma.sync.aligned.sync.m8n8k4.row.col.f64.f64.f64.f64
    mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32  mma.sync.aligned.m16n8k16.m16n8k8.row.col.f32.f16.f16.f32
    wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16.f16.f32  wmma.mma.sync.aligned.row.col.m16n16k16.f32
    wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32.satfinite  wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.u8.s32
    wmma.mma.sync.aligned.row.m16n16k16.f32.f32  wmma.mma.sync.aligned.row.row.m8n8k32.s32.s4.s4.s32
    wmma.mma.sync.aligned.row.col.m16n16k8.f32.f32  wmma.mma.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32
    wmma.load.a.sync.aligned.m16n16k16.f16  wmma.load.a.sync.aligned.row.m16n16k16.f32
    wmma.load.a.sync.aligned.row.m16n16k16.local.f16  wmma.load.a.sync.aligned.row.m16n16k16.global.shared.f16
    wmma.load.a.sync.aligned.col.m8n8k32.s4  wmma.load.b.sync.aligned.row.m8n8k32.s4  wmma.load.a.sync.row.m16n16k16.f16
    wmma.load.c.sync.aligned.row.m16n16k8.f16  wmma.load.d.sync.aligned.row.m16n16k16.f32  wmma.load
    wmma.store.c.sync.aligned.row.m16n16k16.f32  wmma.store.d.sync.aligned.row.m16n16k16.bf16
    ldmatrix.sync.aligned.m8n8.x3.b16  ldmatrix.sync.aligned.m8n8.b16  ldmatrix.sync.m8n8.x1.b16
    ldmatrix.sync.aligned.m8n8.x1.global.b16  ldmatrix.sync.aligned.m16n16.x1.trans.b8  ldmatrix
    stmatrix.sync.aligned.m8n8.x1.x2.b16  movmatrix.sync.aligned.m8n8.b16  add.f32
"""


# What there is -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("opcode", OPCODES)
def test_each_opcode_has_one_meaning(opcode: str) -> None:
    assert [bool(found) for found in (product(opcode), fragment(opcode), matrix_access(opcode))].count(True) == 1


@pytest.mark.parametrize("opcode", NO_OPCODES.split())
def test_opcodes_that_the_isa_lacks_are_refused(opcode: str) -> None:
    assert (product(opcode), fragment(opcode), matrix_access(opcode)) == (None, None, None)


def test_modifiers_stand_in_any_order() -> None:
    reordered = product("mma.m16n8k16.aligned.sync.row.f32.col.f16.f16.f32")
    plain = product("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
    assert reordered and plain and (reordered.sources, reordered.result) == (plain.sources, plain.result)
    assert product("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32.satfinite")


@pytest.mark.slow
def test_ptxas_takes_every_opcode_with_these_registers() -> None:
    def vector(type: str, count: int) -> str:
        return "{" + ", ".join(f"%{type}_{i}" for i in range(count)) + "}"

    def operands(opcode: str) -> list[str]:
        found, part, access = product(opcode), fragment(opcode), matrix_access(opcode)
        if found:
            vectors = [vector(*v) for v in (found.result, *found.sources)]
            return [v.strip("{}") for v in vectors] if opcode.startswith("movmatrix") else vectors
        assert part or access
        moved = vector(part.type, part.registers) if part else vector("b32", access.matrices if access else 0)
        return ["[%p]", moved] if opcode.startswith(("wmma.store", "stmatrix")) else [moved, "[%p]"]

    lines = [".version 8.7", ".target sm_90a", ".address_size 64", ".visible .entry k()", "{", ".reg .b64 %p;"]
    lines += [f".reg .{type} %{type}_<16>;" for type in ("b32", "s32", "f32", "f64")]
    lines += [f"{opcode} {', '.join(operands(opcode))};" for opcode in OPCODES]
    assert assemble("\n".join([*lines, "ret;", "}", ""]), entry="k", arch="sm_90a").cubin


# What they compute ---------------------------------------------------------------------------------------------------


Value = int | float
"""A number of 2**-160, which every element of A, B and C is a multiple of; or NaN or an infinity."""


@cache
def worth(code: int, element: str) -> Value:
    """The value of an element's bits; those of tf32 are 19, above 13 that do not count."""
    if element not in FORMATS:
        return (signed(code, BITS[element]) if element.startswith("s") else code) << 160
    value = decoded(code >> 13, "tf32") if element == "tf32" else decoded(code, element)
    return int(value * 2**160) if math.isfinite(value) else float(value)


def total(terms: list[tuple[Value, Value]]) -> Fraction | float:
    """The exact sum of products; zero is +0."""
    if any(isinstance(x, float) or isinstance(y, float) for x, y in terms):
        signs = [float(np.sign(x) * np.sign(y)) for x, y in terms if isinstance(x, float) or isinstance(y, float)]
        return sum((s * math.inf for s in signs), 0.0)
    return Fraction(sum(int(x * y) for x, y in terms), 2**320)


def rounded(terms: list[tuple[Value, Value]], element: str) -> tuple[int, int]:
    """The bits that the sum may have. They are two only where it is cancelled so far that float64 does not hold it."""
    exact = total(terms)
    if isinstance(exact, float):
        return (encoded(exact, element, "rn"),) * 2
    error = Fraction(sum(int(abs(x * y)) for x, y in terms), 2**370)
    low, high = encoded(exact - error, element, "rn"), encoded(exact + error, element, "rn")
    return (low, high) if error else (0, 0)


def fused(pairs: list[tuple[int, int]], c: int, rounding: str) -> int:
    """Multiply-adds of the bits of finite f64, one after the other."""
    for x, y in pairs:
        exact = Fraction(decoded(x, "f64")) * Fraction(decoded(y, "f64")) + Fraction(decoded(c, "f64"))
        c = encoded(exact, "f64", rounding)
    return c


def bounds(opcode: str, a: Codes, b: Codes, c: Codes) -> list[list[tuple[int, int]]]:
    """The lowest and the highest element that D may have, mostly the same."""
    _, (d_type, a_type, b_type, c_type) = parts(opcode)
    words = opcode.split(".")
    rounding = next((w for w in words if w in ("rn", "rz", "rm", "rp")), "rn")

    def element(row: list[int], column: tuple[int, ...], addend: int) -> tuple[int, int]:
        pairs = list(zip(row, column, strict=True))
        if d_type == "f64":
            return (fused(pairs, addend, rounding),) * 2
        terms = [(worth(x, a_type), worth(y, b_type)) for x, y in pairs] + [(worth(addend, c_type), 1 << 160)]
        if d_type != "s32":
            return rounded(terms, d_type)
        whole = int(total(terms))
        if "xor" in words:
            whole = sum(x != y for x, y in pairs) + signed(addend, 32)
        if "satfinite" in words:
            whole = max(min(whole, 2**31 - 1), -(2**31))
        return (whole & 0xFFFFFFFF,) * 2

    columns = list(zip(*b, strict=True))
    return [
        [element(row, column, x) for column, x in zip(columns, addends, strict=True)]
        for row, addends in zip(a, c, strict=True)
    ]


def within(got: Codes, wanted: list[list[tuple[int, int]]], element: str) -> bool:
    """Equal bits where there is no choice; else a number between the two."""

    def fits(code: int, low: int, high: int) -> bool:
        if low == high:
            return code == low
        return decoded(low, element) <= decoded(code, element) <= decoded(high, element)

    pairs = [(x, y) for row, limits in zip(got, wanted, strict=True) for x, y in zip(row, limits, strict=True)]
    return all(fits(code, *limits) for code, limits in pairs)


def codes(element: str, rows: int, columns: int, kind: str, source: random.Random) -> Codes:
    """Bits of elements: "near" ones of like size, "finite" ones of any, or among them "special" ones."""
    width = BITS[element]

    def one() -> int:
        if element not in FORMATS:
            edge = element == "s32" and source.random() < 0.5
            return (1 << 31) + source.randint(-5000, 5000) if edge else source.getrandbits(width)
        form = FORMATS[element]
        low = 13 if element == "tf32" else 0
        sign = form.sign * source.getrandbits(1)
        code = source.randint(0, largest_code(form))
        if kind == "near":
            exponent = max(form.bias + source.randint(-2, 2), 0)
            code = (exponent << form.mantissa) + source.getrandbits(form.mantissa)
        elif kind == "special" and source.random() < 0.6:
            normal = 1 << form.mantissa
            choices = [0, 0, 0, 1, normal - 1, normal, form.bias << form.mantissa, largest_code(form)]
            code = source.choice(choices + [largest_code(form) + 1, form.sign - 1] * (source.random() < 0.1))
        return (sign | code) << low | source.getrandbits(low) if low else sign | code

    return [[one() for _ in range(columns)] for _ in range(rows)]


def parts(opcode: str) -> tuple[tuple[int, int, int], tuple[str, str, str, str]]:
    shape = re.search(r"m(\d+)n(\d+)k(\d+)", opcode)
    types = [w for w in opcode.split(".") if w in BITS]
    assert shape
    m, n, k = map(int, shape.groups())
    return (m, n, k), (types[0], types[1], types[2], types[3])


def applied(found: Product, *registers: Array) -> Array:
    """The result for several warps, checked for its kind and for leaving the arguments alone."""
    before = [r.copy() for r in registers]
    with np.errstate(all="ignore"):
        result = found.apply(*registers)
    assert all(r.tobytes() == o.tobytes() for r, o in zip(registers, before, strict=True))
    assert result.dtype == DTYPES[found.result[0]]
    assert result.shape == (len(registers[0]), 32, found.result[1])
    return result


@pytest.mark.parametrize("opcode", FIGURED)
def test_mma(opcode: str) -> None:
    found = product(opcode)
    assert found
    (m, n, k), (d, a, b, c) = parts(opcode)
    a_place, b_place = FIGURES[f"m{m}n{n}k{k}", BITS[a]]
    source = random.Random(opcode)
    kinds = ("near", "finite", "special") if c != "f64" else ("near",)
    cases = [(codes(a, m, k, x, source), codes(b, k, n, x, source), codes(c, m, n, x, source)) for x in kinds]
    warps = [
        np.concatenate([spread(case[i], place, element, found.sources[i]) for case in cases])
        for i, (place, element) in enumerate(((a_place, a), (b_place, b), (accumulator, c)))
    ]
    result = applied(found, *warps)
    for case, registers in zip(cases, result, strict=True):
        assert within(collected(registers, accumulator, d, m, n), bounds(opcode, *case), d)


def test_bits_above_a_number_of_six_bits_do_not_count() -> None:
    found = product("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m3.f32")
    assert found
    bits = np.random.default_rng(2)
    a, b = (bits.integers(0, 2**32, (3, 32, n), np.uint32) for n in (4, 2))
    c = bits.standard_normal((3, 32, 4)).astype(np.float32)
    low = np.uint32(0x3F3F3F3F)
    assert applied(found, a, b, c).tobytes() == applied(found, a & low, b & low, c).tobytes()


def quad_places(lane: int, layouts: tuple[str, str], c: str) -> tuple[list[tuple[int, int]], ...]:
    """The places of a_i, b_i, c_i in lane `lane` of the 8 that make one product of m8n8k4."""
    low = lane < 16
    a = [(lane % 4 if low else lane % 4 + 4, i) for i in range(4)]
    if layouts[0] == "col":
        a = [(i if low else i + 4, lane % 4) for i in range(4)]
    b = [(lane % 4, i if low else i + 4) for i in range(4)]
    if layouts[1] == "col":
        b = [(i, lane % 4 if low else lane % 4 + 4) for i in range(4)]
    sums = [(lane % 4 if low else lane % 4 + 4, i) for i in range(8)]
    if c == "f32":
        x = [(lane & 0b1) + (i & 0b10) for i in range(8)]
        sums = [(x[i] if low else x[i] + 4, (i & 0b100) + (lane & 0b10) + (i & 0b1)) for i in range(8)]
    return a, b, sums


@pytest.mark.parametrize("opcode", QUADS)
def test_mma_of_four_quads(opcode: str) -> None:
    found = product(opcode)
    assert found
    words = opcode.split(".")
    layouts, (d, a, b, c) = (words[4], words[5]), parts(opcode)[1]
    source = random.Random(opcode)
    matrices = [(codes(a, 8, 4, x, source), codes(b, 4, 8, x, source), codes(c, 8, 8, x, source))
                for x in ("near", "finite", "special", "near")]  # fmt: skip
    vectors: list[list[list[int]]] = [[], [], []]
    for lane in range(32):
        for i, places in enumerate(quad_places(lane, layouts, c)):
            vectors[i].append([matrices[lane % 16 // 4][i][row][column] for row, column in places])
    registers = [
        np.array([vector], f"u{BITS[element] // 8}").view(DTYPES[type])
        for vector, element, (type, _) in zip(vectors, (a, b, c), found.sources, strict=True)
    ]
    result = applied(found, *registers)[0].view(f"u{BITS[d] // 8}").tolist()
    sums = [[[0] * 8 for _ in range(8)] for _ in range(4)]
    for lane in range(32):
        for code, (row, column) in zip(result[lane], quad_places(lane, layouts, d)[2], strict=True):
            sums[lane % 16 // 4][row][column] = code
    assert all(within(got, bounds(opcode, *matrix), d) for got, matrix in zip(sums, matrices, strict=True))


@pytest.mark.parametrize("opcode", ["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
                                    "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32",
                                    "mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32",
                                    "wmma.mma.sync.aligned.row.col.m32n8k16.f16.f16"])  # fmt: skip
def test_warps_do_not_see_each_other(opcode: str) -> None:
    found = product(opcode)
    assert found
    bits = np.random.default_rng(1)
    registers = [bits.integers(0, 2**32, (150, 32, n), np.uint32).view(DTYPES[t]) for t, n in found.sources]
    together = applied(found, *registers)
    alone = np.concatenate([applied(found, *(r[[warp]] for r in registers)) for warp in range(150)])
    assert together.tobytes() == alone.tobytes()
    strided = [np.repeat(r, 2, axis=2)[..., ::2] for r in registers]
    assert applied(found, *strided).tobytes() == together.tobytes()
    assert applied(found, *(r[:0] for r in registers)).shape == (0, 32, found.result[1])


def test_an_identity_leaves_the_other_matrix() -> None:
    found = product("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
    assert found
    a_place, b_place = FIGURES["m16n8k16", 16]
    b = codes("bf16", 16, 8, "finite", random.Random(3))
    identity = [[0x3F80 * (row == column) for column in range(16)] for row in range(16)]
    zeros = [[0] * 8 for _ in range(16)]
    result = applied(
        found,
        spread(identity, a_place, "bf16", found.sources[0]),
        spread(b, b_place, "bf16", found.sources[1]),
        spread(zeros, accumulator, "f32", found.sources[2]),
    )
    assert collected(result[0], accumulator, "f32", 16, 8) == [[x << 16 if x & 0x7FFF else 0 for x in row] for row in b]


def test_the_sum_is_rounded_once() -> None:
    """1 + 2**-11 is halfway between two f16, so what is 2**-26 more must go up; an f32 would not hold that."""
    found = product("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16")
    assert found
    a_place, b_place = FIGURES["m16n8k8", 16]
    a = [[0x1000, 0x0200, *[0] * 6]] * 16  # 2**-11, 2**-15
    b = [[0x3C00] * 8, [0x1000] * 8, *[[0] * 8] * 6]  # 1, 2**-11
    c = [[0x3C00] * 8] * 16
    registers = [spread(x, place, "f16", vector) for x, place, vector
                 in zip((a, b, c), (a_place, b_place, accumulator), found.sources, strict=True)]  # fmt: skip
    assert (applied(found, *registers) == 0x3C013C01).all()


def test_zeros_of_any_sign_add_to_plus_zero() -> None:
    found = product("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32")
    assert found
    a, b = np.zeros((1, 32, 2), np.uint32), np.full((1, 32, 1), 0xBC00BC00, np.uint32)  # 0 and -1
    assert applied(found, a, b, np.full((1, 32, 4), -0.0, np.float32)).view(np.uint32).max() == 0


def test_movmatrix_transposes() -> None:
    found = product("movmatrix.sync.aligned.m8n8.trans.b16")
    assert found
    matrix = [[8 * row + column for column in range(8)] for row in range(8)]
    registers = np.array([[[matrix[lane // 4][lane % 4 * 2] | matrix[lane // 4][lane % 4 * 2 + 1] << 16]
                           for lane in range(32)]], np.uint32)  # fmt: skip
    result = applied(found, registers)[0, :, 0].tolist()
    assert result == [matrix[lane % 4 * 2][lane // 4] | matrix[lane % 4 * 2 + 1][lane // 4] << 16 for lane in range(32)]
    assert np.array_equal(applied(found, applied(found, registers)), registers)
