"""The work of one warp of a kernel: how long it occupies each unit, and how long it takes alone.

Requires: a flow without regions, and how often each of its blocks is run. Neighbouring lanes are taken to access
neighbouring elements, and every access to go to memory, but for loads of what the caches of an SM have
(cached_loads.py).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from goptx.analysis.cfg import Block, Flow
from goptx.cost.code_size import NO_CODE, CodeSize
from goptx.cost.hardware import QUARTERS, WARP, Machine
from goptx.cost.register_estimate import Pressure
from goptx.cost.units.cached_loads import Place, cached_loads
from goptx.cost.units.half_words import computed_shares
from goptx.cost.units.merged_operations import merged_operations
from goptx.cost.units.tensor_cores import lines_read, tensor_cycles
from goptx.latency.cost import ISSUE
from goptx.latency.slots import FRAME, fragments, may_be_multiplied, moved_bytes, passes_of, slots, unit_of
from goptx.ptx.opcodes import facts_of

PIPES = ("issue", "integer", "multiplier", "double", "special", "tensor")  # these work at the same time
# `movable`: the part of `integer` that the assembler may have computed by the multiplier instead; `again`: `shared`, if
# each `wgmma` read its first matrix once more.
UNITS = (*PIPES, "movable", "shared", "memory", "again")
_OUTSIDE = ("", "global")


@dataclass(frozen=True, slots=True)
class Course:
    """The course of one warp: the cycles that it takes alone on the SM, the registers that it needs, and the code that
    it passes."""

    latency: float
    pressure: Pressure
    code: CodeSize = NO_CODE


@dataclass(frozen=True, slots=True)
class Work:
    """The work of one warp: `units` are the cycles for which it occupies each unit of its quarter of an SM."""

    units: Mapping[str, float] = field(hash=False)
    course: Course

    def beside(self, other: Work) -> Work:
        """The two woven: while one waits, the other issues."""
        mine, its = self.course, other.course
        latency = max(mine.latency, its.latency) + ISSUE * min(self.units["issue"], other.units["issue"])
        return Work(
            _sum(self.units, other.units), Course(latency, mine.pressure + its.pressure, mine.code.beside(its.code))
        )

    def before(self, other: Work) -> Work:
        """This work, then the other."""
        mine, its = self.course, other.course
        course = Course(mine.latency + its.latency, mine.pressure | its.pressure, mine.code.beside(its.code))
        return Work(_sum(self.units, other.units), course)

    def copies(self, number: int) -> Work:
        """So many copies of it, woven."""
        own = self.course
        latency = own.latency + (number - 1) * ISSUE * self.units["issue"]
        return Work(self._times(number), Course(latency, own.pressure.times(number), own.code.copies(number)))

    def in_sequence(self, number: int) -> Work:
        """So many copies of it, one after the other."""
        own = self.course
        return Work(self._times(number), Course(own.latency * number, own.pressure, own.code.copies(number)))

    def _times(self, number: int) -> dict[str, float]:
        return {unit: cycles * number for unit, cycles in self.units.items()}


def _sum(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    return {unit: one[unit] + other[unit] for unit in one}


def arithmetic(units: Mapping[str, float]) -> float:
    """Cycles of the pipe that is occupied longest, by the cycles of each unit, if sums are divided among two pipes."""
    integer = max(units["integer"] - units["movable"], (units["integer"] + units["multiplier"]) / 2)
    return max(integer, *(units[pipe] for pipe in PIPES if pipe != "integer"))


def units_of(flow: Flow, machine: Machine) -> dict[str, dict[str, float]]:
    """For each block, the cycles of each unit for a warp that executes it once, for `Work.units`."""
    cached = cached_loads(flow)
    computed = computed_shares(flow) | dict.fromkeys(merged_operations(flow, machine.minimum), 0.0)
    return {name: _units(name, block, machine, cached, computed) for name, block in flow.blocks.items()}


def _units(
    name: str, block: Block, machine: Machine, cached: Collection[Place], computed: Mapping[Place, float]
) -> dict[str, float]:
    """`computed`: the share of each instruction that takes machine instructions, where it is not all."""
    found = dict.fromkeys(UNITS, 0.0)
    found["issue"] = float(bool(block.end.reads()))
    for number, instruction in enumerate(block.instructions()):
        place, facts = (name, number), facts_of(instruction.opcode)
        share = computed.get(place, 1.0)
        found["issue"] += share * slots(instruction) * machine.cycles("issue")
        if unit := unit_of(facts):
            found[unit] += share * passes_of(instruction) * machine.cycles(unit)
            found["movable"] += share * machine.cycles(unit) if may_be_multiplied(facts) else 0.0
        found["tensor"] += tensor_cycles(instruction.opcode, machine)
        if facts.multiplies_later:
            once, other = lines_read(instruction)
            found["shared"] += (once + other) * machine.cycles("shared")
            found["again"] += once * machine.cycles("shared")
        elif facts.row.access not in ("", "f") and facts.space not in ("param", "const"):
            moved = moved_bytes(instruction)
            accesses = max(fragments(instruction), moved / 4, 1)
            found["shared"] += accesses * machine.cycles("shared")
            if facts.space in _OUTSIDE and place not in cached:
                found["memory"] += WARP * moved * machine.sms * QUARTERS / machine.memory
    return found


def total(units: Mapping[str, Mapping[str, float]], often: Mapping[str, float]) -> dict[str, float]:
    """The cycles of each unit for a warp that executes each block so often."""
    found = dict.fromkeys(UNITS, 0.0)
    found["issue"] = float(FRAME)
    for name, own in units.items():
        if times := often[name]:
            for unit, cycles in own.items():
                found[unit] += times * cycles
    return found
