"""Programs as CUDA graphs: as captured, with branches, and optimized by goptx, beside eager runs and torch.compile.

    python benchmarks/graph_programs.py [-o benchmarks/results] [--commit HASH] [--only TEXT ...] [--compile]

Microseconds of a replay on the GPU: medians of rounds, in each of which every graph is replayed in turn, many times
without waiting. Each program runs in a process of its own. The graph that goptx gives is checked to leave what the
captured one leaves, bit by bit. Weights are made up, sizes are real.

Needs a GPU, cuda-python and the framework of each program; what is not installed is left out, and named. `--compile`
adds torch.compile and its modes for programs of torch, which takes minutes.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from launch_overhead import versions
from measuring import command_line, environment

import goptx

ROUNDS, REPLAYS, WARMUPS = 15, 20, 3
LIMIT = 300  # seconds for a program
ARRAYS = ("image pipeline (CuPy)", "simulation with independent steps (Numba)")
TORCH = (
    "tower of 26 embedding bags, 512 samples", "tower of 26 embedding bags, 2048 samples", "layer, 1 tokens",
    "layer, 8 tokens", "layer, 32 tokens", "layer, 128 tokens", "layer with two experts and a shared one, 32 tokens",
    "products of a backward pass and Adam",
)  # fmt: skip
BARS = {  # over the program's own graph as captured
    "tower": 2.0, "layer, 32": 1.06, "layer with two experts": 1.08, "products": 1.06, "image": 1.05, "simulation": 1.05
}  # fmt: skip
Go = Callable[[], Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    parser.add_argument("--only", nargs="+", default=[""], help="programs whose names contain one of these")
    parser.add_argument("--compile", action="store_true", help="torch.compile and its modes, too")
    parser.add_argument("--program", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.program:
        print("RESULT " + json.dumps(measured(options.program, options.compile)))
        return 0
    document: dict[str, Any] = {
        "suite": "graph programs",
        "command": command_line(options.output),
        **environment(options.commit),
        "versions": versions(),
        "rounds": ROUNDS,
        "replays": REPLAYS,
        "programs": [in_a_process(n, options.compile) for n in (*TORCH, *ARRAYS) if any(o in n for o in options.only)],
    }
    print(table(document))
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        stem = options.output / f"{date.today().isoformat()}-{document['gpu_short']}-graph_programs"
        stem.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n")
        stem.with_suffix(".md").write_text(table(document))
    return 0 if all(row.get("equal", False) for row in document["programs"]) else 1


def in_a_process(name: str, compiled: bool) -> dict[str, Any]:
    """What was measured, or why nothing was: an error of one program ends no other."""
    command = [sys.executable, __file__, "--program", name, *(["--compile"] if compiled else [])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return {"program": name, "error": f"it took longer than {LIMIT} seconds"}
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            found: dict[str, Any] = json.loads(line.removeprefix("RESULT "))
            print(f"{name}: {found['us']}", flush=True)
            return found
    print(done.stderr[-3000:], file=sys.stderr, flush=True)
    return {"program": name, "error": (done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"])[-1]}


def measured(name: str, compiled: bool) -> dict[str, Any]:
    return of_arrays(name) if name in ARRAYS else of_torch(name, compiled)


def of_torch(name: str, compiled: bool) -> dict[str, Any]:
    import torch
    from captured.torch_programs import PROGRAMS

    run, inputs = PROGRAMS[name]()
    stream = torch.cuda.Stream()
    with torch.no_grad(), torch.cuda.stream(stream):
        for _ in range(WARMUPS):
            run(*inputs)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph(keep_graph=True)
        with goptx.collect() as kernels, torch.cuda.graph(graph, stream=stream):
            outputs = run(*inputs)
        graph.instantiate()
        outputs = outputs if isinstance(outputs, list) else [outputs]
        state = [*outputs, *_tensors(run)]
        graphs, facts = optimized(graph, kernels)
        facts["equal"] = same(
            graph.replay, graphs["optimized"].replay, lambda: [x.clone() for x in state], _putting(state)
        )
        runs: dict[str, Go] = {"eager": lambda: run(*inputs), "as captured": graph.replay}
        runs |= {how: one.replay for how, one in graphs.items()}
        if compiled:
            runs |= compilations(run, inputs)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

        def timed(go: Go) -> float:
            torch.cuda._sleep(1_000_000)
            begin.record()
            repeat(go)
            end.record()
            end.synchronize()
            return float(begin.elapsed_time(end)) * 1000 / REPLAYS

        return {"program": name, "us": in_turn(runs, timed), **facts}


def _tensors(run: Any) -> list[Any]:
    """The tensors of the function's own that it may change: those in lists that it closes over."""
    import torch

    cells = [cell.cell_contents for cell in run.__closure__]
    lists = [cell for cell in cells if isinstance(cell, list)]
    return [
        x for one in lists for x in one if isinstance(x, torch.Tensor) and x.dtype == torch.float32 and x.dim() == 1
    ]


def _putting(state: list[Any]) -> Callable[[Any], None]:
    def put(contents: Any) -> None:
        for to, of in zip(state, contents, strict=True):
            to.copy_(of)

    return put


def compilations(run: Any, inputs: Any) -> dict[str, Go]:
    """torch.compile in its modes; those that fail are left out."""
    import torch

    found: dict[str, Go] = {}
    for mode in ("default", "reduce-overhead", "max-autotune"):
        try:
            torch._dynamo.reset()
            made = torch.compile(run, mode=mode)
            for _ in range(WARMUPS):
                made(*inputs)
            torch.cuda.synchronize()
        except Exception as error:
            print(f"torch.compile, {mode}: {error}", file=sys.stderr)
        else:
            found[f"torch.compile, {mode}"] = partial(made, *inputs)
    return found


def of_arrays(name: str) -> dict[str, Any]:
    from captured import array_programs

    from goptx.device import cuda_graph
    from goptx.device.load import bindings, current_device, must
    from goptx.device.repeating import timed

    device = current_device()
    driver = bindings()
    if name == ARRAYS[0]:
        import cupy

        start, outputs = array_programs.images()
        on: Any = cupy.cuda.Stream(non_blocking=True)
        handle = on.ptr
    else:
        from numba import cuda

        start, outputs = array_programs.simulation()
        on = cuda.stream()
        handle = int(getattr(on.handle, "value", on.handle))
    start(on)
    device.sync()
    with goptx.collect() as kernels:
        graph = cuda_graph.captured(driver.CUstream(handle), lambda: start(on))
    executable = must(driver.cuGraphInstantiate(graph, 0))
    graphs, facts = optimized(int(graph), kernels)

    def replay() -> None:
        must(driver.cuGraphLaunch(executable, driver.CUstream(0)))

    def contents() -> Any:
        return [x.copy_to_host() if hasattr(x, "copy_to_host") else x.get() for x in outputs]

    def put(given: Any) -> None:
        for to, of in zip(outputs, given, strict=True):
            to.copy_to_device(of) if hasattr(to, "copy_to_device") else to.set(of)
        device.sync()

    facts["equal"] = same(replay, graphs["optimized"].replay, contents, put)
    runs: dict[str, Go] = {"eager": lambda: start(on), "as captured": replay}
    runs |= {how: one.replay for how, one in graphs.items()}

    def time_of(go: Go) -> float:
        device.sync()
        return timed(None, partial(repeat, go)) * 1000 / REPLAYS

    eager = runs.pop("eager")
    device.sync()
    begin = time.perf_counter()
    repeat(eager)
    device.sync()
    us = {"eager": (time.perf_counter() - begin) * 1e6 / REPLAYS, **in_turn(runs, time_of)}
    return {"program": name, "us": us, **facts}


def repeat(go: Go) -> None:
    for _ in range(REPLAYS):
        go()


def optimized(graph: Any, kernels: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The graph with branches, by the cost model alone, and optimized, and how that went."""
    begin = time.perf_counter()
    parallel = goptx.parallelize_graph(graph, kernels)
    estimated = goptx.optimize_graph(graph, kernels, tune=False, check=False)
    middle = time.perf_counter()
    tuned = goptx.optimize_graph(graph, kernels)
    facts = {
        "nodes": tuned.report.nodes,
        "with_ptx": tuned.report.known,
        "dependences": len(tuned.report.dependences),
        "fused": [[list(group.members), group.strategy] for group in tuned.report.fused],
        "fused_by_the_cost_model": [[list(group.members), group.strategy] for group in estimated.report.fused],
        "seconds": {"without measuring": middle - begin, "with measuring": time.perf_counter() - middle},
        "report": str(tuned.report),
    }
    return {"branches": parallel, "by the cost model": estimated, "optimized": tuned}, facts


def same(one: Go, other: Go, contents: Callable[[], Any], put: Callable[[Any], None]) -> bool:
    """Whether both leave the same bits."""
    before = contents()
    found = []
    for go in (one, other):
        put(before)
        go()
        found.append(contents())
    put(before)
    return all(bytes_of(a) == bytes_of(b) for a, b in zip(*found, strict=True))


def bytes_of(array: Any) -> bytes:
    host = array.cpu().contiguous() if hasattr(array, "cpu") else array
    if hasattr(host, "view") and hasattr(host, "dim"):
        import torch

        host = host.flatten().view(torch.uint8).numpy()
    return bytes(host.tobytes())


def in_turn(runs: Mapping[str, Go], timed: Callable[[Go], float]) -> dict[str, float]:
    times: dict[str, list[float]] = {how: [] for how in runs}
    for _ in range(WARMUPS + ROUNDS):
        for how, go in runs.items():
            times[how].append(timed(go))
    return {how: round(statistics.median(found[WARMUPS:]), 2) for how, found in times.items()}


def table(document: Mapping[str, Any]) -> str:
    lines = [
        f"# Programs as CUDA graphs, {document.get('gpu', '')}", "",
        f"`{document['command']}` at {document.get('commit', '')}. Microseconds of a replay; gains over the graph as "
        "captured.", "",
        "| program | nodes (with PTX) | eager | as captured | branches | by the cost model | optimized | gain | bar | "
        "over branches | bit-equal |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for row in document["programs"]:
        if "us" not in row:
            lines.append(f"| {row['program']} | {row['error']} |" + " |" * 9)
            continue
        us = row["us"]
        bar = next((str(bar) for start, bar in BARS.items() if row["program"].startswith(start)), "")
        cells = [us[how] for how in ("eager", "as captured", "branches", "by the cost model", "optimized")]
        lines.append(
            f"| {row['program']} | {row['nodes']} ({row['with_ptx']}) | {' | '.join(f'{c:.1f}' for c in cells)} | "
            f"{us['as captured'] / us['optimized']:.3f} | {bar} | {us['branches'] / us['optimized']:.3f} | "
            f"{'yes' if row['equal'] else 'no'} |"
        )
        others = {how: t for how, t in us.items() if how.startswith("torch.compile")}
        lines += [f"| ... by {how} | | {t:.1f} |" + " |" * 8 for how, t in others.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
