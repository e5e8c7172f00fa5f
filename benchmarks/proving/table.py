"""The results of `benchmarks/proofs.py` as a table, and what is not proved most often."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from proving.cases import STRATEGIES
from proving.running import EXTRA, Row

BARS = {
    "random": 0.90,
    "regressions": 0.90,
}  # the share of accepted pairs that is to be proved; of all other groups `BAR`
BAR = 0.95
MOST_REASONS = 25


def summary(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """For each group and way how many pairs are proved, and how long that takes."""
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        found[row.group, row.way].append(row)
    return [_one(group, way, own) for (group, way), own in found.items()]


def _one(group: str, way: str, rows: Sequence[Row]) -> dict[str, Any]:
    accepted = [row for row in rows if row.accepted]
    proved = sum(row.proved for row in accepted)
    slowest = max(accepted, key=lambda row: row.prove_s - row.weave_s, default=None)
    bar = BARS.get(group, BAR) if way in STRATEGIES else None
    return {
        "group": group,
        "way": way,
        "pairs": len(rows),
        "accepted": len(accepted),
        "proved": proved,
        "bar": bar,
        "reached": bar is None or proved >= bar * len(accepted),
        "faults": sum(bool(row.fault) for row in rows),
        "in_time": sum(row.in_time for row in accepted),
        "weave_s": _median([row.weave_s for row in accepted]),
        "prove_s": _median([row.prove_s for row in accepted]),
        "slowest": None if slowest is None else [slowest.pair, slowest.weave_s, slowest.prove_s],
    }


def _median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2] if values else 0.0


def reasons(rows: Iterable[Row]) -> list[tuple[str, int, str]]:
    """What is not proved and what goes wrong, without names and numbers: how often, and one pair."""
    counts: Counter[str] = Counter()
    example: dict[str, str] = {}
    for row in rows:
        if text := row.fault or row.reason:
            text = re.sub(r"^line \d+: ", "", text)
            text = re.sub(r"`[^`]*`", "`...`", text)
            text = re.sub(r"\d+", "N", text)
            counts[text] += 1
            example.setdefault(text, f"{row.group}, {row.way}: {row.pair}")
    return [(text, count, example[text]) for text, count in counts.most_common(MOST_REASONS)]


def table(document: Mapping[str, Any]) -> str:
    lines = [
        "# How many fused kernels are proved",
        "",
        f"{document['processor']}, Python {document['python']}, commit {document['commit']}. `{document['command']}`, "
        f"{document['seconds']} s, {document['jobs']} processes.",
        "",
        "`accepted`: the weaver makes a kernel of them; `proved` and `share` are of those. `in time`: the proof takes "
        f"at most {EXTRA} s more than weaving does. Seconds are those of the processor, medians; each is the least of "
        f"{document['repeats']}. The slowest pair is the one whose proof takes longest beside its weaving. Bars are "
        f"those of {', '.join(STRATEGIES)}; below them stand other ways.",
        "",
        "| group | way | pairs | accepted | proved | share | bar | reached | in time | faults | weave s | prove s "
        "| slowest (weave s, prove s) |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
        *map(_row, document["summary"]),
        "",
        "## What is not proved",
        "",
        "| reason | pairs | one of them |",
        "|---|---|---|",
        *(f"| {text.replace('|', chr(92) + '|')} | {count} | {pair} |" for text, count, pair in document["reasons"]),
    ]
    return "\n".join(lines) + "\n"


def _row(one: Mapping[str, Any]) -> str:
    share = f"{one['proved'] / one['accepted']:.1%}" if one["accepted"] else ""
    bar = f"{one['bar']:.0%}" if one["bar"] else ""
    reached = ("yes" if one["reached"] else "no") if one["bar"] and one["accepted"] else ""
    slowest = (
        "" if one["slowest"] is None else f"{one['slowest'][0]} ({one['slowest'][1]:.2f}, {one['slowest'][2]:.2f})"
    )
    cells = (
        one["group"], one["way"], one["pairs"], one["accepted"], one["proved"], share, bar, reached, one["in_time"],
        one["faults"], f"{one['weave_s']:.3f}", f"{one['prove_s']:.3f}", slowest,
    )  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"
