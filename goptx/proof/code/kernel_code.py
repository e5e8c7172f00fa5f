"""A kernel's code as steps in the order of the text, with its blocks: what the checker reads of PTX, and all it reads.

Requires: a parsed entry. Ensures: each instruction is one step, each step belongs to one block, and a block is left by
its last step only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from goptx.proof.code.called_functions import DIRECT
from goptx.ptx.ir import (
    Function,
    Instruction,
    Scope,
    Variable,
)
from goptx.ptx.opcodes import Facts

END = -1  # where a kernel has ended
NOWHERE = "_"  # the destination that PTX throws away


class NotProved(Exception):
    """What could not be proved, at a line of the fused kernel, or of a kernel whose code is not known."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line


@dataclass(frozen=True, slots=True)
class Source:
    """An operand that is read: its text with a `{}` for each name. Of an address, `offset` is separate."""

    text: str
    names: tuple[str, ...] = ()
    negated: bool = False
    offset: int | None = None  # bytes, of an address


@dataclass(frozen=True, slots=True)
class Step:
    """`writes` are registers in the order of the destinations. `targets` are where a branch leads, by step."""

    number: int
    line: int
    opcode: str
    facts: Facts
    guard: str
    negated: bool
    writes: tuple[str, ...]
    sources: tuple[Source, ...]
    targets: tuple[int, ...] = ()
    statement: Instruction | Scope | None = field(default=None, compare=False)

    @property
    def is_branch(self) -> bool:
        return self.facts.row.ends in ("branch", "exit")

    @property
    def keeps(self) -> bool:
        """Whether registers keep what they hold where its guard skips it: what a call gives by a parameter is read
        after it in any case."""
        return not self.facts.calls or self.sources[1].text.startswith(DIRECT)


_CHANGING = re.compile(r"%(clock|clock_hi|clock64|globaltimer|globaltimer_lo|globaltimer_hi|smid|warpid|pm\d+(_64)?)")


@dataclass(frozen=True, slots=True)
class OfWarp:
    """The steps that give all threads of a warp the same value; of these, a multiple of 32; and those that give each
    thread the number of its lane and such a multiple, modulo 2 to the bits of the register."""

    uniform: set[int] = field(default_factory=set)
    multiples: set[int] = field(default_factory=set)
    lanes: set[int] = field(default_factory=set)


@dataclass(frozen=True, eq=False)
class Program:
    """`singles` has the type of each register that is declared one by one, `ranges` those of `%r<9>`; `variables` are
    those of the body; `pure` are functions that only compute. `of_warp` is filled when that is found out."""

    entry: Function
    steps: tuple[Step, ...]
    singles: dict[str, str]
    ranges: tuple[tuple[str, int, str], ...]
    variables: tuple[Variable, ...] = ()
    pure: frozenset[str] = frozenset()
    of_warp: OfWarp = field(default_factory=OfWarp)

    def type_of(self, register: str) -> str | None:
        """The type of a register, None for what is not one."""
        found = self._types.get(register)
        if found is None:
            found = self._types[register] = self._declared_type(register)
        return found or None

    def _declared_type(self, register: str) -> str:
        if register.startswith((ASKED, VOTED, REDUCED, HELD)):
            return ".pred"
        stem = register.rstrip("0123456789")
        digits = register[len(stem) :]
        for cut in range(len(digits)):
            own = self._by_stem.get(stem + digits[:cut])
            if own and int(digits[cut:]) < own[0]:
                return own[1]
        return ""

    @cached_property
    def _types(self) -> dict[str, str]:
        return dict(self.singles)

    @cached_property
    def _by_stem(self) -> dict[str, tuple[int, str]]:
        return {stem: (count, type) for stem, count, type in self.ranges}

    def is_effect(self, step: Step) -> bool:
        """Whether a step does more than to compute a value from registers: it must be done as often as the kernel does
        it, and in an order that nobody can tell from the kernel's own."""
        found = self._effects.get(step.number)
        if found is None:
            found = self._effects[step.number] = self._has_effect(step)
        return found

    @cached_property
    def _effects(self) -> dict[int, bool]:
        return {}

    def _has_effect(self, step: Step) -> bool:
        row, facts = step.facts.row, step.facts
        if facts.calls:
            return step.sources[0].names[0] not in self.pure
        if row.ends == "trap" or not facts.known or row.scope or row.blocking or row.releases or row.acquires:
            return True
        if row.access or row.hint:
            return not self.is_parameter(step)
        return any(_CHANGING.fullmatch(name) for s in step.sources for name in s.names)

    def is_parameter(self, step: Step) -> bool:
        """Whether it loads a parameter by name at a constant offset: that cannot fault, whoever does it."""
        if step.facts.base not in ("ld", "ldu") or step.facts.space != "param":
            return False
        address = step.sources[0]
        return address.offset is not None and address.names[0] in self._parameters

    @cached_property
    def _parameters(self) -> frozenset[str]:
        return frozenset(p.name for p in self.entry.parameters)

    def is_predicate(self, register: str) -> bool:
        return self.type_of(register) == ".pred"

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first steps of the blocks."""
        found = {0}
        for step in self.steps:
            found.update(t for t in step.targets if t != END)
            if step.is_branch and step.number + 1 < len(self.steps):
                found.add(step.number + 1)
        return tuple(sorted(found))

    @cached_property
    def blocks(self) -> dict[int, range]:
        return {a: range(a, b) for a, b in zip(self.starts, [*self.starts[1:], len(self.steps)], strict=True)}

    @cached_property
    def block_of(self) -> dict[int, int]:
        return {n: start for start, block in self.blocks.items() for n in block}

    def successors(self, start: int) -> tuple[int, ...]:
        """The blocks that follow a block; `END` where the kernel ends."""
        return self.following(self.steps[self.blocks[start][-1]])

    def following(self, step: Step) -> tuple[int, ...]:
        """The steps that may be next."""
        after = step.number + 1 if step.number + 1 < len(self.steps) else END
        if step.facts.row.ends == "exit":
            return (END, after) if step.guard else (END,)
        if step.facts.row.ends == "branch":
            return tuple(dict.fromkeys((*step.targets, after) if step.guard else step.targets))
        return (after,)

    @cached_property
    def predecessors(self) -> dict[int, tuple[int, ...]]:
        found: dict[int, list[int]] = {start: [] for start in self.starts}
        for start in self.starts:
            for target in self.successors(start):
                if target != END:
                    found[target].append(start)
        return {start: tuple(its) for start, its in found.items()}

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The blocks that can be reached, in reverse postorder."""
        return self._walked[0]

    @cached_property
    def loop_heads(self) -> frozenset[int]:
        """The blocks by one of which every cycle passes."""
        return frozenset(head for _, head in self.back_edges)

    @cached_property
    def back_edges(self) -> frozenset[tuple[int, int]]:
        """Edges of which every cycle has one: from a block to one on the way to it."""
        return self._walked[1]

    def natural_loop(self, edge: tuple[int, int]) -> frozenset[int]:
        """The blocks from the target of a back edge to its source."""
        source, head = edge
        return self.reached(source, lambda b: () if b == head else self.predecessors[b]) | {head}

    @cached_property
    def _walked(self) -> tuple[tuple[int, ...], frozenset[tuple[int, int]]]:
        done, back, active = list[int](), set[tuple[int, int]](), {0}
        seen = {0}
        stack = [(0, iter(self.successors(0)))]
        while stack:
            start, following = stack[-1]
            target = next((t for t in following if t != END), None)
            if target is None:
                stack.pop()
                active.discard(start)
                done.append(start)
            elif target in active:
                back.add((start, target))
            elif target not in seen:
                seen.add(target)
                active.add(target)
                stack.append((target, iter(self.successors(target))))
        return tuple(reversed(done)), frozenset(back)

    @cached_property
    def loops(self) -> dict[int, frozenset[int]]:
        """For each loop head the blocks from which it is reached again."""
        return {head: self.reached(head, self.successors) & self.reached(head, self.predecessors.__getitem__)
                for head in self.loop_heads}  # fmt: skip

    @cached_property
    def meeting_points(self) -> dict[int, int]:
        """For each block the nearest one that every path from it to the end passes; `END` if there is none before."""
        return nearest_of_all(self.order, self.successors)

    def dominates(self, first: int, second: int) -> bool:
        """Whether every way from the beginning to the second block passes the first one."""
        return second not in self.reached(0, lambda b: () if b == first else self.successors(b)) - {first}

    def side(self, branch: int, target: int) -> frozenset[int]:
        """The blocks that lanes pass which take one side of a branch, until the sides have met."""
        meeting = self.meeting_points[branch]
        if target in (END, meeting):
            return frozenset()
        return self.reached(target, lambda b: (t for t in self.successors(b) if t != meeting))

    def region(self, branch: int) -> frozenset[int]:
        """The blocks on the sides of a branch."""
        return frozenset().union(*(self.side(branch, t) for t in self.successors(branch)))

    def reached(self, start: int, following: Callable[[int], Iterable[int]]) -> frozenset[int]:
        """The block, and those that come after it, where `following` gives the next ones."""
        seen, waiting = {start}, [start]
        while waiting:
            more = [t for t in following(waiting.pop()) if t != END and t not in seen]
            seen.update(more)
            waiting += more
        return frozenset(seen)

    def comes_to(self, first: int, ends: Collection[int], stops: Collection[int]) -> bool:
        """Whether, from a step on, one of these steps may be executed before any of the others is."""
        seen, waiting = set[int](), [first]
        while waiting:
            first = waiting.pop()
            if first == END or first in seen:
                continue
            seen.add(first)
            for number in range(first, self.blocks[self.block_of[first]].stop):
                if number in ends:
                    return True
                if number in stops:
                    break
            else:
                waiting += self.successors(self.block_of[first])
        return False

    @cached_property
    def live(self) -> tuple[frozenset[str], ...]:
        """For each step the registers that it or a later one may read before they are written."""
        live_in: dict[int, frozenset[str]] = dict.fromkeys(self.starts, frozenset())
        found: list[frozenset[str]] = [frozenset()] * len(self.steps)
        waiting = list(self.starts)
        queued = set(waiting)
        while waiting:
            start = waiting.pop()
            queued.discard(start)
            now = frozenset().union(*(live_in[t] for t in self.successors(start) if t != END))
            for number in reversed(self.blocks[start]):
                step = self.steps[number]
                if not step.guard and not step.facts.row.updates:
                    now = now.difference(step.writes)
                now = now | self.reads(step)
                found[number] = now
            if now != live_in[start]:
                live_in[start] = now
                more = [p for p in self.predecessors[start] if p not in queued]
                waiting += more
                queued.update(more)
        return tuple(found)

    def reads(self, step: Step) -> frozenset[str]:
        """The registers that a step reads."""
        names = {n for s in step.sources for n in s.names if self.type_of(n) is not None}
        if step.guard:
            names.add(step.guard)
        if step.facts.row.updates:
            names.update(step.writes)
        if step.facts.uses_carry:
            names.add(CARRY)
        return frozenset(names)


def nearest_of_all(order: Sequence[int], following: Callable[[int], Sequence[int]]) -> dict[int, int]:
    """For each block the nearest one that every path from it to the end passes, where `following` gives the next ones;
    `END` if there is none before."""
    above: dict[int, frozenset[int] | None] = dict.fromkeys(order)
    changed = True
    while changed:
        changed = False
        for start in reversed(order):
            ends = following(start)
            sets = [its | {t} for t in ends if t != END and (its := above[t]) is not None]
            if END in ends or not ends:
                found = frozenset[int]()
            elif not sets:
                continue
            else:
                found = frozenset.intersection(*sets)
            if above[start] != found:
                above[start], changed = found, True
    nearest = {}
    for start in order:
        later = above[start] or frozenset()
        nearest[start] = max(later, key=lambda b: len(above[b] or ()), default=END)
    return nearest


CARRY = "%%carry"  # the carry flag as a register
HELD, AT = "%%held ", "%%at "  # whether a register holds an element of memory, and which
# The names of predicates that only the checker has begin with these: whether a lane asked for the way that its warp, or
# its CTA, went from a block, and whether it asked for what a vote gave to the whole warp, or a barrier to the CTA.
ASKED, OF_CTA, VOTED, REDUCED = "%%asked ", "CTA ", "%%voted ", "%%reduced "
