"""The counts of a launch on the emulator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from goptx.display import as_html, as_text, brief


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of one kernel, or of all together.

    instructions: how often a warp issued each, keyed by (kernel letter, block, opcode). Instructions that weaving
        added have the letter "". Labels name blocks, "entry" and "after_N" those without a label. Jumps and the final
        `ret` are not counted.
    lane_instructions: the same, each times the number of lanes that executed it.
    executed: how many lanes executed each line of a kernel's own file, keyed by (kernel letter, line). Inserted
        instructions have line 0.
    barriers: how often a CTA barrier completed.
    shared_transactions, global_transactions: wavefronts of the banks; 32-byte sectors (see `traffic.py`).
    """

    __repr__ = brief

    instructions: Mapping[tuple[str, str, str], int]
    lane_instructions: int
    barriers: int
    shared_transactions: int
    global_transactions: int
    executed: Mapping[tuple[str, int], int]

    @property
    def issued(self) -> int:
        """The number of warp instructions."""
        return sum(self.instructions.values())

    @property
    def lanes_per_instruction(self) -> float:
        """The mean number of lanes that execute an instruction; 0 without instructions."""
        return self.lane_instructions / self.issued if self.issued else 0.0

    @property
    def row(self) -> tuple[object, ...]:
        """A table row with the columns `COLUMNS`."""
        lanes = f"{self.lanes_per_instruction:.1f}"
        return self.issued, lanes, self.barriers, self.shared_transactions, self.global_transactions


COLUMNS = ("instructions", "lanes of each", "barriers", "shared wavefronts", "global sectors")


@dataclass(frozen=True, slots=True)
class Emulation(Counts):
    """The counts of a launch.

    kernels: those of each kernel, by its letter.
    printed: what `printf` wrote.
    """

    __repr__ = brief

    kernels: Mapping[str, Counts] = field(default_factory=dict)
    printed: str = ""
    _repr_pretty_ = as_text

    def __str__(self) -> str:
        rows = [("", *COLUMNS), *((letter, *c.row) for letter, c in self.kernels.items()), ("together", *self.row)]
        width = max(len(str(title)) for title, *_ in rows)
        lines = [
            f"{title!s:{width}}"
            + "".join(f"  {cell!s:>{len(head)}}" for head, cell in zip(COLUMNS, cells, strict=True))
            for title, *cells in rows
        ]
        return "\n".join([*lines, self.printed.rstrip("\n")] if self.printed else lines)

    _repr_html_ = as_html


def together(launches: Sequence[Emulation]) -> Emulation:
    """The sum of launches that ran one after the other, each of another kernel."""
    if len(launches) == 1:
        return launches[0]
    return Emulation(
        {key: n for one in launches for key, n in one.instructions.items()},
        sum(one.lane_instructions for one in launches),
        sum(one.barriers for one in launches),
        sum(one.shared_transactions for one in launches),
        sum(one.global_transactions for one in launches),
        {key: n for one in launches for key, n in one.executed.items()},
        {letter: counts for one in launches for letter, counts in one.kernels.items()},
        "".join(one.printed for one in launches),
    )


@dataclass(slots=True)
class Tally:
    """Counts while a launch runs: lists by operation number, the rest by kernel."""

    issued: list[int]
    lanes: list[int]
    barriers: Counter[str] = field(default_factory=Counter)
