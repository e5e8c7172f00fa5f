"""How well `goptx.suggest` ranks pairs that were measured: it needs no GPU, and measures nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import goptx
from unseen import GROUPS, specifications_of
from unseen.agreement import Row, rank_correlation, speedup

BEST = 20  # pairs of the ranking that are compared with those that gain most
WANTED = 12  # of these, at least


def suggested(rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """For each measured pair the gain that is suggested, and what it gains by the best of what was fused."""
    for row in rows:
        gains = [gain for way in row["ways"] if (gain := speedup(row, way)) is not None]
        found = goptx.suggest(specifications_of(row["group"], row["name"])) if gains else []
        for one in found:
            yield {"group": row["group"], "name": row["name"], "suggested": one.gain, "gain": max(gains)}


def common(rows: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """How many of the best of the ranking are among those that gain most, and of how many."""
    ranked, gaining = (sorted(rows, key=lambda row: -row[by]) for by in ("suggested", "gain"))
    best = {row["name"] for row in ranked[:BEST]}
    return len(best & {row["name"] for row in gaining[:BEST]}), len(best)


def agreement_lines(groups: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[str]:
    """A table of how far the ranking agrees with what was measured."""
    yield "| pairs | ranked | of | among those that gain most | rank correlation |"
    yield "|---|---|---|---|---|"
    for name, rows in groups.items():
        count, best = common(rows)
        both = rank_correlation([(row["suggested"], row["gain"]) for row in rows])
        yield f"| {name} | {len(rows)} | {best} | {count} | {'-' if both is None else f'{both:.2f}'} |"


def suggested_table(document: Mapping[str, Any]) -> str:
    by_group = {group: [row for row in document["rows"] if row["group"] == group] for group in GROUPS}
    lines = [
        "# What `goptx suggest` ranks high, and what gains when measured",
        "",
        f"{document['date']}, commit {document['commit']}. `{document['command']}`: pairs measured on "
        f"{document['gpu']} ({document['measured']}), the best of weave, auto and tuned.",
        "",
        f"Of the {BEST} best of the ranking, so many are among the {BEST} that gain most; wanted of the held-out "
        f"pairs: {WANTED}. The model may be fitted on `fitted`, and rules were found with `later` and `newest`.",
        "",
        *agreement_lines({group: rows for group, rows in by_group.items() if rows}),
    ]
    lines += ["", "| pair | suggested | measured |", "|---|---|---|"]
    ranking = sorted(document["rows"], key=lambda row: (GROUPS.index(row["group"]), -row["suggested"]))
    lines += [f"| {row['name']} | {row['suggested']:.2f} | {row['gain']:.2f} |" for row in ranking]
    return "\n".join(lines) + "\n"
