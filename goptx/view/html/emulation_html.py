"""The result of a launch on the emulator, for notebooks."""

from __future__ import annotations

from collections import Counter

from goptx.emulator.emulation import COLUMNS, Emulation
from goptx.view.html.elements_html import box, display, element, folded, heading, table
from goptx.view.html.report_html import mark


def emulation_html(emulation: Emulation) -> str:
    kernels = emulation.kernels
    rows = [(mark(letter, kernels), *counts.row) for letter, counts in kernels.items()]
    rows.append((element("strong", "together"), *emulation.row))
    opcodes: Counter[tuple[str, str]] = Counter()
    for (letter, _, opcode), count in emulation.instructions.items():
        opcodes[letter, opcode] += count
    of_each = [(mark(letter, kernels), opcode, n) for (letter, opcode), n in opcodes.most_common()]
    issued = table(("kernel", "opcode", "issued"), of_each, words=(0, 1))
    printed = box(element("div", emulation.printed, kind="text")) if emulation.printed else ""
    return display(
        heading("Emulation", f"{emulation.lanes_per_instruction:.1f} of 32 lanes execute an instruction"),
        table(("", *COLUMNS), rows),
        folded("What was printed", printed, unfolded=True),
        folded(f"{len(of_each)} opcodes", box(issued)) if of_each else "",
    )
