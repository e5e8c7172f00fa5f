"""Measures pairs on one GPU: what was made is compared with the kernels alone, then timed beside them, in turn."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Any

from unseen.agreement import baseline, speedup
from unseen.makers import Makers
from unseen.making import TUNED, Made

import goptx
from goptx.device.child_process import Lost
from goptx.measuring.bench.baselines import SEPARATE
from goptx.measuring.bench.bench import Bench
from goptx.measuring.bench.questions import Failed
from goptx.measuring.bench.workload import Workload
from goptx.tuning.measured import measured
from suite_b import HFUSE, measured_of, specifications_of, tolerance_of
from suite_b.best import FILE
from suite_b.ways import TOTAL, Way, even, facts_of, has_hashes, made, searched, ways_of

REPEATS, WARMUPS = 20, 3

Row = dict[str, Any]
Blocks = tuple[tuple[int, ...], ...]
Futures = dict[str, list[tuple[Way, Future[Made]]]]


@dataclass(frozen=True, slots=True)
class Places:
    """Where pairs are measured and kernels are made; `tuners` make candidates of tuning."""

    bench: Bench
    makers: Makers
    tuners: Executor


def begun(pairs: Sequence[str], makers: Makers, small: bool = False) -> Futures:
    """The kernels of the pairs, being made in order."""
    return {pair: [(way, makers.submit(made, pair, way, small)) for way in ways_of(pair)] for pair in pairs}


def rows(pairs: Sequence[str], there: Places, budget: float, small: bool = False) -> Iterator[Row]:
    """A row for each pair, in order. `budget`: seconds of tuning for each; 0: none. `small`: nothing is timed."""
    futures = begun(pairs, there.makers, small)
    for pair in pairs:
        begin = time.monotonic()
        row: Row = {"pair": pair, "hfuse": HFUSE[pair], "right": False, "ways": {}}
        try:
            found = [finished(way, future) for way, future in futures.pop(pair)]
            if budget and not small:
                found.append(_tuned(pair, there, budget))
            row |= measured_row(pair, there.bench, found, small)
        except (goptx.GoptxError, Lost, RuntimeError) as error:
            row["problem"] = str(error)
        yield {**row, **summed_up(row), "seconds": round(time.monotonic() - begin, 1)}


def finished(way: Way, future: Future[Made]) -> Made:
    try:
        return future.result()
    except (Lost, RuntimeError) as error:
        return Made(str(way), facts={"refused": f"not made: {error}"})


def _tuned(pair: str, there: Places, budget: float) -> Made:
    """The result of tuning."""
    sizes = None if has_hashes(pair) else TOTAL
    try:
        best = goptx.tune(
            spec=specifications_of(pair), d0=sizes, budget=budget, tolerance=tolerance_of(pair),
            executor=there.tuners, benches=[there.bench], progress=False,
        )  # fmt: skip
    except goptx.GoptxError as error:
        return Made(TUNED, facts={"refused": str(error)})
    facts = {"chosen": str(best.candidate), "tried": len(best.table.trials), "held": best.to_dict(FILE.parent)}
    return Made(TUNED, best.fused, {**facts_of(best.fused), **facts})


def measured_row(pair: str, bench: Bench, ways: Sequence[Made], small: bool = False) -> Row:
    """Whether each way is right, and milliseconds of each run of what is right and of the unchanged kernels."""
    row: Row = {"right": True, "ways": {one.way: dict(one.facts) for one in ways}}
    right = _judged(pair, bench, ways, row, small)
    if small:
        return row
    row["alone_ms"] = [alone_ms(bench, kernel) for kernel in pair.split("+")]
    return timed(bench, measured_of(pair, tolerance=tolerance_of(pair)).workload, right, row)


def timed(bench: Bench, workload: Workload, ways: Sequence[Made], row: Row) -> Row:
    """The row with milliseconds of each run of those ways that are right, and of the unchanged kernels, in turn."""
    bench.open(workload)
    keys = [one.way for one in ways if _judge(bench, one, row)]
    taken = bench.time([*workload.baselines, *keys], REPEATS, WARMUPS)
    if taken.problem:
        return {**row, "right": False, "problem": taken.problem}
    return {**row, "ms": {key: [round(one, 5) for one in times] for key, times in taken.ms.items()}}


def alone_ms(bench: Bench, kernel: str, share: float = 1.0) -> float:
    """The median time of a kernel alone that does this share of its work."""
    bench.open(measured_of(kernel, shares=(share,) if share < 1 else ()).workload)
    taken = bench.time([SEPARATE], REPEATS, WARMUPS)
    return round(statistics.median(taken.ms[SEPARATE]), 5) if not taken.problem else math.nan


def _judged(pair: str, bench: Bench, ways: Sequence[Made], row: Row, small: bool) -> list[Made]:
    """Those that write, bit for bit, what the kernels alone write in the same blocks."""
    right = []
    made = [one for one in ways if one.woven]
    for blocks in dict.fromkeys(blocks_of(pair, one, small) for one in made):
        bench.open(_in_blocks(pair, blocks, small))
        right += [one for one in made if blocks_of(pair, one, small) == blocks and _judge(bench, one, row)]
    return [one for one in made if one in right]


def _judge(bench: Bench, one: Made, row: Row) -> bool:
    assert one.woven
    facts = row["ways"][one.way]
    answer = bench.judge(one.way, one.woven)
    if isinstance(answer, Failed):
        facts["failed"] = answer.problem
    elif answer.wrong:
        facts["wrong"] = answer.wrong
    elif answer.contracted:
        facts["contracted"] = answer.contracted
    if not bench.holds(one.way):
        row["right"] = False
    return bench.holds(one.way)


def blocks_of(pair: str, one: Made, small: bool = False) -> Blocks:
    """Of the kernels within the fused one, if their results depend on it; otherwise their own."""
    own = tuple(tuple(n or 1 for n in shape.block) for shape in measured_of(pair, small).shapes)
    plan = one.woven.plan if one.woven else None
    if tolerance_of(pair) is None or plan is None or one.facts["strategy"] != "horizontal":
        return own
    return tuple(tuple(n or 1 for n in shape.block) for shape in plan.shapes)


def _in_blocks(pair: str, blocks: Blocks, small: bool) -> Workload:
    """The kernels with their data, in these blocks."""
    shapes = [
        goptx.Shape(shape.grid, block, shape.shared)
        for shape, block in zip(measured_of(pair, small).shapes, blocks, strict=True)
    ]
    return measured([], spec=specifications_of(pair), small=small, shapes=shapes).workload


def summed_up(row: Row) -> Row:
    """The figures by which pairs are compared: milliseconds of the best separate launches, of the tuned kernel and of
    the best of HFUSE's search, and speedups over the former."""
    if "ms" not in row:
        return {}
    median = {way: statistics.median(times) for way, times in row["ms"].items()}
    own = [str(way) for way in searched(row["pair"]) if str(way) in median]
    best = min(own, key=lambda way: median[way], default=None)
    gains = {way: round(gain, 4) for way in row["ways"] if (gain := speedup(row, way))}
    return {
        "baseline": baseline(row),
        "baseline_ms": median[baseline(row)],
        "tuned_ms": median.get(TUNED),
        "search": best,
        "search_ms": median[best] if best else None,
        "even": str(even(row["pair"])),
        "speedups": gains,
    }
