"""Cuts long blocks into slices, so that blocks of both kernels last about equally long (M4).

Requires: a converged flow. Ensures: the order of instructions is unchanged; no slice lasts longer than
the threshold unless it is a single instruction (or a carry chain, which stays whole).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil

from goptx.analysis.cfg import Code, Flow, Jump
from goptx.weaving.schedule import units


def adaptive_threshold(blocks: Sequence[Sequence[int]]) -> int:
    """Equation 1 of the GoPTX paper: the mean block latency in cycles, from the latencies of each block."""
    return ceil(sum(map(sum, blocks)) / max(len(blocks), 1))


def cuts(latencies: Sequence[int], threshold: int) -> list[int]:
    """Where new slices begin: before an instruction, not the first, that takes the sum above the threshold."""
    starts: list[int] = []
    total = 0
    for i, latency in enumerate(latencies):
        if total and total + latency > threshold:
            starts.append(i)
            total = 0
        total += latency
    return starts


def threshold_of(original: Flow, slicing: str | int | None, cycles: Callable[[Code], int]) -> int | None:
    """Cycles that a slice may last: `slicing` is "adaptive" (from the blocks of the kernel as it was written),
    a number of cycles, or None for no slicing."""
    if slicing != "adaptive":
        return None if slicing is None else int(slicing)
    return adaptive_threshold([[cycles(c) for c in block.code] for block in original.blocks.values()])


def slice_flow(flow: Flow, threshold: int | None, cycles: Callable[[Code], int]) -> Flow:
    """The flow with no block longer than `threshold` cycles; None leaves it as it is."""
    if threshold is None:
        return flow
    blocks = {}
    for name, block in flow.blocks.items():
        grouped = units(block.code)
        starts = cuts([sum(map(cycles, unit)) for unit in grouped], threshold)
        names = [name, *(f"{name}.slice{k + 1}" for k in range(len(starts)))]
        bounds = [0, *starts, len(grouped)]
        for k, piece in enumerate(names):
            last = k == len(starts)
            code = tuple(c for unit in grouped[bounds[k] : bounds[k + 1]] for c in unit)
            end = block.end if last else Jump(names[k + 1])
            blocks[piece] = replace(block, code=code, end=end, pragmas=() if k else block.pragmas)
    return Flow(flow.entry, blocks)
