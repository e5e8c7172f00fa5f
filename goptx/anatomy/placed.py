"""Which CTAs of the kernels a CTA of the fused kernel runs, and which kernels its warps run.

Requires: a plan. The arithmetic is that of `View.carrying` and `Interleaved.carrying`, which emit it as code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from math import prod

from goptx.launch.launch_plan import Plan, spread
from goptx.options import AXES
from goptx.weaving.shapes.interleaved import Interleaved
from goptx.weaving.shapes.partitioned import Partitioned
from goptx.weaving.shapes.thread_view import WARP

FIRST, LAST = 8, 3  # CTAs that get a row each, at the beginning and the end, if neighbours differ
Held = tuple[tuple[int, int], ...]  # the numbers of the kernels that a CTA runs, and how many CTAs of each


def carriers(plan: Plan, kernel: int) -> int | None:
    """How many CTAs of the fused kernel run the kernel; None if that is known only at launch."""
    axes = plan.carried("grid", plan.shapes)[kernel]
    return None if None in axes else prod(n or 0 for n in axes)


def carried(plan: Plan, cta: int) -> Held:
    """What a CTA of the fused kernel runs. Requires a wholly known grid."""
    return tuple((k, _copies(plan, k, number)) for k, number in _numbers(plan, cta))


def _copies(plan: Plan, kernel: int, number: int) -> int:
    """The CTAs of a kernel in one; if the grid has more axes than that of coarsening, always the whole factor."""
    coarse, axes = plan.coarse[kernel], plan.shapes[kernel].axes("grid")
    along = axes[coarse.axis]
    alone = along is not None and all(n == 1 for i, n in enumerate(axes) if i != coarse.axis)
    return 1 if alone and along is not None and number >= along // coarse.factor else coarse.factor


def _numbers(plan: Plan, cta: int) -> Iterator[tuple[int, int]]:
    """The kernels that the CTA runs, and its number among the CTAs that run the kernel."""
    counts = [carriers(plan, k) or 0 for k in range(len(plan.shapes))]
    if isinstance(plan, Interleaved):
        yield _one(plan, counts, cta)
        return
    total = plan.shape.ctas or 0
    for k, count in enumerate(counts):
        if plan.covers_exactly("grid", k) or count == total:
            yield k, cta
        elif plan.placement == "front":
            if cta < count:
                yield k, cta
        elif (number := _spread(cta, count, total)) is not None:
            yield k, number


def _spread(cta: int, count: int, total: int) -> int | None:
    step = spread(count, total)
    high, low = divmod(cta * (step + 1), 1 << 32)
    return high if low <= step else None


def _one(plan: Interleaved, counts: Sequence[int], cta: int) -> tuple[int, int]:
    if plan.ratio:
        return _in_groups(plan.ratio, counts, cta)
    for k, count in enumerate(counts[:-1]):
        if plan.placement == "front":
            if cta < count:
                return k, cta
            cta -= count
            continue
        step = spread(count, sum(counts[k:]))
        high, low = divmod(cta * (step + 1), 1 << 32)
        if low <= step:
            return k, high
        cta -= high + 1
    return len(counts) - 1, cta


def _in_groups(ratio: Sequence[int], counts: Sequence[int], cta: int) -> tuple[int, int]:
    groups = min(n // each for n, each in zip(counts, ratio, strict=True))
    group, position = divmod(cta, sum(ratio))
    sizes, first = (
        (list(ratio), group)
        if group < groups
        else ([n - groups * r for n, r in zip(counts, ratio, strict=True)], groups)
    )
    position = position if group < groups else cta - groups * sum(ratio)
    starts = [0, *accumulate(sizes)]
    k = next(k for k, end in enumerate(starts[1:]) if position < end)
    return k, first * ratio[k] + position - starts[k]


def spans(plan: Plan) -> list[tuple[int, int, Held]]:
    """Runs of CTAs that run the same: the first, the last, and what they run. If neighbouring CTAs differ throughout
    the grid, only CTAs at the beginning and at the end. None if that is known at launch only, or decided then, or a CTA
    runs several of a kernel."""
    total = plan.shape.ctas
    if total is None or plan.folds or plan.is_bound:
        return []
    starts = _changes(plan, total)
    if starts is None:
        few = total <= 2 * FIRST
        starts = [*range(total if few else FIRST), *range(total if few else total - LAST, total)]
        found = [(c, c, carried(plan, c)) for c in starts]
    else:
        found = [(a, b - 1, carried(plan, a)) for a, b in pairwise([*starts, total])]
    joined = found[:1]
    for first, last, held in found[1:]:
        before = joined[-1]
        if held == before[2] and before[1] + 1 == first:
            joined[-1] = before[0], last, held
        else:
            joined.append((first, last, held))
    return joined


def _changes(plan: Plan, total: int) -> list[int] | None:
    """The first CTA and those that may run something else than the one before; None if neighbours differ throughout."""
    counts = [carriers(plan, k) or 0 for k in range(len(plan.shapes))]
    every = all(plan.covers_exactly("grid", k) or n == total for k, n in enumerate(counts))
    overlaid = isinstance(plan, Interleaved)
    ratio = plan.ratio if isinstance(plan, Interleaved) else ()
    if (overlaid and (ratio or plan.placement != "front")) or (
        not overlaid and not every and plan.placement != "front"
    ):
        return None
    starts = [0, *accumulate(counts)] if overlaid else [0] * len(counts)
    left_over = [(p.axes("grid")[c.axis] or 0) // c.factor for p, c in zip(plan.shapes, plan.coarse, strict=True)]
    changes = {
        0,
        *(s + n for s, n in zip(starts, counts, strict=False)),
        *(s + n for s, n in zip(starts, left_over, strict=False)),
    }
    return sorted(c for c in changes if c < total)


def warps(plan: Plan | None, held: Held) -> list[tuple[int, int | None, Held]]:
    """Runs of warps of a CTA that run the same kernels: the first, the last, and what they run; idle warps too. One run
    of all warps if the block is known only at launch."""
    threads = plan.shape.threads if plan else None
    if plan is None or threads is None:
        return [(0, None, held)]
    ranges = {k: _warps_of(plan, k) for k, _ in held}
    total = -(-threads // WARP)
    starts = sorted({0, *(w for r in ranges.values() for w in r if w < total)})
    return [
        (a, b - 1, tuple((k, n) for k, n in held if ranges[k][0] <= a < ranges[k][1]))
        for a, b in pairwise([*starts, total])
    ]


def _warps_of(plan: Plan, kernel: int) -> tuple[int, int]:
    """The first warp of the kernel, and the one after its last."""
    first = plan.first_thread(kernel) // WARP
    own = plan.partition[kernel] if isinstance(plan, Partitioned) else plan.shapes[kernel].threads or 0
    return first, first + -(-own // WARP)


def described(plan: Plan) -> list[str]:
    """Notes on what the rows do not distinguish."""
    notes = []
    for letter, shape, coarse in zip(plan.letters, plan.shapes, plan.coarse, strict=True):
        along = shape.axes("grid")[coarse.axis]
        if coarse.factor > 1 and (along is None or along % coarse.factor):
            notes.append(f"CTAs of {letter} that are left over along {AXES[coarse.axis]} have a CTA each")
    return notes
