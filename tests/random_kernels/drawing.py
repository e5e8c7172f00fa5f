"""Hypothesis strategies that draw random kernels, their launches, and the options with which they are woven."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from random_kernels.arithmetic import ROWS
from random_kernels.case import NAMES
from random_kernels.functions import FOR_ALL, FOR_WARPS
from random_kernels.functions import KINDS as FUNCTIONS
from random_kernels.functions import MORE_KINDS as MORE_FUNCTIONS
from random_kernels.strategies import (
    FAVOURS,
    FAVOURS_OF_COUNTED,
    GUARDS,
    THREE,
    bodies,
    calls,
    numbers,
    pick,
    statements,
    waits,
    waits_of_loops,
)
from random_kernels.tree import Extent, Function, Kernel, Level, Pair, Plain
from random_kernels.where import Where

from goptx.options import PLACEMENTS, POLICIES, Policy, Slicing

KERNELS = (*[2] * 7, 3)  # that are woven together
BLOCKS: tuple[Extent, ...] = ((32,), (64,), (96,), (33,), (48,), (100,), (8, 8), (16, 3), (128,), (5, 5, 2))
GRIDS: tuple[Extent, ...] = ((1,), (2,), (3,), (2, 2))
MOST = 192  # threads of a grid: more cost time and show no more
LARGER_GRIDS: tuple[Extent, ...] = ((2,), (4,), (5,), (6,), (7,), (9,), (2, 3), (3, 2), (1, 5), (2, 2, 2))
MOST_OF_LARGER = 320
MOVES = 4  # launches with another `scale`
UNKNOWN = ("", "grid", "axis", "block", "shared", "all")  # of a launch shape
WITHIN_FUNCTIONS = tuple(
    row for family in ("integer", "64 bits", "float", "predicate", "carry") for row in ROWS[family]
)
PLAIN_WITHIN = st.builds(Plain, st.sampled_from(WITHIN_FUNCTIONS), numbers(5), GUARDS)


@dataclass(frozen=True, slots=True)
class Theme:
    """What kernels of a kind are drawn from, the more often the likelier: how threads end, levels of the body, guards,
    and kinds of statements of which there may be many. first: kinds of which the body has one at its beginning or end,
    as far as they may stand there. sure: whether there are barriers, a tile and phases for certain. more: whether there
    is what only the new generator draws."""

    leaves: tuple[str, ...] = ("", "any", "whole", "any", "", "")
    levels: tuple[Level, ...] = (*[Level.CTA] * 5, Level.LONE)
    guards: tuple[str, ...] = ("", "first", "loaded", "first", "")
    favours: tuple[str, ...] = FAVOURS
    favours_of_counted: tuple[str, ...] = FAVOURS_OF_COUNTED
    functions: tuple[str, ...] = (*FUNCTIONS, *FOR_ALL * 2, *FOR_WARPS)
    first: tuple[str, ...] = ()
    sure: bool = False
    more: bool = False


OLD = Theme()
ALL_FUNCTIONS = (*OLD.functions, *[*MORE_FUNCTIONS] * 3)
NEW = Theme(favours=(*FAVOURS, "corner", "call"), functions=ALL_FUNCTIONS, first=("corner", "call"), more=True)
THEMES = {
    "old": OLD,
    "any": NEW,
    "ends": replace(NEW, leaves=("any",), favours=("gone", "leave", "call", "corner"), first=("gone", "leave")),
    "sides": replace(NEW, leaves=("",), levels=(Level.CTA,), favours=("sides", "meeting", "corner"), first=("sides",)),
    "waits": replace(
        NEW, leaves=("",), levels=(Level.CTA,), guards=("",), favours=("wait", "wait", "message", "meeting"),
        favours_of_counted=("wait", "message", "handover"), first=("wait", "wait", "message"), sure=True,
    ),
}  # fmt: skip
OF_NEW = ("any", "any", "ends", "ends", "sides", "waits", "waits")  # themes of the new generator
GENERATORS = ("old", "new")


@cache
def function(kinds: tuple[str, ...]) -> SearchStrategy[Function]:
    bodies_ = st.lists(PLAIN_WITHIN, min_size=1, max_size=4).map(tuple)
    return st.builds(Function, st.sampled_from(kinds), bodies_, THREE)


@st.composite
def kernels(
    draw: DrawFn,
    name: str,
    grid: Extent,
    block: Extent,
    common: tuple[Function, ...],
    moved: bool = False,
    size: int = 4,
    theme: Theme = OLD,
) -> Kernel:
    total, full, warps = prod(grid) * prod(block), prod(block) % 32 == 0, -(-prod(block) // 32)
    guard: str = draw(pick(*theme.guards))
    leaves: str = draw(pick(*theme.leaves))
    exact = full and leaves != "any" and (not guard or draw(st.booleans()))
    n = draw(st.integers(1, total))
    if exact:
        n = -(-n // 32) * 32
    level: Level = draw(pick(*theme.levels))
    barriers = level == Level.CTA and (theme.sure or draw(pick(True, True, False)))
    tile: str = draw(pick("before", "after", "before", "after", *[""] * (not theme.sure))) if barriers else ""
    bins = bool(tile) and leaves == "" and draw(pick(True, True, False))
    counted = barriers and leaves == ""
    phases = counted and bool(tile) and (theme.sure or draw(pick(True, True, False)))
    cut = draw(st.integers(1, warps - 1)) if counted and warps > 1 else 0
    producers, broadcast = (draw(st.integers(0, 1)), draw(st.booleans())) if cut else (0, False)
    if (phases or cut) and draw(st.integers(0, 3)):  # waits after ends are often declined
        guard = ""
    broadcast |= cut > 0 and (guard != "" or not full)  # else ended lanes may be taken for warps that diverge
    if counted:  # some lanes of the last warp may be beyond n
        ended = 0 if phases or exact else total - n
        n = total - ended % ((prod(block) - 1) % 32 + 1)
    dynamic = draw(pick(None, None, 0, 128, 1000)) if tile else None
    loaded = draw(st.integers(0, 15)) >= (15 if guard or leaves else 10)
    own = draw(st.lists(function(theme.functions), max_size=2).map(tuple)) if draw(st.integers(0, 1)) else ()
    functions = (*common, *own)
    large = draw(st.integers(0, 23)) == 23
    favour = draw(pick(*theme.favours, *theme.favours_of_counted * 2 * counted))
    where = Where(
        level, 3 if large else 2, leaves, exact, barriers, bool(tile), bins, tuple(f.kind for f in functions), loaded,
        alone=level == Level.LONE, favour=favour, counted=counted, phases=phases, parties=cut > 0,
        halves=level == Level.CTA, size=12 if large else size, more=theme.more,
    )  # fmt: skip
    start: str = draw(pick("computed", "loads", "nc"))
    scale = draw(st.integers(0, MOVES - 1 if moved else 15))
    body = draw(bodies(where))
    if counted:
        body = (draw(waits(where)), *body) if draw(st.booleans()) else (*body, draw(waits(where)))
    if first := tuple(kind for kind in theme.first if kind in where.kinds()):
        one = draw(statements(where, first))
        body = (one, *body) if draw(st.booleans()) else (*body, one)
    if where.callable() and draw(pick(False, True)):
        body = (draw(calls(where)), *body)
    chain = draw(waits_of_loops(True)) if theme.sure and prod(grid) > 1 and draw(st.integers(0, 5)) == 5 else None
    tile = tile if guard else tile and "before"
    return Kernel(
        name, grid, block, n, scale, guard, level, exact, counted, phases, cut, producers, broadcast, tile, bins,
        dynamic, start, functions, body, moved, theme.more, chain,
    )  # fmt: skip


@st.composite
def pairs(
    draw: DrawFn, several: Sequence[int] = KERNELS, larger: bool = False, moved: bool = False, generator: str = "new"
) -> Pair:
    """Of as many kernels as one of `several`; `larger`: in grids of more CTAs. Where all are three they are shorter.
    generator: one of `GENERATORS`; by the old one a seed gives the cases that it gave in the results of 2026-11-22."""
    new = generator == "new"
    grids, most = (LARGER_GRIDS, MOST_OF_LARGER) if larger else (GRIDS, MOST)
    grids = tuple(grid for grid in grids if len(grid) < 3 or not moved)  # which have to have an axis left
    own_shapes = draw(pick(False, *[False] * (not new), True))
    names = NAMES[: draw(pick(*several))]
    common: tuple[Function, ...] = ()
    if draw(st.integers(0, 5)) == 5:
        common = (replace(draw(function((NEW if new else OLD).functions)), common=True),)
    chosen: list[Kernel] = []
    for name in names:
        if own_shapes or not chosen:
            block: Extent = draw(pick(*BLOCKS))
            grid: Extent = draw(pick(*(grid for grid in grids if prod(grid) * prod(block) <= most)))
        theme = THEMES[draw(pick(*OF_NEW))] if new else OLD
        kernel = draw(kernels(name, grid, block, common, moved, 4 if min(several) < 3 else 2, theme))
        if not own_shapes and any(k.dynamic is not None for k in chosen):  # their sizes would not be stated
            kernel = replace(kernel, dynamic=None)
        chosen.append(kernel)
    unknown = tuple(draw(pick(*UNKNOWN, *[""] * (3 if new else 9))) for _ in names) if own_shapes else None
    policy: Policy = draw(pick(*POLICIES))
    slicing: Slicing = draw(pick("adaptive", None, 20, 60, 200))
    divergence = draw(pick(*[None] * 14, "park", "predicate", "duplicate"))
    placement = draw(pick(*PLACEMENTS))
    return Pair(tuple(chosen), policy, slicing, divergence, unknown, placement, draw(st.integers(0, 1000)))
