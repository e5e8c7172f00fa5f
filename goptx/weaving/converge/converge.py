"""Rewrites a kernel so that every branch of its flow is one that whole warps take together.

Requires: the control flow of one kernel. Ensures: each branch left is warp-uniform or CTA-uniform, so
that the flow can be merged with another kernel's and all lanes of a convergent instruction still reach it
together; a thread that ends walks on to `EXIT` with nothing that has effects.

A divergent branch is converted by one of these methods, outermost first:

    leave      one side only ends the kernel: the lanes that stay are held in a predicate, which from there
               on guards what has effects or may fault; the rest runs for all (predication of memory), but
               loops are skipped by warps, or CTAs, of which all lanes ended (skip_ended.py)
    vote       it leaves a loop: lanes still inside are held in a predicate, and the warp goes on while a
               vote finds any; or a loop lies on a side of it: the warp goes there if any lane does
    predicate  a small acyclic if/else or switch: its sides one after the other, each under its predicate
    park       anything else: the smallest closed region around it becomes one block. The merger decides
               whether the other kernel waits meanwhile, or stands on each side of it (duplicate). So does in any
               case a loop that waits for other threads (spin_regions.py)

`forced` narrows that: "predicate" allows the first three, and park for waiting loops; "park" and "duplicate" the last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from goptx.analysis.cfg import EXIT, Flow, closure, controls, facts_among, marked_uniform
from goptx.analysis.sync.barriers import blocks_needing_all_threads, needs_all_threads
from goptx.analysis.sync.spin_loops import holds_strong_reads
from goptx.analysis.uniformity import Uniformity, uniformity
from goptx.errors import CannotWeave
from goptx.latency.cost import Cycles
from goptx.launch.shape import Shape
from goptx.options import Choice
from goptx.ptx.flatten import as_written
from goptx.ptx.ir import Instruction
from goptx.weaving.converge.barrier_promises import warp_branches
from goptx.weaving.converge.ended.skeleton import ends_within_ctas, skip_between_barriers
from goptx.weaving.converge.ended.skip_ended import skip_ended
from goptx.weaving.converge.park import park, park_barriers
from goptx.weaving.converge.predicate import predicate
from goptx.weaving.converge.predicate_code import Fresh, free_prefix
from goptx.weaving.converge.retire import leave_early
from goptx.weaving.converge.running_lanes import Lanes
from goptx.weaving.converge.spin_regions import lanes_wait_separately, park_waiting_loops, refuse_votes_amid_waits
from goptx.weaving.converge.unknown_instructions import first_unknown, whole
from goptx.weaving.converge.vote import divergent_loop, vote, vote_sides
from goptx.weaving.invariants import ensured
from goptx.weaving.model import Choices, Converged, Kernel, Linked
from goptx.weaving.schedule.carry_flag import refuse_flags_across_blocks
from goptx.weaving.shapes.launch_demands import known_shape


def converge(linked: Linked, choices: Choices, forced: Choice | None = None) -> list[Converged]:
    """Each kernel by itself. `forced` is the one method for divergence, by cost if None. Raises `CannotWeave`."""
    converged = [converge_kernel(linked, kernel, choices, forced) for kernel in linked.kernels]
    return ensured("converge", converged, linked)


def converge_kernel(linked: Linked, kernel: Kernel, choices: Choices, forced: Choice | None = None) -> Converged:
    """One of the linked kernels."""
    prefix = free_prefix(kernel.prefix, kernel.register_names())
    sizes = {name: size for k in linked.kernels for name, size in k.parameter_sizes().items()}
    worth = partial(_skips_pay, linked, kernel)
    return converge_flow(
        kernel.flow, prefix, kernel.at, choices.cycles, forced, choices.presume, sizes, known_shape(linked), worth
    )


def _skips_pay(linked: Linked, kernel: Kernel, flow: Flow, running: str) -> bool:
    """Whether warps of the kernel that have ended should skip code between barriers. Beside that, code without barriers
    and warp instructions can stand. All else has to wait, also the same code of a copy: that is worth it only where
    many CTAs have such warps, and a bound for the number of a thread in the grid divides one CTA at most."""
    if linked.is_copy(kernel):
        return False
    together = (facts.row.scope for k in linked.kernels if k is not kernel for facts in facts_among(k.flow))
    return not any(together) or ends_within_ctas(flow, running)


def converge_flow(
    flow: Flow,
    prefix: str,
    at: Callable[[int], str],
    cycles: Cycles,
    forced: Choice | None = None,
    presume: bool = True,
    parameters: Mapping[str, int] = MappingProxyType({}),
    shape: Shape | None = None,
    worth: Callable[[Flow, str], bool] = ends_within_ctas,
) -> Converged:
    """`prefix` begins the names of fresh registers and blocks; `at(line)` names file, line and kernel in messages;
    `cycles` is the latency of an instruction; `forced` the one method for divergence, by cost if None;
    `presume` whether loaded data that decides about barriers may be taken as the same for the CTA; `parameters` has
    the bytes of the kernel's parameters; `shape` is the launch of the fused kernel, as far as it is known; `worth`
    whether warps in which no lane of a predicate runs are to skip code between barriers.

    Raises `CannotWeave` where a barrier stands under a branch that live threads take differently, and where the forced
    method does not apply to a branch.
    """
    unknown = first_unknown(flow)
    if unknown is not None:
        return whole(flow, f"{at(unknown.line)}: `{as_written(unknown, prefix)}`")
    refuse_flags_across_blocks(flow, prefix, at)
    lanes = Lanes(flow, Fresh(prefix), at, cycles, forced, presume, parameters, shape)
    lanes.promise(warp_branches(flow))
    lanes.reads_strongly = holds_strong_reads(flow)
    lanes.wait_separately = lanes_wait_separately(lanes.flow)
    if forced in (None, "predicate"):
        leave_early(lanes)
        skip_ended(lanes)
    check_barriers(lanes)
    park_waiting_loops(lanes)
    while (block := _next_divergent(lanes)) is not None:
        if forced in ("park", "duplicate"):
            park(lanes, block)
        elif obstacle := _predicate(lanes, block):
            around = divergent_loop(lanes, block)
            place = around.divergent if around else block
            if forced == "predicate":
                raise CannotWeave(
                    f"{at(lanes.line(place))}: what the branch decides cannot run under predicates ({obstacle}); use "
                    'divergence="park" or leave the choice to goptx.',
                    rule="forced-divergence",
                )
            park(lanes, place)
    converged = _converged(lanes, worth)
    refuse_votes_amid_waits(converged, lanes)
    return converged


def _predicate(lanes: Lanes, block: str) -> str:
    """Makes the branch of `block`, or the divergent loop around it, one that warps take together. Returns "" if it did,
    else why it cannot."""
    loop = divergent_loop(lanes, block)
    if loop is not None:
        return vote(lanes, loop)
    return predicate(lanes, block) and vote_sides(lanes, block)


def _converged(lanes: Lanes, worth: Callable[[Flow, str], bool]) -> Converged:
    flow = lanes.guarded().pruned()
    if lanes.running and not lanes.wait_separately and worth(flow, lanes.running):
        flow = skip_between_barriers(flow, lanes.running, lanes.fresh).pruned()
    uniform = uniformity(flow, shape=lanes.shape).branches
    return Converged(
        flow=marked_uniform(flow, flow.blocks),
        registers=lanes.fresh.declared(),
        warp_branches=frozenset(n for n, u in uniform.items() if u > Uniformity.CTA and n not in lanes.presumed),
        notes=tuple(lanes.notes),
        divergences=tuple(lanes.divergences),
        lanes_wait_separately=lanes.wait_separately,
        skipped=lanes.skipped,
    )


def _next_divergent(lanes: Lanes) -> str | None:
    """The first block whose branch lanes of one warp may take differently. The search goes on where it ended: above it
    all has been the same for a warp, and stays so."""
    lanes.guarded()  # gives fresh registers their names, however much of the flow is looked at
    order = lanes.flow.reverse_postorder()
    begin = order.index(lanes.reached) if lanes.reached in order else 0
    known = next((n for n in order[begin:] if n not in lanes.presumed and lanes.diverges(n)), None)
    if known is not None:
        lanes.reached = known
        return known
    branches = lanes.uniformity().branches
    return next((n for n in order if n not in lanes.presumed and branches[n] > Uniformity.WARP), None)


def _depends_on_thread(lanes: Lanes, block: str) -> bool:
    """Whether a branch is divergent in the kernel alone, and not just because ended lanes do not load what decides."""
    return not lanes.running or uniformity(lanes.flow, shape=lanes.shape).branches[block] == Uniformity.DIVERGENT


def check_barriers(lanes: Lanes) -> None:
    """Every barrier of the whole CTA must be reached by all threads or by none, or else by copies: on every path from a
    branch to where its threads reconverge the same barriers, which makes that a region. A barrier that counts may
    be for any warps."""
    while (varying := _next_varying(lanes)) is not None:
        decider, barrier = varying
        if not park_barriers(lanes, decider):
            raise _unequal(lanes, decider, barrier)


def _next_varying(lanes: Lanes) -> tuple[str, Instruction] | None:
    """The first branch that decides whether a barrier of the whole CTA is reached and is known to depend on the thread
    or the warp, or on data that ended threads do not load, and that barrier. Other branches on loaded data are
    presumed to be the same for the CTA."""
    needed = blocks_needing_all_threads(lanes.flow)
    blocks = {n: b for n, b in lanes.flow.blocks.items() if n in needed}
    barriers = [(n, i) for n, b in blocks.items() for i in b.instructions() if needs_all_threads(i)]
    if not barriers:
        return None
    uniform = lanes.uniformity()
    # What was promised may meanwhile be proved: the lanes that diverged have been taken in.
    branches = {n: u if u == Uniformity.CTA else lanes.promised.get(n, u) for n, u in uniform.branches.items()}
    controlled = controls(lanes.flow)
    presumed: dict[str, Instruction] = {}
    for name, barrier in barriers:
        if barrier.guard and uniform.of(barrier.guard.predicate.text) > Uniformity.CTA:
            raise CannotWeave(
                f"{lanes.at(barrier.line)}: `{as_written(barrier, lanes.fresh.prefix)}` is met under a condition "
                "that is not proved to be the same for all threads of a CTA; use separate launches.",
                rule="barrier-uniformity",
            )
        for decider in sorted(closure([name], controlled), key=list(lanes.flow.blocks).index):
            if branches[decider] == Uniformity.CTA or decider in lanes.presumed:
                continue
            if branches[decider] in (Uniformity.WARP, Uniformity.DIVERGENT) or lanes.running:
                return decider, barrier
            presumed.setdefault(decider, barrier)
    joins = lanes.flow.post_dominators()
    for decider in sorted(presumed, key=list(lanes.flow.blocks).index):
        place = _deciding(lanes, decider, presumed[decider])
        if joins[decider] == EXIT and lanes.forced in ("park", "duplicate"):
            raise _unequal(lanes, decider, presumed[decider])
        if not lanes.presume:
            raise CannotWeave(
                f"{place} and depends on loaded data, which is not proved to be the same for all threads of a CTA; let "
                "a parameter decide it, presume that it is (presume=True), or use separate launches.",
                rule="barrier-uniformity",
            )
        lanes.presumed.add(decider)
        lanes.notes.append(f"{place}; presumed to be the same for all threads of a CTA")
    return None


def _deciding(lanes: Lanes, decider: str, barrier: Instruction) -> str:
    waits = as_written(barrier, lanes.fresh.prefix)
    return f"{lanes.at(lanes.line(decider))}: the branch decides whether `{waits}` (line {barrier.line}) is reached"


def _unequal(lanes: Lanes, decider: str, barrier: Instruction) -> CannotWeave:
    """Why a barrier that threads do not come to together cannot stand in a region."""
    place = _deciding(lanes, decider, barrier)
    if lanes.flow.post_dominators()[decider] == EXIT and lanes.forced in ("park", "duplicate"):
        return CannotWeave(
            f"{place}, where threads that ended the kernel before have to arrive too, which "
            f'divergence="{lanes.forced}" does not let them; use "predicate" or leave the choice to goptx.',
            rule="barrier-after-exit",
        )
    alike = lanes.uniformity().branches[decider]
    if alike != Uniformity.WARP and not (alike == Uniformity.DIVERGENT and _depends_on_thread(lanes, decider)):
        return CannotWeave(
            f"{place} and depends on loaded data, of which threads that have returned early or do not belong to the "
            "kernel, and have to arrive too, may have none or other; let a parameter decide it, or use "
            "separate launches.",
            rule="barrier-after-exit",
        )
    if alike == Uniformity.WARP:
        return CannotWeave(
            f"{place}, and it depends on the warp, but not all paths from there to where the warps reconverge meet the "
            "same barriers: other kernels' barriers would come in another order for some. Use "
            'strategy="interleave", or separate launches.',
            rule="barrier-uniformity",
        )
    return CannotWeave(
        f"{place}, and it depends on the thread: threads that live on would never arrive, unless all paths from there "
        "to where they reconverge meet the same barriers. Move the barrier out of the branch, use "
        'strategy="interleave", or launch the kernels separately.',
        rule="barrier-uniformity",
    )
