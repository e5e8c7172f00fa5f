"""Whether kernels that depend on each other through memory come to what both access in their order.

Two kernels conflict where both may access a buffer and one of them writes it. Then the element belongs to one thread,
which comes to it in the order of the kernels; or to one CTA, and a barrier stands between.

Requires: the projections have been proved, and the order of waiting.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

from goptx.proof.code.kernel_code import END, NotProved, Program, Step
from goptx.proof.dependent.kernel_order import Touch, after, are_one, fit
from goptx.proof.dependent.own_elements import Buffer, Elements
from goptx.proof.sync.waits import is_barrier, is_plain
from goptx.ptx.opcodes import Scope

if TYPE_CHECKING:
    from goptx.proof.projection import Projection

OTHER_SPACES = ("shared", "local", "param", "const")  # in which kernels have nothing in common, or write nothing


@dataclass(frozen=True)
class Conflicts:
    """`named` are the parameters that are no other buffer than those of their name, `structures` those of which that
    says nothing."""

    fused: Program
    projections: Sequence[Projection]
    elements: Elements
    named: Collection[str]
    structures: Collection[str]

    def check(self) -> list[str]:
        """What is presumed. Raises `NotProved`."""
        presumed: set[str] = set()
        every = [list(self._touches(k)) for k in range(len(self.projections))]
        for earlier, later in combinations(every, 2):
            for first in earlier:
                for second in later:
                    if (first.stores or second.stores) and self._may_be_one(first, second):
                        presumed |= self._ordered(first, second)
        return sorted(presumed)

    def _touches(self, kernel: int) -> Iterator[Touch]:
        projection = self.projections[kernel]
        for number, access in projection.accesses.items():
            step = self.fused.steps[number]
            spaces = {s.removesuffix("::cta").removesuffix("::cluster") for s in step.facts.spaces}
            elsewhere = spaces and spaces <= {*OTHER_SPACES} and step.facts.known
            if number not in projection.matched or step.facts.row.access in ("", "f") or elsewhere:
                continue
            if access is None or self.elements.buffer(access) is None:
                raise NotProved(step.line, f"`{step.statement}` accesses memory that is not known")
            yield Touch(kernel, step, access, "s" in step.facts.row.access)

    def _may_be_one(self, first: Touch, second: Touch) -> bool:
        buffers = {self._buffer(first), self._buffer(second)}
        return len(buffers) == 1 or not (self._is_variable(buffers) or any(map(self._is_alone, buffers)))

    def _buffer(self, touch: Touch) -> Buffer:
        found = self.elements.buffer(touch.access)
        assert found
        return found

    def _is_variable(self, buffers: Collection[Buffer]) -> bool:
        return all(not b.offset for b in buffers)

    def _is_alone(self, buffer: Buffer) -> bool:
        return bool(buffer.offset) and buffer.name in self.named and buffer.name not in self.structures

    def _ordered(self, first: Touch, second: Touch) -> frozenset[str]:
        """What is presumed of two accesses that may be of one element."""
        if first.step.facts.uses_read_only_path or second.step.facts.uses_read_only_path:
            raise NotProved(second.step.line, f"{first} and {second} may access one element, one as if nobody wrote it")
        for touch in (first, second):
            if not (touch.step.facts.is_weak or touch.step.facts.volatile) or "async" in touch.step.opcode:
                raise NotProved(touch.step.line, f"{touch} may not be done when the next instruction begins")
        one, other = (self.elements.piece(t.access) for t in (first, second))
        if one and other and fit((one, other)):
            alike = are_one(one, other)
            heads = one.heads if alike else frozenset[int]()
            mine = alike or (one.array, one.start) == (other.array, other.start)
            if mine and first.step.number not in after(self.fused, second.step.number, heads):
                return one.presumed | other.presumed
        parts = [self.elements.of_cta(t.access) for t in (first, second)]
        if parts[0] and parts[1] and parts[0][0] == parts[1][0] and self._is_between(first.step, second.step):
            return parts[0][1] | parts[1][1]
        what = "may access one element, and are not proved to come to it in the order of the kernels"
        raise NotProved(second.step.line, f"{first} in line {first.step.line} and {second} {what}")

    @cached_property
    def _barriers(self) -> list[frozenset[int]]:
        """The barriers that all threads of the CTA wait at once, by what they are: each stands for all its copies."""
        found: dict[object, set[int]] = {}
        for step in self.fused.steps:
            if is_barrier(step) and step.facts.row.scope == Scope.CTA:
                users = tuple(k for k, p in enumerate(self.projections) if step.number in p.matched)
                plain = is_plain(step) and not step.guard and step.sources[0].text.isdigit()
                found.setdefault((step.sources[0].text, users), set()).add(step.number if plain else END)
        return [frozenset(its) for its in found.values() if END not in its]

    def _is_between(self, first: Step, second: Step) -> bool:
        """Whether a barrier that a thread comes to once separates all that threads do at two steps."""
        for barrier in self._barriers:
            later = frozenset().union(*(after(self.fused, b) for b in barrier))
            unpassed = {0, *after(self.fused, 0, barrier)} - barrier
            ends = {first.number, *after(self.fused, first.number, barrier)}
            if (
                later.isdisjoint((first.number, *barrier))
                and second.number not in unpassed
                and not any(END in self.fused.following(self.fused.steps[n]) for n in ends)
            ):
                return True
        return False
