"""The registers of all lanes, and the lanes that execute one instruction together.

A register is an array over all lanes of a launch, as unsigned bits of its width (predicates as bools). A second value
states which lanes have all of its bits defined: True for all, else an array; and a third, where some bits of a lane are
defined, which ones (undefined.py). A result computed from undefined bits is itself undefined; only where it would have
an effect is that a fault.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from goptx.emulator.faults import Trouble
from goptx.emulator.instructions.lanewise import Array
from goptx.emulator.memory.undefined import whole

if TYPE_CHECKING:
    from goptx.emulator.machine import Machine
    from goptx.emulator.operands import Source
    from goptx.emulator.program import Code

WARP = 32  # lanes


class Frame:
    """The registers of one activation of a function. `local` is where its variables begin in local memory. `partly` has
    the defined bits of registers that some lane ever defined in part: they count where it is not `defined`. `written`
    has, for each register, the `index` of the `Lanes` that last wrote it, all of which have it defined; None if not
    known."""

    __slots__ = ("code", "defined", "local", "partly", "values", "written")

    def __init__(self, code: Code, lanes: int, local: int) -> None:
        self.code = code
        self.local = local
        dtypes = code.names.dtypes
        rows = {d: iter(np.zeros((dtypes.count(d), lanes), d)) for d in set(dtypes)}
        self.values: list[Array] = [next(rows[d]) for d in dtypes]
        self.defined: list[Array | bool] = list(np.zeros((len(dtypes), lanes), np.bool_))
        self.written: list[Array | None] = [None] * len(dtypes)
        self.partly: dict[int, Array] = {}

    def forget(self, lanes: Array) -> None:
        """The registers of these lanes become undefined: the function is entered anew."""
        for i, defined in enumerate(self.defined):
            if isinstance(defined, bool):
                self.defined[i] = defined = np.ones(len(self.values[i]), np.bool_)
            defined[lanes] = False
            self.written[i] = None
        for partly in self.partly.values():
            partly[lanes] = 0


class Lanes:
    """Lanes by their flat numbers (`index`, None for all of the launch), in one frame. Consecutive ones are also a
    `span`, for which the values of registers need not be copied."""

    __slots__ = ("_numbers", "count", "frame", "index", "machine", "span")

    def __init__(self, machine: Machine, frame: Frame, index: Array | None) -> None:
        self.machine = machine
        self.frame = frame
        self.index = index
        self.span = None if index is None else _span(index)
        self.count = machine.lanes if index is None else len(index)
        self._numbers = index

    @property
    def numbers(self) -> Array:
        """The flat number of each lane: 32 times its warp's number, plus its place in the warp."""
        if self._numbers is None:
            self._numbers = self.machine.every_lane
        return self._numbers

    def where(self, chosen: Array) -> Lanes:
        """The lanes for which `chosen` is true."""
        return Lanes(self.machine, self.frame, np.flatnonzero(chosen) if self.index is None else self.index[chosen])

    def read(self, register: int) -> Array:
        """The values of the register, which are not to be changed. They may change with the next write to it."""
        values = self.frame.values[register]
        return values if self.index is None else self.of_these(values)

    def of_these(self, values: Array) -> Array:
        """Of one value for each lane of the launch, those of these lanes; not to be changed."""
        if self.index is None:
            return values
        return values[self.span] if self.span is not None else values.take(self.index)

    def unknown(self, registers: tuple[int, ...]) -> Array | None:
        """The lanes with an undefined bit in one of the registers; None if there are none."""
        missing: Array | None = None
        frame, index = self.frame, self.index
        for register in registers:
            defined = frame.defined[register]
            if defined is True or (index is not None and frame.written[register] is index):
                continue
            assert not isinstance(defined, bool)
            mine = self.of_these(defined)
            if np.count_nonzero(mine) < len(mine):
                missing = ~mine if missing is None else missing | ~mine
        return missing

    def undefined(self, register: int) -> Array | None:
        """The undefined bits of the register in each lane, or the lanes in which it is undefined; None if all bits are
        defined."""
        lost = self.unknown((register,))
        if lost is None:
            return None
        partly = self.frame.partly.get(register)
        if partly is None:
            return lost
        return np.asarray(whole(lost, partly.dtype) & ~self.of_these(partly))

    def require(self, registers: tuple[int, ...], use: str) -> None:
        """Raises `Trouble` where one of the registers is undefined in one of the lanes."""
        if not self.machine.strict or self.unknown(registers) is None:
            return
        for register in registers:
            missing = self.unknown((register,))
            if missing is not None:
                name = self.frame.code.names.name_of(register)
                raise Trouble(
                    "uninitialised",
                    f"{name} is {use}, but it, or what it comes from, was never written",
                    self.numbers[missing],
                )

    def under(self, guard: Source, only_writes: tuple[int, ...] | None) -> Lanes:
        """The lanes whose guard is true. `only_writes` are the registers of an instruction that does nothing but write
        them, None if it does more: where the guard is undefined, these become undefined too."""
        unknown = self.unknown(guard.registers) if self.machine.strict else None
        if unknown is None:
            return self.where(guard.each(self))
        if only_writes is None:
            self.require(guard.registers, "a guard")
        self.where(unknown).forget(only_writes or ())
        known = self.where(~unknown)
        return known.where(guard.each(known))

    def forget(self, registers: Iterable[int]) -> None:
        """Makes the registers undefined."""
        for register in registers:
            self.write(register, self.read(register), np.ones(self.count, np.bool_))

    def write(self, register: int, values: Array, missing: Array | None = None) -> None:
        """Stores the values; those of `missing` count as undefined. It has the lanes, or, as integers, the bits of each
        lane.

        `values` may be stored without a copy, so no other array may share its memory.
        """
        frame = self.frame
        if missing is not None:
            missing = self._in_part(register, missing)
        if self.index is None:
            frame.values[register] = values
            frame.defined[register] = True if missing is None else ~missing
            frame.written[register] = None
            return
        frame.values[register][self.index if self.span is None else self.span] = values
        defined = frame.defined[register]
        if missing is None:
            if defined is not True and frame.written[register] is not self.index:
                assert not isinstance(defined, bool)
                defined[self.index] = True
                frame.written[register] = self.index
                if len(self.index) > len(defined) // 2 and defined.all():
                    frame.defined[register] = True
            return
        frame.written[register] = None
        if isinstance(defined, bool):
            frame.defined[register] = defined = np.ones(self.machine.lanes, np.bool_)
        defined[self.index] = ~missing

    def _in_part(self, register: int, missing: Array) -> Array:
        """The lanes in which a bit is `missing`. Records which of their bits are defined."""
        lost = np.asarray(missing != 0)
        partly = self.frame.partly.get(register)
        if missing.dtype == np.bool_ or (missing[lost] == ~missing.dtype.type(0)).all():
            if partly is not None:
                partly[slice(None) if self.index is None else self.index] &= ~whole(lost, partly.dtype)
            return lost
        if partly is None:
            partly = self.frame.partly[register] = np.zeros(self.machine.lanes, missing.dtype)
        partly[slice(None) if self.index is None else self.index] = ~missing
        return lost


def _span(index: Array) -> slice | None:
    """The numbers as a range, None if they are not consecutive."""
    if not len(index) or index[-1] - index[0] != len(index) - 1 or not (index[1:] > index[:-1]).all():
        return None
    return slice(int(index[0]), int(index[-1]) + 1)
