"""Measures every tuned result of suites A (both shapes), B and D independently of the tuner, on a GPU.

    python -m benchmarks.independent [-o benchmarks/results] [--suites A,B,D] [--only gelu+harris,...] [--seed N]

The stored results are made again and written as machine code and launches, by all processors; each is then run by a
process of its own, which has nothing of goptx, under a time limit: on other data than the tuner's, in other places of
the memory, in another order. It is compared with the best that one has without goptx: the kernels as nvcc or their
framework made them, one after the other, on two streams and in a CUDA graph with two branches, the last two in both
orders. The exit status is 1 if a result is below 0.99 of that, wrong, or was not measured. Needs ptxas, cuda-python.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from datetime import date
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))  # where the suites are

from measuring import command_line, environment

import goptx
from independent.cases import SUITES, Case, cases, write
from independent.table import BAR, is_right, speedup, summary, table

CHILD = Path(__file__).parent / "measuring_child.py"
LIMIT = 60  # seconds for a case


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--suites", default=",".join(SUITES), help="only these of %(default)s")
    parser.add_argument("--shapes", help="of suite A only these, such as natural")
    parser.add_argument("--only", help="only these pairs, such as gelu+harris,lud+lud")
    parser.add_argument("--seed", type=int, default=20261123, help="of the data, of the places and of the order")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes that make kernels")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    options = parser.parse_args()
    begin = time.monotonic()
    wanted = [case for case in cases() if _is_wanted(case, options)]
    document: dict[str, Any] = {
        "date": date.today().isoformat(),
        "command": command_line(options.output, "-m benchmarks.independent"),
        **environment(options.commit),
        "seed": options.seed,
        "rows": [],
    }
    for row in measured(wanted, options.seed, options.workers):
        document["rows"].append(row)
        print(summary(row), flush=True)
        document["seconds"] = round(time.monotonic() - begin)
        if options.output is not None:  # results so far are stored, even if a later one fails
            options.output.mkdir(parents=True, exist_ok=True)
            stem = options.output / f"{document['date']}-{document['gpu_short']}-independent"
            stem.with_suffix(".json").write_text(json.dumps(document) + "\n")
            stem.with_suffix(".md").write_text(table(document))
    print(table(document))
    return 0 if all(is_right(row) and (speedup(row) or 0) >= BAR for row in document["rows"]) else 1


def _is_wanted(case: Case, options: argparse.Namespace) -> bool:
    if case.suite not in options.suites.split(","):
        return False
    if case.suite == "A" and options.shapes and case.shape not in options.shapes.split(","):
        return False
    return not options.only or case.name in options.only.split(",")


def measured(wanted: Sequence[Case], seed: int, workers: int) -> Iterator[dict[str, Any]]:
    """A row for each case, in order. Nothing is made while something is measured: that would take the host's time."""
    with (
        TemporaryDirectory(prefix="goptx-independent-") as name,
        ProcessPoolExecutor(workers, get_context("spawn")) as pool,
    ):
        written = [(case, pool.submit(write, case, Path(name))) for case in wanted]
        wait([future for _, future in written])
        for case, future in written:
            row = {"suite": case.suite, "shape": case.shape, "name": case.name}
            try:
                path = future.result()
            except goptx.GoptxError as error:
                yield {**row, "problem": str(error)}
                continue
            about = json.loads(path.read_text())
            facts = {key: about[key] for key in ("found", "claimed")}
            yield {**row, **facts, **in_child(path, seed)}


def in_child(path: Path, seed: int) -> dict[str, Any]:
    """What the child process measured, or the problem."""
    command = [sys.executable, str(CHILD), str(path), str(seed)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return {"problem": f"no answer within {LIMIT} s: hangs"}
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            return dict(json.loads(line.removeprefix("RESULT ")))
    return {"problem": (done.stdout + done.stderr)[-2000:]}


if __name__ == "__main__":
    sys.exit(main())
