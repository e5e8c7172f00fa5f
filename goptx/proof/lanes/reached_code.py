"""The part of the fused kernel that threads come to: without the sides of branches that no thread takes.

Requires: the projections have been proved. Each follows all threads, so what one of them does not come to is dead.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field

from goptx.proof.kernel_code import Program, Step
from goptx.proof.projection import Projection


@dataclass(frozen=True, eq=False)
class _Reached(Program):
    """`ways` has for each branch the steps that may be next, none where no thread comes to it."""

    ways: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    def following(self, step: Step) -> tuple[int, ...]:
        found = self.ways.get(step.number)
        return super().following(step) if found is None else found


def in_reached_code(fused: Program, projections: Mapping[str, Projection]) -> dict[str, Projection]:
    """The projections, of the part of the fused kernel that threads come to."""
    ways = {}
    for start, block in fused.blocks.items():
        last = fused.steps[block[-1]]
        taken = [p.taken.get(start, frozenset()) for p in projections.values()]
        ways[last.number] = tuple(t for t in fused.following(last) if all(t in its for its in taken))
    part = _Reached(
        fused.entry, fused.steps, fused.singles, fused.ranges, fused.variables, fused.pure, fused.uniform, ways
    )  # fmt: skip
    return {letter: _of(part, projection) for letter, projection in projections.items()}


def _of(part: Program, projection: Projection) -> Projection:
    found = copy(projection)
    found.fused = part
    return found
