"""Suite C on a GPU of architecture sm_90a: kernels of language models that run at the same time.

    python -m benchmarks.suite_c [--pairs NAME,...] [--groups] [--tune SECONDS] [-o benchmarks/results]
    python -m benchmarks.suite_c --resume benchmarks/results/DATE-GPU-suite_c.json [...]

Each pair is made as `auto` chooses, and five of them in forms by hand (forms.py); with --groups, groups of small
kernels are made by `auto` and by each plain strategy. With --tune each is tuned, too, in so many seconds, without
knowledge of these. All are compared with separate launches on the same data, and timed in turn with the unchanged
kernels in all ways to run them, pairs also on partitions of the SMs by green contexts. --inductor gives the seconds
that Inductor's combo kernels may take for all cases without matrix products. The raw times are stored after each case;
--resume goes on, leaving out what is in the file. The exit status is 1 if anything is wrong or was not measured.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, suppress
from datetime import date
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))  # where the suites are

from measuring import command_line, environment
from suite_b.best import store
from unseen.makers import makers

import goptx
from goptx.device.child_process import Lost
from goptx.measuring.bench.baseline_runs import no_more
from goptx.measuring.bench.bench import Bench
from suite_c import BEST, PAIRS
from suite_c.cases import GROUPS, is_known
from suite_c.combo_kernels import has_eager, milliseconds
from suite_c.forms import workload
from suite_c.green_contexts import green_runs, offered
from suite_c.runs import Places, begun, rows
from suite_c.table import chart, line, table

PATIENCE = 60  # seconds until green contexts have to be there


def main() -> int:
    options = _options(sys.argv[1:])
    begin = time.monotonic()
    document: dict[str, Any] = {
        "date": date.today().isoformat(),
        "command": command_line(options.output, "-m benchmarks.suite_c"),
        **environment(options.commit),
        "rows": [],
    }
    earlier = _resumed(options.resume, document) if options.resume else {"rows": []}
    if earlier is None:
        return 2
    document |= {key: earlier[key] for key in ("rows", "combo") if key in earlier}
    known = {row["name"] for row in document["rows"]}
    _measure(
        options, [name for name in options.names if name not in known], document, begin - earlier.get("seconds", 0)
    )
    print(table(document))
    return 0 if all(row["right"] for row in document["rows"]) else 1


def _options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--pairs", default=",".join(PAIRS), help='some pairs\' names; "" for none')
    parser.add_argument("--groups", action="store_true", help="the groups of small kernels, too")
    parser.add_argument("--forms", type=int, default=8, metavar="N", help="only the first N forms of each pair")
    parser.add_argument("--tune", type=float, default=0, metavar="SECONDS", help="tune each, too")
    parser.add_argument("--inductor", type=float, default=0, metavar="SECONDS", help="for Inductor's combo kernels")
    parser.add_argument("--best", action="store_true", help=f"put the results of tuning into {BEST.name}")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="go on with the results in this JSON file")
    parser.add_argument("--device", type=int, default=0, help="the number of the GPU")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes that make kernels")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    options = parser.parse_args(words)
    options.names = [*filter(None, options.pairs.split(",")), *(GROUPS if options.groups else ())]
    if unknown := [name for name in options.names if not is_known(name)]:
        parser.error(f"--pairs {','.join(unknown)}: no such pairs; choose from {', '.join(PAIRS)}")
    return options


def _resumed(path: Path, document: dict[str, Any]) -> dict[str, Any] | None:
    """The results in a file, without those that were not measured; None, and a message, if they are of another commit
    or GPU."""
    found: dict[str, Any] = json.loads(path.read_text())
    if (found["gpu"], found["commit"]) != (document["gpu"], document["commit"]):
        print(f"{path} is of {found['commit']} on {found['gpu']}: not resumed", file=sys.stderr)
        return None
    return {**found, "rows": [row for row in found["rows"] if "ms" in row]}


def _measure(options: argparse.Namespace, names: Sequence[str], document: dict[str, Any], begin: float) -> None:
    """Adds the row of each case to the document, which is stored after each."""
    green = _green(options.device, document)
    with (
        closing(Bench(options.device, green_runs if green else no_more)) as bench,
        makers(options.workers) as made,
        ProcessPoolExecutor(options.workers, get_context("spawn")) as tuners,
    ):
        there = Places(bench, tuners, green)
        futures = begun(names, made, options.forms)
        for name in names[:1] * options.workers * (options.tune > 0):
            tuners.submit(workload, name)  # starts all processes, which tuning would wait for
        if options.inductor and "combo" not in document:
            document["combo"] = milliseconds([name for name in options.names if has_eager(name)], options.inductor)
        for row in rows(futures, there, options.tune):
            document["rows"].append(row)
            document["seconds"] = round(time.monotonic() - begin)
            print(line(row), flush=True)
            _store(options.output, document)
            if options.best:
                store([row], BEST)
        _store(options.output, document, drawn=True)


def _green(device: int, document: dict[str, Any]) -> list[str]:
    """The partitions of the SMs by green contexts; none, and the reason in the document, where there are none."""
    try:
        with makers(1, PATIENCE) as there:
            return list(there.submit(offered, device).result())
    except (Lost, RuntimeError) as error:
        document["green_problem"] = str(error)
        return []


def _store(folder: Path | None, document: dict[str, Any], drawn: bool = False) -> None:
    """Raw data and a table, and where it is `drawn` a chart, if matplotlib is there."""
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{document['date']}-{document['gpu_short']}-suite_c"
    (folder / f"{stem}.json").write_text(json.dumps(document) + "\n")
    (folder / f"{stem}.md").write_text(table(document))
    if drawn:
        with suppress(goptx.InputError):
            (folder / f"{stem}.svg").write_text(chart(document).svg())


if __name__ == "__main__":
    sys.exit(main())
