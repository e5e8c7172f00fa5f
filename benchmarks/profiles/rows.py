"""The document of a run: kernels alone and the ways of each pair with their counts, and what is read from it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suite_a import report
from unseen.agreement import speedup

from goptx.measuring.bench.baselines import SEPARATE
from goptx.measuring.profiling.metrics import TIME
from profiles.counters import Counts
from profiles.figures import Bound, Loss, bound, combined, loss
from profiles.suites import SECOND, SHAPES, TUNED, A

Document = dict[str, Any]
Row = Mapping[str, Any]
Speedups = Mapping[str, Mapping[str, Mapping[str, float]]]  # by shape, way and pair


@dataclass(frozen=True, slots=True)
class Way:
    """A pair fused in a way, by its fastest form: the counts of its launches one after the other, how many launches,
    and what `auto` or tuning chose."""

    name: str
    counts: Counts
    launches: int
    chosen: str = ""


def alone(document: Mapping[str, Any], row: Row) -> list[Counts] | None:
    """The counts of each kernel of the pair. None if a kernel was not counted."""
    found = document["alone"].get(row["shape"], {})
    counts = [found.get(name) for name in row["pair"].split("+")]
    return None if None in counts else counts


def separate(document: Mapping[str, Any], row: Row) -> Counts | None:
    """The kernels one after the other."""
    return combined(found) if (found := alone(document, row)) else None


def ways(row: Row) -> Iterator[Way]:
    """Of each way its fastest form under the profiler; ways without one are left out."""
    for name in dict.fromkeys(facts["way"] for facts in row["forms"].values()):
        forms = [facts for facts in row["forms"].values() if facts["way"] == name and "launches" in facts]
        found = [
            Way(name, combined([launch["counts"] for launch in f["launches"]]), len(f["launches"]), f.get("chosen", ""))
            for f in forms
        ]
        if found:
            yield min(found, key=lambda way: way.counts.get(TIME.short) or 0.0)


def problems(row: Row) -> Iterator[tuple[str, str]]:
    """The ways that have no form that ran, and why."""
    there = {way.name for way in ways(row)}
    for facts in row["forms"].values():
        if facts["way"] not in there:
            there.add(facts["way"])
            yield facts["way"], facts.get("problem", "")


def bound_of(document: Mapping[str, Any], row: Row) -> Bound | None:
    found = alone(document, row)
    return bound(found) if found else None


def loss_of(document: Mapping[str, Any], row: Row, way: str) -> tuple[Loss, Way] | None:
    """Why the pair in this way does not reach its bound. None if it was not counted."""
    found, limit = alone(document, row), bound_of(document, row)
    fused = next((one for one in ways(row) if one.name == way), None)
    lost = loss(found, fused.counts, limit) if found and limit and fused else None
    return (lost, fused) if lost and fused else None


def bounds(document: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """The bound of each pair over its kernels one after the other, by shape and pair."""
    found: dict[str, dict[str, float]] = {}
    for row in document["pairs"]:
        if limit := bound_of(document, row):
            found.setdefault(row["shape"], {})[row["pair"]] = limit.speedup
    return found


def reached(folder: Path, gpu: str, suite: str) -> tuple[Speedups, str]:
    """The speedups over the kernels one after the other, without the profiler, and the name of the newest result that
    has them: of the tuned pairs of suite A, and of all ways of the second writing that were timed."""
    stem = {A: "suite_a", SECOND: "unseen"}.get(suite)
    if stem is None or not (results := sorted(folder.glob(f"*-{gpu}-{stem}.json"))):
        return {}, ""
    document = json.loads(results[-1].read_text())
    if suite == A:
        of_shapes = {
            shape: {TUNED: {row["name"]: report.over_separate(row, TUNED) for row in rows}}
            for shape, rows in document["pairs"].items()
        }
    else:
        rows = [row for row in document["rows"] if row["group"] == SECOND]
        names = dict.fromkeys(way for row in rows for way in row["ways"])
        (shape,) = SHAPES[SECOND]
        of_shapes = {shape: {way: {row["name"]: speedup(row, way, SEPARATE) for row in rows} for way in names}}
    return {shape: _known(of_ways) for shape, of_ways in of_shapes.items()}, results[-1].name


def _known(of_ways: Mapping[str, Mapping[str, float | None]]) -> dict[str, dict[str, float]]:
    """Without pairs that were not timed, and ways of none."""
    known = {way: {pair: own for pair, own in of.items() if own is not None} for way, of in of_ways.items()}
    return {way: of for way, of in known.items() if of}


def newest(folder: Path, gpu: str) -> Document | None:
    """The newest profiles of suite A on this GPU."""
    results: Sequence[Path] = sorted(folder.glob(f"*-{gpu}-profiles.json"))
    return json.loads(results[-1].read_text()) if results else None
