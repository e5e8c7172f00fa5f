"""The picture of a timeline: the kernels alone, one after the other, and woven, a lane for each; time to the right.

An instruction is a bar from its issue until its result is ready. The strip above the lanes has a tick for each issued
instruction, and the gaps in which nothing is issued.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from goptx.anatomy.timeline import Run, Slot, Timeline
from goptx.latency.cost import ISSUE
from goptx.view.svg.drawing import (
    HIGH,
    MARGIN,
    PAGE,
    WIDE,
    Sample,
    axis,
    box,
    document,
    escaped,
    hatching,
    heading,
    label,
    legend,
    number,
    wrapped,
)
from goptx.view.svg.text_width import Font, fitted, text_width
from goptx.view.svg.theme import hue

LEFT, RIGHT = 84, 30  # pixels for the names of lanes, and after the end
CLOSE, SLOT = 4.0, 1.2  # pixels of a cycle at most, and of an instruction at least
LEAST, MOST = 1000, 4000  # pixels of all bands, at least if a cycle is not too wide then, and at most
SHORT = 760  # width of the picture of a short block
STRIP, GAP, BAND = 14, 10, 16  # pixels of the strip of issues, below a run, and between bands
TITLED = 500  # bars that have a title each; if there are more, only accesses to memory have, then no bar has
HATCHED = 6.0  # the least pixels of a gap that is hatched
ROW, TALL = 11.0, 176  # pixels from bar to bar, and of a whole lane before its bars become thinner
SMALL, INSIDE = Font(9), Font(8.5, mono=True)
_RULES = """
.KIND .bar { fill: var(--own); fill-opacity: .42; }
.KIND .memory { fill: var(--own); stroke: var(--ground); stroke-width: .5; }
.KIND .tick { stroke: var(--own); stroke-width: 1.4; fill: none; }
.KIND .wait { fill: var(--track); }
.KIND .gap { stroke: var(--faint); stroke-width: .8; stroke-opacity: .7; fill: none; }
.KIND .barrier { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 4 2; fill: none; }
.KIND .small { font-size: 9px; }
.KIND .inside { font-size: 8.5px; fill: var(--ground); }
.KIND .nobody { --own: var(--faint); }
"""


@dataclass(frozen=True, slots=True)
class _Frame:
    """A band of the picture: the cycles from `begin` to `until`, with `scale` pixels for each; cycle 0 of a run is
    cycle `run` of the timeline."""

    begin: float
    until: float
    scale: float
    hues: dict[str, str]
    titles: int
    run: float = 0

    def x(self, cycle: float) -> float:
        """Where the cycle of the run is; cycles outside of the band are at its borders."""
        return LEFT + (min(max(self.run + cycle, self.begin), self.until) - self.begin) * self.scale

    def shows(self, begin: float, until: float) -> bool:
        """Whether the band shows anything of these cycles of the run."""
        return self.run + begin < self.until and self.run + max(until, begin + 1) > self.begin

    def kind(self, letter: str) -> str:
        return self.hues.get(letter, "nobody")


def timeline_svg(found: Timeline, page: float = PAGE) -> str:
    """The picture as an SVG document, at most `page` pixels wide. Long blocks have several bands, one below the
    other."""
    length = page - LEFT - RIGHT  # of time in a band
    total = max(found.cycles_alone, found.woven.cycles, 1)
    count = max(sum(r.copies * len(r.slots) for r in found.alone), len(found.woven.slots))
    bands = math.ceil(min(MOST, max(LEAST, SLOT * count)) / length)
    span = math.ceil(total / bands)
    letters = sorted({s.kernel for r in (*found.alone, found.woven) for s in r.slots} - {""})
    hues = {x: hue(ord(x) - ord("A")) for x in letters}
    scale = min(CLOSE, length / span)
    width = max(LEFT + span * scale + RIGHT, min(page, SHORT))
    title = f"Block {found.block} of {found.entry}"
    summary, y = wrapped([_summary(found)], MARGIN, 33, width - 2 * MARGIN)
    titles = _titles(found)
    whole = _Frame(0, total, scale, hues, titles)
    head, y = legend(list(_samples(found, whole)), MARGIN, y + 6, width - 2 * MARGIN)
    parts = [heading(title, width), *summary, *head]
    for begin in range(0, total, span):
        drawn, y = _band(found, y + 22, _Frame(begin, min(begin + span, total), scale, hues, titles))
        parts += drawn
        y += BAND - 22
    low, y = wrapped(found.notes, MARGIN, y + 10, width - 2 * MARGIN)
    return document("timeline", title, width, y + 8, _RULES, [*parts, *low])


def _band(found: Timeline, y: float, frame: _Frame) -> tuple[list[str], float]:
    parts = list(axis(LEFT, frame.scale, frame.begin, frame.until, y))
    y += 10
    if found.alone:
        drawn, y = _before(found.alone, y, frame)
        parts += drawn
    if frame.shows(0, found.woven.cycles):
        drawn, y = _lanes(found.woven, "woven", y, frame)
        parts += drawn
    return parts, y


def _summary(found: Timeline) -> str:
    own = f"woven {found.woven.cycles} cycles, stalled {found.woven.stalled}"
    loops = f"; in {found.depth} loops" if found.depth > 1 else "; in a loop" if found.depth else ""
    if not found.alone:
        return f"{own}{loops}"
    each = ", ".join(f"{r.kernel} {r.cycles}" + (f" x {r.copies}" if r.copies > 1 else "") for r in found.alone)
    return f"one by one {found.cycles_alone} cycles ({each}), stalled {found.stalled_alone}; {own}{loops}"


def _titles(found: Timeline) -> int:
    """Which bars get a title: 2 all, 1 accesses to memory, 0 no bar."""
    slots = [s for run in (*found.alone, found.woven) for s in run.slots]
    return 2 if len(slots) <= TITLED else 1 if sum(s.far for s in slots) <= TITLED else 0


def _samples(found: Timeline, frame: _Frame) -> Iterator[Sample]:
    slots = [s for run in (*found.alone, found.woven) for s in run.slots]
    for letter, kind in frame.hues.items():
        yield Sample(box(0, 3, WIDE, 6, f"bar {kind}"), f"{letter}: from issue to result")
    if any(s.far for s in slots):
        kind = next(frame.kind(s.kernel) for s in slots if s.far)
        yield Sample(box(0, 3, WIDE, 6, f"memory {kind}"), "access to memory")
    if any(run.stalled for run in (*found.alone, found.woven)):
        shapes = box(0, 0, WIDE, HIGH, "wait") + f'<path class="gap" d="{hatching(0, 0, WIDE, HIGH, 5)}"/>'
        yield Sample(shapes, "nothing is issued, cycles")
    if any(s.barrier for s in slots):
        yield Sample(f'<path class="barrier" d="M{WIDE / 2:g} 0v{HIGH}"/>', "barrier")


def _before(alone: Sequence[Run], y: float, frame: _Frame) -> tuple[list[str], float]:
    """Each kernel from the end of the one before it; the first copy of a kernel is drawn, the others are a box."""
    parts: list[str] = []
    begin = 0
    for run in alone:
        own = replace(frame, run=begin)
        begin += run.copies * run.cycles
        if not own.shows(0, run.copies * run.cycles):
            continue
        drawn, low = _lanes(run, f"{run.kernel} alone", y, own)
        parts += drawn
        low = max(low, y + STRIP + GAP)
        if run.copies > 1 and own.shows(run.cycles, run.copies * run.cycles):
            parts += _more(run, y, low - GAP, own)
        y = low
    return parts, y


def _more(run: Run, top: float, low: float, frame: _Frame) -> Iterator[str]:
    x, end = frame.x(run.cycles), frame.x(run.copies * run.cycles)
    text = f"and {run.copies - 1} more cop{'y' if run.copies == 2 else 'ies'} of {run.kernel}"
    yield box(x, top, end - x, low - top, f"soft {frame.kind(run.kernel)}", text)
    if cut := fitted(text, end - x - 6):
        yield label((x + end) / 2, (top + low) / 2 + 4, cut, "", "middle")


def _lanes(run: Run, name: str, y: float, frame: _Frame) -> tuple[list[str], float]:
    """The strip of issues and a lane for each kernel, as far as the band shows them, and where the next run may
    begin."""
    top = y
    parts = [label(MARGIN, y + STRIP - 3, fitted(name, LEFT - MARGIN - 4)), *_strip(run, y, frame)]
    y += STRIP + 3
    letters = sorted(run.letters, key=lambda x: (not x, x))
    for letter in letters:
        drawn, low = _bars([s for s in run.slots if s.kernel == letter and frame.shows(s.issue, s.done)], y, frame)
        if len(letters) > 1:
            parts.append(label(LEFT - 10, y + 9, letter or "goptx", "faint", "end"))
        parts += drawn
        y = max(low, y + (12 if len(letters) > 1 else 0)) + 3
    parts += _barriers(run, top, y - 2, frame)
    return parts, y + GAP


def _strip(run: Run, y: float, frame: _Frame) -> Iterator[str]:
    end = frame.x(run.cycles)
    yield f'<path class="axis" d="M{number(frame.x(0))} {number(y + STRIP)}H{number(end)}"/>'
    gaps = [(s.issue - s.stall, s.issue) for s in run.slots if s.stall]
    last = run.slots[-1].issue + ISSUE if run.slots else 0
    waits, lines, counts = [], [], []
    for begin, until in [*gaps, *([(last, run.cycles)] if run.cycles > last else [])]:
        x, text = frame.x(begin), str(until - begin)
        long, wide = frame.x(until) - x, text_width(text, SMALL) + 4
        if long >= HATCHED and frame.titles == 2:
            yield box(x, y, long, STRIP, "wait", f"nothing is issued for {text} cycles")
        elif long >= 1.5:
            waits.append(f"M{x:.1f} {number(y)}h{long:.1f}v{STRIP}h-{long:.1f}z")
        lines += [hatching(x, y, long, STRIP, 5)] if long >= HATCHED else []
        if long >= wide + 8:
            counts.append(box(x + (long - wide) / 2, y + 2, wide, STRIP - 4, "ground"))
            counts.append(label(x + long / 2, y + STRIP - 4, text, "small", "middle"))
    yield from (f'<path class="{kind}" d="{"".join(d)}"/>' for kind, d in (("wait", waits), ("gap", lines)) if d)
    yield from counts
    ticks: dict[str, list[str]] = {}
    for s in run.slots:
        if not frame.begin <= frame.run + s.issue < frame.until:
            continue
        ticks.setdefault(frame.kind(s.kernel), []).append(f"M{frame.x(s.issue) + 0.7:.1f} {number(y + 2)}v{STRIP - 3}")
    for kind, paths in ticks.items():
        yield f'<path class="tick {kind}" d="{"".join(paths)}"/>'


def _bars(slots: Sequence[Slot], y: float, frame: _Frame) -> tuple[list[str], float]:
    """The bars, each in the first free row, and where the last row ends."""
    rows: list[int] = []
    placed = []
    for s in slots:
        row = next((i for i, free in enumerate(rows) if free <= s.issue), len(rows))
        rows[row : row + 1] = [max(s.done, s.issue + 1)]
        placed.append((s, row))
    step = min(ROW, max(2.0, TALL / max(len(rows), 1)))
    high = step - 1 if step > 3 else step - 0.4
    parts: list[str] = []
    plain: dict[str, list[str]] = {}
    for s, row in placed:
        kind = f"{'memory' if s.far else 'bar'} {frame.kind(s.kernel)}"
        x, top = frame.x(s.issue), y + row * step
        long = max(frame.x(s.done) - x, 1.0)
        if frame.titles < (1 if s.far else 2):
            plain.setdefault(kind, []).append(f"M{x:.1f} {number(top)}h{long:.1f}v{number(high)}h-{long:.1f}z")
            continue
        parts.append(box(x, top, long, high, kind, _title(s)))
        if s.far and step >= ROW - 1 and long > 90:
            parts.append(label(x + 5, top + high - 2, fitted(s.text, long - 10, INSIDE), "inside code"))
    parts = [*(f'<path class="{kind}" d="{"".join(p)}"/>' for kind, p in plain.items()), *parts]
    return parts, y + len(rows) * step


def _title(s: Slot) -> str:
    where = f"{s.kernel} line {s.line}" if s.line else f"{s.kernel or 'goptx'}, inserted"
    what = f", {s.access} {s.space}" if s.access else ""
    return f"{s.text}\n{where}{what}\nissued at {s.issue}, result at {s.done}" + (
        f", after {s.stall} idle" if s.stall else ""
    )


def _barriers(run: Run, top: float, low: float, frame: _Frame) -> Iterator[str]:
    for s in run.slots:
        if s.barrier and frame.shows(s.issue, s.issue):
            x, title = number(frame.x(s.issue)), escaped(_title(s))
            yield f'<path class="barrier" d="M{x} {number(top)}V{number(low)}"><title>{title}</title></path>'
