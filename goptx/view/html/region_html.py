"""A fusion region for notebooks."""

from __future__ import annotations

from goptx.region.capture_report import CaptureReport
from goptx.region.captured import CapturedFusion
from goptx.region.fusion import Fusion, RegionReport
from goptx.view.html.elements_html import Markup, display, folded, heading, line, markup, table
from goptx.view.html.woven_html import woven_parts

HEAD = ("", "seconds")
TEMPORARIES = ("temporary", "declared", "where", "why")
STEPS = ("step", "kernel", "group")
GROUPS = ("group", "launches", "became", "not fused")


def fusion_html(fusion: Fusion) -> str:
    if fusion.report is None or fusion.fused is None:
        return display(heading("Fusion region", fusion.state))
    kernel = folded(f"The kernel {fusion.fused.name}", woven_parts(fusion.fused))
    return display(_title(fusion.report), _parts(fusion.report), kernel)


def captured_html(fusion: CapturedFusion) -> str:
    return display(heading("Fusion region", fusion.state)) if fusion.report is None else capture_html(fusion.report)


def capture_html(report: CaptureReport) -> str:
    steps = [(s.kind, s.name, "" if s.group is None else str(s.group)) for s in report.steps]
    groups = [
        (str(i), str(g.launches), g.done.strategy if g.done else "as captured", g.done.reason if g.done else g.reason)
        for i, g in enumerate(report.groups)
    ]
    counted = f"{len(report.recognised)} of {len(report.steps)} steps recognised, {len(report.fused)} groups fused"
    lines = markup(*(line(note) for note in report.notes))
    return display(heading("Captured region", counted), lines, table(GROUPS, groups), table(STEPS, steps))


def done_html(done: RegionReport) -> str:
    return display(_title(done), _parts(done))


def _title(done: RegionReport) -> Markup:
    return heading("Fusion region", f"{done.strategy}, {'made' if done.anew else 'found in memory'}")


def _parts(done: RegionReport) -> Markup:
    rows = [("to make it at first", f"{done.first:.3g}"), ("to prepare now", f"{done.preparing:.3g}"),
            ("to launch", f"{done.launching:.3g}")]  # fmt: skip
    temporaries = [(t.buffer, t.declared, t.where, t.why) for t in done.temporaries]
    return markup(
        line(f"not fused: {done.reason}") if done.reason else "",
        line(str(done.comparison)) if done.comparison else "",
        table(HEAD, rows),
        table(TEMPORARIES, temporaries) if temporaries else "",
    )
