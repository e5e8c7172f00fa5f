"""What kernels hand on in registers: a load or store of a kernel in whose place the fused kernel moves a value.

A register that holds an element of memory is a cell. It holds the element from a step on that moves there what a kernel
stores, or what a load of the fused kernel has given. A load may be a move out of a cell if on every path to it the cell
holds that element; what else must hold of the buffer is in kernel_order.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goptx.proof.code.kernel_code import AT, HELD, NOWHERE, NotProved, Program, Source, Step
from goptx.proof.dependent.own_elements import Elements
from goptx.proof.evaluation import Evaluation
from goptx.proof.formulas import FALSE, TRUE
from goptx.proof.memory_order import Access, access_of
from goptx.proof.terms import Terms

if TYPE_CHECKING:
    from goptx.proof.projection import Projection


def is_plain(step: Step) -> bool:
    """Whether it loads or stores, and orders nothing for other threads."""
    facts = step.facts
    return facts.base in ("ld", "st") and facts.space in ("", "global") and facts.is_weak and not facts.is_ordered


def is_move(step: Step) -> bool:
    """Whether it gives its operand, perhaps with more or fewer bits."""
    return step.facts.base in ("mov", "cvt") and len(step.writes) == len(step.sources) == 1


@dataclass(frozen=True, slots=True)
class Moved:
    """An element that a step moves in place of a load or store, where the formula `given` holds. `cell` is what the
    register holds that it is moved out of: the formula that it holds an element, and which."""

    access: Access
    given: int
    cell: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Lane:
    """One element of a load or store: where it is, the register that a load writes, the term that a store stores."""

    access: Access
    source: Source | None
    register: str
    stored: int | None


def lanes_of(side: Evaluation, registers: Mapping[str, int], step: Step, line: int) -> list[Lane]:
    """Raises `NotProved` for what is no plain load or store."""
    whole = access_of(side, registers, step)
    if whole is None or not is_plain(step):
        raise NotProved(line, f"`{step.statement}` in line {step.line} of the kernel is not a plain load or store")
    sources = [] if step.facts.loads else _parts(step.sources[1])
    count = len(sources) or len(step.writes)
    size = whole.size // count
    accesses = [Access(whole.base, whole.offset + k * size, size) for k in range(count)]
    if sources:
        return [Lane(a, s, "", side.source(registers, s)) for a, s in zip(accesses, sources, strict=True)]
    return [Lane(a, None, w, None) for a, w in zip(accesses, step.writes, strict=True) if w != NOWHERE]


def _parts(source: Source) -> list[Source]:
    """The elements of a vector."""
    if not source.text.startswith("{{"):
        return [source]
    names = iter(source.names)
    return [Source(text) if text else Source("{}", (next(names),)) for text in source.text.strip("{}").split(",")]


def check_move(move: Step, step: Step, lane: Lane) -> None:
    """Raises `NotProved` unless the move gives the bits that the load or store would."""
    base, *types = move.opcode.split(".")
    bits = 8 * lane.access.size
    element = step.facts.types[-1]
    sizes = [*map(_bits, types)]
    if base == "mov":
        fits = sizes[0] >= bits if lane.source and lane.source.names else sizes[0] == bits
        fits &= bool(lane.source and lane.source.names) or not lane.source or types[0] == element
    elif lane.source:
        fits = len(types) == 2 and min(sizes) >= bits and {t[0] for t in types} <= set("su")
    else:
        kind = "s" if element[0] == "s" else "u"
        fits = len(types) == 2 and sizes[0] >= sizes[1] == bits and {t[0] for t in types} == {kind}
    if not fits:
        raise NotProved(move.line, f"`{move.statement}` does not move the bits of `{step.statement}`")


@dataclass(frozen=True, slots=True)
class Cells:
    """`puts` has the steps that move what a kernel stores, with the element: None where that is not one. `registers`
    are the cells. `sources` are filled by `check`: for each move the loads of the fused kernel whose value it may be.
    """

    terms: Terms
    elements: Elements
    puts: Mapping[int, Access | None]
    registers: frozenset[str]
    sources: dict[int, set[int]] = field(default_factory=dict)

    def empty(self) -> dict[str, int]:
        """What holds at the beginning."""
        return {HELD + r: FALSE for r in self.registers} | {AT + r: self.terms.make("nowhere") for r in self.registers}

    def note(self, side: Evaluation, registers: MutableMapping[str, int], step: Step) -> None:
        """What registers hold after a step that writes them, from the registers before."""
        formulas = self.terms.formulas
        for name in self.registers.intersection(step.writes):
            guard = side.guard(registers, step)
            held, at = registers[HELD + name], registers[AT + name]
            if step.number in self.puts or is_plain(step):
                element = self.puts[step.number] if step.number in self.puts else _loaded(side, registers, step, name)
                now = self._at(element, step) if element else None
                if now is not None:
                    held, at = formulas.either(held, guard), self.terms.choice(guard, now, at)
                else:
                    held = formulas.both(held, formulas.negation(guard))
            else:
                held_there, there = self._copied(registers, step, guard)
                held, at = formulas.ite(guard, held_there, held), self.terms.choice(guard, there, at)
            registers[HELD + name], registers[AT + name] = held, at

    def _at(self, element: Access, step: Step) -> int:
        load = -1 if step.number in self.puts else step.number
        return self.terms.make(f"at {element.offset} {element.size} {load}", element.base)

    def _copied(self, registers: Mapping[str, int], step: Step, guard: int) -> tuple[int, int]:
        """Whether the register that a step copies holds an element, and which."""
        cell = self.at(registers, step)
        if cell is None or not is_move(step):
            return FALSE, self.terms.make("nowhere")
        kinds = step.opcode.split(".")[1:]
        bits = min(_bits(kind) for kind in kinds)
        fits = step.facts.base == "mov" or {k[0] for k in kinds} <= set("su")
        fits &= all(size * 8 <= bits for size in self._sizes(cell[1], guard))
        return (cell[0] if fits else FALSE), cell[1]

    def _sizes(self, at: int, given: int) -> Iterator[int]:
        for found, _ in self.terms.outcomes(at, given):
            word, *numbers = self.terms[found].head.split()
            yield int(numbers[1]) if word == "at" else 0

    def at(self, registers: Mapping[str, int], step: Step) -> tuple[int, int] | None:
        """The formula that the register which a step moves holds an element, and which element."""
        name = next(iter(step.sources[0].names), "") if step.sources else ""
        return (registers[HELD + name], registers[AT + name]) if name in self.registers else None

    def check(self, move: Step, moved: Moved) -> None:
        """Raises `NotProved` unless the cell holds the element that is loaded."""
        cell, access, given = moved.cell, moved.access, moved.given
        if cell is None or self.terms.formula_under(cell[0], given) != TRUE:
            raise NotProved(move.line, f"`{move.statement}` moves what may not have been stored or loaded before")
        for found, here in self.terms.outcomes(cell[1], given):
            word, *numbers = self.terms[found].head.split()
            if word != "at":
                raise NotProved(move.line, f"`{move.statement}` moves an element that is not known")
            offset, size, load = map(int, numbers)
            self.sources.setdefault(move.number, set()).add(load)
            held = self.elements.address(Access(self.terms[found].parts[0], offset, size))
            for base, _ in self.terms.outcomes(access.base, here):
                if size != access.size or held != self.elements.address(Access(base, access.offset, size)):
                    raise NotProved(move.line, f"`{move.statement}` moves another element than the kernel loads")


def cells_of(fused: Program, elements: Elements, projections: Sequence[Projection]) -> Cells:
    """The registers that loads are moved out of, and those that are copied there."""
    moves = {n for p in projections for n in p.handed}
    puts: dict[int, Access | None] = {}
    for projection in projections:
        for number in filter(projection.stores, projection.handed):
            found = {elements.address(m.access): m.access for m in projection.replaced.get(number, ())}
            puts[number] = next(iter(found.values())) if len(found) == 1 else None
    cells = {n for m in moves - puts.keys() for n in fused.steps[m].sources[0].names}
    while True:
        writing = [s for s in fused.steps if is_move(s) and s.number not in puts and cells.intersection(s.writes)]
        more = {n for s in writing for n in s.sources[0].names if fused.type_of(n)} - cells
        if not more:
            return Cells(elements.terms, elements, puts, frozenset(cells))
        cells |= more


def _loaded(side: Evaluation, registers: Mapping[str, int], step: Step, name: str) -> Access | None:
    """The element that a load of the fused kernel gives to a register."""
    whole = access_of(side, registers, step)
    if whole is None or not step.facts.loads or step.writes.count(name) != 1:
        return None
    size = whole.size // len(step.writes)
    return Access(whole.base, whole.offset + step.writes.index(name) * size, size)


def _bits(kind: str) -> int:
    """The size of a type by its name."""
    return int(kind[1:]) if kind[1:].isdigit() else 0
