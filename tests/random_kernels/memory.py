"""What each thread does with memory: its own words of `out`, words of `in` that it picks, totals, local arrays."""

from __future__ import annotations

from collections.abc import Callable

from random_kernels import corners
from random_kernels.copying import copy_groups, copy_own
from random_kernels.data import FLOATS, PLAY
from random_kernels.tree import Access, Guard
from random_kernels.writer import Writer

BINS = 8  # words of totals in shared memory
TOTAL_OPERATIONS = ("add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32", "add.f32", "add.u64")
BIN_OPERATIONS = ("add.u32", "or.b32", "xor.b32", "max.u32")
OWN_TYPES = ("u32", "u8", "s16", "b32")

Kind = Callable[[Writer, tuple[int, ...], Guard | None], None]


def access(w: Writer, statement: Access) -> None:
    w.saw(statement.kind)
    (KINDS | corners.KINDS)[statement.kind](w, (*statement.numbers, 0, 0, 0, 0), statement.guard)


def _gather(w: Writer, n: tuple[int, ...], guard: Guard | None) -> None:
    a = w.at("%in", w.below(f"%v{n[1] % 8}", 64), 4)
    if n[2] % 4 == 1:
        w.guarded(guard, f"ld.global.{('u8', 's8', 'u16', 's16')[n[3] % 4]} %v{n[0] % 8}, [{a}];")
    else:
        w.guarded(guard, f"ld.global{'.nc' if n[2] % 4 == 2 else ''}.u32 %v{n[0] % 8}, [{a}];")


def _gather_float(w: Writer, n: tuple[int, ...], guard: Guard | None) -> None:
    a = w.at("%in", w.below(f"%v{n[1] % 8}", 64), 4)
    w.guarded(guard, f"ld.global.f32 %f{n[0] % 4}, [{a}+{4 * FLOATS}];")


def _gather_vector(w: Writer, n: tuple[int, ...], guard: Guard | None) -> None:
    a = w.at("%in", w.below(f"%v{n[1] % 8}", 16), 16)
    first = n[0] % 8
    if n[2] & 1:
        w.guarded(guard, f"ld.global.v2.u64 {{%w{first % 4}, %w{(first + 1) % 4}}}, [{a}];")
    else:
        w.guarded(guard, f"ld.global.v4.u32 {{{', '.join(f'%v{(first + i) % 8}' for i in range(4))}}}, [{a}];")


def _store_own(w: Writer, n: tuple[int, ...], guard: Guard | None) -> None:
    """At a place that is known, or that depends on data."""
    word = f"st{'.volatile' if n[2] == 5 else ''}.global"
    if n[2] & 3 == 3:
        a = w.at("%out", w.below(f"%v{n[3] % 8}", 8), 4)
        w.guarded(guard, f"{word}.u32 [{a}+{4 * PLAY}], %v{n[1] % 8};")
    else:
        w.guarded(guard, f"{word}.{OWN_TYPES[n[2] % 4]} [%out+{4 * PLAY + 4 * (n[0] % 8)}], %v{n[1] % 8};")


def _load_own(w: Writer, n: tuple[int, ...], guard: Guard | None) -> None:
    if n[2] & 3 == 3:
        a = w.at("%out", w.below(f"%v{n[3] % 8}", 8), 4)
        w.guarded(guard, f"ld.global.u32 %v{n[0] % 8}, [{a}+{4 * PLAY}];")
    else:
        word = f"ld{'.volatile' if n[2] == 5 else ''}.global"
        w.guarded(guard, f"{word}.{OWN_TYPES[n[2] % 4]} %v{n[0] % 8}, [%out+{4 * PLAY + 4 * (n[1] % 8)}];")


def _store_wide(w: Writer, n: tuple[int, ...], guard: Guard | None) -> None:
    a, b = n[1] % 8, n[2] % 8
    if n[3] & 1:
        w.guarded(guard, f"st.global.v4.b32 [%out+{4 * PLAY + 16 * (n[0] % 2)}], {{%v{a}, %v{b}, %v{a}, %f{b % 4}}};")
    else:
        w.guarded(guard, f"st.global.u64 [%out+{4 * PLAY + 8 * (n[0] % 4)}], %w{a % 4};")


def _constant(w: Writer, n: tuple[int, ...], guard: Guard | None) -> None:
    a = w.at(w.base("table"), w.below(f"%v{n[1] % 8}", 8), 4)
    w.guarded(guard, f"ld.const.u32 %v{n[0] % 8}, [{a}];")


def _local(w: Writer, n: tuple[int, ...], guard: Guard | None) -> None:
    """Writes a thread's array and reads a word that data picks."""
    a, first = w.base("frame"), n[0] % 8
    for i in range(0, 8, 2):
        w.line(f"st.local.v2.b32 [{a}+{4 * i}], {{%v{(first + i) % 8}, %v{(first + n[2] + i) % 8}}};")
    w.guarded(guard, f"ld.local.u32 %v{n[3] % 8}, [{w.at(a, w.below(f'%v{n[1] % 8}', 8), 4)}];")


def _depot_store(w: Writer, n: tuple[int, ...], guard: Guard | None) -> None:
    """To the thread's array that lasts, in local or generic words, at a place that is known or not."""
    space, base = (("", "%SP"), (".local", "%SPL"))[n[3] & 1]
    if n[2] & 1:
        w.guarded(guard, f"st{space}.b32 [{w.at(base, w.below(f'%v{n[0] % 8}', 8), 4)}], %v{n[1] % 8};")
    else:
        w.guarded(guard, f"st{space}.v2.b32 [{base}+{8 * (n[0] % 4)}], {{%v{n[1] % 8}, %v{n[3] % 8}}};")


def _depot_load(w: Writer, n: tuple[int, ...], guard: Guard | None) -> None:
    space, base = (("", "%SP"), (".local", "%SPL"))[n[3] & 1]
    if n[2] & 1:
        w.guarded(guard, f"ld{space}.b32 %v{n[1] % 8}, [{w.at(base, w.below(f'%v{n[0] % 8}', 8), 4)}];")
    else:
        w.guarded(guard, f"ld{space}.{('b64 %w', 'u8 %v')[n[2] >> 1 & 1]}{n[1] % 4}, [{base}+{8 * (n[0] % 4)}];")


def _total(w: Writer, n: tuple[int, ...], guard: Guard | None) -> None:
    """Each operation has words of its own, so that their order does not matter."""
    number = n[0] % len(TOTAL_OPERATIONS)
    operation, value = TOTAL_OPERATIONS[number], f"%v{n[1] % 8}"
    if operation == "add.f32":  # small whole numbers add up to the same in any order
        f = w.word()
        w.line(f"cvt.rn.f32.u32 {f}, {w.below(value, 8)};")
        value = f
    if operation == "add.u64":
        value, place = f"%w{n[1] % 4}", "%totals"
    else:
        place = w.at("%totals", w.below(f"%v{n[2] % 8}", 2), 4)
    where = f"[{place}+{8 * number}]"
    scope = (".global", ".relaxed.gpu.global", "", ".global")[n[3] % 4]
    if n[3] % 4 == 3:
        w.guarded(
            guard, f"atom{scope}.{operation} {w.wide() if operation.endswith('64') else w.word()}, {where}, {value};"
        )
    else:
        w.guarded(guard, f"red{scope}.{operation} {where}, {value};")


def _bin(w: Writer, n: tuple[int, ...], guard: Guard | None) -> None:
    number = n[0] % len(BIN_OPERATIONS)
    place = w.at(w.base("bins"), w.below(f"%v{n[2] % 8}", 2), 4)
    where, value = f"[{place}+{8 * number}]", f"%v{n[1] % 8}"
    if n[3] & 1:
        w.guarded(guard, f"atom.shared.{BIN_OPERATIONS[number]} {w.word()}, {where}, {value};")
    else:
        w.guarded(guard, f"red.shared.{BIN_OPERATIONS[number]} {where}, {value};")


def _fence(w: Writer, n: tuple[int, ...], guard: Guard | None) -> None:
    w.line(("membar.cta;", "membar.gl;", "fence.acq_rel.cta;", "fence.sc.gpu;")[n[0] % 4])


KINDS: dict[str, Kind] = {
    "gather": _gather,
    "gather a float": _gather_float,
    "gather a vector": _gather_vector,
    "store": _store_own,
    "load what was stored": _load_own,
    "store 64 bits or a vector": _store_wide,
    "constant": _constant,
    "local array": _local,
    "store to a lasting array": _depot_store,
    "load from a lasting array": _depot_load,
    "asynchronous copy": copy_own,
    "asynchronous copies in groups": copy_groups,
    "global total": _total,
    "shared total": _bin,
    "fence": _fence,
}
