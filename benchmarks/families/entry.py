"""One case: a PTX entry that executes an instruction on many operands, and how its results are compared.

Requires nothing of a GPU. `Entry` writes the text; arrays are held as unsigned words of the registers' widths.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from goptx.emulator.instructions.lanewise import Array

HEADER = ".version 9.0\n.target sm_90a\n.address_size 64\n"
THREAD = (
    "%thread"  # the number of the thread in the grid; beside it there are %rank in its CTA, %cta and %size, its threads
)
WIDTHS = {"b8": 1, "b16": 2, "b32": 4, "f32": 4, "s32": 4, "u32": 4, "b64": 8, "f64": 8, "u64": 8, "b128": 16}
POISON = 0xA5  # in every byte of what a kernel is to write


@dataclass(frozen=True, slots=True)
class Result:
    """An array that the entry leaves.

    array: its number among the parameters. format: "bits", or the floats in it, of which any NaN equals any other.
    groups: of each value; those of one group are compared in order of size, since threads may come in any order.
    allowed: from the emulator's values, as float64, how far the GPU's may be off; NaN where that is open.
    """

    array: int
    format: str = "bits"
    groups: Array | None = None
    allowed: Callable[[Array], Array] | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One entry, called `ENTRY` in its text, and one launch of it.

    name: the opcode, and what is particular about this case. arrays: the contents before the launch, in the order of
    the parameters. operands: the arrays whose values, thread by thread, lead to those of the results.
    """

    name: str
    grid: int
    block: int
    arrays: tuple[Array, ...]
    results: tuple[Result, ...]
    operands: tuple[int, ...]
    declarations: str
    body: str

    @property
    def threads(self) -> int:
        return self.grid * self.block

    def text(self, name: str) -> str:
        """The entry under that name, without the module's header."""
        return f"{self.declarations}\n.visible .entry {self.body}".replace("ENTRY", name)


class Entry:
    """Writes the text of a case: operands are read, instructions added as lines, results written."""

    def __init__(self, name: str, grid: int = 16, block: int = 256) -> None:
        self.name, self.grid, self.block = name, grid, block
        self.declarations: list[str] = []
        self.directives: list[str] = []
        self.variables: list[str] = []
        self._arrays: list[Array] = []
        self._results: list[Result] = []
        self._operands: list[int] = []
        self._lines: list[str] = []
        self._registers: Counter[str] = Counter()

    @property
    def threads(self) -> int:
        return self.grid * self.block

    def line(self, *lines: str) -> None:
        self._lines += lines

    def new(self, type_: str) -> str:
        """A register."""
        self._registers[type_] += 1
        return f"%{type_}_{self._registers[type_] - 1}"

    def vector(self, type_: str, count: int) -> str:
        """Registers in braces; one alone stands without."""
        names = [self.new(type_) for _ in range(count)]
        return names[0] if count == 1 else f"{{{', '.join(names)}}}"

    # memory ------------------------------------------------------------------------------------------

    def array(self, values: Array) -> str:
        """A further parameter; gives the register with its address."""
        self._arrays.append(values)
        base = self.new("b64")
        self.line(f"ld.param.u64 {base}, [p{len(self._arrays) - 1}];")
        return base

    def at(self, base: str, width: int, index: str = THREAD) -> str:
        """The address of the element of that many bytes."""
        place = self.new("b64")
        self.line(f"mad.wide.u32 {place}, {index}, {width}, {base};")
        return place

    def read(self, values: Array, type_: str = "") -> str:
        """A register with the thread's element of an array; "pred" for whether it is not zero."""
        self._operands.append(len(self._arrays))
        held = f"b{8 * values.itemsize}"
        register = self.new(held if type_ in ("", "pred") else type_)
        self.line(f"ld.global.{held} {register}, [{self.at(self.array(values), values.itemsize)}];")
        if type_ != "pred":
            return register
        predicate = self.new("pred")
        self.line(f"setp.ne.b{8 * values.itemsize} {predicate}, {register}, 0;")
        return predicate

    def reads(self, values: Array, type_: str) -> str:
        """A vector of registers from an array (registers, threads)."""
        return f"{{{', '.join(self.read(row, type_) for row in values)}}}"

    def room(
        self,
        count: int,
        type_: str,
        format: str = "bits",
        groups: Array | None = None,
        allowed: Callable[[Array], Array] | None = None,
    ) -> str:
        """The address of an array that is compared, of `count` words of that type."""
        width = WIDTHS[type_]
        words = np.frombuffer(bytes([POISON]) * (count * width), f"u{min(width, 8)}")
        self._results.append(Result(len(self._arrays), format, groups, allowed))
        return self.array(words)

    def changed(self, values: Array, format: str = "bits") -> str:
        """The address of an array that the entry is given, and that is compared afterwards."""
        self._results.append(Result(len(self._arrays), format))
        return self.array(values)

    def write(
        self,
        register: str,
        type_: str = "b32",
        format: str = "bits",
        groups: Array | None = None,
        allowed: Callable[[Array], Array] | None = None,
    ) -> None:
        """Stores the thread's value of a register as a result; of a predicate, as 1 or 0."""
        if type_ == "pred":
            number = self.new("b32")
            self.line(f"selp.b32 {number}, 1, 0, {register};")
            register, type_ = number, "b32"
        width = WIDTHS[type_]
        base = self.room(self.threads, type_, format, groups, allowed)
        self.line(f"st.global.b{8 * width} [{self.at(base, width)}], {register};")

    def writes(self, registers: str, type_: str, format: str = "bits") -> None:
        """Stores each register of a vector."""
        for register in registers.strip("{}").split(", "):
            self.write(register, type_, format)

    def case(self) -> Case:
        parameters = ", ".join(f".param .u64 p{i}" for i in range(len(self._arrays)))
        declared = [f".reg .{t} %{t}_<{n}>;" for t, n in self._registers.items()]
        prologue = """.reg .b32 %thread, %cta, %size, %rank;
mov.u32 %cta, %ctaid.x;
mov.u32 %size, %ntid.x;
mov.u32 %rank, %tid.x;
mad.lo.u32 %thread, %cta, %size, %rank;"""
        lines = [*declared, *self.variables, prologue, *self._lines, "ret;"]
        body = "\n".join([f"ENTRY({parameters})", *self.directives, "{", *lines, "}", ""])
        return Case(
            self.name,
            self.grid,
            self.block,
            tuple(self._arrays),
            tuple(self._results),
            tuple(self._operands),
            "\n".join(self.declarations),
            body,
        )
