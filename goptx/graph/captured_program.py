"""The description of a CUDA graph that a program has captured."""

from __future__ import annotations

from typing import Any

from goptx.device import cuda_graph
from goptx.device.graphs import program_graph
from goptx.errors import InputError
from goptx.graph.graph_description import KERNEL, KINDS, Allocation, Graph, GraphNode, sha_of
from goptx.launch.arguments import POINTER
from goptx.launch.independence import PAGE
from goptx.ptx.parse import parse
from goptx.sources.collecting import Collected
from goptx.sources.kernel_text import choose_entry

REFUSED = {
    "conditional": "which of its nodes run is decided while it runs",
    "graph": "a child graph is one node, and what is in it is not seen",
    "mem_alloc": "it allocates memory while it runs, whose address other nodes take",
    "mem_free": "it frees memory while it runs",
}


def captured_program(graph: Any, kernels: Collected | None = None) -> Graph:
    """As `Graph.of`."""
    known = Collected() if kernels is None else kernels
    found = program_graph.read(graph)
    for i, node in enumerate(found.nodes):
        if node.kind in REFUSED:
            raise InputError(
                f"node {i} of the graph is a {node.kind} node: {REFUSED[node.kind]}. The graph is unchanged."
            )
    texts: dict[str, str] = {}
    nodes = [_node(i, node, known, texts) for i, node in enumerate(found.nodes)]
    words = {word for node in nodes for content in node.parameters for word in _words(content)}
    spans = program_graph.allocations(sorted(word for word in words if word >= PAGE))
    if len(devices := program_graph.devices(start for start, _ in spans)) > 1:
        raise InputError(
            f"the graph uses memory of the devices {', '.join(map(str, sorted(devices)))}; goptx takes graphs of one "
            "device. The graph is unchanged."
        )
    allocations = tuple(Allocation(start, end - start) for start, end in spans)
    return Graph(tuple(nodes), tuple(found.edges), allocations, texts)


def _node(number: int, node: cuda_graph.Node, known: Collected, texts: dict[str, str]) -> GraphNode:
    kernel = node.kernel
    if kernel is None:
        return GraphNode(number, "", kind=node.kind if node.kind in KINDS and node.kind != KERNEL else "other")
    sizes = program_graph.parameter_sizes(kernel) if kernel.table else None
    contents = tuple(kernel.contents(sizes)) if sizes else ()
    origin = known.origin(kernel.handles)
    sha = None
    if origin is not None and sizes is not None:
        text, name = origin
        entry = choose_entry(parse(text), name)
        if [p.size for p in entry.parameters] == sizes:
            sha = sha_of(text)
            texts[sha] = text
    return GraphNode(
        number,
        origin[1] if origin and sha else node.name,
        kernel.grid,
        kernel.block,
        kernel.shared,
        contents,
        sha,
        alone="" if kernel.plain else "it is cooperative, or launched in clusters",
    )


def _words(content: bytes) -> list[int]:
    """The 8-byte words of a parameter."""
    ends = range(POINTER, len(content) + 1, POINTER)
    return [int.from_bytes(content[end - POINTER : end], "little") for end in ends]
