"""A microbenchmark: a row of the tables in `rows/`.

A row has one instruction in a form that can be repeated: PTX with `$names`, which `text.py` fills in for each
repetition:

* `$x` the register that a chain passes from one repetition to the next; `$y`, `$z` others of that chain, `$z` as wide
  as the narrower of the two, `$q` a predicate of it; `$x0`, `$x1` ... and, in braces, `$X` where it takes several.
* `$a`, `$b` two values that are exchanged in every repetition, so that two in a row are not merged; `$a0`, `$b0` the
  same without exchange; `$A`, `$B` (in braces) and `$c`, a second value like `$a`, where there are several.
* `$buffer` the address of the row's memory, `$shared` that of its shared memory, `$offset` of this repetition (128
  bytes more each time), `$k` its number, `$line` 128 bytes times the number of its chain, `$start` where in a ring
  that chain begins, `$id` a barrier's number, 1 to 15 in a cycle.

The registers `%lane`, `%thread` and `%first` (whether it is the first thread of the CTA) may be read, and `%zero`,
which is 0 without the assembler's knowledge.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from goptx.ptx.opcodes import facts_of


@dataclass(frozen=True, slots=True)
class Ring:
    """Pointers in memory that form one ring in random order: `span` bytes, a pointer each `stride` bytes.

    cold: none of it is in the L2 when the kernel begins; it must then be longer than the part that a launch walks.
    fill: 0 for a pointer of 64 bits; else each node is that many bytes of the same 32-bit word, the distance of the
        next node from the beginning.
    """

    span: int
    stride: int = 128
    cold: bool = False
    fill: int = 0


@dataclass(frozen=True)
class Row:
    """One instruction, how it is repeated, and how its presence in the machine code is proved.

    opcode: in PTX; its latency key is the row's, unless there is a `name`.
    operands: those after the opcode.
    sass: a regular expression; as many instructions of the machine code as there are repetitions must begin with it.
        "" where the assembler emits nothing for it: then there must be no such instruction.
    name: of a row without a latency key, for example a level of the memory.
    x, y: types of the registers; the default for `x` is the opcode's last type, for `y` the type of `x`.
    first, then: instructions of other kinds before it and after it, whose cycles are subtracted. minus: keys whose
        cycles are subtracted too. before, after: more PTX, before `first` and after `then`.
    guarded: under predicates that change from one repetition to the next, so that ptxas does not merge two.
    values: the initial values of `$x`, `$a` and `$b`. widths: how many registers each of them has.
    latency: whether there is a dependent chain at all; else the cycles are the interval.
    chains: how many run side by side for the interval; 0 where they have something in common.
    short, long: repetitions of the two lengths; for the interval, of each chain.
    module, declares, setup, start: PTX before the kernel, its code, the repeated part, and before the latter for each
        chain. between: untimed, after each of the two lengths. timed: replaces all of the repeated part.
    counted: where the machine code must have `sass`: once for "each" repetition, in each timed "loop", or anywhere in
        the "module".
    threads: of the CTA. shared: bytes. ring: the memory at `$buffer`. arch: the minimum.
    interval_of: the row whose interval is that of this row, too. why: a remark for the file.
    """

    opcode: str
    operands: str
    sass: str
    name: str = ""
    x: str = ""
    y: str = ""
    first: str = ""
    then: str = ""
    minus: tuple[str, ...] = ()
    before: str = ""
    after: str = ""
    guarded: bool = False
    values: tuple[float, float, float] | None = None
    widths: tuple[int, int, int] = (1, 1, 1)
    latency: bool = True
    chains: int = 8
    short: int = 16
    long: int = 64
    module: str = ""
    declares: str = ""
    setup: str = ""
    start: str = ""
    between: str = ""
    timed: str = ""
    counted: str = "each"
    threads: int = 32
    shared: int = 0
    ring: Ring | None = None
    arch: int = 80
    interval_of: str = ""
    why: str = ""

    @cached_property
    def key(self) -> str:
        """The latency key, or the name of a row without one."""
        return self.name or facts_of(self.opcode).latency_key

    @cached_property
    def label(self) -> str:
        """The key as a word, for the names of entries."""
        return re.sub(r"\W", "_", self.key)

    @cached_property
    def type(self) -> str:
        """Of `$x`."""
        return self.x or facts_of(self.opcode).types[-1]

    @cached_property
    def taken_off(self) -> tuple[str, ...]:
        """The keys whose cycles a repetition takes in addition to its own."""
        others = [text.split()[0] for text in (self.first, self.then) if text]
        return (*(facts_of(opcode).latency_key for opcode in others), *self.minus)


def issued(opcode: str, operands: str, sass: str, **more: Any) -> Row:
    """A row for an instruction that no other waits for: only its interval can be measured."""
    return Row(opcode, operands, sass, **{"latency": False, "chains": 1, "x": "b32", **more})
