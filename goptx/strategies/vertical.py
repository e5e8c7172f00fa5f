"""vertical: each thread runs its thread of the first kernel, then that of the second, and so on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from pathlib import Path

from goptx.errors import CannotWeave
from goptx.latency.table import LatencyTable, load_table
from goptx.shape import Shape
from goptx.strategies.buffers import Names, Pairs, as_one, buffers_of
from goptx.strategies.dependences import Dependences
from goptx.strategies.internalise import internalised
from goptx.strategies.local import in_shared_memory
from goptx.strategies.lockstep import fused
from goptx.weaving.copies import copies_joined
from goptx.weaving.divergence.converged import Choice
from goptx.weaving.growth import limits
from goptx.weaving.launching import Placement
from goptx.weaving.link import Linked
from goptx.weaving.merge import in_turn
from goptx.weaving.merged import merged
from goptx.weaving.pipeline import Choices, check_request, finish, read_and_link, sides_of
from goptx.weaving.result import Woven
from goptx.weaving.sources import Source, kernels_of, shapes_of


def vertical(
    *sources: Source,
    entries: Sequence[str | None] | None = None,
    arch: str | None = None,
    name: str | None = None,
    divergence: Choice | None = None,
    latency: str | Path | LatencyTable | None = None,
    shapes: Sequence[Shape] | None = None,
    placement: Placement = "spread",
    depends: bool = False,
    assume_local: bool = False,
    no_barriers: bool = False,
    same: Pairs = (),
    private: Pairs = (),
    local: Pairs = (),
    apart: Names = (),
    presume: bool = True,
) -> Woven:
    """One kernel after the other in each thread; the first arguments are those of `weave`.

    depends: kernels may read and write what kernels before them wrote and read. Wherever two of them may touch one
        element, it has to be shown to be a thread's own, or a CTA's, which puts a barrier between the kernels.
    assume_local: the caller's word that what cannot be shown stays within a CTA.
    no_barriers: the caller's word that kernels that touch one buffer within a CTA need no barrier between them; the
        report notes each barrier that is left out. (As the property of that name in user-driven kernel fusion.)
    same: pairs of parameters that are one, such as ("A:0", "B:0"): a buffer, or a number such as a bound. W has the
        first of them, and loads equal elements once if no kernel writes the buffer.
    private: likewise, buffers that hold nothing but what a thread hands on to itself in a later kernel: they are kept
        in registers, and their contents are undefined afterwards.
    local: likewise, of a CTA: kept in its shared memory. Needs known shapes.
    apart: parameters such as "A:1" that share memory with no other but those that they are named with above.

    Raises what `weave` raises: `CannotWeave` where a dependence, or what is said of a buffer, cannot be shown to be
    right, `InputError` for parameters that are none.
    """
    check_request("concat", None, divergence, placement)
    kernels = kernels_of(sources, entries)
    linked = read_and_link(kernels, arch, name, shapes_of(sources, shapes, kernels), placement)
    coarse = next((k for k in linked.kernels if linked.is_copy(k)), None)
    if coarse and (depends or same or private or local):
        raise CannotWeave(
            f"{coarse.at(coarse.entry.line)}: a coarsened kernel cannot be one of those that depend on each other "
            "(depends=, same=, private=, local=); give the kernel as it is."
        )
    buffers = buffers_of(linked, {"same": same, "private": private, "local": local}, apart)
    linked = as_one(linked, buffers)
    dependences = Dependences(linked, buffers, depends, assume_local, no_barriers)
    linked = in_shared_memory(dependences.kept(), buffers, dependences.size)
    choices = Choices("concat", None, load_table(latency, linked.target[0]), presume)
    most = limits([k.flow for k in linked.kernels], None, None)
    converged, sides = sides_of(linked, choices, divergence, most)
    joined = copies_joined(linked.kernels, sides, linked.together, lambda several: reduce(in_turn, several))
    order = sorted(joined, key=lambda side: side.last)
    dependences.check_order([side.kernels[0] for side in order])
    whole = reduce(partial(fused, orderly=dependences.orderly), order)
    inside = internalised(linked, whole, [s.flow for s in sides], buffers, dependences.size)
    along_x = dependences.along_x or inside.along_x or bool(local)
    if along_x:
        _check_along_x(linked)
    return finish(
        kernels, inside.linked, inside.flows, merged(inside.side), choices, converged, inside.notes,
        strategy="vertical", depends=depends, along_x=along_x,
    )  # fmt: skip


def _check_along_x(linked: Linked) -> None:
    for kernel, shape in zip(linked.kernels, linked.plan.shapes if linked.plan else (), strict=False):
        if any(n not in (1, None) for what in ("grid", "block") for n in shape.axes(what)[1:]):
            raise CannotWeave(
                f"{kernel.at(kernel.entry.line)}: what kernels hand on to each other is shown to stay with a thread or "
                f"CTA in grids and blocks along x only, and the shape {shape} has more axes; use separate launches."
            )
