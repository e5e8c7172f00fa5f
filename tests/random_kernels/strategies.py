"""Hypothesis strategies that draw the statements of random kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from random_kernels.arithmetic import ROWS
from random_kernels.conditions import COUNTS, NEED_OTHERS, TESTS
from random_kernels.control import END_OF_ALL, ENDS, FUNCTION_ENDS
from random_kernels.corners import KINDS as CORNERS
from random_kernels.functions import FOR_ALL, FOR_WARPS, OUTSIDE_BRACES
from random_kernels.gone import BY as GONE_BY
from random_kernels.gone import KINDS as GONE
from random_kernels.messages import ACQUIRES, RELEASES, SCOPES
from random_kernels.messages import SPACES as MESSAGE_SPACES
from random_kernels.phases import KINDS as PHASES
from random_kernels.sides import BY, MEETS
from random_kernels.tree import (
    Access,
    Call,
    Condition,
    Copying,
    Count,
    Gone,
    Guard,
    Handover,
    If,
    Leave,
    Level,
    Loop,
    Meeting,
    Message,
    Numbers,
    Parties,
    Plain,
    Sides,
    Skip,
    Statement,
    Switch,
    Together,
    Wait,
)
from random_kernels.waits import FORMS as WAIT_FORMS
from random_kernels.waits import READS, WEAK_READS
from random_kernels.where import Where

FAVOURS = ("", "plain", "access", "together", "together", "meeting", "meeting", "if", "loop", "switch", "leave", "call")
WAITS = (
    "barrier that counts", "reduction that counts", "barrier in two places", "exchange of copies", "pipeline of copies",
    *PHASES,
)  # fmt: skip
FAVOURS_OF_COUNTED = ("meeting", "parties", "handover", "copying")  # kernels
OFTEN = {"integer": 1, "64 bits": 1, "float": 1, "double": 1, "half": 1, "predicate": 2, "carry": 3, "approximate": 1}
ARITHMETIC = tuple(row for family, rows in ROWS.items() for row in rows * OFTEN[family])
ACCESSES = (
    *("gather", "store", "load what was stored") * 2,
    *("gather a float", "gather a vector", "store 64 bits or a vector", "constant", "local array", "global total"),
    *("global total", "fence", *("store to a lasting array", "load from a lasting array") * 2),
    *("asynchronous copy", "asynchronous copies in groups"),
)


def numbers(count: int) -> SearchStrategy[Numbers]:
    return st.integers(0, 16**count - 1).map(lambda n: tuple(n >> 4 * i & 15 for i in range(count)))


THREE, FOUR, FIVE = numbers(3), numbers(4), numbers(5)
GUARDS = st.integers(0, 39).map(lambda n: Guard(n & 3, bool(n & 4)) if n >= 32 else None)  # now and then
PLAIN = st.builds(Plain, st.sampled_from(ARITHMETIC), FIVE, GUARDS)


@cache
def bodies(where: Where, least: int = 1) -> SearchStrategy[tuple[Statement, ...]]:
    return st.lists(statements(where), min_size=least, max_size=where.size).map(tuple)


@cache
def pick(*choices: Any) -> SearchStrategy[Any]:
    return st.sampled_from(choices)


@st.composite
def statements(draw: DrawFn, where: Where, kinds: tuple[str, ...] = ()) -> Statement:
    """Of one of the kinds, or of any that may stand there."""
    kind: str = draw(pick(*(kinds or where.kinds())))
    match kind:
        case "access":
            return Access(draw(pick(*ACCESSES, *["shared total"] * 4 * where.bins)), draw(FOUR), draw(GUARDS))
        case "together":
            return Together(draw(pick(*_together(where))), draw(FOUR))
        case "uniform":
            return Meeting(
                draw(pick(*["uniform arithmetic"] * (not where.party), "use of a uniform value")), draw(FOUR)
            )
        case "meeting":
            return Meeting(draw(pick(*_aliasing(where))), draw(FOUR))
        case "call":
            return draw(calls(where))
        case "parties":
            return _parties(draw, where)
        case "handover":
            return _handover(draw, where)
        case "copying":
            return _copying(draw, where)
        case "if":
            return _if(draw, where)
        case "loop":
            return _loop(draw, where)
        case "switch":
            return _switch(draw, where)
        case "corner":
            return Access(draw(pick(*CORNERS)), draw(FOUR), draw(GUARDS))
        case "wait":
            return draw(waits_of_loops())
        case "message":
            return _message(draw)
        case "sides":
            return _sides(draw, where)
        case "gone":
            condition = _condition(draw, where, Level.LONE, joins=False)
            body = draw(st.lists(PLAIN, max_size=2).map(tuple))
            return Gone(draw(pick(*GONE)), condition, draw(pick(*GONE_BY)), body, draw(THREE))
        case "leave":
            level = draw(pick(*(v for v in _levels(where) if where.leaves == "any" or v < Level.LONE)))
            ends = pick(
                *ENDS * (6 if where.more else 1), *[END_OF_ALL] * 4 * where.alone, *[*FUNCTION_ENDS] * where.more
            )
            return Leave(_condition(draw, where, level), draw(ends), draw(THREE))
        case "skip":
            level = Level.LONE if where.level == Level.LONE else min(where.level, Level.WARP)
            return Skip(draw(pick("break", "continue")), _condition(draw, where, level))
    return draw(PLAIN)


def _together(where: Where) -> tuple[str, ...]:
    found = ["shuffle"] * 3 + ["vote", "ballot", "match", "redux", "elect", "warp barrier", "guarded warp operation"]
    if where.level <= Level.WARP:
        found += ["activemask"] + ["neighbour in shared memory"] * 2 * where.tile + ["matrix"] * 6 * where.exact
    return tuple(found)


def _aliasing(where: Where) -> tuple[str, ...]:
    found = ["plain barrier", "barrier reduction"]
    found += ["barrier that counts"] * 2 * where.counted
    if where.tile:
        found += ["exchange"] * 3 + ["exchange of copies"]
        found += ["pipeline of copies"] * (where.leaves == "")  # who left has copied, and met nobody since
        found += ["mbarrier exchange", "mbarrier states", "bulk copy", "mbarrier transaction"] * where.phases
    if where.more:
        found += ["barrier id of sizes"] * 8 * (where.counted and not where.party)
        found += ["read equal values"] * 2 * (where.leaves == "" and not where.party)
    if not where.party:
        found += ["reduction that counts", "barrier in two places"] * where.counted
        found += ["ldmatrix"] * 5 * (where.tile and where.exact) + ["read a shared total"] * 5 * where.bins
    return tuple(found)


def _levels(where: Where) -> tuple[Level, ...]:
    """Who may agree on a test there: a CTA, those who are together there, or nobody."""
    return {
        Level.CTA: (Level.CTA, Level.WARP, Level.LONE),
        Level.WARP: (Level.WARP, Level.LONE),
        Level.PART: (Level.WARP, Level.LONE),
        Level.LONE: (Level.LONE, Level.LONE, Level.WARP),
    }[where.level]


def _sources(where: Where, level: Level, by_level: Mapping[Level, tuple[str, ...]]) -> list[str]:
    """What a test, or a count, of that level may be made from."""
    found = [*by_level[level] * 2, *(by_level[Level.CTA] if level == Level.WARP else ())]
    if where.level == Level.LONE:
        found = [kind for kind in found if kind not in NEED_OTHERS]
    if where.level != Level.CTA or not where.barriers or (where.looped and where.leaves):
        found = [kind for kind in found if kind != "reduced"]
    return [kind for kind in found if kind != "loaded"] + ["loaded"] * 3 * (where.loaded and "loaded" in found)


def _condition(draw: DrawFn, where: Where, level: Level, joins: bool = True) -> Condition:
    sources = _sources(where, level, TESTS)
    kinds, joined = pick(*sources), None
    if joins and draw(st.integers(0, 5)) == 5:
        work = draw(st.lists(PLAIN, max_size=1).map(tuple))
        seconds = pick(*(k for k in sources if k != "reduced" or level == Level.CTA))  # to which all threads come
        joined = draw(pick("and", "or")), work, Condition(draw(seconds), draw(THREE))
    return Condition(draw(kinds), draw(THREE), joined)


def _count(draw: DrawFn, where: Where, level: Level) -> Count:
    return Count(draw(pick(*_sources(where, level, COUNTS))), draw(THREE))


@st.composite
def waits(draw: DrawFn, where: Where) -> Statement:
    """Something in which threads wait for each other in other ways than at a plain barrier. For counted kernels."""
    kinds = (
        ["parties"] * 2 * where.parties + ["handover"] * 3 * (where.parties and where.tile) + ["copying"] * where.tile
    )
    kind = draw(pick(*kinds, *(m for m in _aliasing(where) if m in WAITS), *[*PHASES] * 2 * where.phases))
    match kind:
        case "parties":
            return _parties(draw, where)
        case "handover":
            return _handover(draw, where)
        case "copying":
            return _copying(draw, where)
    return Meeting(kind, draw(FOUR))


@st.composite
def calls(draw: DrawFn, where: Where) -> Call:
    function, numbers_, uniform = draw(pick(*where.callable())), draw(THREE), draw(st.booleans())
    if not where.more or where.functions[function] in (*FOR_ALL, *FOR_WARPS):
        return Call(function, numbers_, uniform)
    # A guarded call in braces is declined where threads have ended.
    rarely = 2 if where.functions[function] in OUTSIDE_BRACES else 15
    if draw(st.integers(0, rarely)) != rarely:
        return Call(function, numbers_, uniform)
    register = draw(st.integers(0, 7))
    return Call(function, numbers_, uniform and register >= 4, Guard(register, draw(st.booleans())))


@st.composite
def waits_of_loops(draw: DrawFn, weak: bool = False) -> Wait:
    """weak: where no other thread of the CTA writes what is waited for."""
    reads = (*READS, *[*WEAK_READS] * 2 * weak)
    return Wait(
        draw(pick(*WAIT_FORMS)), draw(pick(*reads)), draw(pick(0, 0, 1, 1, 2, 3)), draw(st.booleans()), draw(FOUR)
    )


def _message(draw: DrawFn) -> Message:
    spaces = draw(pick(*MESSAGE_SPACES)), draw(pick(*MESSAGE_SPACES))
    return Message(draw(pick(*RELEASES)), draw(pick(*ACQUIRES)), draw(pick(*SCOPES)), spaces, draw(FOUR))


def _sides(draw: DrawFn, where: Where) -> Sides:
    inner = replace(where.at(Level.WARP), skip=False, leaves="", size=2)
    kinds = [kind for kind in MEETS if (kind != "exchange" or where.tile) and (kind != "counted" or where.counted)]
    meets = tuple((draw(pick(*kinds)), draw(FOUR)) for _ in range(draw(pick(1, 1, 2))))
    first, second = (tuple(draw(bodies(inner, 0)) for _ in range(len(meets) + 1)) for _ in range(2))
    return Sides(draw(pick(*BY)), meets, first, second, draw(THREE))


def _parties(draw: DrawFn, where: Where) -> Parties:
    """Perhaps with loops of barriers, which either party goes round as often as it likes."""
    inner = where.diverged_by_warps()
    within = inner.looping(Level.CTA)
    sides = []
    for _ in range(2):
        side = draw(bodies(inner, 0))
        if draw(st.booleans()):
            meets = Meeting(draw(pick(*_aliasing(within))), draw(FOUR))
            form = draw(pick("do", "while", "up"))
            side = (Loop(form, Level.CTA, _count(draw, inner, Level.CTA), (meets, *draw(bodies(within, 0)))), *side)
        sides.append(side)
    return Parties(*sides)


def _copying(draw: DrawFn, where: Where) -> Copying:
    kinds = pick("copy and group", *["copy and mbarrier"] * 2 * where.phases)
    return Copying(draw(kinds), draw(bodies(where.amid_copies(), 0)), draw(FOUR))


def _handover(draw: DrawFn, where: Where) -> Handover:
    inner = where.amid_copies().at(Level.WARP)
    form = draw(pick("named barriers", *["mbarriers"] * 2 * where.phases))
    producers, consumers = (draw(bodies(inner, 0)) for _ in range(2))
    return Handover(form, _count(draw, where, Level.CTA), producers, consumers, draw(THREE))


def _if(draw: DrawFn, where: Where) -> If:
    arms = ["lone", "together"] + ["masked"] * (where.level < Level.LONE)
    arms += ["halves"] * (where.level < Level.LONE and where.halves)
    arm: str = draw(pick(*arms))
    level, promised = Level.LONE, False
    match arm:
        case "together":
            level = draw(pick(*(v for v in _levels(where) if v < Level.LONE)))
            promised = where.level < Level.LONE and draw(st.booleans())
            inner = where.at(level)
            condition = _condition(draw, where, level)
        case "halves":
            inner, condition = where.among(True), Condition("lane", draw(THREE))
        case "masked":
            inner, condition = where.among(False), _condition(draw, where, Level.LONE, joins=False)
        case _:
            inner, condition = where.at(Level.LONE), _condition(draw, where, Level.LONE)
    otherwise = draw(bodies(inner)) if draw(st.booleans()) else ()
    return If(condition, draw(bodies(inner)), otherwise, arm, inner.level, promised)


def _loop(draw: DrawFn, where: Where) -> Loop:
    level: Level = draw(pick(*_levels(where)))
    forms = ["do", "while", "middle", "up", "jump in", "two entries"]
    forms += ["vote"] * (where.level < Level.LONE and level == Level.WARP) + ["strided"] * (level == Level.LONE)
    forms += ["guarded"] * 3 * (where.more and where.leaves == "any" and level == Level.CTA)
    form: str = draw(pick(*forms))
    count = _count(draw, where, Level.LONE if form == "vote" else level)
    inner = where.looping(level)
    second: tuple[Statement, ...] = ()
    if form in ("middle", "jump in", "two entries"):
        second = draw(bodies(replace(inner, skip=False)))
    enter = _condition(draw, where, level) if form in ("jump in", "two entries") else None
    if enter and enter.kind == "reduced" and form == "two entries" and level != Level.CTA:
        enter = replace(enter, kind="uniform")  # it is asked in each turn, and warps take another number of turns each
    return Loop(form, inner.level, count, draw(bodies(inner)), second, enter)


def _switch(draw: DrawFn, where: Where) -> Switch:
    level: Level = draw(pick(*_levels(where)))
    cases = tuple(draw(bodies(replace(where.at(level), size=2), 0)) for _ in range(draw(pick(2, 4))))
    falls = tuple(draw(st.integers(0, 4)) == 4 for _ in cases)
    promised = level < Level.LONE and where.level < Level.LONE and draw(st.booleans())
    return Switch(_count(draw, where, level), where.at(level).level, cases, falls, promised)
