"""A sweep of register caps for notebooks: the table, and times by caps."""

from __future__ import annotations

import math
from collections.abc import Sequence

from goptx.device.sweep import UNCAPPED, Sweep, SweepRow
from goptx.view.charts.points_chart import Point, Points
from goptx.view.html.elements_html import display, heading, headline, line, picture, table

HEAD = ("cap", "registers", "spilled bytes", "occupancy", "ms", "least", "most")


def sweep_html(sweep: Sweep) -> str:
    timed = [row for row in sweep.rows if not math.isnan(row.ms)]
    rows = [
        (
            _cap(row.cap),
            row.registers or "-",
            row.spill_bytes if row.registers else "-",
            "-" if row.occupancy is None else f"{row.occupancy:.0%}",
            *(f"{ms:.4f}" if row in timed else "-" for ms in (row.ms, row.ms_min, row.ms_max)),
        )
        for row in sweep.rows
    ]
    best = sweep.rows.index(sweep.best) if timed else None
    result = f"Fastest with {_cap(sweep.best.cap)}: {sweep.best.ms:.4f} ms" if timed else _reason(sweep.rows)
    chart = picture(chart_of(sweep).svg) if timed else ""
    problems = [line(f"{_cap(row.cap)}: {row.problem}") for row in sweep.rows if row.problem]
    values = table(HEAD, rows, words=(), best=best)
    return display(headline(result), heading("Register caps"), chart, values, *problems)


def _reason(rows: Sequence[SweepRow]) -> str:
    """Why no row was timed."""
    return "None could be run" if any(row.problem for row in rows) else "None fits on an SM"


def chart_of(sweep: Sweep) -> Points:
    """Median, least and most milliseconds of each cap; the caps are at equal distances."""
    points = [
        Point(k, row.ms, 0, f"{_cap(row.cap)}: {row.ms:.4f} ms", row.ms_min, row.ms_max, row is sweep.best)
        if not math.isnan(row.ms)
        else Point(k, None, 0, f"{_cap(row.cap)}: {row.problem or 'does not fit on an SM'}")
        for k, row in enumerate(sweep.rows)
    ]
    ticks = tuple((float(k), _cap(row.cap)) for k, row in enumerate(sweep.rows))
    lacking = "not timed" if any(row.problem for row in sweep.rows) else "does not fit"
    return Points(
        "Time of a launch by register cap", "registers per thread at most", "milliseconds", ("",), tuple(points), ticks,
        joined=True, lacking=lacking, chosen="fastest",
    )  # fmt: skip


def _cap(cap: int) -> str:
    return "none" if cap >= UNCAPPED else str(cap)
