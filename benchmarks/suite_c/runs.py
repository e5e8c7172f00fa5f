"""Measures pairs and groups on one GPU: what was made is compared with the kernels alone, then timed beside them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import Any

from unseen.makers import Makers
from unseen.making import Made
from unseen.runs import REPEATS, WARMUPS, measured_row

import goptx
from goptx.device.child_process import Lost
from goptx.measuring.bench.baselines import SEPARATE
from goptx.tuning.judging import BenchLike
from suite_c.cases import GROUPS
from suite_c.forms import Way, called, made, tuned, ways_of, workload

Row = dict[str, Any]
Futures = dict[str, list[tuple[Way, Future[Made]]]]
PAIR, GROUP = "pair", "group"


@dataclass(slots=True)
class Places:
    """Where cases are measured; `tuners` make candidates of tuning, None: processes of their own. `green` are the names
    of partitions of the SMs, by green contexts, in which the bench runs pairs."""

    bench: BenchLike
    tuners: Executor | None = None
    green: Sequence[str] = field(default_factory=list)


def begun(names: Sequence[str], there: Makers, forms: int = 0) -> Futures:
    """The kernels of the pairs and groups, being made in order. `forms`: how many folded forms of each pair."""
    return {name: [(way, there.submit(made, name, way)) for way in ways_of(name, forms)] for name in names}


def rows(futures: Futures, there: Places, tune: float = 0) -> Iterator[Row]:
    """A row for each pair or group, in order. `tune`: seconds of tuning for each; 0: none."""
    for name, own in futures.items():
        begin = time.monotonic()
        row: Row = {"name": name, "kind": GROUP if name in GROUPS else PAIR, "right": False, "ways": {}}
        try:
            found = [_finished(way, future) for way, future in own]
            found += [tuned(name, there.bench, tune, there.tuners)] if tune else []
            row |= measured_row(there.bench, workload(name), found)
            row |= _in_green_contexts(row, there)
        except (goptx.GoptxError, Lost, RuntimeError) as error:
            row |= {"right": False, "problem": str(error)}
        yield {**row, "seconds": round(time.monotonic() - begin, 1)}


def _finished(way: Way, future: Future[Made]) -> Made:
    try:
        return future.result()
    except (Lost, RuntimeError) as error:
        return Made(called(way), facts={"refused": f"not made: {error}"})


def _in_green_contexts(row: Row, there: Places) -> Row:
    """Milliseconds of each run on partitions of the SMs, beside one after the other. A failure is recorded, and ends
    this for all pairs that follow; it is not one of the pair."""
    if not there.green or row["kind"] != PAIR or "ms" not in row:
        return {}
    taken = there.bench.time([SEPARATE, *there.green], REPEATS, WARMUPS)
    if taken.problem:
        there.green = []
        return {"green_problem": taken.problem}
    return {"green_ms": {key: [round(one, 5) for one in times] for key, times in taken.ms.items()}}
