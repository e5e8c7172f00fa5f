"""Puts the fused kernels of a captured graph on the device, and takes the graph that is right and fastest.

Requires: a captured graph, its dependences, and fused kernels of independent groups. Ensures: the graph that is taken
was compared in place with the captured one, and is not slower than it, as far as that was asked for and is possible;
the note says what was not. What could not be assembled, launched, or was wrong, is left out with a reason. Groups for
which the budget left no time are named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import networkx as nx

from goptx.errors import AssemblyError, DeviceError
from goptx.graph.captured_program import Program
from goptx.graph.chosen_groups import Choice
from goptx.graph.graph_rewriting import Taken, rewritten
from goptx.graph.group_costs import Group
from goptx.graph.running.graph_trial import Trial
from goptx.graph.running.launchable_graph import FusedNode, LaunchableGraph, in_a_row
from goptx.graph.running.unknown_time import time_without_ptx
from goptx.time_budget import Budget

CAPTURED, PARALLEL, FUSED, WIDELY = "as captured", "parallel", "fused", "fused widely"
FURTHER, OTHER_FORMS = "with further groups", "with groups in other forms"
IN_A_ROW = ", in a row"  # after the name of a plan
MOST_REFORMED = 6  # groups that are measured in other forms
MOST_TRIED = 24  # groups without which the graph is measured
GAIN = 0.995  # of the time, below which a graph without a group counts as faster


@dataclass(slots=True)
class Placed:
    """launchable: the graph that was taken. taken: its groups. wrong: why others are not in it, by the indices of their
    nodes. measured: milliseconds of each kind of graph, empty where nothing was measured. note: why it was not compared
    or measured. untried: groups for which no time was left. without_ptx: the share of the time that nodes without PTX
    take, None where that was not measured."""

    launchable: LaunchableGraph
    taken: list[Taken] = field(default_factory=list)
    wrong: dict[int, str] = field(default_factory=dict)
    measured: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    untried: list[Group] = field(default_factory=list)
    without_ptx: float | None = None


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
    placing = _Placing(program, choice, limit, check)
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
            return placing.fastest(good, captured, trial, further)
        captured.close()
        return placing.unmeasured(good[first])


class _Placing:
    def __init__(self, program: Program, choice: Choice, limit: Budget, check: bool) -> None:
        self.program, self.choice, self.limit, self.check = program, choice, limit, check
        self.wrong: dict[int, str] = {}
        self.untried: list[Group] = []

    def unmeasured(self, taken: list[Taken], note: str = "") -> Placed:
        """The graph with these groups."""
        return Placed(self.fused(taken), taken, self.wrong, {}, note)

    def fits(self, one: Taken) -> bool:
        """Whether a fused kernel can be assembled and launched."""
        try:
            self.fused([one]).close()
        except (AssemblyError, DeviceError) as error:
            self._leave(one, f"its fused kernel cannot be launched: {error}")
            return False
        return True

    def _leave(self, one: Taken, reason: str) -> None:
        self.wrong |= dict.fromkeys(one.group, reason)

    def fused(self, taken: Sequence[Taken], row: bool = False) -> LaunchableGraph:
        fused, graph = rewritten(self.program.graph, self.choice.dependences, taken, self.choice.costs)
        kernels = {group.id: FusedNode(group.members, one.made) for group, one in zip(fused, taken, strict=True)}
        return LaunchableGraph(self.program, in_a_row(graph) if row else graph, kernels, self.choice.trust)

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
                self._leave(one, f"the graph with its fused kernel differs: {why}")
            else:
                good.append(one)
            alone.close()
        return good

    def fastest(
        self, plans: Mapping[str, list[Taken]], captured: LaunchableGraph, trial: Trial, further: Further
    ) -> Placed:
        """The fastest graph: as captured, with true dependences, or fused, without the groups that do not gain, and
        with further ones that do."""
        graphs = {CAPTURED: captured, PARALLEL: self.fused([])}
        groups: dict[str, list[Taken]] = {CAPTURED: [], PARALLEL: []}
        for name, good in plans.items():
            for row in (False, True) if good else ():
                groups[name + IN_A_ROW * row] = good
                graphs[name + IN_A_ROW * row] = self.fused(good, row)
        measured = trial.milliseconds(graphs)
        best = min(measured, key=lambda name: measured[name])
        for name, good in plans.items():
            for one in good if name != best.removesuffix(IN_A_ROW) else ():
                self._leave(one, f"the graph with its fused kernel takes {measured[name]:.4g} ms, {best} less")
        found, taken = graphs.pop(best), groups[best]
        row = best.endswith(IN_A_ROW)
        for graph in graphs.values():
            graph.close()
        if taken:
            found, taken, time = self._without(found, taken, row, measured[best], trial)
            measured = {**measured, best: time}
        row = row or best == CAPTURED
        tried = {one.group for good in plans.values() for one in good}
        found, more, time = self._with(found, taken, row, trial, further, tried)
        if more:
            measured = {**measured, FURTHER: time}
        taken = [*taken, *more]
        made = taken or list({one.group: one for good in plans.values() for one in good}.values())
        found, taken, time = self._in_other_forms(found, taken, made, row, trial, further)
        if time:
            measured = {**measured, OTHER_FORMS: time}
        share = time_without_ptx(self.program, trial) if self.limit.left(reserved=True) > 0 else None
        return Placed(found, taken, self.wrong, measured, "", self.untried, share)

    def _with(
        self, graph: LaunchableGraph, taken: list[Taken], row: bool, trial: Trial, further: Further, tried: set[Group]
    ) -> tuple[LaunchableGraph, list[Taken], float]:
        """The graph with the further groups with which it is faster, these groups, and the milliseconds."""
        more: list[Taken] = []
        time = 0.0
        for group in further.groups:
            if group in tried or not self._may_add(group, [*taken, *more]):
                continue
            if self.limit.left() <= 0:
                self.untried.append(group)
                continue
            for one in further.made(group):
                if one.group in tried or not self._may_add(one.group, [*taken, *more]) or not self.fits(one):
                    continue
                tried.add(one.group)
                other = self.fused([*taken, *more, one], row)
                if self.check and (why := trial.different(other)):
                    self._leave(one, f"the graph with its fused kernel differs: {why}")
                    other.close()
                    continue
                times = trial.milliseconds({"with": other, "without": graph})
                if times["with"] < times["without"] * GAIN:
                    graph.close()
                    graph, more, time = other, [*more, one], times["with"]
                else:
                    other.close()
        return graph, more, time

    def _in_other_forms(
        self,
        graph: LaunchableGraph,
        taken: list[Taken],
        made: Sequence[Taken],
        row: bool,
        trial: Trial,
        further: Further,
    ) -> tuple[LaunchableGraph, list[Taken], float]:
        """The graph with groups in other forms with which it is faster, the groups, and the milliseconds; 0 if none
        is."""
        time = 0.0
        for one in made[:MOST_REFORMED]:
            if self.limit.left() <= 0:
                break
            for form in further.others(one):
                rest = [other for other in taken if other.group != one.group]
                if not self._may_add(one.group, rest) or not self.fits(form):
                    continue
                other = self.fused([*rest, form], row)
                times = {} if self.check and trial.different(other) else trial.milliseconds({"in": other, "out": graph})
                if times and times["in"] < times["out"] * GAIN:
                    graph.close()
                    graph, taken, time = other, [*rest, form], times["in"]
                else:
                    other.close()
        return graph, taken, time

    def _may_add(self, group: Group, taken: Sequence[Taken]) -> bool:
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

    def _without(
        self, graph: LaunchableGraph, taken: list[Taken], row: bool, time: float, trial: Trial
    ) -> tuple[LaunchableGraph, list[Taken], float]:
        """The graph without the groups without which it is faster."""
        for one in taken[:MOST_TRIED] if len(taken) > 1 else []:
            if self.limit.left() <= 0:
                break
            rest = [other for other in taken if other is not one]
            other = self.fused(rest, row)
            times = trial.milliseconds({"with": graph, "without": other})
            if times["without"] < times["with"] * GAIN:
                gain = times["with"] / times["without"]
                self._leave(one, f"the graph without its fused kernel is {gain:.3f} times as fast")
                graph.close()
                graph, taken, time = other, rest, times["without"]
            else:
                other.close()
                time = times["with"]
        return graph, taken, time
