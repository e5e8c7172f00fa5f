"""Threads that wait for others in loops of their own: of their CTA, or of the CTA before.

Requires, for those of a CTA, that every thread lives to the end of the kernel. Each flag only grows; how often it was
waited for is in a register of the kernel, the same for all threads.
"""

from __future__ import annotations

from collections.abc import Callable

from random_kernels import more
from random_kernels.helpers import call_read, call_spin, loop
from random_kernels.place import Place
from random_kernels.tree import Wait
from random_kernels.writer import Writer

FORMS = ("flag", "counter", "turns", "lanes", "lock")
READS = {  # of a flag
    "volatile": "ld.volatile{space}.u32 {{}}, [{{}}];",
    "relaxed": "ld.relaxed.{scope}{space}.u32 {{}}, [{{}}];",
    "acquire": "ld.acquire.{scope}{space}.u32 {{}}, [{{}}];",
    "atomic or": "atom{space}.or.b32 {{}}, [{{}}], 0;",
    "atomic cas": "atom.acquire.{scope}{space}.cas.b32 {{}}, [{{}}], 0, 0;",
    "atomic add": "atom.relaxed.{scope}{space}.add.u32 {{}}, [{{}}], 0;",
}
WEAK_READS = {  # which are a race within a CTA, where races are looked for
    "cv": "ld{space}.cv.u32 {{}}, [{{}}];",
    "cg": "ld.global.cg.u32 {{}}, [{{}}];",
}
LOCKS = ("atom.acquire.{scope}{space}.cas.b32 {{}}, [{{}}], 0, 1;", "atom{space}.exch.b32 {{}}, [{{}}], 1;")
SPACES = (*[".shared"] * 5, *[".global"] * 2, "")  # generic addresses are of shared memory
SCOPES = ("cta", "cta", "cta", "cta", "cta", "cta", "gpu", "sys")  # beyond the CTA, a wait may be for others
CELL, LINK = 15, 14  # the word that a lock guards, and the flag of a chain
NAP = "nanosleep.u32 20;"


def wait(w: Writer, statement: Wait, place: Place) -> None:
    w.saw(f"wait: {statement.form}")
    spin = _Spin(w, statement)
    KINDS[statement.form](w, statement, place, spin)


class _Spin:
    """Of one place: the flag, and how it is written and waited for."""

    def __init__(self, w: Writer, statement: Wait) -> None:
        self.w, self.statement = w, statement
        n = statement.numbers
        self.space = SPACES[n[0] % len(SPACES)]
        self.scope = SCOPES[n[1] // 2 % len(SCOPES)]
        self.flag = 2 * FORMS.index(statement.form) + (n[1] & 1)
        # Words of global and of shared memory are counted separately.
        self.round = w.round_of(self.flag + (more.FLAGS if self.space == ".global" else 0))
        self.address = w.flag()
        if self.space == ".global":
            w.line(f"add.u64 {self.address}, %more, {4 * self.flag};")
        else:
            w.line(f"mov.u64 {self.address}, flags;", f"add.u64 {self.address}, {self.address}, {4 * self.flag};")
            w.line(*([f"cvta.shared.u64 {self.address}, {self.address};"] if not self.space else []))
        w.line(f"add.u32 {self.round}, {self.round}, 1;")

    def until(self, value: str) -> None:
        """Waits until the flag is as large."""
        _until(self.w, self.statement, self.space, self.scope, self.address, value)

    def set(self, value: str) -> None:
        """Lets what the thread did before be seen by who waits for that value."""
        form = ("release", "volatile", "exchange", "relaxed")[self.statement.numbers[2] % 4]
        _set(self.w, form, self.space, self.scope, self.address, value)


def _until(w: Writer, statement: Wait, space: str, scope: str, address: str, value: str) -> None:
    instruction = (READS | WEAK_READS)[statement.read].format(space=space, scope=scope)
    w.saw(f"wait by {statement.read}")
    _spin(w, statement, instruction, "lt.u32", address, value)
    if "acquire" not in instruction:
        w.line(("fence.acq_rel.{};", "fence.sc.{};")[statement.numbers[3] & 1].format(scope))


def _spin(w: Writer, statement: Wait, instruction: str, comparison: str, address: str, value: str) -> None:
    n = statement.numbers
    within = ["membar.cta;"] if ".cg" in instruction else [NAP] if n[3] & 2 else []
    w.saw(f"wait {statement.depth} calls deep{', the loop too' if statement.whole and statement.depth else ''}")
    if statement.depth and statement.whole:
        lines = call_spin(w, instruction, statement.depth, comparison, address, value, within, bool(n[3] & 4))
    else:
        t, p = w.word(), w.predicate()
        read = call_read(w, instruction, statement.depth, t, address)
        lines = loop(w, read, f"setp.{comparison} {p}, {t}, {value};", t, within, bool(n[3] & 4))
    w.line(*lines)


def _set(w: Writer, form: str, space: str, scope: str, address: str, value: str) -> None:
    if form == "release":
        w.line(f"st.release.{scope}{space}.u32 [{address}], {value};")
    elif form == "exchange":
        w.line(f"atom.release.{scope}{space}.exch.b32 {w.word()}, [{address}], {value};")
    else:
        w.line(f"fence.acq_rel.{scope};")
        w.line(f"st.{form}{'' if form == 'volatile' else f'.{scope}'}{space}.u32 [{address}], {value};")


def _flag(w: Writer, statement: Wait, place: Place, spin: _Spin) -> None:
    """One thread writes, and all others wait for that, or it too."""
    n = statement.numbers
    who, all_wait = (n[2] * 11 + n[3]) % w.threads, n[0] & 4
    p, others, join = w.predicate(), w.label("OTHERS"), w.label("JOIN")
    w.line(f"setp.ne.u32 {p}, %rank, {who};", f"@{p} bra {others};", f"st.shared.u32 [%slot], %v{n[2] % 8};")
    spin.set(spin.round)
    w.line(*([] if all_wait else [f"bra {join};"]))
    w.mark(others)
    spin.until(spin.round)
    w.line(f"ld.shared.u32 %v{n[1] % 8}, [tile+{4 * who}];")
    w.mark(join)
    w.barrier("bar.sync 0;", place)


def _counter(w: Writer, statement: Wait, place: Place, spin: _Spin) -> None:
    """A barrier made by hand."""
    n = statement.numbers
    all_ = w.word()
    w.line(f"st.shared.u32 [%slot], %v{n[2] % 8};", f"mul.lo.u32 {all_}, {spin.round}, {w.threads};")
    if n[2] & 1:
        w.line(f"red.release.{spin.scope}{spin.space}.add.u32 [{spin.address}], 1;")
    else:
        w.line(f"fence.acq_rel.{spin.scope};")
        w.line(f"atom.relaxed.{spin.scope}{spin.space}.add.u32 {w.word()}, [{spin.address}], 1;")
    spin.until(all_)
    w.read_tile(n, place)


def _turns(w: Writer, statement: Wait, place: Place, spin: _Spin) -> None:
    """Warps one after the other, the last one first or last."""
    warps = w.kernel.counted_threads // 32
    _one_by_one(w, statement, place, spin, "%warp", warps, "%lane", "0")


def _lanes(w: Writer, statement: Wait, place: Place, spin: _Spin) -> None:
    """Lanes of the first warp one after the other."""
    _one_by_one(w, statement, place, spin, "%lane", min(w.threads, 32), "%warp", "0")


def _one_by_one(
    w: Writer, statement: Wait, place: Place, spin: _Spin, index: str, count: int, other: str, zero: str
) -> None:
    """Those for which `other` is `zero`, by their index; each changes a word that the one before has written."""
    n = statement.numbers
    p, join, turn, t = w.predicate(), w.label("JOIN"), w.word(), w.word()
    w.line(f"setp.ne.u32 {p}, {other}, {zero};", f"@{p} bra {join};")
    w.line(f"sub.u32 {turn}, {spin.round}, 1;", f"mad.lo.u32 {turn}, {turn}, {count}, {index};")
    if n[0] & 4:  # backwards
        w.line(f"sub.u32 {turn}, {turn}, {index};", f"add.u32 {turn}, {turn}, {count - 1};")
        w.line(f"sub.u32 {turn}, {turn}, {index};")

    def take() -> None:
        w.line(f"ld.shared.u32 {t}, [flags+{4 * CELL}];", f"mad.lo.u32 {t}, {t}, 5, %v{n[2] % 8};")
        w.line(f"st.shared.u32 [flags+{4 * CELL}], {t};", f"add.u32 {turn}, {turn}, 1;")
        spin.set(turn)

    if index == "%lane":
        _until_taken(w, statement, spin, turn, take)
    else:
        spin.until(turn)
        take()
    w.mark(join)
    _read_cell(w, n, place)


def _until_taken(w: Writer, statement: Wait, spin: _Spin, turn: str, take: Callable[[], None]) -> None:
    """A lane takes its turn within the loop: compilers let lanes reconverge at the loop's end, where one that
    has yet to take its turn would wait for those that wait for it."""
    instruction = (READS | WEAK_READS)[statement.read].format(space=spin.space, scope=spin.scope)
    w.saw(f"wait by {statement.read}")
    found, p, again, later = w.word(), w.predicate(), w.label("TURN"), w.label("LATER")
    w.mark(again)
    w.line(*call_read(w, instruction, statement.depth, found, spin.address))
    w.line(f"setp.eq.u32 {p}, {found}, {turn};", f"@!{p} bra {later};", f"fence.acq_rel.{spin.scope};")
    take()
    w.mark(later)
    w.line(f"@!{p} bra {again};")


def _lock(w: Writer, statement: Wait, place: Place, spin: _Spin) -> None:
    """Around a sum. One lane of each warp takes it: others of the warp would wait for it at the end of the loop, where
    compilers let lanes reconverge before it is set free."""
    n = statement.numbers
    t, p, join = w.word(), w.predicate(), w.label("JOIN")
    w.line(f"setp.ne.u32 {p}, %lane, {n[3] % 4};", f"@{p} bra {join};")
    instruction = LOCKS[n[2] & 1].format(space=spin.space, scope=spin.scope)
    _spin(w, statement, instruction, "ne.u32", spin.address, "0")
    w.line(f"fence.acq_rel.{spin.scope};")
    w.line(f"ld.shared.u32 {t}, [flags+{4 * CELL}];", f"add.u32 {t}, {t}, %v{n[2] % 8};")
    w.line(f"st.shared.u32 [flags+{4 * CELL}], {t};")
    spin.set("0")
    w.mark(join)
    _read_cell(w, n, place)


def _read_cell(w: Writer, n: tuple[int, ...], place: Place) -> None:
    w.barrier("bar.sync 0;", place)
    w.line(f"ld.shared.u32 %v{n[1] % 8}, [flags+{4 * CELL}];")
    w.barrier("bar.sync 0;", place)


KINDS = {"flag": _flag, "counter": _counter, "turns": _turns, "lanes": _lanes, "lock": _lock}


def chain(w: Writer, statement: Wait) -> None:
    """Each CTA waits for a word of the one before it, and makes another of that."""
    n = statement.numbers
    w.saw("wait for another CTA")
    first, join, p, t = w.label("FIRST"), w.label("JOIN"), w.predicate(), w.word()
    scope = "gpu" if n[1] & 1 else "sys"
    before, own = w.flag(), w.flag()
    w.line(f"add.u64 {own}, %more, {4 * LINK};", f"sub.u64 {before}, {own}, {4 * more.WORDS};", f"mov.u32 {t}, %scale;")
    if n[0] & 1:  # one thread for all
        w.line(f"setp.ne.u32 {p}, %rank, 0;", f"@{p} bra {join};")
    p = w.predicate()
    w.line(f"setp.eq.u32 {p}, %cta, 0;", f"@{p} bra {first};")
    _until(w, statement, ".global", scope, before, "1")
    w.line(f"ld.global.u32 {t}, [{before}+{4 * (more.DATA - LINK)}];")
    w.line(f"add.u32 %v{n[2] % 8}, %v{n[2] % 8}, {t};")
    w.mark(first)
    if not n[0] & 1:
        p = w.predicate()
        w.line(f"setp.ne.u32 {p}, %rank, 0;", f"@{p} bra {join};")
    w.line(f"mad.lo.u32 {t}, {t}, 5, %cta;", f"st.global.u32 [{own}+{4 * (more.DATA - LINK)}], {t};")
    _set(w, ("release", "volatile", "exchange", "relaxed")[n[2] % 4], ".global", scope, own, "1")
    w.mark(join)
    w.line("bar.sync 0;")
