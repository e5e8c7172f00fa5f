"""The message when no thread can go on: where each one waits, and for which threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from goptx.emulator.faults import Trouble
from goptx.emulator.lane_groups import FULL, Groups, joined
from goptx.emulator.lane_positions import Place
from goptx.emulator.lanes import WARP

if TYPE_CHECKING:
    from goptx.emulator.machine import Machine

LOOPS = {True: "(in a loop that waits for another thread)", False: "(in a loop that nothing ends)"}
Reason = Callable[[int], str]  # for the number of a CTA


def divergence_fault(machine: Machine) -> Exception:
    """The fault of lanes that wait at a convergent instruction for lanes of their warp that are elsewhere."""
    place, (groups, masks) = min(machine.converging.items(), key=lambda item: item[0].key)
    first = int(np.argmin(groups.warps))
    warp = int(groups.warps[first])
    here = int(np.bitwise_or.reduce(groups.masks[groups.warps == warp]))
    mask = int(masks[first][groups.active()[first]][0])
    missing = int(machine.alive[warp]) & mask & ~here
    elsewhere = [
        f"{lanes_text(found & missing)} at {machine.launch.at(at.operation, at.segment.block)}"
        for at, found in _places_of_warp(machine, warp)
        if found & missing
    ]
    all_of = "all living lanes of the warp have to" if mask == int(FULL) else f"those that {mask:#010x} names have to"
    message = f"{all_of} execute it together; {lanes_text(here)} are here, {', '.join(elsewhere)}"
    lanes = groups.narrowed(groups.masks * (groups.warps == warp).astype(np.uint32)).lanes()
    trouble = Trouble("convergence", message)
    return machine.launch.fault(machine, place.operation, trouble, lanes, place.segment.block)


def deadlock(machine: Machine) -> Exception:
    """The fault of threads that wait for each other, or for a thread that never arrives."""
    warp = int(np.flatnonzero(machine.alive)[0])
    cta = int(machine.cta_of(np.array([warp]))[0])
    waits: list[str] = []
    first: tuple[Place, Groups] | None = None
    for place, groups, reason in _waits(machine):
        mine = groups.chosen(machine.cta_of(groups.warps) == cta)
        if len(mine):
            first = first or (place, mine)
            threads = machine.launch.threads_text(machine, mine.lanes())
            waits.append(f"{threads} at {machine.launch.at(place.operation, place.segment.block)} {reason(cta)}")
    assert first is not None
    place, groups = first
    trouble = Trouble("deadlock", "nobody can go on: " + "; ".join(waits))
    return machine.launch.fault(machine, place.operation, trouble, groups.lanes(), place.segment.block)


def _waits(machine: Machine) -> Iterator[tuple[Place, Groups, Reason]]:
    """Each place where threads wait, with the groups and the reason."""
    yield from machine.barriers.waits()
    for place, (groups, masks) in machine.converging.items():
        yield place, groups, _always(f"(waiting for the lanes that {int(masks[0].max()):#010x} names)")
    for (_, place), parts in machine.ready.items():
        yield place, joined(parts), _always(LOOPS[place.spins])
    tokens = machine.tokens
    waiting = tokens.waiting()
    for place_id in np.unique(tokens.place[waiting]):
        here = waiting[tokens.place[waiting] == place_id]
        groups = Groups(tokens.warp[here], tokens.arrived[here], here)
        yield machine.places[place_id], groups, _always("(waiting for lanes of their warp to reconverge)")


def _always(text: str) -> Reason:
    return lambda cta: text


def _places_of_warp(machine: Machine, warp: int) -> list[tuple[Place, int]]:
    """Where the living lanes of a warp wait, as masks."""
    found: dict[Place, int] = {}
    for place, groups, _ in _waits(machine):
        masks = groups.masks[groups.warps == warp]
        if len(masks):
            found[place] = found.get(place, 0) | int(np.bitwise_or.reduce(masks))
    return list(found.items())


def lanes_text(mask: int) -> str:
    """A mask as text: `lanes 0-3, 8`."""
    lanes = [i for i in range(WARP) if mask >> i & 1]
    return f"{'lanes' if len(lanes) > 1 else 'lane'} {ranges(lanes)}"


def ranges(numbers: list[int]) -> str:
    """`0-3, 8, 10-11`."""
    text: list[str] = []
    start = 0
    for i in range(1, len(numbers) + 1):
        if i == len(numbers) or numbers[i] != numbers[i - 1] + 1:
            first, last = numbers[start], numbers[i - 1]
            text.append(str(first) if first == last else f"{first}-{last}")
            start = i
    return ", ".join(text)
