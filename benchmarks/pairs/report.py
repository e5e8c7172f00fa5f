"""The results of random pairs as Markdown."""

from __future__ import annotations

from typing import Any


def table(document: dict[str, Any]) -> str:
    """Of a run on the emulator or on a GPU."""
    versions = ", ".join(f"{name} {number}" for name, number in document["versions"].items())
    where = document.get("gpu") or f"the emulator ({document['cpu']}, {document['workers']} processes)"
    lines = [
        f"# Random pairs on {where}",
        "",
        f"{versions}, commit {document['commit']}. `{document['command']}`, {document['seconds']} s.",
        "",
    ]
    declined = sum(document["declined"].values())
    lines += _on_gpu(document) if "gpu" in document else _on_emulator(document)
    total = document["pairs"] + (declined if "gpu" in document else 0)
    lines += ["", f"Declined: {declined} of {total} pairs ({100 * declined / max(total, 1):.1f} %).", ""]
    lines += [f"* {reason}: {count}" for reason, count in document["declined"].items()]
    return "\n".join(lines) + "\n"


def _on_emulator(document: dict[str, Any]) -> list[str]:
    lines = [
        f"{document['pairs']} pairs of {len(document['seeds'])} seeds from {document['first_seed']} on, each strict, "
        f"races looked for, in two orders of the warps: {len(document['failures'])} wrong.",
    ]
    lines += [f"* seed {failure['seed']}: {failure['failure'][:300]}" for failure in document["failures"]]
    lines += ["", "| construct | woven pairs that have it |", "|---|---|"]
    return lines + [f"| {name} | {count} |" for name, count in document["census"].items()]


def _on_gpu(document: dict[str, Any]) -> list[str]:
    lines = [
        f"Seeds from {document['first_seed']} on, {document['pairs_of_a_seed']} pairs of each. "
        f"Driver {document['driver']}. Child processes replaced: {document['children replaced']}.",
        "",
        "| | |",
        "|---|---|",
        *(f"| {name} | {count} |" for name, count in document["tally"].items()),
    ]
    if document["others"]:
        lines += ["", *(f"* {o['pair']}: {o['outcome']}. {_first(o)}" for o in document["others"])]
    if document["sanitizer"]:
        lines += ["", "| compute-sanitizer | pairs | findings alone | woven | pairs with new findings | problem |"]
        lines += ["|---" * 6 + "|"]
        for row in document["sanitizer"]:
            new = "; ".join(f"{pair}: {', '.join(kinds)}" for pair, kinds in row["new"].items()) or "none"
            cells = (
                row["tool"],
                row["pairs"],
                row["alone"],
                row["woven"],
                new,
                row["problem"][:300].replace("\n", " "),
            )
            lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def _first(outcome: dict[str, Any]) -> str:
    if outcome.get("problem"):
        return str(outcome["problem"])[:300].replace("\n", " ")
    return "; ".join(f"{name}: {d['first']}" for name in ("woven", "emulated") if (d := outcome[name])["count"])
