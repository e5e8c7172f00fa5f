"""What a microbenchmark is: one row of the tables in `rows/`.

A row writes down one instruction in a form that can be repeated. Its words are PTX with `$names` in it, which
`text.py` fills in for each repetition:

* `$x` the register that a chain hands on from one repetition to the next; `$y`, `$z` others of that chain, `$q` its
  predicate; `$x0`, `$x1` ... and `$X` (all of them in braces) where it takes several registers.
* `$a`, `$b` two values that change places in every repetition, so that two in a row are not made one; `$a0`, `$b0`
  the same that stay; `$A`, `$B` (in braces) as many as `widths` says.
* `$c` like `$a`, where there are two of each.
* `$buffer` the address of the row's memory, `$shared` that of its shared memory, `$offset` of this repetition (128
  bytes further each time), `$k` its number, `$j` that of its chain; `$start` where in a ring that chain begins, `$line` 128 bytes
  times it, `$id` a barrier's number, 1 to 15 in turn.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from goptx.ptx.opcodes import facts_of


@dataclass(frozen=True, slots=True)
class Ring:
    """Pointers in memory that form one ring in random order: `span` bytes, one pointer each `stride` bytes.

    cold: none of it is in the L2 when the kernel begins; it must then be longer than what a launch walks.
    fill: 0 for a pointer of 64 bits; else each node is that many bytes of one and the same word of 32 bits, the next
        node's distance from the beginning.
    """

    span: int
    stride: int = 128
    cold: bool = False
    fill: int = 0


@dataclass(frozen=True)
class Row:
    """One instruction, how it is repeated, and what shows that it is there.

    opcode: as PTX writes it; its latency key is the row's, unless there is a `name`.
    operands: behind the opcode; `$x` both read and written where there is a latency to be seen.
    sass: a regular expression; as many instructions of the machine code as there are repetitions must begin with it.
        "" for what the assembler makes nothing of: then none may be there.
    name: of what is no latency key, for example a level of the memory.
    x, y: types of the registers; that of `x` is the opcode's last type, of `y` it is the same.
    back: what leads the result back into `$x`, and how it stands before: `ahead`.
    minus: rows whose cycles are taken off, since `back` takes them.
    guarded: under predicates that change from one repetition to the next, which keeps ptxas from making two one.
    values: what `$x`, `$a` and `$b` hold at first.
    chains: how many are side by side for the interval; 0 where they have something in common.
    latency: whether there is a dependent chain at all; else the cycles are the interval.
    module, declares, setup, start: PTX ahead of the kernel, of its code, of the repeated part, and the latter for each
        chain. between: untimed, behind each of the two lengths. timed: in place of all that is repeated.
    short, long: repetitions of the two lengths; of the interval for each chain.
    counted: where the machine code must have `sass`: once for each repetition, in each timed "loop", or anywhere in the
        "module".
    threads: of the CTA. shared: bytes, 16 aligned. ring: what `$buffer` points to. arch: the least.
    interval_of: the row whose interval is this one's too. why: a remark for the file.
    """

    opcode: str
    operands: str
    sass: str
    name: str = ""
    x: str = ""
    y: str = ""
    ahead: str = ""
    back: str = ""
    minus: tuple[str, ...] = ()
    guarded: bool = False
    values: tuple[float, float, float] | None = None
    widths: tuple[int, int, int] = (1, 1, 1)
    chains: int = 8
    latency: bool = True
    module: str = ""
    start: str = ""
    declares: str = ""
    setup: str = ""
    between: str = ""
    timed: str = ""
    short: int = 16
    long: int = 64
    counted: str = "each"
    threads: int = 32
    shared: int = 0
    ring: Ring | None = None
    arch: int = 80
    interval_of: str = ""
    why: str = ""

    @cached_property
    def key(self) -> str:
        """The latency key, or the name of what is none."""
        return self.name or facts_of(self.opcode).latency_key

    @cached_property
    def label(self) -> str:
        """The key as a word, for the names of entries."""
        return re.sub(r"\W", "_", self.key)

    @cached_property
    def type(self) -> str:
        """Of `$x`."""
        return self.x or facts_of(self.opcode).types[-1]
