"""Suite B on a GPU: the sixteen pairs of HFUSE (CGO 2022), fused in all ways, beside separate launches.

    python -m benchmarks.suite_b [-o benchmarks/results] [--pairs hist+maxpool,...] [--budget SECONDS] [--small]
    python -m benchmarks.suite_b --ratios 0.25,0.5,1,2,4 [-o benchmarks/results] [--pairs ...]

First each kernel alone is compared with its reference. Then each pair: horizontal at HFUSE's partitions (1,024 threads
in steps of 128 for the kernels of deep learning, their own blocks for the hashes), without a bound of registers and
with HFUSE's, folded grids, vertical, weave, interleave, auto, and the result of tuning. Right first: each way has to
write what separate launches write in the same blocks, bit for bit, with contraction off where it makes a difference.
Then all are timed in turn with the unchanged kernels in all ways to run them. All processors make kernels meanwhile;
what hangs is ended. The result of each pair is stored under .runs, and a run of the same commit goes on from there
(--anew: from the beginning). --small compares in the sizes of `[check]` and times nothing. --ratios measures the pairs
with less work for one of the kernels, so that their times have such ratios, the second's to the first's. The exit
status is 1 if anything is wrong or was not measured. Needs ptxas, cuda-python and CuPy.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager, suppress
from datetime import date
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))  # where the other suites are

from measuring import command_line, environment
from unseen.makers import makers

import goptx
from goptx.measuring.bench.bench import Bench
from goptx.view.bars import Bars
from suite_b import KERNELS, PAIRS
from suite_b.alone import alone
from suite_b.best import FILE, store
from suite_b.charts import chart, ratio_chart
from suite_b.ratios import RATIOS, ratio_rows, ratio_table, sized
from suite_b.runs import Places, Row, rows
from suite_b.table import line, table

RUNS = Path(__file__).parent / ".runs"  # results so far, by commit and pair
BUDGET = 15  # seconds of tuning for a pair


def main() -> int:
    options = _options(sys.argv[1:])
    document: dict[str, Any] = {
        "suite": "B",
        "date": date.today().isoformat(),
        "command": command_line(options.output, "-m benchmarks.suite_b"),
        **environment(options.commit),
    }
    return (_sweep if options.ratios else _suite)(options, document)


def _options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--pairs", default=",".join(PAIRS), help="only these, such as hist+maxpool,im2col+maxpool")
    parser.add_argument("--budget", type=float, default=BUDGET, help="seconds of tuning for a pair; 0: none")
    parser.add_argument("--ratios", type=_ratios, help=f"of the times of the kernels, such as {_text(RATIOS)}")
    parser.add_argument("--best", action="store_true", help=f"put the results of tuning into {FILE.name}")
    parser.add_argument("--small", action="store_true", help="the sizes of [check]: compare, do not time")
    parser.add_argument("--anew", action="store_true", help="do not go on where a run was interrupted")
    parser.add_argument("--runs", type=Path, default=RUNS, help="folder for results so far")
    parser.add_argument("--device", type=int, default=0, help="the number of the GPU")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes that make kernels")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    options = parser.parse_args(words)
    options.pairs = options.pairs.split(",")
    if unknown := [pair for pair in options.pairs if pair not in PAIRS]:
        parser.error(f"--pairs {','.join(unknown)}: no such pairs; choose from {', '.join(PAIRS)}")
    return options


def _suite(options: argparse.Namespace, document: dict[str, Any]) -> int:
    begin = time.monotonic()
    needed = tuple(k for k in KERNELS if any(k in pair.split("+") for pair in options.pairs))
    with _places(options) as there:
        document |= {"alone": alone(needed, options.small), "pairs": []}
        for kernel, facts in document["alone"].items():
            print(f"{kernel}: {facts['problem'] or 'right'}, {facts.get('seconds')} s", flush=True)
        for row in _resumed(options, document["commit"], there):
            document["pairs"].append(row)
            print(line(row), flush=True)
            document["seconds"] = round(time.monotonic() - begin)
            if options.output is not None:  # results so far are stored, even if a later pair fails
                drawn = None if options.small else chart(document)
                _store(options.output, document, "suite_b" + "_small" * options.small, table(document), drawn)
            if options.best:
                store([row])
    print(table(document))
    right = all(row["right"] for row in document["pairs"])
    return 0 if right and not any(facts["problem"] for facts in document["alone"].values()) else 1


def _sweep(options: argparse.Namespace, document: dict[str, Any]) -> int:
    begin = time.monotonic()
    document["rows"] = []
    with _places(options) as there:
        for row in ratio_rows([pair for pair in options.pairs if sized(pair)], options.ratios, there):
            document["rows"].append(row)
            document["seconds"] = round(time.monotonic() - begin)
            print(f"{row['pair']} {row['ratio']}: {row.get('speedups') or row.get('problem')}", flush=True)
            if options.output is not None:
                _store(options.output, document, "suite_b_ratios", ratio_table(document), ratio_chart(document))
    print(ratio_table(document))
    return 0 if all(row["right"] for row in document["rows"]) else 1


def _resumed(options: argparse.Namespace, commit: str, there: Places) -> Iterator[Row]:
    """A row for each pair, in order; those that a run of this commit has found are not measured again."""
    folder: Path = options.runs / commit
    folder.mkdir(parents=True, exist_ok=True)
    small = "small-" if options.small else ""
    files = {pair: folder / f"{small}{pair}.json" for pair in options.pairs}
    known = {} if options.anew else {p: json.loads(f.read_text()) for p, f in files.items() if f.exists()}
    measured = rows([pair for pair in options.pairs if pair not in known], there, options.budget, options.small)
    for pair in options.pairs:
        row = known.get(pair) or next(measured)
        if pair not in known and "problem" not in row:
            files[pair].write_text(json.dumps(row))
        yield row


@contextmanager
def _places(options: argparse.Namespace) -> Iterator[Places]:
    with (
        closing(Bench(options.device)) as bench,
        makers(options.workers) as made,
        ProcessPoolExecutor(options.workers, get_context("spawn")) as tuners,
    ):
        yield Places(bench, made, tuners)


def _store(folder: Path, document: dict[str, Any], name: str, text: str, drawn: Bars | None) -> None:
    """The raw data, a table, and a chart if matplotlib is there."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{document['date']}-{document['gpu_short']}-{name}"
    (folder / f"{stem}.json").write_text(json.dumps(document) + "\n")
    (folder / f"{stem}.md").write_text(text)
    if drawn is not None and drawn.groups:
        with suppress(goptx.InputError):
            (folder / f"{stem}.svg").write_text(drawn.svg())


def _ratios(text: str) -> list[float]:
    return [float(ratio) for ratio in text.split(",")]


def _text(ratios: tuple[float, ...]) -> str:
    return ",".join(f"{ratio:g}" for ratio in ratios)


if __name__ == "__main__":
    sys.exit(main())
