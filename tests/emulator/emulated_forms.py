#!/usr/bin/env python3
"""Which forms of which instructions the emulator has, asked of its decoder; run it, with tests/ on the
module path, to write the table of docs/emulator.md anew.

The table has a row for each section of the manual, with the lines of tests/isa/forms.txt that are emulated and those
that are not. A line of which only some forms are emulated is an error: it must be split.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from isa.coverage import newer, sections
from isa.forms import Form, first_line, forms, module

from goptx.emulator.decode import decode
from goptx.emulator.families import Missing
from goptx.ptx.parse import parse

ROOT = Path(__file__).resolve().parents[2]

DOCUMENT = ROOT / "docs" / "emulator.md"
_BEGIN, _END = "<!-- forms -->\n", "<!-- end of forms -->"
_EACH = "section | instructions | emulated | not emulated"


@cache
def missing() -> dict[Form, list[str]]:
    """The instructions of each line that the emulator reports as unknown."""
    groups: dict[tuple[str, str], list[Form]] = {}
    for form in forms():  # what follows an instruction that ends a block may not be reached, so each has its own module
        alone = form.pattern if form.section.startswith(("9.7.14.", "9.7.21.")) else ""
        groups.setdefault((form.architecture, alone), []).append(form)
    lost: dict[Form, list[str]] = {form: [] for form in forms()}
    for (architecture, _), own in groups.items():
        texts = [(form, text) for form in own for text in form.instructions()]
        parsed = parse(module([text for _, text in texts], architecture), "forms.ptx")
        entry = next(function for function in parsed.functions if function.is_entry)
        for operation in decode(parsed, entry, 0).operations:
            if isinstance(operation.execute, Missing):
                form, text = texts[operation.instruction.line - first_line(architecture)]
                lost[form].append(text)
    return lost


def is_emulated(form: Form) -> bool:
    """Whether the emulator has the line. Raises `ValueError` if it has only a part."""
    lost = missing()[form]
    if lost and len(lost) != len(form.opcodes()):
        raise ValueError(f"{form.section} {form.pattern}: split the line, only {', '.join(lost[:5])} are not emulated")
    return not lost


def table() -> str:
    """The table as Markdown: sections of chapter 9.7 that have syntax."""
    count = sum(len(form.opcodes()) for form in forms())
    have = sum(len(form.opcodes()) for form in forms() if is_emulated(form))
    lines = [f"{have:,} of {count:,} forms are emulated.", "", f"| {_EACH} |", "|---|---|---|---|"]
    for section in sections():
        own = [form for form in forms() if form.section == section.number]
        if own:
            cells = [_cell([form for form in own if is_emulated(form) == kind]) for kind in (True, False)]
            lines.append(f"| {section.number} | {section.title} | {' | '.join(cells)} |")
        elif section.number in since_9_1():
            lines.append(f"| {section.number} | {section.title} | | all (PTX 9.1 and later) |")
    return "\n".join(lines) + "\n"


@cache
def since_9_1() -> frozenset[str]:
    """The sections whose instructions are all later than PTX 9.0; none of them is emulated."""
    found = {number for case in newer() for number in case.sections if number.startswith("9.7.")}
    return frozenset(found - {form.section for form in forms()})


def _cell(own: list[Form]) -> str:
    """The opcodes, with operands where two lines have the same opcode."""
    patterns = [form.pattern for form in own]
    words = [f"{form.pattern} {form.operands}" if patterns.count(form.pattern) > 1 else form.pattern for form in own]
    return "<br>".join(f"`{word}`".replace("|", "\\|") for word in words)


def document() -> str:
    """docs/emulator.md with the table that the code gives."""
    text = DOCUMENT.read_text(encoding="utf-8")
    return re.sub(f"(?s)(?<={re.escape(_BEGIN)}).*(?={re.escape(_END)})", lambda _: f"\n{table()}\n", text)


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
