"""Cases for loads and stores of all spaces.

Requires nothing of a GPU. Every thread owns a slot of 16 bytes.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from families.entry import Case, Entry

from goptx.emulator.instructions.lanewise import DTYPES, Array

SLOT = 16  # bytes
SPACES = ("global", "shared", "local", "const", "generic global", "generic shared", "generic local")
TYPES = "b8 u8 s8 b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64".split()
LOADS = """ld.global.nc.b32 ld.global.nc.v4.f32 ld.volatile.global.u32 ld.relaxed.gpu.global.u32
    ld.acquire.sys.global.b64 ld.relaxed.cta.global.s16 ld.global.ca.s8 ld.global.cg.u16 ld.global.cs.v2.b64
    ld.global.lu.b32 ld.global.cv.b64 ld.global.L1::no_allocate.b32 ld.global.L1::evict_last.v4.b32
    ld.global.L2::128B.b32 ldu.global.v4.u32 ldu.global.b64 ld.weak.global.b32
    ld.global.nc.L1::no_allocate.L2::256B.v4.b32 ld.mmio.relaxed.sys.global.b32""".split()
STORES = """st.volatile.global.u32 st.relaxed.gpu.global.u32 st.release.sys.global.b64 st.relaxed.cta.global.b16
    st.global.wb.b8 st.global.cg.b16 st.global.cs.v2.b64 st.global.wt.v4.b32 st.global.L1::evict_first.b32
    st.weak.global.b64 st.mmio.relaxed.sys.global.b32""".split()


def words(count: int, seed: int) -> Array:
    return np.random.default_rng(seed).integers(0, 1 << 32, count, np.uint32)


# loads and stores -----------------------------------------------------------------------------------


def accesses() -> list[Case]:
    cases = []
    for space, type_ in product(SPACES, TYPES):
        for elements, register in product((1, 2, 4), _registers(type_)):
            if elements * DTYPES[type_].itemsize > SLOT:
                continue
            prefix = "" if space.startswith("generic") else f".{space}"
            vector = f".v{elements}" if elements > 1 else ""
            cases.append(_load(f"ld{prefix}{vector}.{type_}", space, register))
            if space != "const":
                cases.append(_store(f"st{prefix}{vector}.{type_}", space, register))
    cases += [_load(opcode, "global", _registers(opcode.split(".")[-1])[0]) for opcode in LOADS]
    cases += [_store(opcode, "global", _registers(opcode.split(".")[-1])[0]) for opcode in STORES]
    return [*cases, _wide(), _initial()]


def _registers(type_: str) -> list[str]:
    """The narrowest register that takes the type, and one that is too wide for it."""
    width = max(2, DTYPES[type_].itemsize)
    narrow = f"b{8 * width}"
    return [narrow] if type_[0] == "f" or width == 8 else [narrow, "b64"]


def _elements(opcode: str) -> int:
    return next((int(w[1:]) for w in opcode.split(".") if w in ("v2", "v4")), 1)


def _load(opcode: str, space: str, register: str) -> Case:
    entry = Entry(
        f"{opcode}, {space}, to .{register}" if space.startswith("generic") else f"{opcode} to .{register}", 2
    )
    content = words(entry.threads * SLOT // 4, 1)
    if space == "const":
        address = _const_slot(entry, content)
    else:
        origin = entry.at(entry.array(content), SLOT)
        address = origin if space.endswith("global") else slot(entry, space)
        if address != origin:
            copy(entry, origin, "global", address, space)
    vector = entry.vector(register, _elements(opcode))
    entry.line(f"{opcode} {vector}, [{address}];")
    entry.writes(vector, register)
    return entry.case()


def _store(opcode: str, space: str, register: str) -> Case:
    """The bytes of the slot around a store do not change."""
    name = f"{opcode}, {space}, from .{register}" if space.startswith("generic") else f"{opcode} from .{register}"
    entry = Entry(name, 2)
    width, elements = int(register[1:]) // 8, _elements(opcode)
    values = np.random.default_rng(2).integers(0, 1 << 8 * width, (elements, entry.threads), np.uint64)
    vector = entry.reads(values.astype(f"u{width}"), register)
    vector = vector if elements > 1 else vector.strip("{}")
    out = entry.at(entry.changed(words(entry.threads * SLOT // 4, 3)), SLOT)
    address = out if space.endswith("global") else slot(entry, space)
    if address != out:
        copy(entry, out, "global", address, space)
    entry.line(f"{opcode} [{address}], {vector};")
    if address != out:
        copy(entry, address, space, out, "global")
    return entry.case()


def slot(entry: Entry, space: str) -> str:
    """The thread's slot in shared or local memory, as an address of that space or a generic one."""
    kind = space.split()[-1]
    count = entry.block if kind == "shared" else 1
    entry.variables.append(f".{kind} .align {SLOT} .b8 slots[{count * SLOT}];")
    start = entry.new("b64")
    entry.line(f"mov.u64 {start}, slots;")
    if space.startswith("generic"):
        entry.line(f"cvta.{kind}.u64 {start}, {start};")
    return entry.at(start, SLOT, "%rank") if kind == "shared" else start


def copy(entry: Entry, origin: str, from_: str, target: str, to: str) -> None:
    vector = entry.vector("b32", 4)
    source, destination = ("" if s.startswith("generic") else f".{s}" for s in (from_, to))
    entry.line(f"ld{source}.v4.b32 {vector}, [{origin}];", f"st{destination}.v4.b32 [{target}], {vector};")


def _const_slot(entry: Entry, content: Array) -> str:
    """One of 64 slots of a constant variable."""
    values = ", ".join(map(str, content[: 64 * SLOT // 4]))
    entry.declarations.append(f".const .align {SLOT} .b32 table_ENTRY[{64 * SLOT // 4}] = {{{values}}};")
    entry.variables.append(".reg .b32 %slot;")
    start = entry.new("b64")
    entry.line("and.b32 %slot, %thread, 63;", f"mov.u64 {start}, table_ENTRY;")
    return entry.at(start, SLOT, "%slot")


def _wide() -> Case:
    entry = Entry("ld.global.b128, st.global.b128", 2)
    origin = entry.at(entry.array(words(entry.threads * SLOT // 4, 1)), SLOT)
    out = entry.at(entry.room(entry.threads * SLOT // 4, "b32"), SLOT)
    register = entry.new("b128")
    entry.line(f"ld.global.b128 {register}, [{origin}];", f"st.global.b128 [{out}], {register};")
    return entry.case()


def _initial() -> Case:
    """Variables of a module with values of their own, and addresses of each other."""
    entry = Entry("ld.global of initialised variables", 1, 32)
    entry.declarations += [
        ".global .align 4 .b8 bytes_ENTRY[8] = {1, 2, 254, 255};",
        ".global .align 2 .s16 halves_ENTRY[3] = {-1, -32768, 32767};",
        ".global .align 4 .f32 singles_ENTRY[2] = {1.5, 0f7F800000};",
        ".global .align 8 .f64 doubles_ENTRY[2] = {-2.5, 0d7FF0000000000000};",
        ".global .align 8 .u64 places_ENTRY[2] = {halves_ENTRY, bytes_ENTRY+2};",
    ]
    for name, opcode, offset, register in (
        ("bytes", "s8", 2, "b32"), ("bytes", "u8", 7, "b32"), ("halves", "s16", 2, "b32"), ("singles", "f32", 0, "f32"),
        ("singles", "b32", 4, "b32"), ("doubles", "f64", 8, "f64"), ("doubles", "b64", 0, "b64"),
    ):  # fmt: skip
        target = entry.new(register)
        entry.line(f"ld.global.{opcode} {target}, [{name}_ENTRY+{offset}];")
        entry.write(target, f"b{register[1:]}")
    for i, opcode in enumerate(("s16", "u8")):
        pointer, target = entry.new("b64"), entry.new("b32")
        entry.line(f"ld.global.u64 {pointer}, [places_ENTRY+{8 * i}];", f"ld.{opcode} {target}, [{pointer}];")
        entry.write(target)
    return entry.case()
