"""Weaving in process against `ptxas -O3` on what was woven: all 28 pairs of suite A, and the pairs of Triton's GEMM,
flash attention and dropout (no GPU).

    python benchmarks/weave_speed.py [-o benchmarks/results]

`goptx.weave` of two files, from reading them to the PTX as text, in a process where all is imported and what it knew of
instructions and kernels is forgotten, takes turns with ptxas, a process from start to end. Times are those of the
processor (user and system): what else the machine does counts less. The goal is that weaving takes 0.7 times as long as
ptxas, as the geometric mean of all pairs. Exit code 1 where a pair takes longer than both 100 ms and ptxas. Needs
ptxas.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from datetime import date
from functools import cache
from itertools import combinations_with_replacement
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import host

import goptx
from goptx.device.assemble import find_ptxas
from goptx.errors import ProbablySlower
from goptx.launch.specification import find_specification

ROOT = Path(__file__).resolve().parent.parent
KERNELS = ROOT / "examples" / "kernels"
TRITON = ROOT / "benchmarks" / "unseen" / "kernels" / "triton"
NAMES = ("gelu", "harris", "lud", "micnd", "sort", "stms", "wmma")
LARGE = (("matmul", "flash_attention"), ("matmul", "dropout"), ("flash_attention", "dropout"))
REPEATS, LARGE_REPEATS = 9, 3
GOAL = 0.7  # times what ptxas takes, as a geometric mean
BAR_MS = 100  # or what ptxas takes, if that is more


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    options = parser.parse_args()
    ptxas = find_ptxas()
    if ptxas is None:
        sys.exit("no ptxas")
    os.environ.update(GOPTX_CACHE_DIR="", GOPTX_CACHE_SIZE="0")
    for name in NAMES:  # all is imported, and Python has seen what it runs often
        weave(name, name)
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", ProbablySlower)
        pairs = [measured(a, b, ptxas, Path(folder)) for a, b in combinations_with_replacement(NAMES, 2)]
        large = [measured(a, b, ptxas, Path(folder)) for a, b in LARGE]
    document = {
        "suite": "A, weaving",
        "command": "python benchmarks/weave_speed.py" + (" -o benchmarks/results" if options.output else ""),
        **host.environment(ptxas),
        "repeats": REPEATS,
        "pairs": pairs,
        "triton": large,
        "geometric_means": {"suite A": geometric_mean(pairs), "Triton": geometric_mean(large)},
        "goal": GOAL,
        "bar_reached": all(row["reached"] for row in (*pairs, *large)),
    }
    print(table(document))
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        stem = options.output / f"{date.today().isoformat()}-cpu-weave_speed"
        stem.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n")
        stem.with_suffix(".md").write_text(table(document))
    return 0 if document["bar_reached"] else 1


def measured(a: str, b: str, ptxas: str, folder: Path) -> dict[str, Any]:
    """Milliseconds of weaving and of assembling a pair: medians, and all of which they are."""
    weaving, assembling = [], []
    file = folder / f"{a}_{b}.ptx"
    for _ in range(LARGE_REPEATS if (a, b) in LARGE else REPEATS):
        spent, text = weave(a, b)
        weaving.append(spent)
        file.write_text(text)
        assembling.append(milliseconds([ptxas, "-O3", f"-arch={target(a, b)}", str(file), "-o", str(folder / "cubin")]))
    woven, assembled = statistics.median(weaving), statistics.median(assembling)
    return {
        "pair": f"{a}+{b}",
        "lines": text.count("\n"),
        "weave_ms": woven,
        "ptxas_ms": assembled,
        "reached": woven <= max(BAR_MS, assembled),
        "all": {"weave_ms": weaving, "ptxas_ms": assembling},
    }


def weave(a: str, b: str) -> tuple[float, str]:
    """Milliseconds, and the woven PTX."""
    forget()
    if (a, b) in LARGE:
        files, shapes = [TRITON / f"{name}.sm_90a.ptx" for name in (a, b)], [shape(a), shape(b)]
    else:
        files, shapes = [KERNELS / f"{name}.sm_90.ptx" for name in (a, b)], None
    begin = time.process_time()
    text = goptx.weave(*files, shapes=shapes).ptx
    return 1000 * (time.process_time() - begin), text


def target(a: str, b: str) -> str:
    return "sm_90a" if (a, b) in LARGE else "sm_90"


@cache
def shape(name: str) -> goptx.Shape:
    """The launch of one of Triton's kernels."""
    launch = find_specification(TRITON / f"{name}.sm_90a.ptx", name)
    assert launch is not None
    return goptx.Shape(launch.grid, launch.block, launch.shared)


def geometric_mean(rows: Sequence[dict[str, Any]]) -> float:
    """Of weaving over ptxas."""
    return statistics.geometric_mean(row["weave_ms"] / row["ptxas_ms"] for row in rows)


def forget() -> None:
    """All that was found out about instructions and kernels; what opcodes do and how long they take is known."""
    for name, module in sys.modules.items():
        if name.startswith(("goptx.analysis.", "goptx.cost.", "goptx.ptx.flatten")):
            for value in vars(module).values():
                getattr(value, "cache_clear", lambda: None)()


def milliseconds(command: Sequence[str]) -> float:
    """What a process, with those that it starts, takes of the processor."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def table(document: dict[str, Any]) -> str:
    pairs = document["pairs"]
    means = ", ".join(f"{mean:.2f} ({suite})" for suite, mean in document["geometric_means"].items())
    slowest = max(pairs, key=lambda row: row["weave_ms"])
    lines = [
        "# Weaving against ptxas -O3 on what was woven",
        "",
        f"{document['processor']}, Python {document['python']}, ptxas {document['ptxas']}, "
        f"commit {document['commit']}. `{document['command']}`",
        "",
        f"Processor time, medians of {document['repeats']} ({LARGE_REPEATS} of Triton's kernels), goptx and ptxas "
        "alternating; nothing is cached of these "
        f"kernels. Bar: at most {BAR_MS} ms, or what ptxas takes if that is more. The slowest of suite A takes "
        f"{slowest['weave_ms']:.0f} ms ({slowest['pair']}).",
        "",
        f"Geometric mean of weave over ptxas: {means}; the goal is at most {document['goal']}.",
        "",
        "| pair | lines | weave ms | ptxas ms | ratio | bar reached |",
        "|---|---|---|---|---|---|",
    ]
    for row in (*pairs, *document["triton"]):
        figures = f"{row['weave_ms']:.0f} | {row['ptxas_ms']:.0f} | {row['weave_ms'] / row['ptxas_ms']:.2f}"
        lines.append(f"| {row['pair']} | {row['lines']} | {figures} | {'yes' if row['reached'] else 'no'} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
