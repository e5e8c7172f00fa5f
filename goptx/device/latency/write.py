"""A measurement as a latency table: the text of a `.toml` file, see latency_tables/README.md.

What was not measured is taken over from another table, with the source that it has there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from goptx.device.latency.measure import Measured, Measurement
from goptx.device.latency.sample import Sample
from goptx.latency.table import KINDS, LatencyTable

METHOD = (
    "One warp, or as many as the remark says; PTX between two readings of %clock64, in two lengths, the difference "
    "divided by the instructions that the longer one has more; that they are there is read from the machine code. "
    "Cycles: a dependent chain; where nothing can wait for the instruction, and for the interval: several side by side."
)


class Unresolved(Exception):
    """What a row takes off was not measured."""


def table_text(measurement: Measurement, base: LatencyTable) -> str:
    """The whole file; what failed stands at its end as remarks."""
    problems = dict(measurement.problems)
    keys, named = [], []
    for key, measured in measurement.rows.items():
        try:
            line = _line(key, measured, measurement.rows)
        except Unresolved as error:
            problems[key] = str(error)
            continue
        (named if measured.row.name else keys).append((key, line))
    written = {key for key, _ in keys}
    parts = [
        *_head(measurement),
        *_sources(measurement, base),
        "[cycles]",
        *(line for _, line in keys),
        "",
        *_rest(base, written),
        "# Measured, but no key: levels of memory, numbers of warps, shapes.",
        "[named]",
        *(line for _, line in named),
        "",
        "# Where nothing above fits, by kind.",
        "[default]",
        *(f"{kind} = {base.defaults[kind]}" for kind in KINDS),
        "",
        *(f"# Not measured: {key}: {_one_line(why)}" for key, why in problems.items()),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _head(measurement: Measurement) -> Iterator[str]:
    device = measurement.device
    low, high = (round(clock) for clock in measurement.megahertz)
    yield f"# Cycles of PTX instructions on an {device.name}, measured by `goptx latency measure`."
    yield "# The format is told in latency_tables/README.md."
    yield f'\nformat = 1\n\n[gpu]\narch = "{device.arch}"\nname = {json.dumps(device.name)}\n'
    yield "[measurement]"
    yield f'date = "{measurement.date}"'
    yield f'driver = "{device.driver}, CUDA {device.cuda}"'
    yield f"assembler = {json.dumps(measurement.assembler)}"
    yield f'sm_clock = "{low} to {high} MHz while it was measured, {device.sm_megahertz} MHz at most"'
    yield f'memory_clock = "{device.memory_megahertz} MHz"'
    yield f"method = {json.dumps(METHOD)}\n"


def _sources(measurement: Measurement, base: LatencyTable) -> Iterator[str]:
    yield f"[source.measured]\ntitle = {json.dumps(f'goptx latency measure, {measurement.device.name}, {measurement.date}')}\n"
    for name, about in base.sources.items():
        if name != "measured":
            yield f"[source.{name}]\nwhy = {json.dumps(about)}\n"


def _rest(base: LatencyTable, written: set[str]) -> Iterator[str]:
    left = {key: entry for key, entry in base.entries.items() if key not in written}
    if left:
        yield f"# From {base.name}'s table: shorter keys, for what has none above, and what was not measured."
        yield from (f'"{key}" = {{ cycles = {e.cycles}, source = "{e.source}" }}' for key, e in left.items())
        yield ""


def _line(key: str, measured: Measured, rows: Mapping[str, Measured]) -> str:
    latency, interval = resolved(key, rows)
    shown = latency or interval
    assert shown is not None  # a row has one of them at least
    fields = {"cycles": str(max(0, round(shown.median)))}
    if interval:
        fields["interval"] = _cycles(interval.median)
    fields |= {"min": _cycles(shown.least), "median": _cycles(shown.median), "spread": _cycles(shown.spread)}
    fields |= {"sass": json.dumps(measured.sass), "source": '"measured"'}
    remarks = [measured.row.why] if measured.row.why else []
    if measured.row.minus:
        remarks.append("less " + ", ".join(measured.row.minus))
    if latency is None:
        remarks.append("nothing waits for it: its interval")
    remark = f"  # {'; '.join(remarks)}" if remarks else ""
    return f'"{key}" = {{ {", ".join(f"{name} = {value}" for name, value in fields.items())} }}{remark}'


def resolved(key: str, rows: Mapping[str, Measured]) -> tuple[Sample | None, Sample | None]:
    """Latency and interval of a row, less what its way back takes. Raises Unresolved where that is missing."""
    measured = rows[key]
    latency, interval = measured.latency, measured.interval
    if (other := measured.row.interval_of) and other in rows:
        interval = resolved(other, rows)[1]
    for name in measured.row.minus:
        if name not in rows:
            raise Unresolved(f"`{name}`, which it holds too, was not measured")
        off_latency, off_interval = resolved(name, rows)
        if latency and off_latency:
            latency -= off_latency.median
        if interval and not measured.row.interval_of and (off := off_interval or off_latency):
            interval -= off.median
    return latency, interval


def _cycles(number: float) -> str:
    return f"{max(0.0, round(number, 2))}"


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]
