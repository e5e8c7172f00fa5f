"""Merges the copies of a coarsened kernel, ahead of all other merging.

Requires: the copies' flows, without gates of their own. Ensures: what ends all copies at once is asked once; so is what
ends all but the last, which are merged with each other before: nothing stands twice but that last one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from goptx.analysis.cfg import EXIT, Block, Flow
from goptx.analysis.terminators import Branch
from goptx.ptx.ir import Guard, Name
from goptx.weaving.merging.lockstep import in_step
from goptx.weaving.merging.merge_input import MergeInput
from goptx.weaving.model import CopyPredicates
from goptx.weaving.shapes.range_guard import GATE

if TYPE_CHECKING:
    from goptx.weaving.model import Kernel

Join = Callable[[Sequence[MergeInput]], MergeInput]


def copies_joined(
    kernels: Sequence[Kernel], sides: Sequence[MergeInput], together: Mapping[str, CopyPredicates], join: Join
) -> list[MergeInput]:
    """One side for each kernel, of those of its copies, which `kernels` are; `join` merges several."""
    joined = []
    for letter in dict.fromkeys(k.letter for k in kernels):
        own = [k for k in kernels if k.letter == letter]
        copies = [replace(s, copy=True) for k, s in zip(kernels, sides, strict=True) if k.letter == letter]
        copies = in_step(copies, [k.quote for k in own])
        if letter in together and together[letter].left_over:
            copies = [_passed_by(_one(copies[:-1], join), together[letter].left_over), copies[-1]]
        whole = replace(_one(copies, join), copy=False, in_step=False)
        if letter in together:
            whole = _passed_by(_passed_by(whole, together[letter].beyond, "beyond"), together[letter].ended)
        joined.append(whole)
    return joined


def _one(sides: Sequence[MergeInput], join: Join) -> MergeInput:
    return join(sides) if len(sides) > 1 else sides[0]


def _passed_by(side: MergeInput, ended: str | None, name: str = GATE) -> MergeInput:
    """With a gate ahead of it, at which some threads end it."""
    if ended is None:
        return side
    end = Branch(Guard(Name(ended)), EXIT, side.flow.entry, uniform=True)
    return replace(side, flow=Flow(name, {name: Block((), end), **side.flow.blocks}))
