"""Hypothesis strategies that draw the statements of random kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from random_kernels.arithmetic import ROWS
from random_kernels.conditions import COUNTS, NEED_OTHERS, TESTS
from random_kernels.control import END_OF_ALL, ENDS
from random_kernels.functions import FOR_ALL, FOR_WARPS
from random_kernels.tree import (
    Access,
    Call,
    Condition,
    Copying,
    Count,
    Guard,
    Handover,
    If,
    Leave,
    Level,
    Loop,
    Meeting,
    Numbers,
    Parties,
    Plain,
    Skip,
    Statement,
    Switch,
    Together,
)

FAVOURS = ("", "plain", "access", "together", "together", "meeting", "meeting", "if", "loop", "switch", "leave", "call")
FAVOURS_OF_COUNTED = ("meeting", "parties", "handover", "copying")  # kernels
OFTEN = {"integer": 1, "64 bits": 1, "float": 1, "double": 1, "half": 1, "predicate": 2, "carry": 3, "approximate": 1}
ARITHMETIC = tuple(row for family, rows in ROWS.items() for row in rows * OFTEN[family])
ACCESSES = (
    *("gather", "store", "load what was stored") * 2,
    *("gather a float", "gather a vector", "store 64 bits or a vector", "constant", "local array", "global total"),
    *("global total", "fence", "store to a lasting array", "load from a lasting array"),
    *("asynchronous copy", "asynchronous copies in groups"),
)


def numbers(count: int) -> SearchStrategy[Numbers]:
    return st.integers(0, 16**count - 1).map(lambda n: tuple(n >> 4 * i & 15 for i in range(count)))


THREE, FOUR, FIVE = numbers(3), numbers(4), numbers(5)
GUARDS = st.integers(0, 39).map(lambda n: Guard(n & 3, bool(n & 4)) if n >= 32 else None)  # now and then
PLAIN = st.builds(Plain, st.sampled_from(ARITHMETIC), FIVE, GUARDS)


@dataclass(frozen=True, slots=True)
class Where:
    """What may stand at a place.

    leaves: "" (no thread may end), "whole" (whole warps) or "any". tile: whether threads may write their words of it.
    functions: their kinds. loaded: whether a word from memory may stand for a uniform value. apart: whether no threads
    of the kernel do anything together. favour: the kind of statements of which there are many. counted, phases: see
    `tree.Kernel`. parties: whether there are any that may go apart; party: whether this is in one. halves: whether it
    is known which lanes these are. skip: whether a loop may be left. looped: whether this is in a loop. size: the most
    statements of a body.
    """

    level: Level
    depth: int
    leaves: str
    exact: bool
    barriers: bool
    tile: bool
    bins: bool
    functions: tuple[str, ...]
    loaded: bool
    apart: bool
    favour: str
    counted: bool = False
    phases: bool = False
    parties: bool = False
    party: bool = False
    halves: bool = True
    skip: bool = False
    looped: bool = False
    size: int = 4

    def at(self, level: Level) -> Where:
        """One level down, with those who are sure to come there."""
        inner = replace(self, level=max(level, self.level), depth=self.depth - 1, size=3)
        inner = replace(inner, skip=self.skip and inner.level == self.level)
        if inner.level == Level.LONE:
            inner = replace(inner, halves=False)
        return inner

    def among(self, halves: bool) -> Where:
        return replace(self.at(Level.PART), skip=False, halves=halves)

    def looping(self, level: Level) -> Where:
        """In a loop. Barriers there, and threads that end there, are drawn apart."""
        inner = replace(self.at(level), skip=True, looped=True)
        if inner.level == Level.CTA and inner.barriers and inner.leaves:
            inner = replace(inner, leaves="")
        return inner

    def kinds(self) -> list[str]:
        """Of statements, the more often the likelier."""
        found = ["plain"] * 9 + ["access"] * 3
        if self.level < Level.LONE:
            found += ["together"] * 3
        if self.level == Level.CTA:
            found += ["uniform"] + ["meeting"] * 5 * self.barriers
            if self.depth > 0 and self.tile:
                found += ["copying"] * 2 + ["handover"] * 4 * self.parties
            found += ["parties"] * 4 * (self.depth > 0 and self.parties)
        found += ["call"] * 4 * bool(self.callable()) + ["skip"] * 2 * self.skip
        if self.leaves == "any" or (self.leaves == "whole" and self.level <= Level.WARP):
            found += ["leave"]
        if self.depth > 0:
            found += ["if"] * 4 + ["loop"] * 3 + ["switch"] * 2
        return found + [self.favour] * 12 * (self.favour in found)

    def callable(self) -> list[int]:
        """The functions that may be called."""
        return [i for i, kind in enumerate(self.functions) if self.may_call(kind)]

    def may_call(self, kind: str) -> bool:
        if kind in FOR_ALL:
            return self.level == Level.CTA and self.barriers and not self.party and (kind != "exchange" or self.tile)
        return kind not in FOR_WARPS or self.level <= Level.WARP

    def apart_by_warps(self) -> Where:
        """In one of the parties."""
        return replace(self, depth=self.depth - 1, size=3, skip=False, parties=False, party=True)

    def amid_copies(self) -> Where:
        """Where words of the tile are on their way."""
        return replace(
            self, depth=self.depth - 1, size=2, skip=False, parties=False, tile=False, phases=False, leaves=""
        )


@cache
def bodies(where: Where, least: int = 1) -> SearchStrategy[tuple[Statement, ...]]:
    return st.lists(statements(where), min_size=least, max_size=where.size).map(tuple)


@cache
def one_of(*choices: Any) -> SearchStrategy[Any]:
    return st.sampled_from(choices)


@st.composite
def statements(draw: DrawFn, where: Where) -> Statement:
    kind: str = draw(one_of(*where.kinds()))
    match kind:
        case "access":
            return Access(draw(one_of(*ACCESSES, *["shared total"] * 4 * where.bins)), draw(FOUR), draw(GUARDS))
        case "together":
            return Together(draw(one_of(*_together(where))), draw(FOUR))
        case "uniform":
            return Meeting(
                draw(one_of(*["uniform arithmetic"] * (not where.party), "use of a uniform value")), draw(FOUR)
            )
        case "meeting":
            return Meeting(draw(one_of(*_meetings(where))), draw(FOUR))
        case "call":
            return Call(draw(one_of(*where.callable())), draw(THREE), draw(st.booleans()))
        case "parties":
            inner = where.apart_by_warps()
            return Parties(draw(bodies(inner)), draw(bodies(inner)))
        case "handover":
            return _handover(draw, where)
        case "copying":
            kinds = one_of("copy and group", *["copy and mbarrier"] * 2 * where.phases)
            return Copying(draw(kinds), draw(bodies(where.amid_copies(), 0)), draw(FOUR))
        case "if":
            return _if(draw, where)
        case "loop":
            return _loop(draw, where)
        case "switch":
            return _switch(draw, where)
        case "leave":
            level = draw(one_of(*(v for v in _levels(where) if where.leaves == "any" or v < Level.LONE)))
            ends = one_of(*ENDS, *[END_OF_ALL] * 4 * where.apart)
            return Leave(_condition(draw, where, level), draw(ends), draw(THREE))
        case "skip":
            level = Level.LONE if where.level == Level.LONE else min(where.level, Level.WARP)
            return Skip(draw(one_of("break", "continue")), _condition(draw, where, level))
    return draw(PLAIN)


def _together(where: Where) -> tuple[str, ...]:
    found = ["shuffle"] * 3 + ["vote", "ballot", "match", "redux", "elect", "warp barrier", "guarded warp operation"]
    if where.level <= Level.WARP:
        found += ["activemask"] + ["neighbour in shared memory"] * 2 * where.tile + ["matrix"] * 6 * where.exact
    return tuple(found)


def _meetings(where: Where) -> tuple[str, ...]:
    found = ["plain barrier", "barrier reduction"]
    found += ["barrier that counts"] * 2 * where.counted
    if where.tile:
        found += ["exchange"] * 3 + ["exchange of copies", "pipeline of copies"]
        found += ["mbarrier exchange", "mbarrier states", "bulk copy", "mbarrier transaction"] * where.phases
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
    kinds = one_of(*_sources(where, level, TESTS))
    joined = None
    if joins and draw(st.integers(0, 5)) == 5:
        work = draw(st.lists(PLAIN, max_size=1).map(tuple))
        joined = draw(one_of("and", "or")), work, Condition(draw(kinds), draw(THREE))
    return Condition(draw(kinds), draw(THREE), joined)


def _count(draw: DrawFn, where: Where, level: Level) -> Count:
    return Count(draw(one_of(*_sources(where, level, COUNTS))), draw(THREE))


def _handover(draw: DrawFn, where: Where) -> Handover:
    inner = where.amid_copies().at(Level.WARP)
    form = draw(one_of("named barriers", *["mbarriers"] * where.phases))
    producers, consumers = (draw(bodies(inner, 0)) for _ in range(2))
    return Handover(form, _count(draw, where, Level.CTA), producers, consumers, draw(THREE))


def _if(draw: DrawFn, where: Where) -> If:
    arms = ["lone", "together"] + ["masked"] * (where.level < Level.LONE)
    arms += ["halves"] * (where.level < Level.LONE and where.halves)
    arm: str = draw(one_of(*arms))
    level, promised = Level.LONE, False
    match arm:
        case "together":
            level = draw(one_of(*(v for v in _levels(where) if v < Level.LONE)))
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
    level: Level = draw(one_of(*_levels(where)))
    forms = ["do", "while", "middle", "up", "jump in", "two entries"]
    forms += ["vote"] * (where.level < Level.LONE and level == Level.WARP) + ["strided"] * (level == Level.LONE)
    form: str = draw(one_of(*forms))
    count = _count(draw, where, Level.LONE if form == "vote" else level)
    inner = where.looping(level)
    second: tuple[Statement, ...] = ()
    if form in ("middle", "jump in", "two entries"):
        second = draw(bodies(replace(inner, skip=False)))
    enter = _condition(draw, where, level) if form in ("jump in", "two entries") else None
    return Loop(form, inner.level, count, draw(bodies(inner)), second, enter)


def _switch(draw: DrawFn, where: Where) -> Switch:
    level: Level = draw(one_of(*_levels(where)))
    cases = tuple(draw(bodies(replace(where.at(level), size=2), 0)) for _ in range(draw(one_of(2, 4))))
    falls = tuple(draw(st.integers(0, 4)) == 4 for _ in cases)
    promised = level < Level.LONE and where.level < Level.LONE and draw(st.booleans())
    return Switch(_count(draw, where, level), where.at(level).level, cases, falls, promised)
