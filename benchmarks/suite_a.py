"""Suite A on a GPU: all 28 pairs woven, compared with separate launches, then timed against two streams.

    python benchmarks/suite_a.py [-o benchmarks/results] [--pairs gelu+harris,...] [--small]

Each pair runs in a child process under a time limit, so that a hang costs one pair. Right first, then fast:
with contraction off (`fmad=False`) the outputs of the woven kernel have to equal those of separate launches
bit for bit; the timed builds, with contraction, are compared too, and a difference is reported by its size.
Schemes are the ablation of the GoPTX paper's Figure: merge, + slicing, + weaving, + both; then what goptx does
by default. "capped" is "both" under the best of the paper's register caps. Needs cuda-python and CuPy.
"""

from __future__ import annotations

import argparse
import json
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import goptx
from goptx.specification import Argument, Launch, read_specification

KERNELS = ("gelu", "harris", "lud", "micnd", "sort", "stms", "wmma")
FOLDER = Path(__file__).parent.parent / "examples" / "kernels"
SCHEMES: dict[str, dict[str, Any]] = {
    "merge": {"policy": "concat", "slicing": None},
    "merge+slicing": {"policy": "concat", "slicing": "adaptive"},
    "merge+weaving": {"policy": "paper", "slicing": None},
    "merge+both": {"policy": "paper", "slicing": "adaptive"},
    "default": {},
}
CAPS = (32, 40, 48, 64, 80, 128)
WARMUPS, REPEATS = 3, 20
TIME_LIMIT = 150  # seconds for one pair


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--pairs", help="only these, such as gelu+harris,lud+lud")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    parser.add_argument("--small", action="store_true", help="the sizes of [check]: compare, do not time")
    parser.add_argument("--pair", help=argparse.SUPPRESS)  # the child's part
    options = parser.parse_args()
    if options.pair:
        first, second = options.pair.split("+")
        print("RESULT " + json.dumps(run_pair(first, second, options.small)))
        return 0
    pairs = options.pairs.split(",") if options.pairs else [f"{a}+{b}" for a, b in all_pairs()]
    rows = []
    for pair in pairs:
        rows.append(in_child(pair, options.small))
        print(summary(rows[-1]), flush=True)
    document = {"suite": "A", "command": command_line(options.output), **environment(options.commit), "pairs": rows}
    print(table(document))
    right = 0 if all(row.get("right") for row in rows) else 1
    if options.output is None:
        return right
    options.output.mkdir(parents=True, exist_ok=True)
    stem = f"{date.today().isoformat()}-{document['gpu_short']}-suite_a{'_small' if options.small else ''}"
    (options.output / f"{stem}.json").write_text(json.dumps(document, indent=1) + "\n")
    (options.output / f"{stem}.md").write_text(table(document))
    return right


def all_pairs() -> Iterator[tuple[str, str]]:
    for i, first in enumerate(KERNELS):
        for second in KERNELS[i:]:
            yield first, second


def in_child(pair: str, small: bool) -> dict[str, Any]:
    command = [sys.executable, __file__, "--pair", pair] + (["--small"] if small else [])
    begin = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return {"pair": pair, "right": False, "problem": f"no answer within {TIME_LIMIT} s: hangs"}
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            return {**json.loads(line.removeprefix("RESULT ")), "seconds": round(time.monotonic() - begin, 1)}
    return {"pair": pair, "right": False, "problem": (done.stdout + done.stderr)[-2000:]}


# One pair, in the child ---------------------------------------------------------------------------------


class Data:
    """The arguments of one launch on the device: inputs kept pristine, a working copy of what is written."""

    def __init__(self, launch: Launch, seed_shift: int) -> None:
        import cupy as cp
        import numpy as np

        self.launch = launch
        self.pristine: dict[str, Any] = {}
        self.arguments: list[Any] = []
        self.written: dict[str, Any] = {}
        for argument in launch.arguments:
            if not argument.is_array:
                self.arguments.append(np.dtype(argument.dtype).type(argument.value))
                continue
            array = generate(argument, seed_shift)
            if argument.role != "in":
                self.written[argument.name] = array
            if argument.role == "inout":
                self.pristine[argument.name] = cp.array(array)
            self.arguments.append(array)

    def reset(self, poison: int | None = None) -> None:
        """Fresh inputs; what is only written is filled with the byte `poison`."""
        import cupy as cp

        for name, array in self.written.items():
            if name in self.pristine:
                array[...] = self.pristine[name]
            elif poison is not None:
                array.view(cp.uint8)[...] = poison

    def outputs(self) -> dict[str, Any]:
        import cupy as cp

        return {name: cp.array(array) for name, array in self.written.items()}

    def difference(self, expected: dict[str, Any]) -> tuple[int, float]:
        """How many elements differ in their bits, and the largest absolute difference."""
        import cupy as cp

        count, largest = 0, 0.0
        for name, array in self.written.items():
            unsigned = {1: cp.uint8, 2: cp.uint16, 4: cp.uint32, 8: cp.uint64}[array.itemsize]
            differs = array.view(unsigned) != expected[name].view(unsigned)
            amount = int(cp.count_nonzero(differs))
            count += amount
            if amount:
                distance = cp.abs(array[differs].astype(cp.float64) - expected[name][differs].astype(cp.float64))
                largest = max(largest, float(cp.max(distance)))
        return count, largest


def generate(argument: Argument, seed_shift: int) -> Any:
    import cupy as cp

    length, dtype = argument.length, cp.dtype(argument.dtype)
    if argument.role == "out" or argument.generator == "zeros":
        return cp.zeros(length, dtype)
    if argument.generator == "arange":
        return cp.arange(length, dtype=dtype)
    random = cp.random.Generator(cp.random.XORWOW(argument.seed + seed_shift))
    array = cp.empty(length, dtype)
    step = 1 << 26  # bounds what the generator needs beside the array
    for begin in range(0, length, step):
        size = min(step, length - begin)
        if argument.generator == "integers":
            piece = random.integers(int(argument.low), int(argument.high), size=size)
        elif argument.generator == "normal":
            piece = random.standard_normal(size=size, dtype=cp.float32) * argument.high + argument.low
        else:
            piece = random.random(size=size, dtype=cp.float32) * (argument.high - argument.low) + argument.low
        array[begin : begin + size] = piece.astype(dtype)
    return array


def run_pair(first: str, second: str, small: bool) -> dict[str, Any]:
    import cupy as cp

    from goptx.device.launch import current_device, launch, load

    device = current_device()
    launches = [read_specification(FOLDER / f"{name}.toml")[0] for name in (first, second)]
    if small:
        launches = [one.small() for one in launches]
    data = [Data(one, 1000 * i) for i, one in enumerate(launches)]
    grid, block = launches[0].grid, launches[0].block
    streams = [device.create_stream(), device.create_stream()]
    singles = [Single(one.file) for one in launches]
    woven = {name: goptx.weave(*[one.file for one in launches], **options) for name, options in SCHEMES.items()}
    arguments = [d.arguments for d in data]

    def separate(fmad: bool) -> Callable[[], None]:
        kernels = [load(s.assembly(fmad).cubin, s.name) for s in singles]

        def run() -> None:
            fork = streams[0].record()
            streams[1].wait(fork)
            for kernel, stream, own, one in zip(kernels, streams, data, singles, strict=True):
                launch(kernel, stream, one.pack(own.arguments), grid=grid, block=block)
            streams[0].wait(streams[1].record())

        return run

    def fused(result: goptx.Woven, cap: int | None, fmad: bool) -> Callable[[], None]:
        kernel = load(result.cubin(cap, fmad=fmad), result.name)
        packed = result.arguments(*arguments)
        return lambda: launch(kernel, streams[0], packed, grid=grid, block=block)

    def once(run: Callable[[], None], poison: int) -> None:
        for own in data:
            own.reset(poison)
        cp.cuda.Device().synchronize()
        run()
        device.sync()

    def differences(run: Callable[[], None], expected: list[dict[str, Any]]) -> list[tuple[int, float]]:
        once(run, 0x5A)
        return [own.difference(e) for own, e in zip(data, expected, strict=True)]

    row: dict[str, Any] = {"pair": f"{first}+{second}", "right": True, "schemes": {}}
    once(separate(False), 0xA5)
    expected = [own.outputs() for own in data]
    for name, result in woven.items():
        found = differences(fused(result, None, False), expected)
        report = result.report
        row["schemes"][name] = {
            "bit_equal_without_contraction": not any(count for count, _ in found),
            "differences": found,
            "woven_fraction": report.woven_fraction,
            "blocks": report.merged.blocks,
            "instructions": report.merged.instructions,
            "registers": result.resources(block=block).registers,
            "spill_bytes": result.resources(block=block).spill_bytes,
            "occupancy": result.resources(block=block).occupancy,
        }
        row["right"] &= row["schemes"][name]["bit_equal_without_contraction"]
    row["separate_registers"] = [s.assembly(True).registers for s in singles]
    if small:
        return row

    baseline = separate(True)
    once(baseline, 0xA5)
    expected = [own.outputs() for own in data]
    candidates = {name: fused(result, None, True) for name, result in woven.items()}
    both = woven["merge+both"]
    for cap in CAPS:
        if cap < both.resources().registers:
            candidates[f"cap {cap}"] = fused(both, cap, True)
            row["schemes"][f"cap {cap}"] = {
                "registers": both.resources(cap).registers,
                "spill_bytes": both.resources(cap).spill_bytes,
                "occupancy": both.resources(cap, block=block).occupancy,
            }
    for name, run in candidates.items():
        row["schemes"][name]["differences_with_contraction"] = differences(run, expected)
    timed = {"streams": baseline, **candidates}
    times: dict[str, list[float]] = {name: [] for name in timed}
    for repeat in range(WARMUPS + REPEATS):
        for name, run in timed.items():
            for own in data:
                own.reset()
            cp.cuda.Device().synchronize()
            begin = streams[0].record(options={"timing_enabled": True})
            run()
            end = streams[0].record(options={"timing_enabled": True})
            end.sync()
            if repeat >= WARMUPS:
                times[name].append(end - begin)
    row["ms"] = {n: [statistics.median(t), min(t), max(t)] for n, t in times.items()}
    row["assembler"] = both.resources().assembler
    return row


class Single:
    """A kernel on its own, assembled like the woven ones."""

    def __init__(self, file: Path) -> None:
        from goptx.weaving.result import Parameter

        module = goptx.read(file)
        self.text = str(module)
        entry = module.entries[0]
        self.name = entry.name
        self.params = [Parameter("A", p.name, p.name, p.type, p.size) for p in entry.parameters]

    def assembly(self, fmad: bool) -> Any:
        from goptx.device.assemble import assemble

        return assemble(self.text, entry=self.name, fmad=fmad)

    def pack(self, arguments: Sequence[Any]) -> list[Any]:
        from goptx.arguments import pack_arguments

        return pack_arguments(self.params, arguments)


# Results ------------------------------------------------------------------------------------------------


def environment(commit: str | None) -> dict[str, Any]:
    """GPU, driver, compiler and commit, for the record."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    name, driver = subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()[0].split(", ")
    if commit is None:
        describe = ["git", "-C", str(FOLDER), "describe", "--always", "--dirty"]
        commit = subprocess.run(describe, capture_output=True, text=True, check=True).stdout.strip()
    short = name.lower().removeprefix("nvidia ").split()[0]
    return {"gpu": name, "gpu_short": short, "driver": driver, "commit": commit}


def command_line(output: Path | None, program: str = sys.argv[0]) -> str:
    """How this was run, wherever its results went."""
    words = ["python", program, *sys.argv[1:]]
    return " ".join("benchmarks/results" if word == str(output) else shlex.quote(word) for word in words)


def speedup(row: dict[str, Any], scheme: str) -> float:
    return float(row["ms"]["streams"][0] / row["ms"][scheme][0])


def best_capped(row: dict[str, Any]) -> str:
    names: list[str] = [n for n in row["ms"] if n.startswith("cap ") or n == "merge+both"]
    return min(names, key=lambda n: row["ms"][n][0])


def summary(row: dict[str, Any]) -> str:
    if "ms" not in row:
        return f"{row['pair']:14} {'right' if row.get('right') else 'WRONG'} {row.get('problem', '')[-300:]}"
    cells = " ".join(f"{speedup(row, s):5.2f}" for s in SCHEMES)
    best = best_capped(row)
    return (
        f"{row['pair']:14} {'right' if row['right'] else 'WRONG'} streams {row['ms']['streams'][0]:6.3f} ms  {cells}  "
        f"{best} {speedup(row, best):5.2f}  ({row.get('seconds')} s)"
    )


def table(document: dict[str, Any]) -> str:
    rows = document["pairs"]
    lines = [
        f"# Suite A on {document['gpu']}",
        "",
        f"Driver {document['driver']}, {next((r['assembler'] for r in rows if 'assembler' in r), 'no timing')}, "
        f"commit {document['commit']}. `{document['command']}`",
        "",
        f"Speedup over two streams (medians of {REPEATS}), in the paper's shape. Right: outputs equal those of "
        "separate launches bit for bit, contraction off.",
        "",
        "| pair | right | streams ms | " + " | ".join(SCHEMES) + " | best cap | woven fraction | registers |",
        "|---|---|---|" + "---|" * (len(SCHEMES) + 3),
    ]
    timed = [r for r in rows if "ms" in r]
    for r in rows:
        if "ms" not in r:
            lines.append(f"| {r['pair']} | {'yes' if r.get('right') else 'NO'} |" + " |" * (len(SCHEMES) + 4))
            continue
        best = best_capped(r)
        both = r["schemes"]["merge+both"]
        cells = " | ".join(f"{speedup(r, s):.2f}" for s in SCHEMES)
        label = "none" if best == "merge+both" else best.removeprefix("cap ")
        lines.append(
            f"| {r['pair']} | {'yes' if r['right'] else 'NO'} | {r['ms']['streams'][0]:.3f} | {cells} | "
            f"{speedup(r, best):.2f} ({label}) | {both['woven_fraction']:.2f} | {both['registers']} |"
        )
    if timed:
        means = [statistics.geometric_mean([speedup(r, s) for r in timed]) for s in SCHEMES]
        capped = statistics.geometric_mean([speedup(r, best_capped(r)) for r in timed])
        lines.append(f"| geomean | | | {' | '.join(f'{m:.3f}' for m in means)} | {capped:.3f} | | |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
