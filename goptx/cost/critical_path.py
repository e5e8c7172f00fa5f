"""How long a warp takes alone: the critical path through the code of a kernel.

Requires: a flow without regions. Ensures: the cycles of each block are those by which a path takes longer with it than
without. An instruction waits for what it reads, also where that was begun in an earlier block: the assembler puts short
sides of branches under predicates, so that the loads on several of them are under way together, and begins loads above
stores to memory of another kind; a warp goes on beyond a branch when its predicate is known. Where code has several
predecessors otherwise, it waits for all before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import ceil
from typing import NamedTuple

from goptx.analysis.cfg import EXIT, Code, Flow, instructions_in
from goptx.analysis.dataflow import depends_on, read, sets, written
from goptx.analysis.terminators import Branch
from goptx.cost.branches import most_predicated
from goptx.cost.hardware import Machine
from goptx.cost.units.tensor_cores import tensor_cycles
from goptx.latency.slots import slots
from goptx.latency.table import LatencyTable
from goptx.ptx.ir import Instruction, Scope
from goptx.ptx.opcodes import Scope as Convergence
from goptx.ptx.opcodes import facts_of

DEPENDENT = 4  # cycles from one instruction of a slow path to the next: HPEC 2022 (arXiv 2208.11174), Table 5
BRANCH = 30  # cycles that its branch adds: two instructions that reconverge the lanes, and the branch; assumed
SHORT, UNROLLED = 48, 4  # slots of a loop that the assembler unrolls, at most; iterations of which it makes one
WORTH = 1000  # cycles: more than any instruction takes, so that a path with more work is always preferred

Cycles = Callable[[Instruction], int]


@dataclass(slots=True)
class _Progress:
    """How far a warp is, in cycles: when each register is ready, from when on anything may begin, when the last store
    to each space has begun, and when all is done."""

    ready: dict[str, int] = field(default_factory=dict)
    wall: int = 0
    stored: dict[str, int] = field(default_factory=dict)
    done: int = 0

    def copy(self) -> _Progress:
        return _Progress(dict(self.ready), self.wall, dict(self.stored), self.done)

    def run(self, code: Sequence[Code], cycles: Cycles, after: int = 0) -> None:
        """Runs code as the assembler may order it, not before the cycle `after`: it hoists nothing above a barrier or a
        slow path, and no load above a store."""
        for one in code:
            effects = _effects(one.opcode) if isinstance(one, Instruction) else _effects_of_call(one)
            start = max([self.wall, after, *[self.ready.get(r, 0) for r in depends_on(one)]])
            if effects.loads or effects.stays:
                start = max([start, *self._stores(effects)])
            done = start + (cycles(one) if isinstance(one, Instruction) else sum(map(cycles, instructions_in(one))))
            if effects.stays:
                self.wall = done
            elif effects.stores:
                self.stored[effects.space] = max(self.stored.get(effects.space, 0), start)
            for register in sets(one):
                self.ready[register] = done
            self.done = max(self.done, done)

    def _stores(self, effects: _Effects) -> Iterable[int]:
        """When the last stores began that what has these effects comes after."""
        return (begun for space, begun in self.stored.items() if effects.stays or _may_be_same(space, effects.space))

    def known(self, end: Branch) -> int:
        """When the predicate of a branch is known."""
        return max([self.wall, *[self.ready.get(register, 0) for register in end.reads()]])


def critical_cycles(
    flow: Flow,
    table: LatencyTable,
    machine: Machine,
    waits: Callable[[Instruction], int | None],
    of: Callable[[Code], bool] = lambda code: True,
) -> dict[str, int]:
    """The cycles of each block, by the code for which `of` holds. `waits`: those of loads for which they are known."""

    def cycles(code: Instruction) -> int:
        known = waits(code)
        return _cycles(code, table, machine) if known is None else known

    found: dict[str, int] = {}
    reached: dict[str, _Progress] = {}  # at the end of each block
    sides = {name: _side_of(flow, name) for name in flow.blocks}
    for name in flow.reverse_postorder():
        before = _before(flow, name, sides)
        progress = reached[before].copy() if before in reached else _Progress()
        begun, after = progress.done, 0
        if before in reached and isinstance(end := flow.blocks[before].end, Branch):
            after = progress.known(end)
            if not sides[name]:
                progress.wall, after = after, 0
        code = [*filter(of, flow.blocks[name].code)]
        progress.run(code, cycles, after)
        found[name], reached[name] = progress.done - begun, progress
        if is_unrolled(flow, name):
            several = _Progress()
            several.run(code * UNROLLED, cycles)
            found[name] = ceil(several.done / UNROLLED)
    return {name: found.get(name, 0) for name in flow.blocks}  # none reaches the end of what never ends


def is_unrolled(flow: Flow, name: str) -> bool:
    """Whether the assembler makes one iteration of several: of a short loop of one block that counts, loads and does
    not store, if no pragma says otherwise."""
    block = flow.blocks[name]
    end = block.end
    if not isinstance(end, Branch) or name not in end.successors() or len(set(end.successors())) != 2 or block.pragmas:
        return False
    own = block.instructions()
    effects = [_effects(i.opcode) for i in own]
    if sum(map(slots, own)) > SHORT or any(e.stays or e.stores for e in effects):
        return False
    counters = {r for i in own if facts_of(i.opcode).adds and i.guard is None for r in written(i) & read(i)}
    decides = [i for i in own if facts_of(i.opcode).compares and not written(i).isdisjoint(end.reads())]
    return any(e.loads for e in effects) and any(not read(i).isdisjoint(counters) for i in decides)


def _before(flow: Flow, name: str, sides: Mapping[str, str]) -> str:
    """The block with which all that is before a block is done; "" if there are several."""
    before = flow.predecessors()[name]
    if len(before) == 1:
        return before[0]
    if len(before) != 2:
        return ""
    one, other = before
    if sides[one] == other:  # a side, or none
        return one
    if sides[other] == one:
        return other
    return ""


def _side_of(flow: Flow, name: str) -> str:
    """The block whose branch decides about this one, if it is a short side: under a predicate it is part of what is
    around."""
    before, block = flow.predecessors()[name], flow.blocks[name]
    if name == EXIT or len(before) != 1 or not isinstance(flow.blocks[before[0]].end, Branch):
        return ""
    after = block.end.successors()
    if len(after) != 1 or after[0] not in flow.blocks[before[0]].end.successors():
        return ""
    short = sum(map(slots, block.instructions())) <= most_predicated(flow)
    return before[0] if short and not any(_effects(i.opcode).stays for i in block.instructions()) else ""


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
    """Whether code loads what other code may have stored, has to stay between what is before and after it, stores; to
    which space ("" for any)."""

    loads: bool
    stays: bool
    stores: bool
    space: str


def _may_be_same(space: str, other: str) -> bool:
    return not space or not other or space == other


@lru_cache(maxsize=4096)
def _effects(opcode: str) -> _Effects:
    facts = facts_of(opcode)
    loads = facts.loads and facts.space not in ("param", "const")
    stays = facts.row.scope > Convergence.WARP or facts.slow_path
    return _Effects(loads, stays, "s" in facts.row.access, facts.space)


def _effects_of_call(scope: Scope) -> _Effects:
    each = [_effects(i.opcode) for i in instructions_in(scope)]
    return _Effects(any(e.loads for e in each), any(e.stays for e in each), any(e.stores for e in each), "")


def _cycles(code: Instruction, table: LatencyTable, machine: Machine) -> int:
    if facts_of(code.opcode).slow_path:
        return DEPENDENT * slots(code) + BRANCH
    return max(table.cycles_of(code), ceil(tensor_cycles(code.opcode, machine)))
