"""Measures 50 candidates for each pair of suite A, the same for all pairs, and the choice of `strategy="auto"`.

Pairs of other kernels of examples/kernels are measured like them.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

from goptx.measuring.bench.baselines import STREAMS
from goptx.strategies.candidate import Candidate
from goptx.tuning.making import Job, fused
from suite_a.runs import REPEATS, Row
from suite_a.schemes import Done, Form, Subject, Task, done, measured_of

_MIXED = ((2, 1), (1, 2), (4, 2), (2, 4))
_FACTORS = ((1, 1), (2, 2), (4, 4), *_MIXED, (4, 1), (1, 4))
WAYS = (
    *(Candidate("weave", factors, cap) for cap in (None, 32) for factors in _FACTORS),
    *(Candidate("weave", factors, 40) for factors in ((2, 2), (4, 4), (4, 2), (2, 4), (4, 1), (1, 4))),
    *(Candidate("weave", factors).having(slicing=None) for factors in ((1, 1), (2, 2))),
    *(Candidate("weave", factors).having(policy="concat") for factors in ((1, 1), (2, 2))),
    *(Candidate("vertical", factors) for factors in ((1, 1), (2, 2), (4, 4))),
    *(Candidate("interleave", factors) for factors in ((1, 1), (2, 2), (4, 4), *_MIXED)),
    *(Candidate("horizontal", factors) for factors in ((1, 1), (2, 2))),
    *(Candidate("separate", factors) for factors in (*_FACTORS, (8, 8))),
)
FUSED = ("weave", "vertical", "interleave", "horizontal")
AUTO = Candidate("auto", (1, 1))
BASELINE = STREAMS  # of the kernels as they are
_MEASURED = set(map(str, WAYS))
_BY_NAME = {str(candidate): candidate for candidate in (*WAYS, AUTO) if candidate.cap is None}


def tasks_of(subject: Subject) -> list[Task]:
    """Each candidate without its cap."""
    return [Task(subject, name) for name in _BY_NAME]


def made(task: Task) -> Done:
    """A candidate without a cap, and under those of its caps that are below its registers."""
    return done(task, _forms(task))


def _forms(task: Task) -> Iterator[Form]:
    measured, candidate = measured_of(task.subject), _BY_NAME[task.scheme]
    woven = fused(Job(measured.kernels, measured.shapes, measured.tunable, candidate, None))
    decision = woven.report.decision if candidate == AUTO else None
    yield Form(woven, chosen=decision.chosen.name if decision else "")
    registers = woven.resources().registers
    for capped in WAYS:
        if capped.cap and capped.uncapped == candidate and capped.cap < registers:
            yield Form(woven, capped.cap)


def renamed(row: Row) -> Row:
    """As benchmarks/auto_choice.py reads it."""
    row["ways"] = row.pop("schemes")
    return row


def speedup(row: dict[str, Any], candidate: str) -> float:
    return float(row["ms"][BASELINE][0] / row["ms"][candidate][0])


def best(row: dict[str, Any], *strategies: str) -> str:
    """The fastest candidate, of these strategies if any are given; "" if none was measured."""
    candidates = [w for w in row["ms"] if w in _MEASURED and (not strategies or w.split()[0] in strategies)]
    return min(candidates, key=lambda candidate: float(row["ms"][candidate][0]), default="")


def columns(row: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """By column of the table: the candidate, and its name there."""
    fused, separate = best(row, *FUSED), best(row, "separate")
    chosen = row["ways"].get(str(AUTO), {}).get("way", str(AUTO))
    return {
        "best fused": (fused, fused), "best separate": (separate, separate), "default weave": ("weave", "weave"),
        "auto": (str(AUTO), chosen),
    }  # fmt: skip


def cell(row: dict[str, Any], column: str) -> str:
    candidate, name = columns(row)[column]
    return f"{name} {speedup(row, candidate):.2f}" if candidate in row["ms"] else "-"


def summary(row: dict[str, Any]) -> str:
    state = "right" if row.get("right") else "WRONG"
    if "ms" not in row:
        return f"{row['name']:14} {state} {row.get('problem', '')[-600:]}"
    cells = "  ".join(
        f"{candidate} {speedup(row, candidate):.2f}"
        for candidate in sorted(row["ms"], key=lambda w: row["ms"][w][0])[:4]
    )
    ends = f"{cell(row, 'best fused')} | auto: {cell(row, 'auto')}"
    return f"{row['name']:14} {state} {row['ms'][BASELINE][0]:6.3f} ms  {cells} | {ends}"


def table(document: dict[str, Any]) -> str:
    rows = [row for row in document["candidates"] if "ms" in row]
    lines = [
        f"# Pairs of kernels on {document['gpu']}: {len(WAYS)} candidates for each, and the choice of auto",
        "",
        f"Driver {document['driver']}, commit {document['commit']}. `{document['command']}`",
        "",
        f"Speedup over two streams with the kernels as they are (medians of {REPEATS}), in the shapes of "
        "examples/kernels (suite A: the paper's). `x2 x4`: the first kernel coarsened by 2, the second by 4. A cap "
        "that a kernel keeps by itself is not timed again. Right: outputs equal those of separate launches bit for "
        "bit, but for contraction. All times are in the JSON file.",
        "",
    ]
    if rows:
        titles = list(columns(rows[0]))
        lines += [f"| pair | right | streams ms | {' | '.join(titles)} |", "|---" * (3 + len(titles)) + "|"]
        for row in rows:
            cells = " | ".join(cell(row, title) for title in titles)
            right = "yes" if row["right"] else "NO"
            lines.append(f"| {row['name']} | {right} | {row['ms'][BASELINE][0]:.3f} | {cells} |")
        found = [
            [speedup(r, candidate) for r in rows if (candidate := columns(r)[title][0]) in r["ms"]] for title in titles
        ]
        means = [f"{statistics.geometric_mean(own):.3f} of {len(own)}" if own else "-" for own in found]
        lines.append(f"| geomean | | | {' | '.join(means)} |")
    return "\n".join(lines) + "\n"
