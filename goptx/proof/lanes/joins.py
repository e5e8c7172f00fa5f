"""The state before a block of the fused kernel that several edges lead to: what is one value on each of them gets one
name, and what places of the kernel and predicates have to do with each other is preserved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goptx.proof.code.kernel_code import ASKED, AT, END, HELD, OF_CTA, REDUCED, VOTED
from goptx.proof.formulas import FALSE, TRUE
from goptx.proof.lanes.lane_states import Lanes, State

if TYPE_CHECKING:
    from goptx.proof.projection import Projection

Links = list[tuple[int, tuple[int, ...]]]  # new formulas, and what they are on each edge


def joined(of: Projection, start: int, edges: Mapping[int, State]) -> State:
    """The state before a block, of those on its edges so far."""
    states = list(edges.values())
    if len(of.fused.predecessors[start]) + (start == 0) == 1 and start not in of.fused.loop_heads:
        return states[0]
    loop = of.fused.loops.get(start, frozenset())
    entries = [i for i, source in enumerate(edges) if source not in loop]
    return _Join(of, start, states, list(edges), loop, entries).joined()


@dataclass
class _Join:
    """The state before a block of several edges: what is one value on each of them gets one name."""

    of: Projection
    start: int
    states: list[State]
    sources: list[int]
    loop: frozenset[int]  # the blocks of the loop that begins here
    entries: list[int]  # the states from outside it
    held: frozenset[int] = frozenset()  # variables that keep their meaning
    steady: set[int] = field(default_factory=set)  # what predicates are on each edge alike
    edges: dict[int, int] = field(default_factory=dict)

    def joined(self) -> State:
        of = self.of
        self.held |= of.placements.comparisons
        live = of.fused.live[self.start]
        names = sorted({r for s in self.states for r in s.registers if r in live or self._is_asked(r)})
        registers: dict[str, int] = {}
        data: dict[tuple[int, ...], int] = {}
        truths: dict[tuple[int, ...], int] = {}
        links: Links = []
        for name in names:
            values = tuple(self._read(s, name) for s in self.states)
            if name.startswith(AT):  # of no account where the register holds nothing
                held = {s.registers[name] for s in self.states if s.registers[HELD + name.removeprefix(AT)] != FALSE}
                values = tuple(held) * len(values) if len(held) == 1 else values
            if of.fused.is_predicate(name):
                registers[name] = self._truth(f"{self.start} {name}", values, truths, links)
            else:
                registers[name] = self._value(f"{self.start} {name}", values, data)
                self.of.comes_in[registers[name]] = tuple(
                    zip((s in self.loop for s in self.sources), values, strict=True)
                )
            if name.startswith(HELD) and len({s.registers[name] for s in self.states}) > 1:
                self._hold_conditions()
        cases: dict[int, Lanes] = {}
        for place in sorted({p for s in self.states for p in s.cases}):
            own = [i for i, s in enumerate(self.states) if place in s.cases]
            cases[place] = self._case(place, own, registers, links)
        return State(registers, cases)

    def _hold_conditions(self) -> None:
        """Preserves the conditions under which lanes come by each edge, as far as these hold the same way later."""
        for state in self.states:
            for given, _, _ in state.cases.values():
                stays = (v for v in self.of.formulas.support(given) if self.of.terms.blocks(v).isdisjoint(self.loop))
                self.held |= frozenset(stays)

    def _is_asked(self, name: str) -> bool:
        """Whether it stands for no register, and is known on each edge: which lanes asked, or what a register holds."""
        known = all(name in s.registers for s in self.states)
        return name in self._last or (known and name.startswith((ASKED, VOTED, REDUCED, AT, HELD)))

    @property
    def _last(self) -> tuple[str, str]:
        """Whether a lane asked the last time that its warp, or its CTA, did."""
        return f"{ASKED}{self.of.letter}", f"{ASKED}{OF_CTA}{self.of.letter}"

    def _read(self, state: State, name: str) -> int:
        """What a register holds on an edge. A lane that comes by where nobody voted counts as one that asked: more is
        asked of it then, which is to go on by itself."""
        if name in self._last and name not in state.registers:
            return TRUE
        return self.of.outer.read(state.registers, name)

    def _value(self, name: str, values: tuple[int, ...], known: dict[tuple[int, ...], int]) -> int:
        if values not in known:
            first = values[0]
            if all(v == first for v in values) and self.of.terms.blocks(first).isdisjoint(self.loop):
                known[values] = first
                self.held |= self.of.terms.atoms(first)
            elif any(map(self._is_ballot, values)) and self._is_entered_with(values):
                known[values] = self._by_edge(values)
            elif all(map(self._is_cut, values)):
                parts = zip(*(self.of.terms[v].parts for v in values), strict=True)
                joined = [self._value(f"{name}.{k}", its, known) for k, its in enumerate(parts)]
                known[values] = self.of.terms.make("and.b32", *joined)
            else:
                known[values] = self.of.terms.opaque(f"join {name}", self.start)
        return known[values]

    def _is_ballot(self, value: int) -> bool:
        """Whether it is a ballot, or one of several."""
        term = self.of.terms[value]
        return term.head.startswith("ballot ") or (term.head == "choice" and any(map(self._is_ballot, term.parts)))

    def _is_cut(self, value: int) -> bool:
        """Whether it is a mask of lanes that is cut by a ballot."""
        term = self.of.terms[value]
        return term.head == "and.b32" and any(map(self._is_ballot, term.parts))

    def _is_entered_with(self, values: tuple[int, ...]) -> bool:
        """Whether each edge into a loop brings a value from outside it, and those back bring what came in."""
        if not self.entries:
            return False
        outside = (self.of.terms.blocks(values[i]).isdisjoint(self.loop) for i in self.entries)
        return all(outside) and all(v == self._by_edge(values) for i, v in enumerate(values) if i not in self.entries)

    def _by_edge(self, values: tuple[int, ...]) -> int:
        """The value that each edge brings; a ballot has to be known with what it counts."""
        *first, last = self.entries
        found = values[last]
        for i in first:
            found = self.of.terms.choice(self._edge(i), values[i], found)
        self.held |= self.of.terms.atoms(found)
        return found

    def _edge(self, i: int) -> int:
        """The formula that a lane came by that edge."""
        if i not in self.edges:
            self.edges[i] = self.of.formulas.variable(
                self.of.terms.opaque(f"edge {self.start} {self.sources[i]}", self.start)
            )
        return self.edges[i]

    def _truth(
        self,
        name: str,
        values: tuple[int, ...],
        known: dict[tuple[int, ...], int],
        links: Links,
    ) -> int:
        formulas = self.of.formulas
        if all(v == values[0] for v in values) and self.of.terms.blocks_of_formula(values[0]).isdisjoint(self.loop):
            self.held |= formulas.support(values[0])
            self.steady |= {values[0]} - {FALSE, TRUE}
            return values[0]
        if values not in known:
            opposite = tuple(formulas.negation(v) for v in values)
            if opposite in known:
                known[values] = formulas.negation(known[opposite])
            else:
                known[values] = formulas.variable(self.of.terms.opaque(f"join {name}", self.start))
                links.append((known[values], values))
        return known[values]

    def _case(self, place: int, own: list[int], outer: Mapping[str, int], links: Links) -> Lanes:
        of, formulas = self.of, self.of.formulas
        live = of.kernel.live[place] if place != END else frozenset()
        names = sorted({r for i in own for r in self.states[i].cases[place][1] if r in live})
        registers: dict[str, int] = {}
        more: Links = []
        data: dict[tuple[int, ...], int] = {}
        truths: dict[tuple[int, ...], int] = {}
        seen: dict[tuple[bool, tuple[int, ...]], int] | None = None
        for name in names:
            kind = of.kernel.is_predicate(name)
            twin = of.renamed.get(name, "")
            if twin in outer and of.fused.is_predicate(twin) == kind and self._are_twins(own, place, name, twin):
                registers[name] = outer[twin]
                continue
            if seen is None:
                seen = self._seen(place, own, outer)
            values = tuple(self._inner(i, place, name) for i in own)
            if (kind, values) in seen:
                registers[name] = seen[kind, values]
            elif kind:
                registers[name] = self._truth(f"{self.start} of {of.letter} at {place} {name}", values, truths, more)
            else:
                registers[name] = self._value(f"{self.start} of {of.letter} at {place} {name}", values, data)
        edges = {v for came in self.edges.values() for v in formulas.support(came)}
        fresh = edges.union(*(formulas.support(atom) for atom, _ in (*links, *more)))
        before = {v: formulas.variable(of.terms.opaque(f"before {v}", self.start)) for v in fresh}
        given = FALSE
        for position, i in enumerate(own):
            old = self.states[i].cases[place][0]
            # What has a new meaning from here on had another one before; in a loop, lanes came by the edge by which
            # they came at first.
            by = {v: b for v, b in before.items() if i in self.entries or v not in edges}
            condition = formulas.replaced(old, by)
            olds = set(formulas.support(condition))
            for other, came in self.edges.items() if i in self.entries else ():
                condition = formulas.both(condition, came if other == i else formulas.negation(came))
            stays = ((v, v) for v in self.steady if of.terms.formula_under(v, old) != v)
            for atom, value in (*((a, v[i]) for a, v in links), *((a, v[position]) for a, v in more), *stays):
                for known in dict.fromkeys((of.terms.formula_under(value, old), value)):  # each has other comparisons
                    known = formulas.replaced(known, by)
                    olds |= formulas.support(known)
                    condition = formulas.both(condition, formulas.same(atom, known))
            given = formulas.either(given, formulas.without(condition, olds - fresh - self.held))
        moved = frozenset.intersection(*(self.states[i].cases[place][2] for i in own))
        return given, registers, moved - {self.start}

    def _seen(self, place: int, own: list[int], outer: Mapping[str, int]) -> dict[tuple[bool, tuple[int, ...]], int]:
        """What registers of the fused kernel hold, by their values on the edges; without those of other kernels."""
        of, found = self.of, dict[tuple[bool, tuple[int, ...]], int]()
        for name, value in outer.items():
            if name in of.others:
                continue
            kind = of.fused.is_predicate(name)
            values = tuple(self._outer(i, place, name) for i in own)
            found.setdefault((kind, values), value)
            if kind:
                found.setdefault((kind, tuple(map(of.formulas.negation, values))), of.formulas.negation(value))
        return found

    def _inner(self, i: int, place: int, name: str) -> int:
        """The value of a kernel's register; one that was never written may be whatever the fused kernel has."""
        of = self.of
        registers = self.states[i].cases[place][1]
        if name in registers:
            return self._given(i, place, registers[name], of.kernel.is_predicate(name))
        twin = of.renamed.get(name)
        if twin is not None and of.fused.is_predicate(twin) == of.kernel.is_predicate(name):
            return self._outer(i, place, twin)
        return of.inner.read({}, name)

    def _are_twins(self, own: list[int], place: int, name: str, twin: str) -> bool:
        of = self.of
        for i in own:
            given, registers, _ = self.states[i].cases[place]
            if name not in registers:
                continue
            values = registers[name], of.outer.read(self.states[i].registers, twin)
            test = of.terms.truths_are_equal if of.kernel.is_predicate(name) else of.terms.are_equal
            if not test(*values, given):
                return False
        return True

    def _outer(self, i: int, place: int, name: str) -> int:
        """The value of a register of the fused kernel, where the lane is at that place of the kernel."""
        return self._given(
            i, place, self.of.outer.read(self.states[i].registers, name), self.of.fused.is_predicate(name)
        )

    def _given(self, i: int, place: int, value: int, is_predicate: bool) -> int:
        given = self.states[i].cases[place][0]
        return (self.of.terms.formula_under if is_predicate else self.of.terms.resolved)(value, given)
