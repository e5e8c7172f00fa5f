"""The part of the fused kernel that threads come to: without the sides of branches that no thread takes.

Requires: the projections have been proved. Each follows all threads, so what one of them does not come to is dead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field

from goptx.proof.code.kernel_code import Program, Step
from goptx.proof.projection import Projection


@dataclass(frozen=True, eq=False)
class _Part(Program):
    """`ways` has for the last step of each block those that may be next, none where no thread comes to it."""

    ways: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    def following(self, step: Step) -> tuple[int, ...]:
        found = self.ways.get(step.number)
        return super().following(step) if found is None else found


def part_of(program: Program, is_taken: Callable[[int, int], bool]) -> Program:
    """The program with the ways only that hold: from a block to the beginning of the next."""
    ways = {}
    for start, block in program.blocks.items():
        last = program.steps[block[-1]]
        ways[last.number] = tuple(t for t in program.following(last) if is_taken(start, t))
    return _Part(
        program.entry, program.steps, program.singles, program.ranges, program.variables, program.pure,
        program.of_warp, ways,
    )  # fmt: skip


def in_reached_code(fused: Program, projections: Mapping[str, Projection]) -> dict[str, Projection]:
    """The projections, of the part of the fused kernel that threads come to."""
    part = part_of(fused, lambda start, t: all(t in p.taken.get(start, ()) for p in projections.values()))
    found = {letter: copy(projection) for letter, projection in projections.items()}
    for projection in found.values():
        projection.fused = part
    return found
