"""Cuts long blocks into slices, so that blocks of both kernels last about equally long (GoPTX, DAC 2025, Equation 1).

Requires: a converged flow. Ensures: the order of instructions is unchanged; no slice lasts longer than
the threshold unless it is a single instruction (or a carry chain, which stays whole), with the terminator of its block
if it is the last one.

Equation 1 is the mean over "all basic blocks". Here the mean is per kernel: each kernel has a threshold of its own,
the latencies of its instructions divided by the number of its blocks. The blocks are those of the kernel's text
(`text_blocks`): the empty entry and exit of a flow, and what goptx adds, do not count. The branch, `ret` or `exit` that
ends a block is an instruction with a latency: it counts in the mean, and in the slice in which it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import ceil

from goptx.analysis.cfg import EXIT, Block, Code, Flow
from goptx.analysis.terminators import Branch, End, Jump, Switch
from goptx.options import Slicing
from goptx.ptx.ir import Instruction
from goptx.weaving.invariants import ensured
from goptx.weaving.merging.merge_input import MergeInput
from goptx.weaving.model import Choices, Linked
from goptx.weaving.schedule.schedule import units

Cycles = Callable[[Code], int]
Pair = tuple[MergeInput, MergeInput]


@dataclass(frozen=True, slots=True)
class SlicingThresholds:
    """How all kernels are sliced. `choice` is "adaptive", a number of cycles, or None; `thresholds` has, for each
    kernel by its number, the most cycles of a slice, None where blocks stay whole."""

    choice: Slicing
    thresholds: tuple[int | None, ...]


def slicings_of(linked: Linked, choices: Choices, alternatives: bool = True) -> list[SlicingThresholds]:
    """The slicings of the kernels; where there are `alternatives`, the merger takes the one whose merge is smallest.

    Where the slices of two loops do not line up, one kernel's loop begins in the middle of the other's. That needs a
    copy of both loops for each of their relative positions, with values that are live across them. So blocks stay whole
    where that is smaller. Published policies slice as requested.
    """
    tried = [choices.slicing]
    if alternatives and choices.policy == "latency" and choices.slicing == "adaptive":
        tried.append(None)
    texts = [kernel.text_blocks() for kernel in linked.kernels] if "adaptive" in tried else [[] for _ in linked.kernels]
    return [
        SlicingThresholds(choice, tuple(threshold(choice, text, choices.cycles) for text in texts)) for choice in tried
    ]


def slice(pair: Pair, slicing: SlicingThresholds) -> Pair:
    """Both kernels in slices; merged kernels are sliced already."""
    first, second = pair
    return ensured("slice", (_sliced(first, slicing), _sliced(second, slicing)), pair, slicing)


def _sliced(side: MergeInput, slicing: SlicingThresholds) -> MergeInput:
    flow = side.flow
    if side.states is None:
        flow = slice_flow(flow, slicing.thresholds[side.kernels[0]], side.cycles)
    return replace(side, flow=flow, slicing=slicing.choice)


def threshold(slicing: Slicing, text: Sequence[Sequence[Code]], cycles: Cycles) -> int | None:
    """The most cycles of a slice. `text` has the blocks of the kernel's text, which "adaptive" depends on."""
    if slicing == "adaptive":
        return adaptive_threshold(text, cycles)
    return None if slicing is None else int(slicing)


def adaptive_threshold(text: Sequence[Sequence[Code]], cycles: Cycles) -> int:
    """Equation 1 of the GoPTX paper: the mean block latency in cycles, of all blocks of a kernel's text."""
    return ceil(sum(cycles(code) for block in text for code in block) / max(len(text), 1))


def blocks_with_ends(flow: Flow) -> list[tuple[Code, ...]]:
    """The blocks of a flow that hold an instruction, each with its terminator: the text that the flow stands for."""
    found = [(*block.code, *terminator(block.end)) for block in flow.blocks.values()]
    return [code for code in found if code]


def terminator(end: End) -> tuple[Instruction, ...]:
    """The instruction that ends a block; none where control may fall through."""
    match end:
        case Switch():
            return (Instruction("brx.idx"),)
        case Jump(target) | Branch(_, target) if target == EXIT:
            return (Instruction("ret"),)
        case Branch():
            return (Instruction("bra"),)
    return ()


def cuts(latencies: Sequence[int], threshold: int) -> list[int]:
    """Where new slices begin: before an instruction, not the first, that raises the sum above the threshold."""
    starts: list[int] = []
    total = 0
    for i, latency in enumerate(latencies):
        if total and total + latency > threshold:
            starts.append(i)
            total = 0
        total += latency
    return starts


def slice_flow(flow: Flow, threshold: int | None, cycles: Cycles) -> Flow:
    """The flow in slices of at most `threshold` cycles; None leaves it as it is."""
    if threshold is None:
        return flow

    def starts(block: Block) -> list[int]:
        grouped = units(block.code)
        if not grouped:
            return []
        positions = list(accumulate(map(len, grouped), initial=0))
        # The terminator stays with the last instruction.
        whole = [*grouped[:-1], (*grouped[-1], *terminator(block.end))]
        return [positions[i] for i in cuts([sum(map(cycles, unit)) for unit in whole], threshold)]

    return flow.cut_blocks(starts, "slice")
