"""A profile for notebooks: a chart, and the tables that it draws."""

from __future__ import annotations

from goptx.measuring.profiling.profile_result import PARTS, Profile, rendered
from goptx.view.bars import text
from goptx.view.html.elements_html import display, folded, heading, line, picture, table
from goptx.view.html.report_html import report_parts, verdict
from goptx.view.profile_bars import profile_bars


def profile_html(profile: Profile) -> str:
    bars = profile_bars(profile)
    head = ("", "", "", *(launch.title for launch in profile.launches))
    tables = [
        table(
            head,
            [
                (m.short, m.unit, m.meaning, *(rendered(launch.counts[m.short], m) for launch in profile.launches))
                for m in metrics
            ],
            words=(0, 1, 2),
            caption=title,
        )
        for title, metrics in PARTS.items()
    ]
    return display(
        heading(profile.device, f"({profile.arch}), fused by {profile.strategy}, {profile.profiler}"),
        *map(line, profile.verdict()),
        picture(bars.svg, instead=text(bars)),
        folded("Counters", *tables),
        folded("Report of the fusion", verdict(profile.report), report_parts(profile.report)),
    )
