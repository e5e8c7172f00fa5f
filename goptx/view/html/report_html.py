"""What weaving did, and why a strategy was chosen, for notebooks."""

from __future__ import annotations

import re
from collections.abc import Mapping

from goptx.results.decision import Decision
from goptx.results.report import BESIDE, Report
from goptx.view.html.elements_html import Markup, display, element, folded, heading, headline, line, markup, table
from goptx.view.svg.theme import hue

HEAD = ("", "blocks", "instructions", "dummy blocks", "barriers", "est. cycles")
DECISION_HEAD = ("candidate", "kilocycles", "gain", "least", "registers", "occupancy", "most of it", "")


def report_html(report: Report) -> str:
    names = " and ".join(c.name for c in report.kernels.values())
    return display(verdict(report), heading(f"woven of {names}"), report_parts(report))


def verdict(report: Report) -> Markup:
    """How fast the result is estimated to be, as a headline; nothing where that is not known."""
    if report.expected is None:
        return markup()
    parts = re.split("[*`]", str(report.expected).replace("->", "→"))  # the sentence for terminals marks words by these
    return headline(markup(*(element("em", part) if i % 2 else part for i, part in enumerate(parts))))


def decision_html(decision: Decision) -> str:
    return display(heading(decision.chosen.name, decision.decided), decision_table(decision))


def mark(letter: str, letters: Mapping[str, object]) -> Markup:
    """The letter of a kernel with its colour beside it; any other text as it is."""
    known = list(letters)
    return element("span", letter, kind=f"letter {hue(known.index(letter))}" if letter in known else "letter")


def report_parts(report: Report) -> Markup:
    """The table of the report, its other facts as lines, and the decision of `auto`; `verdict` stands elsewhere."""
    rows = [
        (markup(mark(letter, report.kernels), f" {c.name}"), c.blocks, c.instructions, c.dummy_blocks, c.barriers,
         c.estimated_cycles)
        for letter, c in [*report.kernels.items(), ("", report.merged)]
    ]  # fmt: skip
    rows[-1] = (element("strong", "woven"), *rows[-1][1:])
    lines = [
        line(
            f"{BESIDE} {report.woven_fraction:.0%}, policy {report.policy}, slicing {report.slicing}, latencies "
            f"{report.latency}"
        )
    ]
    for choice in dict.fromkeys(d.choice for d in report.divergences):
        where = ", ".join(f"{d.kernel}:{d.line}" for d in report.divergences if d.choice == choice)
        lines.append(line(f"divergence {choice}: {where}"))
    lines += [line(f"note: {note}") for note in report.notes]
    decision = report.decision
    compared = folded(f"Why {decision.chosen.name}", decision_table(decision)) if decision else ""
    return markup(table(HEAD, rows), *lines, compared)


def decision_table(decision: Decision) -> Markup:
    rows = [
        (
            c.name,
            f"{c.cycles / 1000:.1f}",
            f"{c.gain:.2f}",
            f"{c.worst:.2f}",
            c.registers,
            f"{c.occupancy:.0%}",
            c.decided_by,
            "" if c.made else "not made",
        )
        for c in decision.candidates
    ]
    assumed = [line(f"assumed: {what}", kind="faint") for what in decision.assumed]
    candidates = element("div", table(DECISION_HEAD, rows, words=(0, 6, 7), best=0), kind="box")
    return markup(line(f"chosen: {decision.chosen.name}, {decision.decided}"), candidates, *assumed)
