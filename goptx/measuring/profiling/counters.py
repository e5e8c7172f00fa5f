"""Reads the output of Nsight Compute: counters of each launch (`--csv --page raw --print-units base`).

Requires: the whole output, messages (`==PROF== ...`) and a table, in which a row of names is followed by a row of units
and a row for each launch. Ensures: a value, or None, for each requested counter; times in microseconds.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from goptx.errors import DeviceError

NAME = "Kernel Name"
MICROSECONDS = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6} | {  # as older versions call them
    "nsecond": 1e-3, "usecond": 1.0, "msecond": 1e3, "second": 1e6,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reading:
    """One launch: its kernel, and the value of each counter, None if the device lacks the counter."""

    kernel: str
    values: Mapping[str, float | None]


def readings(printed: str, counters: Sequence[str]) -> list[Reading]:
    """A reading for each launch, in order. Raises a `DeviceError` that names what is missing or not understood."""
    table = list(csv.reader(line for line in printed.splitlines() if line.startswith('"')))
    if not table:
        raise DeviceError("Nsight Compute printed no table of counters")
    head, units, *rows = table if len(table) > 1 else [*table, []]
    if NAME not in head or not any(counter in head for counter in counters):
        raise DeviceError(
            f"Nsight Compute's table has no column `{NAME}`, or none of the counters: {','.join(head)[:300]}"
        )
    if len(units) != len(head) or units[head.index(NAME)]:
        raise DeviceError("Nsight Compute's table has no row of units below the names of its columns")
    if cut := next((row for row in rows if len(row) != len(head)), None):
        raise DeviceError(
            f"a row of Nsight Compute's table has {len(cut)} cells for {len(head)} columns: {','.join(cut)[:300]}"
        )
    columns = {counter: head.index(counter) for counter in counters if counter in head}
    return [
        Reading(
            row[head.index(NAME)],
            {c: _value(c, row[columns[c]], units[columns[c]]) if c in columns else None for c in counters},
        )
        for row in rows
    ]


def _value(counter: str, cell: str, unit: str) -> float | None:
    """The value of a cell such as `1,234.5`; a prefix `(!)` marks a value of low precision."""
    text = cell.removeprefix("(!)").strip().replace(",", "")
    if text.lower() in ("", "n/a"):
        return None
    try:
        value = float(text)
    except ValueError:
        raise DeviceError(f"Nsight Compute's `{counter}` is `{cell}`, which is not a number") from None
    return value * MICROSECONDS.get(unit, 1.0) if math.isfinite(value) else None
