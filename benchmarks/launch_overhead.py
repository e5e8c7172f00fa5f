"""What a launch of a woven kernel costs the host, beside cuda.core's own launch of the same kernel.

    python benchmarks/launch_overhead.py [-o benchmarks/results] [--pairs harris+lud,...]

Microseconds of the host for one launch, without waiting for the GPU: medians of batches short enough for the driver's
queue, interleaved. cuda.core's launch gets a configuration and numpy scalars made beforehand; `Woven.launch` gets the
arrays themselves, finds their addresses, looks whether the kernels are independent and chooses the kernel for the
current device, each time. Sizes are those of [check], so that the GPU keeps up. Needs cuda-python and CuPy; with torch,
its tensors are measured too.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from measuring import Data, command_line, environment
from suite_a import FOLDER

import goptx
from goptx.launch.specification import read_specification

PAIRS = ("harris+lud", "stms+gelu", "wmma+sort")
WARMUPS, BATCHES, LAUNCHES = 20, 200, 100
CORE = "cuda.core"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--pairs", help="only these, such as harris+lud,lud+lud")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    options = parser.parse_args()
    pairs = options.pairs.split(",") if options.pairs else PAIRS
    document = {
        "suite": "launch overhead",
        "command": command_line(options.output),
        **environment(options.commit),
        "python": platform.python_version(),
        "versions": versions(),
        "launches": LAUNCHES,
        "batches": BATCHES,
        "pairs": [measured(pair) for pair in pairs],
    }
    print(table(document))
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        stem = options.output / f"{date.today().isoformat()}-{document['gpu_short']}-launch_overhead"
        stem.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n")
        stem.with_suffix(".md").write_text(table(document))
    return 0


def versions() -> dict[str, str]:
    """Of what was measured with, where it is installed."""
    from importlib.metadata import distributions

    named = {str(d.metadata["Name"]).lower().replace("_", "-"): d.version for d in distributions()}
    wanted = ("cuda-core", "cuda-bindings", "numpy", "torch")
    return {name: version for name, version in sorted(named.items()) if name in wanted or name.startswith("cupy")}


def measured(pair: str) -> dict[str, Any]:
    """Microseconds of each way to launch a pair: median, least, most over the batches."""
    from goptx.device.load import current_device

    device = current_device()
    launches = [read_specification(FOLDER / f"{name}.toml")[0].small() for name in pair.split("+")]
    woven = goptx.weave(*[one.file for one in launches])
    data = [Data(one, 1000 * i) for i, one in enumerate(launches)]
    stream = device.create_stream()
    timed = ways(woven, [d.arguments for d in data], launches[0].grid, launches[0].block, stream)
    times: dict[str, list[float]] = {name: [] for name in timed}
    for batch in range(WARMUPS + BATCHES):
        for name, launch in timed.items():
            device.sync()  # the queue is empty, so no launch waits for space in it
            begin = time.perf_counter()
            for _ in range(LAUNCHES):
                launch()
            spent = time.perf_counter() - begin
            if batch >= WARMUPS:
                times[name].append(1e6 * spent / LAUNCHES)
    device.sync()
    return {
        "pair": pair,
        "parameters": len(woven.params),
        "us": {name: [statistics.median(t), min(t), max(t)] for name, t in times.items()},
    }


def ways(
    woven: goptx.Woven, arguments: list[list[Any]], grid: tuple[int, ...], block: tuple[int, ...], stream: Any
) -> dict[str, Callable[[], None]]:
    """By name, what launches the kernel once. All of them do the same on the GPU."""
    from cuda.core import LaunchConfig, launch

    kernel, config = woven.load(), LaunchConfig(grid=grid, block=block)
    packed = woven.arguments(*arguments)
    pointers = [[int(a.data.ptr) if is_array(a) else a for a in own] for own in arguments]

    class Foreign:
        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, handle

    handle, foreign = int(stream.handle), Foreign()
    found: dict[str, Callable[[], None]] = {
        CORE: lambda: launch(stream, config, kernel, *packed),
        "CuPy arrays": lambda: woven.launch(stream, *arguments, grid=grid, block=block),
        "independent=True": lambda: woven.launch(stream, *arguments, grid=grid, block=block, independent=True),
        "raw pointers": lambda: woven.launch(stream, *pointers, grid=grid, block=block),
        "cuda.core, foreign stream": lambda: launch(foreign, config, kernel, *packed),
        "CuPy, foreign stream": lambda: woven.launch(foreign, *arguments, grid=grid, block=block),
    }
    try:
        import torch
    except ImportError:
        return found
    tensors = [[torch.as_tensor(a.view("u1"), device="cuda") if is_array(a) else a for a in own] for own in arguments]
    found["torch tensors"] = lambda: woven.launch(stream, *tensors, grid=grid, block=block)
    return found


def is_array(argument: Any) -> bool:
    """Not a numpy scalar, which the other arguments are."""
    return bool(argument.ndim)


def table(document: dict[str, Any]) -> str:
    rows = document["pairs"]
    names = list(rows[0]["us"])
    listed = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    lines = [
        "# Launches: Woven.launch beside cuda.core.launch",
        "",
        f"{document['gpu']}, driver {document['driver']}, Python {document['python']}, {listed}, "
        f"commit {document['commit']}. `{document['command']}`",
        "",
        f"Microseconds of the host for one launch: medians of {document['batches']} batches of {document['launches']} "
        "launches, all ways in turn; in brackets, what is above cuda.core's own launch, which gets packed arguments.",
        "",
        "| pair | parameters | " + " | ".join(names) + " |",
        "|---|---|" + "---|" * len(names),
    ]
    for row in rows:
        base = row["us"][CORE][0]
        cells = [f"{row['us'][n][0]:.2f}" + ("" if n == CORE else f" ({row['us'][n][0] - base:+.2f})") for n in names]
        lines.append(f"| {row['pair']} | {row['parameters']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
