"""The profiles as bar charts: eligible warps, stalls, issue slots and pipes, and the share of the bound."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from goptx.measuring.profiling.metrics import ISSUE, METRICS
from goptx.view.bars import Bars, Group
from profiles.counters import Counts
from profiles.figures import i12, scoreboard
from profiles.rows import Row, Speedups, alone, bound_of, ways
from profiles.suites import title_of
from profiles.table import SEPARATE, counted

UNITS = ("ISU", "LSU", "SPU", "TSU", "DU", "L2U", "AOC")  # those of Table II that are shares of a peak


def charts(document: Mapping[str, Any], speedups: Speedups) -> Iterator[tuple[str, Bars]]:
    """Each with the ending of its file's name."""
    for shape in dict.fromkeys(row["shape"] for row in document["pairs"]):
        rows = [row for row in document["pairs"] if row["shape"] == shape]
        names = list(dict.fromkeys(way.name for row in rows for way in ways(row)))
        if not names:
            continue
        yield f"{shape}_eligible", _eligible(document, rows, names, shape)
        yield f"{shape}_scoreboard", _scoreboard(document, rows, names, shape)
        yield f"{shape}_issue", _issue(document, rows, names, shape)
        yield f"{shape}_units", _units(document, rows, names, shape)
        if own := speedups.get(shape):
            yield f"{shape}_bound", _bound(document, rows, own, shape)


def _title(what: str, document: Mapping[str, Any], shape: str) -> str:
    return f"{what}, {title_of(document['suite'])} on {document['gpu']}, {shape} shape"


def _of_pairs(
    document: Mapping[str, Any], rows: Sequence[Row], names: Sequence[str], value: Callable[[Counts], float | None],
    unit: str = "", most: float | None = None,
) -> Iterator[tuple[Row, Group]]:  # fmt: skip
    """A bar for one after the other, and one for each way."""
    for row in rows:
        found = dict(counted(document, row))
        values = tuple(value(found[key]) if key in found else None for key in (SEPARATE, *names))
        yield row, Group(row["pair"], unit, values, most)


def _eligible(document: Mapping[str, Any], rows: Sequence[Row], names: Sequence[str], shape: str) -> Bars:
    groups = list(_of_pairs(document, rows, names, lambda counts: counts.get("EWPC")))
    most = max((v for _, group in groups for v in group.values if v is not None), default=None)
    scaled = tuple(Group(group.name, "", group.values, most) for _, group in groups)
    across = "warps of all SMs that could issue an instruction, in a cycle"
    return Bars(_title("Eligible warps", document, shape), (SEPARATE, *names), 1, scaled, across)


def _scoreboard(document: Mapping[str, Any], rows: Sequence[Row], names: Sequence[str], shape: str) -> Bars:
    groups = tuple(group for _, group in _of_pairs(document, rows, names, scoreboard, "", 100.0))
    across = "active warps that wait for a register to be written (scoreboard), per cent"
    return Bars(_title("Scoreboard stalls", document, shape), (SEPARATE, *names), 1, groups, across)


def _issue(document: Mapping[str, Any], rows: Sequence[Row], names: Sequence[str], shape: str) -> Bars:
    def groups() -> Iterator[Group]:
        for row, group in _of_pairs(document, rows, names, lambda counts: counts.get(ISSUE.short), "", 100.0):
            reference = i12(found) if (found := alone(document, row)) else None
            mark = ("I12", reference) if reference is not None else None
            yield Group(group.name, "", group.values[1:], 100.0, mark)

    across = "issue slots in use, per cent; the line: I12, of the kernels one after the other"
    return Bars(_title("Issue slots", document, shape), tuple(names), 0, tuple(groups()), across)


def _units(document: Mapping[str, Any], rows: Sequence[Row], names: Sequence[str], shape: str) -> Bars:
    """The mean of the pairs that have all ways."""
    every = [found for row in rows if len(found := dict(counted(document, row))) == len(names) + 1]
    meanings = {metric.short: metric.meaning for metric in METRICS}

    def mean(short: str, key: str) -> float | None:
        values = [value for found in every if (value := found[key].get(short)) is not None]
        return sum(values) / len(values) if values else None

    groups = tuple(
        Group(f"{short}: {meanings[short]}", "", tuple(mean(short, key) for key in (SEPARATE, *names)), 100.0)
        for short in UNITS
    )
    across = f"per cent of the peak, mean of {len(every)} pairs"
    return Bars(_title("Use of the GPU", document, shape), (SEPARATE, *names), 1, groups, across)


def _bound(
    document: Mapping[str, Any], rows: Sequence[Row], own: Mapping[str, Mapping[str, float]], shape: str
) -> Bars:
    found = [(row["pair"], limit) for row in rows if (limit := bound_of(document, row))]
    shares = {pair: tuple(_share(of_way.get(pair), limit.speedup) for of_way in own.values()) for pair, limit in found}
    groups = tuple(
        Group(f"{pair} ({limit.resource})", "", shares[pair], 1.5, ("the bound", 1.0))
        for pair, limit in found
        if any(share is not None for share in shares[pair])
    )
    across = f"speedup of the pair ({', '.join(own)}) as a share of what its resource allows"
    return Bars(_title("Pairs and their bound", document, shape), tuple(own), 0, groups, across, digits=2)


def _share(own: float | None, limit: float) -> float | None:
    return None if own is None else own / limit
