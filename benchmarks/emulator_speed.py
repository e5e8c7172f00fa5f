"""How fast the emulator is: lane-instructions per second on one core, in strict mode; and how long `goptx.check` takes.

    python benchmarks/emulator_speed.py [-o benchmarks/results]

HARRIS at 256 CTAs of 256 threads, and the kernels of suite A at the sizes of their `[check]` tables. Each kernel runs
in a process of its own, held to one core and one thread; the median of several launches after one that is not counted,
in processor time. Making the data and parsing the text are not counted. The first launch of a module builds its
program, which is counted; the next has it. How long parsing takes stands beside them. `goptx.check` weaves two kernels
of suite A and runs them alone and woven, in two orders of the warps each, imports not counted.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import host
import numpy as np
from measuring import command_line
from suite_a import FOLDER, KERNELS

import goptx
from goptx.launch.sample_data import sample
from goptx.launch.specification import Launch, read_specification

RUNS = 15
CHECKS = 3  # of each pair, of which the median counts
LARGE = {"harris": 256}  # CTAs
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    parser.add_argument("--measure", help=argparse.SUPPRESS)  # the child's part
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(checked() if options.measure == "check" else measured(options.measure)))
        return 0
    rows = []
    for name in [*(f"{name} large" for name in LARGE), *KERNELS]:
        rows.append(child(name))
        print(f"{name:14} {rows[-1]['million_lane_instructions_per_second']} M lane-instructions/s", flush=True)
    document = {
        "suite": "emulator speed",
        "command": command_line(options.output),
        "cpu": host.processor(),
        "commit": options.commit or host.commit(),
        "versions": {"python": platform.python_version(), "numpy": np.__version__},
        "runs": RUNS,
        "kernels": rows,
        "checks": child("check"),
    }
    print(table(document))
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        stem = f"{date.today().isoformat()}-cpu-emulator_speed"
        (options.output / f"{stem}.json").write_text(json.dumps(document, indent=1) + "\n")
        (options.output / f"{stem}.md").write_text(table(document))
    return 0


def child(name: str) -> Any:
    """What `--measure NAME` prints, in a process of its own."""
    command = [sys.executable, __file__, "--measure", name]
    done = subprocess.run(command, env=os.environ | ONE_THREAD, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def hold_to_one_core() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def checked() -> list[dict[str, Any]]:
    """How many seconds `goptx.check` takes for each pair of kernels, by processor time."""
    hold_to_one_core()
    rows = []
    goptx.check(*[read_specification(FOLDER / f"{KERNELS[0]}.toml")[0].file] * 2)  # for what it imports
    for pair in itertools.combinations_with_replacement(KERNELS, 2):
        files = [read_specification(FOLDER / f"{kernel}.toml")[0].file for kernel in pair]
        seconds = []
        for _ in range(CHECKS):
            begin = time.process_time()
            passed = goptx.check(*files).passed
            seconds.append(time.process_time() - begin)
        rows.append({"kernels": pair, "seconds": statistics.median(seconds), "passed": passed})
    return rows


def measured(name: str) -> dict[str, Any]:
    """The row of one kernel; of `NAME large`, with as many CTAs as `LARGE` says."""
    hold_to_one_core()
    kernel, large = name.split()[0], name.endswith("large")
    (launch,) = read_specification(FOLDER / f"{kernel}.toml")
    launch = enlarged(launch, LARGE[kernel]) if large else launch.small()
    parsing: list[float] = []
    seconds: list[list[float]] = [[], []]  # of the first launches and of the next
    for _ in range(1 + RUNS):
        begin = time.process_time()
        module = goptx.read(launch.file)
        parsing.append(time.process_time() - begin)
        for launches in seconds:
            arguments = [sample(argument) for argument in launch.arguments]
            begin = time.process_time()
            result = goptx.emulate(
                module, launch.grid, launch.block, arguments, entry=launch.entry, shared=launch.shared
            )
            launches.append(time.process_time() - begin)
    first, following = (statistics.median(launches[1:]) for launches in seconds)
    return {
        "kernel": name,
        "grid": launch.grid,
        "block": launch.block,
        "lane_instructions": result.lane_instructions,
        "warp_instructions": sum(result.instructions.values()),
        "seconds": [first, following],
        "parsing_seconds": statistics.median(parsing[1:]),
        "million_lane_instructions_per_second": [
            round(result.lane_instructions / s / 1e6, 1) for s in (first, following)
        ],
    }


def enlarged(launch: Launch, ctas: int) -> Launch:
    """One element a thread: every array as long as there are threads, and `n` as large."""
    threads = ctas * launch.block[0]
    arguments = tuple(
        replace(a, length=threads) if a.is_array else replace(a, value=threads) if a.name == "n" else a
        for a in launch.arguments
    )
    return replace(launch, grid=(ctas,), arguments=arguments)


def table(document: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in document["versions"].items())
    lines = [
        "# How fast the emulator is",
        "",
        f"{document['cpu']}, one core, one thread; {versions}, commit {document['commit']}. `{document['command']}`",
        "",
        f"Strict mode; medians of {document['runs']} launches, in processor time. The first launch of a module builds "
        "its program.",
        "",
        "| kernel | CTAs | threads of one | lane-instructions | lanes of an instruction | first launch, ms "
        "| next, ms | parsing, ms | first, M lane-instructions/s | next, M lane-instructions/s |",
        "|---" * 10 + "|",
    ]
    for row in document["kernels"]:
        cells = [row["kernel"], "x".join(map(str, row["grid"])), "x".join(map(str, row["block"]))]
        cells += [row["lane_instructions"], f"{row['lane_instructions'] / row['warp_instructions']:.1f}"]
        cells += [f"{1000 * s:.1f}" for s in (*row["seconds"], row["parsing_seconds"])]
        lines.append(f"| {' | '.join(map(str, [*cells, *row['million_lane_instructions_per_second']]))} |")
    seconds = [row["seconds"] for row in document["checks"]]
    slowest = max(document["checks"], key=lambda row: row["seconds"])
    lines += [
        "",
        f"`goptx.check` of two kernels, imports not counted: {min(seconds):.2f} to {max(seconds):.2f} s "
        f"({' with '.join(slowest['kernels'])}), {statistics.mean(seconds):.2f} s on average; of {len(seconds)} pairs "
        f"{sum(row['passed'] for row in document['checks'])} pass.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
