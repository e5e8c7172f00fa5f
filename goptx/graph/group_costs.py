"""Forms in which the kernels of a group become one launch, and the cycles that each is estimated to take.

Requires: kernels of known PTX. Ensures: the same graph gives the same forms and cycles everywhere. A kernel with
`wgmma` and one that is limited by memory may be on folded grids, and so may several of each: then each of the two teams
runs its kernels as interleaved ones, and the work that is limited by memory is shared out among all the others.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from goptx.analysis.build_cfg import flow_as_written
from goptx.analysis.cfg import loops
from goptx.cost.assumptions import Known
from goptx.cost.estimate import Estimate
from goptx.cost.hardware import machine_of
from goptx.cost.kernels import Alone, alone
from goptx.errors import CannotWeave
from goptx.graph.graph_description import Graph, GraphNode, Id
from goptx.graph.node_effects import integers_of
from goptx.latency.table import LatencyTable, load_table
from goptx.options import Strategy
from goptx.sources.kernel_text import Chosen
from goptx.strategies.candidate import Candidate
from goptx.strategies.candidates import divides
from goptx.strategies.estimates.fold_candidates import Role, fold_candidates, role_of
from goptx.strategies.estimates.judge import Judge
from goptx.strategies.estimates.prospects import TIE

WOVEN = 3  # kernels at most that are woven: the product of more takes many seconds
LINES = 400  # of kernels at most that are woven: a graph has many groups, and more take seconds each
AT_ONCE = 2  # virtual CTAs of the kernels that are limited by memory, of forms that are estimated to be equally fast
UNEQUAL = 1.25  # times as long as another: CTAs that last so long come first
SPARED = (
    8,
    16,
)  # registers: an assembler keeps fewer at once than are live in the PTX, and two CTAs may have room then
COARSER = (2, 4)  # CTAs of a kernel that become one
DARING = 1.3  # times as long as separate launches: a group that is estimated to take longer is not measured
Group = tuple[int, ...]  # indices of nodes, in order
Facts = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Form:
    """How the kernels of a group become one launch. teams: on folded grids, the places in the group of the kernels that
    each team runs, one after the other; otherwise, each kernel in the order in which they are fused, or empty if that
    is the order of the group."""

    candidate: Candidate
    teams: tuple[tuple[int, ...], ...] = ()

    def __str__(self) -> str:
        return str(self.candidate)


@dataclass(slots=True)
class Costs:
    """Estimated cycles of the kernels of a graph, alone and together, for the GPU `arch`.

    daring: groups are wanted that may gain, to be measured: those that are estimated to take a little longer as one
    launch count too, and they are interleaved, the strategy of which the estimates say least, or on folded grids.
    """

    graph: Graph
    arch: str
    daring: bool = False
    trials: int = 0
    table: LatencyTable = field(init=False)
    _kernels: dict[Facts, Alone | str] = field(default_factory=dict)
    _known: dict[Id, Facts] = field(default_factory=dict)
    _looping: dict[object, bool] = field(default_factory=dict)
    _estimates: dict[object, Estimate] = field(default_factory=dict)
    _roles: dict[object, Role | None] = field(default_factory=dict)
    _folded: dict[object, list[Form]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.table = load_table(None, self.arch)

    def kernel(self, node: GraphNode) -> Alone | str:
        """The work of the node's kernel, or why it cannot be estimated."""
        key = self._facts(node)
        if key not in self._kernels:
            try:
                self._kernels[key] = self._alone(node)
            except CannotWeave as reason:
                self._kernels[key] = str(reason)
        return self._kernels[key]

    def _alone(self, node: GraphNode) -> Alone:
        chosen = Chosen(self.graph.module(node), node.entry)
        known = Known(arguments=dict(self._integers(node)))
        return alone(chosen, machine_of(self.arch), self.table, known, node.shape)

    def _integers(self, node: GraphNode) -> tuple[tuple[int, int], ...]:
        """The integers among the parameters, if loops may run as often as they say."""
        key = node.ptx, node.entry
        if key not in self._looping:
            try:
                self._looping[key] = bool(loops(flow_as_written(self.graph.function(node).body)))
            except CannotWeave:  # its branches are not known
                self._looping[key] = False
        return tuple(integers_of(self.graph, node).items()) if self._looping[key] else ()

    def _facts(self, node: GraphNode) -> Facts:
        """What the estimates of a kernel depend on."""
        if node.id not in self._known:
            self._known[node.id] = node.ptx, node.entry, node.grid, node.block, node.shared, self._integers(node)
        return self._known[node.id]

    def facts(self, group: Collection[int]) -> tuple[Facts, ...]:
        """What the estimates of a group depend on."""
        return tuple(self._facts(self.graph.nodes[i]) for i in group)

    def judge(self, group: Collection[int], teams: Sequence[Sequence[int]] = ()) -> Judge:
        """Estimates of these kernels, in their shapes."""
        nodes = [self.graph.nodes[i] for i in group]
        kernels = [k for k in map(self.kernel, nodes) if isinstance(k, Alone)]
        return Judge(kernels, [1] * len(nodes), [n.shape for n in nodes], self.arch, teams)

    def cycles(self, group: Collection[int], form: Form) -> float:
        """The cycles of these kernels in a form, as far as can be known; infinite where no CTA fits on an SM."""
        return self._estimate(group, form).cycles

    def _estimate(self, group: Collection[int], form: Form) -> Estimate:
        key = form, self.facts(group)
        if key not in self._estimates:
            self.trials += 1
            estimates = self.judge(group, form.teams).estimates(form.candidate)
            self._estimates[key] = next(e for c, e in estimates if c.cap is None)
        return self._estimates[key]

    def alone(self, node: int) -> float:
        """The cycles of a kernel in a launch of its own."""
        return self.cycles((node,), plain("separate", 1))

    def filled(self, node: int) -> float:
        """The share of the GPU's places for CTAs that a kernel fills in a launch of its own, 1 at most."""
        return self._estimate((node,), plain("separate", 1)).filled

    def separate(self, group: Collection[int]) -> float:
        """The cycles of separate launches: one after the other or side by side, whichever is estimated to be faster."""
        in_turn = sum(map(self.alone, group))
        if len(group) == 1:
            return in_turn
        streams = Form(plain("separate", len(group)).candidate.having(streams=True))
        return min(in_turn, self.cycles(group, streams))

    @property
    def most(self) -> float:
        """The estimated cycles of a group as one launch, as a share of those of separate launches, that may be worth
        it."""
        return DARING if self.daring else 1 - TIE

    def possible(self, group: Collection[int]) -> list[Form]:
        """The forms that are tried for a group; of those that are estimated to be equally fast, the first is better."""
        kernels = [k for k in (self.kernel(self.graph.nodes[i]) for i in group) if isinstance(k, Alone)]
        few = not self.daring and len(group) <= WOVEN and sum(len(k.lines) for k in kernels) <= LINES
        strategies: list[Strategy] = ["interleave", "weave", "vertical"] if few else ["interleave"]
        forms = [plain(strategy, len(group)) for strategy in strategies]
        return [*self._longest_first(group), *forms, *self._on_folded_grids(group)]

    def forms_to_measure(self, group: Collection[int]) -> list[Form]:
        """Forms that are tried only where they are measured: several CTAs of each kernel in one, and folded grids on
        which kernels with `wgmma` have fewer registers than they are estimated to need, for those that are limited by
        memory."""
        folded = self._on_folded_grids(group)
        closer = (form for spared in SPARED for form in self._on_folded_grids(group, spared))
        return [*self._coarser(group), *(form for form in dict.fromkeys(closer) if form not in folded)]

    def _coarser(self, group: Collection[int]) -> list[Form]:
        """Interleaved with several CTAs of each kernel in one, so that more of their loads are in flight."""
        judge = self.judge(group)
        texts = [(node.ptx, node.entry) for node in (self.graph.nodes[i] for i in group)]
        lines = {text: len(kernel.lines) for text, kernel in zip(texts, judge.kernels, strict=True)}
        waiting = {estimate.decided_by for estimate in judge.each_alone()} <= {"latency", "memory"}
        if not waiting or sum(lines.values()) > LINES:
            return []
        one = next(iter(self._longest_first(group)), plain("interleave", len(group)))
        forms = [replace(one, candidate=replace(one.candidate, factors=(n,) * len(group))) for n in COARSER]
        fit = [f for f in forms if all(map(divides, f.candidate.factors, judge.shapes))]
        return [f for f in fit if self.cycles(group, f) < self.cycles(group, one) * (1 - TIE)]

    def fused(self, group: Collection[int]) -> float:
        """The least cycles of one launch."""
        return min(self.cycles(group, form) for form in self.possible(group))

    def forms(self, group: Group) -> list[Form]:
        """The forms of a group that are estimated to gain, the best first."""
        separate = self.separate(group)
        gains = [f for f in self.possible(group) if self.cycles(group, f) < separate * self.most]
        return sorted(gains, key=lambda f: self.cycles(group, f))

    def _role(self, node: int) -> Role | None:
        """The part that a kernel may have on folded grids."""
        key = self.facts((node,))
        if key not in self._roles:
            judge = self.judge((node,))
            self._roles[key] = role_of(judge.kernels[0], judge.shapes[0], judge.each_alone()[0])
        return self._roles[key]

    def _longest_first(self, group: Collection[int]) -> list[Form]:
        """Interleaved kernel by kernel, those with the longest CTAs first, so that no SM waits long for the last CTA.
        Kernels that wait for different things run better side by side from the beginning to the end."""
        judge = self.judge(group)
        lasts = [kernel.work.course.latency for kernel in judge.kernels]
        alike = len({estimate.decided_by for estimate in judge.each_alone()}) == 1
        if not alike or max(lasts) < min(lasts) * UNEQUAL:
            return []
        order = sorted(range(len(lasts)), key=lambda k: -lasts[k])
        candidate = Candidate("interleave", (1,) * len(lasts)).having(placement="front")
        return [Form(candidate, tuple((k,) for k in order))]

    def _on_folded_grids(self, group: Collection[int], spared: int = 0) -> list[Form]:
        """The kernels with `wgmma` in one team, with so many registers less than they are estimated to need, and those
        that are limited by memory in the other."""
        roles = [self._role(i) for i in group]
        if set(roles) != {"tensor", "memory"}:
            return []
        key = spared, self.facts(group)
        if key not in self._folded:
            each = [tuple(k for k, own in enumerate(roles) if own == role) for role in dict.fromkeys(roles)]
            found = fold_candidates(self.judge(group, each), self.arch, spared)
            found.sort(key=lambda candidate: max(candidate.factors) != AT_ONCE)
            self._folded[key] = [Form(candidate, tuple(each)) for candidate in found]
        return self._folded[key]


def plain(strategy: Strategy, kernels: int) -> Form:
    """So many kernels by a strategy without options."""
    return Form(Candidate(strategy, (1,) * kernels))
