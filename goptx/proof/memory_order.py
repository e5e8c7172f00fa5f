"""Which two steps of one kernel may change places: simple rules over what they access."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from goptx.proof.evaluation import Evaluation
from goptx.proof.kernel_code import Step


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
    """The bytes that a load or store accesses."""
    digits = "".join(c for c in step.facts.types[-1] if c.isdigit()) if step.facts.types else ""
    lanes = next((int(m[1:]) for m in step.facts.modifiers if m in ("v2", "v4", "v8")), 1)
    pair = 2 if step.facts.types and "x2" in step.facts.types[-1] else 1
    number = step.facts.types[-1].partition("x")[0].lstrip("busfl") if digits else ""
    return int(number) // 8 * lanes * pair if number.isdigit() else 1 << 16


def may_change_places(first: Step, at: Access | None, second: Step, other: Access | None) -> bool:
    """Whether the kernel's second step may be done before its first one."""
    one, two = first.facts, second.facts
    if not any(f.row.access or f.row.scope or f.row.ends or f.row.hint for f in (one, two)):
        return False  # readings of clocks
    if one.controls_grids or two.controls_grids:
        return False
    if one.read_only or two.read_only:
        return True
    if one.is_acquire or two.is_release or (one.is_ordered and two.is_ordered):
        return not (one.row.access or one.row.scope) or not (two.row.access or two.row.scope)
    if not one.row.access or not two.row.access:
        return True
    if "s" not in one.row.access and "s" not in two.row.access:
        return True
    if "f" in (one.row.access, two.row.access):
        return False
    spaces = {one.space, two.space}
    if len(spaces) == 2 and "" not in spaces and len(one.spaces) == len(two.spaces) == 1:
        return True
    if at is None or other is None or at.base != other.base:
        return False
    return at.offset + at.size <= other.offset or other.offset + other.size <= at.offset
