"""The results of suite A as tables in Markdown, and as a chart."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from goptx.measuring.bench.baselines import GRAPH, GRAPH_REVERSED, SEPARATE, STREAMS, WAYS, best_baseline
from goptx.view.bars import Bars, Group
from suite_a import NATURAL, PAPER, SHAPES
from suite_a.runs import REPEATS, Row
from suite_a.schemes import PAIRED, SINGLE, TUNED

COLUMNS = (GRAPH, *PAIRED, TUNED)
NEWEST = "merge, slicing, weaving"  # older results have the other columns
CHARTED = ("vertical", "interleave", "paper's weave, safe merge", "auto", TUNED)
UNCHANGED = ("separate", 1.0)  # the line of the unchanged kernels in a chart
SIX = ("gelu", "harris", "lud", "micnd", "sort", "stms")  # single kernels of which shared figures are
HEAD = {
    PAPER: "The paper's shape: every kernel is launched as 1,048,576 CTAs",
    NATURAL: "The natural shape: what an expert would write (benchmarks/suite_a/natural)",
}
SPEEDUP = "speedup over the best separate launches"
OLDER = "speedup over two streams"  # of results without graphs in both orders
GAIN = 1.05  # a smaller speedup is not a gain


def is_older(row: Row) -> bool:
    """Whether the row was measured when two streams were the baseline."""
    return STREAMS in row.get("ms", {}) and GRAPH_REVERSED not in row["ms"]


def baseline(row: Row) -> str:
    """The fastest way to run the unchanged kernels; two streams in older results. "" if nothing was timed."""
    ms = {way: row["ms"][way][0] for way in WAYS if way in row.get("ms", {})}
    return STREAMS if is_older(row) else best_baseline(ms) if ms else ""


def speedup(row: Row, scheme: str) -> float | None:
    """The speedup of the scheme's fastest form over the baseline. None if it was not timed."""
    keys = [scheme] if scheme in row.get("ms", {}) else []
    keys += [key for key, facts in row["schemes"].items() if facts["scheme"] == scheme and key in row.get("ms", {})]
    return max((float(row["ms"][baseline(row)][0] / row["ms"][key][0]) for key in keys), default=None)


def over_separate(row: Row, scheme: str) -> float | None:
    """The speedup of the scheme's fastest form over the unchanged kernels one after the other."""
    found = speedup(row, scheme)
    if found is None or SEPARATE not in row["ms"]:
        return None
    return float(found * row["ms"][SEPARATE][0] / row["ms"][baseline(row)][0])


def geomean(rows: Sequence[Row], scheme: str) -> str:
    found = [s for row in rows if (s := speedup(row, scheme)) is not None]
    if not found:
        return "-"
    return f"{statistics.geometric_mean(found):.3f}" + (f" of {len(found)}" if len(found) < len(rows) else "")


OVER = {
    True: "two streams",
    False: "the best separate launches: one after the other, two streams, a CUDA graph with two branches, the last two "
    "in both orders; `best` is their time, `way` which it is; all are timed as CUDA graphs, but streams",
}
LEGEND = (
    "Speedup over {} (medians of {} runs, in turn). Right: every output of every scheme but the paper's merge "
    "equals that of separate launches bit for bit, but for contraction. `graph`: a CUDA graph with two branches. "
    "`horizontal`: without a register cap and with that of the HFUSE paper, the better. `paper's weave, safe merge`: "
    "the GoPTX paper's slicing and weaving on goptx's merge, under the best of its register caps. `paper's merge`: as "
    "published; `-`: it hangs, is wrong, or does not take kernels of different shapes. `tuned`: what `--tune` found."
)


OF_THE_BOUND = (
    " `of the bound`: the share of what the resources of the GPU allow that `tuned` reaches, both over one after the "
    "other ({})."
)
OF_THE_PAPER = (
    " `merge`, with or without slicing and weaving: the ablation of the GoPTX paper on goptx's merge, no caps. `slices "
    "joined`: what always follows each other is woven as one. `one threshold`: the mean block latency of both kernels "
    "together."
)


def columns(rows: Sequence[Row]) -> list[str]:
    """The schemes with a time in any row."""
    there = {GRAPH, *(facts["scheme"] for row in rows for facts in row["schemes"].values())}
    return [column for column in COLUMNS if column in there]


def older(document: Mapping[str, Any]) -> bool:
    return any(is_older(row) for rows in document["pairs"].values() for row in rows)


def table(document: Mapping[str, Any]) -> str:
    """The whole report."""
    lines = [
        f"# Suite A on {document['gpu']}",
        "",
        f"{document['date']}, driver {document['driver']}, {document['assembler']}, commit {document['commit']}. "
        f"`{document['command']}`, {document['seconds']} s.",
        "",
        LEGEND.format(OVER[older(document)], REPEATS)
        + OF_THE_PAPER * any(NEWEST in columns(rows) for rows in document["pairs"].values())
        + (OF_THE_BOUND.format(document["bounds_of"]) if "bounds" in document else ""),
    ]
    for shape in SHAPES:
        if rows := document["pairs"].get(shape):
            lines += ["", f"## {HEAD[shape]}", "", *_pairs(rows, document.get("bounds", {}).get(shape))]
    if both := list(_only_in_the_papers_shape(document)):
        lines += ["", "Gains of 5 % and more, tuned, that exist in the paper's shape only: " + ", ".join(both) + "."]
    for shape in SHAPES:
        if rows := document["single"].get(shape):
            lines += ["", f"## Single kernels coarsened, {shape} shape", "", *_single(rows)]
    return "\n".join(lines) + "\n"


def _pairs(rows: Sequence[Row], bounds: Mapping[str, float] | None) -> Iterator[str]:
    """`bounds`: what the resources allow, over the kernels one after the other, by pair."""
    listed = columns(rows)
    last = "" if bounds is None else " of the bound |"
    old = any(map(is_older, rows))
    yield f"| pair | right | {'streams ms' if old else 'best ms | way'} | {' | '.join(listed)} | tuned is |{last}"
    yield "|---" * (4 + (not old) + len(listed) + (bounds is not None)) + "|"
    for row in rows:
        ms = row.get("ms", {}).get(baseline(row))
        best = (f"{ms[0]:.3f}" if ms else "-") + ("" if old else f" | {baseline(row)}")
        cells = " | ".join(_cell(speedup(row, column)) for column in listed)
        tuned = next((f.get("way", "") for f in row["schemes"].values() if f["scheme"] == TUNED), "")
        last = "" if bounds is None else f" {_cell(of_the_bound(row, bounds))} |"
        yield f"| {row['name']} | {_right(row)} | {best} | {cells} | {tuned} |{last}"
    shares = [share for row in rows if (share := of_the_bound(row, bounds or {})) is not None]
    mean = "" if bounds is None else f" {statistics.geometric_mean(shares):.3f} |" if shares else " - |"
    low = "" if bounds is None else f" {_cell(min(shares, default=None))} |"
    blank = "| | |" if old else "| | | |"
    yield f"| geomean {blank} {' | '.join(geomean(rows, column) for column in listed)} | |{mean}"
    least = [min((s for r in rows if (s := speedup(r, c)) is not None), default=None) for c in listed]
    yield f"| least {blank} {' | '.join(map(_cell, least))} | |{low}"


def of_the_bound(row: Row, bounds: Mapping[str, float]) -> float | None:
    """The share of its bound that the tuned pair reaches. None if one of them is not known."""
    tuned, bound = over_separate(row, TUNED), bounds.get(row["name"])
    return tuned / bound if tuned is not None and bound is not None else None


def _single(rows: Sequence[Row]) -> Iterator[str]:
    yield f"| kernel | right | alone ms | {' | '.join(SINGLE)} |"
    yield "|---" * (3 + len(SINGLE)) + "|"
    for row in rows:
        ms = row.get("ms", {}).get(SEPARATE)
        cells = " | ".join(_cell(speedup(row, scheme)) for scheme in SINGLE)
        yield f"| {row['name']} | {_right(row)} | {f'{ms[0]:.3f}' if ms else '-'} | {cells} |"
    six = [max(1.0, *(speedup(r, s) or 0.0 for s in SINGLE)) for r in rows if r["name"] in SIX]
    if len(six) == len(SIX):
        yield f"\nGeomean of the best over six, without WMMA: {statistics.geometric_mean(six):.3f}."


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _right(row: Row) -> str:
    return "yes" if row.get("right") else f"NO {row.get('problem', '')}".strip()


def _only_in_the_papers_shape(document: Mapping[str, Any]) -> Iterator[str]:
    natural = {row["name"]: speedup(row, TUNED) for row in document["pairs"].get(NATURAL, ())}
    for row in document["pairs"].get(PAPER, ()):
        there, here = natural.get(row["name"]), speedup(row, TUNED)
        if there is not None and here is not None and here >= GAIN > there:
            yield f"{row['name']} ({here:.2f}, {there:.2f})"


def summary(row: Row) -> str:
    """A line for a terminal."""
    head = f"{row['name']:14} {_right(row):4}"
    schemes = [c for c in (COLUMNS if "+" in row["name"] else tuple(SINGLE)) if speedup(row, c) is not None]
    cells = "  ".join(f"{scheme} {speedup(row, scheme):.2f}" for scheme in schemes)
    problems = [(key, f.get("wrong") or f.get("failed")) for key, f in row["schemes"].items()]
    bad = "; ".join(f"{key}: {problem[:100]}" for key, problem in problems if problem)
    return f"{head} {cells} {bad} ({row.get('seconds')} s)"


def overview(document: Mapping[str, Any]) -> Bars:
    """Geometric means of the schemes that take all pairs."""
    shapes = [shape for shape in SHAPES if document["pairs"].get(shape)]
    groups = [
        Group(scheme, "", tuple(_mean(document["pairs"][shape], scheme) for shape in shapes), 2.0, UNCHANGED)
        for scheme in COLUMNS
        if all(speedup(row, scheme) is not None for shape in shapes for row in document["pairs"][shape])
    ]
    over = OLDER if older(document) else SPEEDUP
    title = f"Suite A on {document['gpu']}: geometric mean of {over}"
    return Bars(title, tuple(f"{shape} shape" for shape in shapes), len(shapes), tuple(groups), over, digits=2)


def _mean(rows: Sequence[Row], scheme: str) -> float:
    return statistics.geometric_mean([speedup(row, scheme) or 0.0 for row in rows])


def chart(document: Mapping[str, Any], shape: str) -> Bars:
    """Of the pairs in a shape."""
    groups = [
        Group(row["name"], "", tuple(speedup(row, scheme) for scheme in CHARTED), 2.2, UNCHANGED)
        for row in document["pairs"][shape]
    ]
    over = OLDER if older(document) else SPEEDUP
    title = f"Suite A on {document['gpu']}, {shape} shape: {over}"
    return Bars(title, CHARTED, len(CHARTED) - 1, tuple(groups), over, digits=2)
