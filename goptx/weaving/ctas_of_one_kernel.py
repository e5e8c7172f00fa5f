"""CTAs that run one kernel each, where weaving leaves too few CTAs on an SM.

A woven CTA has the threads of the largest block, and the registers and shared memory of all kernels, also for the CTAs
of a kernel that needs little. If so few of them fit on an SM that the GPU begins all of them in more rounds than if
each ran one kernel only, each does (measured on an H200, docs/strategies.md). The numbers of registers are estimates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from math import prod
from pathlib import Path

from goptx.analysis.cfg import Flow
from goptx.analysis.registers.register_demand import Demand
from goptx.device.occupancy import occupancy
from goptx.errors import CannotLink, CannotWeave, InputError
from goptx.latency.table import LatencyTable
from goptx.launch.launch_plan import AT_ONCE
from goptx.launch.shape import Shape
from goptx.options import ParameterPairs, Placement
from goptx.results.fused_kernel import Woven
from goptx.sources.kernel_text import Chosen
from goptx.weaving.converge.converge import converge_kernel
from goptx.weaving.dependent.shared_inputs import InCommon
from goptx.weaving.dispatch import choices_of, ending_together, side_by_side, split_loops_of_each
from goptx.weaving.few_registers import SURE, Room
from goptx.weaving.folding.virtual_ctas import with_end
from goptx.weaving.link.link import link
from goptx.weaving.merging.barrier_ids import prepare_barriers
from goptx.weaving.model import Choices, Converged, Kernel, Linked
from goptx.weaving.shapes.interleaved import Interleaved
from goptx.weaving.shapes.launch_demands import known_shape
from goptx.weaving.shapes.range_guard import guard_ranges
from goptx.weaving.shapes.remap import Layout
from goptx.weaving.shapes.shape_kernels import shape
from goptx.weaving.shapes.shared_pool import shared_of, static_total
from goptx.weaving.simplify.simplify import simplify

SMS = AT_ONCE // 2048  # of an H200; where no round is full, nothing is decided


def fewer_rounds(room: Room, needed: Demand | None) -> str:
    """Why each CTA should run one kernel only: the GPU begins all CTAs in fewer rounds. "" where it does not, and where
    a shape is not known. `needed`: the registers of the woven kernel."""
    plan = room.linked.plan
    if needed is None or plan is None or plan.common or not plan.shape.known:
        return ""
    ctas, own = plan.shape.ctas or 0, [_ctas_and_threads(room.linked, k) for k in range(len(plan.shapes))]
    every = (plan.shape.shared or 0) + _static(room.linked)
    fit = occupancy(room.arch, min(int(SURE * needed.firm), room.most), every, room.threads).ctas_per_sm
    if ctas <= SMS * fit or all(_fitting(room, 0, 0, threads) <= fit for _, threads in own):
        return ""
    registers = max(int(SURE * one.firm) for one in room.alone)
    shared = max(plan.needed(k, plan.shapes) + _static(room.linked, k) for k in range(len(own)))
    each = [(n, _fitting(room, registers, shared, threads)) for n, threads in own]
    if not all(places for _, places in each):
        return ""
    alone, together = (sum(n / places for n, places in found) / SMS for found in (each, [(ctas, fit)] if fit else []))
    if fit and together <= alone:
        return ""
    return (
        f"woven, {fit} CTAs of {room.threads} threads fit on an SM, so that {ctas} CTAs begin in {together:.1f} rounds "
        f"on {SMS} SMs, and in {alone:.1f} if each runs one kernel"
    )


def _ctas_and_threads(linked: Linked, kernel: int) -> tuple[int, int]:
    """The CTAs that carry a kernel, and the threads of one that do not end at once."""
    assert linked.plan
    axes = linked.plan.carried("grid", linked.plan.shapes)[kernel]
    return prod(n or 0 for n in axes), linked.plan.shapes[kernel].threads or 0


def _fitting(room: Room, registers: int, shared: int, threads: int) -> int:
    """Warps that have ended leave room for those of other CTAs."""
    return occupancy(room.arch, registers, shared, threads).ctas_per_sm


def _static(linked: Linked, kernel: int | None = None) -> int:
    """The bytes of static shared memory of a kernel, or of all."""
    assert linked.plan
    letters = linked.plan.letters if kernel is None else linked.plan.letters[kernel]
    return static_total([shared_of(k, linked) for k in linked.kernels if k.letter in letters])


def interleaved_if_possible(
    chosen: Sequence[Chosen],
    shapes: Sequence[Shape],
    arch: str | None,
    name: str | None,
    latency: str | Path | LatencyTable | None,
    presume: bool,
    why: str,
    ratio: tuple[int, ...] = (),
) -> Woven | None:
    """The kernels in CTAs of their own, with the reason in the report; None where that is refused or a size is not
    known."""
    if not all(own.known for own in shapes):
        return None
    try:
        linked = link(chosen, arch, name, shapes)
        layout = partial(Interleaved.of, ratio=ratio)
        notes = [f"each CTA runs one kernel: {why}"]
        return interleaved(chosen, linked, shapes, latency, presume, layout=layout, notes=notes)
    except (CannotLink, CannotWeave, InputError):
        return None


def interleaved(
    chosen: Sequence[Chosen],
    linked: Linked,
    shapes: Sequence[Shape],
    latency: str | Path | LatencyTable | None = None,
    presume: bool = True,
    placement: Placement | None = None,
    layout: Layout = Interleaved.of,
    same: ParameterPairs = (),
    notes: Sequence[str] = (),
) -> Woven:
    """The linked kernels unchanged, in CTAs of their own. `notes` stand in the report. Raises as `weave`."""
    shaped = shape(linked, chosen, shapes, placement, layout)
    shaped, common = InCommon.found(simplify(shaped, shapes), same, "interleave")
    shaped = replace(shaped, notes=(*shaped.notes, *common.loaded_by_each(shaped), *notes))
    choices = choices_of(shaped, latency, presume)
    converged = [
        converge_kernel(shaped, k, choices) if shaped.is_copy(k) else _as_written(shaped, k, choices)
        for k in shaped.kernels
    ]
    if shaped.plan and shaped.plan.folds:
        converged = [with_end(shaped, k, made) for k, made in zip(shaped.kernels, converged, strict=True)]
    looped = split_loops_of_each(shaped, guard_ranges(shaped, converged))
    flows = _with_barriers_of_copies(shaped, looped)
    return side_by_side("interleave", chosen, shaped, looped, flows, choices)


def _as_written(linked: Linked, kernel: Kernel, choices: Choices) -> Converged:
    """The kernel unchanged; but in folded grids threads that end are waited for between two CTAs."""
    return ending_together(linked, kernel, choices) if linked.loops else Converged(kernel.flow, as_written=True)


def _with_barriers_of_copies(linked: Linked, converged: Sequence[Converged]) -> list[Flow]:
    """A CTA has the barriers of one kernel only, which are in the way of those of its copies alone."""
    flows: list[Flow] = []
    for _, several in groupby(zip(linked.kernels, converged, strict=True), key=lambda made: made[0].letter):
        copies, own = zip(*several, strict=True)
        flows += prepare_barriers(copies, own, known_shape(linked)) if len(copies) > 1 else [own[0].flow]
    return flows
