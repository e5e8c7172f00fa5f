"""weave(): from PTX of several kernels to PTX of one, pass by pass."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from goptx.errors import ConvergenceWarning
from goptx.latency.table import load_table
from goptx.launch.shape import Shape
from goptx.options import Merging
from goptx.results.expected_gain import judged
from goptx.results.fused_kernel import Woven
from goptx.results.given_kernels import kernels_of, shapes_of
from goptx.weaving.converge.converge import converge
from goptx.weaving.converge.split_loops import split_loops
from goptx.weaving.ctas_of_one_kernel import fewer_rounds, interleaved_if_possible
from goptx.weaving.emit.emit import emit
from goptx.weaving.emit.reconverge import reconverge
from goptx.weaving.few_registers import Room, drafted, rarely_together, with_few_registers
from goptx.weaving.link.link import link
from goptx.weaving.merging import merge as merging
from goptx.weaving.merging.barrier_ids import prepare_barriers
from goptx.weaving.merging.copies import merge_copies
from goptx.weaving.merging.merge_input import merge_inputs
from goptx.weaving.merging.size_limits import MergeLimits, check_limits
from goptx.weaving.merging.slice import slice, slicings_of
from goptx.weaving.model import Choices
from goptx.weaving.request import check_published, check_request, policy_of
from goptx.weaving.schedule.schedule import schedule
from goptx.weaving.shapes.launch_demands import known_shape
from goptx.weaving.shapes.range_guard import guard_ranges
from goptx.weaving.shapes.shape_kernels import shape
from goptx.weaving.simplify.simplify import simplify

if TYPE_CHECKING:
    from goptx.latency.table import LatencyTable
    from goptx.options import Assume, Choice, Merging, ParameterPairs, Placement, Policy, Slicing
    from goptx.results.given_kernels import Source
    from goptx.sources.kernel_text import Chosen
    from goptx.weaving.dependent.shared_inputs import InCommon
    from goptx.weaving.merging.merge_input import MergeInput
    from goptx.weaving.merging.slice import SlicingThresholds
    from goptx.weaving.model import Linked


@judged
def weave(
    *sources: Source,
    entries: Sequence[str | None] | None = None,
    arch: str | None = None,
    name: str | None = None,
    merge: Merging = "safe",
    policy: Policy | None = None,
    slicing: Slicing = "adaptive",
    divergence: Choice | None = None,
    latency: str | Path | LatencyTable | None = None,
    max_inlined: int | None = None,
    shapes: Sequence[Shape] | None = None,
    assume: Assume | None = None,
    placement: Placement | None = None,
    max_blocks: int | None = None,
    max_growth: float | None = None,
    presume: bool = True,
    same: ParameterPairs = (),
) -> Woven:
    """One kernel in which every thread runs a thread of each kernel, instructions interleaved.

    sources: PTX text, its bytes, paths, parsed modules or woven kernels; two or more of them, one of them as often as
        you like, launched with the same grid and block unless `shapes` says otherwise. Kernels of one module share its
        variables, and so does a kernel that is given twice. A woven kernel counts as its kernels.
    entries: which entry of each module; may be left out where a module has only one.
    arch: for example "sm_90"; the highest `.target` of the inputs by default.
    name: of the woven entry.
    merge: "safe" (default), or "paper": the merge of the GoPTX paper (DAC 2025) as it was published. That does not keep
        convergence: barriers and warp instructions may stand in several copies, which lanes of one warp reach
        separately, so the fused kernel may hang or be wrong. A `ConvergenceWarning` says so. It takes kernels
        of one shape, and of the options below policy, slicing and latency; more than two kernels are merged in
        order, the result with the next.
    assume: what is known of the kernels, such as {"A": {"trips": {40: 48}, "live_ctas": 8192}}: the loop whose head is
        in line 40 of kernel A runs 48 times, and 8,192 of its CTAs do not end at once. It makes the estimate in the
        report (`report.expected`) more exact, and changes nothing else. A `ProbablySlower` warning is given where the
        fused kernel is estimated to be slower than separate launches.
    policy: "latency", "paper" (the greedy of the GoPTX paper) or "concat" (no interleaving); by default "latency",
        and "paper" with merge="paper". The latter two order each pair of blocks, or of slices, by itself. Where it is
        left out, the kernels stand one after the other if interleaved they would spill registers or fewer CTAs would
        fit on an SM; and, as with "interleave", each CTA runs one kernel if at most one in eight would run several, or
        if the GPU would begin them in fewer rounds so. As with "horizontal", each warp runs one kernel, on folded grids
        with registers moved between warps, if one kernel needs many more registers than the other and that is estimated
        to be a tenth faster. The report's notes say it, and `strategy` is "interleave" or "horizontal" then. That needs
        `shapes`, and neither `placement`, `divergence` nor `same`.
    slicing: "adaptive" (default; of each kernel, the mean latency of its blocks), a threshold in cycles, or None.
        Policy "latency" leaves adaptive slicing out where it would make the woven kernel longer.
    divergence: what to do where the lanes of a warp diverge: "park" (the other kernel waits meanwhile),
        "predicate" (all sides run, under predicates) or "duplicate" (the other kernel's code stands on each side);
        None (default) chooses by cost for each place.
    latency: a latency table, its name or path; that of `arch` by default.
    shapes: in what shape each kernel would be launched alone: grid, block, bytes of dynamic shared memory, None for
        what is known at launch only. `Woven.shape` then says how to launch the woven kernel.
    placement: where the CTAs of a smaller grid lie among those of the larger: "spread" (evenly) or "front" (with
        the first ones). By default in front if the GPU runs all of the smaller grid at once and not half of the
        larger one, else spread. By default also, if one kernel has 2^18 CTAs or more, which may end at once or run
        loops of unknown length, and the others have no such loops, each of its CTAs is 128 after the one before it:
        where most of them end at once, the others run beside all of the grid. The report's notes say so.
    max_blocks: the most blocks that the woven kernel may have; by default 4 for each block of the kernels.
    max_growth: how many times the instructions of all kernels it may have; by default 3, and 4 where warps skip a
        kernel when their threads have ended it, since the others then stand once more alone (not with coarsened
        kernels, or loops in two of them). Within these bounds the kernels are merged as closely as possible: if
        necessary, loop beside loop only, or one after the other.
    max_inlined: how many instructions a kernel may have once calls of functions are inlined in which threads wait; by
        default 200,000.
    presume: whether loaded data that decides if a barrier is reached may be taken as the same for all threads of a CTA,
        as CUDA demands of it; the report's notes name the places. If False, such kernels are refused.
    same: pairs of equal parameters, such as ("A:0", "B:0"): a buffer that no kernel writes, or a number such as a
        bound. The fused kernel has the first of each pair. It loads an element once where every thread that would load
        it again has loaded it; the rest is interleaved. Numbers mostly have to be given too: without ("A:5", "B:5") it
        is not known that both bounds are equal. The report's notes say what was left out.

    Raises `PtxSyntaxError`, `CannotLink`, `CannotWeave` or `InputError`.
    """
    by_default = policy is None
    policy = policy_of(merge, policy)
    check_request(policy, slicing, divergence, placement)
    check_limits(max_blocks, max_growth)
    if merge == "paper":
        check_published(
            divergence=divergence is not None, placement=placement is not None, max_blocks=max_blocks is not None,
            max_growth=max_growth is not None, presume=not presume, same=bool(same),
        )  # fmt: skip
    chosen = kernels_of(sources, entries, max_inlined=max_inlined)
    shapes = shapes_of(sources, shapes, chosen)

    linked = link(chosen, arch, name, shapes)
    shaped = shape(linked, chosen, shapes, placement)
    choices = Choices(policy, slicing, load_table(latency, linked.target[0]), presume)
    if merge == "paper":
        return _as_published(chosen, shaped, choices)
    shaped, common = _with_common_parameters(simplify(shaped, shapes), same)

    converged = converge(shaped, choices, divergence)
    limits = MergeLimits(shaped, max_blocks, max_growth, frozenset(i for i, c in enumerate(converged) if c.skipped))
    guarded = guard_ranges(shaped, converged)
    looped = split_loops(shaped, guarded, limits.all)
    prepared = prepare_barriers(shaped.kernels, looped, known_shape(shaped))
    inputs = merge_inputs(shaped, prepared, looped, choices, divergence == "duplicate")
    flows = [each.flow for each in inputs]

    slicings = slicings_of(shaped, choices, alternatives=divergence is None)  # "duplicate" by request may be long
    inputs = merge_copies(shaped, inputs, slicings, limits)
    inputs = common.in_lockstep(inputs) if common else inputs
    whole, *others = merging.merge_order(shaped, inputs)
    for other in others:  # the first two kernels, then the result with the third, ...; of the candidates the smallest
        pair = merging.cut_at_waits(whole, other)
        candidates = [slice(pair, thresholds) for thresholds in slicings]
        whole = merging.merge(candidates, limits)
    if common:
        loaded = common.loaded_once(shaped, whole, flows)
        shaped, whole, flows = loaded.linked, loaded.side, loaded.flows

    draft = drafted(shaped, looped, whole, choices)
    one_each = None
    if by_default:
        room = Room.of(shaped, looped)
        if shapes and placement is None and divergence is None and not common:
            one_each = partial(interleaved_if_possible, chosen, shapes, arch, name, latency, presume)
        if one_each and (why := rarely_together(shaped.plan)) and (made := one_each(why)):
            return replace(made, replaceable=presume)
        sequence = None if common else partial(_in_sequence, shaped, inputs, slicings[-1], limits)
        draft = with_few_registers(room, looped, draft, sequence)
        if one_each and (why := fewer_rounds(room, draft.needed)) and (made := one_each(why)):
            return replace(made, replaceable=presume)
    final = reconverge(draft.flow, looped, draft.merged)
    taken = replace(draft.choices, slicing=draft.whole.slicing)
    notes = (*draft.whole.notes, draft.note) if draft.note else draft.whole.notes
    woven = emit(chosen, shaped, flows, looped, draft.merged, final, taken, notes, needed=draft.needed)
    return replace(woven, replaceable=one_each is not None and presume)


def _in_sequence(
    linked: Linked, inputs: Sequence[MergeInput], slicing: SlicingThresholds, limits: MergeLimits
) -> MergeInput:
    """The kernels as one, each after the one before it."""
    whole, *others = merging.merge_order(linked, inputs)
    for other in others:
        whole = merging.merge_in_sequence(slice(merging.cut_at_waits(whole, other), slicing), limits)
    return whole


def _with_common_parameters(linked: Linked, same: ParameterPairs) -> tuple[Linked, InCommon | None]:
    """None where kernels share nothing: then the module that finds equal loads need not be imported."""
    if not same:
        return linked, None
    from goptx.weaving.dependent.shared_inputs import InCommon

    return InCommon.found(linked, same, "weave")


def _as_published(chosen: Sequence[Chosen], shaped: Linked, choices: Choices) -> Woven:
    """The kernels woven by the published merge, with a warning."""
    from goptx.weaving.merging.paper_merge import NOTE, REMEDY, merge_as_published

    published = merge_as_published(shaped, choices)
    scheduled = schedule(shaped, (), published.merged, choices)
    woven = emit(chosen, shaped, published.flows, (), published.merged, scheduled, choices, published.notes)
    warnings.warn(f"{NOTE}; {REMEDY}.", ConvergenceWarning, stacklevel=3)
    return woven
