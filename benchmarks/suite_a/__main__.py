"""Suite A on a GPU, in the paper's shape and in the natural one: all 28 pairs and the single kernels coarsened.

    python -m benchmarks.suite_a [-o benchmarks/results] [--pairs gelu+harris,...] [--shapes paper,natural] [--small]
    python -m benchmarks.suite_a --schemes "merge; merge, slicing" [--shapes paper] [-o benchmarks/results]
    python -m benchmarks.suite_a --tune [--pairs ...] [--shapes ...] [--resume]
    python -m benchmarks.suite_a --candidates [--pairs ...] [--shapes paper] [-o benchmarks/results]
    python -m benchmarks.suite_a --bounds benchmarks/results/DATE-GPU-suite_a.json
    python -m benchmarks.suite_a --ablation [--pairs ...] [--resume] [-o benchmarks/results]

Kernels are made by all processors before the GPU needs them; its process is reused, and replaced only after a hang.
First results are compared: a scheme has to write what separate launches write. Then all schemes for a pair are timed,
their runs interleaved with those of the kernels on two streams and in a CUDA graph with two branches. `tuned` is the
content of best.json, which `--tune` makes anew for these pairs, on several GPUs side by side with `--devices`;
`--resume` resumes an interrupted `--tune`. `--candidates` measures 50 candidates for each pair and the choice of auto,
for benchmarks/auto_choice.py; their pairs may be of any kernels in examples/kernels, such as reduce+softmax.
`--schemes` runs only some, named as in the table's head, and writes DATE-GPU-suite_a_schemes.json.
`--ablation` measures the paper's merge and goptx's with slicing, weaving and both, under the paper's register caps and
with its fixed slices (ablation.py); GELU in half precision is one more kernel there. `--resume` keeps the pairs in
the results of the same day and commit.
`--bounds` adds the share of the resource bound to stored results, by the newest benchmarks/profiles; needs no GPU.
`--small` compares in the sizes for checks and times nothing. Needs cuda-python.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))  # where the other suites are

from measuring import command_line, environment
from profiles.rows import bounds, newest

from suite_a import HALF_PAIRS, KERNELS, PAIRS, PAPER, SHAPES, ablation, candidates, report
from suite_a.best import tune_all
from suite_a.runs import run_all
from suite_a.schemes import SCHEMES, SINGLE, Subject, made, tasks_of

RESULTS = Path(__file__).parents[1] / "results"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--pairs", help="only these, such as gelu+harris,lud+lud")
    parser.add_argument("--shapes", default=",".join(SHAPES), help="only these of %(default)s")
    parser.add_argument("--schemes", help=f"only these, between semicolons, of {'; '.join(SCHEMES)}")
    parser.add_argument("--tune", action="store_true", help="make best.json anew")
    parser.add_argument("--resume", action="store_true", help="with --tune, --ablation: go on with an interrupted run")
    parser.add_argument("--ablation", action="store_true", help="the paper's merge and goptx's in parts, under caps")
    parser.add_argument("--bounds", type=Path, metavar="FILE", help="add the share of the bound to these results")
    parser.add_argument("--candidates", action="store_true", help="50 candidates for running each pair")
    parser.add_argument("--devices", default="0", help="GPUs that measure side by side, such as 0,1")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes that make kernels")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    parser.add_argument("--small", action="store_true", help="the sizes of [check]: compare, do not time")
    options = parser.parse_args()
    if options.bounds:
        return _bounds(options.bounds)
    every = [*PAIRS, *HALF_PAIRS] if options.ablation else PAIRS
    options.pairs = options.pairs.split(",") if options.pairs else list(every)
    options.shapes = options.shapes.split(",")
    options.schemes = list(map(str.strip, options.schemes.split(";"))) if options.schemes else list(SCHEMES)
    if unknown := [scheme for scheme in options.schemes if scheme not in SCHEMES]:
        parser.error(f"--schemes: {'; '.join(unknown)}: no such scheme; choose from {'; '.join(SCHEMES)}")
    options.devices = list(map(int, options.devices.split(",")))
    if options.tune:
        for line in tune_all(options.pairs, options.shapes, options.devices, options.workers, options.resume):
            print(line, flush=True)
        return 0
    document = {
        "suite": "A",
        "date": date.today().isoformat(),
        "command": command_line(options.output, "-m benchmarks.suite_a"),
        **environment(options.commit),
    }
    if options.ablation:
        return _ablation(options, document)
    return (_candidates if options.candidates else _suite)(options, document)


def _suite(options: argparse.Namespace, document: dict[str, Any]) -> int:
    begin = time.monotonic()
    some = len(options.schemes) < len(SCHEMES)
    single = list(KERNELS) if set(options.pairs) == set(PAIRS) and not SINGLE.keys().isdisjoint(options.schemes) else []
    subjects = [Subject(name, shape, options.small) for shape in options.shapes for name in (*options.pairs, *single)]
    rows = run_all(
        subjects,
        partial(tasks_of, only=options.schemes),
        made,
        options.devices,
        options.workers,
        timed=not options.small,
    )
    document |= {"pairs": {s: [] for s in options.shapes}, "single": {s: [] for s in options.shapes}}
    right = True
    for subject, row in zip(subjects, rows, strict=True):
        document["pairs" if "+" in subject.name else "single"][subject.shape].append(row)
        right &= row["right"]
        print(f"{subject.shape:8}", report.summary(row), flush=True)
    document |= {"seconds": round(time.monotonic() - begin), "assembler": _assembler(document)}
    document = _with_bounds(document)
    print(report.table(document))
    if options.output is not None:
        stem = f"{document['date']}-{document['gpu_short']}-suite_a" + "_schemes" * some + "_small" * options.small
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / f"{stem}.json").write_text(json.dumps(document, indent=1) + "\n")
        (options.output / f"{stem}.md").write_text(report.table(document))
        if options.small or some:
            return 0 if right else 1
        (options.output / f"{stem}.svg").write_text(report.overview(document)._repr_svg_())
        for shape in options.shapes:
            (options.output / f"{stem}_{shape}.svg").write_text(report.chart(document, shape)._repr_svg_())
    return 0 if right else 1


def _ablation(options: argparse.Namespace, document: dict[str, Any]) -> int:
    path = options.output and options.output / f"{document['date']}-{document['gpu_short']}-suite_a_ablation.json"
    stored = json.loads(path.read_text()) if options.resume and path and path.exists() else {}
    document |= {"pairs": stored["pairs"] if stored.get("commit") == document["commit"] else []}
    for line in ablation.measure(options.pairs, document, path, options.devices, options.workers):
        print(line, flush=True)
    print(ablation.table(document))
    if path:
        path.with_suffix(".svg").write_text(ablation.chart(document)._repr_svg_())
    return 0 if all(row["right"] for row in document["pairs"]) else 1


def _with_bounds(document: dict[str, Any]) -> dict[str, Any]:
    """With what the resources of the GPU allow each pair, where profiles of the same GPU are stored."""
    found = newest(RESULTS, document["gpu_short"])
    return document | {"bounds": bounds(found), "bounds_of": f"profiles of {found['date']}"} if found else document


def _bounds(path: Path) -> int:
    document = _with_bounds(json.loads(path.read_text()))
    path.write_text(json.dumps(document, indent=1) + "\n")
    path.with_suffix(".md").write_text(report.table(document))
    return 0 if "bounds" in document else 1


def _assembler(document: dict[str, Any]) -> str:
    rows = [row for part in ("pairs", "single") for of in document[part].values() for row in of]
    return next((f["assembler"] for row in rows for f in row["schemes"].values() if "assembler" in f), "no assembler")


def _candidates(options: argparse.Namespace, document: dict[str, Any]) -> int:
    """In one shape."""
    shape = options.shapes[0]
    document |= {"shape": shape, "candidates": []}
    others = any(kernel not in KERNELS for pair in options.pairs for kernel in pair.split("+"))
    name = f"{document['date']}-{document['gpu_short']}-" + ("examples" if others else "suite_a")
    name += "" if shape == PAPER else f"_{shape}"
    subjects = [Subject(pair, shape) for pair in options.pairs]
    for row in run_all(subjects, candidates.tasks_of, candidates.made, options.devices, options.workers):
        document["candidates"].append(candidates.renamed(row))
        print(candidates.summary(row), flush=True)
        if options.output is not None:  # results so far are stored, even if a later pair fails
            options.output.mkdir(parents=True, exist_ok=True)
            (options.output / f"{name}_candidates.json").write_text(json.dumps(document, indent=1) + "\n")
            (options.output / f"{name}_candidates.md").write_text(candidates.table(document))
    print(candidates.table(document))
    return 0 if all(row["right"] for row in document["candidates"]) else 1


if __name__ == "__main__":
    sys.exit(main())
