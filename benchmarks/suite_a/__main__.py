"""Suite A on a GPU: all 28 pairs woven, or its single kernels coarsened, compared with separate launches, then timed.

    python -m benchmarks.suite_a [-o benchmarks/results] [--pairs gelu+harris,...] [--small]
    python -m benchmarks.suite_a --coarsened [--kernels gelu,...] [-o benchmarks/results] [--small]
    python -m benchmarks.suite_a --candidates [--pairs ...] [--workers N] [-o benchmarks/results]

Each pair, or kernel, runs in a child process under a time limit, so that a hang costs one. Right first, then fast: with
contraction off (`fmad=False`) the outputs of what goptx made have to equal those of separate launches bit for bit; the
timed builds, with contraction, are compared too, and a difference is reported by its size. Pairs are timed against two
streams; schemes are the ablation of the GoPTX paper's Figure: merge, + slicing, + weaving, + both; then what goptx does
by default. "capped" is "both" under the best of the paper's register caps. Coarsened kernels are timed against
themselves, by factor and register cap. Candidates are 50 ways to run each pair, all strategies among them, made by
several processes beside the GPU; pairs may be of any kernels in examples/kernels, such as reduce+softmax. What is
coarsened or has candidates may be in natural/ too, such as natural/gelu+natural/wmma. Needs cuda-python and CuPy.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))  # where the other suites are

from measuring import command_line, environment

from suite_a import KERNELS, candidates, coarsened, pairs

TIME_LIMIT = 150  # seconds for one pair or kernel


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--pairs", help="only these, such as gelu+harris,lud+lud")
    parser.add_argument("--coarsened", action="store_true", help="single kernels coarsened instead of pairs")
    parser.add_argument("--candidates", action="store_true", help="50 ways to run each pair")
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, help="processes that make them; all processors"
    )
    parser.add_argument("--kernels", help="only these of them, such as gelu,lud")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    parser.add_argument("--small", action="store_true", help="the sizes of [check]: compare, do not time")
    parser.add_argument("--one", help=argparse.SUPPRESS)  # the child's part
    options = parser.parse_args()
    part = coarsened if options.coarsened else candidates if options.candidates else pairs
    if options.one:
        print("RESULT " + json.dumps(part.run(options.one, options.small)))
        return 0
    if options.coarsened:
        chosen = options.kernels.split(",") if options.kernels else list(KERNELS)
    else:
        chosen = options.pairs.split(",") if options.pairs else [f"{a}+{b}" for a, b in all_pairs()]
    facts = {"command": command_line(options.output, "-m benchmarks.suite_a"), **environment(options.commit)}
    rows: list[dict[str, Any]] = []
    document = {"suite": "A", **facts, part.__name__.split(".")[-1]: rows}
    others = any(kernel not in KERNELS for pair in chosen for kernel in pair.split("+"))
    natural = any("natural/" in pair for pair in chosen)
    name = "suite_a_natural" if natural else "examples" if others else "suite_a"
    name += "_coarsened" * options.coarsened + "_candidates" * options.candidates + "_small" * options.small
    alone = (in_child(name, options) for name in chosen)
    for row in candidates.run_all(chosen, options.workers) if options.candidates else alone:
        rows.append(row)
        print(part.summary(row), flush=True)
        if options.output is not None:  # what is there is kept, whatever happens to the rest
            options.output.mkdir(parents=True, exist_ok=True)
            stem = f"{date.today().isoformat()}-{facts['gpu_short']}-{name}"
            (options.output / f"{stem}.json").write_text(json.dumps(document, indent=1) + "\n")
            (options.output / f"{stem}.md").write_text(part.table(document))
    print(part.table(document))
    return 0 if all(row.get("right") for row in rows) else 1


def all_pairs() -> Iterator[tuple[str, str]]:
    for i, first in enumerate(KERNELS):
        for second in KERNELS[i:]:
            yield first, second


def in_child(name: str, options: argparse.Namespace) -> dict[str, Any]:
    flags = ["--coarsened"] * options.coarsened + ["--small"] * options.small
    command = [sys.executable, "-m", "benchmarks.suite_a", "--one", name, *flags]
    begin = time.monotonic()
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIME_LIMIT, check=False, cwd=Path(__file__).parents[2]
        )
    except subprocess.TimeoutExpired:
        return {"name": name, "right": False, "problem": f"no answer within {TIME_LIMIT} s: hangs"}
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            return {**json.loads(line.removeprefix("RESULT ")), "seconds": round(time.monotonic() - begin, 1)}
    return {"name": name, "right": False, "problem": (done.stdout + done.stderr)[-2000:]}


if __name__ == "__main__":
    sys.exit(main())
