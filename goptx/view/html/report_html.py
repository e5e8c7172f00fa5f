"""What weaving did, and why a strategy was chosen, for notebooks."""

from __future__ import annotations

from collections.abc import Mapping

from goptx.results.decision import Decision
from goptx.results.report import Report
from goptx.view.html.elements_html import Markup, display, element, folded, heading, line, markup, table
from goptx.view.svg.theme import hue

HEAD = ("", "blocks", "instructions", "dummy blocks", "barriers", "est. cycles")
WHY = ("way", "kilocycles", "registers", "occupancy", "most of it", "")


def report_html(report: Report) -> str:
    return display(heading("woven of " + " and ".join(c.name for c in report.kernels.values())), report_parts(report))


def why_html(why: Decision) -> str:
    return display(heading(why.chosen.way, why.decided), why_table(why))


def mark(letter: str, letters: Mapping[str, object]) -> Markup:
    """The letter of a kernel, with its colour beside it; plain what is none of them."""
    known = list(letters)
    return element("span", letter, kind=f"letter {hue(known.index(letter))}" if letter in known else "letter")


def report_parts(report: Report) -> Markup:
    """The table, what else was done, and why."""
    rows = [
        (markup(mark(letter, report.kernels), f" {c.name}"), c.blocks, c.instructions, c.dummy_blocks, c.barriers,
         c.estimated_cycles)
        for letter, c in [*report.kernels.items(), ("", report.merged)]
    ]  # fmt: skip
    rows[-1] = (element("strong", "woven"), *rows[-1][1:])
    said = [
        line(
            element("strong", f"woven fraction {report.woven_fraction:.2f}"),
            f", policy {report.policy}, slicing {report.slicing}, latencies {report.latency}",
        )
    ]
    for choice in dict.fromkeys(d.choice for d in report.divergences):
        where = ", ".join(f"{d.kernel}:{d.line}" for d in report.divergences if d.choice == choice)
        said.append(line(f"divergence {choice}: {where}"))
    said += [line(f"note: {note}") for note in report.notes]
    why = folded(f"Why {report.why.chosen.way}", why_table(report.why)) if report.why else ""
    return markup(table(HEAD, rows), *said, why)


def why_table(why: Decision) -> Markup:
    rows = [
        (c.way, f"{c.cycles / 1000:.1f}", c.registers, f"{c.occupancy:.0%}", c.decided_by, "" if c.made else "not made")
        for c in why.candidates
    ]
    assumed = [line(f"assumed: {what}", kind="faint") for what in why.assumed]
    shown = element("div", table(WHY, rows, words=(0, 4, 5), best=0), kind="box")
    return markup(line(f"chosen: {why.chosen.way}, {why.decided}"), shown, *assumed)
