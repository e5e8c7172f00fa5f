"""Makes one launch of the kernels of a group: the fused module, and the node with the parameters of all.

Requires: kernels of known PTX that do not depend on each other. Ensures: the new node does what the nodes of the group
do; a group that no strategy takes is divided, and kernels that stay single have a reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from goptx.cost.courses import made_of
from goptx.errors import InputError
from goptx.graph.graph_description import Graph, GraphNode, Id, sha_of
from goptx.graph.group_costs import DARING, Costs, Form, Group
from goptx.launch.bind import held
from goptx.launch.shape import Shape
from goptx.ptx.parse import parse
from goptx.results.expected_gain import unjudged
from goptx.results.fused_kernel import Woven
from goptx.sources.kernel_text import Chosen
from goptx.strategies.choose_strategy import REFUSALS
from goptx.strategies.estimates.prospects import LOSS, STAKE, TIE, Prospect, is_choosable, separate_cycles
from goptx.strategies.fuse import fuse
from goptx.weaving.link.target import common_target

VARIED = 6  # kernels at most that are estimated under every assumption, which are many for more
MERGED = ("weave", "vertical")  # of other strategies, the code of each kernel is as it was
_Launch = tuple[Chosen, Shape]
MADE = 2  # strategies of which a fused kernel is made and estimated from its own code


@dataclass(frozen=True, slots=True)
class Team:
    """What a team of folded grids runs: the kernels at these places of the group. woven: the interleaved ones, if they
    are several."""

    members: tuple[int, ...]
    woven: Woven | None = None


@dataclass(frozen=True, slots=True)
class Fused:
    """A fused kernel, its estimated cycles, its form, and what its teams run if its grids are folded."""

    woven: Woven
    cycles: float
    how: str
    teams: tuple[Team, ...] = ()


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
        key = self.costs.facts(group)
        if key not in self._made:
            self._made[key] = self._make(group)
        found = self._made[key]
        if isinstance(found, Fused):
            return [(group, found)]
        self.refused[tuple(n.id for n in nodes)] = found
        half = len(group) // 2
        return [made for part in (group[:half], group[half:]) if len(part) > 1 for made in self.of(part)]

    def others(self, group: Group, made: Fused | None) -> list[Fused]:
        """The group in other forms than that which was made, to be measured: the cost model does not say reliably which
        form of a group is the fastest."""
        found = []
        limit = self.costs.separate(group) * DARING
        forms = [*self.costs.forms_to_measure(group), *self.costs.possible(group)]
        for form in sorted(forms, key=lambda form: self.costs.cycles(group, form)):
            if (made is None or str(form) != made.how) and (cycles := self.costs.cycles(group, form)) < limit:
                with suppress(*REFUSALS, InputError):
                    woven, teams = self._fused(group, form)
                    found.append(Fused(woven, cycles, str(form), teams))
        return found

    def _make(self, group: Group) -> Fused | str:
        reasons: list[str] = []
        made: list[Fused] = []
        for form in self.costs.forms(group):
            if len(made) == MADE:
                break
            try:
                woven, teams = self._fused(group, form)
            except (*REFUSALS, InputError) as reason:
                reasons.append(f"{form}: {reason}")
            else:
                prospect = self._prospect(group, form, woven)
                sure = is_choosable(form.candidate, prospect) and (
                    len(group) <= VARIED or prospect.gain > 1 + STAKE * LOSS
                )
                if sure or self.costs.daring:
                    made.append(Fused(woven, prospect.cycles, str(form), teams))
        best = min(made, key=lambda m: m.cycles, default=None)
        slower = f"no fused kernel is estimated to be {TIE:.0%} faster than separate launches"
        return best or "; ".join(reasons) or slower

    def _fused(self, group: Group, form: Form) -> tuple[Woven, tuple[Team, ...]]:
        nodes = [self.graph.nodes[i] for i in group]
        kernels = form.candidate.coarse([Chosen(self.graph.module(n), n.entry) for n in nodes])
        launches = [(kernel, node.shape) for kernel, node in zip(kernels, nodes, strict=True)]
        options: dict[str, Any] = {"arch": self._arch(kernels), "latency": self.costs.table}
        with unjudged():  # `_prospect` estimates it
            teams = tuple(_team(members, launches, options) for members in form.teams)
            own = [_of_team(team, launches) for team in teams] or launches
            options |= {"strategy": form.candidate.strategy, **dict(form.candidate.options)}
            made: Woven = fuse(*(kernel for kernel, _ in own), shapes=[shape for _, shape in own], **options)
        return made, teams

    def _arch(self, kernels: Sequence[Chosen]) -> str | None:
        """The architecture for which they are fused: of kernels for an older one, that of the device."""
        if self.arch or not self.device:
            return self.arch
        own = common_target([kernel.module for kernel in kernels], None)[0]
        return None if own.startswith(self.device) else self.device

    def _prospect(self, group: Group, form: Form, woven: Woven) -> Prospect:
        """What the fused kernel promises, from its own code."""
        judge = self.costs.judge(group, form.teams)
        merged = form.candidate.strategy in MERGED
        made = made_of(woven, judge.kernels, self.costs.table) if merged else None
        if len(group) > VARIED:
            middle = next(e for c, e in judge.estimates(form.candidate, made) if c.cap is None)
            return Prospect((middle,), (self.costs.separate(group),))
        return Prospect(judge.under_all(form.candidate, made)[form.candidate], separate_cycles(judge))


def _team(members: tuple[int, ...], launches: Sequence[_Launch], options: Mapping[str, Any]) -> Team:
    if len(members) == 1:
        return Team(members)
    own = [launches[k] for k in members]
    shapes = [shape for _, shape in own]
    return Team(members, fuse(*(kernel for kernel, _ in own), strategy="interleave", shapes=shapes, **options))


def _of_team(team: Team, launches: Sequence[_Launch]) -> _Launch:
    """The kernel that a team runs, and its shape."""
    if team.woven is None:
        return launches[team.members[0]]
    (start,) = team.woven.starts(None, None)
    return Chosen(parse(team.woven.ptx), start.entry), start.shape


def fused_node(id_: Id, nodes: Sequence[GraphNode], made: Fused) -> GraphNode:
    """The node that launches a fused kernel in place of these nodes, with the parameters of all."""
    of_teams = [
        _node(id_, [nodes[k] for k in team.members], team.woven) if team.woven else nodes[team.members[0]]
        for team in made.teams
    ]
    return _node(id_, of_teams or nodes, made.woven)


def _node(id_: Id, nodes: Sequence[GraphNode], woven: Woven) -> GraphNode:
    """The same for kernels that were fused at once: their parameters are one after the other."""
    (start,) = woven.starts(None, None)
    own = [p for p in start.params if p.kernel is not None]
    contents = [content for node in nodes for content in node.parameters]
    parameters = [*held(own, contents), *start.hidden]
    grid, block = start.shape.sizes("grid"), start.shape.sizes("block")
    return GraphNode(id_, start.entry, grid, block, start.shape.shared or 0, tuple(parameters), sha_of(woven.ptx))
