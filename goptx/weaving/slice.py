"""Cuts long blocks into slices, so that blocks of both kernels last about equally long (M4).

Requires: a converged flow. Ensures: the order of instructions is unchanged; no slice lasts longer than
the threshold unless it is a single instruction (or a carry chain, which stays whole).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from math import ceil

from goptx.analysis.cfg import Code, Flow
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


def slice_flow(flow: Flow, original: Flow, slicing: str | int | None, cycles: Callable[[Code], int]) -> Flow:
    """The flow with no block longer than `slicing`: a number of cycles, "adaptive" (the mean block latency of
    the kernel as it was written, `original`), or None, which leaves the flow as it is."""
    if slicing is None:
        return flow
    if slicing == "adaptive":
        threshold = adaptive_threshold([[cycles(c) for c in block.code] for block in original.blocks.values()])
    else:
        threshold = int(slicing)

    def starts(code: Sequence[Code]) -> list[int]:
        grouped = units(code)
        positions = list(accumulate(map(len, grouped), initial=0))
        return [positions[i] for i in cuts([sum(map(cycles, unit)) for unit in grouped], threshold)]

    return flow.cut(starts, "slice")
