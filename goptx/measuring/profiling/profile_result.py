"""A profile: counters of kernels alone and fused, as plain data and as a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from goptx.display import as_html, as_text, brief
from goptx.errors import InputError
from goptx.measuring.profiling.metrics import ALL, CYCLES, ISSUE, METRICS, STALLS, TIME, Metric
from goptx.results.report import Report

LACKING = "n/a"
REFERENCE = "I12"
PARTS = {
    "": (TIME, CYCLES),
    "use of the device": METRICS,
    "stalls: warps that wait, of those that are active": STALLS,
}


@dataclass(frozen=True, slots=True)
class Launched:
    """One launch: the kernel's letter or "fused", its entry, and the counts by the short names of metrics; None for a
    counter that the device lacks."""

    label: str
    entry: str
    counts: Mapping[str, float | None]

    @property
    def title(self) -> str:
        return f"{self.label} {self.entry}" if len(self.label) == 1 else self.label


@dataclass(frozen=True, slots=True)
class Profile:
    """Kernels alone and fused, counted by Nsight Compute. `str()` is a table.

    fused: one launch, or several if the kernels stay separate. strategy: how they were fused. device, arch, profiler:
    the GPU, and the version of Nsight Compute. report: of the fusion.

    Metrics are those of `goptx.measuring.profiling.metrics`; percentages are 0 to 100, times microseconds.
    """

    __repr__ = brief

    alone: tuple[Launched, ...]
    fused: tuple[Launched, ...]
    strategy: str
    device: str
    arch: str
    profiler: str
    report: Report = field(repr=False)

    @property
    def launches(self) -> tuple[Launched, ...]:
        """All launches: the kernels alone, then fused."""
        return (*self.alone, *self.fused)

    @property
    def issue_alone(self) -> float | None:
        """I12: issue-slot utilisation (per cent) of the kernels launched one after the other, (I1 C1 + I2 C2)/(C1 +
        C2) with I utilisation and C elapsed cycles. None if a counter is lacking."""
        return issue_utilisation(self.alone)

    @property
    def issue_fused(self) -> float | None:
        """The issue-slot utilisation (per cent) of the fused kernel."""
        return issue_utilisation(self.fused)

    _repr_pretty_ = as_text

    _repr_html_ = as_html

    def __str__(self) -> str:
        head = ["", "", "", *(launch.title for launch in self.launches)]
        parts = {title: [self._cells(metric) for metric in metrics] for title, metrics in PARTS.items()}
        columns = zip(head, *(row for rows in parts.values() for row in rows), strict=True)
        widths = [max(map(len, column)) for column in columns]
        lines = [f"{self.device} ({self.arch}), fused by {self.strategy}, {self.profiler}", "", _aligned(head, widths)]
        for title, rows in parts.items():
            lines += [*(["", title] if title else []), *(_aligned(row, widths) for row in rows)]
        return "\n".join([*lines, "", *self.verdict()])

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for JSON; what is lacking is None."""
        return {
            "device": self.device,
            "arch": self.arch,
            "profiler": self.profiler,
            "strategy": self.strategy,
            "units": {metric.short: metric.unit for metric in ALL},
            "alone": [_plain(launch) for launch in self.alone],
            "fused": [_plain(launch) for launch in self.fused],
            "issue_alone": self.issue_alone,
            "issue_fused": self.issue_fused,
        }

    def to_csv(self) -> str:
        """A row for each metric, a column for each launch; what is lacking is "n/a"."""
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(["metric", "counter", "unit", *(launch.title for launch in self.launches)])
        for metric in ALL:
            values = [launch.counts[metric.short] for launch in self.launches]
            rows.writerow([metric.short, metric.counter, metric.unit, *(_exact(value) for value in values)])
        blank = [""] * len(self.alone)
        rows.writerow([REFERENCE, "", "%", *blank, *[_exact(self.issue_alone)] * len(self.fused)])
        return text.getvalue()

    def _cells(self, metric: Metric) -> list[str]:
        counts = (rendered(launch.counts[metric.short], metric) for launch in self.launches)
        return [metric.short, metric.unit, metric.meaning, *counts]

    def verdict(self) -> Iterator[str]:
        """Lines that compare the two utilisations of issue slots."""
        alone, fused = self.issue_alone, self.issue_fused
        yield f"{REFERENCE} {rendered(alone, ISSUE)} %, the issue slots that the kernels use one after the other"
        if alone is None or fused is None:
            yield f"ISU {rendered(fused, ISSUE)} % when fused; the two cannot be compared."
        else:
            relation = "above" if fused > alone else "not above"
            yield f"ISU {rendered(fused, ISSUE)} % when fused, {relation} it"
        yield f"HFUSE (CGO 2022) found that a fused kernel above {REFERENCE} was always faster than its kernels."


def issue_utilisation(launches: Sequence[Launched]) -> float | None:
    """Issue-slot utilisation (per cent) of launches one after the other, weighted with their elapsed cycles. None if a
    counter is lacking. Raises `InputError` without launches."""
    if not launches:
        raise InputError("no launch, so there is no utilisation of issue slots.")
    issued = [(launch.counts[ISSUE.short], launch.counts[CYCLES.short]) for launch in launches]
    known = [(rate, cycles) for rate, cycles in issued if rate is not None and cycles is not None]
    total = sum(cycles for _, cycles in known)
    if len(known) < len(issued) or not total:
        return None
    return sum(rate * cycles for rate, cycles in known) / total


def rendered(value: float | None, metric: Metric) -> str:
    """The value as text for a table."""
    return LACKING if value is None else f"{value:.{0 if metric is CYCLES else 1 if metric.unit == '%' else 2}f}"


def _exact(value: float | None) -> str:
    return LACKING if value is None else f"{value:.10g}"


def _aligned(row: Iterable[str], widths: Iterable[int]) -> str:
    """The cells of a row in columns: words left-aligned, numbers right-aligned."""
    cells = zip(row, widths, strict=True)
    return "  ".join(c.ljust(w) if i < 3 else c.rjust(w) for i, (c, w) in enumerate(cells)).rstrip()


def _plain(launch: Launched) -> dict[str, Any]:
    return {"label": launch.label, "entry": launch.entry, "counts": dict(launch.counts)}
