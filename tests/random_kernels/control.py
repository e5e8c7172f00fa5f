"""Control flow of random kernels: branches, loops, switches, calls, and threads that end early."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from random_kernels.arithmetic import FAMILY_OF
from random_kernels.conditions import branch, count, test
from random_kernels.copying import copying
from random_kernels.data import OWN
from random_kernels.ending import left, left_at
from random_kernels.functions import call
from random_kernels.gone import gone
from random_kernels.helpers import call_end
from random_kernels.meeting import meeting
from random_kernels.memory import access
from random_kernels.messages import message
from random_kernels.parties import handover, parties
from random_kernels.place import FULL, Place, Target
from random_kernels.sides import sides
from random_kernels.together import together
from random_kernels.tree import (
    Access,
    Call,
    Copying,
    Gone,
    Handover,
    If,
    Leave,
    Level,
    Loop,
    Meeting,
    Message,
    Parties,
    Plain,
    Sides,
    Skip,
    Statement,
    Switch,
    Together,
    Wait,
)
from random_kernels.waits import wait
from random_kernels.writer import Writer

ENDS = ("ret", "exit", "around", "end")
FUNCTION_ENDS = {  # how, how many calls deep, and whether the call has a guard
    f"exit in a function, {form}, {depth} deep{', guarded' if guarded else ''}": (form, depth, guarded)
    for form in ("guard", "loop", "branch")
    for depth in (1, 2, 3)
    for guarded in (False, True)
}
END_OF_ALL = "done"  # where all come together at the end: only where nobody needs anybody before it


def write(w: Writer, statements: Sequence[Statement], place: Place) -> None:
    for statement in statements:
        match statement:
            case Plain():
                w.saw(FAMILY_OF[statement.row])
                w.plain(statement)
            case Access():
                access(w, statement)
            case Together():
                together(w, statement, place)
            case Meeting():
                meeting(w, statement, place)
            case Parties():
                parties(w, statement, place, write)
            case Handover():
                handover(w, statement, place, write)
            case Copying():
                copying(w, statement, place, write)
            case Wait():
                wait(w, statement, place)
            case Message():
                message(w, statement, place)
            case Sides():
                sides(w, statement, place, write)
            case Gone():
                gone(w, statement, place)
            case Call():
                call(w, statement, place)
            case If():
                _if(w, statement, place)
            case Loop():
                _loop(w, statement, place)
            case Switch():
                _switch(w, statement, place)
            case Leave():
                _leave(w, statement, place)
            case Skip():
                _skip(w, statement, place)


# branches ---------------------------------------------------------------------------------------------


def _if(w: Writer, statement: If, place: Place) -> None:
    otherwise, join = w.label("ELSE"), w.label("JOIN")
    w.saw(f"if, {statement.arms}, {'with' if statement.otherwise else 'without'} else")
    then, other = place.at(statement.level), place.at(statement.level)
    if statement.arms == "masked":
        p, negated = test(w, statement.condition, place)
        masks = w.mask(), w.mask()
        for mask, says in zip(masks, (negated, not negated), strict=True):
            w.line(f"vote.sync.ballot.b32 {mask}, {'!' if says else ''}{p}, {place.mask};")
        then, other = (place.among(mask) for mask in masks)
        w.line(f"@{'' if negated else '!'}{p} bra {otherwise};")
    else:
        if statement.arms == "halves":
            assert place.lanes is not None
            low = sum(1 << lane for lane in range(32) if not lane >> statement.condition.numbers[0] % 5 & 1)
            chosen = low if statement.condition.numbers[2] & 1 else FULL ^ low
            then, other = (place.among(f"{m:#x}", m) for m in (place.lanes & chosen, place.lanes & ~chosen))
        branch(w, statement.condition, place, otherwise, False, statement.promised)
    write(w, statement.then, then)
    if statement.otherwise:
        w.line(f"bra {join};")
    w.mark(otherwise)
    if statement.otherwise:
        write(w, statement.otherwise, other)
        w.mark(join)


def _switch(w: Writer, statement: Switch, place: Place) -> None:
    w.saw(f"switch at level {statement.level.name}")
    index = count(w, statement.index, place, len(statement.cases) - 1)
    labels = [w.label("CASE") for _ in statement.cases]
    table, join = w.label("TABLE"), w.label("JOIN")
    w.line(f"{table}: .branchtargets {', '.join(labels)};")
    w.line(f"brx.idx{'.uni' if statement.promised else ''} {index}, {table};")
    for label, case, falls in zip(labels, statement.cases, statement.falls, strict=True):
        w.mark(label)
        write(w, case, place.at(statement.level))
        if not falls and label != labels[-1]:
            w.line(f"bra {join};")
    w.mark(join)


# ends and skips ---------------------------------------------------------------------------------------


def _leave(w: Writer, statement: Leave, place: Place) -> None:
    """Threads end, after they have stored something, so that it matters who does."""
    if place.loop:
        w.saw("leave from within a loop")
    if statement.form in FUNCTION_ENDS:
        _leave_by_call(w, statement, place)
        return
    w.saw(f"leave by {statement.form}")
    store = left(w, statement.numbers[0])
    if statement.form in ("end", END_OF_ALL):
        w.line(store)
        branch(w, statement.condition, place, "END" if statement.form == "end" else "DONE", True)
    elif statement.form == "around" or statement.condition.joined:
        stay = w.label("STAY")
        branch(w, statement.condition, place, stay, False)
        w.line(store, "ret;")
        w.mark(stay)
    else:
        p, negated = test(w, statement.condition, place)
        guard = f"@{'!' if negated else ''}{p}"
        w.line(f"{guard} {store}", f"{guard} {statement.form};")


def _leave_by_call(w: Writer, statement: Leave, place: Place) -> None:
    form, depth, guarded = FUNCTION_ENDS[statement.form]
    w.saw(f"leave in a function by {form}")
    w.saw(f"leave in a function, {depth} calls deep")
    if guarded and not statement.condition.joined:
        w.saw("leave in a function, called under a guard")
    n = statement.numbers
    stay, whether, a = w.label("STAY"), w.word(), w.wide()
    w.line(f"add.u64 {a}, %out, {left_at(w.departures)};")
    left(w, n[0])
    if statement.condition.joined:
        branch(w, statement.condition, place, stay, False)
        w.line(f"mov.u32 {whether}, {1 + n[1] % 3};")
        w.line(*call_end(w, depth, whether, a, f"%v{n[0] % 8}", form))
        w.mark(stay)
        return
    p, negated = test(w, statement.condition, place)
    values = (0, 1 + n[1] % 3) if negated else (1 + n[1] % 3, 0)
    w.line(f"selp.u32 {whether}, {values[0]}, {values[1]}, {p};")
    lines = call_end(w, depth, whether, a, f"%v{n[0] % 8}", form)
    guard = f"@{'!' if negated else ''}{p} " if guarded else ""
    w.line(*(f"{guard}{line}" if line.startswith("call") else line for line in lines))


def _skip(w: Writer, statement: Skip, place: Place) -> None:
    assert place.loop is not None and place.loop.level == place.level
    w.saw(statement.kind)
    branch(w, statement.condition, place, place.loop.out if statement.kind == "break" else place.loop.onward, True)


# loops ------------------------------------------------------------------------------------------------


def _loop(w: Writer, statement: Loop, place: Place) -> None:
    """Every turn counts, so that all loops end."""
    w.saw(f"loop: {statement.form}")
    w.saw(f"loop at level {statement.level.name}")
    if place.loop:
        w.saw("loop in a loop")
    target = Target(statement.level, w.label("ON"), w.label("OUT"))
    inside = place.at(statement.level).inside(target)
    if statement.form == "strided":
        _strided(w, statement, inside)
    else:
        left, p = count(w, statement.count, place), w.predicate()
        if statement.form == "guarded":
            _end_beyond(w, left, p)
        if statement.form in AT_LEAST_ONCE:
            w.line(f"add.u32 {left}, {left}, 1;")
        FORMS[statement.form](w, statement, place, inside, left, p)
    w.mark(target.out)
    if statement.form in ("jump in", "two entries") and statement.level == Level.LONE and place.mask:
        w.line(f"bar.warp.sync {place.mask};")  # assemblers may leave lanes diverged after such loops


def _end_beyond(w: Writer, turns: str, p: str) -> None:
    """Ends half of the CTA's threads where one turn is left to do, and all where none is: who goes on knows that there
    is one, as a compiler knows it from `if (i >= n) return`."""
    bound, store = w.word(), left(w, 0)
    w.line(f"mul.lo.u32 {bound}, {turns}, {(w.threads + 1) // 2};", f"setp.ge.u32 {p}, %rank, {bound};")
    w.line(f"@{p} {store}", f"@{p} ret;")


def _do(w: Writer, loop: Loop, place: Place, inside: Place, left: str, p: str) -> None:
    """while (--left);"""
    head = w.label("LOOP")
    w.mark(head)
    write(w, loop.body, inside)
    _turn(w, inside, left, p, head)


def _turn(w: Writer, inside: Place, left: str, p: str, head: str) -> None:
    assert inside.loop is not None
    w.mark(inside.loop.onward)
    w.line(f"sub.u32 {left}, {left}, 1;", f"setp.ne.u32 {p}, {left}, 0;", f"@{p} bra {head};")


def _while(w: Writer, loop: Loop, place: Place, inside: Place, left: str, p: str) -> None:
    """The test comes before the body, after the second one if there is one."""
    assert inside.loop is not None
    head = w.label("LOOP")
    w.mark(head)
    write(w, loop.second, replace(inside, loop=None))
    w.line(f"setp.eq.u32 {p}, {left}, 0;", f"@{p} bra {inside.loop.out};")
    write(w, loop.body, inside)
    w.mark(inside.loop.onward)
    w.line(f"sub.u32 {left}, {left}, 1;", f"bra {head};")


def _up(w: Writer, loop: Loop, place: Place, inside: Place, left: str, p: str) -> None:
    """for (turn = 0; turn < left; turn++), the test at the end."""
    assert inside.loop is not None
    head, turn = w.label("LOOP"), w.counter()
    w.line(f"setp.eq.u32 {p}, {left}, 0;", f"@{p} bra {inside.loop.out};", f"mov.u32 {turn}, 0;")
    w.mark(head)
    write(w, loop.body, inside)
    w.mark(inside.loop.onward)
    w.line(f"add.u32 {turn}, {turn}, 1;", f"setp.lt.u32 {p}, {turn}, {left};", f"@{p} bra {head};")


def _vote(w: Writer, loop: Loop, place: Place, inside: Place, left: str, p: str) -> None:
    """As long as a lane has turns left, all of them go on."""
    assert inside.loop is not None
    head, any_ = w.label("LOOP"), w.predicate()
    w.mark(head)
    w.line(f"setp.ne.u32 {p}, {left}, 0;", f"vote.sync.any.pred {any_}, {p}, {place.mask};")
    w.line(f"@!{any_} bra {inside.loop.out};")
    write(w, loop.body, inside)
    w.mark(inside.loop.onward)
    w.line(f"@{p} sub.u32 {left}, {left}, 1;", f"bra {head};")


def _strided(w: Writer, loop: Loop, inside: Place) -> None:
    """for (i = number; i < 2 n; i += threads of the grid): reads the word that belongs to i."""
    assert inside.loop is not None
    head, i, bound, stride, p = w.label("LOOP"), w.counter(), w.word(), w.word(), w.predicate()
    w.line(f"mov.u32 {i}, %number;", f"add.u32 {bound}, %n, %n;")
    w.line(f"mov.u32 {stride}, {'%nctaid.x' if len(w.kernel.grid) == 1 else prod(w.kernel.grid)};")
    w.line(f"mul.lo.u32 {stride}, {stride}, %threads;")
    w.mark(head)
    w.line(f"setp.ge.u32 {p}, {i}, {bound};", f"@{p} bra {inside.loop.out};")
    w.line(f"ld.global.u32 %v{loop.count.numbers[0] % 8}, [{w.at('%in', i, 4)}+{4 * OWN}];")
    write(w, loop.body, inside)
    w.mark(inside.loop.onward)
    w.line(f"add.u32 {i}, {i}, {stride};", f"bra {head};")


def _jump_in(w: Writer, loop: Loop, place: Place, inside: Place, left: str, p: str) -> None:
    """Entered at its head or in its middle."""
    head, middle = w.label("LOOP"), w.label("MIDDLE")
    assert loop.enter is not None
    branch(w, loop.enter, place, middle, True)
    w.mark(head)
    write(w, loop.second, replace(inside, loop=None))
    w.mark(middle)
    write(w, loop.body, inside)
    _turn(w, inside, left, p, head)


def _two_entries(w: Writer, loop: Loop, place: Place, inside: Place, left: str, p: str) -> None:
    """Two blocks that go on to themselves or each other, entered at either."""
    assert inside.loop is not None and loop.enter is not None
    first, second = w.label("FIRST"), w.label("SECOND")
    turn = (f"sub.u32 {left}, {left}, 1;", f"setp.eq.u32 {p}, {left}, 0;", f"@{p} bra {inside.loop.out};")
    branch(w, loop.enter, place, second, True)
    w.mark(first)
    write(w, loop.second, replace(inside, loop=None))
    w.line(*turn)
    branch(w, loop.enter, inside, first, True)
    w.mark(second)
    write(w, loop.body, inside)
    w.mark(inside.loop.onward)
    w.line(*turn)
    branch(w, loop.enter, inside, second, False)
    w.line(f"bra {first};")


FORMS = {
    "do": _do,
    "while": _while,
    "middle": _while,
    "up": _up,
    "vote": _vote,
    "guarded": _do,
    "jump in": _jump_in,
    "two entries": _two_entries,
}
AT_LEAST_ONCE = ("do", "jump in", "two entries")
