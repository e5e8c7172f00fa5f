"""The results of suite B as charts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unseen.making import TUNED

from goptx.view.bars import Bars, Group

UNCHANGED = ("separate", 1.0)  # the line of the unchanged kernels
MOST = 2.0  # the end of the scale
SPEEDUP = "speedup over the best separate launches"


def chart(document: Mapping[str, Any]) -> Bars:
    """Of each pair: HFUSE's published speedup, the best of its partitions here, and the result of tuning."""
    groups = [
        Group(row["pair"], "", (row["hfuse"], _gain(row, row["search"]), _gain(row, TUNED)), MOST, UNCHANGED)
        for row in document["pairs"]
        if "speedups" in row
    ]
    series = ("HFUSE on a V100, over two streams", "best of its partitions", "tuned")
    return Bars(f"Suite B on {document['gpu']}: {SPEEDUP}", series, 1, tuple(groups), SPEEDUP, digits=2)


def ratio_chart(document: Mapping[str, Any]) -> Bars:
    """Of each pair at each ratio of its kernels' times: the best of HFUSE's partitions, and two other ways."""
    groups = []
    for row in document["rows"]:
        if "speedups" not in row:
            continue
        first, second = row["alone_ms"]
        gains = tuple(_gain(row, way) for way in (row["search"], "weave", "interleave"))
        groups.append(Group(f"{row['pair']} {second / first:.2f}", "", gains, MOST, UNCHANGED))
    title = f"Suite B on {document['gpu']}, by the ratio of the kernels' times: {SPEEDUP}"
    return Bars(title, ("best of HFUSE's partitions", "weave", "interleave"), 1, tuple(groups), SPEEDUP, digits=2)


def _gain(row: Mapping[str, Any], way: str | None) -> float | None:
    return None if way is None else row["speedups"].get(way)
