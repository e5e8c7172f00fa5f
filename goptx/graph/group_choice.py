"""Chooses groups of independent kernels that are estimated to gain if each group is one launch.

Requires: a graph whose edges are its dependences. Ensures: kernels of a group do not depend on each other, directly or
through other groups, so that the graph of groups has no cycle; and its critical path is not longer than that of the
graph, with as many SMs as wanted and estimated times. The same graph gives the same groups everywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from goptx.graph.graph_description import Edge, Graph, Id
from goptx.graph.group_costs import Costs, Group
from goptx.graph.node_effects import variables_of
from goptx.results.given_kernels import MOST_KERNELS
from goptx.weaving.link.target import common_target

NEAR = 32  # nodes in the order of the graph, within which the kernels of a group lie
TRIALS = 4000  # groups that are estimated at most, each in about a millisecond


def unfit(graph: Graph, costs: Costs) -> dict[int, str]:
    """For each kernel that stays a launch of its own whatever is beside it, why."""
    found: dict[int, str] = {}
    for i, node in enumerate(graph.nodes):
        if node.ptx is None:
            found[i] = f"a {node.kind} node" if node.kind != "kernel" else "its PTX is not known"
        elif node.alone:
            found[i] = node.alone
        elif (names := [n for n in variables_of(graph.module(node), graph.function(node)) if not _is_table(n)]) != []:
            found[i] = f"it uses the variable `{names[0]}` of its module, and a fused kernel would have another one"
        elif isinstance(why := costs.kernel(node), str):
            found[i] = why
        elif not costs.alone(i) < float("inf"):
            found[i] = "it is estimated not to fit on an SM"
    return found


def _is_table(name: str) -> bool:
    """Whether a variable is one of the compiler's own: a table of its mathematical functions."""
    return name.startswith("__cudart_i2opi")


@dataclass(slots=True)
class _Contracted:
    """The graph of groups: each node is in the group of its number in `home`; groups are named by a member."""

    graph: Graph
    edges: Sequence[tuple[int, int]]
    costs: Sequence[float]
    home: list[int] = field(init=False)
    before: list[int] = field(init=False)  # bits of the groups on which each depends
    start: list[float] = field(init=False)  # cycles of the longest path to each group
    rest: list[float] = field(init=False)  # cycles of the longest path from the end of each
    longest: list[float] = field(init=False)  # cycles of the longest member of each

    def __post_init__(self) -> None:
        self.home = list(range(len(self.costs)))
        self.longest = list(self.costs)
        self.update()

    @property
    def critical(self) -> float:
        return max((s + c + r for s, c, r in zip(self.start, self.longest, self.rest, strict=True)), default=0.0)

    def update(self) -> None:
        """Computes what follows from `home`."""
        count = len(self.costs)
        following: list[set[int]] = [set() for _ in range(count)]
        waits = [0] * count
        for one, other in {(self.home[a], self.home[b]) for a, b in self.edges}:
            following[one].add(other)
            waits[other] += 1
        ready = [g for g in range(count) if self.home[g] == g and not waits[g]]
        order: list[int] = []
        self.before, self.start, self.rest = [0] * count, [0.0] * count, [0.0] * count
        while ready:
            group = ready.pop()
            order.append(group)
            for other in following[group]:
                self.before[other] |= self.before[group] | 1 << group
                self.start[other] = max(self.start[other], self.start[group] + self.longest[group])
                waits[other] -= 1
                if not waits[other]:
                    ready.append(other)
        for group in reversed(order):
            self.rest[group] = max((self.longest[o] + self.rest[o] for o in following[group]), default=0.0)

    def independent(self, one: int, other: int) -> bool:
        return not (self.before[one] >> other & 1 or self.before[other] >> one & 1)

    def path_with(self, one: int, other: int) -> float:
        """The longest path through both, if they were one group."""
        return sum(max(part[one], part[other]) for part in (self.start, self.longest, self.rest))

    def join(self, one: int, other: int) -> None:
        self.home = [one if home == other else home for home in self.home]
        self.longest[one], self.longest[other] = max(self.longest[one], self.longest[other]), 0.0
        self.update()


def choose_groups(graph: Graph, edges: Sequence[Edge], costs: Costs, candidates: Collection[int]) -> list[Group]:
    """The groups of at least two kernels, in the order of the graph. `edges` are its dependences, `candidates` the
    kernels that may be in a group."""
    at = graph.position
    times = [costs.alone(i) if i in candidates else 0.0 for i in range(len(graph.nodes))]
    contracted = _Contracted(graph, [(at[a], at[b]) for a, b in edges], times)
    limit = contracted.critical
    rank = {node: i for i, node in enumerate(graph.order)}
    free = [i for i in graph.order if i in candidates]
    groups: list[Group] = []
    taken: set[int] = set()
    for seed in free:
        if seed in taken:
            continue
        group = [seed]
        taken.add(seed)
        now = times[seed]
        near = list(_near(seed, free, rank))
        for other in (*near, *near):  # a kernel that does not gain beside the first may gain beside more of them
            if costs.trials >= TRIALS or len(group) == MOST_KERNELS:
                break
            if other in taken or not contracted.independent(seed, other):
                continue
            if contracted.path_with(seed, other) > limit:
                continue
            together = sorted((*group, other), key=rank.__getitem__)
            then = costs.fused(together)
            if then < min(now + times[other], costs.separate(together)) * costs.most:
                contracted.join(seed, other)
                group.append(other)
                taken.add(other)
                now = then
        if len(group) > 1:
            groups.append(tuple(sorted(group, key=rank.__getitem__)))
    return groups


def sibling_groups(graph: Graph, edges: Sequence[Edge], candidates: Collection[int]) -> list[Group]:
    """Groups of kernels that wait for the same nodes and for which the same nodes wait: as one launch they add no
    order. `edges`, `candidates` as for `choose_groups`."""
    nodes = graph.nodes
    before: dict[Id, set[Id]] = {node.id: set() for node in nodes}
    after: dict[Id, set[Id]] = {node.id: set() for node in nodes}
    for one, other in edges:
        after[one].add(other)
        before[other].add(one)
    alike: dict[object, list[int]] = {}
    for i in graph.order:
        if i in candidates:
            alike.setdefault((frozenset(before[nodes[i].id]), frozenset(after[nodes[i].id])), []).append(i)
    parts = [group[k : k + MOST_KERNELS] for group in alike.values() for k in range(0, len(group), MOST_KERNELS)]
    return [tuple(part) for part in parts if len(part) > 1]


def _near(seed: int, free: Sequence[int], rank: Mapping[int, int]) -> Iterator[int]:
    """The nodes after the seed, and near it."""
    return (i for i in free if 0 < rank[i] - rank[seed] <= NEAR)


def target_of(graph: Graph) -> str:
    """The architecture for which most kernels of the graph are compiled; "sm_90" for a graph without PTX."""
    targets = [common_target([graph.module(node)], None)[0] for node in graph.nodes if node.ptx]
    return max(sorted(set(targets)), key=targets.count) if targets else "sm_90"
