"""Kernels that were not looked at, on a GPU: pairs of real kernels, and of the second writing of suite A.

    python -m benchmarks.unseen [--pairs second|fitted|held_out|later|newest|all|NAME,...] [-o benchmarks/results]
        [--seconds LIMIT]
    python -m benchmarks.unseen --tune 6 [...]
    python -m benchmarks.unseen --pairs fitted --candidates [...]
    python -m benchmarks.unseen --resume benchmarks/results/DATE-GPU-unseen.json -o benchmarks/results
    python -m benchmarks.unseen --issued [-o benchmarks/results]
    python -m benchmarks.unseen --choices benchmarks/results/DATE-GPU-unseen_candidates.json [-o benchmarks/results]
    python -m benchmarks.unseen --suggested benchmarks/results/DATE-GPU-unseen.json [-o benchmarks/results]

Each pair is made by `weave` and by `auto` without options, with --tune also by `goptx.tune` in so many seconds. Making
and measuring are done by processes of their own, which are ended if they hang. What was made is compared with separate
launches on the same data; if it is right, it is timed in turn with the unchanged kernels in all ways to run them. The
raw times are stored after each pair, with the gain that goptx had estimated; --seconds begins no pair after that time,
and --resume goes on, leaving out what is in the file. --small compares in the sizes for checks.

--candidates makes and times two dozen strategies and coarsening factors of each pair, too: what a cost model chooses
among, and may be fitted on, if the pairs are those of `fitted`, `later` or `newest`.

--choices needs no GPU: it looks up what `auto` chooses now among candidates that were measured; --suggested, whether
`goptx suggest` ranks high what gains most.

--issued needs no GPU: it counts the instructions that the second writing's pairs issue on the emulator, in the sizes
for checks, over those of the kernels alone. The exit status is 1 if anything is wrong, was not measured, or, with
--issued, is above the bar.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))  # where the suites are

import host
from measuring import command_line, environment

from goptx.measuring.bench.bench import Bench
from unseen import GROUPS, HELD_OUT, PAIRS, SECOND
from unseen.choices import choices, choices_table
from unseen.issuing import BAR, issued_rows, issued_table, most
from unseen.makers import makers
from unseen.making import CANDIDATES, WAYS, Subject
from unseen.runs import rows
from unseen.suggesting import WANTED, common, suggested, suggested_table
from unseen.table import summary, table

LONG = 600  # seconds for the choice of a pair


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--pairs", default="all", help=f"{', '.join(GROUPS)}, all, or some pairs' names")
    parser.add_argument("--tune", type=float, default=0, metavar="SECONDS", help="tune each pair, too")
    parser.add_argument("--seconds", type=float, default=float("inf"), metavar="LIMIT", help="begin no pair after that")
    parser.add_argument("--candidates", action="store_true", help="measure what a cost model chooses among, too")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="go on with the results in this JSON file")
    parser.add_argument("--choices", type=Path, metavar="FILE", help="look up what auto chooses now in this JSON file")
    parser.add_argument("--suggested", type=Path, metavar="FILE", help="compare suggestions with this JSON file")
    parser.add_argument("--issued", action="store_true", help="count instructions on the emulator instead")
    parser.add_argument("--small", action="store_true", help="the sizes of [check]")
    parser.add_argument("--device", type=int, default=0, help="the number of the GPU")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes that make kernels")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    options = parser.parse_args()
    subjects = _subjects(options.pairs, options.small)
    if not subjects:
        parser.error(f"--pairs {options.pairs}: no such pairs; choose from {', '.join(GROUPS)}, all, and their pairs")
    if options.choices:
        return _choices(options)
    if options.suggested:
        return _suggested(options)
    return _issued(options) if options.issued else _measured(options, subjects)


def _subjects(wanted: str, small: bool) -> list[Subject]:
    names = set(wanted.split(","))
    return [
        Subject(group, pair, small)
        for group in GROUPS
        for pair in PAIRS[group]
        if names & {"all", group, pair, f"{group}:{pair}"}
    ]


def _measured(options: argparse.Namespace, subjects: list[Subject]) -> int:
    begin = time.monotonic()
    earlier: dict[str, Any] = {"rows": [], "seconds": 0}
    if options.resume:
        earlier = json.loads(options.resume.read_text())
    there = {(row["group"], row["name"]) for row in earlier["rows"] if "ms" in row}
    document: dict[str, Any] = {
        "date": date.today().isoformat(),
        "command": command_line(options.output, "-m benchmarks.unseen"),
        **environment(options.commit),
        "rows": [row for row in earlier["rows"] if "ms" in row],
    }
    if there and (earlier["gpu"], earlier["commit"]) != (document["gpu"], document["commit"]):
        print(f"{options.resume} is of {earlier['commit']} on {earlier['gpu']}: not resumed", file=sys.stderr)
        return 2
    wanted = [subject for subject in subjects if (subject.group, subject.pair) not in there]
    stem = "unseen_candidates" if options.candidates else "unseen"
    ways = (*WAYS, *CANDIDATES) if options.candidates else WAYS
    bench = Bench(options.device)
    more = lambda: time.monotonic() - begin < options.seconds  # noqa: E731
    try:
        with makers(options.workers) as processes:
            for row in rows(wanted, bench, processes, options.tune, more, ways):
                document["rows"].append(row)
                print(summary(row), flush=True)
                document["seconds"] = round(time.monotonic() - begin + earlier["seconds"])
                _store(options.output, f"{document['date']}-{document['gpu_short']}-{stem}", document, table(document))
    finally:
        bench.close()
    print(table(document))
    return 0 if all(row["right"] for row in document["rows"]) else 1


def _suggested(options: argparse.Namespace) -> int:
    document, measured = _looked_up(options, options.suggested)
    document["rows"] = list(suggested(measured["rows"]))
    text = suggested_table(document)
    _store(options.output, f"{document['date']}-cpu-unseen_suggested", document, text)
    print(text)
    return 0 if common([row for row in document["rows"] if row["group"] == HELD_OUT])[0] >= WANTED else 1


def _looked_up(options: argparse.Namespace, path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The head of a document of what was measured before, and that."""
    measured: dict[str, Any] = json.loads(path.read_text())
    head = {
        "date": date.today().isoformat(),
        "command": command_line(options.output, "-m benchmarks.unseen"),
        "gpu": measured["gpu"],
        "measured": path.name,
        "commit": options.commit or host.commit(),
    }
    return head, measured


def _choices(options: argparse.Namespace) -> int:
    document, measured = _looked_up(options, options.choices)
    with makers(options.workers, LONG) as processes:
        document["choices"] = list(choices(measured["rows"], processes))
    text = choices_table(document)
    _store(options.output, f"{document['date']}-cpu-unseen_choices", document, text)
    print(text)
    return 0


def _issued(options: argparse.Namespace) -> int:
    begin = time.monotonic()
    subjects = [s for s in _subjects(options.pairs, True) if options.pairs != "all" or s.group == SECOND]
    document: dict[str, Any] = {
        "date": date.today().isoformat(),
        "command": command_line(options.output, "-m benchmarks.unseen"),
        "processor": host.processor(),
        "commit": options.commit or host.commit(),
        "rows": [],
    }
    with makers(options.workers) as processes:
        for row in issued_rows(subjects, processes):
            document["rows"].append(row)
            document["seconds"] = round(time.monotonic() - begin)
            _store(options.output, f"{document['date']}-cpu-unseen_issued", document, issued_table(document))
    print(issued_table(document))
    return 0 if (most(document["rows"]) or 0) <= BAR else 1


def _store(folder: Path | None, stem: str, document: dict[str, Any], text: str) -> None:
    """Results so far are stored, even if a later pair fails."""
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{stem}.json").write_text(json.dumps(document) + "\n")
    (folder / f"{stem}.md").write_text(text)


if __name__ == "__main__":
    sys.exit(main())
