"""Derives the timeline of a block of the fused kernel, and those of each kernel's part of it alone.

A part has the kernel's own instructions in the order of its file, without those that goptx inserted; for a coarsened
kernel, those of one copy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from goptx.analysis.cfg import EXIT, Code, depths, instructions_in
from goptx.anatomy.matched import Entry, Kernel, Matched, matched
from goptx.anatomy.timeline import Run, Slot, Timeline
from goptx.anatomy.traced import first_number
from goptx.errors import InputError
from goptx.latency.cost import ISSUE, block_cycles, cycles_of, issued, weights
from goptx.latency.table import LatencyTable
from goptx.ptx.ir import Instruction, Scope
from goptx.ptx.opcodes import facts_of

if TYPE_CHECKING:
    from goptx.results.fused_kernel import Woven

_ACCESSES = {"l": "load", "s": "store", "ls": "load and store", "sl": "copy"}


def timeline(woven: Woven, block: str | None = None) -> Timeline:
    """See `Woven.timeline`."""
    found = matched(woven)
    entry, name = _heaviest(found) if block is None else _named(found, block)
    code = entry.trace.flow.blocks[name].code
    whole = _run("", code, [(o.kernel, o.line) if o else ("", 0) for o in entry.of_code(name)], found.table)
    parts = [_part(kernel, entry, name) for kernel in found.kernels.values()]
    alone = [
        _run(p.kernel.letter, p.code, [(p.kernel.letter, _line(p.kernel, c)) for c in p.code], found.table, p.copies)
        for p in parts
        if p.code
    ]
    return Timeline(
        entry.name, name, depths(entry.trace.flow)[name], found.table.arch, tuple(alone), whole,
        tuple(note for p in parts for note in p.notes),
    )  # fmt: skip


def _named(found: Matched, block: str) -> tuple[Entry, str]:
    for entry in found.entries:
        for name in entry.trace.order:
            if block in (name, found.title(entry, name)):
                return entry, name
    names = [found.title(e, n) for e in found.entries for n in e.trace.order if n != EXIT]
    few = ", ".join(f"`{n}`" for n in names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    raise InputError(f"`{found.entries[0].name}` has no block `{block}`; it has {few}: see `.anatomy()`.")


def _heaviest(found: Matched) -> tuple[Entry, str]:
    """The block with the most estimated cycles, ten times as many for each loop around it, among those with code of
    several kernels, or among all if no block has."""

    def weighed(entry: Entry) -> Iterator[tuple[bool, int, Entry, str]]:
        cycles = weights(entry.trace.flow, lambda code: cycles_of(found.table, code))
        for name in entry.trace.order:
            yield len({o.kernel for o in entry.of(name) if o}) > 1, cycles.get(name, 0), entry, name

    *_, entry, name = max((w for entry in found.entries for w in weighed(entry)), key=itemgetter(0, 1))
    return entry, name


@dataclass(frozen=True, slots=True)
class _Part:
    kernel: Kernel
    code: Sequence[Code]
    copies: int
    notes: Sequence[str]


def _part(kernel: Kernel, entry: Entry, name: str) -> _Part:
    """The kernel's own code that this block of the fused kernel holds. If a line is in several blocks of the kernel and
    not all of them can be meant, those count of which other lines are here too."""
    trace = kernel.trace
    if trace is None:
        return _Part(kernel, (), 1, [f"the flow of {kernel.letter} is unknown: {kernel.trouble}"])
    held = Counter(o.line for o in entry.of(name) if o and o.kernel == kernel.letter and o.line)
    known = {line: kernel.numbers[line] for line in held if line in kernel.numbers}
    copies = max((held[line] // len(n) for line, n in known.items() if len(kernel.blocks(line)) == 1), default=1) or 1
    meant = {names[0] for line in known if len(names := kernel.blocks(line)) == 1}
    numbers, doubtful = set[int](), list[int]()
    for line, several in known.items():
        wanted, taken = -(-held[line] // copies), list(several)
        if wanted < len(several) and len(kernel.blocks(line)) > 1:
            taken = [n for n in several if trace.block_of[n] in meant] or taken
            doubtful += [line] if len(taken) > wanted else []
        numbers.update(taken)
    code = [c for b in trace.order for c in trace.flow.blocks[b].code if first_number(c) in numbers]
    notes = [f"of {kernel.letter}, line {n} is in several blocks; all are counted" for n in sorted(doubtful)]
    return _Part(kernel, code, copies, notes)


def _line(kernel: Kernel, code: Code) -> int:
    assert kernel.trace
    return kernel.trace.instructions[first_number(code)].line


def _run(
    letter: str, code: Sequence[Code], whence: Iterable[tuple[str, int]], table: LatencyTable, copies: int = 1
) -> Run:
    def cycles(item: Code) -> int:
        return cycles_of(table, item)

    slots = tuple(_slots(code, whence, issued(code, cycles)))
    return Run(letter, slots, block_cycles(code, cycles), copies)


def _slots(code: Sequence[Code], whence: Iterable[tuple[str, int]], when: Iterable[tuple[int, int]]) -> Iterator[Slot]:
    free = 0
    for item, (kernel, line), (issue, done) in zip(code, whence, when, strict=True):
        instruction = _main(item)
        facts = facts_of(instruction.opcode)
        access = _ACCESSES.get(facts.row.access, "") if not facts.calls else ""
        yield Slot(
            kernel, str(instruction), line, issue, done - issue, done, issue - free, access,
            (facts.space or "generic") if access else "", facts.synchronises,
        )  # fmt: skip
        free = issue + ISSUE


def _main(code: Code) -> Instruction:
    """The instruction; for the braces of a call, the call."""
    if not isinstance(code, Scope):
        return code
    inner = list(instructions_in(code))
    return next((i for i in inner if facts_of(i.opcode).calls), inner[0])
