"""Which units of a merged block must come before which others.

Requires: the units of each part, and the sync groups of the block. Parts share no registers, except those that one
kernel forwards to others. Ensures: an order that keeps all precedences given here keeps each kernel's dependences
through registers and through memory, those on forwarded registers, and the order of synchronization.

For memory this means: accesses that may touch one location keep their order, unless both load. No access of a kernel
moves after a release of that kernel or before an acquire, whatever spaces the two are in; an access that stands after a
release may move before it. Data that is never written while the kernel runs (`.nc`, constants, parameters) can be
loaded anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from goptx.analysis.cfg import Code, instructions_in
from goptx.analysis.dataflow import depends_on, read, sets, written
from goptx.analysis.sync.barriers import is_reduction
from goptx.ptx.ir import Instruction, Scope
from goptx.ptx.opcodes import Facts, facts_of
from goptx.ptx.opcodes import Scope as Convergence
from goptx.weaving.merging.merged_blocks import Place, SyncGroup

Unit = tuple[Code, ...]

_KINDS = ("near", "far")  # of memory: an access belongs to one, or to both if its space is not stated
CONSTANT = ("param", "const")  # never written while the kernel runs
NEAR = ("shared", "local", *CONSTANT)  # answers within tens of cycles
_CLOCKS = frozenset("%clock %clock_hi %clock64 %globaltimer %globaltimer_lo %globaltimer_hi".split())


class Effects(NamedTuple):
    """What an opcode, or all code of a unit, does that matters for its order.

    kinds: of memory, in which later accesses stay after it: both for an access that must keep its place.
    loads, far: whether it loads what is not constant; whether that is in far memory.
    plain: whether it is a load that need not keep its place among others.
    releases: whether earlier accesses stay before it.
    constant: whether it accesses memory that is never written. movable: whether its results are known.
    barrier: whether the assembler orders no code across it; stores: whether it stores to far memory.
    """

    kinds: tuple[str, ...]
    loads: bool
    far: bool
    plain: bool
    releases: bool
    constant: bool
    movable: bool
    barrier: bool
    stores: bool


@lru_cache(maxsize=4096)
def effects_of(opcode: str) -> Effects:
    """Scheduling barriers are barriers and fences, stores to far memory, volatile accesses, calls, and code that the
    assembler expands with a branch inside. The result of a warpgroup's multiplication is available after a wait that
    names no register."""
    facts = facts_of(opcode)
    stores = "s" in facts.row.access and facts.space not in NEAR
    return Effects(
        kinds=_memory(facts),
        loads=facts.loads and facts.space not in CONSTANT,
        far=facts.loads and facts.space not in NEAR,
        plain=facts.row.access == "l" and not facts.is_ordered,
        releases=facts.is_release,
        constant=facts.space in CONSTANT,
        movable=facts.known and facts.row.scope != Convergence.WARPGROUP,
        barrier=facts.row.access == "f" or stores or facts.volatile or facts.slow_path,
        stores=stores,
    )


@dataclass(slots=True)
class Node:
    """Units that are moved as one: a single one, or those of several kernels that become one barrier.

    successors: the nodes that must come after it, by number, and whether they read a result of it.
    predecessors: how many nodes must come before it.
    """

    units: list[Unit]
    parts: list[int]
    effects: Effects
    successors: dict[int, bool] = field(default_factory=dict)
    predecessors: int = 0

    @property
    def code(self) -> Unit:
        """The code that is emitted for it: of several barriers one, a reduction if there is one."""
        if len(self.units) == 1:
            return self.units[0]
        chosen = next((unit for unit in self.units if any(map(is_reduction, unit))), self.units[0])
        (barrier,) = chosen
        assert isinstance(barrier, Instruction)
        others = (i for unit in self.units if unit is not chosen for i in unit if isinstance(i, Instruction))
        return (replace(barrier, also=tuple(others)),)


def precedence(
    parts: Sequence[Sequence[Unit]], sync_groups: Sequence[SyncGroup], forwarded: Sequence[Place] = ()
) -> list[Node]:
    """The nodes of all parts, part by part in the original order. Each sync group comes after the one before it. The
    code of a group is one node, unless it is moved together with other code. `forwarded` is that of the block."""
    nodes: list[Node] = []
    taken: list[list[int]] = []  # for each part, the nodes of its units
    node_of: dict[Place, int] = {}  # of code in sync groups
    timed = {place for group in sync_groups for place in group}
    places = [list(_places(k, part)) for k, part in enumerate(parts)]  # of the code of each unit, by part
    alone = {unit[0] for part in places for unit in part if len(unit) == 1}
    first = {place: group[0] for group in sync_groups if alone.issuperset(group) for place in group}
    effects = [[_effects(unit) for unit in part] for part in parts]
    for k, part in enumerate(parts):
        taken.append([])
        for unit, own, own_places in zip(part, effects[k], places[k], strict=True):
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
        _within(part, effects[k], taken[k], nodes)
    order = [node_of[place] for group in sync_groups for place in group]
    for i, j in pairwise(order):
        _follow(nodes, i, j)
    for (k, i), (other, j), result in across(parts, forwarded):
        _follow(nodes, taken[k][i], taken[other][j], result)
    return nodes


def _places(number: int, part: Sequence[Unit]) -> Iterator[tuple[Place, ...]]:
    """Where the code of each unit of a part stands."""
    begin = 0
    for unit in part:
        yield tuple((number, begin + i) for i in range(len(unit)))
        begin += len(unit)


def across(parts: Sequence[Sequence[Unit]], forwarded: Sequence[Place]) -> Iterator[tuple[Place, Place, bool]]:
    """The precedences between parts through forwarded registers: the places of two units, and whether the second reads
    a result of the first. `forwarded` has the places of all code that uses such a register, in the original order."""
    units = [[(i, code) for i, unit in enumerate(part) for code in unit] for part in parts if forwarded]
    writer: dict[str, Place] = {}
    readers: dict[str, list[Place]] = {}
    for k, position in forwarded:
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
        successors = nodes[first].successors
        if second not in successors:
            nodes[second].predecessors += 1
        successors[second] = successors.get(second, False) or result


def _within(part: Sequence[Unit], effects: Sequence[Effects], numbers: Sequence[int], nodes: Sequence[Node]) -> None:
    """The dependences of one kernel. Code with an instruction whose results are not known keeps its order."""
    if not all(own.movable for own in effects):
        for i, j in pairwise(numbers):
            _follow(nodes, i, j, result=True)
        return
    writer: dict[str, int] = {}  # the last unit that wrote each register
    readers: dict[str, list[int]] = {}  # the units that have read it since
    orderer: dict[str, int] = {}  # for each kind of memory, the last unit that all others there are ordered with
    loads: dict[str, list[int]] = {}  # the plain loads there since
    for unit, own, i in zip(part, effects, numbers, strict=True):
        inputs, outputs = _registers(unit)
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
        timed = not _CLOCKS.isdisjoint(inputs)  # code that is timed must not cross the clock
        touched = _KINDS if timed else own.kinds
        for kind in _KINDS if touched or own.releases else ():
            if kind not in touched and not own.releases:
                continue
            if kind in orderer:
                _follow(nodes, orderer[kind], i)
            if own.plain and not timed:
                loads.setdefault(kind, []).append(i)
                continue
            for load in loads.get(kind, ()):
                _follow(nodes, load, i)
            if kind in touched:  # accesses after a release may move before it
                orderer[kind], loads[kind] = i, []


def _registers(unit: Unit) -> tuple[Iterable[str], Iterable[str]]:
    """What a unit may read, and what it may write; the carry flag is among these."""
    if len(unit) == 1:
        return depends_on(unit[0]), sets(unit[0])
    return [r for code in unit for r in depends_on(code)], [r for code in unit for r in sets(code)]


def _effects(unit: Unit) -> Effects:
    """What the instructions of a unit do together."""
    if len(unit) == 1 and isinstance(unit[0], Instruction):
        return effects_of(unit[0].opcode)
    several = (i for code in unit for i in (instructions_in(code) if isinstance(code, Scope) else (code,)))
    return _together([effects_of(i.opcode) for i in several])


def _together(several: Sequence[Effects]) -> Effects:
    return Effects(
        kinds=tuple(kind for kind in _KINDS if any(kind in each.kinds for each in several)),
        loads=any(each.loads for each in several),
        far=any(each.far for each in several),
        plain=all(each.plain for each in several),
        releases=any(each.releases for each in several),
        constant=all(each.constant for each in several),
        movable=all(each.movable for each in several),
        barrier=any(each.barrier for each in several),
        stores=any(each.stores for each in several),
    )


def _memory(facts: Facts) -> tuple[str, ...]:
    if facts.is_ordered:
        return _KINDS
    if not facts.row.access or (facts.row.access == "l" and (facts.read_only or facts.space in CONSTANT)):
        return ()
    return tuple("near" if space in NEAR else "far" for space in facts.spaces) or _KINDS
