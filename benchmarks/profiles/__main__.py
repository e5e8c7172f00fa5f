"""Profiles of suites A, B and C, and of the second writing of suite A, on a GPU by Nsight Compute: kernels alone, and
pairs fused in several ways.

    python -m benchmarks.profiles [-o benchmarks/results] [--pairs gelu+wmma,...] [--limit N] [--shapes paper,natural]
    python -m benchmarks.profiles --suite b [--pairs hist+maxpool,...] [-o benchmarks/results]
    python -m benchmarks.profiles --suite c --ways "auto; tuned" [--pairs product+softmax,...] [-o benchmarks/results]
    python -m benchmarks.profiles --suite second [--pairs gelu+wmma,...] [-o benchmarks/results]
    python -m benchmarks.profiles --again benchmarks/results/DATE-GPU-profiles.json

Suite A in the paper's shape: vertical, horizontal, the published merge, weave and auto; in the natural shape what
tuning found (suite_a/best.json). The second writing: weave and auto, as benchmarks.unseen makes them. Kernels are made
by all processors before they are needed. Some pairs at a time are launched by one process under the profiler, each form
once without counters and once with them; what hangs there is left out. Results so far are stored after each of these
processes: --resume goes on where a run of the same day and commit was interrupted, and no new process begins after
--seconds. The tables have the resource bound of each pair, and the share of it that is reached: by tuning in the newest
result of suite A, and for the second writing by all ways in the newest result of benchmarks.unseen. --again writes
tables and charts of stored results anew, and needs no GPU. The exit status is 1 if a pair was not counted. Needs ncu,
ptxas and cuda-python; charts need matplotlib.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from datetime import date
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))  # where the other suites are

from measuring import command_line, environment
from suite_a.schemes import PAIRED, Done

from goptx.errors import InputError
from goptx.measuring.profiling.ncu import Profiler, find_ncu
from goptx.view.charts.chart_svg import check_charts
from profiles.charts import charts
from profiles.rows import Document, reached
from profiles.running import Answer, counted_groups
from profiles.suites import ALONE, SHAPES, SUITES, TUNED, WAYS, A, pairs_of, specifications_of, title_of
from profiles.table import table
from profiles.work import Counted, Group, Subjects, made, workload_of

RESULTS = Path(__file__).parents[1] / "results"
TOGETHER = 7  # pairs that one process launches
SECONDS = 400  # after which no new process begins


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--suite", choices=SUITES, default=A)
    parser.add_argument("--pairs", nargs="+", help="only these, such as gelu+harris,lud+lud")
    parser.add_argument("--limit", type=int, help="only so many pairs of each shape")
    parser.add_argument("--shapes", help="of suite A only these, such as natural")
    parser.add_argument("--ways", help="only these, between semicolons, such as 'weave; auto; tuned'")
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help="after which no new process begins (%(default)g)"
    )
    parser.add_argument(
        "--resume", action="store_true", help="go on with the stored results of the same day and commit"
    )
    parser.add_argument("--again", type=Path, metavar="FILE", help="write tables and charts of these results anew")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes that make kernels")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    options = parser.parse_args()
    if options.again:
        write(json.loads(options.again.read_text()), options.again, True)
        return 0
    begin, ncu = time.monotonic(), find_ncu()
    document = {
        "suite": options.suite,
        "date": date.today().isoformat(),
        "command": command_line(options.output, "-m benchmarks.profiles"),
        **environment(options.commit),
        "profiler": str(ncu),
        "alone": {},
        "pairs": [],
    }
    path = options.output and options.output / _name(document)
    if options.resume and path and path.exists():
        stored = json.loads(path.read_text())
        if stored["commit"] == document["commit"]:
            document |= {"alone": stored["alone"], "pairs": stored["pairs"]}
    try:
        wanted = subjects(options)
    except InputError as error:
        parser.error(str(error))
    before = {(row["shape"], row["pair"]) for row in document["pairs"]}
    left = [subject for subject in wanted if (subject.shape, subject.name) not in before]
    ways = list(map(str.strip, options.ways.split(";"))) if options.ways else None
    if unknown := [way for way in ways or () if way not in (*PAIRED, TUNED)]:
        parser.error(f"--ways: {'; '.join(unknown)}: no such way; choose from {'; '.join((*PAIRED, TUNED))}")
    for line in measured(ncu, left, document, ways, options.workers, begin + options.seconds):
        document["seconds"] = round(time.monotonic() - begin)
        print(f"[{document['seconds']:3} s] {line}", flush=True)
        if path:
            write(document, path, False)
    document["seconds"] = round(time.monotonic() - begin)
    if path:
        write(document, path, True)
    print(_table(document))
    return 0 if len(document["pairs"]) >= len(wanted) else 1


def _name(document: Document) -> str:
    ending = "" if document["suite"] == A else f"_suite_{document['suite']}"
    return f"{document['date']}-{document['gpu_short']}-profiles{ending}.json"


def subjects(options: argparse.Namespace) -> list[Subjects]:
    """The pairs that are asked for, in all shapes that are and that their kernels have. Raises `InputError` for a pair
    without any."""
    shapes = options.shapes.split(",") if options.shapes else SHAPES[options.suite]
    given = [pair for text in options.pairs or () for pair in text.split(",")]
    pairs = (given or list(pairs_of(options.suite)))[: options.limit]
    every = [Subjects(options.suite, shape, pair) for shape in shapes for pair in pairs]
    found = [one for one in every if all(path.is_file() for path in specifications_of(one.suite, one.name, one.shape))]
    if unknown := sorted(set(pairs) - {one.name for one in found}):
        raise InputError(
            f"--pairs: {title_of(options.suite)} has no kernels of {', '.join(unknown)} in {', '.join(shapes)}."
        )
    return found


def measured(
    ncu: Profiler, wanted: Sequence[Subjects], document: Document, ways: Sequence[str] | None, workers: int, end: float
) -> Iterator[str]:
    """Adds what is counted to the document, some pairs at a time; a line for each time. Ends when no time is left."""
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        making = _Making(pool, wanted, ways, document["alone"])
        for first in range(0, len(wanted), TOGETHER):
            some = wanted[first : first + TOGETHER]
            if time.monotonic() > end:
                pool.shutdown(cancel_futures=True)
                yield f"no time is left for {len(wanted) - first} pairs: go on with --resume"
                return
            begin = time.monotonic()
            forms = making.forms(some)
            waited = time.monotonic() - begin
            groups = [
                Group(making.loads[subject].result(), tuple(Counted(key, form) for key, (form, _) in own.items()))
                for subject, own in forms.items()
            ]
            answer = counted_groups(ncu, groups)
            document["device"] = answer.device
            _add(document, forms, making, answer)
            launches = sum(len(found) for found in answer.counts.values())
            took = time.monotonic() - begin
            yield f"{len(some)} pairs, {launches} launches in {took:.0f} s, of which waited {waited:.0f} s for kernels"


Forms = dict[str, tuple[Any, str]]  # by key, a form and its way


class _Making:
    """The forms of all pairs, and of kernels that were not counted alone, made by the processes of a pool."""

    def __init__(
        self, pool: ProcessPoolExecutor, wanted: Sequence[Subjects], ways: Sequence[str] | None, alone: Document
    ) -> None:
        self.refused: dict[Subjects, dict[str, str]] = {}
        self.done: dict[Subjects, list[tuple[str, Future[Done]]]] = {}
        self.loads: dict[Subjects, Future[Any]] = {}
        for pair in wanted:
            kernels = dict.fromkeys(Subjects(pair.suite, pair.shape, name) for name in pair.name.split("+"))
            for one in kernels:
                if one not in self.done and one.name not in alone.get(one.shape, {}):
                    self._submit(pool, one, [ALONE])
            self._submit(pool, pair, ways or WAYS[pair.suite][pair.shape])
        self.taken: set[Subjects] = set()

    def _submit(self, pool: ProcessPoolExecutor, subject: Subjects, ways: Sequence[str]) -> None:
        self.done[subject] = [(way, pool.submit(made, subject, way)) for way in ways]
        self.loads[subject] = pool.submit(workload_of, subject)

    def forms(self, pairs: Sequence[Subjects]) -> dict[Subjects, Forms]:
        """Of the pairs, and of their kernels alone the first time that they are met."""
        found: dict[Subjects, Forms] = {}
        for pair in pairs:
            for subject in (*(Subjects(pair.suite, pair.shape, name) for name in pair.name.split("+")), pair):
                if subject in self.done and subject not in self.taken:
                    self.taken.add(subject)
                    found[subject] = self._of(subject)
        return found

    def _of(self, subject: Subjects) -> Forms:
        forms: Forms = {}
        for way, future in self.done[subject]:
            done = future.result()
            if done.refused:
                self.refused.setdefault(subject, {})[way] = done.refused
            forms |= {f"{subject} | {key}": (form, way) for key, form in done.forms.items()}
        return forms


def _add(document: Document, forms: dict[Subjects, Forms], making: _Making, answer: Answer) -> None:
    for subject, own in forms.items():
        found = {}
        for key, (form, way) in own.items():
            resources = form.woven.resources(form.cap)
            facts: dict[str, Any] = {
                "way": way,
                "registers": resources.registers,
                "cap": form.cap,
                "chosen": form.chosen,
            }
            if key in answer.counts:
                facts["launches"] = [{"entry": name, "counts": dict(counts)} for name, counts in answer.counts[key]]
            else:
                facts["problem"] = answer.problems.get(key, "")
            found[key.partition(" | ")[2]] = facts
        for way, why in making.refused.get(subject, {}).items():
            found[way] = {"way": way, "problem": why}
        if "+" in subject.name:
            document["pairs"].append({"pair": subject.name, "shape": subject.shape, "forms": found})
        else:
            (facts,) = found.values()
            if "launches" in facts:
                document["alone"].setdefault(subject.shape, {})[subject.name] = facts["launches"][0]["counts"]


def _as_json(document: Document) -> str:
    """A line for each pair, and for each shape of the kernels alone."""
    parts = {key: json.dumps(value) for key, value in document.items()}
    parts["pairs"] = "[\n" + ",\n".join(map(json.dumps, document["pairs"])) + "\n]"
    return "{\n" + ",\n".join(f" {json.dumps(key)}: {text}" for key, text in parts.items()) + "\n}\n"


def _table(document: Document) -> str:
    return table(document, *reached(RESULTS, document["gpu_short"], document["suite"]))


def write(document: Document, path: Path, drawn: bool) -> None:
    """The results, their tables, and if they are to be drawn, their charts."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_as_json(document))
    path.with_suffix(".md").write_text(_table(document))
    if not drawn:
        return
    check_charts()
    speedups, _ = reached(RESULTS, document["gpu_short"], document["suite"])
    for ending, bars in charts(document, speedups):
        path.with_name(f"{path.stem}_{ending}.svg").write_text(bars._repr_svg_())


if __name__ == "__main__":
    sys.exit(main())
