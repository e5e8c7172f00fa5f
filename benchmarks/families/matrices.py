"""Cases for the warp's matrices: `mma`, `wmma`, `ldmatrix`, `stmatrix`, `movmatrix`.

Requires tests/ on the module path, for the list of opcodes. Small whole numbers make sums of any order and precision
exact; products of other floats are compared within a share of the sum of the magnitudes of what is added.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np
from emulator import matrix_opcodes
from families.entry import Case, Entry

from goptx.analysis.matrix_products import BITS
from goptx.emulator.floating.formats import decode, encode
from goptx.emulator.instructions.lanewise import DTYPES, Array
from goptx.emulator.matrices.fragments import fragment, matrix_access
from goptx.emulator.matrices.matrix import product
from goptx.emulator.matrices.tiles import Words, words_of

GRID, BLOCK = 16, 64
WARPS = GRID * BLOCK // 32
# How far a sum of random products may be off, relative to the sum of the magnitudes. The ISA has no bound for it.
BOUNDS = {"f32": 2.0**-20, "f16": 2.0**-9, "e4m3": 2.0**-12, "e5m2": 2.0**-12}
SMALL = {"f16": 8, "bf16": 16, "tf32": 64, "e4m3": 4, "e5m2": 4, "f32": 64}  # magnitudes of whole numbers
INEXACT = frozenset("f16 bf16 tf32 e4m3 e5m2".split())


def chosen(select: Callable[[str], bool]) -> list[str]:
    return [opcode for opcode in matrix_opcodes.OPCODES if select(opcode)]


def random(name: str) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(name.encode()))


def elements(type_: str, shape: tuple[int, ...], rng: np.random.Generator, whole: bool) -> Array:
    """Bits of elements: any integers; floats that are small whole numbers, or of a normal distribution."""
    if type_ not in INEXACT | {"f32", "f64"}:
        bits = 8 * max(1, BITS[type_] // 8)
        return rng.integers(0, 1 << bits, shape, np.uint64).astype(f"u{bits // 8}")
    if type_ == "f64":
        return rng.standard_normal(shape).view(np.uint64)
    values = rng.integers(-SMALL[type_], SMALL[type_] + 1, shape) if whole else rng.standard_normal(shape)
    found = encode(np.asarray(values, np.float64), type_)
    if type_ == "tf32":
        found = found.view(np.uint32) & np.uint32(0xFFFFE000)
    return found.view(f"u{found.itemsize}")


def types_of(words: Words) -> tuple[str, str, str, str]:
    """Of D, A, B and C."""
    if len(words.types) == 2:
        return words.types[0], "f16", "f16", words.types[1]
    d, a, b, c = words.types
    return d, a, b, c


def _allowed(types: tuple[str, str, str, str], magnitudes: Array) -> Callable[[Array], Array]:
    d, a, *_ = types
    bound = BOUNDS[d] if d == "f16" else BOUNDS.get(a if BITS[a] == 8 else d, BOUNDS["f32"])
    return lambda right: bound * magnitudes


# mma ------------------------------------------------------------------------------------------------


def mma(select: Callable[[tuple[str, str, str, str]], bool], whole: bool) -> list[Case]:
    """Those whose types are selected, D, A, B and C; fragments straight from memory."""
    cases = []
    for opcode in chosen(lambda o: o.startswith("mma.")):
        words = words_of(opcode, "mma")
        assert words is not None
        if select(types_of(words)):
            cases.append(_mma(opcode, types_of(words), whole))
    return cases


def _mma(opcode: str, types: tuple[str, str, str, str], whole: bool) -> Case:
    found, rng = product(opcode), random(opcode)
    assert found is not None
    entry = Entry(opcode, GRID, BLOCK)
    given, read = [], []
    for element, (type_, count) in zip(types[1:], found.sources, strict=True):
        dtype = np.dtype(f"u{DTYPES[type_].itemsize}")
        each = elements(element, (WARPS * 32, count * dtype.itemsize * 8 // max(8, BITS[element])), rng, whole)
        given.append(np.ascontiguousarray(each).view(dtype))
        read.append(entry.reads(np.ascontiguousarray(given[-1].T), type_))
    type_, count = found.result
    target = entry.vector(type_, count)
    target = target if target.startswith("{") else f"{{{target}}}"
    entry.line(f"{opcode} {target}, {', '.join(read)};")
    if whole or not INEXACT & set(types):
        entry.writes(target, f"b{8 * DTYPES[type_].itemsize}", types[0] if types[0] != "s32" else "bits")
        return entry.case()
    # The same product of magnitudes says how large the sums are that were rounded.
    sizes = [
        _magnitude(g, e).reshape(-1, 32, g.shape[1]).view(DTYPES[t])
        for g, e, (t, _) in zip(given, types[1:], found.sources, strict=True)
    ]
    with np.errstate(all="ignore"):
        sums = found.apply(*sizes).reshape(-1, count)
    format = types[0] if types[0] == "f32" else "f16x2"
    for i, register in enumerate(target.strip("{}").split(", ")):
        column = np.ascontiguousarray(sums[:, i])
        size = column.view(np.float32 if format == "f32" else np.float16).astype(np.float64)
        entry.write(register, "b32", format, allowed=_allowed(types, size))
    return entry.case()


def _magnitude(words: Array, element: str) -> Array:
    """Registers without the signs of their elements."""
    part = np.ascontiguousarray(words).view(f"u{BITS[element] // 8}")
    unsigned: Array = part & part.dtype.type((1 << BITS[element] - 1) - 1)
    return unsigned.view(words.dtype)


# wmma -----------------------------------------------------------------------------------------------


def wmma(select: Callable[[tuple[str, str, str, str]], bool], whole: bool) -> list[Case]:
    """Loads of A, B and C, the product, and a store of D: which lane holds which element depends on the machine."""
    cases = []
    for opcode in chosen(lambda o: o.startswith("wmma.mma")):
        words = words_of(opcode, "wmma.mma")
        assert words is not None
        if select(types_of(words)):
            cases.append(_wmma(opcode, words, whole))
    return cases


def _wmma(opcode: str, words: Words, whole: bool) -> Case:
    types, (m, n, k) = types_of(words), words.shape
    shape = f"m{m}n{n}k{k}"
    rng, entry = random(opcode), Entry(opcode, GRID, BLOCK)
    entry.line("shr.u32 %warp, %thread, 5;")
    entry.variables.append(".reg .b32 %warp;")
    loaded, matrices = [], []
    orders = (*words.layouts, "row")
    extents = ((m, k), (k, n), (m, n))
    for which, element, order, (rows, columns) in zip("abc", types[1:], orders, extents, strict=True):
        lines, along = (rows, columns) if order == "row" else (columns, rows)
        stored = elements(element, (WARPS, lines, along * min(8, BITS[element]) // 8), rng, whole)
        matrices.append(stored if order == "row" else stored.swapaxes(1, 2))
        opcode_ = f"wmma.load.{which}.sync.aligned.{order}.{shape}.global.{element}"
        found = fragment(opcode_)
        assert found is not None
        vector = _braced(entry.vector(found.type, found.registers))
        base = entry.at(entry.array(stored.reshape(-1)), stored[0].nbytes, "%warp")
        entry.line(f"{opcode_} {vector}, [{base}], {along};")
        loaded.append(vector)
    stored_as = f"wmma.store.d.sync.aligned.row.{shape}.global.{types[0]}"
    found = fragment(stored_as)
    assert found is not None
    target = _braced(entry.vector(found.type, found.registers))
    entry.line(f"{opcode} {target}, {', '.join(loaded)};")
    width = BITS[types[0]] // 8
    allowed = None
    if not whole and INEXACT & set(types):
        a, b, c = (np.abs(_as_numbers(v, t)) for v, t in zip(matrices, types[1:], strict=True))
        allowed = _allowed(types, (a @ b + c).reshape(-1))
    words_per = max(width, 4)
    format = types[0] if types[0] != "s32" else "bits"
    room = entry.room(WARPS * m * n * width // words_per, f"b{8 * words_per}", format, allowed=allowed)
    entry.line(f"{stored_as} [{entry.at(room, m * n * width, '%warp')}], {target}, {n};")
    return entry.case()


def _as_numbers(bits: Array, element: str) -> Array:
    return np.asarray(decode(np.ascontiguousarray(bits), element))


def _braced(vector: str) -> str:
    return vector if vector.startswith("{") else f"{{{vector}}}"


# between memory and registers -------------------------------------------------------------------------


def transfers() -> list[Case]:
    """`wmma.load` and `wmma.store` with their fragments, `ldmatrix`, `stmatrix`, `movmatrix`."""
    cases = [_wmma_load(o) for o in chosen(lambda o: o.startswith("wmma.load"))]
    cases += [_wmma_store(o) for o in chosen(lambda o: o.startswith("wmma.store"))]
    cases += [_rows(o) for o in chosen(lambda o: o.startswith(("ldmatrix", "stmatrix")))]
    entry = Entry("movmatrix.sync.aligned.m8n8.trans.b16", GRID, BLOCK)
    given = entry.read(random("movmatrix").integers(0, 1 << 32, entry.threads, np.uint32))
    target = entry.new("b32")
    entry.line(f"movmatrix.sync.aligned.m8n8.trans.b16 {target}, {given};")
    entry.write(target)
    return [*cases, entry.case()]


def _space(opcode: str) -> str:
    return "shared" if ".shared" in opcode else "global"


def _matrix_size(opcode: str) -> tuple[int, int]:
    """Bytes of the matrix with lines twice as long as they need to be; elements from one line to the next."""
    found = fragment(opcode)
    assert found is not None
    stride = 2 * found.stride
    last = int(found.lines.max()) * stride + stride
    return last * found.bits // 8, stride


def _wmma_load(opcode: str) -> Case:
    found = fragment(opcode)
    assert found is not None
    size, stride = _matrix_size(opcode)
    entry = Entry(opcode, GRID, 32)
    base = entry.at(entry.array(random(opcode).integers(0, 256, GRID * size, np.uint8)), size, "%cta")
    if _space(opcode) == "shared":
        base = _into_shared(entry, base, size)
    vector = _braced(entry.vector(found.type, found.registers))
    entry.line(f"{opcode} {vector}, [{base}], {stride};")
    entry.writes(vector, f"b{8 * DTYPES[found.type].itemsize}")
    return entry.case()


def _wmma_store(opcode: str) -> Case:
    """A store of a fragment that a load has filled: which lane holds which element depends on the machine."""
    found = fragment(opcode)
    assert found is not None
    size, stride = _matrix_size(opcode)
    entry = Entry(opcode, GRID, 32)
    type_ = opcode.split(".")[-1]
    load = opcode.replace("wmma.store.d", "wmma.load.c").replace(".shared", "").replace(".global", "")
    bits = elements(type_, (GRID * size // (BITS[type_] // 8),), random(opcode), True)
    base = entry.at(entry.array(bits), size, "%cta")
    vector = _braced(entry.vector(found.type, found.registers))
    entry.line(f"{load} {vector}, [{base}], {stride};")
    out = entry.at(entry.room(GRID * size // 4, "b32"), size, "%cta")
    if _space(opcode) == "global":
        entry.line(f"{opcode} [{out}], {vector}, {stride};")
        return entry.case()
    place = _into_shared(entry, base, size, "xor.b32 {0}, {0}, -1;")
    entry.line(f"{opcode} [{place}], {vector}, {stride};")
    _out_of_shared(entry, out, size)
    return entry.case()


def _rows(opcode: str) -> Case:
    """ldmatrix, stmatrix: the rows of each warp's matrices lie in any order."""
    found, rng = matrix_access(opcode), random(opcode)
    assert found is not None
    entry = Entry(opcode, GRID, 32)
    size = 32 * 16
    memory = entry.at(entry.array(rng.integers(0, 256, GRID * size, np.uint8)), size, "%cta")
    _into_shared(entry, memory, size)
    order = np.argsort(rng.random((GRID, 32)), axis=1).astype(np.uint32) * np.uint32(16)
    place, start = entry.read(order.reshape(-1)), entry.new("b32")
    entry.line(f"mov.u32 {start}, tile;", f"add.u32 {place}, {place}, {start};")
    address = entry.new("b64")
    entry.line(f"cvt.u64.u32 {address}, {place};")
    if ".shared" not in opcode:
        entry.line(f"cvta.shared.u64 {address}, {address};")
    if opcode.startswith("ldmatrix"):
        vector = _braced(entry.vector("b32", found.matrices))
        entry.line(f"{opcode} {vector}, [{address}];")
        entry.writes(vector, "b32")
        return entry.case()
    vector = entry.reads(rng.integers(0, 1 << 32, (found.matrices, entry.threads), np.uint32), "b32")
    entry.line(f"{opcode} [{address}], {vector};")
    _out_of_shared(entry, entry.at(entry.room(GRID * size // 4, "b32"), size, "%cta"), size)
    return entry.case()


def _into_shared(entry: Entry, base: str, size: int, change: str = "") -> str:
    """Copies bytes to shared memory, four by a thread at a time; gives the shared address."""
    entry.variables.append(f".shared .align 128 .b8 tile[{size}];")
    start, here, there, word = entry.new("b32"), entry.new("b32"), entry.new("b64"), entry.new("b32")
    entry.line(
        f"mov.u32 {start}, tile;", f"mad.lo.u32 {here}, %rank, 4, {start};", f"mad.wide.u32 {there}, %rank, 4, {base};"
    )
    for offset in range(0, size, 128):
        entry.line(f"ld.global.b32 {word}, [{there}+{offset}];")
        entry.line(*([change.format(word)] if change else []), f"st.shared.b32 [{here}+{offset}], {word};")
    entry.line("bar.sync 0;")
    wide = entry.new("b64")
    entry.line(f"cvt.u64.u32 {wide}, {start};")
    return wide


def _out_of_shared(entry: Entry, out: str, size: int) -> None:
    start, there, word = entry.new("b32"), entry.new("b64"), entry.new("b32")
    entry.line("bar.sync 0;", f"mov.u32 {start}, tile;", f"mad.lo.u32 {start}, %rank, 4, {start};")
    entry.line(f"mad.wide.u32 {there}, %rank, 4, {out};")
    for offset in range(0, size, 128):
        entry.line(f"ld.shared.b32 {word}, [{start}+{offset}];", f"st.global.b32 [{there}+{offset}], {word};")
