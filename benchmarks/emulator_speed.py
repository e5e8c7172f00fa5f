"""How fast the emulator is: lane-instructions per second on one core, in strict mode.

    python benchmarks/emulator_speed.py [-o benchmarks/results]

HARRIS at 256 CTAs of 256 threads, and the kernels of suite A at the sizes of their `[check]` tables. Each kernel runs
in a process of its own, held to one core and one thread; the median of several launches after one that is not counted.
Making the data and parsing the text are not counted, building the program from the parsed module is; how long
parsing takes stands beside it.
"""

from __future__ import annotations

import argparse
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
LARGE = {"harris": 256}  # CTAs
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    parser.add_argument("--measure", help=argparse.SUPPRESS)  # the child's part
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measured(options.measure)))
        return 0
    rows = []
    for name in [*(f"{name} large" for name in LARGE), *KERNELS]:
        command = [sys.executable, __file__, "--measure", name]
        done = subprocess.run(command, env=os.environ | ONE_THREAD, stdout=subprocess.PIPE, text=True, check=True)
        rows.append(json.loads(done.stdout))
        print(f"{name:14} {rows[-1]['million_lane_instructions_per_second']:7.1f} M lane-instructions/s", flush=True)
    document = {
        "suite": "emulator speed",
        "command": command_line(options.output),
        "cpu": host.processor(),
        "commit": options.commit or host.commit(),
        "versions": {"python": platform.python_version(), "numpy": np.__version__},
        "runs": RUNS,
        "kernels": rows,
    }
    print(table(document))
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        stem = f"{date.today().isoformat()}-cpu-emulator_speed"
        (options.output / f"{stem}.json").write_text(json.dumps(document, indent=1) + "\n")
        (options.output / f"{stem}.md").write_text(table(document))
    return 0


def measured(name: str) -> dict[str, Any]:
    """The row of one kernel; of `NAME large`, with as many CTAs as `LARGE` says."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    kernel, large = name.split()[0], name.endswith("large")
    (launch,) = read_specification(FOLDER / f"{kernel}.toml")
    launch = enlarged(launch, LARGE[kernel]) if large else launch.small()
    seconds, parsing = [], []
    for _ in range(1 + RUNS):
        arguments = [sample(argument) for argument in launch.arguments]
        begin = time.perf_counter()
        module = goptx.read(launch.file)
        parsing.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        result = goptx.emulate(module, launch.grid, launch.block, arguments, entry=launch.entry, shared=launch.shared)
        seconds.append(time.perf_counter() - begin)
    middle = statistics.median(seconds[1:])
    return {
        "kernel": name,
        "grid": launch.grid,
        "block": launch.block,
        "lane_instructions": result.lane_instructions,
        "warp_instructions": sum(result.instructions.values()),
        "seconds": [middle, min(seconds[1:]), max(seconds[1:])],
        "parsing_seconds": statistics.median(parsing[1:]),
        "million_lane_instructions_per_second": result.lane_instructions / middle / 1e6,
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
        f"Strict mode; medians of {document['runs']} launches after one that is not counted.",
        "",
        "| kernel | CTAs | threads of one | lane-instructions | lanes of an instruction | ms | least | most | "
        "parsing ms | M lane-instructions/s |",
        "|---" * 10 + "|",
    ]
    for row in document["kernels"]:
        cells = [row["kernel"], "x".join(map(str, row["grid"])), "x".join(map(str, row["block"]))]
        cells += [row["lane_instructions"], f"{row['lane_instructions'] / row['warp_instructions']:.1f}"]
        cells += [f"{1000 * s:.1f}" for s in (*row["seconds"], row["parsing_seconds"])]
        lines.append(f"| {' | '.join(map(str, cells))} | {row['million_lane_instructions_per_second']:.1f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
