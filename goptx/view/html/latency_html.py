"""A latency table for notebooks."""

from __future__ import annotations

from collections.abc import Iterable

from goptx.latency.table import Entry, LatencyTable
from goptx.view.html.elements_html import Markup, box, display, folded, heading, line, table

HEAD = ("key", "cycles", "interval", "least", "median", "spread", "source", "machine code")


def latency_html(held: LatencyTable) -> str:
    measured = ", ".join(f"{name} {text}" for name, text in held.measurement.items())
    assumed = table(("kind of instruction", "cycles"), held.defaults.items(), caption="if no key fits")
    sources = table(("source", ""), held.sources.items(), words=(0, 1))
    return display(
        heading(held.name, f"{held.arch}, {len(held.entries)} keys, {held.path}"),
        line(measured, kind="faint") if measured else "",
        box(_entries(held.entries.items())),
        folded(f"{len(held.named)} levels of memory", _entries(held.named.items())) if held.named else "",
        folded("Defaults", assumed),
        folded("Sources", sources),
    )


def _entries(entries: Iterable[tuple[str, Entry]]) -> Markup:
    rows = (
        (key, e.cycles, *map(_fraction, (e.interval, e.least, e.median, e.spread)), e.source, e.sass)
        for key, e in entries
    )
    return table(HEAD, rows, words=(0, 6, 7))


def _fraction(value: float | None) -> str:
    return "" if value is None else f"{value:g}"
