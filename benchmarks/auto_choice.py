"""What `strategy="auto"` chooses for each measured pair, against measurements of 50 candidates for running it.

`python benchmarks/auto_choice.py` reads the newest results of `python -m benchmarks.suite_a --candidates`, those of
suite A in both shapes and those of other kernels of examples/; it needs no GPU. The cost model was tuned on results of
suite A; `--refit` tunes it again without each kernel (auto_refit.py). With `-o FOLDER` it writes
DATE-cpu-auto_choice.json and .md.
"""

from __future__ import annotations

import argparse
import datetime
import json
import multiprocessing
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import auto_refit
from suite_a import KERNELS, NATURAL, PAPER, launches_of
from suite_a.candidates import BASELINE
from suite_a.candidates import best as best_way

import goptx

RESULTS = Path(__file__).parent / "results"
NEAR = 1.1  # a choice is near the best if it takes at most so many times as long


def choose(pair: str) -> tuple[str, dict[str, Any], float]:
    """The pair, the report's reasons, seconds of the processor that it took. A pair in the natural shape is called
    "natural gelu+lud"."""
    shape, _, kernels = pair.rpartition(" ")
    launches = launches_of(kernels, shape or PAPER)
    shapes = [goptx.Shape(one.grid, one.block, one.shared) for one in launches]
    begin = time.process_time()
    result = goptx.fuse(*(one.file for one in launches), strategy="auto", shapes=shapes)
    assert result.report.decision
    return pair, result.report.decision.to_dict(), time.process_time() - begin


def _named(row: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    shape = document.get("shape", PAPER)
    return row if shape == PAPER else {**row, "name": f"{shape} {row['name']}"}


def measured(row: dict[str, Any], way: str) -> float | None:
    """Milliseconds; those without the cap if the kernel is below it anyway; None if nothing was measured. Kernels as
    they are, side by side, are the two streams; coarsened ones were measured one after the other."""
    if way.startswith("separate "):
        way = BASELINE if way.startswith("separate streams=") else way.partition(" streams=")[0]
    uncapped, _, cap = way.partition(" capped at ")
    if way not in row["ms"] and not (cap and row["ways"].get(uncapped, {}).get("registers", 256) <= int(cap)):
        return None
    return float(row["ms"].get(way, row["ms"].get(uncapped))[0])


def compared(row: dict[str, Any], why: dict[str, Any], seconds: float) -> dict[str, Any]:
    pairs = [(c["cycles"], ms) for c in why["candidates"] if (ms := measured(row, c["name"])) is not None]
    chosen = why["candidates"][0]
    taken = measured(row, chosen["name"])
    best = best_way(row)
    return {
        "name": row["name"], "chosen": chosen["name"], "estimated_cycles": chosen["cycles"], "ms": taken,
        "best": best, "best_ms": row["ms"][best][0], "streams_ms": row["ms"][BASELINE][0], "seconds": seconds,
        "made": sum(c["made"] for c in why["candidates"] if " capped" not in c["name"]),
        "rank_correlation": spearman(pairs), "estimated_and_measured": pairs, "why": why,
    }  # fmt: skip


def spearman(pairs: Sequence[tuple[float, float]]) -> float:
    """Rank correlation; equal numbers share their mean rank."""
    ranks = [_ranks([pair[k] for pair in pairs]) for k in range(2)]
    return statistics.correlation(*ranks)


def _ranks(numbers: Sequence[float]) -> list[float]:
    order = sorted(numbers)
    return [order.index(n) + (order.count(n) - 1) / 2 for n in numbers]


def table(document: dict[str, Any]) -> str:
    rows = document["pairs"]
    lines = [
        f"# What auto chooses, against measurements on {document['gpu']}", "",
        f"`{document['command']}`, commit {document['commit']}; measured: {', '.join(document['measured'])}. No GPU "
        "was asked. Speedups are over two streams. The rank correlation (Spearman) is that of the estimates of all "
        "ways that auto considers with what was measured of them; `-` is a choice that was not measured. Suite A is in "
        "sample: the cost model was tuned on such measurements. Of the others two rules were made in their sight: "
        "which kernels with loops are coarsened, and how many registers a cap may take (its natural shape).", "",
        "| pair | chosen | speedup | best of 50 | speedup | chosen / best | made | seconds | rank correlation |",
        "|---|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for r in rows:
        speed, share = ("-", "-") if r["ms"] is None else (f"{_gain(r):.2f}", f"{r['best_ms'] / r['ms']:.2f}")
        lines.append(
            f"| {r['name']} | {r['chosen']} | {speed} | {r['best']} | {r['streams_ms'] / r['best_ms']:.2f} | {share} | "
            f"{r['made']} | {r['seconds']:.1f} | {r['rank_correlation']:.2f} |"
        )
    of_suite = [r for r in rows if {*r["name"].split("+")} <= {*KERNELS}]
    natural = [r for r in rows if r["name"].startswith(NATURAL)]
    others = [r for r in rows if r not in (*of_suite, *natural)]
    parts = ("Suite A", of_suite), ("Suite A in its natural shape", natural), ("Other kernels of examples/", others)
    for title, own in parts:
        lines += ["", *_summary(title, own)] if own else []
    if document.get("refit"):
        lines += auto_refit.table_of(document["refit"], 1 / NEAR)
    return "\n".join(lines) + "\n"


def _gain(row: dict[str, Any]) -> float:
    return float(row["streams_ms"] / row["ms"])


def _summary(title: str, rows: Sequence[dict[str, Any]]) -> list[str]:
    known = [r for r in rows if r["ms"] is not None]
    near = sum(r["ms"] <= NEAR * r["best_ms"] for r in known)
    everything = [p for r in rows for p in r["estimated_and_measured"]]
    unlike = [p for r in rows if "wmma" not in r["name"] for p in r["estimated_and_measured"]]
    lines = [
        f"{title}: chosen, geomean {statistics.geometric_mean(map(_gain, known)):.3f} over two streams, least "
        f"{min(map(_gain, known)):.2f}; within {NEAR - 1:.0%} of the best for {near} of {len(rows)} pairs; best of all "
        f"ways {statistics.geometric_mean([r['streams_ms'] / r['best_ms'] for r in rows]):.3f}. Rank correlation: mean "
        f"over pairs {statistics.mean(r['rank_correlation'] for r in rows):.3f}, over all ways of all pairs "
        f"{spearman(everything):.3f}. Seconds of the processor: {sum(r['seconds'] for r in rows):.1f} in all, median "
        f"{statistics.median(r['seconds'] for r in rows):.2f}; nearly all of it makes the kernels that are made."
    ]
    if len(unlike) < len(everything):
        lines.append(
            f"Without WMMA's the correlation over all ways is {spearman(unlike):.3f}: 99 of 100 of WMMA's CTAs end at "
            "once, which cannot be foreseen, so that its time is estimated too long by far."
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", nargs="*", help="for example gelu+lud; all by default")
    parser.add_argument("-o", metavar="FOLDER", type=Path)
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--refit", action="store_true", help="tune the model without each kernel, minutes")
    given = parser.parse_args()
    kinds = ("suite_a", "suite_a_natural", "examples")
    sources = [max(paths) for kind in kinds if (paths := list(RESULTS.glob(f"*-{kind}_candidates.json")))]
    documents = [json.loads(source.read_text()) for source in sources]
    rows = {named["name"]: named for document in documents for row in document["candidates"] if "ms" in row
            for named in [_named(row, document)]}  # fmt: skip
    suite = [name for name in rows if {*name.split("+")} <= {*KERNELS}]
    done = []
    with multiprocessing.get_context("spawn").Pool(given.workers) as pool:
        for pair, why, seconds in pool.imap(choose, given.pairs or rows):
            done.append(compared(rows[pair], why, seconds))
            share = done[-1]["best_ms"] / done[-1]["ms"] if done[-1]["ms"] else 0.0
            print(f"{pair:18} {done[-1]['chosen']:28} {share:.2f} of the best", flush=True)
    document: dict[str, Any] = {
        "gpu": documents[0]["gpu"], "measured": [source.name for source in sources], "commit": given.commit,
        "command": f"python benchmarks/auto_choice.py {' '.join(sys.argv[1:])}".strip(), "pairs": done,
    }  # fmt: skip
    if given.refit:
        shares: dict[str, dict[auto_refit.Setting, float]] = {}
        with multiprocessing.get_context("spawn").Pool(given.workers, maxtasksperchild=1) as pool:
            for pair, found in pool.imap(auto_refit.choices, given.pairs or suite):
                best = rows[pair]["ms"][best_way(rows[pair])][0]
                shares[pair] = {
                    setting: best / ms if (ms := measured(rows[pair], way)) else auto_refit.UNMEASURED
                    for setting, way in found.items()
                }
                print(f"{pair:14} {len(set(found.values()))} choices with other settings", flush=True)
        document["refit"] = auto_refit.refitted(shares)
    text = table(document)
    print(text)
    if given.o:
        name = f"{datetime.date.today()}-cpu-auto_choice"
        (given.o / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")
        (given.o / f"{name}.md").write_text(text)


if __name__ == "__main__":
    main()
