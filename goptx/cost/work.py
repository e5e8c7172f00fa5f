"""The work of one warp of a kernel: how long it occupies each unit, and how long it takes alone.

Requires: a flow without regions, and how often each of its blocks is run. Neighbouring lanes are taken to access
neighbouring elements, and every access to go to memory, but for loads of what the caches of an SM have
(cached_loads.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from goptx.analysis.cfg import Block, Code, Flow, instructions_in
from goptx.analysis.dataflow import read, written
from goptx.cost.cached_loads import cached_loads
from goptx.cost.code_size import NO_CODE, CodeSize
from goptx.cost.hardware import QUARTERS, WARP, Machine
from goptx.cost.register_estimate import Pressure
from goptx.latency.cost import ISSUE
from goptx.latency.slots import FRAME, fragments, moved_bytes, slots, unit_of
from goptx.latency.table import LatencyTable
from goptx.ptx.ir import Instruction, Scope
from goptx.ptx.opcodes import Scope as Convergence
from goptx.ptx.opcodes import facts_of

DEPENDENT = 4  # cycles from one instruction of a slow path to the next: HPEC 2022 (arXiv 2208.11174), Table 5
BRANCH = 30  # cycles that its branch adds: two instructions that reconverge the lanes, and the branch; assumed
WORTH = 1000  # cycles: more than any instruction takes, so that a path with more work is always preferred
PIPES = ("issue", "integer", "double", "special")  # these work at the same time
HIT = "ld.local"  # a load that hits the L1: the latency of any other is the same there
UNITS = (*PIPES, "shared", "memory")
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

    @property
    def arithmetic(self) -> float:
        """Cycles of the pipe that it occupies longest."""
        return max(self.units[pipe] for pipe in PIPES)

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


def units_of(flow: Flow, machine: Machine) -> dict[str, dict[str, float]]:
    """For each block, the cycles of each unit for a warp that executes it once, for `Work.units`."""
    cached = cached_loads(flow)
    return {
        name: _units(block, machine, {number for its, number in cached if its == name})
        for name, block in flow.blocks.items()
    }


def _units(block: Block, machine: Machine, cached: Collection[int]) -> dict[str, float]:
    found = dict.fromkeys(UNITS, 0.0)
    found["issue"] = float(bool(block.end.reads()))
    for number, instruction in enumerate(block.instructions()):
        facts = facts_of(instruction.opcode)
        found["issue"] += slots(instruction) * machine.cycles("issue")
        if unit := unit_of(facts):
            found[unit] += (1 if unit == "special" else slots(instruction)) * machine.cycles(unit)
        if facts.row.access not in ("", "f") and facts.space not in ("param", "const"):
            moved = moved_bytes(instruction)
            accesses = max(fragments(instruction), moved / 4, 1)
            found["shared"] += accesses * machine.cycles("shared")
            if facts.space in _OUTSIDE and number not in cached:
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


def critical_cycles(
    flow: Flow,
    table: LatencyTable,
    hits: Callable[[Instruction], bool],
    of: Callable[[Code], bool] = lambda code: True,
) -> dict[str, int]:
    """Cycles of the critical path of each block, by the code for which `of` holds; of loads, by whether one hits the
    L1."""
    hit = table.cycles(HIT)

    def cycles(code: Instruction) -> int:
        return hit if hits(code) else _cycles(code, table)

    return {name: _critical([*filter(of, block.code)], cycles) for name, block in flow.blocks.items()}


def path_of(
    flow: Flow, critical: Mapping[str, int], executed: Mapping[str, float], often: Mapping[str, float]
) -> tuple[float, list[str]]:
    """Cycles and blocks of the critical path: of the paths with the most work the shortest. If copies of code are on
    several paths, few warps take the others. `critical` are the cycles of each block, `executed` the instructions that
    a warp executes there in all, `often` how often it executes the block."""
    order = flow.reverse_postorder()
    rank = {name: i for i, name in enumerate(order)}
    best: dict[str, tuple[float, float]] = {}  # instructions, cycles
    follows: dict[str, str] = {}
    for name in reversed(order):
        after = [t for t in flow.blocks[name].end.successors() if rank[t] > rank[name]]  # back edges left out
        follows[name] = max(after, key=lambda t: best[t][0] * WORTH - best[t][1], default="")
        done, cycles = best.get(follows[name], (0.0, 0.0))
        best[name] = done + executed[name], cycles + critical[name] * often[name]
    path = [flow.entry]
    while after_it := follows[path[-1]]:
        path.append(after_it)
    return best[flow.entry][1], path


class _Effects(NamedTuple):
    """Whether code loads what other code may have stored, has to stay between what is before and after it, stores."""

    loads: bool
    stays: bool
    stores: bool


def _critical(block: Sequence[Code], cycles: Callable[[Instruction], int]) -> int:
    """Cycles of a block as the assembler may order it: it hoists nothing above a barrier or a slow path, and no load
    above a store."""
    ready: dict[str, int] = {}
    wall = stored = finish = 0
    for code in block:
        effects = _effects(code.opcode) if isinstance(code, Instruction) else _effects_of_call(code)
        start = max([wall, *[ready.get(r, 0) for r in read(code)]])
        if effects.loads:
            start = max(start, stored)
        done = start + (cycles(code) if isinstance(code, Instruction) else sum(map(cycles, instructions_in(code))))
        if effects.stays:
            wall = done
        elif effects.stores:
            stored = max(stored, start)
        for register in written(code):
            ready[register] = done
        finish = max(finish, done)
    return finish


@lru_cache(maxsize=4096)
def _effects(opcode: str) -> _Effects:
    facts = facts_of(opcode)
    loads = facts.loads and facts.space not in ("param", "const")
    return _Effects(loads, facts.row.scope > Convergence.WARP or facts.slow_path, "s" in facts.row.access)


def _effects_of_call(scope: Scope) -> _Effects:
    each = [_effects(i.opcode) for i in instructions_in(scope)]
    return _Effects(any(e.loads for e in each), any(e.stays for e in each), any(e.stores for e in each))


def _cycles(code: Instruction, table: LatencyTable) -> int:
    return DEPENDENT * slots(code) + BRANCH if facts_of(code.opcode).slow_path else table.cycles_of(code)
