"""Random kernels made one in every way, against separate launches: many on the emulator, or on a GPU.

    python benchmarks/random_pairs.py --pairs 20000 [--seed S] [--workers N] [-o benchmarks/results]
    python benchmarks/random_pairs.py --strategy all|NAME[,PATTERN...] --pairs 2000
    python benchmarks/random_pairs.py --gpu --pairs 2000 [--regressions] [--examples] [--sanitizer 50] [-o FOLDER]

tests/random_kernels draws the kernels, and has the ways (`ways.py`): strategies, coarsened kernels and so on; --pairs
are compared of each, those that are declined not counted. --generator old draws by the generator of the results of
2026-11-22, whose seeds give the same cases, to compare what is declined. On the emulator each pair is judged as in CI:
strict, races looked for, several orders of warps, all memory and the counts of executed instructions compared. On the
GPU kernels are built with contraction off; the woven kernel has to leave what separate launches leave, bit for bit.
They run in --children processes side by side, on --devices in turn; one is replaced after a hang, and holds up no
other. The results of separate launches are compared with the emulator's too; kernels with approximate instructions are
counted separately there. --regressions adds the regressions of each way, --examples all pairs of examples/kernels, in
the sizes for checks, to the strategies; --sanitizer runs that many pairs of each way under compute-sanitizer. A pair
that fails is written to --keep, one that fails on the emulator after minutes of shrinking if --shrink is given. The
results of several ways go to one file, which also has those of earlier runs of the day with other ways; --name gives
files of another name. --seconds ends a run early, with the results that there are. The exit status is 1 if anything
differs, hangs or fails, or too few are left of those that were drawn. --gpu needs ptxas, cuda-python and CuPy.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from fnmatch import filter as matching
from importlib.metadata import version
from math import inf
from pathlib import Path
from typing import Any

import host
import numpy as np
from measuring import command_line, environment

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))  # for the random kernels

from pairs.children import Children
from pairs.emulating import emulated
from pairs.job import EACH, EXAMPLE_NAMES, Job, example_jobs, random_jobs, regression_jobs
from pairs.report import table
from pairs.sanitizer import sanitized
from random_kernels.composed import STRATEGIES
from random_kernels.drawing import GENERATORS
from random_kernels.ways import WAYS

# ptxas 13.0 loses lanes in loops that they enter in two ways, from -O1 on.
SEPARATE = "a separate kernel hangs, fails or is not what the emulator says"
RIGHT = ("right", "right, approximations differ from the emulator")
SEEDS = 10_000  # from one way to the next
KINDS = {
    "kept": "cases that failed once",  # word: kept, a key of stored results
    "random": "random pairs",
    "shaped": "random pairs in shapes of their own",
}  # by the first word of their names


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--name", default="", help="goes into the names of the files of results, after a _")
    parser.add_argument("--generator", choices=GENERATORS, default="new", help="that draws the kernels")
    parser.add_argument(
        "--children", type=int, default=1, metavar="N", help="with --gpu: processes that launch kernels"
    )
    devices = os.environ.get("CUDA_VISIBLE_DEVICES") or "0"
    parser.add_argument("--devices", default=devices, help="with --gpu: for the children in turn, with commas between")
    parser.add_argument("--pairs", type=int, default=200, help="how many to compare, of each way")
    parser.add_argument(
        "--strategy", default="weave", help=f"ways or patterns with commas between, or all: {'; '.join(WAYS)}"
    )
    parser.add_argument("--seed", type=int, default=100_000, help="the first seed; others follow it")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes that emulate or assemble")
    parser.add_argument("--seconds", type=float, default=inf, help="after which no more is waited for")
    parser.add_argument("--keep", type=Path, help="folder for pairs that fail")
    parser.add_argument("--shrink", action="store_true", help="pairs that fail on the emulator")
    parser.add_argument("--gpu", action="store_true", help="on the GPU")
    parser.add_argument("--regressions", action="store_true", help="with --gpu: regressions too")
    parser.add_argument("--examples", action="store_true", help="with --gpu: the pairs of examples/kernels too")
    parser.add_argument("--sanitizer", type=int, default=0, metavar="N", help="with --gpu: N pairs under the sanitizer")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    options = parser.parse_args()
    patterns = "*" if options.strategy == "all" else options.strategy
    chosen = [way for pattern in patterns.split(",") for way in matching(WAYS, pattern)]
    if not chosen:
        parser.error(f"--strategy {options.strategy}: no such way; there are {', '.join(WAYS)}.")
    first = {way: options.seed + SEEDS * list(WAYS).index(way) for way in dict.fromkeys(chosen)}
    os.environ["GOPTX_CACHE_SIZE"] = "0"  # what is on trial is weaving; nobody asks for these pairs again
    begin = time.monotonic()
    end = begin + options.seconds
    found = on_gpu(options, first, end) if options.gpu else on_cpu(options, first, end)
    commit = options.commit or host.commit()
    where = environment(commit) if options.gpu else {"cpu": host.processor(), "commit": commit}
    document = {
        "suite": "random pairs",
        **where,
        "versions": {"python": platform.python_version(), "numpy": np.__version__, "hypothesis": version("hypothesis")},
        "generator": options.generator,
        "workers": options.workers,
        "runs": [
            {"command": command_line(options.output), "commit": commit, "seconds": round(time.monotonic() - begin)}
        ],
        "ways": found,
    }
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        own = "" if [*first] == ["weave"] else re.sub(r"\W+", "_", f"_{next(iter(first))}")
        stem = f"{date.today().isoformat()}-{document.get('gpu_short', 'cpu')}-random_"
        stem += "strategies" if len(first) > 1 else f"pairs{own}"
        stem += f"_{options.name}" if options.name else ""
        path = options.output / f"{stem}.json"
        if len(first) > 1 and path.exists():
            earlier = json.loads(path.read_text())
            ways = {**earlier["ways"], **found}
            document["ways"] = {way: ways[way] for way in WAYS if way in ways}
            document["runs"] = [*earlier["runs"], *document["runs"]]
        path.write_text(json.dumps(document, indent=1) + "\n")
        path.with_suffix(".md").write_text(table(document))
    print(table(document))
    enough = all(way["drawn"] - sum(way["declined"].values()) >= options.pairs for way in found.values())
    return 0 if enough and all(way["right"] for way in found.values()) else 1


# On the emulator ------------------------------------------------------------------------------------------


def on_cpu(options: argparse.Namespace, first: Mapping[str, int], end: float) -> dict[str, Any]:
    found = {way: Emulated(seed) for way, seed in first.items()}
    seeds = emulated(first, options.pairs, options.workers, options.shrink, end, options.generator)
    for number, done in enumerate(seeds):
        way = found[done.way]
        way.drawn += done.drawn
        way.compared += done.compared
        way.refused += done.refused
        way.census += done.census
        way.seconds += done.seconds
        way.seeds.append((done.seed, done.compared))
        if done.failing is not None:
            way.failures.append({"seed": done.seed, "failure": done.failure})
            print(f"{done.way}, seed {done.seed}: {done.failure[:500]}", flush=True)
            if options.keep:
                keep(options.keep / f"{done.way.replace(' ', '_')}_{done.seed}.ptx", done.failing.file(done.failure))
        if number % 40 == 39:
            print(f"{sum(w.compared for w in found.values())} pairs, last of {done.way}", flush=True)
    return {way: own.row() for way, own in found.items()}


@dataclass(slots=True)
class Emulated:
    """What became of the cases of one way; `seconds` are those of processors. Invalid are cases of which a kernel does
    something wrong alone, which is a fault of the random kernels."""

    first_seed: int
    drawn: int = 0
    compared: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    census: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    seeds: list[tuple[int, int]] = field(default_factory=list)
    failures: list[dict[str, Any]] = field(default_factory=list)

    def row(self) -> dict[str, Any]:
        invalid = sum(f["failure"].startswith("InvalidKernel") for f in self.failures)
        hangs = sum(bool(re.search(r"takes more than|step limit", f["failure"])) for f in self.failures)
        return {
            "pairs": self.compared,
            "drawn": self.drawn,
            "first_seed": self.first_seed,
            "seeds": sorted(self.seeds),
            "processor_seconds": round(self.seconds),
            "declined": dict(self.refused.most_common()),
            "wrong": len(self.failures) - hangs - invalid,
            "hangs": hangs,
            "invalid": invalid,
            "failures": self.failures,
            "census": dict(sorted(self.census.items())),
            "right": len(self.failures) == invalid,
        }


def keep(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


# On a GPU -------------------------------------------------------------------------------------------------


def on_gpu(options: argparse.Namespace, first: Mapping[str, int], end: float) -> dict[str, Any]:
    children = Children(options.children, options.devices.split(","))
    found = {way: OnGpu(seed) for way, seed in first.items()}
    chosen: list[Job] = []
    begin = time.monotonic()
    for number, (job, answer) in enumerate(children.answers(prepared(options, first, end))):
        way = found[job.way]
        way.seconds, begin = way.seconds + time.monotonic() - begin, time.monotonic()
        if answer.get("refused"):
            way.declined[answer["refused"]] += 1
            continue
        outcome = verdict(job, answer)
        way.add(job, outcome, answer)
        if outcome not in RIGHT:
            print(job.name, outcome, json.dumps(answer)[:300], flush=True)
            if options.keep and job.case:
                keep(options.keep / f"{job.name.replace(' ', '_')}.ptx", job.case.file(f"{outcome} {answer}"))
        if job.case and not job.problem and sum(j.way == job.way for j in chosen) < options.sanitizer:
            chosen.append(job)
        if number % 200 == 199:
            print(f"{sum(w.pairs for w in found.values())} pairs, last of {job.way}", flush=True)
    rows = {way: own.row() for way, own in found.items()}
    for name, row in rows.items():
        row["children replaced"] = children.replaced
        jobs = [job for job in chosen if job.way == name]
        row["sanitizer"] = sanitized(jobs) if jobs else []
        row["right"] &= not any(r["new"] or r["problem"] for r in row["sanitizer"])
    return rows


@dataclass(slots=True)
class OnGpu:
    """What became of the cases of one way; `seconds` are those that passed while waiting for them."""

    first_seed: int
    pairs: int = 0
    tally: Counter[str] = field(default_factory=Counter)
    declined: Counter[str] = field(default_factory=Counter)
    others: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, job: Job, outcome: str, answer: Mapping[str, Any]) -> None:
        self.pairs += outcome != SEPARATE  # of which nothing is left to compare with
        self.tally[KINDS[job.name.split()[0]] if job.case else "example pairs"] += 1
        self.tally[outcome] += 1
        self.tally["bytes compared"] += answer.get("bytes", 0)
        if outcome not in RIGHT:
            self.others.append({"pair": job.name, "outcome": outcome, **answer})

    def row(self) -> dict[str, Any]:
        known = ("differs from the emulator", SEPARATE)
        hangs = self.tally["hangs"]
        wrong = sum(o["outcome"] not in (*known, "hangs") for o in self.others)
        return {
            "pairs": self.pairs,
            "drawn": self.pairs + self.tally[SEPARATE] + self.declined.total(),
            "first_seed": self.first_seed,
            "pairs_of_a_seed": EACH,
            "seconds": round(self.seconds),
            "tally": dict(self.tally),
            "declined": dict(self.declined.most_common()),
            "wrong": wrong,
            "hangs": hangs,
            "others": sorted(self.others, key=lambda other: str(other["pair"])),
            "right": not wrong and not hangs,
        }


def verdict(job: Job, answer: Mapping[str, Any]) -> str:
    if answer.get("separate"):
        return SEPARATE
    if answer.get("hang"):
        return "hangs"
    if answer.get("problem"):
        return "fails"
    if answer["woven"]["count"]:
        return SEPARATE if answer["as emulated"] else "differs from separate launches"
    if not answer["emulated"]["count"]:
        return "right"
    return "right, approximations differ from the emulator" if job.approximate else "differs from the emulator"


def prepared(options: argparse.Namespace, first: Mapping[str, int], end: float) -> Iterator[Job]:
    """The jobs, made by all processors before the GPU needs them, until the clock shows `end`."""
    several = -(-options.pairs // EACH)  # seeds that are begun with, for each way
    tasks: list[tuple[str, Sequence[Any]]] = []
    for way, seed in first.items():
        if options.regressions:
            tasks.append(("kept", (way,)))  # word: kept, a key of stored results
        if options.examples and way in STRATEGIES:
            tasks += [("example", (name, way)) for name in EXAMPLE_NAMES]
        shares = [options.pairs // several + (i < options.pairs % several) for i in range(several)]
        tasks += [("random", (way, seed + i, several, share, options.generator)) for i, share in enumerate(shares)]
    with multiprocessing.get_context("fork").Pool(options.workers, maxtasksperchild=20) as pool:
        made = pool.imap_unordered(_jobs, tasks)
        for _ in tasks:
            try:
                jobs = made.next(None if end == inf else max(end - time.monotonic(), 0))
            except multiprocessing.TimeoutError:
                return
            for job in jobs:
                if time.monotonic() > end:
                    return
                yield job


MADE: Mapping[str, Callable[..., Iterator[Job]]] = {
    "kept": regression_jobs,  # word: kept, a key of stored results
    "example": example_jobs,
    "random": random_jobs,
}


def _jobs(task: tuple[str, Sequence[Any]]) -> list[Job]:
    kind, arguments = task
    return list(MADE[kind](*arguments))


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(main())
