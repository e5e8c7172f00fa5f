"""Chooses groups of independent kernels that are estimated to gain if each group is one launch.

Requires: a graph whose edges are its dependences. Ensures: kernels of a group do not depend on each other, directly or
through other groups, so that the graph of groups has no cycle; and its critical path is not longer than that of the
graph, with as many SMs as wanted and estimated times. The same graph gives the same groups everywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from goptx.cost.estimate import Estimate
from goptx.cost.hardware import machine_of
from goptx.cost.kernels import Alone, alone
from goptx.errors import CannotWeave
from goptx.graph.graph_description import Edge, Graph, GraphNode
from goptx.graph.node_effects import variables_of
from goptx.latency.table import LatencyTable, load_table
from goptx.options import Strategy
from goptx.results.given_kernels import MOST_KERNELS
from goptx.sources.kernel_text import Chosen
from goptx.strategies.candidate import Candidate
from goptx.strategies.candidates import Judge
from goptx.strategies.estimates.prospects import TIE
from goptx.weaving.link.target import common_target

NEAR = 32  # nodes in the order of the graph, within which the kernels of a group lie
WOVEN = 3  # kernels at most that are woven: the product of more takes many seconds
LINES = 400  # of kernels at most that are woven: a graph has many groups, and more take seconds each
DARING = 1.3  # times as long as separate launches: a group that is estimated to take longer is not measured
TRIALS = 4000  # groups that are estimated at most, each in about a millisecond
Group = tuple[int, ...]  # indices of nodes, in order


@dataclass(slots=True)
class Costs:
    """Estimated cycles of the kernels of a graph, alone and together, for the GPU `arch`.

    daring: groups are wanted that may gain, to be measured: those that are estimated to take a little longer as one
    launch count too, and are interleaved, the strategy of which the estimates say least.
    """

    graph: Graph
    arch: str
    daring: bool = False
    trials: int = 0
    table: LatencyTable = field(init=False)
    _kernels: dict[tuple[str, str], Alone | str] = field(default_factory=dict)
    _estimates: dict[object, Estimate] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.table = load_table(None, self.arch)

    def kernel(self, node: GraphNode) -> Alone | str:
        """The work of the node's kernel, or why it cannot be estimated."""
        assert node.ptx is not None
        key = node.ptx, node.entry
        if key not in self._kernels:
            try:
                found = alone(Chosen(self.graph.module(node), node.entry), machine_of(self.arch), self.table)
            except CannotWeave as reason:
                self._kernels[key] = str(reason)
            else:
                self._kernels[key] = found
        return self._kernels[key]

    def judge(self, group: Collection[int]) -> Judge:
        """Estimates of these kernels, in their shapes."""
        nodes = [self.graph.nodes[i] for i in group]
        kernels = [k for k in map(self.kernel, nodes) if isinstance(k, Alone)]
        return Judge(kernels, [1] * len(nodes), [n.shape for n in nodes], self.arch)

    def cycles(self, group: Collection[int], strategy: Strategy, streams: bool = False) -> float:
        """The cycles of these kernels by a strategy, as far as can be known; infinite where no CTA fits on an SM.
        `streams`: separate launches side by side."""
        nodes = [self.graph.nodes[i] for i in group]
        key = strategy, streams, tuple((n.ptx, n.entry, n.grid, n.block, n.shared) for n in nodes)
        if key not in self._estimates:
            self.trials += 1
            candidate = Candidate(strategy, (1,) * len(nodes))
            candidate = candidate.having(streams=True) if streams else candidate
            self._estimates[key] = next(e for c, e in self.judge(group).estimates(candidate) if c.cap is None)
        return self._estimates[key].cycles

    def separate(self, group: Collection[int]) -> float:
        """The cycles of separate launches: one after the other or side by side, whichever is estimated to be faster."""
        in_turn = sum(self.cycles((i,), "separate") for i in group)
        return min(in_turn, self.cycles(group, "separate", streams=True)) if len(group) > 1 else in_turn

    @property
    def most(self) -> float:
        """The estimated cycles of a group as one launch, as a share of those of separate launches, that may be worth
        it."""
        return DARING if self.daring else 1 - TIE

    def possible(self, group: Collection[int]) -> list[Strategy]:
        """The strategies that are tried for a group."""
        kernels = [k for k in (self.kernel(self.graph.nodes[i]) for i in group) if isinstance(k, Alone)]
        few = not self.daring and len(group) <= WOVEN and sum(len(k.lines) for k in kernels) <= LINES
        return ["interleave", "weave", "vertical"] if few else ["interleave"]

    def fused(self, group: Collection[int]) -> float:
        """The least cycles of one launch."""
        return min(self.cycles(group, strategy) for strategy in self.possible(group))

    def strategies(self, group: Group) -> list[Strategy]:
        """The strategies for a group that are estimated to gain, the best first."""
        separate = self.separate(group)
        gains = [s for s in self.possible(group) if self.cycles(group, s) < separate * self.most]
        return sorted(gains, key=lambda s: self.cycles(group, s))


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
        elif not costs.cycles((i,), "separate") < float("inf"):
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
    times = [costs.cycles((i,), "separate") if i in candidates else 0.0 for i in range(len(graph.nodes))]
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
        for other in _near(seed, free, rank):
            if costs.trials >= TRIALS or len(group) == MOST_KERNELS:
                break
            if other in taken or not contracted.independent(seed, other):
                continue
            if contracted.path_with(seed, other) > limit:
                continue
            then = costs.fused([*group, other])
            if then < min(now + times[other], costs.separate([*group, other])) * costs.most:
                contracted.join(seed, other)
                group.append(other)
                taken.add(other)
                now = then
        if len(group) > 1:
            groups.append(tuple(sorted(group, key=rank.__getitem__)))
    return groups


def _near(seed: int, free: Sequence[int], rank: Mapping[int, int]) -> Iterator[int]:
    """The nodes after the seed, and near it."""
    return (i for i in free if 0 < rank[i] - rank[seed] <= NEAR)


def target_of(graph: Graph) -> str:
    """The architecture for which most kernels of the graph are compiled; "sm_90" for a graph without PTX."""
    targets = [common_target([graph.module(node)], None)[0] for node in graph.nodes if node.ptx]
    return max(sorted(set(targets)), key=targets.count) if targets else "sm_90"
