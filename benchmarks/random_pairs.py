"""Pairs of random kernels, woven against separate: many on the emulator, or on a GPU.

    python benchmarks/random_pairs.py --pairs 20000 [--seed S] [--workers N] [-o benchmarks/results]
    python benchmarks/random_pairs.py --gpu --pairs 2000 [--examples] [--sanitizer 50] [-o benchmarks/results]

tests/random_kernels draws the kernels. On the emulator each pair is judged as in CI: strict, races looked for, two
orders of warps, all memory and the counts of executed instructions compared. On the GPU kernels are built with
contraction off; the woven kernel has to leave what separate launches leave, bit for bit. They run in a child process
that is replaced after a hang. What separate launches leave is compared with the emulator's too; kernels with
approximate instructions are counted apart there. --examples adds all pairs of examples/kernels, in the sizes for
checks; --sanitizer runs that many pairs under compute-sanitizer. A pair that fails is written to --keep, one that fails
on the emulator after minutes of shrinking if --shrink is given. The exit status is 1 if anything differs, hangs or
fails. --gpu needs ptxas, cuda-python and CuPy.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from measuring import command_line, environment
from suite_a import FOLDER

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))  # for the random kernels

from pairs.children import Children
from pairs.emulating import emulated, row
from pairs.job import EXAMPLE_NAMES, RANDOM, SHAPED, Job, example_jobs, random_jobs
from pairs.report import table
from pairs.sanitizer import sanitized

SEPARATE = "a separate kernel hangs"  # ptxas 13.0 and loops that lanes apart enter in two ways (-O1 and above)
EACH = 100  # random pairs of one seed for the GPU
KINDS = {RANDOM: "random pairs", SHAPED: "random pairs in shapes of their own"}  # by the first word of their names


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--pairs", type=int, default=200, help="how many")
    parser.add_argument("--strategy", default="weave", help="weave (default), vertical, horizontal or interleave")
    parser.add_argument("--seed", type=int, default=100_000, help="the first seed; others follow it")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes that emulate or assemble")
    parser.add_argument("--keep", type=Path, help="folder for pairs that fail")
    parser.add_argument("--shrink", action="store_true", help="pairs that fail on the emulator")
    parser.add_argument("--gpu", action="store_true", help="on the GPU")
    parser.add_argument("--examples", action="store_true", help="with --gpu: the pairs of examples/kernels too")
    parser.add_argument("--sanitizer", type=int, default=0, metavar="N", help="with --gpu: N pairs under the sanitizer")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    options = parser.parse_args()
    os.environ["GOPTX_CACHE_SIZE"] = "0"  # what is on trial is weaving; nobody asks for these pairs again
    begin = time.monotonic()
    found = on_gpu(options) if options.gpu else on_cpu(options)
    where = (
        environment(options.commit) if options.gpu else {"cpu": processor(), "commit": options.commit or described()}
    )
    document = {
        "suite": "random pairs",
        "command": command_line(options.output),
        **where,
        "versions": {"python": platform.python_version(), "numpy": np.__version__, "hypothesis": version("hypothesis")},
        "strategy": options.strategy,
        "workers": options.workers,
        "seconds": round(time.monotonic() - begin),
        **found,
    }
    print(table(document))
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        stem = f"{date.today().isoformat()}-{document.get('gpu_short', 'cpu')}-random_pairs"
        stem += "" if options.strategy == "weave" else f"_{options.strategy}"
        (options.output / f"{stem}.json").write_text(json.dumps(document, indent=1) + "\n")
        (options.output / f"{stem}.md").write_text(table(document))
    return 0 if document["right"] else 1


# On the emulator ------------------------------------------------------------------------------------------


def on_cpu(options: argparse.Namespace) -> dict[str, Any]:
    refused, census, rows = Counter[str](), Counter[str](), []
    count = 0
    for done in emulated(options.pairs, options.seed, options.workers, options.shrink, options.strategy):
        count += done.pairs
        refused += done.refused
        census += done.census
        rows.append(row(done))
        if done.failing is not None:
            print(f"seed {done.seed}: {done.failure[:500]}", flush=True)
            if options.keep:
                keep(options.keep / f"seed_{done.seed}.ptx", done.failing.file(done.failure))
        if len(rows) % 10 == 0:
            print(f"{count} pairs, {refused.total()} declined", flush=True)
    failures = [r for r in rows if r["failure"]]
    return {
        "pairs": count,
        "first_seed": options.seed,
        "seeds": sorted((r["seed"], r["pairs"]) for r in rows),
        "declined": dict(refused.most_common()),
        "failures": failures,
        "census": dict(sorted(census.items())),
        "right": not failures,
    }


def keep(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def described() -> str:
    command = ["git", "-C", str(FOLDER), "describe", "--always", "--dirty"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


# On a GPU -------------------------------------------------------------------------------------------------


def on_gpu(options: argparse.Namespace) -> dict[str, Any]:
    children = Children()
    tally, declined, others = Counter[str](), Counter[str](), []
    chosen: list[Job] = []
    for job, answer in children.answers(prepared(options)):
        kind = KINDS.get(job.name.split()[0], "example pairs")
        if answer.get("refused"):
            declined[answer["refused"]] += 1
            continue
        tally[kind] += 1
        if kind != "example pairs" and not job.problem and len(chosen) < options.sanitizer:
            chosen.append(job)
        outcome = verdict(job, answer)
        tally[outcome] += 1
        tally["bytes compared"] += answer.get("bytes", 0)
        if outcome not in ("right", "right, approximations differ from the emulator"):
            others.append({"pair": job.name, "outcome": outcome, **answer})
            print(job.name, outcome, json.dumps(answer)[:300], flush=True)
            if options.keep and job.case:
                keep(options.keep / f"{job.name.replace(' ', '_')}.ptx", job.case.file(f"{outcome} {answer}"))
        if sum(tally[k] for k in ("example pairs", *KINDS.values())) % 100 == 0:
            print(dict(tally), flush=True)
    checked = sanitized(chosen) if chosen else []
    right = all(o["outcome"] in ("differs from the emulator", SEPARATE) for o in others)
    return {
        "pairs": sum(tally[k] for k in ("example pairs", *KINDS.values())),
        "first_seed": options.seed,
        "pairs_of_a_seed": EACH,
        "tally": dict(tally),
        "declined": dict(declined.most_common()),
        "children replaced": children.replaced,
        "others": others,
        "sanitizer": checked,
        "right": right and not any(r["new"] or r["problem"] for r in checked),
    }


def verdict(job: Job, answer: dict[str, Any]) -> str:
    if answer.get("hang"):
        return SEPARATE if answer.get("separate") else "hangs"
    if answer.get("problem"):
        return "fails"
    if answer["woven"]["count"]:
        return "differs from separate launches"
    if not answer["emulated"]["count"]:
        return "right"
    return "right, approximations differ from the emulator" if job.approximate else "differs from the emulator"


def prepared(options: argparse.Namespace) -> Iterator[Job]:
    """The jobs, made by all processors ahead of the GPU."""
    seeds = [options.seed + i for i in range(-(-options.pairs // EACH))]
    with multiprocessing.get_context("fork").Pool(options.workers) as pool:
        examples = partial(_examples, strategy=options.strategy)
        for jobs in pool.imap_unordered(examples, EXAMPLE_NAMES if options.examples else ()):
            yield from jobs
        for jobs in pool.imap_unordered(partial(_random, strategy=options.strategy), seeds):
            yield from jobs


def _examples(name: str, strategy: str) -> list[Job]:
    return list(example_jobs(name, strategy))


def _random(seed: int, strategy: str) -> list[Job]:
    return list(random_jobs(seed, EACH, strategy))


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(main())
