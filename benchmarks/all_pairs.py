"""All pairs of many kernels, tuned on the GPUs of this host through a Dask cluster, beside what `suggest` expected.

    python benchmarks/all_pairs.py examples|unseen --records FOLDER [--gpus 2] [--makers 16] [--budget 2s]
        [--seconds N] [--lose N] [-o benchmarks/results]

Starts a scheduler, a worker for each GPU and workers that make kernels, as docs/tuning.md says, and runs
`goptx tune --all`. After --seconds the run is interrupted, with exit status 3; the same command goes on from its
records. --lose kills the worker of one GPU after so many seconds. Nothing is fitted on these pairs but on those of
benchmarks/unseen/pairs.toml that are `fitted`. Needs cuda-python and Dask.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from threading import Timer
from typing import Any

from measuring import command_line, environment
from unseen import FITTED, HELD_OUT, PAIRS, SPECIFICATIONS
from unseen.suggesting import BEST, agreement_lines

import goptx
from goptx.launch.specification import read_specification

EXAMPLES = Path(__file__).parent.parent / "examples" / "kernels"
SETS = {"examples": sorted(EXAMPLES.glob("*.toml")), "unseen": list(SPECIFICATIONS.values())}
INTERRUPTED = 3  # the exit status where pairs are left
START = 60  # seconds for the cluster to start


def main() -> int:
    options = _options()
    known = _progress(options.records)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, _cluster(options, Path(folder)) as scheduler:
        lost: list[str] = []
        timer = Timer(options.lose or 0, lambda: lost.append(_lose(scheduler)))
        timer.daemon = True
        if options.lose:
            timer.start()
        rows = _tuned(options, scheduler, Path(folder) / "pairs.json")
        timer.cancel()
    known["seconds"] += round(time.monotonic() - begin)
    known["runs"] += 1
    known["workers_killed"] += len(lost)
    (options.records / "progress.json").write_text(json.dumps(known))
    if rows is None:
        print(f"interrupted after {known['seconds']} s; the same command goes on", file=sys.stderr)
        return INTERRUPTED
    document = {
        "date": date.today().isoformat(), "command": command_line(options.output), **environment(options.commit),
        "kernels": options.kernels, "gpus": options.gpus, "makers": options.makers, "budget": options.budget, **known,
        "pairs": [{**row, "fused_timed": fused_timed(options.records, row["pair"])} for row in rows],
        "suggested": suggested(SETS[options.kernels]),
    }  # fmt: skip
    print(table(document))
    if options.output:
        stem = f"{document['date']}-{document['gpu_short']}-all_pairs_{options.kernels}"
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / f"{stem}.json").write_text(json.dumps(document, indent=1) + "\n")
        (options.output / f"{stem}.md").write_text(table(document))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", choices=SETS)
    parser.add_argument("--records", type=Path, required=True, help="folder from which an interrupted run goes on")
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--makers", type=int, default=os.cpu_count() or 1, help="workers that make kernels")
    parser.add_argument("--budget", default="2s", help="for each pair")
    parser.add_argument("--seconds", type=float, help="interrupt the run after so many")
    parser.add_argument("--lose", type=float, metavar="SECONDS", help="kill the worker of a GPU after so many")
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    options = parser.parse_args()
    options.records.mkdir(parents=True, exist_ok=True)
    return options


def _progress(records: Path) -> dict[str, int]:
    """What the runs with these records took so far."""
    path = records / "progress.json"
    nothing = {"seconds": 0, "runs": 0, "workers_killed": 0}
    return {**nothing, **json.loads(path.read_text())} if path.exists() else nothing


@contextmanager
def _cluster(options: argparse.Namespace, folder: Path) -> Iterator[str]:
    """The address of a scheduler that has all workers."""
    running: list[subprocess.Popen[bytes]] = []

    def start(what: str, *words: str, gpu: str = "") -> None:
        environ = os.environ | {"CUDA_VISIBLE_DEVICES": gpu}
        with (folder / f"{what}{gpu}.log").open("wb") as log:
            command = [sys.executable, "-m", "dask", what, *words, "--no-dashboard"]
            running.append(
                subprocess.Popen(command, env=environ, cwd=folder, stdout=log, stderr=log, start_new_session=True)
            )

    file = folder / "scheduler.json"
    try:
        start("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file))
        deadline = time.monotonic() + START
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        address: str = json.loads(file.read_text())["address"]
        start("worker", address, "--nworkers", str(options.makers), "--nthreads", "1")
        for gpu in range(options.gpus):
            start("worker", address, "--nthreads", "1", "--resources", "GPU=1", gpu=str(gpu))
        from distributed import Client

        with Client(address) as client:
            client.wait_for_workers(options.makers + options.gpus, timeout=START)
        yield address
    finally:
        for one in reversed(running):
            os.killpg(one.pid, signal.SIGKILL)
            one.wait()


def _tuned(options: argparse.Namespace, scheduler: str, target: Path) -> list[Mapping[str, Any]] | None:
    """The rows of all pairs; None if the time did not suffice."""
    command = [
        sys.executable, "-m", "goptx", "tune", "--all", *map(str, SETS[options.kernels]), "--scheduler", scheduler,
        "--budget", options.budget, "--records", str(options.records / "pairs"), "--table", str(target), "--quiet",
    ]  # fmt: skip
    with subprocess.Popen(command, start_new_session=True) as tuning:
        try:
            status = tuning.wait(options.seconds)
        except subprocess.TimeoutExpired:
            os.killpg(tuning.pid, signal.SIGKILL)  # as any interruption may come
            return None
    if status:
        raise SystemExit(status)
    rows: list[Mapping[str, Any]] = json.loads(target.read_text())["pairs"]
    return rows


def _lose(scheduler: str) -> str:
    """Kills the process of a worker that announces a GPU; its nanny starts another."""
    from distributed import Client

    from goptx.tuning.cluster.gpu_workers import gpus_of

    with Client(scheduler) as client:
        worker = min(worker for worker, has_gpu in gpus_of(client).items() if has_gpu)
        pid = int(client.run(os.getpid, workers=[worker])[worker])
    os.kill(pid, signal.SIGKILL)
    return worker


def suggested(specifications: Sequence[Path]) -> list[dict[str, Any]]:
    """All pairs in the order of `goptx.suggest`, by the names of their specifications."""
    names = {read_specification(path)[0].entry: path.stem for path in specifications}
    order = [path.stem for path in specifications]
    found = []
    for one in goptx.suggest(specifications):
        pair = sorted((names[kernel] for kernel in one.kernels), key=order.index)
        found.append({"pair": "+".join(pair), "strategy": one.strategy, "gain": one.gain})
    return found


def fused_timed(records: Path, pair: str) -> int:
    """How many fused candidates of a pair were timed, as its records have it."""
    lines = (records / "pairs" / f"{pair}.jsonl").read_text().splitlines()
    trials = [trial for trial in map(json.loads, lines) if trial.get("status") == "timed"]
    return sum(trial["way"]["strategy"] != "separate" for trial in trials)


def ranked(document: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The pairs of which a fused candidate was timed, in groups: what was suggested of each, and what it gained."""
    measured = {row["pair"]: row["speedup"] for row in document["pairs"] if row["speedup"] and row["fused_timed"]}
    held_out = set(PAIRS[HELD_OUT]) & measured.keys()
    groups = {"all": set(measured)}
    if held_out:
        groups |= {"all but the fitted": set(measured) - set(PAIRS[FITTED]), "held out": held_out}
    rows = [
        {"name": row["pair"], "suggested": row["gain"], "gain": measured[row["pair"]]}
        for row in document["suggested"]
        if row["pair"] in measured
    ]
    return {name: [row for row in rows if row["name"] in pairs] for name, pairs in groups.items()}


def table(document: Mapping[str, Any]) -> str:
    rows = [row for row in document["pairs"] if row["speedup"]]
    gains = [row["speedup"] for row in rows]
    lines = [
        f"# All pairs of {document['kernels']} on {document['gpus']} {document['gpu']} through Dask",
        "",
        f"{document['date']}, driver {document['driver']}, commit {document['commit']}. `{document['command']}`, "
        f"{document['seconds']} s in {document['runs']} runs; {document['makers']} workers without a GPU make kernels; "
        f"{document['workers_killed']} workers with a GPU were killed in the middle.",
        "",
        f"{len(rows)} of {len(document['pairs'])} pairs were tuned, {document['budget']} each, over the fastest of "
        f"their separate launches: geometric mean {statistics.geometric_mean(gains):.3f}, least {min(gains):.2f}, most "
        f"{max(gains):.2f}; {sum(gain > 1.03 for gain in gains)} gain more than 3 %. Of "
        f"{sum(row['fused_timed'] > 0 for row in rows)} pairs a fused candidate was timed within the budget.",
        "",
        f"`goptx suggest` ranks pairs without measuring. Of those of which a fused candidate was timed, so many of its "
        f"{BEST} best are among the {BEST} that gain most:",
        "",
        *agreement_lines(ranked(document)),
        "",
        "| pair | speedup | suggested | way | ms | separate ms | separate by | trials | fused, timed |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    expected = {row["pair"]: f"{row['gain']:.2f}" for row in document["suggested"]}
    for row in document["pairs"]:
        gain = expected.get(row["pair"], "-")
        if row["speedup"]:
            lines.append(
                f"| {row['pair']} | {row['speedup']:.2f} | {gain} | {row['candidate']} | {row['ms']:.3f} | "
                f"{row['baseline_ms']:.3f} | {row['baseline']} | {row['trials']} | {row['fused_timed']} |"
            )
        else:
            lines.append(f"| {row['pair']} | - | {gain} | {row['reason']} | | | | | |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
