"""What all threads of a CTA that have not ended do together."""

from __future__ import annotations

from collections.abc import Callable

from random_kernels.place import Place
from random_kernels.tree import Meeting
from random_kernels.writer import Writer

BARRIERS = ("bar.sync 0;", "barrier.sync 0;", "barrier.sync.aligned 0;", "bar.sync 1;", "barrier.sync 3;")
UNIFORM = 4  # registers %u0 ..., the same for all threads of a CTA

Kind = Callable[[Writer, tuple[int, ...], Place], None]


def meeting(w: Writer, statement: Meeting, place: Place) -> None:
    w.saw(statement.kind)
    KINDS[statement.kind](w, (*statement.numbers, 0, 0, 0, 0), place)


def _barrier(w: Writer, n: tuple[int, ...], place: Place) -> None:
    w.barrier(BARRIERS[n[0] % len(BARRIERS)], place)


def _reduction(w: Writer, n: tuple[int, ...], place: Place) -> None:
    word, q, negation = ("bar", "barrier")[n[0] >> 2 & 1], f"%q{n[2] % 4}", "!" if n[3] & 1 else ""
    if n[0] % 3 == 0:
        w.barrier(f"{word}.red.popc.u32 %v{n[1] % 8}, 0, {negation}{q};", place)
    else:
        w.barrier(f"{word}.red.{('and', 'or')[n[0] % 3 - 1]}.pred %q{n[1] % 4}, 0, {negation}{q};", place)


def _uniform(w: Writer, n: tuple[int, ...], place: Place) -> None:
    a, b, c = (f"%u{k % UNIFORM}" for k in n[:3])
    w.line((
        f"add.u32 {a}, {b}, {c};", f"mad.lo.u32 {a}, {b}, 5, {c};", f"xor.b32 {a}, {b}, {c};", f"shr.u32 {a}, {b}, 1;",
    )[n[3] % 4])  # fmt: skip


def _use(w: Writer, n: tuple[int, ...], place: Place) -> None:
    w.line(f"xor.b32 %v{n[0] % 8}, %v{n[1] % 8}, %u{n[2] % UNIFORM};")


def _exchange(w: Writer, n: tuple[int, ...], place: Place) -> None:
    """Each thread writes its word of the tile and reads another's."""
    t, p = w.word(), w.predicate()
    w.line(f"st.shared.u32 [%slot], %v{n[2] % 8};")
    w.barrier("bar.sync 0;", place)
    if n[0] & 1:
        w.line(f"sub.u32 {t}, %present, %rank;", f"sub.u32 {t}, {t}, 1;")
    else:
        w.line(f"add.u32 {t}, %rank, {n[3]};", f"setp.ge.u32 {p}, {t}, %present;", f"@{p} mov.u32 {t}, 0;")
    w.line(f"ld.shared.u32 %v{n[1] % 8}, [{w.at(w.base('tile'), t, 4)}];")
    w.barrier("bar.sync 0;", place)


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


KINDS: dict[str, Kind] = {
    "plain barrier": _barrier,
    "barrier reduction": _reduction,
    "uniform arithmetic": _uniform,
    "use of a uniform value": _use,
    "exchange": _exchange,
    "ldmatrix": _matrix_rows,
    "read a shared total": _read_total,
}
