"""Makes one launch of the kernels of a group: the fused module, and the node with the parameters of all.

Requires: kernels of known PTX that do not depend on each other. Ensures: the new node does what the nodes of the group
do; a group that no strategy takes is divided, and kernels that stay single have a reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from goptx.cost.courses import made_of
from goptx.errors import InputError
from goptx.graph.graph_description import Graph, GraphNode, Id, sha_of
from goptx.graph.group_choice import Costs, Group
from goptx.launch.bind import held
from goptx.options import Strategy
from goptx.results.expected_gain import unjudged
from goptx.results.fused_kernel import Woven
from goptx.sources.kernel_text import Chosen
from goptx.strategies.candidate import Candidate
from goptx.strategies.choose_strategy import REFUSALS
from goptx.strategies.estimates.prospects import LOSS, STAKE, TIE, Prospect, is_choosable, separate_cycles
from goptx.strategies.fuse import fuse
from goptx.weaving.link.target import common_target

VARIED = 6  # kernels at most that are estimated under every assumption, which are many for more
MADE = 2  # strategies of which a fused kernel is made and estimated from its own code


@dataclass(frozen=True, slots=True)
class Fused:
    """A fused kernel, and its estimated cycles."""

    woven: Woven
    cycles: float


class Makers:
    """Fused kernels, each made once for the same kernels and shapes. `refused` has the reasons of what was not made, by
    the ids of the group. `device`: the architecture of the GPU on which they will run, if that is known."""

    def __init__(self, graph: Graph, costs: Costs, arch: str | None, device: str | None = None) -> None:
        self.graph, self.costs, self.arch, self.device = graph, costs, arch, device
        self.refused: dict[tuple[Id, ...], str] = {}
        self._made: dict[object, Fused | str] = {}

    def of(self, group: Group) -> list[tuple[Group, Fused]]:
        """The fused kernels of a group: one for all its nodes, or for each half of them that can be fused."""
        nodes = [self.graph.nodes[i] for i in group]
        key = tuple((n.ptx, n.entry, n.grid, n.block, n.shared) for n in nodes)
        if key not in self._made:
            self._made[key] = self._make(group)
        found = self._made[key]
        if isinstance(found, Fused):
            return [(group, found)]
        self.refused[tuple(n.id for n in nodes)] = found
        half = len(group) // 2
        return [made for part in (group[:half], group[half:]) if len(part) > 1 for made in self.of(part)]

    def _make(self, group: Group) -> Fused | str:
        reasons: list[str] = []
        made: list[Fused] = []
        for strategy in self.costs.strategies(group):
            if len(made) == MADE:
                break
            try:
                woven = self._fused(group, strategy)
            except (*REFUSALS, InputError) as reason:
                reasons.append(f"{strategy}: {reason}")
            else:
                prospect = self._prospect(group, strategy, woven)
                sure = is_choosable(prospect) and (len(group) <= VARIED or prospect.gain > 1 + STAKE * LOSS)
                if sure or self.costs.daring:
                    made.append(Fused(woven, prospect.cycles))
        best = min(made, key=lambda m: m.cycles, default=None)
        slower = f"no fused kernel is estimated to be {TIE:.0%} faster than separate launches"
        return best or "; ".join(reasons) or slower

    def _fused(self, group: Group, strategy: Strategy) -> Woven:
        nodes = [self.graph.nodes[i] for i in group]
        kernels = [Chosen(self.graph.module(n), n.entry) for n in nodes]
        shapes = [n.shape for n in nodes]
        with unjudged():  # `_prospect` estimates it
            made: Woven = fuse(
                *kernels, strategy=strategy, shapes=shapes, arch=self._arch(kernels), latency=self.costs.table
            )
        return made

    def _arch(self, kernels: Sequence[Chosen]) -> str | None:
        """The architecture for which they are fused: of kernels for an older one, that of the device."""
        if self.arch or not self.device:
            return self.arch
        own = common_target([kernel.module for kernel in kernels], None)[0]
        return None if own.startswith(self.device) else self.device

    def _prospect(self, group: Group, strategy: Strategy, woven: Woven) -> Prospect:
        """What the fused kernel promises, from its own code."""
        judge = self.costs.judge(group)
        candidate = Candidate(strategy, (1,) * len(group))
        merged = strategy != "interleave"  # the code of each kernel is as it was otherwise
        made = made_of(woven, judge.kernels, self.costs.table) if merged else None
        if len(group) > VARIED:
            middle = next(e for c, e in judge.estimates(candidate, made) if c.cap is None)
            return Prospect((middle,), (self.costs.separate(group),))
        return Prospect(judge.under_all(candidate, made)[candidate], separate_cycles(judge))


def fused_node(id_: Id, nodes: Sequence[GraphNode], woven: Woven) -> GraphNode:
    """The node that launches a fused kernel in place of these nodes, with their parameters one after the other."""
    (start,) = woven.starts(None, None)
    own = [p for p in start.params if p.kernel is not None]
    contents = [content for node in nodes for content in node.parameters]
    parameters = [*held(own, contents), *start.hidden]
    grid, block = start.shape.sizes("grid"), start.shape.sizes("block")
    return GraphNode(id_, start.entry, grid, block, start.shape.shared or 0, tuple(parameters), sha_of(woven.ptx))
