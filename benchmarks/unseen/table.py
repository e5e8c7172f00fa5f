"""The results as Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from goptx.measuring.bench.baselines import STREAMS
from unseen import FITTED, GROUPS, HELD_OUT, LATER, NEWEST, SECOND
from unseen.agreement import Row, baseline, estimates, rank_correlation, signs, speedup, speedups
from unseen.making import AUTO, TUNED, WAYS, WEAVE
from unseen.runs import REPEATS

TITLES = {
    SECOND: "second writing of suite A",
    FITTED: "real kernels, fitted (in sample)",
    HELD_OUT: "real kernels, held out (out of sample)",
    LATER: "real kernels, later (in sample)",
    NEWEST: "real kernels, newest (in sample)",
}
BARS = {
    (SECOND, WEAVE): "0.90, 1.25 over streams",
    (SECOND, AUTO): "0.97, 1.45 over streams",
    (SECOND, TUNED): "0.99, 1.55 over streams",
    (HELD_OUT, AUTO): "0.97, 1.00",
    (HELD_OUT, WEAVE): "0.80",
}
FEWEST_FUSED = 20  # pairs of the second writing that auto has to fuse
CORRELATION, SHARE = 0.6, 0.85  # bars of the estimates, held out


def summary(row: Row) -> str:
    """A line for a terminal."""
    head = f"{row['group']:8} {row['name']:32}"
    if "ms" not in row:
        return f"{head} NOT MEASURED {row.get('problem', '')[-600:]}"
    cells = [f"{way} {_number(speedup(row, way))} ({_estimate(row, way)})" for way in row["ways"]]
    state = "right" if row["right"] else "NOT RIGHT"
    best = statistics.median(row["ms"][baseline(row)])
    return f"{head} {best:.3f} ms {baseline(row)}: {', '.join(cells)}, {state}, {row['seconds']} s"


def table(document: Mapping[str, Any]) -> str:
    rows: Sequence[Row] = document["rows"]
    lines = [
        f"# Kernels that were not looked at, on {document['gpu']}",
        "",
        f"{document['date']}, driver {document['driver']}, {_assembler(rows)}, commit {document['commit']}. "
        f"`{document['command']}`, {document.get('seconds')} s.",
        "",
        "Speedup over the best separate launches: one after the other, two streams, a CUDA graph with two branches, "
        f"the last two in both orders; all but streams as CUDA graphs (medians of {REPEATS}, in turn). Right: what is "
        "fused writes what separate launches write, bit for bit, but for contraction. The pairs of `fitted` may be "
        "used to fit constants, rules were found with those of `later` and `newest`; those of `held_out` and of the "
        "second writing may be used for neither. Bars: least, geometric mean.",
        "",
        "| pairs | way | measured | least | geomean | least over streams | geomean over streams | fused | bar |",
        "|---" * 9 + "|",
        *(line for group in GROUPS for line in _of_group(document, group)),
        "",
        f"Estimates against measurements. Right sign: of the speedups further than 3 % from 1. Bars, held out: rank "
        f"correlation {CORRELATION}, {SHARE:.0%} of right signs.",
        "",
        "| pairs | way | estimates | rank correlation | right sign | gain expected, lost | loss expected, gained |",
        "|---" * 7 + "|",
        *(line for group in GROUPS for line in _of_estimates(rows, group)),
    ]
    for group in GROUPS:
        lines += _pairs(group, [row for row in rows if row["group"] == group])
    return "\n".join(lines) + "\n"


def _of_group(document: Mapping[str, Any], group: str) -> Iterator[str]:
    rows = [row for row in document["rows"] if row["group"] == group]
    for way in _ways(rows):
        found, streams = speedups(rows, way), speedups(rows, way, STREAMS)
        fused = sum(row["ways"].get(way, {}).get("strategy", "separate") != "separate" for row in rows)
        bar = BARS.get((group, way), "") + (f"; {FEWEST_FUSED} fused" if (group, way) == (SECOND, AUTO) else "")
        yield (
            f"| {TITLES[group]} | {way} | {len(found)} of {len(rows)} | {_least(found)} | {_mean(found)} | "
            f"{_least(streams)} | {_mean(streams)} | {fused} | {bar} |"
        )


def _of_estimates(rows: Sequence[Row], group: str) -> Iterator[str]:
    own = [row for row in rows if row["group"] == group]
    for way in _ways(own):
        if not (found := estimates(own, way)):
            continue
        right, too_high, too_low = signs(found)
        clear = right + too_high + too_low
        share = f"{right} of {clear}" + (f" ({right / clear:.0%})" if clear else "")
        correlation = _number(rank_correlation(found))
        yield f"| {TITLES[group]} | {way} | {len(found)} | {correlation} | {share} | {too_high} | {too_low} |"


def _pairs(group: str, rows: Sequence[Row]) -> list[str]:
    if not rows:
        return []
    ways = _ways(rows)
    head = [f"{way}, estimate" for way in ways]
    lines = ["", f"## {TITLES[group]}", ""]
    lines += [f"| pair | right | best ms | way | {' | '.join(head)} | auto is | registers |"]
    lines += ["|---" * (6 + len(head)) + "|"]
    return [*lines, *(_pair(row, ways) for row in rows)]


def _pair(row: Row, ways: Sequence[str]) -> str:
    if "ms" not in row:
        return f"| {row['name']} | NO | {_short(row.get('problem', ''))} |" + " |" * (3 + len(ways))
    cells = [row["name"], "yes" if row["right"] else "NO", f"{statistics.median(row['ms'][baseline(row)]):.3f}"]
    cells.append(baseline(row))
    for way in ways:
        facts = row["ways"].get(way, {})
        problem = next((_short(facts[key]) for key in ("refused", "failed", "wrong") if key in facts), "")
        cells.append(problem or f"{_number(speedup(row, way))}, {_estimate(row, way)}")
    cells.append(row["ways"].get(AUTO, {}).get("chosen", ""))
    cells.append(", ".join(str(row["ways"].get(way, {}).get("registers", "-")) for way in ways))
    return f"| {' | '.join(cells)} |"


def _ways(rows: Sequence[Row]) -> list[str]:
    return [way for way in (*WAYS, TUNED) if any(way in row["ways"] for row in rows)]


def _estimate(row: Row, way: str) -> str:
    return _number(row["ways"].get(way, {}).get("estimate"))


def _least(found: Sequence[float]) -> str:
    return _number(min(found, default=None))


def _mean(found: Sequence[float]) -> str:
    return _number(statistics.geometric_mean(found) if found else None, 3)


def _number(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _short(text: str) -> str:
    return " ".join(text.split()).replace("|", "/")[:120]


def _assembler(rows: Sequence[Row]) -> str:
    facts = (facts for row in rows for facts in row["ways"].values())
    return next((one["assembler"] for one in facts if "assembler" in one), "nothing assembled")
