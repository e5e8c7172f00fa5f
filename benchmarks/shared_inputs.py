"""Kernels that read the same arrays, on a GPU: side by side on two streams, woven, and fused so that what both load is
loaded once.

    python benchmarks/shared_inputs.py [-o benchmarks/results] [--pixels N]

The kernels are harris and stms of examples/kernels, given one dx2, dy2 and dxy. Right first: with contraction off every
way has to write what separate launches write, bit for bit, from poisoned outputs. Times are medians of device events,
the ways in turn. Needs cuda-python and CuPy.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from measuring import command_line, environment, generate

import goptx
from goptx.launch.specification import Argument, Launch, read_specification

FOLDER = Path(__file__).parent.parent / "examples" / "kernels"
NAMES = ("harris", "stms")
INPUTS = ("dx2", "dy2", "dxy")
SAME = ("A:0=B:0", "A:1=B:1", "A:2=B:2", "A:5=B:5")  # the three inputs, and the number of pixels
BYTES = 2  # of an element of an input; a result has one
WARMUPS, REPEATS = 5, 30
WAYS: dict[str, dict[str, Any]] = {
    "separate": {"strategy": "separate"},
    "two streams": {"strategy": "separate", "streams": True},
    "weave": {"strategy": "weave"},
    "weave, same": {"strategy": "weave", "same": SAME},
    "vertical, same": {"strategy": "vertical", "same": SAME},
}
FIRST = next(iter(WAYS))  # which the others are compared with
Ready = Callable[[Any], None]  # launches on a stream


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--pixels", type=int, help="by default those of the specification, 2^28")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    options = parser.parse_args()
    document = {"command": command_line(options.output), **environment(options.commit), **measured(options.pixels)}
    print(table(document))
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        stem = f"{date.today().isoformat()}-{document['gpu_short']}-shared_inputs"
        (options.output / f"{stem}.json").write_text(json.dumps(document, indent=1) + "\n")
        (options.output / f"{stem}.md").write_text(table(document))
    return 0 if all(row["right"] for row in document["ways"].values()) else 1


def measured(pixels: int | None = None) -> dict[str, Any]:
    from goptx.device.load import current_device

    launches = [read_specification(FOLDER / f"{name}.toml")[0] for name in NAMES]
    pixels = pixels or launches[0].arguments[0].length
    arguments, results = data(launches, pixels)
    block = launches[0].block[0]
    launch = {"grid": -(-pixels // block), "block": block}
    stream = current_device().create_stream()
    rows: dict[str, dict[str, Any]] = {}
    timed: dict[str, Ready] = {}
    expected: list[Any] = []
    for way, options in WAYS.items():
        made = fused(**options)
        found = written(ready(made, arguments, launch, fmad=False), stream, results)
        expected = expected or found
        timed[way] = ready(made, arguments, launch)
        rows[way] = facts(made, block) | {"right": equal(found, expected)}
    for way, times in timings(timed, stream).items():
        rows[way]["ms"] = [statistics.median(times), min(times), max(times)]
    return {"kernels": NAMES, "pixels": pixels, **launch, "ways": rows}


def fused(**options: Any) -> goptx.Woven:
    return goptx.fuse(*[FOLDER / f"{name}.sm_90.ptx" for name in NAMES], **options)


def facts(made: goptx.Woven, block: int) -> dict[str, Any]:
    """`loads` is how many elements of inputs a pixel takes from memory."""
    resources = made.resources(block=block)
    return {
        "loads": made.ptx.count("ld.global"),
        "registers": resources.registers,
        "assembler": resources.assembler,
        "notes": made.report.notes,
    }


def data(launches: list[Launch], pixels: int) -> tuple[list[list[Any]], list[Any]]:
    """The arguments of each kernel, which have their inputs in common, and the arrays that they write."""
    import cupy as cp
    import numpy as np

    inputs = {a.name: generate(a, 0)[:pixels] for a in launches[0].arguments if a.name in INPUTS}
    results = [cp.zeros(pixels, cp.uint8) for _ in launches]

    def value(argument: Argument, result: Any) -> Any:
        if argument.is_array:
            return inputs.get(argument.name, result)
        return np.dtype(argument.dtype).type(pixels if argument.name == "n" else argument.value)

    return [[value(a, result) for a in one.arguments] for one, result in zip(launches, results, strict=True)], results


def ready(made: goptx.Woven, arguments: list[list[Any]], launch: dict[str, Any], fmad: bool = True) -> Ready:
    """Assembled and loaded; separate kernels are started as their strategy starts them."""
    from goptx.device.load import launch as start
    from goptx.device.load import load

    if made.strategy == "separate" and fmad:
        return lambda stream: made.launch(stream, *arguments, **launch)
    if made.strategy == "separate":
        return one_by_one(arguments, launch)
    kernel, packed = load(made.cubin(fmad=fmad), made.name), made.arguments(*arguments)
    return lambda stream: start(kernel, stream, packed, **launch)


def one_by_one(arguments: list[list[Any]], launch: dict[str, Any]) -> Ready:
    """The kernels as they are, with contraction off."""
    from measuring import Single

    from goptx.device.load import launch as start
    from goptx.device.load import load

    singles = [Single(FOLDER / f"{name}.sm_90.ptx") for name in NAMES]
    loaded = [
        (load(s.assembly(fmad=False).cubin, s.name), s.pack(own)) for s, own in zip(singles, arguments, strict=True)
    ]

    def go(stream: Any) -> None:
        for kernel, packed in loaded:
            start(kernel, stream, packed, **launch)

    return go


def written(go: Ready, stream: Any, results: list[Any]) -> list[Any]:
    import cupy as cp

    for array in results:
        array[...] = 0x5A
    cp.cuda.Device().synchronize()
    go(stream)
    stream.sync()
    return [array.copy() for array in results]


def equal(found: list[Any], expected: list[Any]) -> bool:
    return all(bool((one == other).all()) for one, other in zip(found, expected, strict=True))


def timings(timed: dict[str, Ready], stream: Any) -> dict[str, list[float]]:
    """Milliseconds."""
    times: dict[str, list[float]] = {way: [] for way in timed}
    for repeat in range(WARMUPS + REPEATS):
        for way, go in timed.items():
            begin = stream.record(options={"timing_enabled": True})
            go(stream)
            end = stream.record(options={"timing_enabled": True})
            end.sync()
            if repeat >= WARMUPS:
                times[way].append(end - begin)
    return times


def table(document: dict[str, Any]) -> str:
    first = document["ways"][FIRST]["ms"][0]
    lines = [
        f"# {' and '.join(document['kernels'])} on shared inputs, on {document['gpu']}",
        "",
        f"Driver {document['driver']}, commit {document['commit']}. `{document['command']}`",
        "",
        f"{document['pixels']} pixels; three inputs of {BYTES} bytes each that both kernels read, a result of "
        f"1 byte of each. Medians of {REPEATS}. Loads are those of the PTX, for a pixel.",
        "",
        f"| way | right | ms | spread | loads | registers | TB/s | over {FIRST} |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for way, row in document["ways"].items():
        median, least, most = row["ms"]
        moved = (BYTES * row["loads"] + len(document["kernels"])) * document["pixels"] / median / 1e9
        lines.append(
            f"| {way} | {'yes' if row['right'] else 'NO'} | {median:.3f} | {least:.3f} to {most:.3f} | "
            f"{row['loads']} | {row['registers']} | {moved:.2f} | {first / median:.2f} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
