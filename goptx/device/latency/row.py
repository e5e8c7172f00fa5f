"""What a microbenchmark is: a row of the tables in `rows/`.

A row writes one instruction down in a form that can be repeated. Its words are PTX with `$names` in it, which `text.py`
fills in for each repetition:

* `$x` the register that a chain hands on from one repetition to the next; `$y`, `$z` others of that chain, `$z` as wide
  as the narrower of the two, `$q` a predicate of it; `$x0`, `$x1` ... and, in braces, `$X` where it takes several.
* `$a`, `$b` two values that change places in every repetition, so that two in a row are not made one; `$a0`, `$b0` the
  same, but they stay; `$A`, `$B` (in braces) and `$c`, which is to `$a` as a second one, where there are several.
* `$buffer` the address of the row's memory, `$shared` that of its shared memory, `$offset` of this repetition (128
  bytes further each time), `$k` its number, `$line` 128 bytes times the number of its chain, `$start` where in a ring
  that chain begins, `$id` a barrier's number, 1 to 15 in turn.

The registers `%lane`, `%thread` and `%first` (whether it is that of the CTA) may be read, and `%zero`, of which the
assembler does not know that it is 0.
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
    operands: behind the opcode.
    sass: a regular expression; as many instructions of the machine code as there are repetitions must begin with it.
        "" where the assembler makes nothing of it: then none may be there.
    name: of what is no latency key, for example a level of the memory.
    x, y: types of the registers; that of `x` is the opcode's last type, of `y` it is the same.
    first, then: instructions of other kinds ahead of it and behind it, whose cycles are taken off. minus: keys whose
        cycles are taken off too. ahead, back: more PTX, ahead of `first` and behind `then`.
    guarded: under predicates that change from one repetition to the next, which keeps ptxas from making two one.
    values: what `$x`, `$a` and `$b` hold at first. widths: how many registers each of them is.
    latency: whether there is a dependent chain at all; else the cycles are the interval.
    chains: how many are side by side for the interval; 0 where they have something in common.
    short, long: repetitions of the two lengths; of the interval for each chain.
    module, declares, setup, start: PTX ahead of the kernel, of its code, of the repeated part, and the latter for each
        chain. between: untimed, behind each of the two lengths. timed: in place of all that is repeated.
    counted: where the machine code must have `sass`: once for "each" repetition, in each timed "loop", or anywhere in
        the "module".
    threads: of the CTA. shared: bytes. ring: what `$buffer` points to. arch: the least.
    interval_of: the row whose interval is this one's too. why: a remark for the file.
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
    ahead: str = ""
    back: str = ""
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

    @cached_property
    def taken_off(self) -> tuple[str, ...]:
        """The keys whose cycles a repetition takes beside its own."""
        others = [text.split()[0] for text in (self.first, self.then) if text]
        return (*(facts_of(opcode).latency_key for opcode in others), *self.minus)


def issued(opcode: str, operands: str, sass: str, **more: Any) -> Row:
    """What no other instruction waits for: only its interval can be seen."""
    return Row(opcode, operands, sass, **{"latency": False, "chains": 1, "x": "b32", **more})
