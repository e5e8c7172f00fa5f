"""How long `auto` and the assembler take for a pair the first time, and again: all 28 pairs of suite A (no GPU).

    python benchmarks/cache.py [-o benchmarks/results]

In one process, where all is imported: the first time, again (from memory), and again with the memory forgotten (from
the disk). In new processes, from start to end: an empty Python, one that decides about a pair, and one that assembles
it too, each with an empty cache and with a full one. Needs ptxas.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import date
from itertools import combinations_with_replacement
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import host

import goptx
from goptx.cache import store
from goptx.device.assemble import find_ptxas

ROOT = Path(__file__).resolve().parent.parent
KERNELS = ROOT / "examples" / "kernels"
NAMES = ("gelu", "harris", "lud", "micnd", "sort", "stms", "wmma")
REPEATS, PROCESSES = 3, 2
AUTO = "import sys; from pathlib import Path; import goptx; goptx.fuse(*map(Path, sys.argv[1:]), strategy='auto')"
PROGRAMS = {"auto": f"{AUTO}.ptx", "auto and cubin": f"{AUTO}.cubin()"}
STEPS = ("first", "memory", "disk")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    options = parser.parse_args()
    if find_ptxas() is None:
        sys.exit("no ptxas")
    with TemporaryDirectory() as folder:
        os.environ.update(GOPTX_CACHE_DIR=folder, GOPTX_CACHE_SIZE="512")
        in_one_process("harris", "lud")  # with all that has to be imported
        pairs = [measured(a, b) for a, b in combinations_with_replacement(NAMES, 2)]
        empty = [process("pass") for _ in range(PROCESSES * 3)]
    document = {
        "suite": "A, cache",
        "command": "python benchmarks/cache.py" + (" -o benchmarks/results" if options.output else ""),
        "cores": os.cpu_count(),
        "load_average": os.getloadavg()[0],
        **host.environment(find_ptxas() or ""),
        "repeats": {"in one process": REPEATS, "new processes": PROCESSES},
        "empty_process_ms": statistics.median(empty),
        "pairs": pairs,
    }
    print(table(document))
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        stem = options.output / f"{date.today().isoformat()}-cpu-cache"
        stem.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n")
        stem.with_suffix(".md").write_text(table(document))
    return 0


def measured(a: str, b: str) -> dict[str, Any]:
    """Milliseconds, medians, and all of which they are."""
    rounds = [in_one_process(a, b) for _ in range(REPEATS)]
    found: dict[str, Any] = {"pair": f"{a}+{b}", "one": {}, "new": {}, "all": {"one": rounds, "new": []}}
    for what in rounds[0]:
        found["one"][what] = {step: statistics.median(r[what][step] for r in rounds) for step in STEPS}
    files = [str(file_of(name)) for name in (a, b)]
    for what, program in PROGRAMS.items():
        times: dict[str, list[float]] = {"first": [], "again": []}
        for _ in range(PROCESSES):
            forget()
            times["first"].append(process(program, *files))
            times["again"].append(process(program, *files))
        found["new"][what] = {step: statistics.median(spent) for step, spent in times.items()}
        found["all"]["new"].append({what: times})
    return found


def in_one_process(a: str, b: str) -> dict[str, dict[str, float]]:
    """Milliseconds of each step of deciding and of assembling."""
    files = [file_of(name) for name in (a, b)]
    forget()
    woven, times = [], []
    for step in STEPS:
        if step == "disk":
            store.MEMORY.clear()
        spent, one = timed(lambda: goptx.fuse(*files, strategy="auto"))
        woven.append(one)
        times.append(spent)
    found = {"auto": dict(zip(STEPS, times, strict=True))}
    assembling = []
    for step, one in zip(STEPS, woven, strict=True):
        if step == "disk":
            store.MEMORY.clear()
        assembling.append(timed(one.cubin)[0])
    return found | {"cubin": dict(zip(STEPS, assembling, strict=True))}


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    done = work()
    return 1000 * (time.perf_counter() - begin), done


def process(program: str, *arguments: str) -> float:
    """Milliseconds from the start of a Python process to its end."""
    command = [sys.executable, "-c", program, *arguments]
    return timed(lambda: subprocess.run(command, check=True, cwd=ROOT))[0]


def forget() -> None:
    store.MEMORY.clear()
    if there := store.disk():
        there.clear()


def file_of(name: str) -> Path:
    return KERNELS / f"{name}.sm_90.ptx"


def table(document: dict[str, Any]) -> str:
    pairs = document["pairs"]
    busy = document["load_average"] > document["cores"]
    lines = [
        "# Deciding and assembling for the first time, and again",
        "",
        f"{document['processor']}, {document['cores']} cores, load {document['load_average']:.1f}, "
        f"Python {document['python']}, ptxas {document['ptxas']}, commit {document['commit']}. `{document['command']}`",
        "",
        f"Milliseconds, medians of the {len(pairs)} pairs of suite A; of each pair, of "
        f"{document['repeats']['in one process']} times in one process and {document['repeats']['new processes']} new "
        f"processes. An empty Python process takes {document['empty_process_ms']:.0f} ms."
        + (" Other programs were using the processors: compare these times with each other only." if busy else ""),
        "",
        "| | first time | again | again, from disk |",
        "|---|---|---|---|",
    ]
    for what in ("auto", "cubin"):
        cells = [f"{middle(pairs, 'one', what, step):.2f}" for step in STEPS]
        lines.append(f"| {what}, in one process | {' | '.join(cells)} |")
    for what in PROGRAMS:
        first, again = (f"{middle(pairs, 'new', what, step):.0f}" for step in ("first", "again"))
        lines.append(f"| {what}, a new process | {first} | | {again} |")
    head = ["auto first", "again", "disk", "cubin first", "again", "disk", "process first", "again"]
    lines += ["", f"| pair | {' | '.join(head)} |", "|---|" + "---|" * len(head)]
    for pair in pairs:
        inner = [f"{pair['one'][what][step]:.2f}" for what in ("auto", "cubin") for step in STEPS]
        outer = [f"{pair['new']['auto and cubin'][step]:.0f}" for step in ("first", "again")]
        lines.append(f"| {pair['pair']} | {' | '.join([*inner, *outer])} |")
    return "\n".join(lines) + "\n"


def middle(pairs: Sequence[dict[str, Any]], where: str, what: str, step: str) -> float:
    return float(statistics.median(pair[where][what][step] for pair in pairs))


if __name__ == "__main__":
    sys.exit(main())
