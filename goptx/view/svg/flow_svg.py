"""The picture of control flow: blocks in columns in the order of the text, the fused kernel between its kernels.

Forward edges are arcs at the right of a column, back edges (loops) at the left. Ribbons lead from a block of the fused
kernel to the blocks of the kernels whose code it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, zip_longest
from pathlib import PurePath

from goptx.anatomy.blocks import Anatomy, Chart
from goptx.anatomy.chart import anatomy_of
from goptx.ptx.ir import Module
from goptx.view.listing import chosen_entries
from goptx.view.svg.drawing import (
    HIGH,
    MARGIN,
    PAGE,
    WIDE,
    Sample,
    box,
    document,
    hatching,
    heading,
    label,
    legend,
    number,
)
from goptx.view.svg.flow_column import KERNEL, TOP, WOVEN, Column, drawn, height
from goptx.view.svg.theme import hue

COLUMN_GAP, PILE_GAP = 64, -20  # pixels between columns beside each other, and below each other beside their names
_RULES = """
.KIND .name { font-weight: 600; }
.KIND .frame { fill: none; stroke: var(--line); }
.KIND .under { fill: var(--ground); }
.KIND .forward { stroke: var(--faint); stroke-width: 1; fill: none; }
.KIND .loop { stroke: var(--ink); stroke-width: 1.6; fill: none; }
.KIND .tip.forward { fill: var(--faint); stroke: none; }
.KIND .tip.loop { fill: var(--ink); stroke: none; }
.KIND .ribbon { stroke: var(--own); stroke-opacity: .45; fill: none; }
.KIND .unsure { stroke-dasharray: 3 3; }
.KIND .band { fill: var(--ink); }
.KIND .meets { font: 9px ui-monospace, monospace; fill: var(--ground); }
.KIND .hatch { stroke-opacity: .5; }
.KIND .waits { font-size: 10px; font-style: italic; }
.KIND .plain { --own: var(--faint); }
"""


def anatomy_svg(found: Anatomy, page: float = PAGE) -> str:
    """The picture as an SVG document. Where kernels beside the fused kernel would be wider than `page` pixels, all
    stand below each other, without ribbons."""
    hues = {chart.letter: hue(i) for i, chart in enumerate(found.kernels)}
    own = [Column(chart, hues[chart.letter], KERNEL) for chart in found.kernels]
    made = [Column(chart, "", WOVEN) for chart in found.woven]
    half = (len(own) + 1) // 2
    separate = len(made) == len(own) and len(made) > 1
    piles = [own, made] if separate else [own[:half], made, own[half:]]
    _pile([pile for pile in piles if pile], level=separate)
    beside = page >= PAGE or _width([*own, *made]) <= page
    if not beside:
        _pile([[*made, *own]], level=False)
    title = " and ".join(c.name for c in found.woven) + f": {found.strategy}"
    return _picture(title, [*own, *made], hues, own, made if beside else [])


def flow_svg(module: Module, name: str | None = None) -> str:
    """The control flow of each entry of the module, or of the one of that name.

    Raises `InputError` if no entry has that name, and `CannotWeave` if a branch has no known target.
    """
    return charts_svg([anatomy_of(module, entry.name) for entry in chosen_entries(module, name)], module.source)


def charts_svg(charts: Sequence[Chart], source: str) -> str:
    """The charts of a module's entries beside each other."""
    columns = [Column(chart, hue(i), KERNEL) for i, chart in enumerate(charts)]
    width = max((c.left_margin + c.width + c.right_margin + COLUMN_GAP for c in columns), default=PAGE)
    beside = max(1, int((PAGE - 2 * MARGIN + COLUMN_GAP) / width))
    _pile([columns[i::beside] for i in range(min(beside, len(columns)))], level=True)
    title = f"Control flow of {PurePath(source).name}" + ("" if charts else ": no entry")
    return _picture(title, columns, {}, columns, [])


def _pile(piles: Sequence[Sequence[Column]], level: bool) -> None:
    """Places piles of columns beside each other; if `level`, columns with the same number in their piles begin at the
    same height."""
    x = float(MARGIN)
    for pile in piles:
        x += max(c.left_margin for c in pile)
        for column in pile:
            column.left = x
        x += max(c.width + c.right_margin for c in pile) + COLUMN_GAP
    if level:
        for before, after in pairwise(zip_longest(*piles)):
            for column in filter(None, after):
                column.top = max(c.end for c in before if c) + PILE_GAP
    else:
        for pile in piles:
            for above, below in pairwise(pile):
                below.top = above.end + PILE_GAP


def _width(columns: Sequence[Column]) -> float:
    return max((c.right + c.right_margin for c in columns), default=0.0) + MARGIN


def _picture(
    title: str, columns: Sequence[Column], hues: Mapping[str, str], own: Sequence[Column], made: Sequence[Column]
) -> str:
    width = max(_width(columns), 460)
    ribbons, unsure = _ribbons(made, {c.chart.letter: c for c in own}) if made else ([], False)
    bodies = [part for column in columns for part in drawn(column, hues)]
    samples, low = legend(list(_samples(columns, hues, bool(ribbons), unsure)), MARGIN, 34, width - 2 * MARGIN)
    shift = low - 28
    moved = [f'<g transform="translate(0 {number(shift)})">', *ribbons, *bodies, "</g>"]
    low = max((c.end for c in columns), default=TOP) + shift + 8
    return document("flow", title, width, low, _RULES, [heading(title, width), *samples, *moved])


def _samples(columns: Sequence[Column], hues: Mapping[str, str], ribbons: bool, unsure: bool) -> Iterator[Sample]:
    rows = [row for c in columns for row in c.rows]
    for letter, kind in hues.items():
        yield Sample(box(0, 0, WIDE, HIGH, f"soft {kind}", round_=2), f"code of {letter}")
    if any(row.waits for row in rows):
        kind = next((hues[x] for row in rows if row.waits for x in row.shares), "plain")
        yield Sample(
            box(0, 0, WIDE, HIGH, f"soft {kind}") + f'<path class="hatch {kind}" d="{hatching(0, 0, WIDE, HIGH)}"/>',
            "another kernel waits",
        )
    if any(row.barriers for row in rows):
        yield Sample(box(0, 1, WIDE, HIGH - 2, "band", round_=2), "barrier")
    if any(c.back for c in columns):
        yield Sample(f'<path class="loop" d="M{WIDE} 1H6q-3 0 -3 3V8q0 3 3 3H{WIDE}"/>', "loop")
    if any(c.forward for c in columns):
        yield Sample(f'<path class="forward" d="M0 1H{WIDE - 6}q3 0 3 3V8q0 3 -3 3H0"/>', "forward edge")
    if ribbons:
        kind = next(iter(hues.values()))
        yield Sample(f'<path class="ribbon {kind}" stroke-width="3" d="M0 2C13 2 13 10 {WIDE} 10"/>', "holds code of")
    if unsure:
        kind = next(iter(hues.values()))
        yield Sample(
            f'<path class="ribbon unsure {kind}" stroke-width="2" d="M0 2C13 2 13 10 {WIDE} 10"/>',
            "code of one of these",
        )
    if hues and any((b.copies or 1) > 1 for row in rows for b in row.blocks):
        yield Sample(label(4, 10, "x2", "waits"), "number of copies of the block")
    if any(len(row.blocks) > 1 for row in rows):
        yield Sample(label(4, 9, "…"), "several similar blocks")


def _ribbons(made: Sequence[Column], own: Mapping[str, Column]) -> tuple[list[str], bool]:
    """Ribbons from rows of the fused kernel to rows of the kernels, and whether any of them is uncertain."""
    found: dict[tuple[int, int, str, int, bool], int] = {}
    for w, column in enumerate(made):
        for i, row in enumerate(column.rows):
            for pair in (p for b in row.blocks for p in b.pairs):
                targets = {own[pair.kernel].row_of[name] for name in pair.blocks}
                for target in sorted(targets):
                    key = (w, i, pair.kernel, target, len(targets) > 1)
                    found[key] = found.get(key, 0) + pair.instructions
    ends: dict[tuple[str, int, int], list[int]] = {}
    keys = list(found)
    for n, (w, i, letter, target, _) in enumerate(keys):
        side = "fused left" if own[letter].left < made[w].left else "fused right"
        ends.setdefault((side, w, i), []).append(n)
        ends.setdefault((letter, -1, target), []).append(n)
    share = {(end, n): (j + 1) / (len(several) + 1) for end, several in ends.items() for j, n in enumerate(several)}
    parts = []
    tops = {id(column): column.tops for column in (*made, *own.values())}
    for n, (w, i, letter, target, several) in enumerate(keys):
        column, kernel = made[w], own[letter]
        left = kernel.left < column.left
        y1 = tops[id(column)][i] + height(column.rows[i]) * share[("fused left" if left else "fused right", w, i), n]
        y2 = tops[id(kernel)][target] + height(kernel.rows[target]) * share[(letter, -1, target), n]
        x1 = column.x(column.rows[i]) if left else column.right
        x2 = kernel.right if left else kernel.x(kernel.rows[target])
        middle, count = number((x1 + x2) / 2), found[keys[n]]
        path = f"M{number(x1)} {number(y1)}C{middle} {number(y1)} {middle} {number(y2)} {number(x2)} {number(y2)}"
        drawn = f'class="ribbon {kernel.kind}{" unsure" if several else ""}" d="{path}"'
        wide = number(min(5.0, 1 + count**0.5 / 2))
        parts.append(f'<path {drawn} stroke-width="{wide}"><title>{count} instructions of {letter}</title></path>')
    return parts, any(key[-1] for key in keys)
