"""The result of tuning for notebooks: the table of trials, and charts of it; the table of all pairs of many kernels."""

from __future__ import annotations

from collections.abc import Sequence

from goptx.tuning.best import Best
from goptx.tuning.cluster.pairs_table import PairsTable
from goptx.tuning.trials import Table, Trial
from goptx.view.charts.points_chart import Point, Points
from goptx.view.charts.ranked_chart import Bar, Ranked
from goptx.view.html.elements_html import Markup, box, display, folded, heading, headline, line, markup, picture, table
from goptx.view.html.woven_html import woven_parts

HEAD = ("candidate", "ms", "least", "most", "runs", "speedup", "registers", "spilled bytes", "occupancy", "")
STATUSES = {"wrong": "wrote something wrong", "failed": "failed", "refused": "refused", "pruned": "not timed",
            "left out": "left out for lack of time"}  # fmt: skip
BARS = 16  # candidates in the chart of the fastest
UNCHANGED = "the unchanged kernels in their fastest way"


def best_html(best: Best) -> str:
    about = ", ".join(f"{name} {value}" for name, value in best.about.items())
    kernel = folded(f"The kernel {best.fused.name}", woven_parts(best.fused))
    return display(
        headline(f"{best.verdict[:1].upper()}{best.verdict[1:]}"),
        heading(best.candidate),
        line(about, kind="faint") if about else "",
        table_parts(best.table),
        kernel,
    )


def table_html(held: Table) -> str:
    return display(heading(held.chosen, f"of {len(held.trials)} candidates that were tried"), table_parts(held))


def pairs_html(held: PairsTable) -> str:
    """The pairs, the one that gains most first, and those that could not be tuned, with the reason."""
    done = [row for row in held.rows if row["speedup"]]
    first = f"{done[0]['pair']} gains most: {done[0]['speedup']:.2f} times as fast" if done else "No pair was tuned"
    head = ("pair", "speedup", "candidate", "ms", "fastest separate", "ms", "GPU", "trials")
    rows = [
        (
            row["pair"], f"{row['speedup']:.2f}", row["candidate"], f"{row['ms']:.4f}", row["baseline"],
            f"{row['baseline_ms']:.4f}", row["gpu"], row["trials"],
        )
        for row in done
    ]  # fmt: skip
    known = tuple(dict.fromkeys(row["candidate"].split()[0] for row in done))
    bars = [Bar(row["pair"], row["speedup"], known.index(row["candidate"].split()[0])) for row in done[:BARS]]
    title = f"Speedup of the {len(bars)} pairs that gain most, of {len(done)}, over {UNCHANGED}"
    chart = Ranked(title, "speedup", known, tuple(bars), ("the unchanged kernels", 1.0))
    reasons = [(row["pair"], row["reason"]) for row in held.rows if not row["speedup"]]
    return display(
        headline(first),
        picture(chart.svg) if bars else "",
        box(table(head, rows, words=(0, 2, 4, 6))) if rows else "",
        folded(f"not tuned, {len(reasons)}", box(table(("pair", "why"), reasons, words=(0, 1)))) if reasons else "",
    )


def table_parts(held: Table) -> Markup:
    """Charts, the candidates that were timed, and those that were not, with the reason."""
    timed = [t for t in held.trials if t.status == "timed"]
    charts = [picture(chart.svg) for chart in (ranked(held), in_order(held))] if timed else []
    others = [
        folded(
            f"{title}, {len(those)}",
            box(table(("candidate", "why"), [(t.candidate, t.reason) for t in those], words=(0, 1))),
        )
        for status, title in STATUSES.items()
        if (those := [t for t in held.trials if t.status == status])
    ]
    return markup(*charts, folded(f"Times of {len(timed)} candidates", _times(held, timed), unfolded=True), *others)


def _times(held: Table, timed: Sequence[Trial]) -> Markup:
    rows: list[tuple[object, ...]] = [
        (name, f"{ms:.4f}", *[None] * (len(HEAD) - 2)) for name, ms in held.baselines.items()
    ]
    chosen = next((len(rows) + k for k, t in enumerate(timed) if t.candidate == held.chosen), None)
    rows += [
        (
            t.candidate,
            *(f"{ms:.4f}" for ms in t.ms or ()),
            t.repeats,
            f"{t.speedup:.2f}",
            t.registers,
            t.spill_bytes,
            None if t.occupancy is None else f"{t.occupancy:.0%}",
            f"contracted: {t.contracted}" if t.contracted else "",
        )
        for t in timed
    ]
    return box(table(HEAD, rows, words=(0, len(HEAD) - 1), best=chosen)) if rows else markup()


def ranked(held: Table) -> Ranked:
    """The fastest candidates, and the chosen one, even if it is slower."""
    timed = [t for t in held.trials if t.status == "timed"]
    fastest = sorted(timed, key=Trial.rank)[:BARS]
    fastest += [t for t in timed if t.candidate == held.chosen and t not in fastest]
    known = _strategies(held)
    bars = (
        Bar(str(t.candidate), t.speedup, known.index(t.candidate.strategy), t.candidate == held.chosen) for t in fastest
    )
    title = f"Speedup of the {len(fastest)} fastest of {len(timed)} candidates over {UNCHANGED}"
    return Ranked(title, "speedup", known, tuple(bars), ("the unchanged kernels", 1.0))


def in_order(held: Table) -> Points:
    """All trials in the order in which they were tried, or in the order of the table."""
    known = _strategies(held)
    points = [
        Point(
            position + 1,
            t.speedup if t.status == "timed" else None,
            known.index(t.candidate.strategy),
            f"{t.candidate}: {f'{t.speedup:.2f}' if t.status == 'timed' else f'{t.status}, {t.reason}'}",
            chosen=t.candidate == held.chosen and t.status == "timed",
            wrong=t.status in ("wrong", "failed"),
        )
        for position, t in zip(held.order or range(len(held.trials)), held.trials, strict=True)
    ]
    across = "in the order in which they were tried" if held.order else "in the order of the table"
    return Points(
        f"Speedup of all {len(points)} candidates over {UNCHANGED}",
        across,
        "speedup",
        known,
        tuple(sorted(points, key=lambda p: p.x)),
        line=("the unchanged kernels", 1.0),
        lacking="not timed",
    )


def _strategies(held: Table) -> tuple[str, ...]:
    """The strategies that were tried, in alphabetical order: a strategy keeps its colour when trials are added."""
    return tuple(sorted({t.candidate.strategy for t in held.trials}))
