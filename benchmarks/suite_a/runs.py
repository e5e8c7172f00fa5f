"""Measures kernels that the processes of a pool make beforehand. Each GPU has a process that is reused for all pairs
and replaced only after a hang."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import goptx
from goptx.measuring.bench.bench import Bench
from goptx.measuring.bench.questions import Failed
from goptx.measuring.bench.workload import Workload
from suite_a.places import places
from suite_a.schemes import Done, Form, Subject, Task, workload

REPEATS, WARMUPS = 20, 3
HANGS = "it hangs"  # the end of what a bench says of a kernel that did not end in time

Row = dict[str, Any]


def rows_of(name: str, bench: Bench, workload: Workload, made: Sequence[Done], timed: bool = True) -> Row:
    """The row of a pair: each form is judged; right ones are timed, interleaved with the unchanged kernels. Where a
    form hangs, the other forms of its scheme are not tried: each would take the time limit, and a new process."""
    begin = time.monotonic()
    row: Row = {"name": name, "right": True, "schemes": {}}
    bench.open(workload)
    right: list[str] = []
    for done in made:
        if done.refused:
            row["schemes"][done.task.scheme] = {"scheme": done.task.scheme, "refused": done.refused}
        hung = ""
        for key, form in done.forms.items():
            row["schemes"][key] = facts = {"scheme": done.task.scheme, **_costs(form)}
            if hung:
                facts["failed"] = f"not tried, since `{hung}` hangs"
                continue
            answer = bench.judge(key, form.woven, form.cap, form.common)
            if isinstance(answer, Failed):
                facts["failed"] = answer.problem
                hung = key if answer.problem.endswith(HANGS) else ""
            elif answer.wrong:
                facts["wrong"] = answer.wrong
            else:
                right.append(key)
                facts |= {"contracted": answer.contracted} if answer.contracted else {}
            if form.common is None:  # the paper's merge need not be right
                row["right"] &= key in right
    if timed:
        taken = bench.time([*workload.baselines, *right], REPEATS, WARMUPS)
        if taken.problem:
            return {**row, "right": False, "problem": taken.problem}
        row["ms"] = {key: [statistics.median(t), min(t), max(t)] for key, t in taken.ms.items()}
    return {**row, "seconds": round(time.monotonic() - begin, 1)}


def _costs(form: Form) -> dict[str, Any]:
    found = form.woven.resources(form.cap)
    report = form.woven.report
    return {
        "registers": found.registers,
        "spill_bytes": found.spill_bytes,
        "occupancy": found.occupancy,
        "instructions": report.merged.instructions,
        "woven_fraction": report.woven_fraction,
        "assembler": found.assembler,
        **({"way": form.chosen} if form.chosen else {}),
    }


def run_all(
    subjects: Sequence[Subject],
    tasks_of: Callable[[Subject], Sequence[Task]],
    make: Callable[[Task], Done],
    devices: Sequence[int],
    workers: int,
    timed: bool = True,
) -> Iterator[Row]:
    """A row for each of them, in order."""
    with places(devices, workers) as there:
        made = {s: [there.pool.submit(make, task) for task in tasks_of(s)] for s in subjects}
        loads = {s: there.pool.submit(workload, s) for s in subjects}

        def row(subject: Subject) -> Row:
            done = [future.result() for future in made.pop(subject)]
            try:
                with there.bench() as bench:
                    return rows_of(subject.name, bench, loads.pop(subject).result(), done, timed)
            except goptx.GoptxError as error:
                return {"name": subject.name, "right": False, "schemes": {}, "problem": str(error)}

        for future in [there.threads.submit(row, subject) for subject in subjects]:
            yield future.result()
