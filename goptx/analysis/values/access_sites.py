"""The access sites of a kernel: where its accesses to memory go, and what a thread has run before it reaches a place.

Requires: the values of a flow. Ensures: if one instruction dominates another, every thread that runs the second has run
the first, within the same iteration of the loops around both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

import networkx as nx

from goptx.analysis.cfg import Code, controls, depths, instructions_in, loops
from goptx.analysis.sync.acquires import is_barrier_or_fence, may_acquire
from goptx.analysis.terminators import Branch
from goptx.analysis.values.expressions import Condition, Expression
from goptx.analysis.values.value_numbering import Place, Values
from goptx.ptx.ir import TYPE_BYTES, Instruction, Scope
from goptx.ptx.opcodes import Facts, facts_of


@dataclass(frozen=True, slots=True)
class Access:
    """An instruction that accesses memory outside of the thread's own. `address` is the address. `base` is the
    parameter, the offset into a parameter (`p+8`), or the variable that it is counted from, "" where that is unknown;
    `offset` is the address relative to `base`."""

    place: Place
    instruction: Instruction
    address: Expression
    base: str
    offset: Expression

    @property
    def facts(self) -> Facts:
        return facts_of(self.instruction.opcode)

    @property
    def lanes(self) -> int:
        return next((int(m[1:]) for m in self.facts.modifiers if m in ("v2", "v4", "v8")), 1)

    @property
    def element(self) -> int:
        """Bytes."""
        return TYPE_BYTES[self.facts.types[-1]] if self.facts.types else 0

    @property
    def width(self) -> int:
        """Bytes; 0 if unknown."""
        return self.element * self.lanes

    @property
    def plain(self) -> bool:
        """Whether it only loads or stores elements, without making them visible to other threads at once."""
        facts = self.facts
        return facts.is_load_or_store and facts.is_weak and bool(facts.types)

    @property
    def generic(self) -> bool:
        """Whether it is an ordinary load or store: no texture access, no asynchronous copy."""
        return self.facts.accesses_element and "async" not in self.facts.modifiers

    @property
    def by_handle(self) -> bool:
        """Whether it names the descriptor of an array (a texture, a tensor map) instead of the array."""
        return self.facts.space in ("texture", "surface") or "tensor" in self.facts.modifiers

    @property
    def writes(self) -> bool:
        return "s" in self.facts.row.access


_OWN = frozenset(("param", "local", "shared", "const"))


class AccessSites:
    """`non_acquiring` are functions that acquire nothing (acquires.py)."""

    def __init__(self, values: Values, non_acquiring: Collection[str] = ()) -> None:
        self.values = values
        self.non_acquiring = non_acquiring
        self.flow = values.flow
        self.rank = self.flow.ranks()
        self.depth = depths(self.flow)
        self._above: dict[str, frozenset[str]] = {}
        for name in self.rank:
            above = self.flow.dominators().get(name)
            self._above[name] = frozenset((name,)) | (self._above[above] if above else frozenset())

    def accesses(self) -> Iterator[Access]:
        """The accesses to global memory, in order."""
        atoms = self.values.atoms
        for name in self.rank:
            for i, code in enumerate(self.flow.blocks[name].code):
                for instruction in instructions_of(code):
                    facts = facts_of(instruction.opcode)
                    if not set(facts.row.access) & set("ls") or (facts.spaces and set(facts.spaces) <= _OWN):
                        continue
                    found = () if isinstance(code, Scope) else self.values.addresses[name, i]
                    for address in found or [atoms.expression(64, "made", self.values.tag, name, i, "address")]:
                        base = base_of(self.values, address)
                        offset = without_base(self.values, address, base)
                        yield Access((name, i), instruction, address, base, offset)

    def precedes(self, first: Place, second: Place) -> bool:
        """Whether the first comes before the second, back edges of loops ignored."""
        return (self.rank[first[0]], first[1]) < (self.rank[second[0]], second[1])

    def dominates(self, first: Place, second: Place) -> bool:
        """Whether every thread that runs the second has run the first, guards considered."""
        if not self.precedes(first, second):
            return False
        guard = self.values.guards.get(first, Condition())
        known = self._known(second[0]) & self.values.guards.get(second, Condition())
        if first[0] in self._above[second[0]]:
            return known.implies(guard)
        needed = self.reaching_condition(first[0])
        return needed is not None and not self.depth[first[0]] and known.implies(needed & guard)

    @cached_property
    def acquires(self) -> list[Place]:
        """The places after which a thread may see what was written outside of the kernels meanwhile. They include
        barriers and fences if any thread can acquire that: there it passes it on."""
        places = [((n, i), c) for n in self.rank for i, c in enumerate(self.flow.blocks[n].code)]
        found = [(place, one) for place, code in places for one in instructions_of(code)]
        acquiring = {place for place, one in found if may_acquire(one, self.non_acquiring)}
        passing = {place for place, one in found if is_barrier_or_fence(one)} if acquiring else set()
        return sorted(acquiring | passing)

    def acquires_between(self, first: Place, second: Place) -> bool:
        """Whether a path from the first to the second passes an acquire, without passing the first again."""
        return self.between(first, second, self.acquires)

    def between(self, first: Place, second: Place, which: Collection[Place]) -> bool:
        """Whether a path from the first to the second passes one of the places `which`, without passing the first
        again."""
        (block, begin), (other, end) = first, second
        if block == other:
            return any(name == block and begin < i < end for name, i in which)
        after = self._reachable(block, block) if which else set()
        return any(
            (name == block and i > begin)
            or (name in after and ((name == other and i < end) or other in self._reachable(name, block)))
            for name, i in which
        )

    def _reachable(self, block: str, without: str) -> set[str]:
        """The blocks that can be reached from the successors of a block without the block `without`."""
        graph = self.flow.graph()
        left = graph.subgraph(set(graph) - {without})
        return {n for t in graph.succ[block] if t != without for n in (t, *nx.descendants(left, t))}

    def condition(self, place: Place) -> Condition:
        """What is known to hold where the instruction runs."""
        return self._known(place[0]) & self.values.guards.get(place, Condition())

    def reaching_condition(self, block: str) -> Condition | None:
        """The condition under which a thread reaches a block; None if it is not a conjunction of branch conditions."""
        found, seen = Condition(), {block}
        while deciders := self._controls[block] - {block}:
            if len(deciders) > 1:
                return None
            (decider,) = deciders
            side = self._side(decider, block)
            if side is None or decider in seen or self.depth[decider]:
                return None
            found, block = found & side, decider
            seen.add(decider)
        return found

    @cached_property
    def _controls(self) -> dict[str, frozenset[str]]:
        return controls(self.flow)

    @cached_property
    def _post_dominators(self) -> dict[str, str | None]:
        return self.flow.post_dominators()

    def _side(self, decider: str, block: str) -> Condition | None:
        """The condition of the one side of a branch that surely leads to the block."""
        end = self.flow.blocks[decider].end
        if not isinstance(end, Branch):
            return None
        taken = self.values.branches[decider]
        found = []
        for side, holds in ((end.taken, taken), (end.fallen, self.values.atoms.inverted(taken))):
            name: str | None = side
            while name is not None and name != block:
                name = self._post_dominators[name]
            found += [holds] if name == block else []
        return found[0] if len(found) == 1 else None

    def _known(self, block: str) -> Condition:
        """What is known to hold at the beginning of a block: the conditions of the branches above it."""
        found = Condition()
        name: str | None = block
        while name is not None:
            above = self.flow.dominators().get(name)
            back = loops(self.flow).get(name, frozenset())
            sources = [p for p in self.flow.graph().pred[name] if p in self.rank and p not in back]
            end = self.flow.blocks[above].end if above else None
            if above and sources == [above] and isinstance(end, Branch) and end.taken != end.fallen:
                taken = self.values.branches[above]
                found &= taken if end.taken == name else self.values.atoms.inverted(taken)
            name = above
        return found


def instructions_of(code: Code) -> Iterator[Instruction]:
    """The instruction, or the instructions of a call scope."""
    return instructions_in(code) if isinstance(code, Scope) else iter((code,))


def base_of(values: Values, address: Expression) -> str:
    """The parameter, or the variable, that an address is counted from; "" if unknown."""
    names = []
    for atom in (f[0] for f, c in address.terms if len(f) == 1 and c == 1):
        word, *rest = values.atoms.keys[atom]
        if word in ("parameter", "address"):
            names.append(str(rest[0]))
        elif atom in values.steps:  # a pointer that is advanced from element to element
            names.append(base_of(values, values.steps[atom][0]))
        elif word not in ("signed", "unsigned", "special"):  # it may be the pointer
            return ""
    return names[0] if len(names) == 1 else ""


def parameter_of(base: str) -> str:
    """The parameter with the pointer: `base` itself, or the structure that contains the pointer (`p+8`)."""
    return base.partition("+")[0]


def without_base(values: Values, address: Expression, base: str) -> Expression:
    rest = [(f, c) for f, c in address.terms if not (len(f) == 1 and values.atoms.keys[f[0]][1:2] == (base,))]
    return Expression(address.bits, frozenset(rest)) if base else address
