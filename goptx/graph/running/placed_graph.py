"""Puts the fused kernels of a captured graph on the device, and takes the graph that is right and fastest.

Requires: a captured graph, its dependences, and fused kernels of independent groups. Ensures: the graph that is taken
was compared in place with the captured one, and is not slower than it, as far as that was asked for and is possible;
the note says what was not. What could not be assembled, launched, or was wrong, is left out with a reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from goptx.errors import AssemblyError, DeviceError
from goptx.graph.captured_program import Program
from goptx.graph.chosen_groups import Choice
from goptx.graph.graph_rewriting import Taken, rewritten
from goptx.graph.running.graph_trial import Trial
from goptx.graph.running.launchable_graph import FusedNode, LaunchableGraph, in_a_row

CAPTURED, PARALLEL, FUSED, IN_A_ROW = "as captured", "parallel", "fused", "fused, in a row"
MOST_TRIED = 24  # groups without which the graph is measured
GAIN = 0.995  # of the time, below which a graph without a group counts as faster


@dataclass(slots=True)
class Placed:
    """launchable: the graph that was taken. taken: its groups. wrong: why others are not in it, by the indices of their
    nodes. measured: milliseconds of each kind of graph, empty where nothing was measured. note: why it was not compared
    or measured."""

    launchable: LaunchableGraph
    taken: list[Taken] = field(default_factory=list)
    wrong: dict[int, str] = field(default_factory=dict)
    measured: Mapping[str, float] = field(default_factory=dict)
    note: str = ""


def placed(
    program: Program, choice: Choice, made: Sequence[Taken], check: bool, tune: bool, stream: Any = None
) -> Placed:
    """The graph for these groups. `check`, `tune` as for `goptx.optimize_graph`. Raises `DeviceError`."""
    placing = _Placing(program, choice)
    good = [one for one in made if placing.fits(one)]
    if not check and not tune:
        return Placed(placing.fused(good), good, placing.wrong)
    captured = LaunchableGraph(program, program.graph)
    with Trial(captured, choice.effects, stream) as trial:
        if check and not trial.note:
            good = placing.right(good, trial)
        if not tune or trial.note:
            return Placed(placing.fused(good), good, placing.wrong, {}, trial.note)
        return placing.fastest(good, captured, trial)


class _Placing:
    def __init__(self, program: Program, choice: Choice) -> None:
        self.program, self.choice = program, choice
        self.wrong: dict[int, str] = {}

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
        kernels = {group.id: FusedNode(group.members, one.made.woven) for group, one in zip(fused, taken, strict=True)}
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

    def fastest(self, good: list[Taken], captured: LaunchableGraph, trial: Trial) -> Placed:
        """The fastest graph: as captured, with true dependences, or fused, without the groups that do not gain."""
        graphs = {CAPTURED: captured, PARALLEL: self.fused([])}
        if good:
            graphs |= {FUSED: self.fused(good), IN_A_ROW: self.fused(good, row=True)}
        measured = trial.milliseconds(graphs)
        best = min(measured, key=lambda name: measured[name])
        taken = good if best in (FUSED, IN_A_ROW) else []
        for one in good:
            if best not in (FUSED, IN_A_ROW):
                self._leave(one, f"the graph with its fused kernel takes {measured[FUSED]:.4g} ms, {best} less")
        found = graphs.pop(best)
        if taken:
            found, taken, best_time = self._without(found, taken, best == IN_A_ROW, measured[best], trial)
            measured = {**measured, best: best_time}
        for graph in graphs.values():
            graph.close()
        return Placed(found, taken, self.wrong, measured)

    def _without(
        self, graph: LaunchableGraph, taken: list[Taken], row: bool, time: float, trial: Trial
    ) -> tuple[LaunchableGraph, list[Taken], float]:
        """The graph without the groups without which it is faster."""
        for one in taken[:MOST_TRIED] if len(taken) > 1 else []:
            rest = [other for other in taken if other is not one]
            other = self.fused(rest, row)
            times = trial.milliseconds({"with": graph, "without": other})
            if times["without"] < times["with"] * GAIN:
                self._leave(
                    one, f"the graph without its fused kernel is {times['with'] / times['without']:.3f} times as fast"
                )
                graph.close()
                graph, taken, time = other, rest, times["without"]
            else:
                other.close()
                time = times["with"]
        return graph, taken, time
