"""Kernel dispatch: several kernels side by side, of which each thread runs one.

Requires: a range guard before each kernel; no thread passes two of them; the last kernel may have no guard. The copies
of a coarsened kernel are one kernel. Ensures: a thread that passes a guard runs that kernel, whose code stands once,
and ends with it; a thread that passes no guard ends at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from goptx.analysis.cfg import EXIT, Block, Flow
from goptx.analysis.terminators import Branch, Stop
from goptx.launch.parameter_names import letter_of
from goptx.ptx.ir import Provenance
from goptx.weaving.folding.helping import Helping
from goptx.weaving.merging.merge_input import MergeInput, ProductState
from goptx.weaving.shapes.range_guard import RANGE_GUARD


def kernel_dispatch(sides: Sequence[MergeInput], helping: Helping | None = None) -> MergeInput:
    """All kernels as one, whose blocks are called by the kernel's letter and a number; `helping` is how teams of one
    get to another."""
    names = [
        {n: f"${letter_of(k)}{i}" for i, n in enumerate(n for n in side.flow.blocks if n != EXIT)}
        for k, side in enumerate(sides)
    ]
    blocks: dict[str, Block] = {}
    states: dict[str, ProductState] = {}
    for k, side in enumerate(sides):
        for old, new in names[k].items():
            block = side.flow.blocks[old]
            blocks[new] = replace(block, end=block.end.retarget(names[k]))
            states[new] = side.state(old)
        range_guard = blocks[names[k][side.flow.entry]]
        if side.flow.entry == RANGE_GUARD and k + 1 < len(sides) and isinstance(range_guard.end, Branch):
            passed_by = replace(range_guard.end, taken=names[k + 1][sides[k + 1].flow.entry])
            blocks[names[k][RANGE_GUARD]] = replace(range_guard, end=passed_by)
    blocks = helping.linked(blocks, names) if helping else blocks
    return MergeInput(
        Flow(names[0][sides[0].flow.entry], {**blocks, EXIT: Block((), Stop())}),
        warp_branches=frozenset(),
        lanes_wait_separately=False,
        merged=True,
        kernels=tuple(k for side in sides for k in side.kernels),
        cycles=sides[0].cycles,
        states=states,
        slicing=max(sides, key=lambda side: len(side.kernels)).slicing,
        notes=tuple(note for side in sides for note in side.notes),
        placed=frozenset[Provenance]().union(*(side.placed for side in sides)),
    )
