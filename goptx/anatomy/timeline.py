"""Timeline: when each instruction of a block of W is issued, and when those of the kernels' own would be, alone.

By the model of latency/cost.py: one warp, in order, memory answers after the table's latency. Plain data, with text
for a terminal; issue.py derives it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from goptx.display import as_svg, as_text, brief
from goptx.latency.cost import ISSUE


@dataclass(frozen=True, slots=True)
class Slot:
    """An instruction, or a call with what is passed. Cycles are from the beginning of the block.

    kernel: its letter, "" for what belongs to none. line: in its file, 0 where goptx inserted it.
    issue, done: when it is issued, and when its result is there, `latency` later.
    stall: cycles in which nothing was issued before it, as it waited for what it reads.
    access: "load", "store", "load and store" or "copy", "" for none; `space` is the memory's, "generic" where the
        instruction does not say.
    barrier: whether threads of the CTA, or of the cluster, are synchronised.
    """

    __repr__ = brief

    kernel: str
    text: str
    line: int
    issue: int
    latency: int
    done: int
    stall: int
    access: str
    space: str
    barrier: bool

    @property
    def far(self) -> bool:
        """Whether it is an access to memory, parameters apart."""
        return bool(self.access) and self.space != "param"


@dataclass(frozen=True, slots=True)
class Run:
    """Straight code from its first issue to its last result. `kernel` is "" for the block of W. `copies`: how often a
    coarsened kernel's code would run, one after the other; `cycles` and the rest are of one."""

    __repr__ = brief

    kernel: str
    slots: tuple[Slot, ...]
    cycles: int
    copies: int = 1

    @property
    def stalled(self) -> int:
        """Cycles in which nothing is issued, those until the last result is there among them."""
        return self.cycles - ISSUE * len(self.slots)

    @property
    def letters(self) -> tuple[str, ...]:
        """Those of the kernels with code in it, in order of first appearance."""
        return tuple(dict.fromkeys(s.kernel for s in self.slots))


@dataclass(frozen=True, slots=True)
class Timeline:
    """`woven` is the block of W, `alone` what each kernel has in it, in the order of its own file and as it stands
    there. `latency` names the table, `depth` says in how many loops the block lies, `notes` what could not be told."""

    __repr__ = brief

    entry: str
    block: str
    depth: int
    latency: str
    alone: tuple[Run, ...]
    woven: Run
    notes: tuple[str, ...] = ()

    @property
    def cycles_alone(self) -> int:
        """Of all kernels, one after the other."""
        return sum(run.copies * run.cycles for run in self.alone)

    @property
    def stalled_alone(self) -> int:
        """Cycles of these in which nothing is issued."""
        return sum(run.copies * run.stalled for run in self.alone)

    def to_dict(self) -> dict[str, Any]:
        """For JSON, with the totals."""
        totals = {
            "cycles_alone": self.cycles_alone,
            "stalled_alone": self.stalled_alone,
            "cycles": self.woven.cycles,
            "stalled": self.woven.stalled,
        }
        return asdict(self) | {"totals": totals}

    def __str__(self) -> str:
        head = f"block {self.block} of {self.entry}, in loops {self.depth}, latencies {self.latency}"
        return "\n".join([head, *_totals(self), *(f"note: {n}" for n in self.notes), *_slots(self.woven)])

    _repr_pretty_ = as_text

    _repr_svg_ = as_svg


def _totals(found: Timeline) -> Iterator[str]:
    yield f"{'':16}  {'instr.':>6}  {'cycles':>7}  {'stalled':>7}"
    for run in found.alone:
        title = f"{run.kernel} alone" + (f" x{run.copies}" if run.copies > 1 else "")
        yield _total(title, run.copies * len(run.slots), run.copies * run.cycles, run.copies * run.stalled)
    if found.alone:
        count = sum(run.copies * len(run.slots) for run in found.alone)
        yield _total("one by one", count, found.cycles_alone, found.stalled_alone)
    yield _total("woven", len(found.woven.slots), found.woven.cycles, found.woven.stalled)


def _total(title: str, instructions: int, cycles: int, stalled: int) -> str:
    return f"{title:16}  {instructions:>6}  {cycles:>7}  {stalled:>7}"


def _slots(run: Run) -> Iterator[str]:
    yield f"{'issue':>7}  {'stall':>5}  {'until':>7}     {'line':>5}  instruction"
    for s in run.slots:
        marks = "|" if s.barrier else "m" if s.far else " "
        line = str(s.line) if s.line else "-"
        yield f"{s.issue:>7}  {s.stall or '':>5}  {s.done:>7}  {s.kernel or '-'}{marks} {line:>5}  {s.text}"
