"""What became of a graph: which kernels are one launch now, and why the others are not."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from goptx.display import as_text, brief
from goptx.graph.graph_description import Edge, Id

PRODUCTS = re.compile("nvjet|gemm|gemv|cutlass|xmma|cublas|splitk", re.IGNORECASE)  # in names of libraries' kernels
ADVICE = (
    'torch.compile(mode="max-autotune") with torch._inductor.config.max_autotune_gemm_backends = "TRITON" gives '
    "matrix products PTX"
)

NO_PTX = (
    "the PTX of no kernel is known, so that none can be fused: capture the graph within `with goptx.collect() as "
    "kernels:`, give `kernels`, and see what print(kernels) says"
)


@dataclass(frozen=True, slots=True)
class FusedGroup:
    """Kernels that became one launch.

    id: of the new node. members: ids of the old ones. strategy: how they were fused. separate, cycles: the estimated
    cycles of separate launches, side by side where that is faster, and of the fused one. note: why it was not compared
    on the emulator, "" if it was, or was not to be.
    """

    __repr__ = brief

    id: Id
    members: tuple[Id, ...]
    strategy: str
    separate: float
    cycles: float
    note: str = ""

    def __str__(self) -> str:
        gain = f"estimated {self.separate / self.cycles:.2f} times as fast as separately"
        note = f"; {self.note}" if self.note else ""
        return f"{self.id}: {', '.join(map(str, self.members))} by {self.strategy}, {gain}{note}"


@dataclass(frozen=True, slots=True)
class GraphReport:
    """What became of a graph.

    nodes: how many it has; known: how many of them have PTX.
    dependences: the true ones, as pairs of ids. groups: those that were chosen, before any was refused.
    fused: the groups that are fused now. single: for each node that is not in one, why.
    seconds: how long all of it took.
    measured: milliseconds on the device of the graph as captured, with its true dependences, and fused; empty where
        nothing was measured. taken: the name of that which was taken, and the order of its nodes.
    note: why the new graph was not compared with the captured one, or not measured.
    untried: the groups for which the budget left no time, those that are estimated to gain most first.
    unknown: the names of the kernels without PTX, each once. without_ptx: the share of the measured time that nodes
        without PTX take, one after the other, from 0 to 1; None where that was not measured.
    """

    __repr__ = brief

    nodes: int
    known: int
    dependences: tuple[Edge, ...]
    groups: tuple[tuple[Id, ...], ...]
    fused: tuple[FusedGroup, ...]
    single: Mapping[Id, str]
    seconds: float
    measured: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    untried: tuple[tuple[Id, ...], ...] = ()
    unknown: tuple[str, ...] = ()
    without_ptx: float | None = None
    taken: str = ""

    _repr_pretty_ = as_text

    @property
    def speedup(self) -> float:
        """The estimated gain of the fused kernels over separate launches; 1 if nothing is fused."""
        after = sum(group.cycles for group in self.fused)
        return sum(group.separate for group in self.fused) / after if after else 1.0

    @property
    def advice(self) -> str:
        """How much of the time cannot become faster for lack of PTX, and what to do about it; "" if all have PTX."""
        parts = [NO_PTX] if self.unknown and not self.known else []
        parts += [] if not self.without_ptx else [f"{self.without_ptx:.0%} of the time is of nodes without PTX"]
        if products := [name for name in self.unknown if PRODUCTS.search(name)]:
            parts.append(f"{_listed([name[:60] for name in products])}: {ADVICE}")
        return "; ".join(parts)

    def __str__(self) -> str:
        head = (
            f"{self.nodes} nodes, {self.known} with PTX; {len(self.dependences)} dependences; "
            f"{len(self.groups)} groups independent, {len(self.fused)} fused"
        )
        if self.fused:
            head += f", their kernels estimated {self.speedup:.2f} times as fast"
        lines = [f"  measured {name}: {ms:.4g} ms" for name, ms in self.measured.items()]
        lines += [f"  taken: {self.taken}"] if self.taken else []
        lines += [f"  not run: {self.note}"] if self.note else []
        lines += [f"  {self.advice}"] if self.advice else []
        lines += [f"  fused {group}" for group in self.fused]
        lines += [f"  not tried within the budget: {_listed(group)}" for group in self.untried]
        reasons: dict[str, list[Id]] = {}
        for id_, why in self.single.items():
            reasons.setdefault(why, []).append(id_)
        lines += [f"  not fused {_listed(ids)}: {why}" for why, ids in reasons.items()]
        return "\n".join([head, *lines])


def _listed(ids: Sequence[Id]) -> str:
    return ", ".join(map(str, ids)) if len(ids) <= 8 else f"{', '.join(map(str, ids[:8]))} and {len(ids) - 8} more"
