"""Dominators and dominance frontiers are those of networkx, in any graph; so are those of a flow with endless loops."""

from __future__ import annotations

from random import Random

import networkx as nx
import pytest

from goptx.analysis.cfg import EXIT, Block, Flow, controls
from goptx.analysis.dominators import frontiers, immediate_dominators, reverse_postorder
from goptx.analysis.terminators import Branch, Jump, Stop
from goptx.ptx.ir import Guard, Name


def any_graph(seed: int) -> nx.DiGraph[str]:
    """Up to twelve nodes, with up to three edges from each."""
    random = Random(seed)
    names = [f"n{i}" for i in range(random.randint(1, 12))]
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from((n, random.choice(names)) for n in names for _ in range(random.randint(0, 3)))
    return graph


@pytest.mark.parametrize("part", range(4))
def test_of_any_graph(part: int) -> None:
    for seed in range(part * 100, part * 100 + 100):
        graph = any_graph(seed)
        above = {n: tuple(graph.pred[n]) for n in graph}
        order = reverse_postorder("n0", graph.succ.__getitem__)
        found = immediate_dominators(order, above)
        assert found == dict(nx.immediate_dominators(graph, "n0")) | {"n0": None}, seed
        assert frontiers(found, above) == nx.dominance_frontiers(graph, "n0"), seed


@pytest.mark.parametrize("part", range(4))
def test_of_any_flow(part: int) -> None:
    for seed in range(part * 50, part * 50 + 50):
        random = Random(seed)
        names = [f"b{i}" for i in range(random.randint(1, 8))]
        blocks: dict[str, Block] = {}
        for name in names:
            targets = random.sample([*names, EXIT], random.randint(1, 2))
            end = Jump(targets[0]) if len(targets) == 1 else Branch(Guard(Name("%p1")), targets[0], targets[1])
            blocks[name] = Block((), end)
        flow = Flow("b0", {**blocks, EXIT: Block((), Stop())})
        assert flow.dominators() == dict(nx.immediate_dominators(flow.graph(), "b0")) | {"b0": None}, seed
        backward = flow.with_virtual_exits().reverse()  # endless loops lead to the end
        assert flow.post_dominators() == dict(nx.immediate_dominators(backward, EXIT)) | {EXIT: None}, seed
        expected = nx.dominance_frontiers(backward, EXIT)
        assert controls(flow) == {n: frozenset(expected.get(n, ())) for n in flow.blocks}, seed
