"""Statements that all threads of a CTA that have not ended execute together, or those of a party."""

from __future__ import annotations

from collections.abc import Callable

from random_kernels import copying, corners, more, phases
from random_kernels.place import ALL, Place
from random_kernels.tree import Meeting
from random_kernels.writer import Writer

BARRIERS = ("bar.sync 0;", "barrier.sync 0;", "barrier.sync.aligned 0;", "bar.sync 1;", "barrier.sync 3;")
COUNTED = 2  # the id of the barrier that counts all threads
UNIFORM = 4  # registers %u0 ..., the same for all threads of a CTA

Kind = Callable[[Writer, tuple[int, ...], Place], None]


def meeting(w: Writer, statement: Meeting, place: Place) -> None:
    w.saw(statement.kind)
    (KINDS | MORE_KINDS)[statement.kind](w, (*statement.numbers, 0, 0, 0, 0), place)


def _barrier(w: Writer, n: tuple[int, ...], place: Place) -> None:
    if place.company == ALL:
        w.barrier(BARRIERS[n[0] % len(BARRIERS)], place)
    else:
        word = ("bar.sync", "barrier.sync", "barrier.sync.aligned")[n[0] % 3]
        w.barrier(f"{word} {place.company.barrier};", place)


def _reduction(w: Writer, n: tuple[int, ...], place: Place) -> None:
    _reduce(w, n, place, place.company.barrier)


def _reduce(w: Writer, n: tuple[int, ...], place: Place, barrier: str) -> None:
    word, q, negation = ("bar", "barrier")[n[0] >> 2 & 1], f"%q{n[2] % 4}", "!" if n[3] & 1 else ""
    if n[0] % 3 == 0:
        w.barrier(f"{word}.red.popc.u32 %v{n[1] % 8}, {barrier}, {negation}{q};", place)
    else:
        operation = ("and", "or")[n[0] % 3 - 1]
        w.barrier(f"{word}.red.{operation}.pred %q{n[1] % 4}, {barrier}, {negation}{q};", place)


def _counted(w: Writer, n: tuple[int, ...], place: Place) -> None:
    """All threads, or a party's, counted; its id in a register now and then."""
    id_, threads = (COUNTED, w.kernel.counted_threads) if place.company == ALL else place.company.barrier.split(", ")
    if n[0] & 8:
        w.saw("barrier id in a register")
        t = w.word()
        w.line(f"mov.u32 {t}, {id_};")
        id_ = t
    w.barrier(f"{('bar.sync', 'barrier.sync')[n[1] & 1]} {id_}, {threads};", place)


def _counted_reduction(w: Writer, n: tuple[int, ...], place: Place) -> None:
    _reduce(w, n, place, f"{COUNTED}, {w.kernel.counted_threads}")


def _two_places(w: Writer, n: tuple[int, ...], place: Place) -> None:
    """Lanes of one warp come to one barrier in two places."""
    high, join, barrier = w.label("HIGH"), w.label("JOIN"), f"barrier.sync {COUNTED}, {w.kernel.counted_threads};"
    target, value = f"%v{n[1] % 8}", f"%v{n[2] % 8}"
    w.line(f"@%q{n[0] % 4} bra {high};")
    w.barrier(barrier, place)
    w.line(f"xor.b32 {target}, {target}, {value};", f"bra {join};")
    w.mark(high)
    w.line(f"add.u32 {target}, {target}, {value};")
    w.barrier(barrier, place)
    w.mark(join)


def _uniform(w: Writer, n: tuple[int, ...], place: Place) -> None:
    a, b, c = (f"%u{k % UNIFORM}" for k in n[:3])
    w.line((
        f"add.u32 {a}, {b}, {c};", f"mad.lo.u32 {a}, {b}, 5, {c};", f"xor.b32 {a}, {b}, {c};", f"shr.u32 {a}, {b}, 1;",
    )[n[3] % 4])  # fmt: skip


def _use(w: Writer, n: tuple[int, ...], place: Place) -> None:
    w.line(f"xor.b32 %v{n[0] % 8}, %v{n[1] % 8}, %u{n[2] % UNIFORM};")


def _exchange(w: Writer, n: tuple[int, ...], place: Place) -> None:
    """Each thread writes its word of the tile and reads another's."""
    w.line(f"st.shared.u32 [%slot], %v{n[2] % 8};")
    w.barrier(f"bar.sync {place.company.barrier};", place)
    w.read_tile(n, place)


def _matrix_rows(w: Writer, n: tuple[int, ...], place: Place) -> None:
    """`ldmatrix` of what all threads have just written."""
    registers = ", ".join(f"%v{(n[1] + i) % 8}" for i in range((1, 2, 4)[n[0] % 3]))
    w.line(f"st.shared.u32 [%slot], %v{n[2] % 8};")
    w.barrier("bar.sync 0;", place)
    row = w.at(w.base("tile"), w.below(f"%v{n[3] % 8}", 8), 16)
    form = f"x{(1, 2, 4)[n[0] % 3]}{'.trans' if n[3] & 1 else ''}"
    w.line(f"ldmatrix.sync.aligned.m8n8.{form}.shared.b16 {{{registers}}}, [{row}];")
    w.barrier("bar.sync 0;", place)


def _read_total(w: Writer, n: tuple[int, ...], place: Place) -> None:
    w.barrier("bar.sync 0;", place)
    w.line(f"ld.shared.u32 %v{n[1] % 8}, [bins+{4 * (n[0] % 8)}];")
    w.barrier("bar.sync 0;", place)


# Those of the new generator -------------------------------------------------------------------------------


def _id_of_sizes(w: Writer, n: tuple[int, ...], place: Place) -> None:
    """All threads, counted by the launch's sizes, at a barrier whose id is made of these."""
    id_, count = w.word(), w.word()
    axis = "xyz"[n[0] % len(w.kernel.block)]
    if n[1] & 1:
        w.line(f"mov.u32 {id_}, %ntid.{axis};", f"shr.u32 {id_}, {id_}, {(6, 4, 5)[n[1] % 3]};")
        w.line(f"min.u32 {id_}, {id_}, {5 - n[2] % 3};")
    else:
        w.line(f"mov.u32 {id_}, %nctaid.x;", f"min.u32 {id_}, {id_}, {5 - n[2] % 3};")
    if w.kernel.cut or n[3] & 1:  # else there are no other barriers that count
        w.line(f"add.u32 {id_}, {id_}, 8;")
    w.line(f"mov.u32 {count}, %ntid.x;")
    for other in "yz"[: len(w.kernel.block) - 1]:
        t = w.word()
        w.line(f"mov.u32 {t}, %ntid.{other};", f"mul.lo.u32 {count}, {count}, {t};")
    w.line(f"add.u32 {count}, {count}, 31;", f"and.b32 {count}, {count}, 0xffffffe0;")
    if n[3] & 2:
        count = str(w.kernel.counted_threads)
    w.barrier(f"{('bar.sync', 'barrier.sync')[n[2] & 1]} {id_}, {count};", place)


def _read_equal(w: Writer, n: tuple[int, ...], place: Place) -> None:
    w.barrier("bar.sync 0;", place)
    w.line(f"ld.global.u32 %v{n[1] % 8}, [%more+{4 * (more.ALIKE + n[0] % corners.EQUAL)}];")
    w.barrier("bar.sync 0;", place)


KINDS: dict[str, Kind] = {
    "plain barrier": _barrier,
    "barrier reduction": _reduction,
    "barrier that counts": _counted,
    "reduction that counts": _counted_reduction,
    "barrier in two places": _two_places,
    "uniform arithmetic": _uniform,
    "use of a uniform value": _use,
    "exchange": _exchange,
    "ldmatrix": _matrix_rows,
    "read a shared total": _read_total,
    "exchange of copies": copying.exchange,
    "pipeline of copies": copying.pipeline,
    **phases.KINDS,
}
MORE_KINDS: dict[str, Kind] = {"barrier id of sizes": _id_of_sizes, "read equal values": _read_equal}
