"""The results of suite B as Markdown."""

from __future__ import annotations

from typing import Any

from suite_b import EVEN, HFUSE, PAIR
from suite_b.child import BASELINES, REPEATS


def table(document: dict[str, Any]) -> str:
    found = document["found"]
    ways = found.get("ways", {})
    assembler = next((row["assembler"] for row in ways.values() if "assembler" in row), "nothing assembled")
    lines = [
        f"# Suite B on {document['gpu']}: {'+'.join(PAIR)}",
        "",
        f"Driver {document['driver']}, {assembler}, commit {document['commit']}. `{document['command']}`, "
        f"{document['seconds']} s.",
        "",
        "Right: contraction off, outputs equal those of separate launches in the same blocks bit for bit, and these "
        f"are what CuPy finds. Times, with contraction: medians of {REPEATS} in turn; speedups are over the fastest "
        "way to run the unchanged kernels. HFUSE's bound of registers is in brackets; a bounded kernel has it for a "
        "cap, and no row "
        "where it stays below that anyway.",
        "",
    ]
    if "problem" in found:
        return "\n".join([*lines, f"Nothing was measured: {found['problem']}"]) + "\n"
    lines += [f"* {name}: {_launched(found, name)}" for name in PAIR]
    lines += ["", "| way | right | registers | occupancy | shared bytes | ms | spread | speedup |"]
    lines += ["|---" * 8 + "|"]
    ms = found.get("ms", {})
    lines += [_row(name, {}, found) for name in ms if name not in ways]
    lines += [_row(name, row, found) for name, row in ways.items()]
    return "\n".join([*lines, "", *_summary(found)] if ms else lines) + "\n"


def speedup(found: dict[str, Any], name: str) -> float:
    """Over the fastest way to run the unchanged kernels."""
    return float(found["ms"][baseline(found)][0] / found["ms"][name][0])


def baseline(found: dict[str, Any]) -> str:
    """That way; older results have two streams only."""
    return min((way for way in BASELINES if way in found["ms"]), key=lambda way: float(found["ms"][way][0]))


def _launched(found: dict[str, Any], name: str) -> str:
    grid, block, shared = found["launches"][name]
    registers = found["registers"][PAIR.index(name)]
    return (
        f"grid {_extent(grid)}, block {_extent(block)}, {shared} bytes of dynamic shared memory, {registers} registers"
    )


def _extent(sizes: list[int]) -> str:
    return "x".join(map(str, sizes))


def _row(name: str, row: dict[str, Any], found: dict[str, Any]) -> str:
    cells = [name, {True: "yes", False: "NO"}.get(row.get("right", ""), "")]
    if "problem" in row:
        return f"| {' | '.join(cells)} | {' '.join(row['problem'].split())[:200]} | | | | | |"
    bound = f" ({row['bound']})" if row.get("bound") else ""
    cells += [f"{row['registers']}{bound}", f"{row['occupancy']:.0%}", str(row["shared_bytes"])] if row else [""] * 3
    if name in found.get("ms", {}):
        median, least, most = found["ms"][name]
        cells += [f"{median:.3f}", f"{least:.3f} to {most:.3f}", f"{speedup(found, name):.3f}"]
    else:
        cells += [""] * 3
    return f"| {' | '.join(cells)} |"


def _summary(found: dict[str, Any]) -> list[str]:
    timed = [name for name in found["ways"] if name in found["ms"]]
    searched = [name for name in timed if name.startswith(EVEN.strategy)]
    named = {"best of all": timed, "best horizontal": searched, "even split, no search": [str(EVEN)]}
    lines = []
    for title, names in named.items():
        if best := min((n for n in names if n in timed), key=lambda n: found["ms"][n][0], default=None):
            lines.append(f"* {title}: {best}, {speedup(found, best):.3f} over separate launches ({baseline(found)})")
    return [*lines, f"* HFUSE on a V100 (CGO 2022): {HFUSE}"]
