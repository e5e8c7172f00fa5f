"""Inductor's combo kernels as a peer: cases of suite C without matrix products, in torch's own operations, compiled
into as few kernels as Inductor makes of them.

`milliseconds` starts this file as a program in a process of its own, which may take so many seconds for all cases; it
prints a line for each. Needs torch, a GPU and a C compiler.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))  # where the suites are

from goptx.launch.specification import Launch
from suite_c.cases import kernels_of
from suite_c.eager import EAGER

RANDOM = ("dropout",)  # entries of kernels whose results differ from run to run
OPTIONS = {"combo_kernels": True, "combo_kernel_allow_mixed_sizes": 2}
REPEATS, WARMUPS = 20, 3
SWEEP = 1 << 30  # bytes that are written before a run, so that its data is not in the cache
MARK = "RESULT "
Go = Callable[[], Any]


def has_eager(name: str) -> bool:
    """Whether all kernels of the pair or group are there in torch's operations."""
    return all(kernel.name in EAGER for kernel in kernels_of(name))


def milliseconds(names: Sequence[str], seconds: float) -> dict[str, Any]:
    """By name, the times of the runs, or under "failed" why there are none."""
    command = [sys.executable, __file__, *names]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        printed, problem = done.stdout, _last_line(done.stderr) or f"it ended with {done.returncode}"
    except subprocess.TimeoutExpired as error:
        printed = (error.stdout or b"").decode() if isinstance(error.stdout, bytes) else error.stdout or ""
        problem = f"all cases together took longer than {seconds:g} s"
    found = [json.loads(line.removeprefix(MARK)) for line in printed.splitlines() if line.startswith(MARK)]
    return {name: {"failed": problem} for name in names} | dict(found)


def _last_line(text: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")


def main(names: Sequence[str]) -> None:
    for name in names:
        try:
            found = measured(name)
        except Exception as error:  # whatever torch raises is the result
            found = {"failed": f"{type(error).__name__}: {_last_line(str(error))}"}
        print(MARK + json.dumps([name, found]), flush=True)


def measured(name: str) -> Mapping[str, Any]:
    """Milliseconds of each run of a graph of the compiled case, and whether it gives what torch gives without; results
    of random numbers are not compared."""
    import torch

    launches = [kernel.launch() for kernel in kernels_of(name)]
    run, inputs = program(launches)
    with torch.no_grad():
        torch.compiler.reset()
        compiled = torch.compile(run, options=OPTIONS)
        expected, found = run(*inputs), compiled(*inputs)
        near = all(
            torch.allclose(a.float(), b.float(), rtol=1e-2, atol=1e-3)
            for launch, one, other in zip(launches, expected, found, strict=True)
            if launch.entry not in RANDOM
            for a, b in zip(one, other, strict=True)
        )
        del expected, found
        return {"ms": timed(_captured(lambda: compiled(*inputs))), "near": near}


def program(launches: Sequence[Launch]) -> tuple[Callable[..., Any], list[Any]]:
    """A function that runs all kernels, each on its part of the inputs, and these."""
    parts, inputs = [], list[Any]()
    for launch in launches:
        function, own = EAGER[launch.entry](launch)
        parts.append((function, len(inputs), len(inputs) + len(own)))
        inputs += own

    def run(*given: Any) -> list[Any]:
        return [function(*given[begin:end]) for function, begin, end in parts]

    return run, inputs


def _captured(run: Go) -> Go:
    import torch

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(WARMUPS):
            run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    replay: Go = graph.replay
    return replay


def timed(run: Go) -> list[float]:
    import torch

    swept = torch.empty(SWEEP, dtype=torch.uint8, device="cuda")
    times = []
    for _ in range(WARMUPS + REPEATS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        swept.zero_()
        begin.record()
        run()
        end.record()
        end.synchronize()
        times.append(round(begin.elapsed_time(end), 5))
    return times[WARMUPS:]


def median(found: Mapping[str, Any]) -> float | None:
    """The time of a case; None if it has none, or was wrong."""
    return statistics.median(found["ms"]) if "ms" in found and found["near"] else None


if __name__ == "__main__":
    main(sys.argv[1:])
