"""What each thread does for itself that is easily taken for something else: narrow indices, words of which bits have no
value, fields of a structure that data picks, elements in which several threads store one value, compare-and-swaps that
are tried again, branches whose sides are alike."""

from __future__ import annotations

from collections.abc import Callable

from random_kernels import more
from random_kernels.alike import alike
from random_kernels.data import PLAY, WORDS
from random_kernels.tree import Guard
from random_kernels.writer import Writer

EQUAL = 4  # words in which threads store one value
Kind = Callable[[Writer, tuple[int, ...], Guard | None], None]


def _wrapping(w: Writer, n: tuple[int, ...], guard: Guard | None) -> None:
    """An index of 8 or 16 bits that wraps, of a word that is read."""
    h, t = w.half(), w.word()
    origin = ("%number", "%rank", f"%v{n[1] % 8}", f"%v{n[1] % 8}")[n[2] % 4]
    w.line(f"cvt.u16.u32 {h}, {origin};", f"mul.lo.u16 {h}, {h}, {(3, 257, 4099, 32771)[n[3] % 4]};")
    if n[3] & 4:
        w.line(f"and.b16 {h}, {h}, 127;", f"cvt.u32.u16 {t}, {h};")
    elif n[3] & 8:
        w.line(f"cvt.u32.u8 {t}, {h};", f"shr.u32 {t}, {t}, 1;")
    else:
        w.line(f"shr.u16 {h}, {h}, 9;", f"cvt.u32.u16 {t}, {h};")
    w.guarded(guard, f"ld.global.u32 %v{n[0] % 8}, [{w.at('%in', t, 4)}];")


def _narrow_own(w: Writer, n: tuple[int, ...], guard: Guard | None) -> None:
    """The thread's own word, by an index of 16 bits that does not wrap."""
    h, t, back, base = w.half(), w.word(), w.wide(), w.wide()
    w.line(f"cvt.u16.u32 {h}, %number;", f"cvt.u32.u16 {t}, {h};", f"mul.wide.u32 {back}, %number, {4 * WORDS};")
    w.line(f"sub.u64 {base}, %out, {back};")
    a = f"[{w.at(base, t, 4 * WORDS)}+{4 * (PLAY + n[0] % 8)}]"
    w.guarded(guard, f"ld.global.u32 %v{n[1] % 8}, {a};" if n[2] & 1 else f"st.global.u32 {a}, %v{n[1] % 8};")


def _short_address(w: Writer, n: tuple[int, ...], guard: Guard | None) -> None:
    """An address of 32 bits that comes back to itself."""
    a, at = w.word(), 4 * (n[0] % 4)
    w.line(f"sub.u32 {a}, %ring, {4096 + at};", f"add.u32 {a}, {a}, 4096;")
    w.line(f"st.shared.u32 [{a}+{2 * at}], %v{n[1] % 8};")
    w.guarded(guard, f"ld.shared.u32 %v{n[2] % 8}, [%ring+{at}];")


def _bits(w: Writer, n: tuple[int, ...], guard: Guard | None) -> None:
    """Some bits of a local word are written, by a load of it all; the others may have no value. Only those are read."""
    t, v, shift = w.word(), w.word(), 8 * (1 + n[3] % 3)
    a = f"[bits+{4 * (n[0] % 4)}]"
    w.line(f"ld.local.u32 {t}, {a};", f"and.b32 {t}, {t}, {(1 << shift) - 1};", f"shl.b32 {v}, %v{n[1] % 8}, {shift};")
    w.line(f"or.b32 {t}, {t}, {v};", f"st.local.u32 {a}, {t};", f"ld.local.u32 {t}, {a};")
    if n[2] & 8:
        w.line(f"and.b32 {t}, {t}, {0xFFFFFFFF << shift & 0xFFFFFFFF};", f"mov.b32 %v{n[2] % 8}, {t};")
    else:
        w.line(f"shr.u32 %v{n[2] % 8}, {t}, {shift};")


def _field(w: Writer, n: tuple[int, ...], guard: Guard | None) -> None:
    """Of the structure, at a place that is known."""
    name, at = f"{w.kernel.name}_more_s", n[1] % more.FIELDS
    if n[2] & 1:
        w.guarded(guard, f"ld.param.u64 %w{n[0] % 4}, [{name}+{4 * (at & ~1)}];")
    else:
        w.guarded(guard, f"ld.param.{('u32', 'u16', 'u8')[n[3] % 3]} %v{n[0] % 8}, [{name}+{4 * at}];")


def _picked_field(w: Writer, n: tuple[int, ...], guard: Guard | None) -> None:
    """Of the structure, at a place that data picks: beyond it for threads that have a number from n on."""
    t, beyond = w.word(), w.word()
    if n[2] & 1:
        w.line(f"ld.global.u32 {t}, [{w.at('%in', w.below(f'%v{n[1] % 8}', 64), 4)}];")
        w.line(f"and.b32 {t}, {t}, {more.FIELDS - 1};")
    else:
        w.line(f"and.b32 {t}, %v{n[1] % 8}, {more.FIELDS - 1};")
    w.line(f"sub.u32 {beyond}, %n, %number;", f"sub.u32 {beyond}, {beyond}, 1;", f"shr.s32 {beyond}, {beyond}, 31;")
    w.line(f"and.b32 {beyond}, {beyond}, 4096;")
    if w.kernel.guard and n[3] & 1:
        w.line(f"add.u32 {t}, {t}, {beyond};")
    w.guarded(guard, f"ld.param.u32 %v{n[0] % 8}, [{w.at(w.base(f'{w.kernel.name}_more_s'), t, 4)}];")


def _equal(w: Writer, n: tuple[int, ...], guard: Guard | None) -> None:
    """Whoever stores there stores this."""
    at, t = n[0] % EQUAL, w.word()
    w.line(f"mad.lo.u32 {t}, %scale, {at + 3}, {at * 40503 + 7};")
    if n[1] & 1:
        w.guarded(guard, f"st.global.u32 [%more+{4 * (more.ALIKE + at)}], {t};")
    else:  # the index in words is the same for several threads
        i = w.word()
        w.line(f"shr.u32 {i}, %rank, 4;", f"and.b32 {i}, {i}, 7;")
        place = w.at("%more", i, 4)
        w.guarded(guard, f"st.global.u32 [{place}+{4 * (more.ALIKE + 4 + 8 * (at % 3))}], {at % 3};")


def _retried(w: Writer, n: tuple[int, ...], guard: Guard | None) -> None:
    """An operation on the thread's own word, by a compare-and-swap that is tried again. At first it expects some word,
    so it fails for most."""
    old, expected, new, failed, again = w.word(), w.word(), w.word(), w.predicate(), w.label("RETRY")
    place = f"[%out+{4 * (PLAY + n[0] % 8)}]"
    opcode = ("atom.global.cas.b32", "atom.relaxed.gpu.global.cas.b32", "atom.cas.b32")[n[3] % 3]
    w.line(f"mov.b32 {old}, %v{n[1] % 8};" if n[2] & 8 else f"ld.global.u32 {old}, {place};")
    w.line(f"{again}: mov.b32 {expected}, {old};", f"mad.lo.u32 {new}, {expected}, 3, %v{n[2] % 8};")
    w.line(f"{opcode} {old}, {place}, {expected}, {new};", f"setp.ne.s32 {failed}, {old}, {expected};")
    w.line(f"@{failed} bra {again};", f"xor.b32 %v{n[1] % 8}, %v{n[1] % 8}, {new};")


def _alike(w: Writer, n: tuple[int, ...], guard: Guard | None) -> None:
    """A branch of which both sides compute much the same."""
    alike(w, n)


KINDS: dict[str, Kind] = {
    "narrow index that wraps": _wrapping,
    "narrow index of an own word": _narrow_own,
    "address of 32 bits": _short_address,
    "bit-field": _bits,
    "field of a structure": _field,
    "field that data picks": _picked_field,
    "equal values": _equal,
    "retried compare-and-swap": _retried,
    "branch with sides alike": _alike,
}
