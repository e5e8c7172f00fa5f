"""Programs as CUDA graphs: as captured, with branches, and optimized by goptx, beside eager runs and torch.compile.

    python benchmarks/graph_programs.py [-o benchmarks/results] [--commit HASH] [--only TEXT ...] [--compile]

Microseconds of a replay on the GPU: medians of rounds, in each of which every graph is replayed in turn, many times
without waiting. Each program runs in a process of its own. The graph that goptx gives is checked to leave what the
captured one leaves, bit by bit. Weights are made up, sizes are real.

Needs a GPU, cuda-python and the framework of each program; what is not installed is left out, and named. `--compile`
adds torch.compile of the same programs in torch's own operations: its modes, matrix products by Triton, and combo
kernels, each in a process of its own. That takes minutes a program. What fails or takes too long is named, and has no
time.
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
COMPILED: dict[str, dict[str, Any]] = {  # arguments of torch.compile by their name in the table
    "default": {},
    "reduce-overhead": {"mode": "reduce-overhead"},
    "max-autotune": {"mode": "max-autotune"},
    "max-autotune, Triton GEMMs": {
        "options": {"max_autotune": True, "max_autotune_gemm_backends": "TRITON", "triton.cudagraphs": True}
    },
    "combo kernels": {"options": {"combo_kernels": True, "triton.cudagraphs": True}},
}
UNFUSED = ("as captured", "branches")  # graphs without kernels fused by goptx, besides those of torch.compile
ARRAYS = ("image pipeline (CuPy)", "simulation with independent steps (Numba)")
TORCH = (
    "tower of 26 embedding bags, 512 samples", "tower of 26 embedding bags, 2048 samples", "layer, 1 tokens",
    "layer, 8 tokens", "layer, 32 tokens", "layer, 128 tokens", "layer with two experts and a shared one, 32 tokens",
    "products of a backward pass and Adam",
)  # fmt: skip
BARS = {  # over the program's own graph as captured
    "tower": 2.0, "layer, 32": 1.06, "layer with two experts": 1.08, "products": 1.06, "image": 1.05, "simulation": 1.05
}  # fmt: skip
BEST_BARS = {  # over the best graph without kernels fused by goptx
    "tower": 1.10, "layer with two experts": 1.02, "products": 1.03, "image": 1.0, "simulation": 1.0
}  # fmt: skip
Go = Callable[[], Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    parser.add_argument("--only", nargs="+", default=[""], help="programs whose names contain one of these")
    parser.add_argument("--compile", action="store_true", help="torch.compile and its modes, too")
    parser.add_argument("--program", help=argparse.SUPPRESS)
    parser.add_argument("--by", choices=COMPILED, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.program:
        print("RESULT " + json.dumps(measured(options.program, options.by)))
        return 0
    document: dict[str, Any] = {
        "suite": "graph programs",
        "command": command_line(options.output),
        **environment(options.commit),
        "versions": versions(),
        "rounds": ROUNDS,
        "replays": REPLAYS,
        "programs": [row_of(n, options.compile) for n in (*TORCH, *ARRAYS) if any(o in n for o in options.only)],
    }
    print(table(document))
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        stem = options.output / f"{date.today().isoformat()}-{document['gpu_short']}-graph_programs"
        stem.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n")
        stem.with_suffix(".md").write_text(table(document))
    return 0 if all(row.get("equal", False) for row in document["programs"]) else 1


def row_of(name: str, compiled: bool) -> dict[str, Any]:
    """What was measured of a program, with its forms by torch.compile."""
    row = in_a_process(name)
    for how in COMPILED if compiled and name in TORCH and "us" in row else ():
        found = in_a_process(name, how)
        if "us" in found:
            row["us"] |= found["us"]
        else:
            row.setdefault("failed", {})[how] = found["error"]
    return row


def in_a_process(name: str, how: str | None = None) -> dict[str, Any]:
    """What was measured, or why nothing was: an error of one program ends no other."""
    command = [sys.executable, __file__, "--program", name, *(["--by", how] if how else [])]
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


def measured(name: str, how: str | None) -> dict[str, Any]:
    if how:
        return of_compiled(name, how)
    return of_arrays(name) if name in ARRAYS else of_torch(name)


def of_compiled(name: str, how: str) -> dict[str, Any]:
    """A program in torch's own operations, compiled as a whole."""
    import torch
    from captured.plain_programs import PLAIN

    run, inputs = PLAIN[name]()
    with torch.no_grad():
        made = torch.compile(run, **COMPILED[how])

        def go() -> None:
            torch.compiler.cudagraph_mark_step_begin()
            made(*inputs)

        for _ in range(WARMUPS):
            go()
        torch.cuda.synchronize()
        return {"program": name, "us": in_turn({f"torch.compile, {how}": go}, timer())}


def timer() -> Callable[[Go], float]:
    """What gives the microseconds of one of many runs on torch's current stream."""
    import torch

    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def timed(go: Go) -> float:
        torch.cuda._sleep(1_000_000)
        begin.record()
        repeat(go)
        end.record()
        end.synchronize()
        return float(begin.elapsed_time(end)) * 1000 / REPLAYS

    return timed


def of_torch(name: str) -> dict[str, Any]:
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
        return {"program": name, "us": in_turn(runs, timer()), **facts}


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
        "captured. The best unfused graph is the fastest of the captured one, that with branches, and torch.compile's.",
        "",
        "| program | nodes (with PTX) | eager | as captured | branches | by the cost model | optimized | gain | bar | "
        f"over branches | {' | '.join(COMPILED)} | over the best unfused | bar | bit-equal |",
        "|---" * (13 + len(COMPILED)) + "|",
    ]  # fmt: skip
    for row in document["programs"]:
        if "us" not in row:
            lines.append(f"| {row['program']} | {row['error']} |" + " |" * (11 + len(COMPILED)))
            continue
        us = row["us"]
        cells = [us[how] for how in ("eager", "as captured", "branches", "by the cost model", "optimized")]
        compiled = {how: us.get(f"torch.compile, {how}") for how in COMPILED}
        best = min([us[how] for how in UNFUSED] + [time for time in compiled.values() if time])
        lines.append(
            f"| {row['program']} | {row['nodes']} ({row['with_ptx']}) | {' | '.join(f'{c:.1f}' for c in cells)} | "
            f"{us['as captured'] / us['optimized']:.3f} | {_bar(BARS, row)} | {us['branches'] / us['optimized']:.3f} | "
            f"{' | '.join(f'{time:.1f}' if time else '' for time in compiled.values())} | "
            f"{best / us['optimized']:.3f} | {_bar(BEST_BARS, row)} | {'yes' if row['equal'] else 'no'} |"
        )
    failed = [
        f"* {row['program']}, {how}: {why}"
        for row in document["programs"]
        for how, why in row.get("failed", {}).items()
    ]
    lines += ["", "Not measured:", "", *failed] if failed else []
    return "\n".join(lines) + "\n"


def _bar(bars: Mapping[str, float], row: Mapping[str, Any]) -> str:
    return next((str(bar) for start, bar in bars.items() if row["program"].startswith(start)), "")


if __name__ == "__main__":
    sys.exit(main())
