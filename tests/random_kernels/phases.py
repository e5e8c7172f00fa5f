"""What all threads of a CTA, or of a party, do together by an `mbarrier` object; and the objects.

Requires that every thread lives to the end of the kernel. Each object has a register with the parity of the phase that
is next waited for, which those change who wait.
"""

from __future__ import annotations

from collections.abc import Callable

from random_kernels.place import Company, Place
from random_kernels.writer import Writer

# Objects by number: at which all threads arrive, or those of a party (0, 1, 2), at which one of these does (3, 4, 5),
# and at which producers and consumers do.
ONE, FULL, EMPTY = 3, 6, 7
OBJECTS = 8
BULK = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"

Kind = Callable[[Writer, tuple[int, ...], Place], None]


def size(w: Writer, company: Company) -> int:
    """How many threads they are."""
    return (w.kernel.threads if company.past == "%present" else int(company.past)) - company.first


def place_of(number: int) -> str:
    return f"[bars+{8 * number}]"


def object_of(w: Writer, company: Company) -> int:
    """The number of the object at which each of the threads arrives."""
    w.objects[company.number] = size(w, company)
    return company.number


def object_of_one(w: Writer, company: Company) -> int:
    """The number of the object at which one of the threads arrives."""
    w.objects[ONE + company.number] = 1
    return ONE + company.number


def phase(w: Writer, number: int, form: int = 0) -> None:
    """Waits until the object's phase is over."""
    p, past = w.predicate(), w.label("PAST")
    wait = w.label("WAIT")
    word = "try_wait" if form & 1 else "test_wait"
    w.mark(wait)
    w.line(f"mbarrier.{word}.parity.shared.b64 {p}, {place_of(number)}, %phase{number};")
    if form & 2:
        w.line(f"@{p} bra {past};", f"bra {wait};")
        w.mark(past)
    else:
        w.line(f"@!{p} bra {wait};")
    w.line(f"xor.b32 %phase{number}, %phase{number}, 1;")


def _exchange(w: Writer, n: tuple[int, ...], place: Place) -> None:
    number = object_of(w, place.company)
    w.line(f"st.shared.u32 [%slot], %v{n[2] % 8};", f"mbarrier.arrive.shared.b64 _, {place_of(number)};")
    phase(w, number, n[0])
    w.read_tile(n, place)


def _states(w: Writer, n: tuple[int, ...], place: Place) -> None:
    """Waits for the state that the arrival gave."""
    number, state, p = object_of(w, place.company), w.wide(), w.predicate()
    w.line(f"st.shared.u32 [%slot], %v{n[2] % 8};", f"mbarrier.arrive.shared.b64 {state}, {place_of(number)};")
    wait = w.label("WAIT")
    w.mark(wait)
    w.line(f"mbarrier.test_wait.shared.b64 {p}, {place_of(number)}, {state};", f"@!{p} bra {wait};")
    w.line(f"xor.b32 %phase{number}, %phase{number}, 1;")
    w.read_tile(n, place)


def _bulk(w: Writer, n: tuple[int, ...], place: Place) -> None:
    """One thread has a part of `in` copied over the words of all."""
    number, p = object_of_one(w, place.company), w.predicate()
    bytes_ = max(4 * size(w, place.company) // 16, 1) * 16  # the tile's end is padded
    tile, origin = w.base("tile"), w.wide()
    w.line("fence.proxy.async.shared::cta;")
    w.barrier(f"bar.sync {place.company.barrier};", place)
    w.line(f"setp.eq.u32 {p}, %rank, {place.company.first};", f"add.u64 {origin}, %in, {16 * n[3]};")
    w.line(f"@{p} mbarrier.arrive.expect_tx.shared.b64 _, {place_of(number)}, {bytes_};")
    w.line(f"@{p} {BULK} [{tile}+{4 * place.company.first}], [{origin}], {bytes_}, {place_of(number)};")
    phase(w, number, n[0])
    w.read_tile(n, place)


def _transaction(w: Writer, n: tuple[int, ...], place: Place) -> None:
    """One thread writes, expects bytes and has them; the others wait for that."""
    number, later = object_of_one(w, place.company), w.label("AHEAD")  # word: ahead, a label of generated text
    p, first = w.predicate(), place.company.first
    w.line(f"setp.ne.u32 {p}, %rank, {first};", f"@{p} bra {later};", f"st.shared.u32 [%slot], %v{n[2] % 8};")
    w.line(f"mbarrier.arrive.expect_tx.shared.b64 _, {place_of(number)}, 64;")
    w.line(f"mbarrier.complete_tx.shared.b64 {place_of(number)}, 64;")
    w.mark(later)
    phase(w, number, n[0])
    w.line(f"ld.shared.u32 %v{n[1] % 8}, [{w.base('tile')}+{4 * first}];")
    w.barrier(f"bar.sync {place.company.barrier};", place)


KINDS: dict[str, Kind] = {
    "mbarrier exchange": _exchange,
    "mbarrier states": _states,
    "bulk copy": _bulk,
    "mbarrier transaction": _transaction,
}
