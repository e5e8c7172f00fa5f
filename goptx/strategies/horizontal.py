"""horizontal: the first warps of a CTA run the first kernel, the next ones the second, and so on (HFUSE, CGO 2022)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from pathlib import Path

from goptx.analysis.sync.barrier_uniformity import is_barrier_uniform
from goptx.cost.ctas_at_once import ctas_at_once
from goptx.errors import InputError
from goptx.latency.table import LatencyTable
from goptx.launch.launch_plan import Plan
from goptx.launch.parameter_names import letter_of
from goptx.launch.shape import Shape
from goptx.launch.specification import find_specification
from goptx.options import Assume, Fold, Placement
from goptx.results.expected_gain import judged
from goptx.results.fused_kernel import Woven
from goptx.results.given_kernels import Source, kernels_of, own_shapes_of
from goptx.sources.kernel_text import Chosen
from goptx.weaving.converge.converge import converge_kernel
from goptx.weaving.dispatch import choices_of, ending_together, side_by_side, split_loops_of_each
from goptx.weaving.folding.virtual_ctas import with_end
from goptx.weaving.link.link import link
from goptx.weaving.merging.barrier_ids import prepare_barriers
from goptx.weaving.model import Choices, Converged, Kernel, Linked
from goptx.weaving.request import check_request
from goptx.weaving.shapes.folded import Folded, check_fold, folded, moves_registers
from goptx.weaving.shapes.launch_demands import known_shape
from goptx.weaving.shapes.partitioned import Partitioned, check_partition, partitioned
from goptx.weaving.shapes.range_guard import guard_ranges
from goptx.weaving.shapes.remap import of_own_lanes
from goptx.weaving.shapes.shape_kernels import shape
from goptx.weaving.simplify.simplify import simplify


@judged
def horizontal(
    *sources: Source,
    entries: Sequence[str | None] | None = None,
    arch: str | None = None,
    name: str | None = None,
    latency: str | Path | LatencyTable | None = None,
    max_inlined: int | None = None,
    shapes: Sequence[Shape] | None = None,
    assume: Assume | None = None,
    placement: Placement | None = None,
    partition: Sequence[int] | None = None,
    tunable: Sequence[bool] | None = None,
    presume: bool = True,
    fold: Fold | None = None,
    ctas: int | None = None,
    role_registers: Sequence[int] | None = None,
    teams: Sequence[int] | None = None,
    assist: bool = False,
    parts: Sequence[int] | None = None,
) -> Woven:
    """Each thread runs a thread of one kernel; the CTA has as many threads as those of all kernels together.

    shapes: one for each kernel, with a known block.
    partition: how many of the CTA's threads each kernel has, in order: multiples of 32, at most 1,024 together. The
        default is the kernels' blocks, rounded up to 32.
    tunable: for each kernel, whether it is right with any block of whole warps. `partition` may then give it another
        block than its own, changed along the last axis only. The default is what the specification beside its file
        says.
    fold: "static", "chunk" or "ticket" for folded grids: few CTAs are launched, and the warps that a CTA gives to a
        kernel run several of the kernel's CTAs, one after the other: every n-th ("static", with n CTAs launched), a
        contiguous piece ("chunk"), or, as soon as one is done, the next one that is left ("ticket"). None (default):
        each CTA runs one of each kernel.
    ctas: how many CTAs are launched if grids are folded. The default is as many as the GPU holds at once: the SMs of
        the target's largest known GPU, times the CTAs for which one has threads and registers.
    role_registers: for each kernel, registers of a thread: a multiple of 8 from 24 to 256. They are moved between the
        kernels' warps when the CTA begins, if grids are folded and the target has `setmaxnreg` (sm_90a, sm_100a). On
        other targets their mean is a cap. The default leaves all threads as many as the hungriest kernel takes.
    teams: for each kernel, how many of its CTAs run side by side in each CTA that is launched, if grids are folded: (1,
        2) is one of the first kernel beside two of the second. Each has threads, shared memory and barriers of its own.
        The default is one.
    parts: for each kernel, into how many parts of equally many warps each of its CTAs is divided, if grids are folded.
        A team then has the threads of one part, and runs parts as if they were CTAs: (1, 2) runs CTAs of 256 threads of
        the second kernel by teams of 128. That is for kernels whose warps need nothing of each other: without shared
        memory, barriers, fences and calls. The default divides none.
    assist: whether warps of the kernel with more registers run CTAs of the other one when none of their own is left;
        for two kernels with blocks, or parts of them, that are powers of two, none of the other kernel's larger, and
        fold="ticket".

    Other arguments and errors are those of `weave`.
    """
    check_request("concat", None, None, placement)
    kernels = kernels_of(sources, entries, max_inlined=max_inlined)
    own = own_shapes_of(sources, shapes, kernels, "horizontal")
    check_fold(fold, ctas, role_registers, placement, len(kernels), teams, assist, parts)
    if tunable is not None:
        _check_tunable(tunable, len(kernels))
    if partition is not None:
        check_partition(partition, len(kernels))
        own = [
            _tuned(letter_of(k), shape, threads) if can else shape
            for k, (shape, threads, can) in enumerate(zip(own, partition, _tunable(kernels, tunable), strict=True))
        ]
    linked = link(kernels, arch, name, own)
    own_warps = partial(partitioned, partition=partition)
    layout = (
        own_warps if fold is None else _folding(own_warps, linked, fold, ctas, role_registers, teams, assist, parts)
    )
    shaped = simplify(shape(linked, kernels, own, placement, layout), own)
    choices = choices_of(shaped, latency, presume)
    converged = [
        converge_kernel(shaped, k, choices) if shaped.is_copy(k) else _ending(shaped, k, choices)
        for k in shaped.kernels
    ]
    if fold is not None:
        converged = [with_end(shaped, k, made) for k, made in zip(shaped.kernels, converged, strict=True)]
    looped = split_loops_of_each(shaped, guard_ranges(shaped, converged))
    flows = prepare_barriers(shaped.kernels, looped, known_shape(shaped))
    return side_by_side("horizontal", kernels, shaped, looped, flows, choices)


def _ending(linked: Linked, kernel: Kernel, choices: Choices) -> Converged:
    """The kernel unchanged if its barriers never wait for threads that have ended. Else such threads live on. Barriers
    count the kernel's own threads, because others run in the same CTA, and warps that have ended do not arrive. Lanes
    that are missing in the last warp do not matter, because barriers count whole warps."""
    if linked.loops:
        return ending_together(linked, kernel, choices)
    if is_barrier_uniform(of_own_lanes(kernel.flow)):
        return Converged(kernel.flow, as_written=True)
    made = converge_kernel(linked, kernel, choices)
    why = "threads that end before a CTA-wide barrier arrive there all the same"
    return replace(made, notes=(*made.notes, f"{kernel.at(kernel.entry.line)}: {why}"))


def _folding(
    layout: Callable[[Plan], Partitioned],
    linked: Linked,
    fold: Fold,
    ctas: int | None,
    registers: Sequence[int] | None,
    teams: Sequence[int] | None,
    assist: bool,
    parts: Sequence[int] | None,
) -> Callable[[Plan], Folded]:
    """The layout of folded grids."""
    target = linked.target[0]

    def placed(plan: Plan) -> Folded:
        made = folded(layout(plan), fold, ctas or 1, registers, moves_registers(target), teams, assist, parts)
        return made if ctas else replace(made, ctas=ctas_at_once(made, linked))

    return placed


def _tunable(kernels: Sequence[Chosen], stated: Sequence[bool] | None) -> list[bool]:
    if stated is None:
        found = [k.path and find_specification(k.path, k.entry) for k in kernels]
        return [bool(launch and launch.tunable) for launch in found]
    return list(stated)


def _check_tunable(stated: Sequence[bool], kernels: int) -> None:
    listed = isinstance(stated, Sequence) and len(stated) == kernels
    if not listed or not all(isinstance(t, bool) for t in stated):
        raise InputError(f"tunable={stated} takes True or False for each of the {kernels} kernels.")


def _tuned(letter: str, shape: Shape, threads: int) -> Shape:
    """The shape with a block of so many threads. Only its last axis changes, so that neighbouring threads and whole
    rows of them stay as they were."""
    *others, _ = shape.block
    row = 0 if None in others else prod(n or 0 for n in others)
    if row == 0 or threads % row:
        takes = f"whole rows of {row}" if row else "none, for its other axes are not known"
        raise InputError(
            f"partition= gives kernel {letter} {threads} threads, but the block of a tunable kernel changes along its "
            f"last axis only: {shape} takes {takes}."
        )
    return Shape(shape.grid, (*others, threads // row), shape.shared, shape.cluster)
