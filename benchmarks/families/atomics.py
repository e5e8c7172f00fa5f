"""Cases for `atom` and `red`: every thread at a cell of its own, or several at one.

Requires nothing of a GPU. Threads come in any order, so where they meet the operand is one that makes what they get,
taken together, independent of it; single threads at a cell may do anything.
"""

from __future__ import annotations

import zlib
from itertools import product

import numpy as np
from families.entry import Case, Entry
from families.operands import operands

from goptx.emulator.instructions.lanewise import DTYPES, Array

OPERATIONS = {
    "add": "u32 s32 u64",
    "min": "u32 s32 u64 s64",
    "max": "u32 s32 u64 s64",
    "and": "b32 b64",
    "or": "b32 b64",
    "xor": "b32 b64",
    "exch": "b32 b64 b128",
    "cas": "b16 b32 b64 b128",
    "inc": "u32",
    "dec": "u32",
}
FLOATS = {"add": "f32 f64 noftz.f16 noftz.bf16 noftz.f16x2 noftz.bf16x2"}
VECTORS = {
    "add": "v2.f32 v4.f32",
    **dict.fromkeys(
        ("add.noftz", "min.noftz", "max.noftz"),
        "v2.f16 v4.f16 v8.f16 v2.bf16 v4.bf16 v8.bf16 v2.f16x2 v4.f16x2 v4.bf16x2",
    ),
}
SPACES = (".global", ".shared", "")
ORDERED = "atom.acq_rel.gpu.global.add.u32 atom.relaxed.cta.shared.max.s32 atom.release.sys.global.exch.b64".split()
IN_ANY_ORDER = frozenset("add min max and or xor".split())  # whose sum does not tell who came first
NO_RED = frozenset(("exch", "cas"))
TOGETHER = 8  # threads at a cell


def integers() -> list[Case]:
    cases = []
    for (operation, types), space in product(OPERATIONS.items(), SPACES):
        for type_, together in product(types.split(), (False, True)):
            cases.append(_atomic(f"atom{space}.{operation}.{type_}", together))
            if operation not in NO_RED:
                cases.append(_atomic(f"red{space}.{operation}.{type_}", together))
    return cases + [_atomic(opcode, True) for opcode in ORDERED]


def floats() -> list[Case]:
    cases = []
    for (operation, types), space in product(FLOATS.items(), SPACES):
        for type_, kind in product(types.split(), ("atom", "red")):
            cases.append(_atomic(f"{kind}{space}.{operation}.{type_}", False))
    for operation, types in VECTORS.items():
        for type_, kind in product(types.split(), ("atom", "red")):
            cases.append(_atomic(f"{kind}.global.{operation}.{type_}", False))
    return cases


def _atomic(opcode: str, together: bool) -> Case:
    """On cells of the global array `cells`, or on a copy of the CTA's part of it in shared memory."""
    words = opcode.split(".")
    type_, operation, returns = words[-1], next(w for w in words if w in OPERATIONS), words[0] == "atom"
    shared, generic = "shared" in words, "shared" not in words and "global" not in words
    elements = next((int(w[1:]) for w in words if w in ("v2", "v4", "v8")), 1)
    width = 16 if type_ == "b128" else DTYPES[type_].itemsize
    entry = Entry(f"{opcode}, {TOGETHER} threads at a cell" if together else opcode)
    rng = np.random.default_rng(zlib.crc32(entry.name.encode()))
    per_cta = entry.block // TOGETHER if together else entry.block
    local = np.concatenate([rng.permutation(np.arange(entry.block) % per_cta) for _ in range(entry.grid)])
    cells = local + np.repeat(np.arange(entry.grid) * per_cta, entry.block)
    uniform = together and (returns or operation not in IN_ANY_ORDER)  # one operand for all threads of a cell
    contents, given = _values(type_, operation, entry.grid * per_cta, entry.threads, elements, rng)
    if uniform or not together:
        given = [v[..., cells] for v in given]
    start = entry.changed(_interleaved(contents), _format(type_))
    place = entry.read(local.astype(np.uint32) if shared else cells.astype(np.uint32))
    register = f"b{8 * width}"
    sources = [_register(entry, v, register) for v in given]
    base = _shared_cells(entry, start, per_cta * width) if shared else start
    if generic:
        entry.line(f"cvta.global.u64 {base}, {base};")
    address = entry.at(base, width * elements, place)
    target = entry.vector(register, elements)
    entry.line(f"{opcode} {target + ', ' if returns else ''}[{address}], {', '.join(sources)};")
    if shared:
        _back(entry, start, per_cta * width)
    if returns:
        for each in target.strip("{}").split(", "):
            for part in _parts(entry, each, register):
                half = part is not each
                entry.write(part, "b64" if half else register, _format(type_), cells if together else None)
    return entry.case()


def _format(type_: str) -> str:
    return type_ if "f" in type_ else "bits"


def _values(
    type_: str, operation: str, cells: int, threads: int, elements: int, rng: np.random.Generator
) -> tuple[Array, list[Array]]:
    """Contents (words of a cell, cells), and operands (words, threads) for the cells of as high a number: of `cas`,
    half of those to compare with are equal to the contents."""
    wide = 2 if type_ == "b128" else 1
    held = "b64" if wide == 2 else type_
    count = wide * elements
    first, second = operands((held, held))
    orders = [np.arange(threads), *(rng.permutation(threads) for _ in range(count - 1))]  # special values meet
    contents = np.stack([first[order][:cells] for order in orders])
    given = np.stack([second[order] for order in orders])
    if operation in ("inc", "dec"):
        given >>= (rng.integers(0, 32, given.shape)).astype(given.dtype)
    if operation != "cas":
        return contents, [given]
    expected = np.tile(contents, threads // cells)
    expected = np.where(rng.integers(0, 2, threads) == 0, expected, given)
    return contents, [expected, given[:, ::-1].copy()]


def _interleaved(contents: Array) -> Array:
    """(words, cells) as they lie in memory."""
    return np.ascontiguousarray(contents.T).reshape(-1)


def _register(entry: Entry, values: Array, register: str) -> str:
    """The operand: a register, a vector of them, or two words as one of 128 bits."""
    names = [entry.read(row) for row in values]
    if register == "b128":
        wide = entry.new("b128")
        entry.line(f"mov.b128 {wide}, {{{', '.join(names)}}};")
        return wide
    return names[0] if len(names) == 1 else f"{{{', '.join(names)}}}"


def _parts(entry: Entry, register: str, type_: str) -> list[str]:
    if type_ != "b128":
        return [register]
    parts = [entry.new("b64"), entry.new("b64")]
    entry.line(f"mov.b128 {{{parts[0]}, {parts[1]}}}, {register};")
    return parts


def _shared_cells(entry: Entry, start: str, size: int) -> str:
    """Copies the CTA's cells into shared memory, two bytes at a time."""
    entry.variables.append(f".shared .align 16 .b8 cells[{size}];")
    base, mine = entry.new("b64"), entry.new("b64")
    entry.line(f"mov.u64 {base}, cells;", f"mad.wide.u32 {mine}, %cta, {size}, {start};")
    _each(entry, mine, "global", base, "shared", size)
    entry.line("bar.sync 0;")
    return base


def _back(entry: Entry, start: str, size: int) -> None:
    base, mine = entry.new("b64"), entry.new("b64")
    entry.line("bar.sync 0;", f"mov.u64 {base}, cells;", f"mad.wide.u32 {mine}, %cta, {size}, {start};")
    _each(entry, base, "shared", mine, "global", size)


def _each(entry: Entry, origin: str, from_: str, target: str, to: str, size: int) -> None:
    """All threads of the CTA copy bytes, those of one step side by side."""
    value, here, there = entry.new("b16"), entry.at(origin, 2, "%rank"), entry.at(target, 2, "%rank")
    for offset in range(0, size, 2 * entry.block):
        inside = ""
        if size - offset < 2 * entry.block:
            inside = entry.new("pred")
            entry.line(f"setp.lt.u32 {inside}, %rank, {(size - offset) // 2};")
            inside = f"@{inside} "
        entry.line(
            f"{inside}ld.{from_}.b16 {value}, [{here}+{offset}];", f"{inside}st.{to}.b16 [{there}+{offset}], {value};"
        )
