"""Arcs beside a column of rows: each in a lane of its own height, the shorter within the longer, so that none overlap.

Ways to one row share a lane, at whose end they are one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from goptx.view.svg.drawing import number, said
from goptx.view.svg.flow_rows import Way

STEP, CLOSE, MANY = 7.0, 3.5, 16  # pixels from lane to lane; where there are more lanes than that
HEAD = 12.0  # pixels between the column and the first lane
CORNER = 3.0


def lanes(ways: Sequence[Way]) -> dict[int, int]:
    """By the row that ways lead to, the number of their lane."""
    ends: dict[int, tuple[int, int]] = {}
    for way in ways:
        low, high = ends.get(way.end, (way.end, way.end))
        ends[way.end] = min(low, way.begin), max(high, way.begin)
    taken: list[list[tuple[int, int]]] = []
    found: dict[int, int] = {}
    for end, (low, high) in sorted(ends.items(), key=lambda item: (item[1][1] - item[1][0], item)):
        free = (i for i, lane in enumerate(taken) if all(high < a or b < low for a, b in lane))
        i = next(free, len(taken))
        # A longer one stands outside of all that it spans.
        inner = [j + 1 for j, lane in enumerate(taken) if any(low <= a and b <= high for a, b in lane)]
        i = max([i, *inner])
        taken += [[] for _ in range(i + 1 - len(taken))]
        taken[i].append((low, high))
        found[end] = i
    return found


def room(found: Mapping[int, int]) -> float:
    """Pixels beside the column."""
    count = max(found.values(), default=-1) + 1
    return HEAD + count * _step(found) if count else 0.0


def _step(found: Mapping[int, int]) -> float:
    return STEP if max(found.values(), default=0) < MANY else CLOSE


def arcs(
    ways: Sequence[Way], found: Mapping[int, int], edges: Sequence[tuple[float, float, float]], side: int, kind: str
) -> list[str]:
    """At the right (`side` 1) or the left (-1); `edges` has of each row where its edge lies, its top and its end."""
    parts = []
    lane = max((side * x for x, _, _ in edges), default=0.0) * side
    for way in sorted(ways, key=lambda w: (w.end, w.begin)):
        at = lane + side * (HEAD + found[way.end] * _step(found))
        (x1, _, low), (x2, top, _) = edges[way.begin], edges[way.end]
        y1, y2 = low - 5, top + 6
        turn, down = CORNER * side, CORNER if y2 > y1 else -CORNER
        path = (
            f"M{number(x1)} {number(y1)}H{number(at - turn)}q{number(turn)} 0 {number(turn)} {number(down)}"
            f"V{number(y2 - down)}q0 {number(down)} {number(-turn)} {number(down)}H{number(x2 + side * 4)}"
        )
        parts.append(f'<path class="{kind}" d="{path}"><title>{said(way.said)}</title></path>')
    for end in sorted({w.end for w in ways}):
        x, top, _ = edges[end]
        tip = f"M{number(x)} {number(top + 6)}l{number(side * 6)} -3v6z"
        parts.append(f'<path class="tip {kind}" d="{tip}"/>')
    return parts
