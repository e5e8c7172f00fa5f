"""The independent measurement as Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

BAR = 0.99  # no tuned result may be slower
ROUNDED = {"float16": 2e-3, "float32": 1e-4}  # relative differences of another rounding: contraction, other blocks
FEW = 1e-4  # the share of other elements that may differ because a float beside a threshold was rounded otherwise
TUNED = "tuned"

Row = Mapping[str, Any]


def baseline(row: Row, times: str = "ms") -> str:
    """The fastest way to run the unchanged kernels."""
    ms = row[times]
    medians = {str(way): statistics.median(runs) for way, runs in ms.items() if way != TUNED}
    return min(medians, key=lambda way: medians[way])


def speedup(row: Row, times: str = "ms") -> float | None:
    """Of the tuned kernel over the fastest way to run the unchanged ones; None if nothing was timed."""
    if "ms" not in row:
        return None
    ms = row[times]
    return float(statistics.median(ms[baseline(row, times)]) / statistics.median(ms[TUNED]))


def is_right(row: Row) -> bool:
    """Whether the tuned kernel writes what the kernels alone write, but for rounding."""
    if "differences" not in row:
        return False
    return all(_is_rounded(found) for found in row["differences"].values())


def _is_rounded(found: Mapping[str, Any]) -> bool:
    if found["dtype"] in ROUNDED:
        return bool(found["largest"] <= ROUNDED[found["dtype"]])
    return bool(found["elements"] <= FEW * found["of"])


def summary(row: Row) -> str:
    """A line for a terminal."""
    head = f"{row['suite']} {row['shape']:8} {row['name']:16}"
    if "ms" not in row:
        return f"{head} NOT MEASURED {row.get('problem', '')[-600:]}"
    state = "right" if is_right(row) else f"WRONG {row['differences']}"
    return f"{head} {speedup(row):.3f} over {baseline(row)}, claimed {row['claimed']}, {state}: {row['found']}"


def table(document: Mapping[str, Any]) -> str:
    rows = document["rows"]
    lines = [
        f"# Tuned results, measured independently, on {document['gpu']}",
        "",
        f"{document['date']}, driver {document['driver']}, commit {document['commit']}. `{document['command']}`, "
        f"{document.get('seconds')} s.",
        "",
        "Each by a process of its own that has nothing of goptx: machine code and launches from files, other data than "
        "the tuner's, in other places of the memory, in an order that changes with each repetition. Speedup over the "
        "best of the unchanged kernels, as nvcc or their framework made them: one after the other, two streams, a "
        "CUDA graph with two branches, the last two in both orders (medians of 20). Launched: the same from the "
        "host's first launch on an idle device (medians of 8). Claimed: by the tuner. Right: the outputs equal those "
        "of the kernels alone, but for rounding.",
        "",
        "| suite | pair | right | best ms | way | tuned ms | speedup | claimed | launched | host us | tuned is |",
        "|---" * 11 + "|",
    ]
    lines += [_cells(row) for row in rows]
    found = [s for row in rows if (s := speedup(row)) is not None]
    if found:
        below = sum(s < BAR for s in found)
        lines += ["", f"Geometric mean {statistics.geometric_mean(found):.3f} of {len(found)}, least {min(found):.3f}, "
                  f"below {BAR}: {below}; not measured: {len(rows) - len(found)}."]  # fmt: skip
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> str:
    head = f"| {row['suite']} {row['shape']} | {row['name']} |"
    if "ms" not in row:
        return f"{head} NO {' '.join(row.get('problem', '').split())[-200:]} |" + " |" * 8
    best, tuned = (statistics.median(row["ms"][way]) for way in (baseline(row), TUNED))
    host = [statistics.median(row["host_us"][way]) for way in (baseline(row, "launched_ms"), TUNED)]
    return (
        f"{head} {'yes' if is_right(row) else 'NO'} | {best:.3f} | {baseline(row)} | {tuned:.3f} | "
        f"{speedup(row):.3f} | {row['claimed'] or ''} | {speedup(row, 'launched_ms'):.3f} | "
        f"{host[0]:.0f}, {host[1]:.0f} | {row['found']} |"
    )
