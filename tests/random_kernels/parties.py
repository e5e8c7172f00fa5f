"""Parties: the warps of a CTA in two, each with barriers of its own, and one that hands words to the other.

Requires that each warp has threads to the end of the kernel. The parties are the same all over a kernel, so that each
barrier always has the same threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from random_kernels.conditions import count
from random_kernels.phases import EMPTY, FULL, phase, place_of, size
from random_kernels.place import Company, Place
from random_kernels.tree import Handover, Level, Parties, Statement
from random_kernels.writer import Writer

IDS = (4, 5)  # of the parties' barriers
FILLED, READ = 6, 7  # the barriers of a handover
FORMS = ("named barriers", "mbarriers")

Write = Callable[[Writer, Sequence[Statement], Place], None]


def party(w: Writer, number: int) -> Company:
    """The first (0) or the second (1)."""
    threads = 32 * w.kernel.cut
    if number == 0:
        return Company(1, 0, str(threads), f"{IDS[0]}, {threads}")
    return Company(2, threads, "%present", f"{IDS[1]}, {w.kernel.counted_threads - threads}")


def parties(w: Writer, statement: Parties, place: Place, write: Write) -> None:
    w.saw("parties")
    second, join = _split(w)
    for number, body in enumerate((statement.first, statement.second)):
        write(w, body, place.of(party(w, number)))
        w.line(*([f"bra {join};"] if number == 0 else []))
        w.mark((second, join)[number])


def handover(w: Writer, statement: Handover, place: Place, write: Write) -> None:
    """Producers write, let the others go on, and wait until these have read."""
    w.saw(f"handover by {statement.form}")
    left = count(w, statement.rounds, place)
    w.line(f"add.u32 {left}, {left}, 1;")
    second, join = _split(w)
    for number in range(2):
        head, p = w.label("ROUND"), w.predicate()
        w.mark(head)
        if number == w.kernel.producers:
            _produce(w, statement, place, write)
        else:
            _consume(w, statement, place, write)
        w.line(f"sub.u32 {left}, {left}, 1;", f"setp.ne.u32 {p}, {left}, 0;", f"@{p} bra {head};")
        w.line(*([f"bra {join};"] if number == 0 else []))
        w.mark((second, join)[number])


def _split(w: Writer) -> tuple[str, str]:
    """Branches to the second party's label; gives it and that of the end."""
    p, second, join = w.predicate(), w.label("SECOND"), w.label("JOIN")
    w.line(f"setp.ge.u32 {p}, %warp, {w.kernel.cut};", f"@{p} bra {second};")
    return second, join


def _produce(w: Writer, statement: Handover, place: Place, write: Write) -> None:
    w.line(f"st.shared.u32 [%slot], %v{statement.numbers[0] % 8};")
    _signal(w, statement.form, FILLED, FULL)
    write(w, statement.producers, place.at(Level.WARP))
    _await(w, statement, READ, EMPTY)


def _consume(w: Writer, statement: Handover, place: Place, write: Write) -> None:
    t, last = w.word(), w.word()
    producers = party(w, w.kernel.producers)
    _await(w, statement, FILLED, FULL)
    w.line(f"add.u32 {t}, %lane, {producers.first};", f"sub.u32 {last}, {producers.past}, 1;")
    w.line(f"min.u32 {t}, {t}, {last};")
    w.line(f"ld.shared.u32 %v{statement.numbers[1] % 8}, [{w.at(w.base('tile'), t, 4)}];")
    write(w, statement.consumers, place.at(Level.WARP))
    _signal(w, statement.form, READ, EMPTY)


def _signal(w: Writer, form: str, id_: int, number: int) -> None:
    if form == "named barriers":
        w.line(f"bar.arrive {id_}, {w.kernel.counted_threads};")
    else:
        who = w.kernel.producers if number == FULL else 1 - w.kernel.producers
        w.objects[number] = size(w, party(w, who))
        w.line(f"mbarrier.arrive.shared.b64 _, {place_of(number)};")


def _await(w: Writer, statement: Handover, id_: int, number: int) -> None:
    if statement.form == "named barriers":
        w.line(f"{('bar.sync', 'barrier.sync')[statement.numbers[2] & 1]} {id_}, {w.kernel.counted_threads};")
    else:
        phase(w, number, statement.numbers[2])
