"""When fusion loses: pairs of made-up kernels that lack registers, instruction cache or parallelism together.

    python benchmarks/when_fusion_loses.py [-o benchmarks/results] [--only registers|code|parallelism]

Each pair is timed as it is (one kernel after the other, two streams, a CUDA graph of two branches) and fused in several
ways. Right first: each way has to write what the kernels alone write, bit for bit. Times are medians of device events,
the ways in turn; all runs are in a process of its own under a time limit. What `auto` chooses for a pair is noted, too.
Needs ptxas and cuda-python.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from measuring import command_line, environment

import goptx
from goptx.device.assembler_log import sections
from goptx.launch.shape import Shape
from goptx.measuring.bench.baselines import GRAPH, GRAPH_REVERSED, SEPARATE, STREAMS, STREAMS_REVERSED
from goptx.measuring.bench.bench import Bench
from goptx.measuring.bench.questions import Failed
from goptx.tuning.measured import Measured, measured

WARMUPS, REPEATS = 3, 20
BLOCK = 256
SMS = 132  # of an H200
BASELINES = (SEPARATE, STREAMS, GRAPH, STREAMS_REVERSED, GRAPH_REVERSED)
WAYS: Mapping[str, Mapping[str, Any]] = {
    "weave": {"strategy": "weave"},
    "vertical": {"strategy": "vertical"},
    "horizontal": {"strategy": "horizontal"},
    "interleave": {"strategy": "interleave"},
    "interleave, front": {"strategy": "interleave", "placement": "front"},
}
REASONS = ("registers", "code", "parallelism")


@dataclass(frozen=True, slots=True)
class Kernel:
    """A loop of `trips` passes of `size` multiply-adds over `live` registers; where it `waits`, each pass begins with a
    load from global memory and a barrier, as those of kernels that work on tiles do."""

    live: int = 8
    size: int = 256
    trips: int = 64
    ctas: int = SMS * 8
    waits: bool = False

    def ptx(self, name: str) -> str:
        """`name(.u64 in, .u64 out)`; `in` has an element for each thread in each pass, `out` one for each thread."""
        total = sum_of(self.live)
        load = "ld.global.f32 %v, [%in]; add.u64 %in, %in, %step; bar.sync 0; add.f32 %f0, %f0, %v;" * self.waits
        return f"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry {name}(.param .u64 in, .param .u64 out) {{
.reg .f32 %f<{self.live}>, %v, %c; .reg .b32 %thread, %group, %own, %pass;
.reg .b64 %in, %out, %step, %at; .reg .pred %more;
ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
mov.u32 %thread, %tid.x; mov.u32 %group, %ctaid.x; mad.lo.u32 %own, %group, {BLOCK}, %thread;
mul.wide.u32 %at, %own, 4; add.u64 %in, %in, %at; add.u64 %out, %out, %at; mov.u64 %step, {4 * self.ctas * BLOCK};
{"".join(f"add.u32 %own, %own, {i}; cvt.rn.f32.u32 %f{i}, %own;" for i in range(self.live))}
cvt.rn.f32.u32 %c, %own; mul.f32 %c, %c, 0f33800000; mov.u32 %pass, 0;
LOOP: {load}
{chr(10).join(self._steps())}
add.u32 %pass, %pass, 1; setp.lt.u32 %more, %pass, {self.trips}; @%more bra LOOP;
{total}
st.global.f32 [%out], %f0;
ret;
}}
"""

    def _steps(self) -> Iterator[str]:
        """Each takes another register, so that all stay live around the loop; factors below 1 keep them
        finite."""
        for i in range(self.size):
            factor = np.float32((i % 61 - 30.5) / 32).view(np.uint32)
            yield f"fma.rn.f32 %f{i % self.live}, %f{(7 * i + 3) % self.live}, 0f{factor:08X}, %c;"

    @property
    def arguments(self) -> list[np.ndarray[Any, Any]]:
        """Of its parameters, in order."""
        threads = self.ctas * BLOCK
        filled = np.random.default_rng(self.size).random(threads * self.trips if self.waits else 1, np.float32)
        return [filled, np.zeros(threads, np.float32)]


def sum_of(live: int) -> str:
    return "".join(f"add.f32 %f0, %f0, %f{i};" for i in range(1, live))


@dataclass(frozen=True, slots=True)
class Case:
    """Two kernels, and what they lack together."""

    reason: str
    name: str
    first: Kernel
    second: Kernel

    @property
    def measured(self) -> Measured:
        kernels = self.first, self.second
        sources = [kernel.ptx(name) for kernel, name in zip(kernels, ("first", "second"), strict=True)]
        shapes = [Shape(kernel.ctas, BLOCK) for kernel in kernels]
        return measured(sources, shapes=shapes, args=[kernel.arguments for kernel in kernels])


def cases() -> Iterator[Case]:
    for live in (24, 48, 96, 144):
        tiles = Kernel(live, 2 * live, waits=True)
        yield Case("registers", f"{live} registers live in each", tiles, tiles)
    for size in (500, 2000, 3000, 3500, 4000, 5000, 6000, 7000, 9000):
        loop = Kernel(size=size, trips=400_000 // size)
        yield Case("code", f"loops of {size} instructions", loop, loop)
    few = Kernel(trips=2000, ctas=SMS // 2)
    yield Case("parallelism", "two kernels, each for half of the SMs", few, few)
    chain = Kernel(live=1, trips=1200, ctas=4)
    yield Case("parallelism", "a long chain in 4 CTAs, and a full grid", chain, Kernel(ctas=SMS * 64))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    parser.add_argument("--only", choices=REASONS, help="the pairs that lack this")
    options = parser.parse_args()
    bench = Bench()
    rows = [run(case, bench) for case in cases() if options.only in (None, case.reason)]
    bench.close()
    document = {"command": command_line(options.output), **environment(options.commit), "rows": rows}
    print(table(document))
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        stem = options.output / f"{date.today().isoformat()}-{document['gpu_short']}-when_fusion_loses"
        stem.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n")
        stem.with_suffix(".md").write_text(table(document))
    return 0 if all(row["right"] for row in rows) else 1


def made(subject: Measured) -> dict[str, goptx.Woven | str]:
    """Each candidate, or why it is refused."""
    found: dict[str, goptx.Woven | str] = {}
    for way, options in WAYS.items():
        try:
            found[way] = goptx.fuse(*subject.kernels, shapes=subject.shapes, **options)
        except goptx.GoptxError as error:
            found[way] = str(error)
    return found


def run(case: Case, bench: Bench) -> dict[str, Any]:
    """A row of results; its times stand in milliseconds: median, least, most."""
    subject = case.measured
    ways: dict[str, Any] = {"separate": costs(subject.workload.separate)}
    row: dict[str, Any] = {"reason": case.reason, "name": case.name, "right": True, "ways": ways}
    row["auto"] = chosen(subject)
    bench.open(subject.workload)
    right = []
    for way, woven in made(subject).items():
        if isinstance(woven, str):
            ways[way] = {"refused": woven}
            continue
        answer = bench.judge(way, woven)
        wrong = answer.problem if isinstance(answer, Failed) else answer.wrong
        ways[way] = {**costs(woven), **({"wrong": wrong} if wrong else {})}
        row["right"] &= not wrong
        right += [] if wrong else [way]
    taken = bench.time([*BASELINES, *right], REPEATS, WARMUPS)
    if taken.problem:
        return {**row, "right": False, "problem": taken.problem}
    return {**row, "ms": {key: [statistics.median(t), min(t), max(t)] for key, t in taken.ms.items()}}


def costs(woven: goptx.Woven) -> dict[str, Any]:
    """What the assembler made: of several kernels the most of each."""
    found = woven.resources()
    code = [size for name, (_, size) in sections(woven.cubin()).items() if name.startswith(".text")]
    return {"registers": found.registers, "spill_bytes": found.spill_bytes, "occupancy": found.occupancy,
            "code_bytes": max(code), "assembler": found.assembler}  # fmt: skip


def chosen(subject: Measured) -> str:
    decision = goptx.fuse(*subject.kernels, shapes=subject.shapes, strategy="auto").report.decision
    return decision.chosen.name if decision else "separate"


def table(document: Mapping[str, Any]) -> str:
    lines = [
        f"# When fusion loses, on {document['gpu']}", "",
        f"Driver {document['driver']}, commit {document['commit']}. `{document['command']}`", "",
        f"Speed over the best of one after the other, two streams and a graph of two branches: medians of {REPEATS}. "
        "Beside it: registers, bytes spilled, occupancy, kB of machine code (of separate kernels: the most). Below 1 "
        "the fused kernel loses. `auto` is what the cost model chooses without measuring.", "",
        "| lacks | pair | best separate ms | separate kernels | " + " | ".join(WAYS) + " | auto |",
        "|---" * (len(WAYS) + 5) + "|",
    ]  # fmt: skip
    for row in document["rows"]:
        head = f"| {row['reason']} | {row['name']} |"
        if "ms" not in row:
            lines.append(f"{head} {row.get('problem', '')[-200:]!r} |" + " |" * (len(WAYS) + 2))
            continue
        best = min(row["ms"][key][0] for key in BASELINES if key in row["ms"])
        cells = [_cell(row["ways"][way], best, row["ms"].get(way)) for way in WAYS]
        own = _used(row["ways"]["separate"])
        lines.append(f"{head} {best:.3f} | {own} | {' | '.join(cells)} | {row['auto']} |")
    return "\n".join(lines) + "\n"


def _cell(facts: Mapping[str, Any], best: float, ms: list[float] | None) -> str:
    if ms is None:
        return "refused" if "refused" in facts else "WRONG"
    return f"{best / ms[0]:.2f} ({_used(facts)})"


def _used(facts: Mapping[str, Any]) -> str:
    spilled = f", {facts['spill_bytes']} B spilled" if facts["spill_bytes"] else ""
    occupancy = f", {facts['occupancy']:.0%}" if facts["occupancy"] is not None else ""
    return f"{facts['registers']}{spilled}{occupancy}, {facts['code_bytes'] / 1000:.0f} kB"


if __name__ == "__main__":
    sys.exit(main())
