"""How many registers are live at once, and how many may be before fewer CTAs fit on an SM.

This is an estimate, in registers of 32 bits. Values from parameters stand in constant memory and need none; predicates
have registers of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from goptx.analysis.cfg import Code, Flow, instructions_in
from goptx.analysis.dataflow import killed, live_in, read, register_of, written
from goptx.analysis.registers.declared_registers import widths
from goptx.analysis.registers.register_limit import MOST, UNIT
from goptx.device.occupancy import warps_by_registers
from goptx.ptx.ir import Directive, Registers, Scope, whole_number
from goptx.ptx.opcodes import facts_of
from goptx.weaving.schedule.dependences import Node
from goptx.weaving.shapes.thread_view import WARP

_WARPS = 64  # most of an SM
_LIKELY = 256  # threads of a CTA of unknown size
BESIDE = 12  # what ptxas needs besides, for the pairs of suite A: addresses, constants, code that it hoists


@dataclass(frozen=True, slots=True)
class LiveRange:
    """What is live-in and live-out of a block, and how many registers each value takes."""

    live_in: frozenset[str] = frozenset()
    live_out: frozenset[str] = frozenset()
    widths: Mapping[str, int] = field(default_factory=dict)


class Pressure:
    """The registers that are live while the nodes of a block are taken one by one: `live` of them now. The values that
    begin at one node take at most `most_born`."""

    def __init__(self, nodes: Sequence[Node], live_range: LiveRange) -> None:
        self._width: list[int] = []  # of each value, by its number
        self._left: list[
            int
        ] = []  # by value: how many nodes have yet to read it; all code after the block counts as one
        self._born: list[list[int]] = [[] for _ in nodes]
        self._read: list[list[int]] = [[] for _ in nodes]
        self.live = 0
        values: dict[str, int] = {}
        for register in live_range.live_in:
            if width := live_range.widths.get(register, 0):
                values[register] = self._value(width)
                self.live += width
        for i, node in enumerate(nodes):
            seen: set[int] = set()  # the values that it has read or that began in it
            for code in (code for unit in node.units for code in unit):
                gone = killed(code)
                outputs = written(code)
                for r in read(code) if gone is outputs else read(code) | (outputs - gone):
                    value = values.get(r)
                    if value is not None and value not in seen:
                        seen.add(value)
                        self._read[i].append(value)
                        self._left[value] += 1
                for r in outputs:
                    width = live_range.widths.get(r, 0)
                    if width and (r in gone or r not in values):
                        values[r] = value = self._value(width)
                        seen.add(value)
                        self._born[i].append(value)
        for r in live_range.live_out:
            if r in values:
                self._left[values[r]] += 1
        self.most_born = max((sum(self._width[v] for v in born) for born in self._born), default=0)

    def _value(self, width: int) -> int:
        self._width.append(width)
        self._left.append(0)
        return len(self._width) - 1

    def peak(self) -> int:
        """The most live registers if the nodes are taken in the given order."""
        live, left = self.live, self._left[:]
        most = live
        for node in range(len(self._born)):
            self.take(node)
            most = max(most, self.live)
        self.live, self._left = live, left
        return most

    def change(self, node: int) -> int:
        """How many more registers are live after the node than now."""
        left, width, change = self._left, self._width, 0
        for v in self._born[node]:
            if left[v]:
                change += width[v]
        for v in self._read[node]:
            if left[v] == 1:
                change -= width[v]
        return change

    def take(self, node: int) -> None:
        self.live += self.change(node)
        for v in self._read[node]:
            self._left[v] -= 1


def ends(flow: Flow, widths: Mapping[str, int]) -> dict[str, LiveRange]:
    """The live range of each block."""
    begin = {name: frozenset[str]() for name in flow.blocks} | live_in(
        flow
    )  # `live_in` omits an end that no path reaches
    return {
        name: LiveRange(
            begin[name],
            frozenset().union(*(begin[t] for t in block.end.successors()), map(register_of, block.end.reads())),
            widths,
        )
        for name, block in flow.blocks.items()
    }


def threads(bounds: Iterable[Directive]) -> int:
    """The threads of a CTA by its launch bounds, or a likely number."""
    stated = [d.values for d in bounds if d.name in (".reqntid", ".maxntid")]
    return prod(map(whole_number, stated[0])) if stated else _LIKELY


def step(registers: int, threads: int) -> int:
    """The most registers of a thread with which no fewer CTAs fit on an SM than with `registers`."""
    warps = -(-threads // WARP)
    most = -(-max(registers, 1) // UNIT) * UNIT
    while _ctas(most, warps) == 0:  # it could not be launched
        most -= UNIT
    while most < MOST and _ctas(most + UNIT, warps) == _ctas(most, warps):
        most += UNIT
    return min(most, MOST)


def _ctas(registers: int, warps: int) -> int:
    """How many fit on an SM."""
    return min(warps_by_registers(registers), _WARPS) // warps


def widths_of(flow: Flow, registers: Iterable[Registers], cycles: Callable[[Code], int]) -> dict[str, int]:
    """How many registers of 32 bits each value takes: none if it stands in constant memory."""
    declared = widths(registers)
    return declared | dict.fromkeys(_constants(flow, cycles) & declared.keys(), 0)


def _constants(flow: Flow, cycles: Callable[[Code], int]) -> set[str]:
    """Registers that only hold parameters, directly or through code that becomes no machine instruction."""
    found: set[str] = set()
    others: set[str] = set()
    for name in flow.reverse_postorder():
        for code in flow.blocks[name].code:
            constant = _only_parameters(code) or (not cycles(code) and read(code) <= found)
            (found if constant else others).update(written(code))
    return found - others


def _only_parameters(code: Code) -> bool:
    """Whether it accesses parameters and nothing else."""
    several = instructions_in(code) if isinstance(code, Scope) else (code,)
    return all(facts_of(i.opcode).space == "param" for i in several)
