"""Measures the pairs on one GPU: what was made is compared with the kernels alone, then timed beside them, in turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any

import goptx
from goptx.device.child_process import Lost
from goptx.measuring.bench.questions import Failed
from goptx.measuring.bench.workload import Workload
from goptx.tuning.judging import BenchLike
from unseen import specifications_of
from unseen.makers import Makers
from unseen.making import TUNED, WAYS, Made, Subject, about, made, workload

REPEATS, WARMUPS = 20, 3

Row = dict[str, Any]


def rows(
    subjects: Sequence[Subject],
    bench: BenchLike,
    there: Makers,
    tune: float,
    more: Callable[[], bool],
    ways: Sequence[str] = WAYS,
) -> Iterator[Row]:
    """A row for each pair, in order, until there is no time for `more`. `tune`: seconds of tuning for each; 0: none.
    `ways` are what is made of each."""
    futures = {
        subject: ([there.submit(made, subject, way) for way in ways], there.submit(workload, subject))
        for subject in subjects
    }
    for subject in subjects:
        if not more():
            return
        begin = time.monotonic()
        of_pair, of_workload = futures.pop(subject)
        row: Row = {"group": subject.group, "name": subject.pair, "right": False, "ways": {}}
        try:
            found = [_finished(way, future) for way, future in zip(ways, of_pair, strict=True)]
            found += [_tuned(subject, bench, tune)] if tune else []
            row |= measured_row(bench, of_workload.result(), found)
        except (goptx.GoptxError, Lost, RuntimeError) as error:
            row["problem"] = str(error)
        yield {**row, "seconds": round(time.monotonic() - begin, 1)}


def _finished(way: str, future: Future[Made]) -> Made:
    try:
        return future.result()
    except (Lost, RuntimeError) as error:
        return Made(way, facts={"refused": f"not made: {error}"})


def _tuned(subject: Subject, bench: BenchLike, seconds: float) -> Made:
    """The result of tuning."""
    specifications = specifications_of(subject.group, subject.pair)
    try:
        best = goptx.tune(spec=specifications, budget=seconds, benches=[bench], progress=False)
    except goptx.GoptxError as error:
        return Made(TUNED, facts={"refused": str(error)})
    return Made(
        TUNED, best.fused, {**about(best.fused), "chosen": str(best.candidate), "estimate": None, "expected": None}
    )


def measured_row(bench: BenchLike, found: Workload, ways: Sequence[Made]) -> Row:
    """Whether each way is right, and milliseconds of each run of what is right and of the unchanged kernels."""
    bench.open(found)
    row: Row = {"right": True, "ways": {}}
    right = []
    for one in ways:
        facts = row["ways"][one.way] = dict(one.facts)
        if one.woven is None:
            continue
        answer = bench.judge(one.way, one.woven, None)
        if isinstance(answer, Failed):
            facts["failed"] = answer.problem
        elif answer.wrong:
            facts["wrong"] = answer.wrong
        else:
            right.append(one.way)
            facts |= {"contracted": answer.contracted} if answer.contracted else {}
        row["right"] &= one.way in right
    taken = bench.time([*found.baselines, *right], REPEATS, WARMUPS)
    if taken.problem:
        return {**row, "right": False, "problem": taken.problem}
    row["ms"] = {key: [round(one, 5) for one in times] for key, times in taken.ms.items()}
    return row
