"""How many fused kernels `goptx.prove` proves, and how long that takes (no GPU).

    python benchmarks/proofs.py [--jobs N] [--random FOLDER] [-o benchmarks/results]
    python benchmarks/proofs.py --draw 200 --random FOLDER
    python benchmarks/proofs.py --group examples --way weave,horizontal --pair 'harris*'

All pairs of examples/kernels, of the constructs of tests/constructs, of suites A (in both shapes) and B, of the kernels
of Triton in tests/corpus (suite C), random pairs that failed once, and random pairs: in all strategies, and in shapes
of their own. --random takes random pairs from a folder, into which --draw writes so many of them; drawing
needs Hypothesis, all else needs goptx only. --group, --way and --pair take patterns with commas between. Each pair may
take --limit seconds of the processor. Exit status 1 if a bar is not reached, or something goes wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from dataclasses import asdict
from datetime import date
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import host
from measuring import command_line

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))  # for the random kernels

from proving.cases import WAYS, groups
from proving.running import REPEATS, Job, Row, all_rows
from proving.table import reasons, summary, table


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--name", default="", help="goes into the names of the files of results, after a _")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="processes")
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS", help="of the processor for a pair")
    parser.add_argument("--repeats", type=int, default=REPEATS, metavar="N", help="of each measurement of time")
    parser.add_argument("--random", type=Path, metavar="FOLDER", help="random pairs")
    parser.add_argument("--draw", type=int, default=0, metavar="N", help="write so many random pairs there, and end")
    parser.add_argument("--seed", type=int, default=100_000, help="of the random pairs")
    parser.add_argument("--group", default="*", help="patterns with commas between")
    parser.add_argument("--way", default="*", help=f"patterns with commas between: {', '.join(WAYS)}")
    parser.add_argument("--pair", default="*", help="patterns with commas between")
    parser.add_argument("--show", action="store_true", help="print each pair that is not proved")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    options = parser.parse_args()
    if options.draw:
        from proving.drawing import draw

        draw(options.random, options.draw, options.seed)
        return 0
    os.environ.update(GOPTX_CACHE_DIR="", GOPTX_CACHE_SIZE="0")
    begin = time.monotonic()
    rows = _rows(_jobs(options), options)
    document = {
        "suite": "proofs",
        "command": command_line(options.output, "benchmarks/proofs.py"),
        "processor": host.processor(),
        "python": platform.python_version(),
        "commit": options.commit or host.commit(),
        "jobs": options.jobs,
        "repeats": options.repeats,
        "seconds": round(time.monotonic() - begin),
        "summary": summary(rows),
        "reasons": reasons(rows),
    }
    print(table(document))
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        stem = f"{date.today().isoformat()}-cpu-proofs{f'_{options.name}' if options.name else ''}"
        (options.output / f"{stem}.json").write_text(_json(document, rows))
        (options.output / f"{stem}.md").write_text(table(document))
    return 0 if all(one["reached"] and not one["faults"] for one in document["summary"]) else 1


def _jobs(options: argparse.Namespace) -> list[Job]:
    ways = [way for way in WAYS if _matches(way, options.way)]
    return [
        Job(group, name, way, pair)
        for group, name, pair in groups(options.random)
        if _matches(group, options.group) and _matches(name, options.pair)
        for way in ways
    ]


def _matches(name: str, patterns: str) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns.split(","))


def _rows(jobs: list[Job], options: argparse.Namespace) -> list[Row]:
    """In the order of the jobs."""
    order = {(job.group, job.pair, job.way): i for i, job in enumerate(jobs)}
    rows: list[Row] = []
    for row in all_rows(jobs, options.jobs, options.limit, options.repeats):
        rows.append(row)
        if options.show and (row.reason or row.fault):
            print(f"{row.group}, {row.way}, {row.pair}: {row.fault or row.reason}", flush=True)
        elif len(rows) % 250 == 0:
            print(f"{len(rows)} of {len(jobs)}", file=sys.stderr, flush=True)
    return sorted(rows, key=lambda row: order[row.group, row.pair, row.way])


def _json(document: dict[str, Any], rows: list[Row]) -> str:
    """With one line for each pair and way, in which empty values are left out."""
    lines = [json.dumps({name: value for name, value in asdict(row).items() if value}) for row in rows]
    head = json.dumps(document, indent=1).removesuffix("\n}")
    return f'{head},\n "rows": [\n{",".join(f"{chr(10)}  {line}" for line in lines).lstrip()}\n ]\n}}\n'


if __name__ == "__main__":
    sys.exit(main())
