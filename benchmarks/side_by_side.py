"""Separate kernels side by side, on a GPU: as goptx launches them, beside streams and CUDA graphs made by hand.

    python benchmarks/side_by_side.py [-o benchmarks/results] [--only "gemm + gather"]

Pairs of Triton kernels in the shapes of language models, if Triton and torch are installed, and pairs of suite A. Each
way is timed on the device, as a CUDA graph after other work, and launched from the host on an idle device. "streams"
and "graph" are made by hand, in both orders; names that end with "(assembled)" have machine code by goptx's assembler
in place of Triton's. So the table shows what an order of launches, events between streams, and an assembler cost.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from measuring import command_line, environment
from suite_a import NATURAL, specifications_of

import goptx
from goptx.errors import GoptxError
from goptx.measuring.bench.baselines import best_baseline
from goptx.measuring.bench.bench import Bench
from goptx.measuring.bench.questions import Failed
from goptx.options import STREAMS, Streams
from goptx.tuning.measured import Measured, measured

REPEATS, WARMUPS = 20, 3
OURS: Mapping[str, Streams] = {f"goptx, streams={streams!r}": streams for streams in STREAMS}
PAIRS_OF_SUITE_A = ("gelu+harris", "harris+wmma", "micnd+wmma")
Pair = Callable[[], Measured]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--only", help="only this pair")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    options = parser.parse_args()
    bench = Bench()
    rows = [run(name, pair, bench) for name, pair in pairs().items() if options.only in (None, name)]
    bench.close()
    document = {
        "date": date.today().isoformat(), "command": command_line(options.output), **environment(options.commit),
        "rows": rows,
    }  # fmt: skip
    print(table(document))
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        stem = options.output / f"{document['date']}-{document['gpu_short']}-side_by_side"
        stem.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n")
        stem.with_suffix(".md").write_text(table(document))
    return 0 if all("ms" in row for row in rows) else 1


def pairs() -> dict[str, Pair]:
    found: dict[str, Pair] = {}
    try:
        from triton_pairs import PAIRS as OF_TRITON

        found |= OF_TRITON
    except ImportError as error:
        print(f"without pairs of Triton kernels: {error}", flush=True)
    for pair in PAIRS_OF_SUITE_A:
        found[f"{pair} (natural)"] = lambda pair=pair: measured([], spec=specifications_of(pair, NATURAL))  # type: ignore[misc]
    return found


def run(name: str, pair: Pair, bench: Bench) -> dict[str, Any]:
    try:
        what = pair()
        bench.open(what.workload)
        return {"name": name, **_timed(what, bench)}
    except GoptxError as error:
        print(f"{name}: {error}", flush=True)
        return {"name": name, "problem": str(error)}


def _timed(what: Measured, bench: Bench) -> dict[str, Any]:
    for way, streams in OURS.items():
        made = goptx.fuse(*what.kernels, strategy="separate", shapes=what.shapes, streams=streams)
        answer = bench.judge(way, made)
        if isinstance(answer, Failed) or answer.wrong:
            return {"problem": f"{way}: {answer}"}
    names = [*what.workload.baselines, *OURS]
    taken = [bench.time(names, REPEATS, WARMUPS, launched) for launched in (False, True)]
    if problem := next((one.problem for one in taken if one.problem), ""):
        return {"problem": problem}
    device, launched = taken
    return {"ms": device.ms, "launched_ms": launched.ms, "host_us": launched.host_us}


def table(document: Mapping[str, Any]) -> str:
    lines = [
        f"# Kernels side by side on {document['gpu']}", "",
        f"{document['date']}, driver {document['driver']}, commit {document['commit']}. `{document['command']}`", "",
        f"Medians of {REPEATS} runs or more, in turn. Speed over the fastest way made by hand with the kernels as "
        "their framework made them; host: microseconds until the host had launched.",
    ]  # fmt: skip
    for row in document["rows"]:
        lines += ["", f"## {row['name']}", ""]
        lines += list(_rows(row)) if "ms" in row else [f"Not measured: {row['problem']}"]
    return "\n".join(lines) + "\n"


def _rows(row: Mapping[str, Any]) -> Iterator[str]:
    yield "| way | ms on the device | speed | ms launched | speed | host us |"
    yield "|---" * 6 + "|"
    medians = {
        of: {way: statistics.median(runs) for way, runs in row[of].items()} for of in ("ms", "launched_ms", "host_us")
    }
    best = {of: medians[of][best_baseline(medians[of])] for of in ("ms", "launched_ms")}
    for way, ms in medians["ms"].items():
        launched = medians["launched_ms"][way]
        yield (
            f"| {way} | {ms:.4f} | {best['ms'] / ms:.3f} | {launched:.4f} | {best['launched_ms'] / launched:.3f} | "
            f"{medians['host_us'][way]:.0f} |"
        )


if __name__ == "__main__":
    sys.exit(main())
