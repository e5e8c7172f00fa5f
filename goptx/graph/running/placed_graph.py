"""Puts the fused kernels of a captured graph on the device, and takes the graph that is right and fastest.

Requires: a captured graph, its dependences, and fused kernels of independent groups. Ensures: the graph that is taken
was compared in place with the captured one, and is not slower than it, nor than the one with branches alone, as far as
that was asked for and is possible; the note says what was not. What could not be assembled, launched, or was wrong, is
left out with a reason. Groups for which the budget left no time are named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import networkx as nx

from goptx.errors import AssemblyError, DeviceError
from goptx.graph.captured_program import Program
from goptx.graph.chosen_groups import Choice
from goptx.graph.graph_description import Graph
from goptx.graph.graph_report import FusedGroup
from goptx.graph.graph_rewriting import Taken, rewritten
from goptx.graph.group_costs import Group
from goptx.graph.running.graph_orders import as_many_as_fit, demands_of, in_a_row
from goptx.graph.running.graph_trial import Trial
from goptx.graph.running.launchable_graph import FusedNode, LaunchableGraph
from goptx.time_budget import Budget

Order = Literal["branches", "in a row", "as many at once as fit", "half as many at once as fit"]
ORDERS: tuple[Order, ...] = "branches", "in a row", "as many at once as fit", "half as many at once as fit"
PLACES: Mapping[Order, float] = {"as many at once as fit": 1.0, "half as many at once as fit": 0.5}  # shares of places


@dataclass(slots=True)
class Placed:
    """launchable: the graph that was taken. taken: its groups. wrong: why others are not in it, by the indices of their
    nodes. measured: milliseconds of each kind of graph, empty where nothing was measured. name: of the graph that was
    taken, where it was measured. note: why it was not compared
    or measured. untried: groups for which no time was left. without_ptx: the share of the time that nodes without PTX
    take, None where that was not measured."""

    launchable: LaunchableGraph
    taken: Sequence[Taken] = ()
    wrong: dict[int, str] = field(default_factory=dict)
    measured: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    untried: Sequence[Group] = ()
    without_ptx: float | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Further:
    """Other groups that are measured one by one, those that are estimated to gain most first; `made` gives the fused
    kernels of one. `others` gives a group that was made in other forms."""

    groups: Sequence[Group]
    made: Callable[[Group], Sequence[Taken]]
    others: Callable[[Taken], Sequence[Taken]]


def placed(
    program: Program,
    choice: Choice,
    plans: Mapping[str, Sequence[Taken]],
    check: bool,
    tune: bool,
    further: Further,
    limit: Budget,
    stream: Any = None,
) -> Placed:
    """The graph for these groups. plans: groups by the names of what is measured; without measuring, the first is
    taken. `further` groups are added to the fastest graph where it is faster with them, within the budget. `check`,
    `tune` as for `goptx.optimize_graph`. Raises `DeviceError`."""
    from goptx.graph.running.graph_search import fastest

    placing = Placing(program, choice, limit, check)
    good = {name: [one for one in made if placing.fits(one)] for name, made in plans.items()}
    first = next(iter(good))
    if not check and not tune:
        return placing.unmeasured(good[first])
    captured = LaunchableGraph(program, program.graph)
    with Trial(captured, choice.effects, stream) as trial:
        if trial.note:
            return placing.unmeasured(good[first], trial.note)
        if check:
            good = {name: placing.right(taken, trial) for name, taken in good.items()}
        if tune:
            return fastest(placing, good, captured, trial, further)
        captured.close()
        return placing.unmeasured(good[first])


class Placing:
    """Makes graphs with groups of fused kernels on the device. `wrong`: why groups are not taken, by the indices of
    their nodes."""

    def __init__(self, program: Program, choice: Choice, limit: Budget, check: bool) -> None:
        self.program, self.choice, self.limit, self.check = program, choice, limit, check
        self.wrong: dict[int, str] = {}

    def unmeasured(self, taken: list[Taken], note: str = "") -> Placed:
        """The graph with these groups."""
        return Placed(self.fused(taken), taken, self.wrong, {}, note)

    def fits(self, one: Taken) -> bool:
        """Whether a fused kernel can be assembled and launched."""
        try:
            self.fused([one]).close()
        except (AssemblyError, DeviceError) as error:
            self.leave(one, f"its fused kernel cannot be launched: {error}")
            return False
        return True

    def leave(self, one: Taken, reason: str) -> None:
        """Notes why a group is not taken."""
        self.wrong |= dict.fromkeys(one.group, reason)

    def fused(self, taken: Sequence[Taken], order: Order = "branches") -> LaunchableGraph:
        """The graph with these groups in that order. Raises `AssemblyError`, `DeviceError`."""
        graph, groups = self._rewritten(taken, order)
        kernels = {group.id: FusedNode(group.members, one.made) for group, one in zip(groups, taken, strict=True)}
        return LaunchableGraph(self.program, graph, kernels, self.choice.trust)

    def described(self, taken: Sequence[Taken], order: Order) -> Graph:
        """The description of that graph."""
        return self._rewritten(taken, order)[0]

    def _rewritten(self, taken: Sequence[Taken], order: Order) -> tuple[Graph, list[FusedGroup]]:
        known, costs = self.program.graph, self.choice.costs
        fused, graph = rewritten(known, self.choice.dependences, taken, costs)
        if order == "in a row":
            graph = in_a_row(graph)
        elif order in PLACES:
            graph = as_many_as_fit(graph, demands_of(graph, known, fused, costs), PLACES[order])
        return graph, fused

    def right(self, taken: list[Taken], trial: Trial) -> list[Taken]:
        """The groups with which the graph leaves what the captured one does."""
        whole = self.fused(taken)
        try:
            if not trial.different(whole):
                return taken
        finally:
            whole.close()
        good = []
        for one in taken:
            alone = self.fused([one])
            if why := trial.different(alone):
                self.leave(one, f"the graph with its fused kernel differs: {why}")
            else:
                good.append(one)
            alone.close()
        return good

    def may_add(self, group: Group, taken: Sequence[Taken]) -> bool:
        """Whether its kernels are in no group that was taken, and the graph of groups has no cycle with it."""
        home = {i: n for n, one in enumerate((group, *(one.group for one in taken))) for i in one}
        if len(home) < len(group) + sum(len(one.group) for one in taken):
            return False
        at = self.program.graph.position
        whole: nx.DiGraph[object] = nx.DiGraph()
        for one, other in self.choice.dependences:
            a, b = at[one], at[other]
            whole.add_edge(("group", home[a]) if a in home else a, ("group", home[b]) if b in home else b)
        return bool(nx.is_directed_acyclic_graph(whole))
