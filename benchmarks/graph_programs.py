"""Programs as CUDA graphs: as captured, with branches, and optimized by goptx, beside eager runs and torch.compile.

    python benchmarks/graph_programs.py [-o benchmarks/results] [--commit HASH] [--only TEXT ...] [--compile [SECONDS]]
        [--resume FILE]

Microseconds of a replay on the GPU: medians of rounds, in each of which every graph is replayed in turn, many times
without waiting. Each program runs in a process of its own. The graph that goptx gives is checked to leave what the
captured one leaves, bit by bit. Weights are made up, sizes are real.

Needs a GPU, cuda-python and the framework of each program; what is not installed is left out, and named. `--compile`
adds torch.compile of the same programs in torch's own operations: its modes, matrix products by Triton, and combo
kernels (captured/compiled_programs.py). All of them take at most so many seconds, 240 by default. What fails or is not
done by then is named, and has no time. Results are written as soon as there are any; `--resume` takes the JSON of a
run on the same GPU, and measures only what is missing there.
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
from threading import Lock
from typing import Any

from captured.compiled_programs import FORMS, compiled, measure, tensors_of
from launch_overhead import versions
from measuring import command_line, environment

import goptx

ROUNDS, REPLAYS, WARMUPS = 28, 20, 3
LIMIT = 300  # seconds for a program
HOLD = 256  # MiB
COMPILING = 240.0  # seconds for all programs and forms of torch.compile
COMPILED = "torch.compile, "  # before the name of a form, among the times of a program
HELD = "branches, arrays held"  # captured with goptx.collect(HOLD), so that arrays do not share memory
TWICE = "branches, another instance"  # the same graph as `HELD`, or "branches" of programs without it: what is noise
UNFUSED = ("as captured", "branches", HELD)  # graphs without kernels fused by goptx, besides those of torch.compile
ARRAYS = ("image pipeline (CuPy)", "simulation with independent steps (Numba)")
MANY = "a graph of 200 launches, without measuring"
TORCH = (
    "tower of 26 embedding bags, 512 samples", "tower of 26 embedding bags, 2048 samples", "layer, 1 tokens",
    "layer, 8 tokens", "layer, 32 tokens", "layer, 128 tokens", "layer with two experts and a shared one, 32 tokens",
    "products of a backward pass and Adam",
)  # fmt: skip
SLOWER = 0.99  # the least gain over the graph as captured, and over the fastest of `UNFUSED`
BARS = {  # over the program's own graph as captured
    "tower": 2.0, "layer, 32": 1.06, "layer with two experts": 1.08, "products": 1.06, "image": 1.05, "simulation": 1.05
}  # fmt: skip
BRANCH_BARS = {"tower": 1.10}  # over the fastest of `UNFUSED`: as captured, or with branches alone
BEST_BARS = {  # over the best graph without kernels fused by goptx
    "layer with two experts": 1.02, "products": 1.03, "image": 1.0, "simulation": 1.0
}  # fmt: skip
Go = Callable[[], Any]
Run = tuple[Go, Callable[[], Any]]  # what runs, and what gives the contents that it leaves


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    parser.add_argument("--only", nargs="+", default=[""], help="programs whose names contain one of these")
    parser.add_argument("--compile", nargs="?", type=float, const=COMPILING, metavar="SECONDS", help="at most so long")
    parser.add_argument("--resume", type=Path, help="JSON of a run that did not end")
    parser.add_argument("--program", help=argparse.SUPPRESS)
    parser.add_argument("--by", nargs="+", choices=FORMS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.program:
        if options.by:
            measure(options.program, options.by)
        else:
            print("RESULT " + json.dumps(measured(options.program)))
        return 0
    document: dict[str, Any] = {
        "suite": "graph programs",
        "command": command_line(options.output),
        **environment(options.commit),
        "versions": versions(),
        "rounds": ROUNDS,
        "replays": REPLAYS,
    }
    rows = earlier(options.resume, document["gpu"])
    many = rows.pop(MANY, None)

    def save() -> None:
        document["programs"] = [rows[n] for n in (*TORCH, *ARRAYS) if n in rows]
        document["many"] = many
        if options.output:
            options.output.mkdir(parents=True, exist_ok=True)
            stem = options.output / f"{date.today().isoformat()}-{document['gpu_short']}-graph_programs"
            stem.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n")
            stem.with_suffix(".md").write_text(table(document))

    wanted = [n for n in (*TORCH, *ARRAYS) if any(o in n for o in options.only)]
    for name in wanted:
        if "us" not in rows.get(name, {}):
            rows[name] = in_a_process(name)
            save()
    if not many and any(o in MANY for o in options.only):
        many = in_a_process(MANY)
    if options.compile:
        compile_all({n: rows[n] for n in wanted if n in TORCH and "us" in rows[n]}, options.compile, save)
    save()
    print(table(document))
    return 0 if all(rows[n].get("equal", False) for n in wanted) else 1


def earlier(path: Path | None, gpu: str) -> dict[str, dict[str, Any]]:
    """What an earlier run measured on such a GPU, by program."""
    held = json.loads(path.read_text()) if path else {"programs": []}
    if path and held["gpu"] != gpu:
        raise SystemExit(f"{path}: measured on {held['gpu']}, and this is {gpu}.")
    many = held.get("many")
    return {row["program"]: row for row in held["programs"]} | ({MANY: many} if many and "us" in many else {})


def compile_all(rows: Mapping[str, dict[str, Any]], seconds: float, save: Callable[[], None]) -> None:
    """Adds to the rows what is missing of torch.compile."""
    one_at_a_time = Lock()

    def found(name: str, result: Mapping[str, Any]) -> None:
        with one_at_a_time:
            row, how = rows[name], result["how"]
            print(f"{name}, {how}: {result}", flush=True)
            if "us" in result:
                row["us"][COMPILED + how] = result["us"]
                row.get("failed", {}).pop(how, None)
            else:
                row.setdefault("failed", {})[how] = result["error"]
            save()

    missing = {name: [how for how in FORMS if COMPILED + how not in row["us"]] for name, row in rows.items()}
    compiled({name: forms for name, forms in missing.items() if forms}, seconds, found)


def in_a_process(name: str) -> dict[str, Any]:
    """What was measured, or why nothing was: an error of one program ends no other."""
    command = [sys.executable, __file__, "--program", name]
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


def measured(name: str) -> dict[str, Any]:
    if name == MANY:
        return of_many()
    return of_arrays(name) if name in ARRAYS else of_torch(name)


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
    """As the program captures it, and captured with arrays that are held, of which goptx makes its graphs."""
    import torch
    from captured.torch_programs import PROGRAMS

    run, inputs = PROGRAMS[name]()
    stream = torch.cuda.Stream()
    with torch.no_grad(), torch.cuda.stream(stream):
        for _ in range(WARMUPS):
            run(*inputs)
        torch.cuda.synchronize()

        def capture(hold: int) -> tuple[Any, Any, list[Any]]:
            graph = torch.cuda.CUDAGraph(keep_graph=True)
            with goptx.collect(hold) as kernels, torch.cuda.graph(graph, stream=stream):
                made = run(*inputs)
            graph.instantiate()
            return graph, kernels, made if isinstance(made, list) else [made]

        graph, kernels, own = capture(0)
        branches = goptx.parallelize_graph(graph, kernels)
        other, kernels, outputs = capture(HOLD)
        graphs, facts = optimized(other, kernels)
        changed = _tensors(run)
        facts["equal"] = same(
            (graph.replay, lambda: [x.clone() for x in (*own, *changed)]),
            (graphs["optimized"].replay, lambda: [x.clone() for x in (*outputs, *changed)]),
            lambda: [x.clone() for x in changed],
            _putting(changed),
        )
        runs: dict[str, Go] = {
            "eager": lambda: run(*inputs), "as captured": graph.replay, "branches": branches.replay,
            HELD: graphs.pop("branches").replay,
        }  # fmt: skip
        runs |= {how: one.replay for how, one in graphs.items()}
        return {"program": name, "us": in_turn(runs, timer()), **facts}


def of_many() -> dict[str, Any]:
    """How long a graph of some 200 launches is optimized without being run: layers of four sizes, three times."""
    import torch
    from captured.torch_programs import PROGRAMS

    layers = [PROGRAMS[f"layer, {tokens} tokens"]() for tokens in (1, 8, 32, 128)]
    with torch.no_grad():
        for run, inputs in layers:
            run(*inputs)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph(keep_graph=True)
        with goptx.collect(HOLD) as kernels, torch.cuda.graph(graph):
            for run, inputs in layers * 3:
                run(*inputs)
    begin = time.perf_counter(), time.process_time()
    report = goptx.optimize_graph(graph, kernels, tune=False, check=False).report
    found = {"elapsed": time.perf_counter() - begin[0], "processor": time.process_time() - begin[1]}
    return {"nodes": report.nodes, "fused": len(report.fused), "us": {}, "seconds": found}


def _tensors(run: Any) -> list[Any]:
    """The tensors of the function's own that it may change: flat ones of floats."""
    import torch

    return [x for x in tensors_of(run) if x.dtype == torch.float32 and x.dim() == 1]


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

    facts["equal"] = same((replay, contents), (graphs["optimized"].replay, contents), contents, put)
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
    parallel, twice = (goptx.parallelize_graph(graph, kernels) for _ in range(2))
    estimated = goptx.optimize_graph(graph, kernels, tune=False, check=False)
    middle = time.perf_counter()
    tuned = goptx.optimize_graph(graph, kernels, budget="60s")
    facts = {
        "nodes": tuned.report.nodes,
        "with_ptx": tuned.report.known,
        "dependences": len(tuned.report.dependences),
        "taken": tuned.report.taken,
        "fused": [[list(group.members), group.strategy] for group in tuned.report.fused],
        "fused_by_the_cost_model": [[list(group.members), group.strategy] for group in estimated.report.fused],
        "seconds": {"without measuring": middle - begin, "with measuring": time.perf_counter() - middle},
        "report": str(tuned.report),
    }
    return {"branches": parallel, TWICE: twice, "by the cost model": estimated, "optimized": tuned}, facts


def same(one: Run, other: Run, contents: Callable[[], Any], put: Callable[[Any], None]) -> bool:
    """Whether both leave the same bits, from the same contents of what they change."""
    before = contents()
    found = []
    for go, left in (one, other):
        put(before)
        go()
        found.append(left())
    put(before)
    return all(bytes_of(a) == bytes_of(b) for a, b in zip(*found, strict=True))


def bytes_of(array: Any) -> bytes:
    host = array.cpu().contiguous() if hasattr(array, "cpu") else array
    if hasattr(host, "view") and hasattr(host, "dim"):
        import torch

        host = host.flatten().view(torch.uint8).numpy()
    return bytes(host.tobytes())


def in_turn(runs: Mapping[str, Go], timed: Callable[[Go], float]) -> dict[str, float]:
    """The median time of each; each round begins with another one, for a run may be faster after one than after
    another."""
    times: dict[str, list[float]] = {how: [] for how in runs}
    turns = list(runs.items())
    for _ in range(WARMUPS + ROUNDS):
        for how, go in turns:
            times[how].append(timed(go))
        turns = [*turns[1:], *turns[:1]]
    return {how: round(statistics.median(found[WARMUPS:]), 2) for how, found in times.items()}


def table(document: Mapping[str, Any]) -> str:
    columns = [
        "program", "nodes (with PTX)", "eager", *UNFUSED, "by the cost model", "optimized", "over as captured", "bar",
        "over the fastest of its own", "bar", *FORMS, "over the best unfused", "bar", "bit-equal",
    ]  # fmt: skip
    lines = [
        f"# Programs as CUDA graphs, {document.get('gpu', '')}", "",
        f"`{document['command']}` at {document.get('commit', '')}. Microseconds of a replay, and gains of the "
        "optimized graph: over the graph as captured, over the fastest of the program's own unfused graphs (as "
        "captured or with branches alone), and over the best unfused graph, the fastest of these and of "
        "torch.compile's. Arrays held: captured so that they do not share memory, as the graphs to the right.",
        "",
        f"| {' | '.join(columns)} |",
        "|---" * len(columns) + "|",
    ]  # fmt: skip
    missed = []
    for row in document["programs"]:
        if "us" not in row:
            lines.append(f"| {row['program']} | {row['error']} |" + " |" * (len(columns) - 2))
            continue
        us = row["us"]
        cells = [us.get(how) for how in ("eager", *UNFUSED, "by the cost model", "optimized")]
        compiled = [us.get(COMPILED + how) for how in FORMS]
        gained = gains(row)
        own, branches, best = (f"{gain:.3f} | {bar or ''}" if gain else " | " for gain, bar in gained.values())
        lines.append(
            f"| {row['program']} | {row['nodes']} ({row['with_ptx']}) | {' | '.join(map(_time, cells))} | {own} | "
            f"{branches} | {' | '.join(map(_time, compiled))} | {best} | {'yes' if row['equal'] else 'no'} |"
        )
        missed += [
            f"* {row['program']}, over {over}: {gain:.3f} for {bar}"
            for over, (gain, bar) in gained.items()
            if gain and bar and gain < bar
        ]
    if spreads := [abs(1 - us.get(HELD, us["branches"]) / us[TWICE]) for us in _times(document) if TWICE in us]:
        lines += ["", f"Two instances of the same graph with branches differ by at most {max(spreads):.1%}."]
    if (many := document.get("many")) and "seconds" in many:
        seconds = many["seconds"]
        lines += [
            "",
            f"A graph of {many['nodes']} launches, layers of 1 to 128 tokens, is optimized without measuring in "
            f"{seconds['elapsed']:.1f} s ({seconds['processor']:.1f} s of processor time); the bar is 20 s.",
        ]
    failed = [
        f"* {row['program']}, {how}: {why}"
        for row in document["programs"]
        for how, why in row.get("failed", {}).items()
    ]
    lines += ["", "Bars that are not reached:", "", *missed] if missed else []
    lines += ["", "Not measured:", "", *failed] if failed else []
    return "\n".join(lines) + "\n"


def gains(row: Mapping[str, Any]) -> dict[str, tuple[float | None, float | None]]:
    """The gains of a program's optimized graph, each with its bar, by what they are over. Over the best unfused graph
    of a program in torch, only if it was compiled by torch, too."""
    us = row["us"]
    own = min(us[how] for how in UNFUSED if how in us)
    compiled = [us[COMPILED + how] for how in FORMS if us.get(COMPILED + how)]
    known = compiled or row["program"] in ARRAYS
    best = min([own, *compiled]) / us["optimized"] if known else None
    return {
        "as captured": (us["as captured"] / us["optimized"], _bar(BARS, row) or SLOWER),
        "the fastest of its own": (own / us["optimized"], _bar(BRANCH_BARS, row) or SLOWER),
        "the best unfused": (best, _bar(BEST_BARS, row)),
    }


def _times(document: Mapping[str, Any]) -> list[dict[str, float]]:
    """What was measured of each program."""
    return [row["us"] for row in document["programs"] if "us" in row]


def _time(us: float | None) -> str:
    return f"{us:.1f}" if us else ""


def _bar(bars: Mapping[str, float], row: Mapping[str, Any]) -> float | None:
    return next((bar for start, bar in bars.items() if row["program"].startswith(start)), None)


if __name__ == "__main__":
    sys.exit(main())
