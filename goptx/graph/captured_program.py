"""The description of a CUDA graph that a program has captured, and the driver's handles of its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from goptx.device import cuda_graph
from goptx.device.graphs import program_graph
from goptx.errors import GoptxError, InputError
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


@dataclass(frozen=True, slots=True)
class Program:
    """A CUDA graph that a program has captured. graph: its description, with nodes of the ids 0, 1 and so on; handles:
    the driver's of these nodes; source: that of the graph; given: the object of the framework, which holds the
    memory."""

    graph: Graph
    handles: tuple[int, ...]
    source: int
    given: Any


def captured_program(graph: Any, kernels: Collected | None = None) -> Program:
    """The program, whose description is that of `Graph.of`; the same errors."""
    known = Collected() if kernels is None else kernels
    found = program_graph.read(graph)
    for i, node in enumerate(found.nodes):
        if node.kind in REFUSED:
            raise InputError(
                f"node {i} of the graph is a {node.kind} node: {REFUSED[node.kind]}. The graph is unchanged."
            )
    texts: dict[str, str] = {}
    nodes = [_node(i, node, known, texts) for i, node in enumerate(found.nodes)]
    handles = tuple(node.handle for node in found.nodes)
    described = with_allocations(Graph(tuple(nodes), tuple(found.edges), (), texts), known.arrays)
    return Program(described, handles, program_graph.handle_of(graph), graph)


def with_allocations(graph: Graph, past: Sequence[tuple[int, int]] = ()) -> Graph:
    """The graph with the allocations into which its parameters point, besides those that it has. `past`: arrays of
    torch that were there when it was captured. Raises `InputError` if they are on several devices."""
    words = {word for node in graph.nodes for content in node.parameters for word in _words(content)}
    known = {(a.address, a.end) for a in graph.allocations}
    new = sorted(w for w in words if w >= PAGE and not any(start <= w < end for start, end in known))
    spans = known | set(program_graph.allocations(new, past))
    if len(devices := program_graph.devices(start for start, _ in spans)) > 1:
        raise InputError(
            f"the graph uses memory of the devices {', '.join(map(str, sorted(devices)))}; goptx takes graphs of one "
            "device. The graph is unchanged."
        )
    return replace(graph, allocations=tuple(Allocation(start, end - start) for start, end in sorted(spans)))


def described_parameters(program: Program) -> dict[int, tuple[bytes, ...]]:
    """The parameters that the kernels of a captured graph have now, by the ids of their nodes. Raises `InputError`
    where the graph has other nodes now."""
    found = program_graph.read(program.given)
    if tuple(node.handle for node in found.nodes) != program.handles:
        raise InputError("the captured graph has other nodes than before; optimize it again.")
    made: dict[int, tuple[bytes, ...]] = {}
    for number, node in enumerate(found.nodes):
        sizes = list(map(len, program.graph.nodes[number].parameters))
        if node.kernel is not None and sizes:
            made[number] = tuple(node.kernel.contents(sizes))
    return made


def _node(number: int, node: cuda_graph.Node, known: Collected, texts: dict[str, str]) -> GraphNode:
    kernel = node.kernel
    if kernel is None:
        kind = node.kind if node.kind in KINDS and node.kind != KERNEL else "other"
        return GraphNode(number, "", kind=kind, reads=node.reads, writes=node.writes)
    sizes = program_graph.parameter_sizes(kernel) if kernel.table else None
    contents = tuple(kernel.contents(sizes)) if sizes else ()
    origin = known.origin(kernel.handles, program_graph.modules(kernel) if known.modules else (), node.name)
    sha = None
    if origin is not None and sizes is not None:
        text, name = origin
        if _declared(text, name) == sizes:
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


def _declared(text: str, name: str) -> list[int] | None:
    """The bytes of each parameter of an entry; None where the text is not understood, so that its kernel is opaque."""
    try:
        return [p.size for p in choose_entry(parse(text), name).parameters]
    except GoptxError:
        return None


def _words(content: bytes) -> list[int]:
    """The 8-byte words of a parameter."""
    ends = range(POINTER, len(content) + 1, POINTER)
    return [int.from_bytes(content[end - POINTER : end], "little") for end in ends]
