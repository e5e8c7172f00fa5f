"""Searches for the fastest of the graphs that leave the same as a captured one.

Requires: groups of independent kernels, fused and compared, and a trial that runs graphs. Ensures: the graph that is
taken is the fastest in a last measurement, in turn, of those without fused kernels and of the best with some, which
have to be faster in most rounds: what gains a little in one of many comparisons may have gained by chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from goptx.graph.graph_description import Graph
from goptx.graph.graph_rewriting import Taken
from goptx.graph.group_costs import Group
from goptx.graph.running.graph_trial import FINALS, Trial
from goptx.graph.running.launchable_graph import LaunchableGraph
from goptx.graph.running.placed_graph import ORDERS, Further, Order, Placed, Placing
from goptx.graph.running.unknown_time import time_without_ptx

CAPTURED, PARALLEL, FUSED, WIDELY = "as captured", "parallel", "fused", "fused widely"
SIBLINGS = "fused where nothing waits longer"
FEWER, FURTHER = "with fewer groups", "with further groups"
OTHER_FORMS, OTHER_ORDER = "with groups in other forms", "with groups in another order"
MOST_REFORMED = 6  # groups that are measured in other forms
MOST_TRIED = 24  # groups without which the graph is measured
GAIN = 0.998  # of the time: a graph that takes more does not count as faster
NEARLY = 1.05  # times as long as the fastest graph: others are not tried without some of their groups
MOSTLY = 0.7  # the share of the rounds in which the faster graph has to be faster


@dataclass(frozen=True, slots=True)
class Design:
    """A graph that may be taken: its name in reports, the graph on the device, its groups and its order."""

    name: str
    graph: LaunchableGraph
    taken: tuple[Taken, ...] = ()
    order: Order = "branches"

    def __str__(self) -> str:
        plain = self.name == CAPTURED or self.order == "branches" or self.name.endswith(self.order)
        return self.name if plain else f"{self.name}, {self.order}"


def fastest(
    placing: Placing, plans: Mapping[str, Sequence[Taken]], captured: LaunchableGraph, trial: Trial, further: Further
) -> Placed:
    """The fastest of: the captured graph, that with branches, those of the plans, each in several orders; the best of
    them without the groups that do not gain, with others that do, in other forms and in other orders; and, where no
    group gains at first, the best with groups without some of them. Raises `DeviceError`."""
    search = _Search(placing, plans, trial, further)
    starts = search.starts(captured)
    first = search.measure(starts)
    last = search.in_other_forms(search.with_more(search.without(first)))
    found = [first, search.in_other_orders(last)]
    if not first.taken and (near := search.nearly_as_fast(starts, first)):
        found.append(search.without(near))
    best = search.final([one for one in starts if not one.taken], [one for one in found if one.taken])
    search.close_all_but(best)
    enough = placing.limit.left(reserved=True) > 0
    share = time_without_ptx(placing.program, trial) if enough else None
    return Placed(best.graph, best.taken, placing.wrong, search.measured, "", search.untried, share, str(best))


def is_faster(times: Sequence[float], others: Sequence[float]) -> bool:
    """Whether a graph is faster than another one that was run in turn with it: in the median by more than what counts
    as nothing, and in most rounds."""
    ratios = [one / other for one, other in zip(times, others, strict=True)]
    return median(ratios) < GAIN and sum(ratio < 1 for ratio in ratios) >= MOSTLY * len(ratios)


class _Search:
    """measured: milliseconds of graphs by their names. untried: groups for which no time was left."""

    def __init__(self, placing: Placing, plans: Mapping[str, Sequence[Taken]], trial: Trial, further: Further) -> None:
        self.placing, self.plans, self.trial, self.further = placing, plans, trial, further
        self.measured: dict[str, float] = {}
        self.untried: list[Group] = []
        self._open: list[Design] = []

    def starts(self, captured: LaunchableGraph) -> list[Design]:
        """The captured graph, that with branches, and those of the plans, each in all orders; no graph twice."""
        found = [Design(CAPTURED, captured, (), "in a row")]
        seen = {_key(captured.graph)}
        for name, taken in {PARALLEL: (), **self.plans}.items():
            for order in ORDERS if taken or name == PARALLEL else ():
                key = _key(self.placing.described(taken, order))
                if key not in seen and (taken or order != "in a row"):
                    seen.add(key)
                    full = name if order == "branches" else f"{name}, {order}"
                    found.append(Design(full, self.placing.fused(taken, order), tuple(taken), order))
        self._open += found
        return found

    def measure(self, designs: Sequence[Design]) -> Design:
        """The fastest of them; the groups of the others get a reason."""
        times = self.trial.milliseconds({one.name: one.graph for one in designs})
        self.measured |= times
        best = min(designs, key=lambda design: times[design.name])
        for design in designs:
            if design.order == "branches":
                slower = f"the graph with its fused kernel takes {times[design.name]:.4g} ms, {best.name} less"
                for one in design.taken if design.taken != best.taken else ():
                    self.placing.leave(one, slower)
        return best

    def nearly_as_fast(self, designs: Sequence[Design], best: Design) -> Design | None:
        """The fastest of those with groups, which may be faster without some of them."""
        limit = self.measured[best.name] * NEARLY
        near = [one for one in designs if len(one.taken) > 1 and self.measured[one.name] < limit]
        return min(near, key=lambda one: self.measured[one.name], default=None)

    def without(self, design: Design) -> Design:
        """The graph without the groups without which it is faster."""
        for one in design.taken[:MOST_TRIED] if len(design.taken) > 1 else ():
            if self.placing.limit.left() <= 0:
                break
            rest = [other for other in design.taken if other is not one]
            if better := self._better(design, FEWER, rest, design.order):
                self.placing.leave(one, f"the graph without its fused kernel is {better[1]:.3f} times as fast")
                design = better[0]
        return design

    def with_more(self, design: Design) -> Design:
        """The graph with further groups with which it is faster: first those of the plans, each by itself, in place of
        groups with the same kernels."""
        for one in self._of_plans():
            rest = [other for other in design.taken if not set(other.group) & set(one.group)]
            if one not in design.taken and self.placing.may_add(one.group, rest):
                design = self._or_better(design, FURTHER, [*rest, one], design.order)
        tried = {one.group for made in self.plans.values() for one in made}
        for group in self.further.groups:
            if group in tried or not self.placing.may_add(group, design.taken):
                continue
            if self.placing.limit.left() <= 0:
                self.untried.append(group)
                continue
            for one in self.further.made(group):
                if one.group not in tried and self.placing.may_add(one.group, design.taken) and self.placing.fits(one):
                    tried.add(one.group)
                    design = self._or_better(design, FURTHER, [*design.taken, one], design.order, one)
        return design

    def _of_plans(self) -> Iterator[Taken]:
        """The groups of all plans, as long as there is time."""
        made = {(one.group, one.made.how): one for taken in self.plans.values() for one in taken}
        for one in list(made.values())[:MOST_TRIED]:
            if self.placing.limit.left() > 0:
                yield one

    def in_other_forms(self, design: Design) -> Design:
        """The graph with groups in other forms with which it is faster."""
        made = design.taken or {one.group: one for taken in self.plans.values() for one in taken}.values()
        for one in list(made)[:MOST_REFORMED]:
            for form in self.further.others(one) if self.placing.limit.left() > 0 else ():
                rest = [other for other in design.taken if other.group != one.group]
                if self.placing.may_add(one.group, rest) and self.placing.fits(form):
                    design = self._or_better(design, OTHER_FORMS, [*rest, form], design.order, form)
        return design

    def in_other_orders(self, design: Design) -> Design:
        """The graph in the order in which it is the fastest; of a graph without groups all were measured."""
        seen = {_key(design.graph.graph)}
        for order in ORDERS if design.taken else ():
            key = _key(self.placing.described(design.taken, order))
            if key not in seen and self.placing.limit.left() > 0:
                seen.add(key)
                design = self._or_better(design, OTHER_ORDER, design.taken, order)
        return design

    def final(self, unfused: Sequence[Design], fused: Sequence[Design]) -> Design:
        """The fastest, measured once more; one with groups has to be faster than all without."""
        each = {one.name: one for one in (*unfused, *fused)}
        enough = self.placing.limit.left(reserved=True) > 0
        rounds = self.trial.rounds({name: one.graph for name, one in each.items()}, FINALS if enough else 1)
        self.measured |= {name: median(times) for name, times in rounds.items()}
        base = min(unfused, key=lambda one: self.measured[one.name])
        better = [one for one in each.values() if one.taken and is_faster(rounds[one.name], rounds[base.name])]
        found = min(better, key=lambda one: self.measured[one.name], default=base)
        for one in fused:
            slower = f"measured again, the graph with its fused kernel takes {self.measured[one.name]:.4g} ms"
            for group in one.taken if one is not found else ():
                if not self.placing.wrong.keys() & set(group.group):
                    self.placing.leave(group, f"{slower}, {found.name} {self.measured[found.name]:.4g} ms")
        return found

    def close_all_but(self, design: Design) -> None:
        """Destroys the other graphs."""
        for one in self._open:
            if one.graph is not design.graph:
                one.graph.close()

    def _or_better(
        self, design: Design, name: str, taken: Sequence[Taken], order: Order, new: Taken | None = None
    ) -> Design:
        better = self._better(design, name, taken, order, new)
        return better[0] if better else design

    def _better(
        self, design: Design, name: str, taken: Sequence[Taken], order: Order, new: Taken | None = None
    ) -> tuple[Design, float] | None:
        """The graph with these groups, and how many times as fast it is, if it is faster. `new`: a group that was not
        compared yet."""
        graph = self.placing.fused(taken, order)
        if new and self.placing.check and (why := self.trial.different(graph)):
            self.placing.leave(new, f"the graph with its fused kernel differs: {why}")
            graph.close()
            return None
        rounds = self.trial.rounds({"new": graph, "old": design.graph})
        if not is_faster(rounds["new"], rounds["old"]):
            graph.close()
            return None
        new_one = Design(name, graph, tuple(taken), order)
        self._open.append(new_one)
        self.measured[name] = median(rounds["new"])
        return new_one, median(rounds["old"]) / self.measured[name]


def _key(graph: Graph) -> object:
    """What two descriptions of the same graph have in common."""
    return graph.nodes, frozenset(graph.edges)
