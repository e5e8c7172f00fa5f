"""Counts what weaving did, for its report."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from goptx.analysis.cfg import Code, Flow, depths, instructions_in
from goptx.analysis.numbering import provenance_of
from goptx.analysis.sync.barriers import holds_barrier, is_barrier
from goptx.latency.cost import Cycles, flow_cycles
from goptx.ptx.ir import Provenance, Scope
from goptx.results.report import Counts, Divergent
from goptx.weaving.converge.predicate_code import is_ours
from goptx.weaving.merging.merged_blocks import MergedBlock
from goptx.weaving.merging.size_limits import block_count, instruction_count
from goptx.weaving.model import Converged, Kernel


def divergences(converged: Sequence[tuple[str, Converged]], merged: Collection[MergedBlock]) -> tuple[Divergent, ...]:
    """The divergences of the kernels, each with its letter. A region counts as duplicated if the other kernel's code
    stands on the sides of any copy of it."""
    beside = {(k, c.stands[k]) for block in merged for c in block.states if len(c.runs) > 1 for k in c.runs}
    found = (
        Divergent(letter, d.line, "duplicate" if any((k, region) in beside for region in d.regions) else d.choice)
        for k, (letter, c) in enumerate(converged)
        for d in c.divergences
    )
    return tuple(dict.fromkeys(found))  # copies of a kernel have the same divergences


def count(name: str, flow: Flow, cycles: Cycles, dummies: int = 0) -> Counts:
    return Counts(
        name=name,
        blocks=block_count(flow),
        instructions=instruction_count(flow),
        dummy_blocks=dummies,
        barriers=sum(is_barrier(i) for b in filter(holds_barrier, flow.blocks.values()) for i in b.instructions()),
        estimated_cycles=flow_cycles(flow, cycles),
    )


def woven_fraction(kernels: Sequence[Kernel], flows: Sequence[Flow], merged: Sequence[MergedBlock]) -> float:
    """As `Report` defines it; `flows` are the kernels' flows that the merger was given."""
    sizes = [len(k.flow.instructions()) for k in kernels]
    smaller = min(range(len(sizes)), key=lambda k: (sizes[k], k))
    together = {provenance_of(code) for m in merged if m.woven for code in m.parts[smaller]}
    weights: dict[Provenance, float] = {}
    for code, depth in _own_code(flows[smaller], 0):
        weight = 10.0**depth * (sum(1 for _ in instructions_in(code)) if isinstance(code, Scope) else 1)
        own = provenance_of(code)
        weights[own] = max(weight, weights.get(own, 0.0))
    total = sum(weights.values())
    return sum(weight for code, weight in weights.items() if code in together) / total if total else 0.0


def _own_code(flow: Flow, outside: int) -> Iterator[tuple[Code, int]]:
    """The kernel's own code with its loop depth, including that of regions, without what goptx inserted."""
    depth = depths(flow)
    for name, block in flow.blocks.items():
        for code in block.code:
            if isinstance(code, Scope) or not is_ours(code):
                yield code, outside + depth[name]
        if block.region:
            yield from _own_code(block.region.flow(), outside + depth[name])
