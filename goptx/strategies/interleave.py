"""interleave: each CTA runs a CTA of one kernel, and the grid has those of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from goptx.cost.ctas_at_once import ctas_of_each
from goptx.errors import InputError
from goptx.latency.table import LatencyTable
from goptx.launch.launch_plan import Plan
from goptx.launch.shape import Shape
from goptx.options import BINDINGS, Assume, Binding, Fold, ParameterPairs, Placement, is_one_for_each
from goptx.results.expected_gain import judged
from goptx.results.fused_kernel import Woven
from goptx.results.given_kernels import Source, kernels_of, own_shapes_of
from goptx.weaving.ctas_of_one_kernel import interleaved
from goptx.weaving.link.link import link
from goptx.weaving.model import Linked
from goptx.weaving.request import check_request
from goptx.weaving.shapes.folded import check_blocks, check_interleaved_fold
from goptx.weaving.shapes.interleaved import MOST_ROUND, Interleaved

MOST = 1 << 16  # CTAs of one round of the ratio


@judged
def interleave(
    *sources: Source,
    entries: Sequence[str | None] | None = None,
    arch: str | None = None,
    name: str | None = None,
    latency: str | Path | LatencyTable | None = None,
    max_inlined: int | None = None,
    shapes: Sequence[Shape] | None = None,
    assume: Assume | None = None,
    placement: Placement | None = None,
    ratio: Sequence[int] | None = None,
    presume: bool = True,
    same: ParameterPairs = (),
    fold: Fold | None = None,
    ctas: Sequence[int] | None = None,
    binding: Binding | None = None,
) -> Woven:
    """The kernels unchanged, side by side. The block is the largest of theirs, and so is the shared memory. So are the
    registers, unless a register cap is estimated to be better: `max_registers` of the result, and a note in its report.

    shapes: one for each kernel.
    placement: "spread" (the CTAs of all kernels from the beginning of the grid to its end) or "front" (those of the
        first kernel, then those of the second, and so on). By default spread; but a kernel of which the GPU runs all
        CTAs at once, beside one of which it does not run half, comes first, or takes turns with the first; so does a
        much smaller one, if not all CTAs begin at once.
    ratio: how many CTAs of each kernel stand in one round, which is repeated until a kernel has no more CTAs; (1, 3) is
        ABBBABBB...
    same: pairs of parameters that are one, such as ("A:0", "B:0"): a buffer that no kernel writes, or a number. The
        fused kernel has the first of them. Each kernel loads for itself, because a thread runs one kernel only.
    fold: "static", "chunk" or "ticket" for folded grids: few CTAs are launched, and each runs several of one kernel's
        CTAs, one after the other; see `goptx.strategies.horizontal`. The kernels' blocks have to be known.
    ctas: how many CTAs run each kernel if grids are folded. The default is as many as the GPU holds at once, shared out
        equally. By default those of the first kernel come first, then those of the second, and so on.
    binding: "sm" if the SM on which a CTA begins decides which of two kernels it runs, so that both are on each SM
        whatever the hardware's order: the CTAs that begin on an SM take turns. `ratio` is then that of the turns, by
        default that of the grids; at most 32 together.

    Other arguments and errors are those of `weave`.
    """
    check_request("concat", None, None, placement)
    kernels = kernels_of(sources, entries, max_inlined=max_inlined)
    own = own_shapes_of(sources, shapes, kernels, "interleave")
    if ratio is not None:
        _check_ratio(ratio, len(kernels), placement)
    check_interleaved_fold(fold, ctas, len(kernels))
    _check_binding(binding, len(kernels), placement, ratio)
    linked = link(kernels, arch, name, own)
    layout = _layout(linked, tuple(ratio or ()), fold, ctas, binding)
    placement = placement or ("front" if fold and not ratio else None)
    return interleaved(kernels, linked, own, latency, presume, placement, layout, same)


def _layout(
    linked: Linked,
    ratio: tuple[int, ...],
    fold: Fold | None,
    ctas: Sequence[int] | None,
    binding: Binding | None,
) -> Callable[[Plan], Interleaved]:
    def placed(plan: Plan) -> Interleaved:
        made = Interleaved.of(plan, ratio=ratio, binding=binding)
        if fold is None:
            return made
        check_blocks(made)
        return replace(made, fold=fold, ctas=tuple(ctas) if ctas else ctas_of_each(made, linked))

    return placed


def _check_binding(
    binding: Binding | None, kernels: int, placement: Placement | None, ratio: Sequence[int] | None
) -> None:
    if binding not in (None, *BINDINGS):
        raise InputError(f"binding `{binding}` is unknown; expected one of {', '.join(BINDINGS)}, or None.")
    if binding is None:
        return
    if kernels != 2:
        raise InputError(f'binding="sm" binds CTAs of two kernels to SMs; these are {kernels}. Fuse two of them.')
    if placement is not None:
        raise InputError(
            f'placement="{placement}" and binding="sm" both say which CTAs run a kernel; give one of them.'
        )
    if ratio is not None and sum(ratio) > MOST_ROUND:
        raise InputError(f'ratio={tuple(ratio)}: with binding="sm" at most {MOST_ROUND} CTAs take turns on an SM.')


def _check_ratio(ratio: Sequence[int], kernels: int, placement: Placement | None) -> None:
    if not is_one_for_each(ratio, kernels) or min(ratio) < 1 or sum(ratio) > MOST:
        raise InputError(
            f"ratio={ratio} takes a number of CTAs above 0 for each of the {kernels} kernels, at most {MOST} together."
        )
    if placement == "front":
        raise InputError(f'ratio={ratio} and placement="front" are two orders of the CTAs; give one.')
