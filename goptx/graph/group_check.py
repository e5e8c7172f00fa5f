"""Compares a fused node with the nodes that it replaces, on the emulator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from goptx.errors import EmulationFault, InputError
from goptx.graph.graph_description import Allocation, Graph, GraphNode
from goptx.graph.graph_emulation import emulate_graph
from goptx.graph.node_effects import LAST, Memory, effects_of

MOST_THREADS = 1 << 14  # of all launches together: more take many seconds
MOST_BYTES = 1 << 26  # of the allocations that they access
MOST_STEPS = 20000  # instructions of a warp


def checked(graph: Graph, nodes: Sequence[GraphNode], fused: GraphNode, text: str) -> tuple[bool, str]:
    """Whether the fused node may be taken, and why it is not, or was not compared. Both run on made-up data: numbers
    from 0.5 to 2, and small integers. Data with which the nodes themselves fail is not compared."""
    alone = Graph(tuple(nodes), (), _accessed(graph, nodes), {n.ptx: graph.ptx[n.ptx] for n in nodes if n.ptx})
    if sum(n.threads for n in (*nodes, fused)) > MOST_THREADS:
        return True, f"not compared on the emulator: more than {MOST_THREADS} threads"
    if sum(a.bytes for a in alone.allocations) > MOST_BYTES:
        return True, f"not compared on the emulator: more than {MOST_BYTES} bytes"
    whole = Graph((fused,), (), alone.allocations, {str(fused.ptx): text})
    compared, fault = 0, ""
    for data in _data(alone):
        try:
            expected = emulate_graph(alone, data, max_steps=MOST_STEPS).memory
        except (EmulationFault, InputError) as error:
            fault = str(error)
            continue
        try:
            found = emulate_graph(whole, data, max_steps=len(nodes) * MOST_STEPS).memory
        except EmulationFault as error:
            return False, f"the fused kernel fails on the emulator: {error}"
        for address, contents in expected.items():
            if not np.array_equal(contents, found[address]):
                at = int(np.flatnonzero(contents != found[address])[0])
                return False, f"the fused kernel leaves another byte {at} in the allocation at {address:#x}"
        compared += 1
    return True, "" if compared else f"not compared on the emulator: {fault}"


def _accessed(graph: Graph, nodes: Sequence[GraphNode]) -> tuple[Allocation, ...]:
    """The allocations that the nodes may access, whole."""
    memory = Memory(graph.allocations)
    found = set()
    alone = Graph(tuple(nodes), (), graph.allocations, {n.ptx: graph.ptx[n.ptx] for n in nodes if n.ptx})
    for effects in effects_of(alone):
        for span in effects.spans:
            if span.end < LAST and (whole := memory.extent(span.start)):
                found.add(whole)
    return tuple(Allocation(start, end - start) for start, end in sorted(found))


def _data(graph: Graph) -> list[dict[int, object]]:
    floats: dict[int, object] = {}
    integers: dict[int, object] = {}
    for i, one in enumerate(graph.allocations):
        chance = np.random.default_rng((1, i))
        words = one.bytes // 4
        floats[one.address] = chance.uniform(0.5, 2, words).astype(np.float32)
        integers[one.address] = chance.integers(0, 16, words).astype(np.uint32)
    return [floats, integers]
