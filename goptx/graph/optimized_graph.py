"""optimize_graph(): a graph that does the same with fused kernels, and edges only where nodes depend on each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from goptx.device.load import architecture
from goptx.display import as_text, brief
from goptx.errors import InputError
from goptx.graph.chosen_groups import Choice, chosen_groups, daring, siblings
from goptx.graph.graph_dependences import dependences
from goptx.graph.graph_description import Graph
from goptx.graph.graph_json import is_description, read_graph
from goptx.graph.graph_report import GraphReport
from goptx.graph.graph_rewriting import Taken, rewritten
from goptx.graph.group_check import checked
from goptx.graph.group_costs import Group
from goptx.graph.group_making import Makers, fused_node
from goptx.graph.group_order import made_in_time, smaller_groups
from goptx.graph.node_effects import Trust, effects_of
from goptx.graph.running.launchable_graph import LaunchableGraph
from goptx.sources.collecting import Collected
from goptx.time_budget import Budget


@dataclass(frozen=True, slots=True)
class OptimizedGraph:
    """graph: the description of the new graph. report: what was done. The given graph is as it was.

    Of a CUDA graph, the new one can be launched: `replay`. It uses the memory of the given graph, which it holds.
    """

    __repr__ = brief

    graph: Graph
    report: GraphReport
    launchable: LaunchableGraph | None = None

    _repr_pretty_ = as_text

    def __str__(self) -> str:
        return str(self.report)

    def replay(self, stream: Any = None) -> None:
        """Launches the graph once and does not wait. `stream` is any object with `__cuda_stream__` (torch, CuPy,
        cuda.core), or None: torch's current stream for a graph of torch, else the default stream. Raises `InputError`
        for a graph that is only a description, and after `close`; `DeviceError`."""
        self._running.replay(stream)

    def update(self, changes: Mapping[int, Sequence[bytes]] | None = None) -> tuple[int, ...]:
        """Passes other parameters in later launches, to fused kernels too; returns the ids of the nodes that changed.

        changes: the bytes of all parameters of nodes of the given graph, by their ids. None: what the nodes of the
            given graph have now, after `cuGraphKernelNodeSetParams`, say.

        Raises `InputError` where, with them, nodes depend on each other that the new graph does not keep in order; then
        nothing is changed.
        """
        return self._running.update(changes)

    def close(self) -> None:
        """Destroys the new graph; launches that have begun end."""
        self._running.close()

    @property
    def _running(self) -> LaunchableGraph:
        if self.launchable is None:
            raise InputError(
                "this graph was made of a description and cannot be launched; give goptx.optimize_graph the CUDA graph."
            )
        return self.launchable


def optimize_graph(
    graph: object,
    kernels: Collected | None = None,
    *,
    trust: Trust = None,
    check: bool = True,
    tune: bool = True,
    budget: str | float | Budget | None = None,
    arch: str | None = None,
) -> OptimizedGraph:
    """A graph that leaves the same in memory as the given one, with independent kernels fused where the cost model
    estimates a gain, and with edges only between nodes that depend on each other.

    graph: a CUDA graph that a program has captured: of torch (`torch.cuda.CUDAGraph(keep_graph=True)`), cuda.core,
        CuPy, or the driver's handle. Or a `goptx.Graph` or what `goptx.Graph.read` takes, which needs no GPU.
    kernels: of a CUDA graph, what `goptx.collect()` gave.
    trust: as for `goptx.parallelize_graph`.
    check: compare the new graph with the given one. A CUDA graph is run for that, on the contents that its memory has
        now; what it may write is saved and restored. Of a description, each fused kernel is compared on the emulator,
        if it is small enough. What differs is not taken.
    tune: measure, on the device, which groups gain, and whether branches do; the fastest graph is taken, which may be
        one without any. A description is not measured. False: the cost model alone decides.
    budget: how long making and measuring fused kernels may take: "60s", "2min", "1h" or seconds; by default until no
        group is left. Groups are tried in the order of what they are estimated to gain, and the report names those for
        which no time was left. What has begun is finished, so that it may take some seconds more.
    arch: of the GPU, such as "sm_90"; by default that of most kernels of the graph.

    Raises `InputError` for what is not a graph, and for graphs with conditional nodes, memory nodes or child graphs, or
    on several devices, and for a budget that is not a time; `DeviceError`.
    """
    begin = perf_counter()
    limit = Budget.of(budget)
    program = None
    if not is_description(graph):
        from goptx.graph.captured_program import captured_program

        program = captured_program(graph, kernels)
    known = program.graph if program else read_graph(graph)
    choice = chosen_groups(known, trust, arch)
    costs, single, groups = choice.costs, choice.single, choice.indices
    device = architecture() if program else None
    makers = Makers(known, costs, arch, device)
    made, untried = made_in_time(makers, groups, limit)
    wrong: dict[int, str] = {}
    measured: Mapping[str, float] = {}
    launchable = None
    if program:
        from goptx.graph.running.graph_search import FUSED, SIBLINGS, WIDELY
        from goptx.graph.running.placed_graph import Further, placed

        plans, further = {FUSED: made}, Further((), lambda group: (), lambda one: ())
        if tune:
            wider = daring(choice, known)
            more = Makers(known, wider.costs, arch, device)
            seen = [groups]
            for name, other in (WIDELY, wider.indices), (SIBLINGS, siblings(choice, known)):
                if other not in seen:
                    seen.append(other)
                    plans[name], late = made_in_time(more, other, limit)
                    untried += late
            further = Further(
                smaller_groups([group for every in seen for group in every], wider.costs),
                lambda group: [Taken(part, one) for part, one in more.of(group)],
                lambda one: [Taken(one.group, form) for form in makers.others(one.group, one.made)],
            )
        new = placed(program, choice, plans, check, tune, further, limit)
        taken, wrong, measured, launchable = new.taken, new.wrong, new.measured, new.launchable
        untried = list(dict.fromkeys([*untried, *new.untried]))
    else:
        compared = [(one, *_checked(known, one, check)) for one in made]
        taken = [replace(one, note=note) for one, right, note in compared if right]
        wrong = {i: note for one, right, note in compared if not right for i in one.group}
    fused, result = rewritten(known, choice.dependences, taken, costs)
    inside = {i for one in taken for i in one.group}
    reasons = {
        node.id: single.get(i) or wrong.get(i) or _late(i, untried) or _why(known, i, makers, choice)
        for i, node in enumerate(known.nodes)
        if i not in inside
    }
    report = GraphReport(
        len(known.nodes),
        sum(node.ptx is not None for node in known.nodes),
        choice.dependences,
        choice.groups,
        tuple(fused),
        reasons,
        perf_counter() - begin,
        measured,
        new.note if program else "",
        tuple(tuple(known.nodes[i].id for i in group) for group in untried),
        tuple(dict.fromkeys(n.entry for n in known.nodes if n.ptx is None and n.entry)),
        new.without_ptx if program else None,
        new.name if program else "",
    )
    return OptimizedGraph(launchable.graph if launchable else result, report, launchable)


def parallelized(graph: object, kernels: Collected | None, trust: Trust) -> OptimizedGraph:
    """As `goptx.parallelize_graph` of a CUDA graph."""
    from goptx.graph.captured_program import captured_program
    from goptx.graph.running.launchable_graph import LaunchableGraph

    begin = perf_counter()
    program = captured_program(graph, kernels)
    known = program.graph
    true = dependences(known, effects_of(known, trust))
    new = known.ordered(true)
    single = {node.id: "nothing is fused by parallelize_graph" for node in known.nodes}
    with_ptx = sum(node.ptx is not None for node in known.nodes)
    report = GraphReport(len(known.nodes), with_ptx, true, (), (), single, perf_counter() - begin)
    return OptimizedGraph(new, report, LaunchableGraph(program, new, {}, trust))


def _checked(graph: Graph, one: Taken, check: bool) -> tuple[bool, str]:
    if not check:
        return True, ""
    nodes = [graph.nodes[i] for i in one.group]
    return checked(graph, nodes, fused_node("fused", nodes, one.made), one.made.woven.ptx)


def _late(node: int, untried: Sequence[Group]) -> str:
    """The reason for a kernel whose groups were not tried."""
    return "the budget left no time for its group" if any(node in group for group in untried) else ""


def _why(graph: Graph, node: int, makers: Makers, choice: Choice) -> str:
    """Why a kernel that might be fused is not."""
    id_ = graph.nodes[node].id
    refused = [why for ids, why in makers.refused.items() if id_ in ids]
    if refused:
        return refused[-1]
    if choice.effects[node].everything:
        return f"{choice.effects[node].everything}, so that it stays in order with all others"
    if len(graph.nodes) - len(choice.single) < 2:
        return "no other kernel of the graph can be fused"
    return "no group with an independent kernel near it is estimated to gain"
