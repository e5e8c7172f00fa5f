"""Which two steps of one kernel may change places: simple rules over what they access."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from goptx.proof.code.kernel_code import Step
from goptx.proof.evaluation import Evaluation

EVERYTHING = 1 << 64  # bytes
_ONE_MEMORY = (  # state spaces that may have bytes in common: a texture is of global memory, or of a surface's
    frozenset(("texture", "global")),
    frozenset(("texture", "surface")),
)


@dataclass(frozen=True, slots=True)
class Access:
    """Where a step accesses memory: the term of the base, the offset from it and the size in bytes."""

    base: int
    offset: int
    size: int


def access_of(side: Evaluation, registers: Mapping[str, int], step: Step) -> Access | None:
    """Where a step accesses memory, None if that is not one address."""
    found = [s for s in step.sources if s.offset is not None]
    if len(found) != 1 or found[0].offset is None:
        return None
    return Access(side.source(registers, found[0]), found[0].offset, size_of(step))


def size_of(step: Step) -> int:
    """The bytes that a load or store accesses; of what may access any number of them, more than there are."""
    if not step.facts.accesses_element or not step.facts.types:
        return EVERYTHING
    lanes = next((int(m[1:]) for m in step.facts.modifiers if m in ("v2", "v4", "v8")), 1)
    pair = 2 if "x2" in step.facts.types[-1] else 1
    number = step.facts.types[-1].partition("x")[0].lstrip("busfl")
    return int(number) // 8 * lanes * pair if number.isdigit() else EVERYTHING


def may_change_places(first: Step, at: Access | None, second: Step, other: Access | None) -> bool:
    """Whether the kernel's second step may be done before its first one."""
    one, two = first.facts, second.facts
    if not any(f.row.access or f.row.scope or f.row.ends or f.row.hint for f in (one, two)):
        return False  # readings of clocks
    if one.controls_grids or two.controls_grids:
        return False
    if any(f.read_only or (f.base == "ld" and f.space == "param") for f in (one, two)):  # which nobody writes
        return True
    if one.is_acquire or two.is_release or (one.is_ordered and two.is_ordered):
        return not (one.row.access or one.row.scope) or not (two.row.access or two.row.scope)
    if not one.row.access or not two.row.access:
        return True
    if "s" not in one.row.access and "s" not in two.row.access:
        return True
    if "f" in (one.row.access, two.row.access):
        return False
    if len(one.spaces) == len(two.spaces) == 1 and _are_separate(one.space, two.space):
        return True
    if at is None or other is None or at.base != other.base or one.spaces != two.spaces:
        return False
    return at.offset + at.size <= other.offset or other.offset + other.size <= at.offset


def _are_separate(first: str, second: str) -> bool:
    """Whether two state spaces have no byte in common; a generic address may be in any."""
    return first != second and "" not in (first, second) and {first, second} not in _ONE_MEMORY
