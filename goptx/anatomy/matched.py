"""Matches the instructions of a woven module with those of the kernels.

Requires: a result of any strategy. Ensures: nothing is guessed; if a line of a kernel is in several of its blocks (a
function that was inlined several times), all of them are named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from goptx.anatomy.traced import Traced, first_number, traced
from goptx.errors import CannotWeave
from goptx.latency.table import LatencyTable, load_table
from goptx.launch.coarsening import ALONE
from goptx.ptx.aliases import without_aliases
from goptx.results.fused_kernel import Origin
from goptx.sources.kernel_text import choose_entry
from goptx.weaving.link.inline import inlined

if TYPE_CHECKING:
    from goptx.ptx.ir import Function
    from goptx.results.fused_kernel import Woven
    from goptx.sources.kernel_text import Chosen


@dataclass(frozen=True)
class Kernel:
    """A kernel as weaving took it: with its functions inlined. `trace` is None if its control flow is unknown, and
    `trouble` is the reason."""

    letter: str
    source: str
    entry: Function
    trace: Traced | None
    trouble: str = ""

    @cached_property
    def numbers(self) -> Mapping[int, tuple[int, ...]]:
        """The numbers of the instructions of each line that are in a block."""
        found: dict[int, list[int]] = {}
        for number in sorted(self.trace.block_of) if self.trace else ():
            assert self.trace
            found.setdefault(self.trace.instructions[number].line, []).append(number)
        return {line: tuple(several) for line, several in found.items()}

    def blocks(self, line: int) -> tuple[str, ...]:
        """The blocks with an instruction of that line, in the order of the text."""
        block_of = self.trace.block_of if self.trace else {}
        return tuple(dict.fromkeys(block_of[number] for number in self.numbers.get(line, ())))


@dataclass(frozen=True)
class Entry:
    """A launched entry, with the origins of its instructions."""

    name: str
    trace: Traced
    origins: Sequence[Origin | None]

    def of(self, block: str) -> Iterator[Origin | None]:
        """The origins of a block's instructions and of the branch at its end."""
        return (self.origins[number] for number in self.trace.numbers(block))

    def of_code(self, block: str) -> list[Origin | None]:
        """The origins of a block's code without the branch at its end; a call counts as one."""
        return [self.origins[first_number(code)] for code in self.trace.flow.blocks[block].code]


@dataclass(frozen=True)
class Matched:
    """Kernels and entries; `table` are goptx's latencies for the architecture that the report names."""

    kernels: Mapping[str, Kernel]
    entries: Sequence[Entry]
    table: LatencyTable

    def title(self, entry: Entry, block: str) -> str:
        """The name of a block, which is different for blocks of other entries."""
        return f"{entry.name}/{block}" if len(self.entries) > 1 else block


def matched(woven: Woven) -> Matched:
    letters = list(woven.report.kernels)
    kernels = [_kernel(c, letter, woven.is_separate) for c, letter in zip(woven.chosen, letters, strict=True)]
    table = load_table(None, woven.report.latency)
    origins = list(woven.origins)
    entries = []
    for function in woven.module.entries:
        trace = traced(function, woven.name)
        own, origins = origins[: len(trace.instructions)], origins[len(trace.instructions) :]
        entries.append(Entry(function.name, trace, own))
    return Matched({k.letter: k for k in kernels}, entries, table)


def _kernel(chosen: Chosen, letter: str, separate: bool) -> Kernel:
    module = without_aliases(chosen.module)
    if not separate or chosen.coarse != ALONE:
        module = inlined(module, chosen.max_inlined)
    entry = choose_entry(module, chosen.entry)
    try:
        return Kernel(letter, module.source, entry, traced(entry, module.source))
    except CannotWeave as error:
        return Kernel(letter, module.source, entry, None, str(error))
