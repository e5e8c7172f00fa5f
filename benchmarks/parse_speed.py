"""Parsing and printing of PTX against `ptxas -O3` on the same file: speed, growth and memory (suite E).

    python benchmarks/parse_speed.py [-o benchmarks/results] [--keep FOLDER] [FILE.ptx ...]

Without files: nvcc makes 1 MB to 10 MB of tests/corpus/sources/device_sort.cu (CUB's radix sort; 5 pairs of types
are 1.06 MB for sm_90), in a folder that `--keep` names or in a temporary one; beside it, the largest committed piece of
each compiler in tests/corpus is measured. goptx and ptxas take turns: parsing and printing in this process, ptxas as a
process from start to end. Memory is the most that a process of its own ever held. Exit code 1 where a bar is missed.
Needs ptxas, and nvcc unless files are given.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import host

from goptx.device.assemble import find_ptxas
from goptx.ptx.parse import parse

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "tests" / "corpus"
TYPES = (5, 10, 20, 40, 64)  # pairs of types to sort: 1 MB to 10 MB
REPEATS = 9
BARS = {"ratio": 1.5, "growth": 2.2, "memory": 300}  # of ptxas; per doubling; MB at 1 MB


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE.ptx")
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--keep", type=Path, help="folder for the PTX; what is there already is not made again")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        sizes = [] if options.files else [sorted_types(n, options.keep or Path(temporary)) for n in TYPES]
        compared = options.files or [sizes[0], *largest_of_each_compiler()]
        document: dict[str, Any] = {
            "suite": "E, parsing",
            "command": "python benchmarks/parse_speed.py" + (" -o benchmarks/results" if options.output else ""),
            **host.environment(find_ptxas() or "ptxas"),
            "against_ptxas": [against_ptxas(path) for path in compared],
            "growth": growth(sizes),
            "memory_mb": memory(compared[0]),
        }
    document["bars_reached"] = reached(document)
    print(table(document))
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        stem = options.output / f"{date.today().isoformat()}-cpu-parse_speed"
        stem.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n")
        stem.with_suffix(".md").write_text(table(document))
    return 0 if all(document["bars_reached"].values()) else 1


def sorted_types(count: int, folder: Path) -> Path:
    """PTX that sorts `count` pairs of types."""
    target = folder / f"device_sort_{count}.ptx"
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        source = CORPUS / "sources" / "device_sort.cu"
        flags = ["-ptx", "-arch=sm_90", "-std=c++17", f"-DTYPES={count}"]
        subprocess.run(["nvcc", *flags, "-o", str(target), str(source)], check=True)
    return target


def largest_of_each_compiler() -> list[Path]:
    files = sorted(CORPUS.glob("ptx/*.ptx"), key=lambda path: (path.suffixes[-2], path.stat().st_size))
    optimised = [path for path in files if "debug" not in path.name]  # ptxas does not optimise the rest
    return list({path.suffixes[-2]: path for path in optimised}.values())


def against_ptxas(path: Path) -> dict[str, Any]:
    text = path.read_text()
    target = re.search(r"\.target\s+(\w+)", text)
    ptxas = find_ptxas()
    if target is None or ptxas is None:
        sys.exit(f"{path}: no `.target`" if ptxas else "no ptxas")
    assembling: list[float] = []
    reading: list[tuple[float, float]] = []
    for _ in range(REPEATS):
        reading.append(parse_and_print(text))
        begin = time.perf_counter()
        subprocess.run([ptxas, "-O3", f"-arch={target[1]}", str(path), "-o", "/dev/null"], check=True)
        assembling.append(time.perf_counter() - begin)
    parsing, printing = (statistics.median(each) for each in zip(*reading, strict=True))
    both = statistics.median(map(sum, reading))
    return {
        "file": path.name,
        "bytes": path.stat().st_size,
        "parse_s": parsing,
        "print_s": printing,
        "both_s": both,
        "ptxas_s": statistics.median(assembling),
        "ratio": both / statistics.median(assembling),
        "all": {"both_s": list(map(sum, reading)), "ptxas_s": assembling},
    }


def parse_and_print(text: str) -> tuple[float, float]:
    """Seconds of each."""
    begin = time.perf_counter()
    module = parse(text)
    middle = time.perf_counter()
    str(module)
    return middle - begin, time.perf_counter() - middle


def growth(files: Sequence[Path]) -> list[dict[str, Any]]:
    """Time at each size, and by what it grows as the input doubles from the size before; the sizes take turns."""
    texts = [path.read_text() for path in files]
    times = zip(*[[sum(parse_and_print(text)) for text in texts] for _ in range(5)], strict=True)
    rows: list[dict[str, Any]] = []
    for text, spent in zip(texts, times, strict=True):
        row = {"bytes": len(text), "both_s": statistics.median(spent)}
        if rows:
            longer, larger = row["both_s"] / rows[-1]["both_s"], row["bytes"] / rows[-1]["bytes"]
            row["per_doubling"] = 2 ** (math.log(longer) / math.log(larger))
        rows.append(row)
    return rows


def memory(path: Path) -> float:
    """The most memory in MB that a process held which did nothing but parse and print the file."""
    # `ru_maxrss` would count what this process holds: a child has it until its program starts.
    program = (
        "import pathlib, re, sys; from goptx.ptx.parse import read; str(read(pathlib.Path(sys.argv[1])));"
        "print(re.search(r'VmHWM:\\s*(\\d+) kB', pathlib.Path('/proc/self/status').read_text())[1])"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    return int(done.stdout) / 1000


def reached(document: dict[str, Any]) -> dict[str, bool]:
    return {
        "ratio": document["against_ptxas"][0]["ratio"] <= BARS["ratio"],
        "growth": all(row.get("per_doubling", 0) <= BARS["growth"] for row in document["growth"]),
        "memory": document["memory_mb"] < BARS["memory"],
    }


def table(document: dict[str, Any]) -> str:
    rows, growing = document["against_ptxas"], document["growth"]
    lines = [
        "# Parsing and printing against ptxas -O3",
        "",
        f"{document['processor']}, Python {document['python']}, ptxas {document['ptxas']}, "
        f"commit {document['commit']}. `{document['command']}`",
        "",
        f"Medians of {REPEATS}, goptx and ptxas in turn. Bar for the first file: at most {BARS['ratio']} times ptxas "
        "(the dream: 0.5).",
        "",
        "| file | kB | parse ms | print ms | both ms | ptxas ms | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        times = " | ".join(f"{1000 * row[key]:.0f}" for key in ("parse_s", "print_s", "both_s", "ptxas_s"))
        lines.append(f"| {row['file']} | {row['bytes'] / 1000:.0f} | {times} | {row['ratio']:.2f} |")
    if growing:
        lines += ["", f"Growth as the input doubles; bar: {BARS['growth']}.", ""]
        lines += ["| MB | both s | per doubling |", "|---|---|---|"]
        for row in growing:
            per = f"{row['per_doubling']:.2f}" if "per_doubling" in row else ""
            lines.append(f"| {row['bytes'] / 1e6:.2f} | {row['both_s']:.2f} | {per} |")
    held = f"Most memory of a process that parses and prints {rows[0]['file']}: {document['memory_mb']:.0f} MB"
    lines += ["", f"{held}; bar: {BARS['memory']}."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
