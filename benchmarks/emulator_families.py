"""The emulator against a GPU, instruction family by family: the same operands to both, results compared bit by bit.

    python benchmarks/emulator_families.py [-o benchmarks/results] [--family NAME] [--quick] [--dry-run]

Every opcode has an entry of its own, in which each thread takes its operands from memory, executes the instruction
once and stores what it gives. Operands are special values with each other and random ones, seeds are fixed. Each
family runs in a child process under a time limit; when one hangs or fails, the rest of the family follows in another.
The exit status is 1 if any value differs that may not, or any case could not be compared; what ptxas refuses for
sm_90a is listed separately. Needs ptxas, and, except with --dry-run, cuda-python and CuPy.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from datetime import date
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from measuring import command_line, environment

from goptx.device.assemble import assemble

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))  # for the lists of opcodes

from families.catalogue import FAMILIES
from families.comparison import compare
from families.entry import Case
from families.report import deviation, summary, table
from families.running import BATCH, Prepared, launch_on_gpu, prepare

TIME_LIMIT = 150  # seconds for one child
RESTARTS = 3  # of a family, each after a case that hung or failed
QUICK = 40  # with --quick, one of so many cases


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument(
        "--family", action="append", choices=FAMILIES, metavar="NAME", help="only this one; may be repeated"
    )
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    parser.add_argument("--quick", action="store_true", help=f"every {QUICK}th case of the large families")
    parser.add_argument("--dry-run", action="store_true", help="no GPU: assemble and emulate, compare nothing")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)  # the child's part: how many cases to skip
    options = parser.parse_args()
    if options.child is not None:
        run_family(options.family[0], options.child, options.quick, options.dry_run)
        return 0
    recorded = {} if options.dry_run else {**environment(options.commit), "versions": versions()}
    begin = time.monotonic()
    families = []
    for name in options.family or FAMILIES:
        families.append(in_children(name, options.quick, options.dry_run))
        print(summary(families[-1], options.dry_run), flush=True)
    right = 0 if all(family["right"] for family in families) else 1
    if options.dry_run:
        return right
    document = {
        "suite": "emulator families",
        "command": command_line(options.output),
        **recorded,
        "seconds": round(time.monotonic() - begin),
        "families": families,
    }
    print(table(document))
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        stem = (
            f"{date.today().isoformat()}-{document['gpu_short']}-emulator_families{'_quick' if options.quick else ''}"
        )
        (options.output / f"{stem}.json").write_text(json.dumps(document, indent=1) + "\n")
        (options.output / f"{stem}.md").write_text(table(document))
    return right


def versions() -> dict[str, str]:
    found = {"python": sys.version.split()[0]}
    for package in ("numpy", "cuda-core", "cuda-bindings", "cupy-cuda13x", "cupy-cuda12x", "cupy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    smallest = ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry nothing() { ret; }\n"
    return found | {"assembler": assemble(smallest, entry="nothing").assembler}


# The parent's part ----------------------------------------------------------------------------------------


def in_children(name: str, quick: bool, dry_run: bool) -> dict[str, Any]:
    """The rows of a family's cases, from as many children as it takes."""
    rows: list[dict[str, Any]] = []
    begin, problem = time.monotonic(), ""
    for _ in range(1 + RESTARTS):
        output, problem = child(name, len(rows), quick, dry_run)
        lines = output.splitlines()
        rows += [json.loads(line.removeprefix("RESULT ")) for line in lines if line.startswith("RESULT ")]
        if "DONE" in lines:
            problem = ""
            break
        running = [line.removeprefix("BEGIN ") for line in lines if line.startswith("BEGIN ")]
        if not running:
            break
        if not rows or rows[-1]["name"] != running[-1]:
            rows.append({"name": running[-1], "problem": problem[-500:]})
    return collected(name, rows, problem, round(time.monotonic() - begin, 1))


def child(name: str, skip: int, quick: bool, dry_run: bool) -> tuple[str, str]:
    """What the child printed, and what went wrong if it did not come to its end."""
    command = [sys.executable, __file__, "--family", name, "--child", str(skip)]
    command += ["--quick"] * quick + ["--dry-run"] * dry_run
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
    except subprocess.TimeoutExpired as expired:
        return (expired.stdout or b"").decode(), f"no answer within {TIME_LIMIT} s: hangs"
    return done.stdout, (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1]


def collected(name: str, rows: list[dict[str, Any]], problem: str, seconds: float) -> dict[str, Any]:
    """A family's sums, the cases that agree to the last bit by their names alone, and the others in full."""
    compared = [row for row in rows if "values" in row]
    refused = [row for row in rows if "refused" in row]
    plain = [row for row in compared if row["equal"] == row["values"]]
    sums = {key: sum(row[key] for row in compared) for key in ("lanes", "values", "equal", "payload", "within", "open")}
    unlike = [row for row in compared if deviation(row)]
    wrong = [row for row in rows if "problem" in row or (row.get("wrong") and not deviation(row))]
    return {
        "family": name,
        "open": FAMILIES[name].open,
        "right": bool(compared) and not wrong and not problem,
        "problem": problem,
        "seconds": seconds,
        "cases": len(compared),
        "sums": sums,
        "worst": max((row["worst"] for row in compared), default=0.0),
        "wrong": sum(row.get("wrong", 0) for row in wrong),
        "broken": sum("problem" in row for row in rows) + bool(problem),
        "unlike": sum(row["wrong"] for row in unlike),
        "all bits equal": [row["name"] for row in plain],
        "others": [row for row in rows if row not in plain and row not in refused],
        "refused": {row["name"]: row["refused"] for row in refused},
    }


# The child's part -----------------------------------------------------------------------------------------


@cache
def cases_of(name: str, quick: bool) -> list[Case]:
    cases = FAMILIES[name].cases()
    return cases[:: max(1, min(QUICK, len(cases) // 8))] if quick else cases


def prepare_batch(job: tuple[str, bool, int]) -> list[Prepared]:
    name, quick, first = job
    return prepare(cases_of(name, quick)[first : first + BATCH])


def run_family(name: str, skip: int, quick: bool, dry_run: bool) -> None:
    """Prints `BEGIN name` and `RESULT row` for each case, then DONE."""
    cases = cases_of(name, quick)
    for case, each in zip(cases[skip:], prepared_cases(name, quick, skip), strict=True):
        print(f"BEGIN {case.name}", flush=True)
        row: dict[str, Any] = {"name": case.name}
        if each.refusal:
            row["refused" if "requires .target" in each.refusal else "problem"] = each.refusal
        elif each.trouble:
            row["problem"] = each.trouble
        elif not dry_run:
            verdict = compare(case, launch_on_gpu(case, each), each.emulated)
            row |= {"lanes": case.threads, **asdict(verdict)}
        else:
            row |= {"lanes": case.threads, **asdict(compare(case, each.emulated, each.emulated))}
        print(f"RESULT {json.dumps(row)}", flush=True)
    print("DONE", flush=True)


def prepared_cases(name: str, quick: bool, skip: int) -> Iterator[Prepared]:
    """Assembled and emulated by all processors, all of them before the first is launched: CUDA stands no fork."""
    cases = cases_of(name, quick)
    jobs = [(name, quick, first) for first in range(skip, len(cases), BATCH)]
    if not jobs:
        return
    with multiprocessing.get_context("fork").Pool(min(os.cpu_count() or 1, len(jobs))) as pool:
        batches = pool.map(prepare_batch, jobs, chunksize=1)
    for batch in batches:
        yield from batch


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(main())
