"""The results of suite B as Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from typing import Any

from unseen.making import TUNED

from suite_b import HFUSE
from suite_b.ways import PEERS, even

FAVOURABLE = (  # pairs that gain on the V100 of the paper
    "batchnorm+hist", "batchnorm+maxpool", "hist+maxpool", "hist+upsample", "hist+im2col", "maxpool+upsample",
    "blake2b+ethash", "blake256+ethash", "ethash+sha256",
)  # fmt: skip
Row = Mapping[str, Any]


def table(document: Mapping[str, Any]) -> str:
    lines = [
        f"# Suite B on {document['gpu']}",
        "",
        f"{document['date']}, driver {document['driver']}, commit {document['commit']}. `{document['command']}`, "
        f"{document.get('seconds')} s.",
        "",
        "Speedups over the best separate launches (medians, in turn). Search: the best of HFUSE's partitions, without "
        "or with its bound of registers. Halves: without a search. HFUSE: its speedup over two streams on a V100 "
        "(CGO 2022).",
        "",
        "| pair | right | alone, ms | best separate | ms | HFUSE | search | | halves | folded | vertical | weave "
        "| interleave | auto | tuned | |",
        "|---" * 16 + "|",
    ]
    lines += [f"| {' | '.join(_cells(row))} |" for row in document["pairs"]]
    lines += ["", *_summary(document["pairs"]), "", *_bounds(document["pairs"]), "", *_kernels(document)]
    return "\n".join([*lines, "", *_details(document["pairs"])]) + "\n"


def line(row: Row) -> str:
    """A pair in a line."""
    if "speedups" not in row:
        return f"{row['pair']}: {'right' if row['right'] else 'NOT RIGHT'} {row.get('problem', '')[-600:]}"
    gains = row["speedups"]
    return (
        f"{row['pair']}: tuned {_gain(gains, TUNED)}, search {_gain(gains, row['search'])} ({row['search']}), HFUSE "
        f"{row['hfuse']:.2f}; {'right' if row['right'] else 'NOT RIGHT'}, {row['seconds']} s"
    )


def _gain(gains: Mapping[str, float], way: str | None) -> str:
    return f"{gains[way]:.2f}" if way is not None and way in gains else "-"


def _cells(row: Row) -> list[str]:
    right = "yes" if row["right"] else "NO"
    if "speedups" not in row:
        return [row["pair"], right, "", " ".join(row.get("problem", "").split())[:200], "", f"{row['hfuse']:.2f}"] + [
            ""
        ] * 10
    gains, halves = row["speedups"], even(row["pair"])
    folded = f"{halves} folded"
    search = str(row["search"]).removeprefix("horizontal ")
    return [
        row["pair"], right, " + ".join(f"{ms:.2f}" for ms in row["alone_ms"]), row["baseline"],
        f"{row['baseline_ms']:.3f}", f"{row['hfuse']:.2f}", _gain(gains, row["search"]), search,
        *(_gain(gains, way) for way in (str(halves), folded, *map(str, PEERS), TUNED)),
        row["ways"].get(TUNED, {}).get("chosen", ""),
    ]  # fmt: skip


def _summary(rows: list[Row]) -> Iterator[str]:
    """Geometric means."""
    groups = {f"all {len(HFUSE)} pairs": tuple(HFUSE), "the nine that are favourable on a V100": FAVOURABLE}
    timed = {row["pair"]: row for row in rows if "speedups" in row}
    for title, pairs in groups.items():
        if not all(pair in timed for pair in pairs):
            continue
        tuned = [timed[pair]["speedups"].get(TUNED, 0) for pair in pairs]
        search = [timed[pair]["speedups"].get(timed[pair]["search"], 0) for pair in pairs]
        yield (
            f"* {title}: tuned {_mean(tuned)}, least {min(tuned):.2f}; search {_mean(search)}, least "
            f"{min(search):.2f}; HFUSE {_mean([HFUSE[pair] for pair in pairs])}"
        )


def _mean(gains: list[float]) -> str:
    return f"{statistics.geometric_mean(gains):.2f}" if all(gains) else "-"


def _bounds(rows: list[Row]) -> Iterator[str]:
    """Where HFUSE's bound of registers says something."""
    yield "Where HFUSE's bound of registers changes a kernel; x2: both kernels are coarsened, two CTAs into one."
    yield ""
    yield "| pair | way | registers | bounded | spills, bytes | occupancy | speedup | bounded |"
    yield "|---" * 8 + "|"
    for row in rows:
        for way, facts in row["ways"].items():
            free = row["ways"].get(way.removesuffix(" bounded"), {})
            if not way.endswith(" bounded") or "registers" not in facts or "registers" not in free:
                continue
            gains = row.get("speedups", {})
            cells = [
                row["pair"], way.removesuffix(" bounded").removeprefix("horizontal "), str(free["registers"]),
                str(facts["registers"]), str(facts["spill_bytes"]),
                f"{free['occupancy']:.0%} to {facts['occupancy']:.0%}",
                _gain(gains, way.removesuffix(" bounded")), _gain(gains, way),
            ]  # fmt: skip
            yield f"| {' | '.join(cells)} |"


def _kernels(document: Mapping[str, Any]) -> Iterator[str]:
    yield "Each kernel alone, beside its reference:"
    yield ""
    for name, facts in document["alone"].items():
        shape = f", {facts['shape']}, {facts['registers']} registers" if "shape" in facts else ""
        yield f"* {name}: {facts['problem'] or 'right'}{shape}"


def _details(rows: list[Row]) -> Iterator[str]:
    """Every way that was tried, and what was refused or wrong."""
    yield "| pair | way | ms | speedup | registers | spills, bytes | occupancy | |"
    yield "|---" * 8 + "|"
    for row in rows:
        times = {way: statistics.median(ms) for way, ms in row.get("ms", {}).items()}
        for way in [*(w for w in times if w not in row["ways"]), *row["ways"]]:
            facts = row["ways"].get(way, {})
            if "free" in facts:  # the bound changes nothing
                continue
            found = next((str(facts[key]) for key in ("refused", "failed", "wrong", "chosen") if key in facts), "")
            occupancy = facts.get("occupancy")
            cells = [
                row["pair"], way, f"{times[way]:.4f}" if way in times else "-",
                f"{row['baseline_ms'] / times[way]:.3f}" if way in times else "-",
                str(facts.get("registers", "")), str(facts.get("spill_bytes", "")),
                f"{occupancy:.0%}" if occupancy else "", " ".join(found.split())[:160].replace("|", "/"),
            ]  # fmt: skip
            yield f"| {' | '.join(cells)} |"
