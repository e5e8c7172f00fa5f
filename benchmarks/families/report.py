"""The comparison as a table and as lines.

Requires the documents that emulator_families.py makes; tests/ on the module path.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from emulator.convert_opcodes import UNLIKE_H200

HEAD = """family, cases, lanes, values, equal, NaN of other bits, within bound, worst / bound, open, refused,
    unlike the manual, wrong""".replace("\n    ", " ").split(", ")


def deviation(row: dict[str, Any]) -> str:
    """How the GPU is known to differ from the manual, where a case differs."""
    return UNLIKE_H200.get(row["name"], "") if row.get("wrong") else ""


def summary(family: dict[str, Any], dry_run: bool) -> str:
    sums = family["sums"]
    lines = [
        f"{family['family']:24} {'emulated' if family['right'] else 'INCOMPLETE'}  {family['cases']} cases, "
        f"{len(family['refused'])} refused ({family['seconds']} s)"
        if dry_run
        else f"{family['family']:24} {'right' if family['right'] else 'WRONG'}  {family['cases']} cases, "
        f"{sums['values']} values, {sums['equal']} equal, {sums['payload']} NaN, {sums['within']} within bound, "
        f"{sums['open']} open, {family['wrong']} wrong, {len(family['refused'])} refused ({family['seconds']} s)"
    ]
    if family["problem"]:
        lines.append(f"    {family['problem'][-300:]}")
    lines += [f"    {row['name']}: {row['problem'][-300:]}" for row in family["others"] if "problem" in row][:10]
    lines += [f"    {row['name']}: {row['examples'][0]}" for row in family["others"] if row.get("wrong")][:10]
    reasons = Counter(family["refused"].values())
    return "\n".join([*lines, *(f"    {count} refused: {reason}" for reason, count in reasons.most_common(5))])


def table(document: dict[str, Any]) -> str:
    families = document["families"]
    versions = ", ".join(f"{name} {number}" for name, number in document["versions"].items() if name != "assembler")
    lines = [
        f"# The emulator against {document['gpu']}",
        "",
        f"Driver {document['driver']}, {document['versions']['assembler']}, {versions}, commit {document['commit']}. "
        f"`{document['command']}`, {document['seconds']} s.",
        "",
        "Each opcode has a case, some several; every lane executes it once, on special values with each other and "
        "random ones; one whose only operand has 16 bits, on all of its 65,536 values. Values are what lanes store, or "
        "words of memory that they leave. Equal: to the last bit. Bounds are the ISA's where it has any. "
        "Refused: by ptxas for sm_90a. Unlike the manual: known, see below. Wrong: anything else.",
        "",
        "| " + " | ".join(HEAD) + " |",
        "|---" * len(HEAD) + "|",
    ]
    for f in families:
        s = f["sums"]
        worst = f"{f['worst']:.3f}" if f["worst"] else ""
        wrong = f"{f['wrong']}, {f['broken']} broken" if f["broken"] else f["wrong"]
        cells = [f["family"], f["cases"], s["lanes"], s["values"], s["equal"], s["payload"], s["within"], worst]
        cells += [s["open"], len(f["refused"]), f["unlike"], wrong]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    lines += ["", "## What is left out, and how it was compared", ""]
    lines += [f"* {f['family']}: {f['open']}." for f in families if f["open"]]
    for title, section in (("Wrong", _wrong(families)), ("Unlike the manual", _unlike(families))):
        if section:
            lines += ["", f"## {title}", "", *section]
    refused = [(f["family"], f["refused"]) for f in families if f["refused"]]
    if refused:
        lines += ["", "## Refused by ptxas", ""]
        lines += [f"* {family}: {', '.join(f'`{name}`' for name in names)}." for family, names in refused]
    return "\n".join(lines) + "\n"


def _wrong(families: list[dict[str, Any]]) -> list[str]:
    lines = [f"* {f['family']}: {f['problem'][-500:]}" for f in families if f["problem"]]
    for row in (row for f in families for row in f["others"]):
        if "problem" in row:
            lines.append(f"* `{row['name']}`: {row['problem']}")
        elif row["wrong"] and not deviation(row):
            lines.append(f"* `{row['name']}`: {row['wrong']} of {row['values']}. {'; '.join(row['examples'])}.")
    return lines


def _unlike(families: list[dict[str, Any]]) -> list[str]:
    rows = [row for f in families for row in f["others"] if deviation(row)]
    return [f"* `{r['name']}`: {deviation(r)} ({r['wrong']} values). {'; '.join(r['examples'])}." for r in rows]
