"""one_of: several kernels side by side, of which each thread runs one.

Requires: a gate ahead of each kernel, which lets no thread pass that another's lets in; the last may have none. The
copies of a coarsened kernel are one. Ensures: a thread that a gate lets in runs that kernel, of which there is no copy
beside, and ends with it; one that none lets in ends at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from goptx.analysis.cfg import EXIT, Block, Flow
from goptx.analysis.terminators import Branch, Stop
from goptx.launch.parameter_names import letter_of
from goptx.ptx.ir import Provenance
from goptx.weaving.merging.merge_input import MergeInput, ProductState
from goptx.weaving.shapes.range_guard import GATE


def kernel_dispatch(sides: Sequence[MergeInput]) -> MergeInput:
    """All kernels as one, whose blocks are called by the kernel's letter and a number."""
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
        gate = blocks[names[k][side.flow.entry]]
        if side.flow.entry == GATE and k + 1 < len(sides) and isinstance(gate.end, Branch):
            passed_by = replace(gate.end, taken=names[k + 1][sides[k + 1].flow.entry])
            blocks[names[k][GATE]] = replace(gate, end=passed_by)
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
