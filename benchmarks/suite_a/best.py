"""The results of tuning for the pairs of suite A: best.json, which `--tune` makes anew, pair by pair."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import goptx
from goptx.tuning.best import Replay
from suite_a import SHAPES, specifications_of
from suite_a.places import places

FILE = Path(__file__).parent / "best.json"
RUNS = Path(__file__).parent / ".tuning"  # records and results of a run of `--tune`, pair by pair
BUDGET = 60  # seconds for a pair


@cache
def _all() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text()) if FILE.exists() else {}
    return {shape: found.get(shape, {}) for shape in SHAPES}


def tuned(pair: str, shape: str) -> Replay:
    """Raises `InputError` for a pair that was not tuned."""
    held = _all()[shape].get(pair)
    if held is None:
        raise goptx.InputError(f"{FILE.name} has nothing of {pair} in the {shape} shape; make it with --tune.")
    return Replay(FILE, held)


def tune_all(
    pairs: Sequence[str], shapes: Sequence[str], devices: Sequence[int], workers: int, resume: bool
) -> Iterator[str]:
    """Tunes the pairs, one on each device side by side, and gives a summary of each. best.json has each result as soon
    as it is known. `resume` resumes an interrupted run."""
    RUNS.mkdir(exist_ok=True)
    if not resume:
        for path in RUNS.iterdir():
            path.unlink()
    with places(devices, workers) as there:

        def one(pair: str, shape: str) -> str:
            path = RUNS / f"{shape}-{pair}.json"
            if not path.exists():
                with there.bench() as bench:
                    best = goptx.tune(
                        spec=specifications_of(pair, shape), budget=BUDGET, executor=there.pool, benches=[bench],
                        records=path.with_suffix(".jsonl"), progress=False,
                    )  # fmt: skip
                best.save(path)
            return summary(pair, shape, path)

        for future in [there.threads.submit(one, pair, shape) for shape in shapes for pair in pairs]:
            yield future.result()
            _gather()


def summary(pair: str, shape: str, path: Path) -> str:
    """The result of tuning in a line, with the trials that failed."""
    held = json.loads(path.read_text())
    trials = map(json.loads, path.with_suffix(".jsonl").read_text().splitlines()[1:])
    bad = [f"\n    {t['status']}: {t['name']}: {t['reason']}" for t in trials if t["status"] in ("wrong", "failed")]
    return f"{shape:8} {pair:14} {held['speedup']:.2f} {held['name']} ({held['seconds']} s){''.join(bad)}"


def _gather() -> None:
    """Puts the results into best.json, with paths relative to it."""
    _all.cache_clear()
    found = {shape: dict(of) for shape, of in _all().items()}
    for path in sorted(RUNS.glob("*.json")):
        shape, _, pair = path.stem.partition("-")
        held = json.loads(path.read_text())
        for kernel in held["kernels"]:
            kernel["file"] = kernel["file"].removeprefix("../")
        found[shape][pair] = held
    FILE.write_text(json.dumps(found, indent=1) + "\n")
