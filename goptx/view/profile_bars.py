"""A profile as a bar chart: a group of bars for each metric, one for each launch."""

from __future__ import annotations

from goptx.measuring.profiling.metrics import ISSUE, METRICS, STALLS, TIME
from goptx.measuring.profiling.profile_result import REFERENCE, Profile
from goptx.view.bars import Bars, Group


def profile_bars(profile: Profile) -> Bars:
    """The chart that `goptx.view.bars` renders as text and `goptx.view.charts.bars_chart` draws."""
    return Bars(
        f"{profile.device}, fused by {profile.strategy}",
        tuple(launch.title for launch in profile.launches),
        len(profile.alone),
        tuple(
            Group(
                metric.short,
                metric.unit,
                tuple(launch.counts[metric.short] for launch in profile.launches),
                100.0 if metric.unit == "%" else None,
                (REFERENCE, profile.issue_alone) if metric is ISSUE and profile.issue_alone is not None else None,
            )
            for metric in (TIME, *METRICS, *STALLS)
        ),
        "percentages from 0 to 100; anything else from 0 to the largest of its group",
    )
