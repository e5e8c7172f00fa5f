"""Suite D on a GPU: the chain as four launches, as one kernel, and with its temporaries in registers.

    python -m benchmarks.suite_d [-o benchmarks/results] [--elements N]

Each form of the kernels runs in a child process under a time limit. Right first: with contraction off all that a way
still writes has to equal what separate launches write, bit for bit, from poisoned outputs. Times are medians of device
events, the ways in turn, each a CUDA graph; a pass is one load or store of every element. Before all that the chain
runs through a fusion region, whose first, second and hundredth time are compared with four launches. Needs cuda-python
and CuPy.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))  # where the other suites are

from measuring import command_line, environment, generate

import goptx
from goptx.launch.specification import Argument, Launch, read_specification
from suite_d import BLOCK, FOLDER, FORMS, LOOP_CTAS, STEPS, WAYS, chain, fused, passes, region

WARMUPS, REPEATS = 3, 20
TIME_LIMIT = 180  # seconds for one form
BAR = 2.2  # over separate launches


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--elements", type=int, help="of each array; by default those of the specification, 10^8")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    parser.add_argument("--form", choices=FORMS, help=argparse.SUPPRESS)  # the child's part
    options = parser.parse_args()
    if options.form:
        print("RESULT " + json.dumps(run(options.form, options.elements)))
        return 0
    rows = [in_child(form, options.elements) for form in FORMS]
    document = {
        "suite": "D",
        "command": command_line(options.output, "-m benchmarks.suite_d"),
        **environment(options.commit),
        "forms": rows,
    }
    print(table(document))
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        stem = f"{date.today().isoformat()}-{document['gpu_short']}-suite_d"
        (options.output / f"{stem}.json").write_text(json.dumps(document, indent=1) + "\n")
        (options.output / f"{stem}.md").write_text(table(document))
    return 0 if all(row.get("right") for row in rows) else 1


def in_child(form: str, elements: int | None) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.suite_d", "--form", form]
    command += ["--elements", str(elements)] if elements else []
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return {"form": form, "right": False, "problem": f"no answer within {TIME_LIMIT} s: hangs"}
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            return dict(json.loads(line.removeprefix("RESULT ")))
    return {"form": form, "right": False, "problem": (done.stdout + done.stderr)[-2000:]}


def arguments_of(launches: Sequence[Launch], elements: int) -> tuple[dict[str, Any], list[list[Any]]]:
    """The arrays by name, and the arguments of each kernel."""
    import cupy as cp
    import numpy as np

    arrays: dict[str, Any] = {}

    def value(argument: Argument) -> Any:
        if not argument.is_array:
            return np.int32(elements)
        if argument.name not in arrays:
            made = argument.generator not in ("", "zeros")
            arrays[argument.name] = generate(argument, 0)[:elements] if made else cp.zeros(elements, cp.float32)
        return arrays[argument.name]

    return arrays, [[value(a) for a in launch.arguments] for launch in launches]


def run(form: str, elements: int | None) -> dict[str, Any]:
    import cupy as cp

    from goptx.device.assemble import assemble
    from goptx.device.load import current_device, launch, load
    from goptx.launch.arguments import pack_arguments
    from goptx.launch.parameter import Parameter
    from goptx.measuring.bench.baseline_runs import Graphs
    from goptx.sources.read import read

    device = current_device()
    stream = device.create_stream()
    launches = read_specification(FOLDER / "chain.toml")
    elements = elements or launches[0].arguments[0].length
    arrays, arguments = arguments_of(launches, elements)
    written = [launch.arguments[2].name for launch in launches]
    grid = -(-elements // BLOCK) if form == "element" else LOOP_CTAS
    module = read(FOLDER / "chain.sm_90.ptx")
    entries = {e.name: e for e in module.entries}

    def separate(fmad: bool) -> Callable[[], None]:
        made = []
        for name, own in zip(chain(form), arguments, strict=True):
            params = [Parameter("A", p.name, p.name, p.type, p.size) for p in entries[name].parameters]
            kernel = load(assemble(str(module), entry=name, fmad=fmad).cubin, name)
            made.append((kernel, pack_arguments(params, own)))

        def go() -> None:
            for kernel, packed in made:
                launch(kernel, stream, packed, grid=grid, block=BLOCK)

        return go

    def one(way: str, fmad: bool) -> Callable[[], None]:
        woven = fused(form, way)
        kernel, packed = load(woven.cubin(fmad=fmad), woven.name), woven.arguments(*arguments)
        return lambda: launch(kernel, stream, packed, grid=grid, block=BLOCK)

    def results(go: Callable[[], object]) -> dict[str, Any]:
        for name in written:
            arrays[name].view(cp.uint8)[...] = 0x5A
        cp.cuda.Device().synchronize()
        go()
        device.sync()
        return {name: arrays[name].copy() for name in written}

    def run_region() -> goptx.Fusion:
        return region.through_region(form, stream, grid, BLOCK, arrays, arguments)

    with region.empty_cache():  # the first of all that is made in this process
        times_of_region = region.measured(stream, run_region, partial(separate, True))
    row: dict[str, Any] = {"form": form, "elements": elements, "grid": grid, "block": BLOCK, "right": True, "ways": {}}
    expected = results(separate(False))
    for way in WAYS:
        found = results(one(way, False))
        compared = written if way == "vertical" else written[-1:]
        equal = all(bool(cp.all(found[n].view(cp.uint32) == expected[n].view(cp.uint32))) for n in compared)
        woven = fused(form, way)
        row["right"] &= equal
        row["ways"][way] = {
            "bit_equal_without_contraction": equal,
            "compared": list(compared),
            "passes": passes(woven.ptx),
            "registers": woven.resources(block=BLOCK).registers,
            "assembler": woven.resources(block=BLOCK).assembler,
        }
    expected = results(separate(True))
    for way in WAYS:
        found = results(one(way, True))
        distance = cp.abs(found[written[-1]].astype(cp.float64) - expected[written[-1]])
        row["ways"][way]["largest_difference_with_contraction"] = float(cp.max(distance))
    found = results(run_region)
    distance = float(cp.max(cp.abs(found[written[-1]].astype(cp.float64) - expected[written[-1]])))
    allowed = 2 * row["ways"]["internalised"]["largest_difference_with_contraction"]
    row["right"] &= distance <= allowed
    row["region"] = {**times_of_region, "largest_difference_with_contraction": distance}
    row["ways"]["separate"] = {"passes": 3 * len(STEPS)}
    timed = {"separate": separate(True), **{way: one(way, True) for way in WAYS}}
    graphs = Graphs(stream)
    timed = {name: graphs.of(go) for name, go in timed.items()}  # as the device runs them, whatever the host takes
    times: dict[str, list[float]] = {name: [] for name in timed}
    for repeat in range(WARMUPS + REPEATS):
        for name, go in timed.items():
            begin = stream.record(options={"timing_enabled": True})
            go()
            end = stream.record(options={"timing_enabled": True})
            end.sync()
            if repeat >= WARMUPS:
                times[name].append(end - begin)
    row["ms"] = {name: [statistics.median(t), min(t), max(t)] for name, t in times.items()}
    return row


def table(document: dict[str, Any]) -> str:
    lines = [
        f"# Suite D on {document['gpu']}",
        "",
        f"Driver {document['driver']}, commit {document['commit']}. `{document['command']}`",
        "",
        f"Four element-wise kernels that depend on each other; medians of {REPEATS}. A pass is a load or a store of "
        f"every element, 4 bytes each. The bar is {BAR} over separate launches; bytes allow 2.4.",
        "",
        "| form | way | right | ms | spread | passes | TB/s | over separate |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in document["forms"]:
        if "ms" not in row:
            lines.append(f"| {row['form']} | | NO | {row.get('problem', '')[-200:]!r} | | | | |")
            continue
        for way, (median, least, most) in row["ms"].items():
            facts = row["ways"][way]
            speed = facts["passes"] * 4 * row["elements"] / median / 1e9
            right = {True: "yes", False: "NO"}.get(facts.get("bit_equal_without_contraction"), "")
            lines.append(
                f"| {row['form']} | {way} | {right} | {median:.3f} | {least:.3f} to {most:.3f} | {facts['passes']} | "
                f"{speed:.2f} | {row['ms']['separate'][0] / median:.2f} |"
            )
    return "\n".join([*lines, *region.table(document["forms"])]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
