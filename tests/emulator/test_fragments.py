"""Matrices from memory into fragments and back, and products of them as kernels compute them."""

from __future__ import annotations

import re

import numpy as np
import pytest
from emulator.matrix_figures import BITS
from emulator.matrix_opcodes import OPCODES

from goptx.emulator.instructions.lanewise import DTYPES, Array
from goptx.emulator.matrices.fragments import Fragment, MatrixAccess, fragment, matrix_access
from goptx.emulator.matrices.matrix import Product, product

# What wmma.load gave on an H200, for either order of the matrix in memory: row and column of lane 0's elements, and
# by how much they grow from one thread of a group of four to the next, and from one group to the next.
OBSERVED = {
    "a m16n16k16 f16": ("0,0 0,1 8,0 8,1 0,8 0,9 8,8 8,9 0,0 0,1 8,0 8,1 0,8 0,9 8,8 8,9", "0,2", "1,0"),
    "b m16n16k16 f16": ("0,0 1,0 8,0 9,0 0,8 1,8 8,8 9,8 0,0 1,0 8,0 9,0 0,8 1,8 8,8 9,8", "2,0", "0,1"),
    "a m16n16k16 bf16": ("0,0 0,1 8,0 8,1 0,8 0,9 8,8 8,9", "0,2", "1,0"),
    "b m16n16k16 bf16": ("0,0 1,0 8,0 9,0 0,8 1,8 8,8 9,8", "2,0", "0,1"),
    "a m16n16k16 s8": ("0,0 0,1 0,2 0,3 8,0 8,1 8,2 8,3", "0,4", "1,0"),
    "b m16n16k16 u8": ("0,0 1,0 2,0 3,0 0,8 1,8 2,8 3,8", "4,0", "0,1"),
    "c m16n16k16 f16": ("0,0 0,1 8,0 8,1 0,8 0,9 8,8 8,9", "0,2", "1,0"),
    "c m16n16k16 s32": ("0,0 0,1 8,0 8,1 0,8 0,9 8,8 8,9", "0,2", "1,0"),
    "a m32n8k16 f16": ("0,0 0,1 8,0 8,1 0,8 0,9 8,8 8,9 16,0 16,1 24,0 24,1 16,8 16,9 24,8 24,9", "0,2", "1,0"),
    "b m32n8k16 f16": ("0,0 1,0 8,0 9,0 0,0 1,0 8,0 9,0 0,0 1,0 8,0 9,0 0,0 1,0 8,0 9,0", "2,0", "0,1"),
    "b m32n8k16 bf16": ("0,0 1,0 8,0 9,0", "2,0", "0,1"),
    "a m32n8k16 u8": ("0,0 0,1 0,2 0,3 8,0 8,1 8,2 8,3 16,0 16,1 16,2 16,3 24,0 24,1 24,2 24,3", "0,4", "1,0"),
    "c m32n8k16 f32": ("0,0 0,1 8,0 8,1 16,0 16,1 24,0 24,1", "0,2", "1,0"),
    "a m8n32k16 f16": ("0,0 0,1 0,8 0,9 0,0 0,1 0,8 0,9 0,0 0,1 0,8 0,9 0,0 0,1 0,8 0,9", "0,2", "1,0"),
    "b m8n32k16 f16": ("0,0 1,0 0,8 1,8 8,0 9,0 8,8 9,8 0,16 1,16 0,24 1,24 8,16 9,16 8,24 9,24", "2,0", "0,1"),
    "b m8n32k16 s8": ("0,0 1,0 2,0 3,0 0,8 1,8 2,8 3,8 0,16 1,16 2,16 3,16 0,24 1,24 2,24 3,24", "4,0", "0,1"),
    "c m8n32k16 f32": ("0,0 1,0 0,8 1,8 0,16 1,16 0,24 1,24", "2,0", "0,1"),
    "a m16n16k8 tf32": ("0,0 8,0 0,4 8,4", "0,1", "1,0"),
    "b m16n16k8 tf32": ("0,0 4,0 0,8 4,8", "1,0", "0,1"),
    "c m16n16k8 f32": ("0,0 0,1 8,0 8,1 0,8 0,9 8,8 8,9", "0,2", "1,0"),
    "a m8n8k4 f64": ("0,0", "0,1", "1,0"),
    "b m8n8k4 f64": ("0,0", "1,0", "0,1"),
    "c m8n8k4 f64": ("0,0 0,1", "0,2", "1,0"),
}


def pairs(text: str) -> Array:
    return np.array([list(map(int, pair.split(","))) for pair in text.split()])


@pytest.mark.parametrize("name", OBSERVED)
@pytest.mark.parametrize("order", ["row", "col"])
def test_lanes_hold_what_a_gpu_gives_them(name: str, order: str) -> None:
    operand, shape, element = name.split()
    part = fragment(f"wmma.load.{operand}.sync.aligned.{order}.{shape}.{element}")
    assert part
    first, thread, group = map(pairs, OBSERVED[name])
    lane = np.arange(32)[:, None, None]
    row, column = np.moveaxis(first + lane % 4 * thread + lane // 4 * group, 2, 0)
    stride = 40
    places = row * stride + column if order == "row" else column * stride + row
    assert np.array_equal(part.offsets(stride), places * (BITS[element] // 8))
    assert part.elements == len(first)


def test_offsets_take_a_stride_for_each_lane() -> None:
    part = fragment("wmma.load.a.sync.aligned.row.m16n16k16.f16")
    assert part and part.stride == 16
    strides = np.array([[16] * 32, [24] * 32])
    assert np.array_equal(part.offsets(strides), [part.offsets(16), part.offsets(24)])
    tall = fragment("wmma.load.a.sync.aligned.col.m32n8k16.f16")
    assert tall and tall.stride == 32


# Memory to memory ----------------------------------------------------------------------------------------------------


class Memory:
    """One warp's memory, with a gap of 0xEE after each row of a matrix."""

    def __init__(self, matrix: Array, order: str, pad: int) -> None:
        rows = matrix if order == "row" else matrix.T
        self.stride = rows.shape[1] + pad
        self.bytes = np.full(rows.shape[0] * self.stride * matrix.itemsize, 0xEE, np.uint8)
        self.matrix = self.bytes.view(matrix.dtype).reshape(rows.shape[0], -1)[:, : rows.shape[1]]
        self.matrix[...] = rows

    def load(self, part: Fragment) -> Array:
        offsets = part.offsets(self.stride)
        return part.pack(self.bytes.view(f"u{part.element_bytes}")[offsets // part.element_bytes])

    def store(self, part: Fragment, registers: Array) -> None:
        words = self.bytes.view(f"u{part.element_bytes}")
        words[part.offsets(self.stride) // part.element_bytes] = part.unpack(registers)


def numbers(element: str, shape: tuple[int, int], source: np.random.Generator) -> Array:
    """Small numbers in the element's dtype: their products and sums are exact in every type of D."""
    if element in ("s8", "u8", "s32"):
        dtype = DTYPES[element]
        return np.frombuffer(source.bytes(shape[0] * shape[1] * dtype.itemsize), dtype).reshape(shape)
    small = source.integers(-6, 7, shape).astype(np.float32)
    if element == "bf16":
        return (small.view(np.uint32) >> 16).astype(np.uint16)
    return small.view(np.uint32) if element == "tf32" else small.astype(f"f{BITS[element] // 8}")


def values(matrix: Array, element: str) -> Array:
    if element == "bf16":
        return (matrix.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return matrix.view(np.float32).astype(np.float64) if element == "tf32" else matrix


def known(opcode: str) -> Product:
    found = product(opcode)
    assert found
    return found


def part_of(opcode: str) -> Fragment:
    found = fragment(opcode)
    assert found
    return found


@pytest.mark.parametrize("opcode", [o for o in OPCODES if o.startswith("wmma.mma.sync") and not re.search("[su]4", o)])
@pytest.mark.parametrize("orders", [("row", "row", 0), ("col", "row", 8)])
def test_load_multiply_and_store(opcode: str, orders: tuple[str, str, int]) -> None:
    c_order, d_order, pad = orders
    _, _, _, _, a_order, b_order, *rest = opcode.split(".")
    shape, *types = [w for w in rest if w not in ("rn", "rz", "rm", "rp", "satfinite")]
    d, a, b, c = types if len(types) == 4 else (types[0], "f16", "f16", types[1])
    m, n, k = map(int, re.findall(r"\d+", shape))
    source = np.random.default_rng(len(opcode))
    matrices = [numbers(a, (m, k), source), numbers(b, (k, n), source), numbers(c, (m, n), source)]
    registers = []
    for operand, matrix, order, element in zip("abc", matrices, (a_order, b_order, c_order), (a, b, c), strict=True):
        part = part_of(f"wmma.load.{operand}.sync.aligned.{order}.{shape}.global.{element}")
        registers.append(Memory(matrix, order, pad).load(part))
        assert (part.type, part.registers) == known(opcode).sources["abc".index(operand)]
        assert registers[-1].shape == (32, part.registers) and registers[-1].dtype == DTYPES[part.type]
    with np.errstate(all="ignore"):
        result = known(opcode).apply(*(r[None] for r in registers))[0]
    dtype = {"f16": np.float16, "f32": np.float32, "s32": np.int32, "f64": np.float64}[d]
    out = Memory(np.zeros((m, n), dtype), d_order, pad)
    part = part_of(f"wmma.store.d.sync.aligned.{d_order}.{shape}.shared.{d}")
    assert (part.type, part.registers) == known(opcode).result
    out.store(part, result)
    wanted: Array
    if d == "s32":
        wanted = matrices[0].astype(np.int64) @ matrices[1].astype(np.int64) + matrices[2]
        if "satfinite" in opcode:
            wanted = np.clip(wanted, -(2**31), 2**31 - 1)
        wanted = wanted.astype(np.int32)
    else:
        a_values, b_values, c_values = (
            values(x, t).astype(np.float64) for x, t in zip(matrices, (a, b, c), strict=True)
        )
        wanted = (a_values @ b_values + c_values).astype(dtype)
    assert np.array_equal(out.matrix if d_order == "row" else out.matrix.T, wanted)
    gaps = out.bytes.view(dtype).reshape(-1, out.stride)[:, out.matrix.shape[1] :]
    assert (np.ascontiguousarray(gaps).view(np.uint8) == 0xEE).all()


@pytest.mark.parametrize("opcode", [o for o in OPCODES if o.startswith("wmma.mma") and re.search("[su]4|b1", o)])
def test_elements_of_less_than_a_byte(opcode: str) -> None:
    words = opcode.split(".")
    shape = next(w for w in words if w[0] == "m" and "n" in w)
    element = next(w for w in words if w in ("s4", "u4", "b1"))
    bits, (m, n, k) = BITS[element], map(int, re.findall(r"\d+", shape))
    source = np.random.default_rng(4)
    raw = [source.integers(0, 2**bits, (rows, k), np.uint8) for rows in (m, n)]  # A by rows, B by columns
    packed = [np.packbits((x[..., None] >> np.arange(bits) & 1).reshape(-1), bitorder="little") for x in raw]
    c = source.integers(-99, 99, (m, n), np.int32)
    a_part, b_part = (
        part_of(f"wmma.load.{o}.sync.aligned.{r}.{shape}.{element}") for o, r in (("a", "row"), ("b", "col"))
    )
    c_part = part_of(f"wmma.load.c.sync.aligned.row.{shape}.s32")
    a, b = (
        part.pack(memory.view(np.uint32)[part.offsets(k) // 4])
        for part, memory in zip((a_part, b_part), packed, strict=True)
    )
    assert a_part.stride == b_part.stride == k
    result = known(opcode).apply(a[None], b[None], Memory(c, "row", 0).load(c_part)[None])[0]
    out = Memory(np.zeros_like(c), "row", 0)
    out.store(c_part, result)
    left, right = ((x.astype(np.int64) ^ 8) - 8 if element == "s4" else x.astype(np.int64) for x in raw)
    each = {"xor": left[:, None] ^ right, "and": left[:, None] & right}.get(words[2], left[:, None] * right)
    assert np.array_equal(out.matrix, each.sum(2) + c)


# ldmatrix, stmatrix --------------------------------------------------------------------------------------------------


def access_of(opcode: str) -> MatrixAccess:
    found = matrix_access(opcode)
    assert found
    return found


@pytest.mark.parametrize("number", [1, 2, 4])
@pytest.mark.parametrize("trans", ["", ".trans"])
def test_ldmatrix_and_stmatrix(number: int, trans: str) -> None:
    load = access_of(f"ldmatrix.sync.aligned.m8n8.x{number}{trans}.shared.b16")
    store = access_of(f"stmatrix.sync.aligned.m8n8.x{number}{trans}.shared.b16")
    addresses = np.random.default_rng(5).permutation(64).reshape(2, 32) * 16
    memory = np.random.default_rng(6).integers(0, 256, 64 * 16, np.uint8)
    halves = memory.view(np.uint16)
    rows = memory[load.row_addresses(addresses)[..., None] + np.arange(16)]
    registers = load.registers(rows)
    assert registers.shape == (2, 32, number) and registers.dtype == np.uint32
    for warp in range(2):
        for lane in range(32):
            for i in range(number):
                places = [(lane // 4, lane % 4 * 2), (lane // 4, lane % 4 * 2 + 1)]
                if trans:
                    places = [(column, row) for row, column in places]
                low, high = (halves[addresses[warp, 8 * i + row] // 2 + column] for row, column in places)
                assert registers[warp, lane, i] == int(low) | int(high) << 16
    assert np.array_equal(store.rows(registers), rows)


def test_a_product_as_kernels_compute_it() -> None:
    """A is row-major and B row-major in shared memory: x4 loads A, x2.trans loads B, lanes store C."""
    source = np.random.default_rng(7)
    a, b = (source.integers(-9, 10, shape).astype(np.float16) for shape in ((16, 16), (16, 8)))
    lane = np.arange(32)
    load_a = access_of("ldmatrix.sync.aligned.m8n8.x4.shared.b16")
    a_addresses = (lane % 16 * 16 + lane // 16 * 8)[None] * 2  # lanes 0 to 15 the left half, row by row
    a_rows = a.reshape(-1).view(np.uint8)[load_a.row_addresses(a_addresses)[..., None] + np.arange(16)]
    load_b = access_of("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16")
    b_addresses = (lane % 16 * 8)[None] * 2
    b_rows = b.reshape(-1).view(np.uint8)[load_b.row_addresses(b_addresses)[..., None] + np.arange(16)]
    found = known("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
    sums = np.zeros((1, 32, 4), np.float32)
    for _ in range(2):
        sums = found.apply(load_a.registers(a_rows), load_b.registers(b_rows), sums)
    wanted = 2 * (a.astype(np.float64) @ b.astype(np.float64))
    for i in range(32):
        row, column = i // 4, i % 4 * 2
        assert sums[0, i].tolist() == [*wanted[row, column : column + 2], *wanted[row + 8, column : column + 2]]
