"""Pairs of suite A, woven by the schemes of the paper and by default, against two streams."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

from measuring import REPEATS, Data, Single, differences, in_turn, once

import goptx
from goptx.specification import read_specification
from suite_a import FOLDER

SCHEMES: dict[str, dict[str, Any]] = {
    "merge": {"policy": "concat", "slicing": None},
    "merge+slicing": {"policy": "concat", "slicing": "adaptive"},
    "merge+weaving": {"policy": "paper", "slicing": None},
    "merge+both": {"policy": "paper", "slicing": "adaptive"},
    "default": {},
}
CAPS = (32, 40, 48, 64, 80, 128)


def run(pair: str, small: bool) -> dict[str, Any]:
    from goptx.device.launch import current_device, launch, load

    device = current_device()
    launches = [read_specification(FOLDER / f"{name}.toml")[0] for name in pair.split("+")]
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

    row: dict[str, Any] = {"name": pair, "right": True, "schemes": {}}
    once(separate(False), data, 0xA5)
    expected = [own.outputs() for own in data]
    for name, result in woven.items():
        found = differences(fused(result, None, False), data, expected)
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
    once(baseline, data, 0xA5)
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
        row["schemes"][name]["differences_with_contraction"] = differences(run, data, expected)
    timed = {"streams": baseline, **candidates}
    row["ms"] = in_turn(timed, streams[0], data)
    row["assembler"] = both.resources().assembler
    return row


def speedup(row: dict[str, Any], scheme: str) -> float:
    return float(row["ms"]["streams"][0] / row["ms"][scheme][0])


def best_capped(row: dict[str, Any]) -> str:
    names: list[str] = [n for n in row["ms"] if n.startswith("cap ") or n == "merge+both"]
    return min(names, key=lambda n: row["ms"][n][0])


def summary(row: dict[str, Any]) -> str:
    if "ms" not in row:
        return f"{row['name']:14} {'right' if row.get('right') else 'WRONG'} {row.get('problem', '')[-300:]}"
    cells = " ".join(f"{speedup(row, s):5.2f}" for s in SCHEMES)
    best = best_capped(row)
    return (
        f"{row['name']:14} {'right' if row['right'] else 'WRONG'} streams {row['ms']['streams'][0]:6.3f} ms  {cells}  "
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
            lines.append(f"| {r['name']} | {'yes' if r.get('right') else 'NO'} |" + " |" * (len(SCHEMES) + 4))
            continue
        best = best_capped(r)
        both = r["schemes"]["merge+both"]
        cells = " | ".join(f"{speedup(r, s):.2f}" for s in SCHEMES)
        label = "none" if best == "merge+both" else best.removeprefix("cap ")
        lines.append(
            f"| {r['name']} | {'yes' if r['right'] else 'NO'} | {r['ms']['streams'][0]:.3f} | {cells} | "
            f"{speedup(r, best):.2f} ({label}) | {both['woven_fraction']:.2f} | {both['registers']} |"
        )
    if timed:
        means = [statistics.geometric_mean([speedup(r, s) for r in timed]) for s in SCHEMES]
        capped = statistics.geometric_mean([speedup(r, best_capped(r)) for r in timed])
        lines.append(f"| geomean | | | {' | '.join(f'{m:.3f}' for m in means)} | {capped:.3f} | | |")
    return "\n".join(lines) + "\n"
