"""Timeline: when each instruction of a block of the fused kernel is issued, and when those of each kernel alone are.

By the model of latency/cost.py: one warp, in order; memory answers after the table's latency. Plain data, with text for
a terminal; issue.py derives it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from goptx.display import as_svg, as_text, brief
from goptx.latency.cost import ISSUE


@dataclass(frozen=True, slots=True)
class Slot:
    """An instruction, or a call with its arguments. Cycles count from the beginning of the block.

    kernel: its letter, "" if it belongs to no kernel. line: in its file, 0 if goptx inserted it.
    issue, done: when it is issued, and when its result is ready, `latency` later.
    stall: cycles before it in which nothing was issued because its operands were not ready.
    access: "load", "store", "load and store" or "copy", "" for none; `space` is that of the memory, "generic" if the
        instruction does not name it.
    barrier: whether it synchronises threads of the CTA or of the cluster.
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
        """Whether it is an access to memory other than parameters."""
        return bool(self.access) and self.space != "param"


@dataclass(frozen=True, slots=True)
class Run:
    """Straight code from its first issue to its last result. `kernel` is "" for the block of the fused kernel.
    `copies`: how often a coarsened kernel's code would run, one after the other; `cycles` and `slots` are those of one.
    """

    __repr__ = brief

    kernel: str
    slots: tuple[Slot, ...]
    cycles: int
    copies: int = 1

    @property
    def stalled(self) -> int:
        """Cycles in which nothing is issued, with those until the last result is ready."""
        return self.cycles - ISSUE * len(self.slots)

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of the kernels with code in it, in order of first appearance."""
        return tuple(dict.fromkeys(s.kernel for s in self.slots))


@dataclass(frozen=True, slots=True)
class Timeline:
    """`woven` is the block of the fused kernel; `alone` is the code of each kernel in it, unchanged and in the order of
    its own file. `latency` names the table, `depth` is the number of loops around the block, `notes` name what is
    uncertain."""

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
        """Cycles of all kernels, one after the other."""
        return sum(run.copies * run.cycles for run in self.alone)

    @property
    def stalled_alone(self) -> int:
        """Cycles of these in which nothing is issued."""
        return sum(run.copies * run.stalled for run in self.alone)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, with the totals."""
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
