"""The sweep over the ratio of the two kernels' times (HFUSE, Fig. 7): one of them does only a part of its work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from suite_b import SIZES, measured_of, tolerance_of
from suite_b.runs import Places, Row, alone_ms, finished, summed_up, timed
from suite_b.ways import PEERS, Way, even, made, searched

RATIOS = (0.25, 0.5, 1.0, 2.0, 4.0)


def sized(pair: str) -> bool:
    """Whether an argument of each kernel says how much it does."""
    return all(kernel in SIZES for kernel in pair.split("+"))


def shares_of(ratio: float) -> tuple[float, float]:
    """How much of its work each kernel does, so that the second takes `ratio` times as long as the first, if it takes
    as long with all of it."""
    return (1.0, ratio) if ratio <= 1 else (1 / ratio, 1.0)


def ratio_rows(pairs: Sequence[str], ratios: Sequence[float], there: Places) -> Iterator[Row]:
    """A row for each pair and ratio. The kernels are the same for all ratios."""
    futures = {pair: [(way, there.makers.submit(made, pair, way)) for way in ratio_ways(pair)] for pair in pairs}
    for pair in pairs:
        ways = [finished(way, future) for way, future in futures.pop(pair)]
        for ratio in ratios:
            shares = shares_of(ratio)
            row: Row = {"pair": pair, "ratio": ratio, "right": True, "ways": {one.way: dict(one.facts) for one in ways}}
            row["alone_ms"] = [alone_ms(there.bench, k, s) for k, s in zip(pair.split("+"), shares, strict=True)]
            workload = measured_of(pair, tolerance=tolerance_of(pair), shares=shares).workload
            row = timed(there.bench, workload, [one for one in ways if one.woven], row)
            yield {**row, **summed_up(row)}


def ratio_ways(pair: str) -> list[Way]:
    return [*PEERS[:-1], *(way for way in searched(pair) if not way.bounded)]


def ratio_table(document: Mapping[str, Any]) -> str:
    """As Markdown."""
    lines = [
        f"# Suite B on {document['gpu']}: ratios of the kernels' times",
        "",
        f"{document['date']}, driver {document['driver']}, commit {document['commit']}. `{document['command']}`, "
        f"{document.get('seconds')} s.",
        "",
        "Milliseconds of each kernel alone, where one of them does a part of its work, and their ratio; speedups over "
        "the best separate launches (medians, in turn): of the best of HFUSE's partitions, of equal halves without a "
        "search, and of other ways.",
        "",
        "| pair | first, ms | second, ms | ratio | best separate | best partition | speedup | halves | vertical "
        "| weave | interleave |",
        "|---" * 11 + "|",
    ]
    lines += [f"| {' | '.join(_cells(row))} |" for row in document["rows"]]
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> list[str]:
    if "speedups" not in row:
        return [row["pair"], *[""] * 2, f"{row['ratio']:g}", row.get("problem", "")[:200], *[""] * 6]
    first, second = row["alone_ms"]
    gains = row["speedups"]
    ways = (row["search"], str(even(row["pair"])), *map(str, PEERS[:-1]))
    cells = [f"{gains[way]:.2f}" if way in gains else "-" for way in ways]
    partition = str(row["search"]).removeprefix("horizontal ")
    return [
        row["pair"], f"{first:.3f}", f"{second:.3f}", f"{second / first:.2f}", row["baseline"], partition, *cells,
    ]  # fmt: skip
