"""Groups of more than two kernels on a GPU: what `tune` finds for them, beside each strategy as it is.

    python benchmarks/tuned_groups.py [-o benchmarks/results] [--budget 20] [--only "six embedding bags"]

Six embedding bags of a recommendation model, and the steps of an optimizer for four tensors of different sizes. Each
group is tuned; then the result and the plain strategies are measured in another process, on other data, in turn with
the unchanged kernels in all ways, in two orders. Speed is over the fastest of these ways. The exit status is 1 if a
result is below 0.99 of it, or more than 3 % slower than a plain strategy. Takes less than two minutes. Needs ptxas and
cuda-python.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from launch_cases import BLOCK, CASES, HEAD
from measuring import command_line, environment

import goptx
from goptx.errors import GoptxError
from goptx.measuring.bench.baselines import best_baseline
from goptx.measuring.bench.bench import Bench
from goptx.measuring.bench.questions import Failed, Judged
from goptx.options import MEASURED_STRATEGIES
from goptx.tuning.judging import BenchLike
from goptx.tuning.measured import Measured, measured
from goptx.tuning.tune import tune

REPEATS, WARMUPS = 20, 3
TUNED = "tuned"
BAR, NEAR = 0.99, 0.97  # of the fastest unchanged way; of the fastest plain strategy
COLUMNS, BAGS, ROWS = 128, 2048, 50_000  # of an embedding; bags of a batch; of a table
PER_BAG = (20, 20, 40, 8, 1, 60)
SIZES = (1 << 22, 1 << 20, 1 << 20, 1 << 16)  # elements of the optimizer's tensors
PLAIN = tuple(strategy for strategy in MEASURED_STRATEGIES if strategy != "separate")


def bag(name: str) -> str:
    """A kernel that adds up `count` rows of a table for each bag: a CTA is a bag, a thread a column."""
    return f"""{HEAD}
.visible .entry {name}(
    .param .u64 {name}_out, .param .u64 {name}_table, .param .u64 {name}_rows, .param .u32 {name}_count)
{{
    .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<3>;
    ld.param.u64 %rd1, [{name}_out]; ld.param.u64 %rd2, [{name}_table]; ld.param.u64 %rd3, [{name}_rows];
    ld.param.u32 %r1, [{name}_count];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mul.lo.u32 %r5, %r2, %r1; mul.wide.u32 %rd4, %r5, 4; add.s64 %rd3, %rd3, %rd4;
    mul.wide.u32 %rd5, %r4, 4; add.s64 %rd2, %rd2, %rd5;
    mad.lo.u32 %r5, %r2, %r3, %r4; mul.wide.u32 %rd6, %r5, 4; add.s64 %rd1, %rd1, %rd6;
    shl.b32 %r6, %r3, 2; mov.f32 %f1, 0f00000000; mov.u32 %r5, 0;
NEXT:
    setp.ge.u32 %p, %r5, %r1; @%p bra DONE;
    ld.global.u32 %r7, [%rd3]; mul.wide.u32 %rd7, %r7, %r6; add.s64 %rd7, %rd2, %rd7;
    ld.global.f32 %f2, [%rd7]; add.f32 %f1, %f1, %f2;
    add.s64 %rd3, %rd3, 4; add.u32 %r5, %r5, 1; bra NEXT;
DONE:
    st.global.f32 [%rd1], %f1; ret;
}}
"""


@dataclass(frozen=True)
class Group:
    """Kernels with their shapes and, by name, their arguments."""

    kernels: tuple[str, ...]
    shapes: tuple[goptx.Shape, ...]
    args: dict[str, str]

    def measured(self, seed: int) -> Measured:
        return measured(self.kernels, shapes=self.shapes, args=self.args, seed=seed)


def bags(bags: int = BAGS, rows: int = ROWS, per_bag: Sequence[int] = PER_BAG) -> Group:
    arguments = [
        [f"f32[{bags * COLUMNS}]:zeros", f"f32[{rows * COLUMNS}]", f"u32[{bags * count}]:0..{rows}", f"u32:{count}"]
        for count in per_bag
    ]
    kernels = tuple(bag(f"bag{i}") for i in range(len(per_bag)))
    return Group(kernels, (goptx.Shape(bags, COLUMNS),) * len(per_bag), _named(arguments))


def steps(sizes: Sequence[int] = SIZES) -> Group:
    (case,) = (case for case in CASES if case.name == "optimizer")
    *numbers, _ = case.numbers
    arguments = [[*[f"f32[{n}]"] * case.arrays, *(f"f32:{value}" for value in numbers), f"u32:{n}"] for n in sizes]
    return Group(case.texts, tuple(goptx.Shape(-(-n // BLOCK), BLOCK) for n in sizes), _named(arguments))


def _named(arguments: Sequence[Sequence[str]]) -> dict[str, str]:
    return {f"{chr(ord('A') + k)}:{i}": text for k, own in enumerate(arguments) for i, text in enumerate(own)}


GROUPS = {"six embedding bags": bags(), "four optimizer steps": steps()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--budget", type=float, default=20, help="seconds to tune a group (%(default)s)")
    parser.add_argument("--only", help="only this group")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    options = parser.parse_args()
    rows, bench = [], Bench()
    for name, group in GROUPS.items():
        if options.only in (None, name):
            rows.append(run(name, group, options.budget, bench))
            print("\n".join(_lines(rows[-1])), flush=True)
    bench.close()
    document = {
        "date": date.today().isoformat(), "command": command_line(options.output), **environment(options.commit),
        "budget": options.budget, "rows": rows,
    }  # fmt: skip
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        stem = options.output / f"{document['date']}-{document['gpu_short']}-tuned_groups"
        stem.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n")
        stem.with_suffix(".md").write_text(table(document))
    return 0 if all(is_good(row) for row in rows) else 1


def run(
    name: str, group: Group, budget: float | None, bench: BenchLike, benches: Sequence[BenchLike] | None = None
) -> dict[str, Any]:
    """A row: the candidate that was found, its speed by the tuner, and the times of the second measurement, by `bench`.
    `benches` are those of the tuner."""
    try:
        best = tune(
            *group.kernels, shapes=group.shapes, args=group.args, budget=budget, benches=benches, seed=1, progress=False
        )
        ms, refused = _measured(group.measured(seed=2).raised(best.fused.assembly().arch), best.fused, bench)
    except GoptxError as error:
        return {"name": name, "problem": str(error)}
    return {"name": name, "found": str(best.candidate), "claimed": best.speedup, "ms": ms, "refused": refused}


def _measured(what: Measured, found: goptx.Woven, bench: BenchLike) -> tuple[dict[str, float], dict[str, str]]:
    """Medians of the times of all ways, and why strategies have none. Raises `GoptxError` where the result is wrong."""
    bench.open(what.workload)
    problem = _problem(bench.judge(TUNED, found, None))
    if problem:
        raise GoptxError(f"the tuned kernel: {problem}")
    names, refused = [*what.workload.baselines, TUNED], dict[str, str]()
    for strategy in PLAIN:
        try:
            made = goptx.fuse(*what.kernels, strategy=strategy, shapes=what.shapes, arch=what.arch)
            problem = _problem(bench.judge(strategy, made, None))
        except GoptxError as error:
            problem = str(error)
        if problem:
            refused[strategy] = problem
        else:
            names.append(strategy)
    taken = [bench.time(order, REPEATS, WARMUPS) for order in (names, names[::-1])]
    if failed := next((one.problem for one in taken if one.problem), ""):
        raise GoptxError(failed)
    return {name: statistics.median([*taken[0].ms[name], *taken[1].ms[name]]) for name in names}, refused


def _problem(answer: Judged | Failed) -> str:
    return answer.problem if isinstance(answer, Failed) else answer.wrong


def is_good(row: Mapping[str, Any]) -> bool:
    """Whether the result is not slower than the unchanged kernels and the plain strategies."""
    if "ms" not in row:
        return False
    ms = row["ms"]
    plain = min((ms[strategy] for strategy in PLAIN if strategy in ms), default=ms[TUNED])
    return bool(ms[best_baseline(ms)] / ms[TUNED] >= BAR and plain / ms[TUNED] >= NEAR)


def table(document: Mapping[str, Any]) -> str:
    lines = [
        f"# Groups of kernels, tuned, on {document['gpu']}", "",
        f"{document['date']}, driver {document['driver']}, commit {document['commit']}. `{document['command']}`", "",
        f"Tuned for {document['budget']:g} s each; then measured in another process on other data, medians of "
        f"{2 * REPEATS} runs in two orders. Speed over the fastest way to run the unchanged kernels.",
    ]  # fmt: skip
    for row in document["rows"]:
        lines += ["", *_lines(row)]
    return "\n".join(lines) + "\n"


def _lines(row: Mapping[str, Any]) -> Iterator[str]:
    yield f"## {row['name']}"
    yield ""
    if "ms" not in row:
        yield f"Not measured: {row['problem']}"
        return
    yield f"Found: `{row['found']}`, {row['claimed']:.3f} by the tuner" + ("" if is_good(row) else "; TOO SLOW") + "."
    yield ""
    yield "| way | ms | speed |"
    yield "|---|---|---|"
    ms = row["ms"]
    for way, spent in ms.items():
        yield f"| {way} | {spent:.4f} | {ms[best_baseline(ms)] / spent:.3f} |"
    for strategy, why in row["refused"].items():
        yield f"| {strategy} | | {why.splitlines()[0]} |"


if __name__ == "__main__":
    sys.exit(main())
