"""Figures made of counters: launches one after the other, stalls in total, and what the resources of the GPU allow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from goptx.measuring.profiling.metrics import CYCLES, ISSUE, TIME
from goptx.measuring.profiling.profile_result import Launched, issue_utilisation
from profiles.counters import (
    ACTIVE,
    ALL_COUNTED,
    ALL_STALLS,
    L1_SECTORS,
    L2_SECTORS,
    MEMORY_STALLS,
    RESOURCES,
    SCOREBOARDS,
    SELECTED,
    SUMS,
    Counts,
    Resource,
)

Weight = Callable[[Counts], float | None]


def combined(launches: Sequence[Counts]) -> Counts:
    """The counts of launches one after the other: sums add up; shares are weighted with what they are shares of. None
    where a counter is lacking."""
    if len(launches) == 1:
        return launches[0]
    return {
        metric.short: _sum([one.get(metric.short) for one in launches])
        if metric in SUMS
        else _mean(launches, metric.short, _weight(metric.short))
        for metric in ALL_COUNTED
    }


def _weight(short: str) -> Weight:
    if short in _STALLS:  # of active warps
        return lambda counts: _product(counts.get(CYCLES.short), counts.get("AOC"))
    of = {"L2HR": L2_SECTORS.short, "THR": L1_SECTORS.short}.get(short, CYCLES.short)
    return lambda counts: counts.get(of)


_STALLS = {metric.short for metric in ALL_STALLS}


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _product(*values: float | None) -> float | None:
    product = 1.0
    for value in values:
        if value is None:
            return None
        product *= value
    return product


def _mean(launches: Sequence[Counts], short: str, weight: Weight) -> float | None:
    weights = [weight(counts) for counts in launches]
    amount, whole = _sum([_product(c.get(short), w) for c, w in zip(launches, weights, strict=True)]), _sum(weights)
    return amount / whole if amount is not None and whole else None


def i12(alone: Sequence[Counts]) -> float | None:
    """The issue slots (per cent) that the kernels use one after the other, weighted with their elapsed cycles: I12 of
    the HFUSE paper."""
    return issue_utilisation([Launched("", "", counts) for counts in alone])


def scoreboard(counts: Counts) -> float | None:
    """Active warps (per cent) that wait for a register which an instruction has yet to write."""
    return _sum([counts.get(short) for short in SCOREBOARDS])


def memory_share(counts: Counts) -> float | None:
    """The stalls for memory as a share (per cent) of all stalls. Reasons that the device does not count are none."""
    known = {m.short: counts[m.short] or 0.0 for m in ALL_STALLS if counts.get(m.short) is not None}
    whole = sum(value for short, value in known.items() if short != SELECTED)
    return 100 * sum(known.get(short, 0.0) for short in MEMORY_STALLS) / whole if whole else None


def stalled_cycles(counts: Counts) -> float | None:
    """Active cycles of a scheduler, in the mean, in which no warp issued an instruction."""
    active, issued = counts.get(ACTIVE.short), counts.get(ISSUE.short)
    return None if active is None or issued is None else active * (1 - issued / 100)


def longest_wait(counts: Counts) -> tuple[str, float]:
    """The reason for which most active warps wait, and how many (per cent). ("", 0) if no stall is known."""
    known = {m.short: counts.get(m.short) or 0.0 for m in ALL_STALLS if m.short != SELECTED}
    reason = max(known, key=lambda short: known[short])
    return (reason, known[reason]) if known[reason] else ("", 0.0)


# What the resources allow --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bound:
    """What a fused kernel can gain that does the same work: the speedup over the kernels one after the other, and the
    resource that allows no more. `all`: the speedup that each resource allows."""

    speedup: float
    resource: str
    all: Mapping[str, float]


def busy(counts: Counts, resource: Resource) -> float | None:
    """Microseconds for which the launch would keep the resource busy at its peak."""
    return _product(counts.get(TIME.short), counts.get(resource.name), 0.01)


def bound(alone: Sequence[Counts], resources: Iterable[Resource] = RESOURCES) -> Bound | None:
    """By adding what the kernels use of each resource, at the share of its peak that is within reach. None without a
    resource that is known for all kernels."""
    time = _sum([counts.get(TIME.short) for counts in alone])
    allowed = {}
    for resource in resources:
        needed = _sum([busy(counts, resource) for counts in alone])
        if time and needed:
            allowed[resource.name] = time / (needed / resource.limit)
    if not allowed:
        return None
    least = min(allowed, key=lambda name: allowed[name])
    return Bound(allowed[least], least, allowed)


@dataclass(frozen=True, slots=True)
class Loss:
    """Why a kernel does not reach its bound: it uses its resource for `work` times what the kernels alone use it, and
    only to `use` of the `limit` (per cent). `resource` is the bound's; `most` is the resource of which it uses most,
    with that use. Times of the bound: `work * limit / use`."""

    resource: str
    work: float
    use: float
    limit: float
    most: tuple[str, float]

    @property
    def share(self) -> float:
        """Of the bound, by the profiler's times."""
        return self.use / self.limit / self.work


def loss(alone: Sequence[Counts], fused: Counts, limit: Bound) -> Loss | None:
    """None where a counter is lacking."""
    (resource,) = (r for r in RESOURCES if r.name == limit.resource)
    before, after = _sum([busy(counts, resource) for counts in alone]), busy(fused, resource)
    use = fused.get(resource.name)
    if not before or not after or not use:
        return None
    uses = {r.name: fused.get(r.name) or 0.0 for r in RESOURCES}
    most = max(uses, key=lambda name: uses[name])
    return Loss(resource.name, after / before, use, 100 * resource.limit, (most, uses[most]))
