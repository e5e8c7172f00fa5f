"""The profiles as tables in Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from goptx.measuring.profiling.metrics import ISSUE, METRICS, TIME
from profiles.counters import ALL_STALLS, LIMIT, RESOURCES, SELECTED, Counts
from profiles.figures import Bound, Loss, i12, longest_wait, memory_share, scoreboard, stalled_cycles
from profiles.rows import Row, Speedups, Way, alone, bound_of, bounds, loss_of, problems, separate, ways
from profiles.suites import ALONE, TUNED, title_of

SEPARATE = "one after the other"
GOOD = 0.90  # share of the bound above which nothing needs to be explained
TEXT = (
    "Each kernel and each fused kernel was launched once, on fresh data, with empty caches and at the clocks as they "
    "are; counters are those of the [page on profiles](../../docs/profile.md). Nsight Compute lets no two kernels run "
    "side by side: `one after the other` stands for two streams too, where suite A finds both equally fast to within 1 "
    "%. It is the two kernels alone: sums are added, shares are weighted with the cycles, warps or sectors of which "
    "they are shares. A way that keeps kernels separate is counted in the same manner. Of several register caps the "
    "fastest counts."
)
STALLS_TEXT = (
    "Per cent of the active warps that wait in a cycle, by reason. `scoreboard`: long and short scoreboard together. "
    "`memory share`: long and short scoreboard, the queues to memory, fences and stores that drain, as a share of all "
    "stalls. `stalled cycles`: thousands of active cycles in which a scheduler issued nothing."
)
BOUNDS_TEXT = (
    "What a fused kernel can gain that does the same work as the kernels one after the other: the use of each "
    "resource is added, and DRAM can be used to 90 % of its peak, all else to 95 %. Of DRAM and the L2 it is the use "
    "of their busiest part (Nsight Compute's throughput): where two kernels keep different parts busy, the bound is "
    "too low. `by`: the resource that allows no more, `next`: the second one. A coarsened kernel may pass the bound "
    "where it does less work. {}: the speedup over one after the other, by times without the profiler ({}); `of the "
    "bound`: its share."
)
LOST_TEXT = (
    "Pairs in the natural shape whose tuned kernel reaches less than {:.0%} of the bound. Under the profiler the bound "
    "is missed by the product of two factors: the kernel uses the resource for longer than the kernels alone did "
    "(`work`, below 1 where coarsening saves some), and it does not use it all the time (`use`, of what is within "
    "reach). `most`: the resource that it uses most. `waits`: the reason for which most of its warps wait."
)

Cells = Sequence[str]


def number(value: float | None, digits: int = 1) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def table(document: Mapping[str, Any], speedups: Speedups | None = None, source: str = "") -> str:
    """The whole report. `speedups`: those without the profiler; `source`: the result that has them."""
    rows = document["pairs"]
    lines = [
        f"# Profiles of {title_of(document['suite'])} on {document['gpu']}",
        "",
        f"{document['date']}, driver {document['driver']}, {document['profiler']}, commit {document['commit']}. "
        f"`{document['command']}`, {document['seconds']} s.",
        "",
        TEXT,
        *_summary(document, speedups or {}),
    ]
    for shape in dict.fromkeys(row["shape"] for row in rows):
        own = [row for row in rows if row["shape"] == shape]
        lines += ["", f"## Metrics, {shape} shape", "", *_metrics(document, own)]
        lines += ["", f"## Change of the metrics, {shape} shape", "", *_changes(document, own)]
        lines += ["", f"## Stalls, {shape} shape", "", STALLS_TEXT, "", *_stalls(document, own)]
        reached = (speedups or {}).get(shape) or {TUNED: {}}
        names = ", ".join(f"`{way}`" for way in reached)
        lines += ["", f"## Bounds, {shape} shape", "", BOUNDS_TEXT.format(names, source or "none was read"), ""]
        lines += _bounds(document, own, reached)
        lines += ["", f"## Kernels alone, {shape} shape", "", *_resources(document["alone"].get(shape, {}))]
    lines += _lost(document, speedups or {})
    if failed := [f"{row['pair']} ({row['shape']}), {way}: {why}" for row in rows for way, why in problems(row)]:
        lines += ["", "## Not counted", "", *(f"* {line}" for line in failed)]
    return "\n".join(lines) + "\n"


def _summary(document: Mapping[str, Any], speedups: Speedups) -> Iterator[str]:
    """For each shape what the resources allow in the mean, and what is reached of it."""
    for shape, found in bounds(document).items():
        yield ""
        yield (
            f"Bounds of {len(found)} pairs in the {shape} shape, the most that a fused kernel gains without "
            f"coarsening: geometric mean {_geomean(list(found.values()))}, {min(found.values()):.2f} to "
            f"{max(found.values()):.2f}."
        )
        for way, own in speedups.get(shape, {}).items():
            if shares := [own[pair] / limit for pair, limit in found.items() if pair in own]:
                passed = sum(share > 1 for share in shares)
                yield (
                    f"{way} reaches {_geomean([own[pair] for pair in found if pair in own])} with {len(shares)} of "
                    f"them, {_geomean(shares)} of the bound; {passed} pass it."
                )


def grid(head: Cells, rows: Iterator[Cells]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def counted(document: Mapping[str, Any], row: Row) -> Iterator[tuple[str, Counts]]:
    """One after the other, then each way."""
    if (found := separate(document, row)) is not None:
        yield SEPARATE, found
    for way in ways(row):
        yield way.name, way.counts


def _metrics(document: Mapping[str, Any], rows: Sequence[Row]) -> Iterator[str]:
    head = ["pair", "way", "us", *(metric.short for metric in METRICS), "I12", "above"]
    return grid(head, (cells for row in rows for cells in _metrics_of(document, row)))


def _metrics_of(document: Mapping[str, Any], row: Row) -> Iterator[Cells]:
    found = alone(document, row)
    reference = i12(found) if found else None
    for name, counts in counted(document, row):
        issued = counts.get(ISSUE.short)
        above = "" if name == SEPARATE or None in (issued, reference) else "yes" if issued > reference else "no"  # type: ignore[operator]
        values = [number(counts.get(metric.short)) for metric in METRICS]
        yield [row["pair"], name, number(counts.get(TIME.short), 0), *values, number(reference), above]


def _changes(document: Mapping[str, Any], rows: Sequence[Row]) -> Iterator[str]:
    yield "Of each way over one after the other, in per cent: mean, least and most of the pairs."
    yield ""
    names = list(dict.fromkeys(way.name for row in rows for way in ways(row)))
    yield from grid(["metric", *names], (_change(document, rows, metric.short, names) for metric in (TIME, *METRICS)))


def _change(document: Mapping[str, Any], rows: Sequence[Row], short: str, names: Sequence[str]) -> Cells:
    cells = [short]
    for name in names:
        found = [change for row in rows if (change := change_of(document, row, short, name)) is not None]
        cells.append(f"{statistics.mean(found):+.1f} ({min(found):+.0f} to {max(found):+.0f})" if found else "-")
    return cells


def change_of(document: Mapping[str, Any], row: Row, short: str, name: str) -> float | None:
    """By how many per cent a metric of the pair in this way is above that of the kernels one after the other."""
    found = dict(counted(document, row))
    before, after = (found[key].get(short) if key in found else None for key in (SEPARATE, name))
    return 100 * (after / before - 1) if before and after is not None else None


def _stalls(document: Mapping[str, Any], rows: Sequence[Row]) -> Iterator[str]:
    every = [counts for row in rows for _, counts in counted(document, row)]
    reasons = [m.short for m in ALL_STALLS if any((counts.get(m.short) or 0.0) >= 0.05 for counts in every)]
    reasons.sort(key=lambda reason: reason == SELECTED)
    head = ["pair", "way", *reasons, "scoreboard", "memory share", "stalled cycles"]

    def cells() -> Iterator[Cells]:
        for row in rows:
            for name, counts in counted(document, row):
                cycles = stalled_cycles(counts)
                totals = [number(scoreboard(counts)), number(memory_share(counts), 0)]
                totals.append(number(None if cycles is None else cycles / 1000, 0))
                yield [row["pair"], name, *(number(counts.get(reason)) for reason in reasons), *totals]

    return grid(head, cells())


def _bounds(document: Mapping[str, Any], rows: Sequence[Row], reached: Mapping[str, Mapping[str, float]]) -> list[str]:
    found = [(row["pair"], limit) for row in rows if (limit := bound_of(document, row))]
    if not found:
        return ["None: the kernels alone were not counted."]

    def cells() -> Iterator[Cells]:
        for pair, limit in found:
            shares = [cell for own in reached.values() for cell in _share(own.get(pair), limit.speedup)]
            yield [pair, f"{limit.speedup:.2f}", limit.resource, _second(limit), *shares]

    means = [_geomean([limit.speedup for _, limit in found]), "", ""]
    for own in reached.values():
        both = [(own[pair], limit.speedup) for pair, limit in found if pair in own]
        means += [_geomean([speedup for speedup, _ in both]), _geomean([speedup / limit for speedup, limit in both])]
    head = ["pair", "bound", "by", "next", *(cell for way in reached for cell in (way, "of the bound"))]
    return [*grid(head, cells()), f"| geomean | {' | '.join(means)} |"]


def _share(own: float | None, limit: float) -> list[str]:
    return [number(own, 2), number(own and own / limit, 2)]


def _second(limit: Bound) -> str:
    """The resource that would allow no more if the first were unlimited."""
    others = {name: speedup for name, speedup in limit.all.items() if name != limit.resource}
    name = min(others, key=lambda name: others[name], default="")
    return f"{name} ({others[name]:.2f})" if name else "-"


def _geomean(values: Sequence[float]) -> str:
    return f"{statistics.geometric_mean(values):.3f}" if values else "-"


def _resources(kernels: Mapping[str, Counts]) -> Iterator[str]:
    yield "Use of each resource, per cent of its peak in elapsed cycles."
    yield ""
    used = [r for r in RESOURCES if any((counts.get(r.name) or 0.0) >= 0.05 for counts in kernels.values())]
    head = [ALONE, "us", *(resource.name for resource in used)]
    rows = (
        [name, number(counts.get(TIME.short), 0), *(number(counts.get(r.name)) for r in used)]
        for name, counts in kernels.items()
    )
    yield from grid(head, iter(rows))


def lost(document: Mapping[str, Any], speedups: Speedups) -> Iterator[tuple[str, float, Loss, Way]]:
    """The pairs in the natural shape that reach less than `GOOD` of their bound: the share, and why."""
    for row in document["pairs"]:
        tuned = speedups.get(row["shape"], {}).get(TUNED, {})
        limit, own = bound_of(document, row), tuned.get(row["pair"])
        if row["shape"] != "natural" or not limit or not own or own / limit.speedup >= GOOD:
            continue
        if why := loss_of(document, row, TUNED):
            yield row["pair"], own / limit.speedup, *why


def _lost(document: Mapping[str, Any], speedups: Speedups) -> list[str]:
    found = sorted(lost(document, speedups), key=lambda one: one[1])
    if not found:
        return []

    def cells() -> Iterator[Cells]:
        for pair, share, why, way in found:
            reason, waiting = longest_wait(way.counts)
            yield [
                pair, f"{share:.2f}", f"{why.share:.2f}", why.resource, f"{why.work:.2f}",
                f"{why.use:.0f} of {why.limit:.0f} %", f"{why.most[0]} {why.most[1]:.0f} %",
                f"{reason} {waiting:.0f} %", f"{number(way.counts.get('AOC'), 0)} %", way.chosen,
            ]  # fmt: skip

    head = [
        "pair",
        "of the bound",
        "under the profiler",
        "resource",
        "work",
        "use",
        "most",
        "waits",
        "occupancy",
        "tuned is",
    ]
    return ["", "## What is lost", "", LOST_TEXT.format(GOOD), "", *grid(head, cells()), "", *map(_sentence, found)]


def _sentence(found: tuple[str, float, Loss, Way]) -> str:
    """In words, what the counters bear out."""
    pair, share, why, way = found
    reason, waiting = longest_wait(way.counts)
    parts = []
    if why.work > 1.05:
        parts.append(f"it uses {why.resource} {why.work:.2f} times as long as the kernels alone")
    if why.use < 0.95 * why.limit:
        if why.most[0] != why.resource and why.most[1] >= 100 * LIMIT * 0.95:
            parts.append(f"{why.most[0]} is at its limit instead ({why.most[1]:.0f} %)")
        else:
            busy = f"{why.resource} is in use {why.use:.0f} % of the time"
            parts.append(f"{busy}, while {waiting:.0f} % of the active warps wait ({reason})")
    text = " and ".join(parts) or "the difference is one between the times with the profiler and without it"
    return f"* {pair}, {share:.2f}: {text}."
