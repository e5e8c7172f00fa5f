"""50 ways to run each pair of suite A, the same for all pairs, measured, and what `strategy="auto"` makes of it.

Pairs of other kernels of examples/kernels are measured in the same way.
"""

from __future__ import annotations

import multiprocessing
import statistics
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from measuring import REPEATS, Data, differences, in_turn, once

import goptx
from goptx.specification import Launch, read_specification
from suite_a import specification_of

Factors = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Way:
    """A strategy, by how many CTAs each kernel is coarsened, and a register cap."""

    strategy: str
    factors: Factors = (1, 1)
    cap: int | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        coarse = "" if self.factors == (1, 1) else f" x{self.factors[0]} x{self.factors[1]}"
        options = "".join(f" {name}={value}" for name, value in self.options.items())
        return f"{self.strategy}{coarse}{options}" + (f" capped at {self.cap}" if self.cap else "")

    @property
    def uncapped(self) -> Way:
        return Way(self.strategy, self.factors, None, self.options)


_MIXED: tuple[Factors, ...] = ((2, 1), (1, 2), (4, 2), (2, 4))
_FACTORS: tuple[Factors, ...] = ((1, 1), (2, 2), (4, 4), *_MIXED, (4, 1), (1, 4))
WAYS = (
    *(Way("weave", factors, cap) for cap in (None, 32) for factors in _FACTORS),
    *(Way("weave", factors, 40) for factors in ((2, 2), (4, 4), (4, 2), (2, 4), (4, 1), (1, 4))),
    *(Way("weave", factors, options={"slicing": None}) for factors in ((1, 1), (2, 2))),
    *(Way("weave", factors, options={"policy": "concat"}) for factors in ((1, 1), (2, 2))),
    *(Way("vertical", factors) for factors in ((1, 1), (2, 2), (4, 4))),
    *(Way("interleave", factors) for factors in ((1, 1), (2, 2), (4, 4), *_MIXED)),
    *(Way("horizontal", factors) for factors in ((1, 1), (2, 2))),
    *(Way("separate", factors) for factors in (*_FACTORS, (8, 8))),
)
FUSED = ("weave", "vertical", "interleave", "horizontal")
AUTO = Way("auto")
BASELINE = "streams"  # of the kernels as they are
TIME_LIMIT = 120  # seconds for a pair, with the data of its kernels


@dataclass(frozen=True, slots=True)
class Made:
    """What became of a way and of those that differ from it by a register cap only: the kernels with their machine
    code, or why they were refused."""

    way: Way
    caps: tuple[int, ...] = ()
    result: goptx.Woven | None = None
    refused: str = ""


def plans(pair: str) -> list[tuple[str, Way, tuple[int, ...]]]:
    """What is to be made for a pair: each way but for its caps."""
    return [
        (pair, way, tuple(w.cap for w in WAYS if w.cap and w.uncapped == way))
        for way in (*WAYS, AUTO)
        if way.cap is None
    ]


def make(plan: tuple[str, Way, tuple[int, ...]]) -> tuple[str, Made]:
    """Needs no GPU. Machine code without contraction is made too, to compare what it writes."""
    pair, way, caps = plan
    launches = launches_of(pair)
    sources = [
        one.file if factor == 1 else goptx.coarsen(one.file, factor)
        for one, factor in zip(launches, way.factors, strict=True)
    ]
    shapes = [goptx.Shape(one.grid, one.block, one.shared) for one in launches]
    try:
        result = goptx.fuse(*sources, strategy=way.strategy, shapes=shapes, **way.options)
        registers = result.resources().registers
        result.assembly(fmad=False)
        used = tuple(cap for cap in caps if cap < registers)
        for cap in used:
            result.assembly(cap)
    except goptx.GoptxError as error:
        return pair, Made(way, refused=str(error))
    return pair, Made(way, used, result)


def launches_of(pair: str) -> list[Launch]:
    return [read_specification(specification_of(name))[0] for name in pair.split("+")]


def run_all(pairs: Sequence[str], workers: int) -> Iterator[dict[str, Any]]:
    """A row for each pair: made by all processors ahead of the GPU, run in a child process that is replaced after a
    hang."""
    tasks = [plan for pair in pairs for plan in plans(pair)]
    child = Child()
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        made: dict[str, list[Made]] = {}
        for pair, one in pool.imap(make, tasks):
            made.setdefault(pair, []).append(one)
            if len(made[pair]) == len(plans(pair)):
                yield child.row(pair, made.pop(pair))
    child.end()


class Child:
    """The process that holds the GPU's data."""

    def __init__(self) -> None:
        self._held: tuple[Any, Connection] | None = None

    def row(self, pair: str, made: Sequence[Made]) -> dict[str, Any]:
        if self._held is None:
            ours, theirs = multiprocessing.get_context("spawn").Pipe()
            process = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
            process.start()
            theirs.close()
            self._held = process, ours
        connection = self._held[1]
        connection.send((pair, made))
        row: dict[str, Any] = {"name": pair, "right": False, "problem": f"no answer within {TIME_LIMIT} s: hangs"}
        try:
            if connection.poll(TIME_LIMIT):
                row = connection.recv()
        except (EOFError, OSError) as error:
            row["problem"] = f"the child ended without an answer ({error!r})"
        if "problem" in row:
            self.end()
        return row

    def end(self) -> None:
        if self._held:
            self._held[0].kill()
            self._held = None


def serve(connection: Connection) -> None:
    """The child's part."""
    kept: dict[tuple[str, int], Data] = {}
    while True:
        pair, made = connection.recv()
        try:
            connection.send(measured(pair, made, kept))
        except Exception:
            connection.send({"name": pair, "right": False, "problem": traceback.format_exc()[-2000:]})


def measured(pair: str, made: Sequence[Made], kept: dict[tuple[str, int], Data]) -> dict[str, Any]:
    """The row of a pair; `kept` has the data of kernels, by their name and place in the pair."""
    from goptx.device.launch import current_device

    device = current_device()
    launches = launches_of(pair)
    for i, (name, one) in enumerate(zip(pair.split("+"), launches, strict=True)):
        if (name, i) not in kept:
            kept[name, i] = Data(one, 1000 * i)
    data = [kept[name, i] for i, name in enumerate(pair.split("+"))]
    streams = [device.create_stream(), device.create_stream()]
    separate = next(m.result for m in made if m.way == Way("separate"))
    assert separate is not None

    def two_streams(fmad: bool) -> Callable[[], None]:
        one, two = started(separate, None, fmad, data)

        def run() -> None:
            streams[1].wait(streams[0].record())
            one(streams[0])
            two(streams[1])
            streams[0].wait(streams[1].record())

        return run

    def in_order(result: goptx.Woven, cap: int | None, fmad: bool) -> Callable[[], None]:
        starts = started(result, cap, fmad, data)

        def run() -> None:
            for start in starts:
                start(streams[0])

        return run

    row: dict[str, Any] = {"name": pair, "right": True, "ways": {}}
    baseline = two_streams(False)
    once(baseline, data, 0xA5)
    expected = [own.outputs() for own in data]
    for each in made:
        row["ways"][str(each.way)] = facts = dict[str, Any]()
        if each.result is None:
            facts["refused"] = each.refused
        else:
            found = differences(in_order(each.result, None, False), data, expected)
            facts["right"] = not any(count for count, _ in found)
            row["right"] &= facts["right"]
    del expected
    baseline = two_streams(True)
    once(baseline, data, 0xA5)
    expected = [own.outputs() for own in data]
    timed = {BASELINE: baseline}
    for each in made:
        if each.result is not None:
            for cap in (None, *each.caps):
                way = replace(each.way, cap=cap)
                resources = each.result.resources(cap)
                timed[str(way)] = in_order(each.result, cap, True)
                row["ways"].setdefault(str(way), {}).update(
                    registers=resources.registers,
                    spill_bytes=resources.spill_bytes,
                    occupancy=resources.occupancy,
                    instructions=each.result.report.merged.instructions,
                    differences_with_contraction=differences(timed[str(way)], data, expected),
                )
        if each.way == AUTO and each.result is not None and each.result.report.why:
            row["ways"][str(AUTO)]["chosen"] = each.result.report.why.chosen.way
    row["ms"] = in_turn(timed, streams[0], data)
    return row


def started(result: goptx.Woven, cap: int | None, fmad: bool, data: Sequence[Data]) -> list[Callable[[Any], None]]:
    """What starts each launch of a result on a stream."""
    from goptx.device.launch import launch, load

    cubin = result.cubin(cap, fmad=fmad)
    packed = result.arguments(*(own.arguments for own in data))
    starts = result.starts(None, None)
    each = packed if result.strategy == "separate" else [packed]
    return [
        partial(
            _start, launch, load(cubin, start.entry), own, start.shape.sizes("grid"), start.shape.sizes("block"),
            start.shape.shared or 0,
        )
        for start, own in zip(starts, each, strict=True)
    ]  # fmt: skip


def _start(launch: Any, kernel: Any, own: Any, grid: Any, block: Any, shared: int, stream: Any) -> None:
    launch(kernel, stream, own, grid=grid, block=block, shared=shared)


def speedup(row: dict[str, Any], way: str) -> float:
    return float(row["ms"][BASELINE][0] / row["ms"][way][0])


def best(row: dict[str, Any], *strategies: str) -> str:
    """The fastest way, of these strategies if any are given; "" if none was taken."""
    ways = [w for w in row["ms"] if w not in (BASELINE, str(AUTO)) and (not strategies or w.split()[0] in strategies)]
    return min(ways, key=lambda way: float(row["ms"][way][0]), default="")


def columns(row: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """By column of the table: the way that is meant, and what it is called there."""
    fused, separate = best(row, *FUSED), best(row, "separate")
    chosen = row["ways"].get(str(AUTO), {}).get("chosen", str(AUTO))
    return {
        "best fused": (fused, fused), "best separate": (separate, separate), "default weave": ("weave", "weave"),
        "auto": (str(AUTO), chosen),
    }  # fmt: skip


def cell(row: dict[str, Any], column: str) -> str:
    way, name = columns(row)[column]
    return f"{name} {speedup(row, way):.2f}" if way in row["ms"] else "-"


def summary(row: dict[str, Any]) -> str:
    state = "right" if row.get("right") else "WRONG"
    if "ms" not in row:
        return f"{row['name']:14} {state} {row.get('problem', '')[-600:]}"
    cells = "  ".join(f"{way} {speedup(row, way):.2f}" for way in sorted(row["ms"], key=lambda w: row["ms"][w][0])[:4])
    ends = f"{cell(row, 'best fused')} | auto: {cell(row, 'auto')}"
    return f"{row['name']:14} {state} {row['ms'][BASELINE][0]:6.3f} ms  {cells} | {ends}"


def table(document: dict[str, Any]) -> str:
    rows = [row for row in document["candidates"] if "ms" in row]
    lines = [
        f"# Pairs of kernels on {document['gpu']}: {len(WAYS)} ways to run each, and what auto chooses",
        "",
        f"Driver {document['driver']}, commit {document['commit']}. `{document['command']}`",
        "",
        f"Speedup over two streams with the kernels as they are (medians of {REPEATS}), in the shapes of "
        "examples/kernels (suite A: the paper's). `x2 x4`: the first kernel coarsened by 2, the second by 4. A cap "
        "that a kernel keeps by itself is not timed again. Right: outputs equal those of separate launches bit for "
        "bit, contraction off. All times are in the JSON file.",
        "",
    ]
    if rows:
        titles = list(columns(rows[0]))
        lines += [f"| pair | right | streams ms | {' | '.join(titles)} |", "|---" * (3 + len(titles)) + "|"]
        for row in rows:
            cells = " | ".join(cell(row, title) for title in titles)
            right = "yes" if row["right"] else "NO"
            lines.append(f"| {row['name']} | {right} | {row['ms'][BASELINE][0]:.3f} | {cells} |")
        found = [[speedup(r, way) for r in rows if (way := columns(r)[title][0]) in r["ms"]] for title in titles]
        means = [f"{statistics.geometric_mean(own):.3f} of {len(own)}" if own else "-" for own in found]
        lines.append(f"| geomean | | | {' | '.join(means)} |")
    return "\n".join(lines) + "\n"
