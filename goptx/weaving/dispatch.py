"""Kernels side by side: each thread runs one of them. Both horizontal and interleave do this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from goptx.analysis.cfg import Flow
from goptx.analysis.sync.barrier_uniformity import is_barrier_uniform
from goptx.latency.table import LatencyTable, load_table
from goptx.results.fused_kernel import Woven
from goptx.sources.kernel_text import Chosen
from goptx.weaving.converge.converge import converge_kernel
from goptx.weaving.converge.split_loops import split, split_as_it_is
from goptx.weaving.emit.emit import emit
from goptx.weaving.emit.reconverge import reconverge
from goptx.weaving.folding.sm_binding import bound_to_sms
from goptx.weaving.folding.virtual_ctas import all_end_together, in_loops
from goptx.weaving.merging.copies import merge_copies
from goptx.weaving.merging.merge_input import merge_inputs
from goptx.weaving.merging.merged_blocks import merged_blocks
from goptx.weaving.merging.size_limits import MergeLimits
from goptx.weaving.merging.slice import slicings_of
from goptx.weaving.model import Choices, Converged, Kernel, Linked
from goptx.weaving.schedule.schedule import schedule
from goptx.weaving.shapes.kernel_dispatch import kernel_dispatch


def choices_of(linked: Linked, latency: str | Path | LatencyTable | None, presume: bool = True) -> Choices:
    """Nothing but copies of kernels is woven."""
    table = load_table(latency, linked.target[0])
    copies = len(linked.kernels) > len(linked.given)
    return Choices("latency", "adaptive", table, presume) if copies else Choices("concat", None, table, presume)


def split_loops_of_each(linked: Linked, converged: Sequence[Converged]) -> list[Converged]:
    """Copies of a kernel are merged with each other, so their loops get one way in; others are left as they are where
    that would change what lanes do together."""
    limits = MergeLimits(linked).all
    return [
        split(made, limits, k.at(k.entry.line)) if linked.is_copy(k) else split_as_it_is(made, limits)
        for k, made in zip(linked.kernels, converged, strict=True)
    ]


def ending_together(linked: Linked, kernel: Kernel, choices: Choices) -> Converged:
    """Of folded grids: the kernel unchanged if nothing in it waits for threads that have ended. Else these live on,
    because between two CTAs they are waited for."""
    if is_barrier_uniform(kernel.flow) and all_end_together(kernel.flow):
        return Converged(kernel.flow, as_written=True)
    made = converge_kernel(linked, kernel, choices)
    why = "threads that end live on until all of their CTA have ended"
    return replace(made, notes=(*made.notes, f"{kernel.at(kernel.entry.line)}: {why}"))


def side_by_side(
    strategy: str,
    chosen: Sequence[Chosen],
    linked: Linked,
    converged: Sequence[Converged],
    prepared: Sequence[Flow],
    choices: Choices,
) -> Woven:
    """From converged kernels to the fused one; `prepared` are their flows with barriers prepared. Raises
    `CannotWeave`."""
    inputs = merge_inputs(linked, prepared, converged, choices)
    flows = [each.flow for each in inputs]
    inputs = merge_copies(linked, inputs, slicings_of(linked, choices), MergeLimits(linked))
    whole = kernel_dispatch(*in_loops(linked, inputs)) if linked.loops else kernel_dispatch(inputs)
    whole = bound_to_sms(whole, linked.binding) if linked.binding else whole
    merged = merged_blocks(whole)
    taken = replace(choices, slicing=whole.slicing)
    scheduled = schedule(linked, converged, merged, taken)
    final = reconverge(scheduled, converged, merged)
    return emit(chosen, linked, flows, converged, merged, final, taken, whole.notes, strategy=strategy)
