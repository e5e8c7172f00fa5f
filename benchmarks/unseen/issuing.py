"""Instructions that warps issue on the emulator, by what was made over those of the kernels alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from goptx.device.child_process import Lost
from unseen.makers import Makers
from unseen.making import WAYS, Subject, issued

BAR = 1.3  # times as many as the kernels alone


def issued_rows(subjects: Sequence[Subject], there: Makers) -> Iterator[dict[str, Any]]:
    """A row for each pair, in order."""
    futures = [(subject, [there.submit(issued, subject, way) for way in WAYS]) for subject in subjects]
    for subject, of_pair in futures:
        row: dict[str, Any] = {"group": subject.group, "name": subject.pair, "ways": {}}
        for way, future in zip(WAYS, of_pair, strict=True):
            try:
                row["ways"][way] = future.result()
            except (Lost, RuntimeError) as error:
                row["ways"][way] = {"way": way, "failed": str(error)}
        yield row


def ratio(facts: Mapping[str, Any], of: str = "") -> float | None:
    """Of machine instructions, or with "ptx_" of those of PTX; None where nothing was made, or it failed."""
    return facts[f"{of}fused"] / sum(facts[f"{of}alone"]) if f"{of}fused" in facts else None


def most(rows: Sequence[Mapping[str, Any]]) -> float | None:
    """The highest ratio; infinite if anything failed, None without any."""
    found = [facts for row in rows for facts in row["ways"].values()]
    if any("failed" in facts for facts in found):
        return float("inf")
    return max((value for facts in found if (value := ratio(facts)) is not None), default=None)


def issued_table(document: Mapping[str, Any]) -> str:
    rows = document["rows"]
    lines = [
        "# Instructions issued on the emulator by fused kernels, over those of the kernels alone",
        "",
        f"{document['date']}, commit {document['commit']}. `{document['command']}`, {document.get('seconds')} s.",
        "",
        f"In the sizes for checks; jumps are not counted. Counted are machine instructions, by how many the assembler "
        f"makes of one of PTX (goptx/latency/slots.py: of an integer division 20); bar: {BAR}. In parentheses: "
        "instructions of PTX, of which a division is one, and what compares products in its place is a dozen.",
        "",
        f"| pair | alone | {' | '.join(WAYS)} | auto is |",
        "|---" * (3 + len(WAYS)) + "|",
    ]
    for row in rows:
        cells = [_cell(row["ways"][way]) for way in WAYS]
        alone = next((sum(facts["alone"]) for facts in row["ways"].values() if "alone" in facts), "-")
        lines.append(f"| {row['name']} | {alone} | {' | '.join(cells)} | {row['ways'][WAYS[-1]].get('chosen', '')} |")
    for way in WAYS:
        found = [value for row in rows if (value := ratio(row["ways"][way])) is not None]
        above = sum(value > BAR for value in found)
        highest = f"{max(found):.2f}" if found else "-"
        lines += [
            "",
            f"{way}: highest {highest}, above the bar {above} of {len(found)}; not counted: {len(rows) - len(found)}.",
        ]
    return "\n".join(lines) + "\n"


def _cell(facts: Mapping[str, Any]) -> str:
    value = ratio(facts)
    problem = facts.get("refused") or facts.get("failed") or ""
    if value is not None:
        return f"{value:.2f} ({ratio(facts, 'ptx_'):.2f})"
    return " ".join(problem.split()).replace("|", "/")[:100]
