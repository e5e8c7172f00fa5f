"""What `auto` chooses now for pairs whose candidates were measured before, and how far estimates agree with that.

Needs no GPU. A choice that was not measured has no speedup; it is counted, and left out of least and mean.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import goptx
from unseen.agreement import Row, baseline, rank_correlation, signs, speedup
from unseen.makers import Makers
from unseen.making import AUTO, FORMS, WAYS, WEAVE, Subject, measured_of

_UNCHANGED = {
    "separate": "separate",
    "separate streams=True": "graph",
    "separate streams=reversed": "graph, reversed",
}


def estimated(subject: Subject) -> dict[str, Any]:
    """What `auto` chooses for a pair, all that it compared, the gains that are expected of `WAYS`, and whether `weave`
    weaves or gives each CTA one kernel."""
    found = measured_of(subject)
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = {way: goptx.fuse(*found.kernels, strategy=FORMS[way], shapes=found.shapes) for way in WAYS}
    report = made[AUTO].report
    compared = report.decision.to_dict()["candidates"] if report.decision else []
    return {
        "chosen": compared[0]["name"] if compared else made[AUTO].strategy,
        "compared": compared,
        "expected": {way: one.report.expected.gain if one.report.expected else None for way, one in made.items()},
        "weave_is": made[WEAVE].strategy,
        "seconds": round(time.process_time() - begin, 2),
    }


def measured_way(row: Row, chosen: str) -> str | None:
    """The measured way that a candidate of this name is; None if it was not measured. Without its cap it is nearly the
    same: caps are set just below what the kernel takes."""
    way = _UNCHANGED.get(chosen, chosen)
    for name in (way, way.partition(" capped at ")[0]):
        if name in row["ms"]:
            return name
    return None


def choices(rows: Sequence[Row], there: Makers) -> Iterator[dict[str, Any]]:
    """A row for each measured pair, in order."""
    timed = [row for row in rows if "ms" in row]
    futures = [there.submit(estimated, Subject(row["group"], row["name"])) for row in timed]
    for row, future in zip(timed, futures, strict=True):
        found = future.result()
        way = measured_way(row, found["chosen"])
        yield {
            "group": row["group"],
            "name": row["name"],
            **found,
            "gain": None if way is None else speedup(row, way),
            "weave": speedup(row, found["weave_is"]),
            "best": (best := min(row["ms"], key=lambda each: statistics.median(row["ms"][each]))),
            "best_gain": speedup(row, best),
            "pairs": [
                (one["gain"], speedup(row, own))
                for one in found["compared"]
                if (own := measured_way(row, one["name"])) and own != baseline(row)
            ],
        }


def choices_table(document: Mapping[str, Any]) -> str:
    """The choices of all pairs, then how good they are together."""
    rows = document["choices"]
    lines = [
        f"# What auto chooses for pairs that were measured on {document['gpu']}",
        "",
        f"`{document['command']}`, commit {document['commit']}; measured: {document['measured']}. No GPU was asked. "
        "Speedups are over the best separate launches. `-` is a choice that was not measured. The cost model was "
        "fitted in sight of these measurements.",
        "",
        "| pair | chosen | speedup | best measured | speedup | weave, estimate | weave | rank correlation | seconds |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [
            row["name"],
            row["chosen"],
            _text(row["gain"]),
            row["best"],
            _text(row["best_gain"]),
            _text(row["expected"][WEAVE]),
            _text(row["weave"]),
            _text(rank_correlation(row["pairs"])),
            f"{row['seconds']:.1f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", *_summary(rows)]) + "\n"


def _summary(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    gains = [row["gain"] for row in rows if row["gain"] is not None]
    best = [row["best_gain"] for row in rows]
    yield (
        f"Chosen: least {min(gains):.2f}, geometric mean {statistics.geometric_mean(gains):.3f} of {len(gains)} of "
        f"{len(rows)} pairs; best of all measured {statistics.geometric_mean(best):.3f}. Not launched separately: "
        f"{sum(not row['chosen'].startswith('separate') for row in rows)}."
    )
    yield ""
    for title, pairs in (
        ("weave", [(row["expected"][WEAVE], row["weave"]) for row in rows if row["expected"][WEAVE] and row["weave"]]),
        ("all candidates that auto compares", [pair for row in rows for pair in row["pairs"]]),
    ):
        right, gain_lost, loss_gained = signs(pairs)
        yield (
            f"Estimates of {title}: rank correlation {_text(rank_correlation(pairs))}, signs right for {right} of "
            f"{right + gain_lost + loss_gained}; a gain was expected {gain_lost} times where there was a loss, a loss "
            f"{loss_gained} times where there was a gain."
        )
        yield ""


def _text(number: float | None) -> str:
    return "-" if number is None else f"{number:.2f}"
