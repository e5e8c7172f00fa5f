"""Copies that complete later: those that each thread makes for itself, and those that others read."""

from __future__ import annotations

from collections.abc import Callable

from random_kernels.phases import object_of, phase, place_of
from random_kernels.place import Place
from random_kernels.tree import Copying, Guard, Statement
from random_kernels.writer import Writer

Write = Callable[[Writer, tuple[Statement, ...], Place], None]


# For itself: in the thread's 16 bytes of the ring ------------------------------------------------------


def copy_own(w: Writer, n: tuple[int, ...], guard: Guard | None) -> None:
    size = (4, 8, 16, 16)[n[0] % 4]
    origin = w.at("%in", w.below(f"%v{n[1] % 8}", 16), 16)
    word, bytes_ = "cg" if n[0] % 4 == 3 else "ca", str(size)
    if n[3] & 4:  # the rest becomes zero
        bytes_ += f", {w.below(f'%v{n[2] % 8}', size)}"
    w.guarded(guard, f"cp.async.{word}.shared.global [%ring], [{origin}], {bytes_};")
    if n[3] & 1:
        w.line("cp.async.wait_all;")
    else:
        w.line("cp.async.commit_group;", "cp.async.wait_group 0;")
    w.guarded(guard, f"ld.shared.u32 %v{n[2] % 8}, [%ring+{4 * (n[3] % (size // 4))}];")


def copy_groups(w: Writer, n: tuple[int, ...], guard: Guard | None) -> None:
    """Two groups, waited for one by one."""
    for i in range(2):
        origin = w.at("%in", w.below(f"%v{(n[1] + i) % 8}", 32), 8)
        w.guarded(guard, f"cp.async.ca.shared.global [%ring+{8 * i}], [{origin}], 8;")
        w.line("cp.async.commit_group;")
    for i in range(2):
        w.line(f"cp.async.wait_group {1 - i};")
        w.guarded(guard, f"ld.shared.u32 %v{(n[2 + i]) % 8}, [%ring+{8 * i + 4 * (n[0] & 1)}];")


# For others --------------------------------------------------------------------------------------------


def exchange(w: Writer, n: tuple[int, ...], place: Place) -> None:
    _copy_word(w, n)
    w.line("cp.async.wait_all;")
    w.barrier(f"bar.sync {place.company.barrier};", place)
    w.read_tile(n, place)


def pipeline(w: Writer, n: tuple[int, ...], place: Place) -> None:
    """A loop that copies the word after the one that it reads, in two stages."""
    stage, left, p, head = w.counter(), w.counter(), w.predicate(), w.label("LOOP")
    other = w.other(n, place)
    ring, next_ = w.at(w.base("ring"), other, 16), w.word()
    w.line(f"and.b32 {left}, {('%scale', '%n', '3', '%cta')[n[0] % 4]}, 1;", f"add.u32 {left}, {left}, 1;")
    w.line(f"mov.u32 {stage}, 0;")
    w.line(f"cp.async.ca.shared.global [%ring], [{w.at('%in', w.below(f'%v{n[1] % 8}', 64), 4)}], 4;")
    w.line("cp.async.commit_group;")
    w.mark(head)
    w.line(f"xor.b32 {next_}, {stage}, 4;", f"add.u32 {next_}, {next_}, %ring;")
    w.line(f"cp.async.ca.shared.global [{next_}], [{w.at('%in', w.below(f'%v{n[2] % 8}', 64), 4)}], 4;")
    w.line("cp.async.commit_group;", "cp.async.wait_group 1;")
    w.barrier(f"bar.sync {place.company.barrier};", place)
    w.line(f"ld.shared.u32 %v{n[1] % 8}, [{w.at(ring, stage, 1)}];")
    w.barrier(f"bar.sync {place.company.barrier};", place)
    w.line(f"xor.b32 {stage}, {stage}, 4;", f"sub.u32 {left}, {left}, 1;")
    w.line(f"setp.ne.u32 {p}, {left}, 0;", f"@{p} bra {head};", "cp.async.wait_group 0;")


def copying(w: Writer, statement: Copying, place: Place, write: Write) -> None:
    """Other work stands between the copy and the wait for it."""
    w.saw(statement.kind)
    n = (*statement.numbers, 0, 0, 0, 0)
    if statement.kind == "copy and mbarrier":
        number = object_of(w, place.company)
        _copy_word(w, n)
        if n[3] & 1:
            w.line(f"cp.async.mbarrier.arrive.noinc.shared.b64 {place_of(number)};")
        else:
            w.line(f"cp.async.mbarrier.arrive.shared.b64 {place_of(number)};")
            w.line(f"mbarrier.arrive.shared.b64 _, {place_of(number)};")
        write(w, statement.body, place)
        phase(w, number, n[0])
    else:
        _copy_word(w, n)
        w.line("cp.async.commit_group;")
        write(w, statement.body, place)
        w.line(("cp.async.wait_group 0;", "cp.async.wait_all;")[n[3] & 1])
        w.barrier(f"bar.sync {place.company.barrier};", place)
    w.read_tile(n, place)


def _copy_word(w: Writer, n: tuple[int, ...]) -> None:
    origin = w.at("%in", w.below(f"%v{n[2] % 8}", 64), 4)
    w.line(f"cp.async.ca.shared.global [%slot], [{origin}], 4;")


KINDS = ("copy and group", "copy and mbarrier")
