"""Whether kernels that hand on data do so as if each had ended before the next one began.

Requires: the projections have been proved, and that each move out of a cell gives the element that was put there last
(handed_on.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from goptx.proof.code.kernel_code import END, NotProved, Program, Step
from goptx.proof.dependent.own_elements import Buffer, Elements, Piece
from goptx.proof.memory_order import Access

if TYPE_CHECKING:
    from goptx.proof.projection import Projection


@dataclass(frozen=True, slots=True)
class Touch:
    """An access of a kernel, at a step of the fused one."""

    kernel: int
    step: Step
    access: Access
    stores: bool

    def __str__(self) -> str:
        return f"`{self.step.statement}`"


@dataclass(frozen=True, slots=True)
class HandedOn:
    """What registers hold of the buffers of kernels. `declared` are the parameters of the fused kernel; buffers of
    others are temporaries. `sources` are the loads whose values moves are."""

    fused: Program
    projections: Sequence[Projection]
    elements: Elements
    declared: Collection[str]
    sources: Mapping[int, set[int]]

    def check(self) -> list[str]:
        """What is presumed. Raises `NotProved`."""
        buffers: dict[Buffer, list[Touch]] = {}
        for touch in self._touches():
            buffer = self.elements.buffer(touch.access)
            if buffer is None or (buffer.name not in self.declared and buffer.offset != "0"):
                raise NotProved(touch.step.line, f"{touch} stands for an access to a buffer that is not known")
            buffers.setdefault(buffer, []).append(touch)
        presumed: list[str] = []
        for buffer, touches in buffers.items():
            if buffer.name in self.declared:
                self._check_input(buffer, touches)
            else:
                presumed += self._check_temporary(touches)
        return presumed

    def _touches(self) -> Iterator[Touch]:
        for k, projection in enumerate(self.projections):
            for number, its in projection.replaced.items():
                for moved in its:
                    yield Touch(k, self.fused.steps[number], moved.access, projection.stores(number))

    def _check_temporary(self, touches: Sequence[Touch]) -> list[str]:
        """That each element is one thread's own, one register's, and that kernels come to it in their order."""
        first = touches[0]
        pieces = [self._piece(touch) for touch in touches]
        registers: dict[tuple[int, int], str] = {}
        for touch, piece in zip(touches, pieces, strict=True):
            register = touch.step.writes[0] if touch.stores else touch.step.sources[0].names[0]
            if not are_one(pieces[0], piece) or registers.setdefault((piece.begin, piece.end), register) != register:
                raise NotProved(touch.step.line, f"{touch} and {first} may stand for accesses to one element")
        places = sorted(registers)
        if any(a[1] > b[0] for a, b in pairwise(places)) or not fit(pieces):
            raise NotProved(first.step.line, f"{first} stands for an access to elements that overlap with others")
        for one, other in combinations(touches, 2):
            self._check_order(one, other, pieces[0])
        return sorted(pieces[0].presumed)

    def _piece(self, touch: Touch) -> Piece:
        piece = self.elements.piece(touch.access)
        if piece is None:
            what = "stands for an access to an element that may not be its thread's own"
            raise NotProved(touch.step.line, f"{touch} {what}")
        return piece

    def _check_order(self, one: Touch, other: Touch, piece: Piece) -> None:
        first, second = sorted((one, other), key=lambda t: t.kernel)
        conflict = first.kernel != second.kernel and (first.stores or second.stores)
        if conflict and first.step.number in after(self.fused, second.step.number, piece.heads):
            raise NotProved(second.step.line, f"{second} may come before {first}, which an earlier kernel has")

    def _check_input(self, buffer: Buffer, touches: Sequence[Touch]) -> None:
        """That nobody writes a buffer of which a load is left out, and another kernel's load gives the value."""
        for projection in self.projections:
            for number, access in projection.accesses.items():
                step = self.fused.steps[number]
                unknown = access is None and step.facts.space != "shared"
                if "s" in step.facts.row.access and (
                    unknown or (access is not None and self.elements.buffer(access) == buffer)
                ):
                    raise NotProved(step.line, f"`{step.statement}` may write what is loaded once")
        for touch in touches:
            own = self.projections[touch.kernel]
            loads = self.sources.get(touch.step.number, {-1})
            if touch.stores or any(n == -1 or n in own.matched for n in loads):
                raise NotProved(touch.step.line, f"{touch} stands for no load that another kernel has made")
            self._check_between(touch, [self.fused.steps[n] for n in loads], own)

    def _check_between(self, touch: Touch, loads: Sequence[Step], own: Projection) -> None:
        """That the kernel learns nothing from outside between the load and its own, in whose place a move may stand
        before what the kernel has before it. Barriers pass on what a thread of the CTA has learnt."""
        steps = [self.fused.steps[n] for n in own.matched]
        asking = [s for s in steps if s.facts.is_strong_read or (s.facts.is_acquire and not s.facts.row.scope)]
        for load in loads:
            for step in (s for s in steps if asking and s.facts.is_acquire):
                later = after(self.fused, step.number, frozenset([load.number]))
                passed = touch.step.number in later or (step.number, touch.step.number) in own.swapped
                if passed and step.number in after(self.fused, load.number):
                    what = f"after which {touch} may have to give something else"
                    raise NotProved(step.line, f"`{step.statement}` may see what others have written, {what}")


def are_one(one: Piece, other: Piece) -> bool:
    """Whether they are the same pieces of the same buffer."""
    return (one.array, one.index, one.heads) == (other.array, other.index, other.heads)


def fit(pieces: Collection[Piece]) -> bool:
    """Whether nothing of a piece lies in the next one."""
    return max(p.end for p in pieces) - min(p.begin for p in pieces) <= min(p.pitch for p in pieces)


@lru_cache(maxsize=1024)
def after(program: Program, step: int, without: frozenset[int] = frozenset()) -> frozenset[int]:
    """The steps to which a thread may come from a step, without passing the steps `without`."""

    def following(number: int) -> tuple[int, ...]:
        return tuple(t for t in program.following(program.steps[number]) if t not in without)

    return frozenset().union(*(program.reached(t, following) for t in following(step) if t != END))
