"""Where lanes are in a kernel: cases, the events that they must have, and states at the beginning of a block."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from goptx.proof.code.kernel_code import Step
from goptx.proof.memory_order import Access

Lanes = tuple[int, dict[str, int], frozenset[int]]  # where a lane is, the kernel's registers, and `Case.moved`
Cases = Mapping[int, Lanes]


@dataclass(slots=True)
class Case:
    """Lanes at one place of the kernel: where the formula `given` holds. `done` are the steps of the fused kernel's
    block that the kernel has had, `order` the events among them as the kernel had them. `moved` are the loops of the
    fused kernel since whose beginning the kernel has gone on. `taken` is the kernel's last branch with a guard in this
    block, and whether it was taken, if no barrier of the CTA came after it. `met` are the events of several threads
    that all of these lanes have had: `done` and `order` also have those of some."""

    place: int
    given: int
    registers: dict[str, int]
    moved: frozenset[int] = frozenset()
    done: frozenset[int] = frozenset()
    order: tuple[int, ...] = ()
    taken: tuple[int, int] | None = None
    met: frozenset[int] = frozenset()

    def at(self, place: int, given: int) -> Case:
        """A copy there."""
        return replace(self, place=place, given=given, registers=dict(self.registers))


@dataclass(frozen=True, slots=True)
class Event:
    """A step of the fused kernel that the kernel has to do as well, where `guard` holds; if a vote gave that to the
    whole warp, because `asked` holds for some lane."""

    step: Step
    guard: int
    operands: tuple[int, ...]
    results: tuple[int, ...]
    access: Access | None
    cell: tuple[int, int] | None = None  # the formula that the register read holds an element, and which
    asked: int | None = None


@dataclass(slots=True)
class State:
    """Before a block of the fused kernel: the values of its registers, and by the kernel's places the formula that a
    lane is there, with the kernel's registers."""

    registers: dict[str, int]
    cases: Cases
