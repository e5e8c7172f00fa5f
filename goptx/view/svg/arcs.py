"""Arcs beside a column of rows. Arcs that overlap in height get different lanes; the longer arc has the outer lane.

Edges to the same row share a lane and end in one tip.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from goptx.view.svg.drawing import escaped, number
from goptx.view.svg.flow_rows import RowEdge

STEP, MOST = 7.0, 56.0  # pixels from lane to lane usually, and of all lanes at most
HEAD = 12.0  # pixels between the column and the first lane
CORNER = 3.0


def lanes(edges: Sequence[RowEdge]) -> dict[int, int]:
    """The number of the lane of the edges to each row."""
    ends: dict[int, tuple[int, int]] = {}
    for edge in edges:
        low, high = ends.get(edge.end, (edge.end, edge.end))
        ends[edge.end] = min(low, edge.begin), max(high, edge.begin)
    taken: list[list[tuple[int, int]]] = []
    found: dict[int, int] = {}
    for end, (low, high) in sorted(ends.items(), key=lambda item: (item[1][1] - item[1][0], item)):
        free = (i for i, lane in enumerate(taken) if all(high < a or b < low for a, b in lane))
        i = next(free, len(taken))
        # A longer arc is outside all arcs that it spans.
        inner = [j + 1 for j, lane in enumerate(taken) if any(low <= a and b <= high for a, b in lane)]
        i = max([i, *inner])
        taken += [[] for _ in range(i + 1 - len(taken))]
        taken[i].append((low, high))
        found[end] = i
    return found


def lanes_width(found: Mapping[int, int]) -> float:
    """The width of the lanes, in pixels."""
    count = max(found.values(), default=-1) + 1
    return HEAD + count * _step(found) if count else 0.0


def _step(found: Mapping[int, int]) -> float:
    return min(STEP, MOST / (max(found.values(), default=0) + 1))


def arcs(
    edges: Sequence[RowEdge],
    found: Mapping[int, int],
    spans: Sequence[tuple[float, float, float]],
    side: int,
    kind: str,
) -> list[str]:
    """Arcs at the right (`side` 1) or the left (-1) of the column; `spans` has for each row the x of its border on that
    side, its top and its end."""
    parts = []
    lane = max((side * x for x, _, _ in spans), default=0.0) * side
    for edge in sorted(edges, key=lambda e: (e.end, e.begin)):
        at = lane + side * (HEAD + found[edge.end] * _step(found))
        (x1, _, low), (x2, top, _) = spans[edge.begin], spans[edge.end]
        y1, y2 = low - 5, top + 6
        bend, down = CORNER * side, CORNER if y2 > y1 else -CORNER
        path = (
            f"M{number(x1)} {number(y1)}H{number(at - bend)}q{number(bend)} 0 {number(bend)} {number(down)}"
            f"V{number(y2 - down)}q0 {number(down)} {number(-bend)} {number(down)}H{number(x2 + side * 4)}"
        )
        parts.append(f'<path class="{kind}" d="{path}"><title>{escaped(edge.title)}</title></path>')
    for end in sorted({edge.end for edge in edges}):
        x, top, _ = spans[end]
        tip = f"M{number(x)} {number(top + 6)}l{number(side * 6)} -3v6z"
        parts.append(f'<path class="tip {kind}" d="{tip}"/>')
    return parts
