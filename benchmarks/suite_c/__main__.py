"""Suite C on a GPU of architecture sm_90a: folded grids with registers moved between the kernels.

    python -m benchmarks.suite_c [--pairs NAME,...] [-o benchmarks/results] [--forms N] [--tune SECONDS]

Each pair is made in its folded forms (forms.py) and as `auto` chooses, compared with separate launches on the same
data, and timed in turn with the unchanged kernels in all ways to run them. The raw times are stored after each pair.
With --tune each pair is also tuned in so many seconds, without knowledge of these forms.
The exit status is 1 if anything is wrong or was not measured.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))  # where the suites are

from measuring import command_line, environment
from unseen.agreement import baseline, speedup
from unseen.makers import Makers, makers
from unseen.making import TUNED
from unseen.runs import Row, measured_row

import goptx
from goptx.device.child_process import Lost
from goptx.measuring.bench.bench import Bench
from goptx.tuning.judging import BenchLike
from suite_c import PAIRS
from suite_c.forms import AUTO, FORMS, made, tuned, workload

BARS = {"product+adam_step": 1.17, "product+embedding": 1.15, "attention+adam_step": 1.25, "attention+embedding": 1.15}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--pairs", default=",".join(PAIRS), help="some pairs' names")
    parser.add_argument("--forms", type=int, default=6, metavar="N", help="only the first N forms of each pair")
    parser.add_argument("--tune", type=float, default=0, metavar="SECONDS", help="tune each pair, too")
    parser.add_argument("--device", type=int, default=0, help="the number of the GPU")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes that make kernels")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    options = parser.parse_args()
    pairs = options.pairs.split(",")
    if unknown := [pair for pair in pairs if pair not in PAIRS]:
        parser.error(f"--pairs {','.join(unknown)}: no such pairs; choose from {', '.join(PAIRS)}")
    begin = time.monotonic()
    document: dict[str, Any] = {
        "date": date.today().isoformat(),
        "command": command_line(options.output, "-m benchmarks.suite_c"),
        **environment(options.commit),
        "rows": [],
    }
    bench = Bench(options.device)
    try:
        with makers(options.workers) as processes:
            for row in rows(pairs, options.forms, bench, processes, options.tune):
                document["rows"].append(row)
                document["seconds"] = round(time.monotonic() - begin)
                print(_line(row), flush=True)
                _store(options.output, document)
    finally:
        bench.close()
    print(table(document))
    return 0 if all(row["right"] for row in document["rows"]) else 1


def rows(pairs: Sequence[str], forms: int, bench: BenchLike, processes: Makers, tune: float = 0) -> Iterator[Row]:
    """A row for each pair, in order. `tune`: seconds of tuning for each; 0: none."""
    futures = {pair: [processes.submit(made, pair, form) for form in (*FORMS[pair][:forms], None)] for pair in pairs}

    for pair in pairs:
        begin = time.monotonic()
        row: Row = {"name": pair, "right": False, "ways": {}}
        try:
            found = [future.result() for future in futures[pair]]
            found += [tuned(pair, bench, tune)] if tune else []
            row |= measured_row(bench, workload(pair), found)
        except (goptx.GoptxError, Lost, RuntimeError) as error:
            row["problem"] = str(error)
        yield {**row, "seconds": round(time.monotonic() - begin, 1)}


def table(document: Mapping[str, Any]) -> str:
    """As Markdown."""
    lines = [
        f"# Suite C on {document['gpu']}",
        "",
        f"{document['date']}, driver {document['driver']}, commit {document['commit']}. `{document['command']}`, "
        f"{document.get('seconds')} s.",
        "",
        "Speedup of folded grids over the best separate launches (medians, in turn); registers of a thread of each "
        "kernel, virtual CTAs of the second kernel that are woven.",
        "",
        "| pair | right | best separate ms | way | form | speedup | bar | registers | spills, bytes |",
        "|---" * 9 + "|",
    ]
    for row in document["rows"]:
        if "ms" not in row:
            lines.append(f"| {row['name']} | NO | {' '.join(row.get('problem', '').split())[:200]} |" + " |" * 6)
            continue
        best = baseline(row)
        for way, facts in row["ways"].items():
            problem = next((str(facts[key])[:120] for key in ("refused", "failed", "wrong") if key in facts), "")
            gain = speedup(row, way)
            name = way if way not in (AUTO, TUNED) else f"{way}: {facts.get('chosen', '-')}"
            cells = [row["name"], "yes" if gain else "NO", f"{statistics.median(row['ms'][best]):.4f}", best, name]
            cells += [f"{gain:.3f}" if gain else problem.replace("|", "/"), f"{BARS[row['name']]:.2f}"]
            cells += [str(facts.get("registers", "-")), str(facts.get("spill_bytes", "-"))]
            lines.append(f"| {' | '.join(' '.join(cell.split()) for cell in cells)} |")
    return "\n".join(lines) + "\n"


def _line(row: Row) -> str:
    if "ms" not in row:
        return f"{row['name']}: NOT MEASURED {row.get('problem', '')[-600:]}"
    gains = {way: speedup(row, way) for way in row["ways"]}
    text = ", ".join(f"{way} {'-' if gain is None else f'{gain:.3f}'}" for way, gain in gains.items())
    return f"{row['name']}: {text}; {'right' if row['right'] else 'NOT RIGHT'}, {row['seconds']} s"


def _store(folder: Path | None, document: Mapping[str, Any]) -> None:
    """Results so far are stored, even if a later pair fails."""
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{document['date']}-{document['gpu_short']}-suite_c"
    (folder / f"{stem}.json").write_text(json.dumps(document) + "\n")
    (folder / f"{stem}.md").write_text(table(document))


if __name__ == "__main__":
    sys.exit(main())
