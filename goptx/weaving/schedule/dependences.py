"""Which units of a merged block must come before which others.

Requires: the units of each part, whose registers are apart but for those that kernels hand on to each other, and the
turns of the block. Ensures: an order that keeps all that is named here keeps each kernel's dependences through
registers and through memory, those of one kernel on what another hands on, and the turns.

Through memory that means: accesses that may touch one location keep their order, unless both load. No access of a
kernel moves after a release of that kernel or before an acquire, whatever spaces the two are in; an access that stands
after a release may move before it. What is never written while the kernel runs (`.nc`, constants, parameters) is no
such access: it can be loaded anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from goptx.analysis.cfg import Code, instructions_in
from goptx.analysis.dataflow import read, written
from goptx.analysis.sync.barriers import is_reduction
from goptx.ptx.ir import Instruction, Scope
from goptx.ptx.opcodes import Facts, facts_of
from goptx.ptx.opcodes import Scope as Convergence
from goptx.weaving.merging.merged_blocks import Place, Turn

Unit = tuple[Code, ...]

_KINDS = ("near", "far")  # of memory: what no access may belong to both of, unless its space is not stated
CONSTANT = ("param", "const")  # never written while the kernel runs
NEAR = ("shared", "local", *CONSTANT)  # answers within tens of cycles
_CARRY = "%cc"  # the flag, beside the registers
_CLOCKS = frozenset("%clock %clock_hi %clock64 %globaltimer %globaltimer_lo %globaltimer_hi".split())


@dataclass(slots=True)
class Node:
    """Units that are moved as one: a single one, or those of several kernels that are one barrier.

    behind: what must come behind it, by number, and whether that reads a result of it. ahead: how many must come
    before it.
    """

    units: list[Unit]
    parts: list[int]
    facts: list[Facts]
    behind: dict[int, bool] = field(default_factory=dict)
    ahead: int = 0

    @property
    def code(self) -> Unit:
        """What stands for it: of several barriers one, a reduction if there is one."""
        if len(self.units) == 1:
            return self.units[0]
        chosen = next((unit for unit in self.units if any(map(is_reduction, unit))), self.units[0])
        (barrier,) = chosen
        assert isinstance(barrier, Instruction)
        others = (i for unit in self.units if unit is not chosen for i in unit if isinstance(i, Instruction))
        return (replace(barrier, also=tuple(others)),)


def precedence(parts: Sequence[Sequence[Unit]], turns: Sequence[Turn], handed_on: Sequence[Place] = ()) -> list[Node]:
    """The units of all parts, part by part in the order in which they stood. What has a turn comes behind what had one
    before it; what has one turn is one node, unless it is moved with other code. `handed_on` is that of the block."""
    nodes: list[Node] = []
    taken: list[list[int]] = []  # of each part, the nodes of its units
    node_of: dict[Place, int] = {}  # of code that is to have a turn
    timed = {place for turn in turns for place in turn}
    places = [list(_places(k, part)) for k, part in enumerate(parts)]  # of the code of each unit
    alone = {unit[0] for part in places for unit in part if len(unit) == 1}
    first = {place: turn[0] for turn in turns if alone.issuperset(turn) for place in turn}
    facts = [[list(facts_in(unit)) for unit in part] for part in parts]
    for k, part in enumerate(parts):
        taken.append([])
        for unit, own, own_places in zip(part, facts[k], places[k], strict=True):
            joint = node_of.get(first[own_places[0]]) if own_places[0] in first else None
            number = len(nodes) if joint is None else joint
            if joint is None:
                nodes.append(Node([unit], [k], own))
            else:
                nodes[joint].units.append(unit)
                nodes[joint].parts.append(k)
            taken[k].append(number)
            node_of |= {place: number for place in own_places if place in timed}
    for k, part in enumerate(parts):
        _within(part, facts[k], taken[k], nodes)
    order = [node_of[place] for turn in turns for place in turn]
    for i, j in pairwise(order):
        _follow(nodes, i, j)
    for (k, i), (other, j), result in across(parts, handed_on):
        _follow(nodes, taken[k][i], taken[other][j], result)
    return nodes


def _places(number: int, part: Sequence[Unit]) -> Iterator[tuple[Place, ...]]:
    """Where the code of each unit of a part stands."""
    begin = 0
    for unit in part:
        yield tuple((number, begin + i) for i in range(len(unit)))
        begin += len(unit)


def across(parts: Sequence[Sequence[Unit]], handed_on: Sequence[Place]) -> Iterator[tuple[Place, Place, bool]]:
    """What must come before what of another part, by registers that are handed on: the places of two units, and whether
    the second reads a result of the first. `handed_on` are the places of all code that has such a register, in the
    order in which it stood."""
    units = [[(i, code) for i, unit in enumerate(part) for code in unit] for part in parts if handed_on]
    writer: dict[str, Place] = {}
    readers: dict[str, list[Place]] = {}
    for k, position in handed_on:
        i, code = units[k][position]
        here = k, i
        found = [(writer[r], True) for r in sorted(read(code)) if r in writer]
        for r in read(code):
            readers.setdefault(r, []).append(here)
        for r in sorted(written(code)):
            found += [(before, False) for before in (*readers.pop(r, ()), *((writer[r],) if r in writer else ()))]
            writer[r] = here
        yield from ((before, here, result) for before, result in found if before[0] != here[0])


def _follow(nodes: Sequence[Node], first: int, second: int, result: bool = False) -> None:
    if first != second:
        behind = nodes[first].behind
        if second not in behind:
            nodes[second].ahead += 1
        behind[second] = behind.get(second, False) or result


def _within(
    part: Sequence[Unit], facts: Sequence[Sequence[Facts]], numbers: Sequence[int], nodes: Sequence[Node]
) -> None:
    """The dependences of one kernel. What a warpgroup multiplies is there behind a wait that names no register, so
    where it does all stays as it stood."""
    if not all(f.known and f.row.scope != Convergence.WARPGROUP for unit in facts for f in unit):
        for i, j in pairwise(numbers):
            _follow(nodes, i, j, result=True)
        return
    writer: dict[str, int] = {}  # the last that wrote each register
    readers: dict[str, list[int]] = {}  # those that read it since
    orderer: dict[str, int] = {}  # the last that is ordered with all else in each kind of memory
    loads: dict[str, list[int]] = {}  # plain loads there since
    for unit, own, i in zip(part, facts, numbers, strict=True):
        inputs = [*(r for code in unit for r in read(code)), *(_CARRY for f in own if f.uses_carry)]
        outputs = [*(r for code in unit for r in written(code)), *(_CARRY for f in own if f.sets_carry)]
        for r in inputs:
            if r in writer:
                _follow(nodes, writer[r], i, result=True)
            readers.setdefault(r, []).append(i)
        for r in outputs:
            if r in writer:
                _follow(nodes, writer[r], i)
            for reader in readers.pop(r, ()):
                _follow(nodes, reader, i)
            writer[r] = i
        plain = all(map(_plain_load, own))
        timed = not _CLOCKS.isdisjoint(inputs)  # what it times has to stay on its side
        touched = _KINDS if timed else {kind for f in own for kind in _memory(f)}
        released = any(f.is_release for f in own)
        for kind in _KINDS:
            if kind not in touched and not released:
                continue
            if kind in orderer:
                _follow(nodes, orderer[kind], i)
            if plain and not timed:
                loads.setdefault(kind, []).append(i)
                continue
            for load in loads.get(kind, ()):
                _follow(nodes, load, i)
            if kind in touched:  # else what stands after a release may move before it
                orderer[kind], loads[kind] = i, []


def facts_in(unit: Unit) -> Iterator[Facts]:
    for code in unit:
        for instruction in instructions_in(code) if isinstance(code, Scope) else (code,):
            yield facts_of(instruction.opcode)


def _memory(facts: Facts) -> tuple[str, ...]:
    """The kinds of memory in which accesses after it stay there; what keeps its place is in both."""
    if facts.is_ordered:
        return _KINDS
    if not facts.row.access or (facts.row.access == "l" and ("nc" in facts.modifiers or facts.space in CONSTANT)):
        return ()
    return tuple("near" if space in NEAR else "far" for space in facts.spaces) or _KINDS


def _plain_load(facts: Facts) -> bool:
    return facts.row.access == "l" and not facts.is_ordered
