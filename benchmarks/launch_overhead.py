"""What a launch costs the host: goptx's ways to launch beside cuda.core, CuPy and Triton.

    python benchmarks/launch_overhead.py [-o benchmarks/results] [--commit HASH] [--batches 200]

Microseconds of the host for one launch of all kernels, without waiting for the GPU: medians of batches short enough for
the driver's queue, all ways in turn. Two cases: two kernels with 8 arguments in all, and the steps of an optimizer for
four tensors, 36 arguments. All ways work on the same memory, and each is checked to leave there what the first one
leaves. Arrays are small, so that the GPU keeps up with the host.

Needs a GPU and cuda-python. Ways through torch, Triton and CuPy are measured where these are installed; the result
says which are missing.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from launch_cases import BLOCK, CASES, ELEMENTS, GRID, Case
from measuring import command_line, environment

import goptx

WARMUPS, BATCHES, LAUNCHES = 20, 200, 100
QUEUE = 400  # launches that the driver takes without waiting
SETS = 50  # of arrays, for launches with other arrays each time
CORE = "cuda.core, packed arguments"
Go = Callable[[], Any]
Host = np.ndarray[Any, np.dtype[np.float32]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    parser.add_argument("--batches", type=int, default=BATCHES, help=f"batches of {LAUNCHES} launches ({BATCHES})")
    options = parser.parse_args()
    missing = [name for name in ("torch", "triton", "cupy") if find_spec(name) is None]
    document: dict[str, Any] = {
        "suite": "launch overhead",
        "command": command_line(options.output),
        **environment(options.commit),
        "python": platform.python_version(),
        "versions": versions(),
        "missing": missing,
        "launches": LAUNCHES,
        "batches": options.batches,
        "cases": [measured(case, options.batches, missing) for case in CASES],
    }
    print(table(document))
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        stem = options.output / f"{date.today().isoformat()}-{document['gpu_short']}-launch_overhead"
        stem.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n")
        stem.with_suffix(".md").write_text(table(document))
    return 0 if all(row["right"] for row in document["cases"]) else 1


def versions() -> dict[str, str]:
    """Of what was measured with, where it is installed."""
    from importlib.metadata import distributions

    named = {str(d.metadata["Name"]).lower().replace("_", "-"): d.version for d in distributions()}
    wanted = ("cuda-core", "cuda-bindings", "numpy", "torch", "triton")
    return {name: version for name, version in sorted(named.items()) if name in wanted or name.startswith("cupy")}


class Array:
    """An array of floats in device memory, with the protocol by which torch and CuPy see it."""

    def __init__(self, content: Host) -> None:
        from goptx.device.load import bindings, must

        self.driver, self.content = bindings(), content
        self.address = int(must(self.driver.cuMemAlloc(content.nbytes)))
        self.refill()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"data": (self.address, False), "shape": self.content.shape, "typestr": "<f4", "version": 3}

    def refill(self) -> None:
        from goptx.device.load import must

        must(self.driver.cuMemcpyHtoD(self.address, self.content.ctypes.data, self.content.nbytes))

    def get(self) -> Host:
        from goptx.device.load import must

        found = np.empty_like(self.content)
        must(self.driver.cuMemcpyDtoH(found.ctypes.data, self.address, found.nbytes))
        return found


@dataclass
class Bed:
    """What the ways of one case have in common: memory, the fused kernel, separate kernels, a stream.

    sets: arguments of each kernel, with arrays of their own; the ways work on the first of them.
    """

    case: Case
    missing: list[str]
    device: Any
    stream: Any
    arrays: list[Array] = field(default_factory=list)
    sets: list[list[list[Any]]] = field(default_factory=list)
    shape: dict[str, Any] = field(default_factory=lambda: {"grid": GRID, "block": BLOCK})

    def __post_init__(self) -> None:
        self.woven = goptx.weave(*self.case.texts)
        self.separate = goptx.fuse(*self.case.texts, strategy="separate")
        for number in range(SETS):
            random = np.random.default_rng(number)
            arguments = [self._arguments(random) for _ in self.case.texts]
            if not number:
                self.arrays = [a for own in arguments for a in own if isinstance(a, Array)]
            self.sets.append(arguments)
        self.handle = int(self.stream.handle)

    def _arguments(self, random: Any) -> list[Any]:
        arrays = [Array(random.random(ELEMENTS, dtype=np.float32)) for _ in range(self.case.arrays)]
        return [*arrays, *self.case.numbers]

    def converted(self, convert: Callable[[Array], Any], number: int = 0) -> list[list[Any]]:
        """The arguments of a set, with arrays as a framework has them."""
        return [[convert(a) if isinstance(a, Array) else a for a in own] for own in self.sets[number]]

    def results(self, go: Go) -> list[Host]:
        for array in self.arrays:
            array.refill()
        self.device.sync()
        go()
        self.device.sync()
        return [array.get() for array in self.arrays]


def measured(case: Case, batches: int, missing: list[str]) -> dict[str, Any]:
    """Microseconds of each way to launch a case: median, least, most over the batches."""
    from goptx.device.load import current_device

    device = current_device()
    bed = Bed(case, missing, device, device.create_stream())
    timed = ways(bed)
    expected = bed.results(timed[CORE])
    wrong = [
        name for name, go in timed.items()
        if not all(np.allclose(a, b, 1e-5, 1e-6) for a, b in zip(bed.results(go), expected, strict=True))
    ]  # fmt: skip
    changed = any((a != array.content).any() for a, array in zip(expected, bed.arrays, strict=True))
    times: dict[str, list[float]] = {name: [] for name in timed}
    launches = min(LAUNCHES, QUEUE // len(case.texts))
    for batch in range(WARMUPS + batches):
        for name, go in timed.items():
            device.sync()  # the queue is empty, so no launch waits for space in it
            begin = time.perf_counter()
            for _ in range(launches):
                go()
            spent = time.perf_counter() - begin
            if batch >= WARMUPS:
                times[name].append(1e6 * spent / launches)
    device.sync()
    return {
        "case": case.name,
        "arguments": len(bed.woven.params),
        "kernels": len(case.texts),
        "right": changed and not wrong,
        "wrong": wrong,
        "us": {name: [statistics.median(t), min(t), max(t)] for name, t in times.items()},
    }


def ways(bed: Bed) -> dict[str, Go]:
    """By name, what launches the kernels once. All of them do the same on the GPU."""
    found = {**of_cuda_core(bed), **of_bound(bed), **of_launch(bed, "raw pointers", lambda array: array.address)}
    if "cupy" not in bed.missing:
        found |= of_cupy(bed)
    if "torch" not in bed.missing:
        found |= of_torch(bed)
    return found


def of_cuda_core(bed: Bed) -> dict[str, Go]:
    from cuda.core import LaunchConfig, launch

    stream, config = bed.stream, LaunchConfig(grid=GRID, block=BLOCK)
    addresses = bed.converted(lambda array: array.address)
    kernel, packed = bed.woven.load(), bed.woven.arguments(*addresses)
    alone = list(zip(bed.separate.executable.kernels(), bed.separate.arguments(*addresses), strict=True))

    def separate() -> None:
        for one, arguments in alone:
            launch(stream, config, one, *arguments)

    return {
        CORE: lambda: launch(stream, config, kernel, *packed),
        "cuda.core, kernel by kernel": separate,
    }


def of_bound(bed: Bed) -> dict[str, Go]:
    stream, arguments = bed.stream, bed.sets[0]
    bound = bed.woven.bind(*arguments, **bed.shape)
    updated, moved, replayed = (bed.woven.bind(*arguments, **bed.shape) for _ in range(3))
    separate = bed.separate.bind(*arguments, **bed.shape)
    graph, again = bound.graph(), replayed.graph()
    number = len(bed.case.numbers) - 1 + bed.case.arrays  # the last one, the count of elements
    name, counts = f"A:{number}", cycle([np.uint32(ELEMENTS), ELEMENTS])
    arrays = cycle([arguments[0][0], arguments[0][0].address])

    def update_number() -> None:
        updated.update(name, next(counts))
        updated.launch(stream)

    def update_array() -> None:
        moved.update("A:0", next(arrays))
        moved.launch(stream)

    def update_graph() -> None:
        replayed.update(name, next(counts))
        again.update()
        again.launch(stream)

    def region() -> None:
        with goptx.fusion(stream, strategy="weave") as recording:
            for text, own in zip(bed.case.texts, arguments, strict=True):
                recording.launch(text, GRID, BLOCK, *own)

    return {
        "bound": lambda: bound.launch(stream),
        "bound, a number updated each time": update_number,
        "bound, an array updated each time": update_array,
        "bound, separate kernels": lambda: separate.launch(stream),
        "bound, CUDA graph": lambda: graph.launch(stream),
        "bound, CUDA graph, a number updated each time": update_graph,
        "a fusion region": region,
    }


def of_launch(bed: Bed, kind: str, convert: Callable[[Array], Any]) -> dict[str, Go]:
    """`Woven.launch` with arrays as a framework has them."""
    stream, woven, shape = bed.stream, bed.woven, bed.shape
    arguments = bed.converted(convert)
    others = cycle([bed.converted(convert, number) for number in range(SETS)])
    return {
        f"launch, {kind}": lambda: woven.launch(stream, *arguments, **shape),
        f"launch, {kind}, other arrays each time": lambda: woven.launch(stream, *next(others), **shape),
        f"launch, {kind}, separate kernels": lambda: bed.separate.launch(stream, *arguments, **shape),
    }


def of_cupy(bed: Bed) -> dict[str, Go]:
    import cupy

    from goptx.adapters.cupy_module import raw_module

    stream = cupy.cuda.ExternalStream(bed.handle)
    kernel = raw_module(bed.woven).get_function(bed.woven.name)
    sized = {int: np.uint32, float: np.float32}
    given = [a for own in bed.converted(cupy.asarray) for a in own]
    flat = tuple(sized[type(a)](a) if type(a) in sized else a for a in given)

    def raw_kernel() -> None:
        kernel((GRID,), (BLOCK,), flat, stream=stream)

    return {**of_launch(bed, "CuPy arrays", cupy.asarray), "CuPy's RawKernel, fused": raw_kernel}


def of_torch(bed: Bed) -> dict[str, Go]:
    import torch

    def tensor(array: Array) -> Any:
        return torch.as_tensor(array, device="cuda")

    found = of_launch(bed, "torch tensors", tensor)
    if "triton" in bed.missing:
        return found
    from launched_by_triton import KERNELS

    kernel, arguments = KERNELS[bed.case.name], bed.converted(tensor)
    torch.cuda.set_stream(torch.cuda.ExternalStream(bed.handle))

    def one_by_one() -> None:
        for own in arguments:
            kernel[(GRID,)](*own, BLOCK=BLOCK)

    return {**found, "Triton, kernel by kernel": one_by_one}


def table(document: dict[str, Any]) -> str:
    rows = document["cases"]
    listed = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    missing = ", ".join(document["missing"])
    lines = [
        "# Launches: what they cost the host",
        "",
        f"{document['gpu']}, driver {document['driver']}, Python {document['python']}, {listed}, "
        f"commit {document['commit']}. `{document['command']}`",
        "",
        f"Microseconds of the host for one launch of all kernels: medians of {document['batches']} batches of up to "
        f"{document['launches']} launches, all ways in turn; in brackets, what is above cuda.core's launch of the "
        "fused kernel, which gets packed arguments. A launch kernel by kernel is several launches."
        + (f" Not installed, so not measured: {missing}." if missing else ""),
        "",
        "| way | " + " | ".join(f"{row['case']}: {row['arguments']} arguments" for row in rows) + " |",
        "|---|" + "---|" * len(rows),
    ]
    for name in rows[0]["us"]:
        cells = []
        for row in rows:
            base, own = row["us"][CORE][0], row["us"][name][0]
            wrong = ", WRONG RESULTS" if name in row["wrong"] else ""
            cells.append(f"{own:.2f}" + ("" if name == CORE else f" ({own - base:+.2f})") + wrong)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
