"""A measurement as a latency table: the text of a `.toml` file, see latency_tables/README.md.

Values that were not measured are copied from another table, with their sources there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from statistics import median

from goptx.device.latency.measure import Measured, Measurement
from goptx.device.latency.rounds import Sample
from goptx.latency.table import ASSUMED, KINDS, Entry, LatencyTable, siblings

METHOD = (
    "One warp, or as many as a remark says. Between two readings of %clock64 stand instructions of one kind, in two "
    "numbers; the difference in cycles by the difference in number. That they are there is read from the machine code. "
    "cycles: each waits for the one before. interval: several chains side by side."
)
_MEASURED, _EARLIER = "measured", "earlier"


class Unresolved(Exception):
    """A value to be subtracted was not measured."""


def table_text(measurement: Measurement, base: LatencyTable) -> str:
    """The whole file. Values that are not measured are those of `base`; the reasons are at the end."""
    problems = dict(measurement.problems)
    keys: dict[str, Entry] = {}
    lines: dict[bool, list[str]] = {False: [], True: []}  # False: of keys; True: of rows with another name
    for key, measured in measurement.rows.items():
        try:
            entry = _entry(measured, *resolved(key, measurement.rows))
        except Unresolved as error:
            problems[key] = str(error)
            continue
        if not measured.row.name:
            keys[key] = entry
        lines[bool(measured.row.name)].append(_line(key, entry, _remark(measured)))
    parts = [
        *_head(measurement),
        *_sources(measurement, base),
        "[cycles]",
        *lines[False],
        "",
        *_rest(base, keys),
        "# Measured, but no key: levels of memory, numbers of warps, shapes.",
        "[named]",
        *lines[True],
        "",
        "# Where nothing above fits, by kind.",
        "[default]",
        *(f"{kind} = {base.defaults[kind]}" for kind in KINDS),
        "",
        *(f"# Not measured: {key}: {' '.join(why.split())[:200]}" for key, why in problems.items()),
    ]
    return "\n".join(parts).rstrip() + "\n"


def resolved(key: str, rows: Mapping[str, Measured]) -> tuple[Sample | None, Sample | None]:
    """Latency and interval of a row, less those timed together with it. Raises Unresolved where one of these is
    missing."""
    measured = rows[key]
    latency, interval = measured.latency, measured.interval
    other = measured.row.interval_of
    if other in rows:
        interval = resolved(other, rows)[1]
    for name in measured.row.taken_off:
        if name not in rows:
            raise Unresolved(f"`{name}`, which is timed together with it, was not measured")
        off_latency, off_interval = resolved(name, rows)
        if latency and off_latency:
            latency -= off_latency.median
        if interval and not other and (off := off_interval or off_latency):
            interval -= off.median
    return latency, interval


def _head(measurement: Measurement) -> Iterator[str]:
    device = measurement.device
    low, high = (round(clock) for clock in measurement.megahertz)
    yield f"# Cycles of PTX instructions on an {device.name}, measured by `goptx latency measure`."
    yield "# latency_tables/README.md tells what the numbers mean."
    yield f'\nformat = 1\n\n[gpu]\narch = "{device.arch}"\nname = {json.dumps(device.name)}\n'
    yield "[measurement]"
    yield f'date = "{measurement.date}"'
    yield f'driver = "{device.driver}, CUDA {device.cuda}"'
    yield f"assembler = {json.dumps(measurement.assembler)}"
    yield f'sm_clock = "{low} to {high} MHz while it was measured, {device.sm_megahertz} MHz at most"'
    yield f'memory_clock = "{device.memory_megahertz} MHz"'
    yield f"method = {json.dumps(METHOD)}\n"


def _sources(measurement: Measurement, base: LatencyTable) -> Iterator[str]:
    title = f"goptx latency measure, {measurement.device.name}, {measurement.date}"
    yield f"[source.{_MEASURED}]\ntitle = {json.dumps(title)}\n"
    others: dict[str, str] = {}
    for name, about in base.sources.items():
        others[_renamed(name)] = f"{others[_renamed(name)]}; {about}" if _renamed(name) in others else about
    for name, about in others.items():
        yield f"[source.{name}]\n{'why' if name == ASSUMED else 'title'} = {json.dumps(about)}\n"


def _renamed(source: str) -> str:
    """The name in this file of a source of the other table."""
    return _EARLIER if source == _MEASURED else source


def _rest(base: LatencyTable, measured: Mapping[str, Entry]) -> Iterator[str]:
    """Entries of the other table. Short keys that stand for several others get the median of the measured ones. An
    entry that is only assumed there is replaced by one that was measured with another sign."""
    left = {
        key: entry
        for key, entry in base.entries.items()
        if not any(k in measured for k in (siblings(key) if entry.source == ASSUMED else (key,)))
    }
    if not left:
        return
    yield f"# Not measured: keys that stand for several, as the middle of those above, and entries of {base.path.name}."
    for key, entry in left.items():
        family = [of.cycles for name, of in measured.items() if name.startswith(f"{key}.")]
        if family and entry.source == ASSUMED:
            yield _line(key, Entry(round(median(family)), ASSUMED), "the middle of those above")
        else:
            yield _line(key, replace(entry, source=_renamed(entry.source)), "")
    yield ""


def _entry(measured: Measured, latency: Sample | None, interval: Sample | None) -> Entry:
    primary = latency or interval
    assert primary is not None  # a row has one of them at least
    return Entry(
        max(0, round(primary.median)),
        _MEASURED,
        interval=interval.median if interval else None,
        least=primary.least,
        median=primary.median,
        spread=primary.spread,
        sass=measured.sass,
    )


def _remark(measured: Measured) -> str:
    row = measured.row
    less = f"less {', '.join(row.taken_off)}" if row.taken_off else ""
    return "; ".join(filter(None, [row.why, less, "" if row.latency else "its interval: nothing waits for it"]))


def _line(key: str, entry: Entry, remark: str) -> str:
    fractions = {"interval": entry.interval, "min": entry.least, "median": entry.median, "spread": entry.spread}
    fields = {"cycles": str(entry.cycles)}
    fields |= {name: f"{max(0.0, round(value, 2))}" for name, value in fractions.items() if value is not None}
    if entry.sass:
        fields["sass"] = json.dumps(entry.sass)
    fields["source"] = json.dumps(entry.source)
    return f'"{key}" = {{ {", ".join(f"{name} = {value}" for name, value in fields.items())} }}' + (
        f"  # {remark}" if remark else ""
    )
