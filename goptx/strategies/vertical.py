"""vertical: each thread runs its thread of the first kernel, then that of the second, and so on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path

from goptx.errors import CannotWeave
from goptx.latency.table import LatencyTable, load_table
from goptx.launch.shape import Shape
from goptx.options import Assume, Choice, ParameterNames, ParameterPairs, Placement, Unproved
from goptx.results.expected_gain import judged
from goptx.results.fused_kernel import Woven
from goptx.results.given_kernels import Source, kernels_of, shapes_of
from goptx.sources.kernel_text import Chosen
from goptx.weaving.converge.converge import converge
from goptx.weaving.converge.split_loops import split_loops
from goptx.weaving.dependent.kernel_dependences import Dependences, check_along_x, check_promises
from goptx.weaving.dependent.loop_fusion import fused
from goptx.weaving.dependent.shared_buffers import Buffer, as_one, buffers_of
from goptx.weaving.dependent.temporaries import Findings, check_unproved, one_by_one
from goptx.weaving.dependent.to_registers import Internalised, internalised
from goptx.weaving.dependent.to_shared import in_shared_memory
from goptx.weaving.emit.emit import emit
from goptx.weaving.emit.reconverge import reconverge
from goptx.weaving.link.link import link
from goptx.weaving.merging.barrier_ids import prepare_barriers
from goptx.weaving.merging.copies import sequential_copies
from goptx.weaving.merging.merge_input import merge_inputs
from goptx.weaving.merging.merged_blocks import merged_blocks
from goptx.weaving.merging.size_limits import limits
from goptx.weaving.model import Choices, Converged, Linked
from goptx.weaving.request import check_request
from goptx.weaving.schedule.schedule import schedule
from goptx.weaving.shapes.launch_demands import known_shape
from goptx.weaving.shapes.range_guard import guard_ranges
from goptx.weaving.shapes.shape_kernels import shape
from goptx.weaving.simplify.simplify import simplify


@judged
def vertical(
    *sources: Source,
    entries: Sequence[str | None] | None = None,
    arch: str | None = None,
    name: str | None = None,
    divergence: Choice | None = None,
    latency: str | Path | LatencyTable | None = None,
    max_inlined: int | None = None,
    shapes: Sequence[Shape] | None = None,
    assume: Assume | None = None,
    placement: Placement | None = None,
    depends: bool = False,
    assume_local: bool = False,
    no_barriers: bool = False,
    same: ParameterPairs = (),
    private: ParameterPairs = (),
    local: ParameterPairs = (),
    noalias: ParameterNames = (),
    presume: bool = True,
    assume_private: bool = False,
    unproved: Unproved = "refuse",
) -> Woven:
    """One kernel after the other in each thread; the first arguments are those of `weave`.

    depends: kernels may read and write what kernels before them wrote and read. Wherever two of them may touch one
        element, it must be provable that the element is a thread's own, or a CTA's. In the latter case a barrier is
        put between the kernels.
    assume_local: the caller's promise that a dependence which cannot be proved stays within a CTA. For `local` buffers
        it is the promise that a thread of the CTA has stored what a kernel loads.
    no_barriers: the caller's promise that kernels that touch one buffer within a CTA need no barrier between them; the
        report notes each barrier that is left out. (As the property of that name in user-driven kernel fusion.)
    same: pairs of parameters that are one, such as ("A:0", "B:0"): a buffer, or a number such as a bound. The fused
        kernel has the first of them, and loads equal elements once if no kernel writes the buffer.
    private: likewise, buffers that only forward values from a thread to itself in a later kernel. They are placed in
        registers, and their contents are undefined afterwards.
    local: likewise, within a CTA: they are placed in its shared memory. Needs known shapes.
    noalias: parameters such as "A:1" that share memory only with those that they are named with above.
    assume_private: the caller's promise that what a thread loads from a `private` buffer is what it has last stored
        itself to that element, as the properties of user-driven fusion give it. Which store that is must still follow
        from the kernels.
    unproved: what becomes of a `private` or `local` buffer that cannot be proved to be one. "refuse": `CannotWeave`.
        "memory": this one stays in memory, and kernels may depend on each other there; `report.temporaries` says why.

    Raises what `weave` raises: `CannotWeave` where a dependence, or what is declared of a buffer, cannot be proved,
    `InputError` for unknown parameters.
    """
    check_request("concat", None, divergence, placement)
    kernels = kernels_of(sources, entries, max_inlined=max_inlined)
    own = shapes_of(sources, shapes, kernels)
    linked = simplify(shape(link(kernels, arch, name, own), kernels, own, placement), own)
    coarse = next((k for k in linked.kernels if linked.is_copy(k)), None)
    if coarse and (depends or same or private or local):
        raise CannotWeave(
            f"{coarse.at(coarse.entry.line)}: a coarsened kernel cannot be one of those that depend on each other "
            "(depends=, same=, private=, local=); give the kernel as it is.",
            rule="dependent-shapes",
        )
    check_unproved(unproved)
    check_promises(bool(depends or private or local), assume_local, no_barriers, assume_private)
    buffers = buffers_of(linked, {"same": same, "private": private, "local": local}, noalias)
    choices = Choices("concat", None, load_table(latency, linked.target[0]), presume)
    attempt = _Attempt(kernels, linked, choices, divergence, depends, assume_local, no_barriers, assume_private)
    return one_by_one(attempt.made, buffers, linked, unproved)


@dataclass(frozen=True, slots=True)
class _Attempt:
    """An attempt to fuse kernels with given kinds of buffers."""

    kernels: Sequence[Chosen]
    linked: Linked
    choices: Choices
    divergence: Choice | None
    depends: bool
    assume_local: bool
    no_barriers: bool
    assume_private: bool

    def made(self, buffers: Sequence[Buffer], findings: Findings) -> Woven | None:
        """As `one_by_one` takes it."""
        depends = self.depends or findings.in_memory
        dependences = Dependences(as_one(self.linked, buffers), buffers, depends, self.assume_local, self.no_barriers)
        linked = in_shared_memory(dependences.enforced(), buffers, dependences.size, self.assume_local, findings)
        if findings.refused:
            return None
        converged, inside = self._internalised(linked, buffers, dependences, findings)
        if findings.refused:
            return None
        along_x = dependences.along_x or inside.along_x or any(b.kind == "local" for b in buffers)
        if along_x:
            check_along_x(inside.linked, "what kernels pass on to each other")
        merged = merged_blocks(inside.side)
        scheduled = schedule(inside.linked, converged, merged, self.choices)
        final = reconverge(scheduled, converged, merged)
        return emit(
            self.kernels, inside.linked, inside.flows, converged, merged, final, self.choices, inside.notes,
            strategy="vertical", depends=depends, along_x=along_x,
        )  # fmt: skip

    def _internalised(
        self, linked: Linked, buffers: Sequence[Buffer], dependences: Dependences, findings: Findings
    ) -> tuple[list[Converged], Internalised]:
        most = limits([k.flow for k in linked.kernels], None, None)
        converged = guard_ranges(linked, converge(linked, self.choices, self.divergence))
        converged = split_loops(linked, converged, most)
        prepared = prepare_barriers(linked.kernels, converged, known_shape(linked))
        inputs = merge_inputs(linked, prepared, converged, self.choices, self.divergence == "duplicate")
        flows = [each.flow for each in inputs]
        order = sorted(sequential_copies(linked, inputs), key=lambda side: side.last)
        dependences.check_order([side.kernels[0] for side in order])
        whole = reduce(partial(fused, orderly=dependences.orderly), order)
        return converged, internalised(linked, whole, flows, buffers, dependences.size, findings, self.assume_private)
