"""The ablation of the GoPTX paper on a GPU: its merge as published and goptx's, with slicing, with weaving, with both.

Each is measured without a register cap and under the paper's caps, and weaving with slices at the mean block latency
beside the paper's fixed thresholds. In the paper's shape, since the published merge takes kernels of one shape only.
"""

from __future__ import annotations

import json
import statistics
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import goptx
from goptx.errors import ConvergenceWarning
from goptx.options import Merging, Policy, Slicing
from goptx.tuning.measured import Measured
from goptx.view.bars import Bars, Group
from suite_a import HALF, PAPER
from suite_a.report import SPEEDUP, UNCHANGED, baseline, speedup
from suite_a.runs import REPEATS, Row, run_all
from suite_a.schemes import Done, Form, Subject, Task, done, measured_of, under_caps

MERGES: Mapping[str, Merging] = {"published merge": "paper", "merge": "safe"}
PARTS: Mapping[str, tuple[Policy, Slicing]] = {
    "": ("concat", None),
    ", slicing": ("concat", "adaptive"),
    ", weaving": ("paper", None),
    ", slicing, weaving": ("paper", "adaptive"),
}
THRESHOLDS = (256, 512, 768, 1024)  # cycles, of the paper
ADAPTIVE = ", slicing, weaving"
NAMED: Mapping[str, str] = {  # pairs that the paper names, with its speedup over two streams on an A100
    "lud+stms": "1.23", "gelu+wmma": "0.98", f"{HALF}+wmma": "0.98", "harris+wmma": "1.20",
}  # fmt: skip
PAPERS_MEANS = "merge 1.097, slicing -0.6 and then weaving +2.1 points, weaving without slicing +0.3, in all 1.112"


def _under_caps(measured: Measured, merging: Merging, policy: Policy, slicing: Slicing) -> Iterator[Form]:
    yield from under_caps(*_free(measured, merging, policy, slicing))


def _free(measured: Measured, merging: Merging, policy: Policy, slicing: Slicing) -> Iterator[Form]:
    if merging == "safe":
        yield Form(goptx.weave(*measured.kernels, shapes=measured.shapes, policy=policy, slicing=slicing))
        return
    one, other = measured.shapes
    if one != other:
        raise goptx.CannotWeave("it takes kernels of one shape", rule="published-merge")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield Form(goptx.weave(*measured.kernels, merge="paper", policy=policy, slicing=slicing), common=one)


def _fixed(merge: str, threshold: int) -> str:
    return f"{merge}, slicing {threshold}, weaving"


SCHEMES: Mapping[str, Callable[[Measured], Iterator[Form]]] = {
    f"{merge}{part}": partial(_under_caps, merging=merging, policy=policy, slicing=slicing)
    for merge, merging in MERGES.items()
    for part, (policy, slicing) in PARTS.items()
} | {
    _fixed(merge, threshold): partial(_free, merging=merging, policy="paper", slicing=threshold)
    for merge, merging in MERGES.items()
    for threshold in THRESHOLDS
}


def tasks_of(subject: Subject) -> list[Task]:
    return [Task(subject, scheme) for scheme in SCHEMES]


def made(task: Task) -> Done:
    """What a process of a pool does."""
    return done(task, SCHEMES[task.scheme](measured_of(task.subject)))


def measure(
    pairs: Sequence[str], document: dict[str, Any], path: Path | None, devices: Sequence[int], workers: int
) -> Iterator[str]:
    """Adds a row for each pair to `document["pairs"]`, unless it has one; gives a line of each. What is known is stored
    at `path`, as JSON and as a table, after each pair."""
    there = {row["name"] for row in document["pairs"]}
    subjects = [Subject(pair, PAPER) for pair in pairs if pair not in there]
    for row in run_all(subjects, tasks_of, made, devices, workers) if subjects else ():
        document["pairs"].append(row)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n")
            path.with_suffix(".md").write_text(table(document))
        cells = "  ".join(f"{scheme} {cell(row, scheme)}" for scheme in SCHEMES)
        problem = row.get("problem", "")
        yield f"{row['name']:14} {'' if row['right'] else 'NOT RIGHT '}{cells} {problem} ({row.get('seconds')} s)"


def free(row: Row, scheme: str) -> float | None:
    """The speedup without a register cap."""
    ms = row.get("ms", {})
    return ms[baseline(row)][0] / ms[scheme][0] if scheme in ms else None


def cell(row: Row, scheme: str) -> str:
    """The speedup without a cap, and the best of all caps if one is faster."""
    plain, best = free(row, scheme), speedup(row, scheme)
    if plain is None:
        return "-" if best is None else f"- / {best:.2f}"
    return f"{plain:.2f}" if best is None or f"{best:.2f}" == f"{plain:.2f}" else f"{plain:.2f} / {best:.2f}"


TEXT = (
    "{} in the paper's shape (medians of {} runs, in turn). A cell has the speedup without a register cap, and after a "
    "stroke the best of the paper's caps (32, 40, 48, 64, 80, 128; 256 is no cap), where one is faster. `merge` is "
    "goptx's, under its rules for convergence; the published merge need not be right: `-` where it hangs or is wrong. "
    "On an A100 the paper has, in the mean of its 28 pairs over two streams: {}."
)


def table(document: Mapping[str, Any]) -> str:
    """The whole report."""
    rows = document["pairs"]
    lines = [
        f"# Suite A, the ablation of the GoPTX paper, on {document['gpu']}",
        "",
        f"{document['date']}, driver {document['driver']}, commit {document['commit']}. `{document['command']}`",
        "",
        TEXT.format(SPEEDUP[0].upper() + SPEEDUP[1:], REPEATS, PAPERS_MEANS),
    ]
    for merge, title in {"published merge": "The published merge", "merge": "goptx's merge"}.items():
        lines += ["", f"## {title}", "", *_ablation(rows, merge)]
    for merge, title in {"published merge": "the published merge", "merge": "goptx's merge"}.items():
        lines += ["", f"## Slices by the mean block latency and by fixed cycles, {title}", "", *_slices(rows, merge)]
    if named := [row for row in rows if row["name"] in NAMED]:
        lines += ["", "## The pairs that the paper names", "", *_named(named)]
    return "\n".join(lines) + "\n"


def _ablation(rows: Sequence[Row], merge: str) -> Iterator[str]:
    schemes = [f"{merge}{part}" for part in PARTS]
    yield f"| pair | best separate, ms | {' | '.join(schemes)} |"
    yield "|---" * (2 + len(schemes)) + "|"
    for row in rows:
        yield f"| {row['name']} | {_separate(row)} | {' | '.join(cell(row, scheme) for scheme in schemes)} |"
    yield f"| geomean, no cap | | {' | '.join(_mean([free(r, s) for r in rows]) for s in schemes)} |"
    yield f"| geomean, best cap | | {' | '.join(_mean([speedup(r, s) for r in rows]) for s in schemes)} |"


def _slices(rows: Sequence[Row], merge: str) -> Iterator[str]:
    schemes = {"mean": f"{merge}{ADAPTIVE}"} | {str(t): _fixed(merge, t) for t in THRESHOLDS}
    yield f"| pair | {' | '.join(schemes)} |"
    yield "|---" * (1 + len(schemes)) + "|"
    for row in rows:
        cells = (_number(free(row, scheme)) for scheme in schemes.values())
        yield f"| {row['name']} | {' | '.join(cells)} |"
    yield f"| geomean | {' | '.join(_mean([free(r, s) for r in rows]) for s in schemes.values())} |"


def _named(rows: Sequence[Row]) -> Iterator[str]:
    schemes = [f"{merge}{ADAPTIVE}" for merge in MERGES]
    yield f"| pair | on an A100 (paper) | {' | '.join(schemes)} |"
    yield "|---" * (2 + len(schemes)) + "|"
    for row in rows:
        yield f"| {row['name']} | {NAMED[row['name']]} | {' | '.join(cell(row, scheme) for scheme in schemes)} |"


def chart(document: Mapping[str, Any]) -> Bars:
    """Geometric means of the parts and of the fixed slices, of the pairs that have all of them."""
    rows = [row for row in document["pairs"] if all(free(row, scheme) is not None for scheme in SCHEMES)]
    groups = []
    for part in (*PARTS, *(f", slicing {cycles}, weaving" for cycles in THRESHOLDS)):
        schemes = [f"{merge}{part}" for merge in MERGES]
        values = [statistics.geometric_mean([free(r, s) or 1.0 for r in rows]) if rows else None for s in schemes]
        groups.append(Group(f"merge{part}", "", tuple(values), 2.0, UNCHANGED))
    title = f"Ablation of the GoPTX paper on {document['gpu']}, {len(rows)} pairs, no register caps"
    return Bars(title, ("as published", "goptx's merge"), 1, tuple(groups), f"geometric mean of {SPEEDUP}", digits=2)


def _separate(row: Row) -> str:
    return f"{row['ms'][baseline(row)][0]:.3f}" if row.get("ms") else row.get("problem", "-")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _mean(found: Sequence[float | None]) -> str:
    known = [value for value in found if value is not None]
    if not known:
        return "-"
    return f"{statistics.geometric_mean(known):.3f}" + (f" of {len(known)}" if len(known) < len(found) else "")
