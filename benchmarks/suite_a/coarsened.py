"""Single kernels of suite A coarsened, by factor and register cap, against themselves."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

from measuring import REPEATS, Data, Single, differences, in_turn, once

import goptx
from goptx.specification import read_specification
from suite_a import specification_of

FACTORS = (2, 4, 8)
CAPS = (32, 40, 48, 64)
MOST_REGISTERS = 80  # of a candidate; with more, fewer CTAs than three are on an SM
SIX = ("gelu", "harris", "lud", "micnd", "sort", "stms")  # of which shared figures are


def run(name: str, small: bool) -> dict[str, Any]:
    from goptx.device.launch import current_device, launch, load

    device = current_device()
    one = read_specification(specification_of(name))[0]
    one = one.small() if small else one
    data = [Data(one, 0)]
    stream = device.create_stream()
    single = Single(one.file)
    shape = goptx.Shape(one.grid, one.block)
    woven = {factor: goptx.coarsen(one.file, factor, shape=shape) for factor in FACTORS}
    unknown = goptx.coarsen(one.file, FACTORS[0])  # the grid becomes a hidden parameter

    def alone(fmad: bool) -> Callable[[], None]:
        kernel = load(single.assembly(fmad).cubin, single.name)
        packed = single.pack(data[0].arguments)
        return lambda: launch(kernel, stream, packed, grid=one.grid, block=one.block)

    def coarse(result: goptx.Woven, cap: int | None, fmad: bool) -> Callable[[], None]:
        kernel = load(result.cubin(cap, fmad=fmad), result.name)
        found, _ = result.launched(one.grid, one.block)
        packed = result.arguments(data[0].arguments, shapes=None if result is not unknown else [shape])
        return lambda: launch(kernel, stream, packed, grid=found.sizes("grid"), block=found.sizes("block"))

    row: dict[str, Any] = {"name": name, "right": True, "candidates": {}}
    once(alone(False), data, 0xA5)
    expected = [own.outputs() for own in data]
    made = {**{f"x{factor}": result for factor, result in woven.items()}, f"x{FACTORS[0]}, any grid": unknown}
    candidates: dict[str, tuple[goptx.Woven, int | None]] = {}
    for label, result in made.items():
        found = differences(coarse(result, None, False), data, expected)
        registers = result.resources(block=one.block).registers
        row["candidates"][label] = {
            "bit_equal_without_contraction": not any(count for count, _ in found),
            "differences": found,
            "instructions": result.report.merged.instructions,
        }
        row["right"] &= row["candidates"][label]["bit_equal_without_contraction"]
        if registers <= MOST_REGISTERS:
            candidates[label] = result, None
        if result is not unknown:
            candidates |= {f"{label} capped at {cap}": (result, cap) for cap in CAPS if cap < registers}
    row["registers"] = single.assembly(True).registers
    if small:
        return row
    baseline = alone(True)
    once(baseline, data, 0xA5)
    expected = [own.outputs() for own in data]
    timed = {"alone": baseline}
    for label, (result, limit) in candidates.items():
        timed[label] = coarse(result, limit, True)
        resources = result.resources(limit, block=one.block)
        row["candidates"].setdefault(label, {}).update(
            registers=resources.registers,
            spill_bytes=resources.spill_bytes,
            occupancy=resources.occupancy,
            differences_with_contraction=differences(timed[label], data, expected),
        )
    row["ms"] = in_turn(timed, stream, data)
    row["assembler"] = woven[FACTORS[0]].resources().assembler
    return row


def speedup(row: dict[str, Any], label: str) -> float:
    return float(row["ms"]["alone"][0] / row["ms"][label][0])


def best(row: dict[str, Any]) -> str:
    """What is fastest; the kernel as it is if nothing is faster."""
    return str(min(row["ms"], key=lambda label: row["ms"][label][0]))


def summary(row: dict[str, Any]) -> str:
    state = "right" if row.get("right") else "WRONG"
    if "ms" not in row:
        return f"{row['name']:8} {state} {row.get('problem', '')[-300:]}"
    cells = "  ".join(f"{label} {speedup(row, label):.2f}" for label in row["ms"] if label != "alone")
    return f"{row['name']:8} {state} alone {row['ms']['alone'][0]:6.3f} ms  {cells}  ({row.get('seconds')} s)"


def table(document: dict[str, Any]) -> str:
    rows = document["coarsened"]
    lines = [
        f"# Suite A on {document['gpu']}: single kernels coarsened",
        "",
        f"Driver {document['driver']}, {next((r['assembler'] for r in rows if 'assembler' in r), 'no timing')}, "
        f"commit {document['commit']}. `{document['command']}`",
        "",
        f"Speedup over the kernel alone (medians of {REPEATS}), in the paper's shape. Right: outputs equal the "
        "kernel's bit for bit, contraction off. Capped: the best of the register caps "
        + ", ".join(map(str, CAPS))
        + ".",
        "",
        "| kernel | right | alone ms | " + " | ".join(f"x{f} | x{f} capped" for f in FACTORS) + " | best |",
        "|---|---|---|" + "---|" * (2 * len(FACTORS) + 1),
    ]
    for r in rows:
        if "ms" not in r:
            lines.append(f"| {r['name']} | {'yes' if r.get('right') else 'NO'} |" + " |" * (2 * len(FACTORS) + 2))
            continue
        cells = " | ".join(_cell(r, [x for x in r["ms"] if _is(x, f, c)]) for f in FACTORS for c in (False, True))
        name = best(r)
        lines.append(
            f"| {r['name']} | {'yes' if r['right'] else 'NO'} | {r['ms']['alone'][0]:.3f} | {cells} | "
            f"{speedup(r, name):.2f} ({name}) |"
        )
    six = [speedup(r, best(r)) for r in rows if r["name"] in SIX and "ms" in r]
    if six:
        lines += ["", f"Geomean of the best over {len(six)} without WMMA: {statistics.geometric_mean(six):.3f}."]
    return "\n".join(lines) + "\n"


def _is(label: str, factor: int, capped: bool) -> bool:
    return label.startswith(f"x{factor} capped") if capped else label == f"x{factor}"


def _cell(row: dict[str, Any], labels: list[str]) -> str:
    if not labels:
        return ""
    name = max(labels, key=lambda label: speedup(row, label))
    cap = name.partition(" capped at ")[2]
    return f"{speedup(row, name):.2f} (" + (cap or f"{row['candidates'][name]['registers']} registers") + ")"
