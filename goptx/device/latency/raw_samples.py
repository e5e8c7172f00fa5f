"""The samples of a latency table, as a file: each reading of the clock that counted, before anything is computed.

Requires a measurement. Ensures that the table can be computed again: for the two rows of equal key, kind and repeat,
the difference of `cycles` divided by the difference of `repetitions` is one of the values whose median `table_text.py`
writes, before the cycles of other instructions (`taken_off`) are subtracted.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from goptx.device.latency.measure import Measured, Measurement
from goptx.device.latency.text import LATENCY, repetitions
from goptx.errors import InputError

COLUMNS = ("key", "kind", "chains", "repetitions", "repeat", "cycles", "megahertz", "taken_off", "sass")
ENDINGS = (".csv", ".json")


def check_ending(path: str) -> None:
    """Raises `InputError` for a file that is neither CSV nor JSON."""
    if Path(path).suffix not in ENDINGS:
        raise InputError(
            f"--raw {path}: the samples are written as .csv or .json; give a file with one of these endings."
        )


def samples(measurement: Measurement) -> Iterator[dict[str, Any]]:
    """A row with the names of `COLUMNS` for each timed part, in the order of measurement.

    key: the latency key, or the name of a level of memory. kind: "latency" or "interval". chains: how many run side by
    side. repetitions: how many instructions the timed part has, in all chains. repeat: from 1. cycles: of the whole
    part. megahertz: the SM's clock before. taken_off: keys whose cycles each repetition takes too.
    """
    for key, measured in measurement.rows.items():
        for timed in measured.timed:
            lengths = repetitions(measured.row, timed.kind)
            for repeat, pair in enumerate(timed.cycles, 1):
                for length, cycles in zip(lengths, pair, strict=True):
                    yield _row(key, measured, timed.kind, length, repeat, cycles)


def _row(key: str, measured: Measured, kind: str, length: int, repeat: int, cycles: int) -> dict[str, Any]:
    row = measured.row
    chains = 1 if kind == LATENCY else row.chains
    values = (key, kind, chains, length, repeat, cycles, round(measured.megahertz, 1), " ".join(row.taken_off))
    return dict(zip(COLUMNS, (*values, measured.sass), strict=True))


def samples_text(measurement: Measurement, ending: str) -> str:
    """The rows of `samples` as CSV with a header line, or, for ".json", with the device and the date."""
    rows = list(samples(measurement))
    if ending == ".json":
        return json.dumps({**_about(measurement), "samples": rows}, indent=1) + "\n"
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _about(measurement: Measurement) -> dict[str, Any]:
    device = measurement.device
    return {
        "format": 1,
        "gpu": device.name,
        "arch": device.arch,
        "driver": device.driver,
        "cuda": device.cuda,
        "assembler": measurement.assembler,
        "date": measurement.date,
        "not_measured": dict(measurement.problems),
    }
