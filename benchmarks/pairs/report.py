"""The results of random pairs as Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Row = Mapping[str, Any]


def table(document: Row) -> str:
    """Of a run on the emulator or on a GPU: a line for each way, and more of the one if it is alone."""
    versions = ", ".join(f"{name} {number}" for name, number in document["versions"].items())
    where = document.get("gpu") or f"the emulator ({document['cpu']}, {document['workers']} processes)"
    rows: Mapping[str, Row] = document["ways"]
    driver = f", driver {document['driver']}" if "gpu" in document else ""
    lines = [f"# Random pairs on {where}", "", f"{versions}{driver}."]
    lines += [f"`{run['command']}`: commit {run['commit']}, {run['seconds']} s." for run in document["runs"]]
    lines += ["", _judged("gpu" in document), ""]
    replaced = max(row.get("children replaced", 0) for row in rows.values())
    lines += [f"Child processes replaced: {replaced}.", ""] if "gpu" in document else []
    lines += ["| way | compared | wrong | hangs | declined | first seed | s |", "|---" * 7 + "|"]
    for way, row in rows.items():
        declined = sum(row["declined"].values())
        share = f"{declined} of {row['drawn']} ({100 * declined / max(row['drawn'], 1):.1f} %)"
        seconds = row.get("processor_seconds", row.get("seconds"))
        lines.append(
            f"| {way} | {row['pairs']} | {row['wrong']} | {row['hangs']} | {share} | {row['first_seed']} | {seconds} |"
        )
    if invalid := sum(row.get("invalid", 0) for row in rows.values()):
        lines += ["", f"Random kernels that do something wrong alone: {invalid}."]
    for way, row in rows.items():
        lines += [f"* {way}, seed {f['seed']}: {f['failure'][:300]}" for f in row.get("failures", ())]
        lines += [f"* {o['pair']}: {o['outcome']}. {_first(o)}" for o in row.get("others", ())]
    lines += ["", "Declined:", ""]
    for way, row in rows.items():
        if row["declined"]:
            lines.append(f"* {way}: " + ", ".join(f"{reason} ({n})" for reason, n in row["declined"].items()))
    for way, row in rows.items():
        lines += _sanitizer(way, row) if row.get("sanitizer") else []
    if len(rows) == 1:
        ((_, row),) = rows.items()
        counted = row.get("census") or row["tally"]
        head = "| construct | woven pairs that have it |" if "census" in row else "| | |"
        lines += ["", head, "|---|---|", *(f"| {name} | {count} |" for name, count in counted.items())]
    return "\n".join(lines) + "\n"


def _judged(gpu: bool) -> str:
    if gpu:
        return (
            "Each is built with contraction off and leaves what separate launches leave, bit for bit, or is wrong. s: "
            "seconds until the answers were there."
        )
    return (
        "Each is run strict, races looked for, in several orders of the warps, and leaves what separate launches "
        "leave, bit for bit, or is wrong. s: seconds of processors."
    )


def _sanitizer(way: str, row: Row) -> list[str]:
    lines = ["", f"{way}:", ""]
    lines += ["| compute-sanitizer | pairs | findings alone | woven | pairs with new findings | problem |"]
    lines += ["|---" * 6 + "|"]
    for tool in row["sanitizer"]:
        new = "; ".join(f"{pair}: {', '.join(kinds)}" for pair, kinds in tool["new"].items()) or "none"
        problem = tool["problem"][:300].replace("\n", " ")
        cells = (tool["tool"], tool["pairs"], tool["alone"], tool["woven"], new, problem)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def _first(outcome: Row) -> str:
    if outcome.get("problem"):
        return str(outcome["problem"])[:300].replace("\n", " ")
    return "; ".join(f"{name}: {d['first']}" for name in ("woven", "emulated") if (d := outcome[name])["count"])
