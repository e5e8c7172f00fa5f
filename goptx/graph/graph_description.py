"""Graph: launches with the order between them, as plain values.

Ensures: ids are unique, edges join nodes of the graph and form no cycle, each kernel of known PTX is an entry of its
module, and its parameters have the sizes that the entry declares. Imports nothing of CUDA.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx

from goptx.display import as_svg, as_text, brief
from goptx.errors import InputError
from goptx.launch.shape import Shape
from goptx.ptx.aliases import without_aliases
from goptx.ptx.ir import Function, Module
from goptx.ptx.parse import parse
from goptx.sources.kernel_text import choose_entry

if TYPE_CHECKING:
    from goptx.sources.collecting import Collected

Id = int | str
Edge = tuple[Id, Id]
Piece = tuple[int, int]  # the first address, and the number of bytes
Sizes = tuple[int, int, int]
KERNEL = "kernel"
EMPTY = "empty"  # a node that only orders others
KINDS = (KERNEL, "memcpy", "memset", "host", EMPTY, "other")


@dataclass(frozen=True, slots=True)
class Allocation:
    """Memory of the device: `bytes` bytes from `address` on."""

    __repr__ = brief

    address: int
    bytes: int

    @property
    def end(self) -> int:
        """The address after the last byte."""
        return self.address + self.bytes


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node of a graph.

    entry: the name of its kernel, "" where there is none.
    grid, block: CTAs, and threads of a CTA, along x, y and z; shared: bytes of dynamic shared memory of a CTA.
    parameters: the bytes of each parameter.
    ptx: the SHA-256 of the text of its module; None for an opaque node, of which goptx does not know what it does.
    kind: "kernel", "memcpy", "memset", "host", "empty" (it only orders others) or "other".
    reads, writes: of a copy or a fill, the first address and the number of bytes of what it accesses; without them it
        may access everything.
    alone: why a kernel of known PTX must stay a launch of its own, such as "it is cooperative"; "" if nothing is known.
    """

    __repr__ = brief

    id: Id
    entry: str
    grid: Sizes = (1, 1, 1)
    block: Sizes = (1, 1, 1)
    shared: int = 0
    parameters: tuple[bytes, ...] = ()
    ptx: str | None = None
    kind: str = KERNEL
    alone: str = ""
    reads: tuple[Piece, ...] = ()
    writes: tuple[Piece, ...] = ()

    @property
    def shape(self) -> Shape:
        """The launch shape."""
        return Shape(self.grid, self.block, self.shared)

    @property
    def threads(self) -> int:
        """All threads of the launch."""
        shape = self.shape
        return (shape.ctas or 0) * (shape.threads or 0)

    def __str__(self) -> str:
        name = f"{self.id} `{self.entry}`" if self.entry else f"{self.id}"
        return name if self.ptx else f"{name} ({self.kind}, no PTX)"


@dataclass(frozen=True)
class Graph:
    """A graph of launches: a node runs after all nodes from which an edge leads to it.

    nodes: in any order. edges: pairs of ids. allocations: the device memory that is known. ptx: the texts of modules by
    their SHA-256. Raises `InputError` for a graph that does not fit together, `PtxSyntaxError` for a text that is not
    PTX.

    `Graph.read` reads a description, `save` writes one; see docs/graphs.md for the format.
    """

    __repr__ = brief

    nodes: tuple[GraphNode, ...]
    edges: tuple[Edge, ...] = ()
    allocations: tuple[Allocation, ...] = ()
    ptx: Mapping[str, str] = field(default_factory=dict)

    _repr_pretty_ = as_text
    _repr_svg_ = as_svg

    def __post_init__(self) -> None:
        if len(self.position) != len(self.nodes):
            seen: set[Id] = set()
            twice = next(n.id for n in self.nodes if n.id in seen or seen.add(n.id))  # type: ignore[func-returns-value]
            raise InputError(f"the graph has two nodes {twice!r}; give each an id of its own.")
        for one, other in self.edges:
            for end in (one, other):
                if end not in self.position:
                    raise InputError(f"the edge [{one!r}, {other!r}] leads to no node: there is no {end!r}.")
        object.__setattr__(self, "edges", tuple(dict.fromkeys(self.edges)))
        for sha, text in self.ptx.items():
            if sha != sha_of(text):
                raise InputError(f"ptx: the text of {sha[:16]}... has another SHA-256, {sha_of(text)}; give that one.")
        for node in self.nodes:
            self._check(node)
        _ = self.order

    def _check(self, node: GraphNode) -> None:
        if node.kind not in KINDS:
            raise InputError(f"node {node.id!r}: kind {node.kind!r} is unknown; expected one of {', '.join(KINDS)}.")
        if node.kind == KERNEL:
            try:
                _ = node.shape
            except InputError as error:
                raise InputError(f"node {node.id!r}: {error}") from None
        if node.ptx is None:
            return
        if node.ptx not in self.ptx:
            raise InputError(f"node {node.id!r}: there is no text for its ptx {node.ptx}; add it, or give null.")
        if node.kind != KERNEL:
            raise InputError(f"node {node.id!r}: a {node.kind} node has no PTX; give null.")
        sizes = [p.size for p in self.function(node).parameters]
        given = [len(p) for p in node.parameters]
        if given != sizes:
            raise InputError(
                f"node {node.id!r}: `{node.entry}` takes parameters of {_listed(sizes)} bytes, and the node has "
                f"{_listed(given)}."
            )

    @cached_property
    def position(self) -> Mapping[Id, int]:
        """The index of each node by its id."""
        return {node.id: i for i, node in enumerate(self.nodes)}

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The indices of the nodes in topological order; of nodes that may run in any order, the first given is first.
        Raises `InputError` for a cycle."""
        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_nodes_from(range(len(self.nodes)))
        graph.add_edges_from((self.position[one], self.position[other]) for one, other in self.edges)
        try:
            return tuple(nx.lexicographical_topological_sort(graph))
        except nx.NetworkXUnfeasible:
            ids = [self.nodes[one].id for one, _ in nx.find_cycle(graph)]
            raise InputError(f"the edges form a cycle through the nodes {', '.join(map(repr, ids))}.") from None

    def node(self, id_: Id) -> GraphNode:
        """The node of that id."""
        return self.nodes[self.position[id_]]

    def module(self, node: GraphNode) -> Module:
        """The module of a node with PTX."""
        assert node.ptx is not None
        return module_of(self.ptx[node.ptx], f"ptx {node.ptx[:12]}")

    def function(self, node: GraphNode) -> Function:
        """The entry of a node with PTX. Raises `InputError` where its module lacks it."""
        return choose_entry(self.module(node), node.entry)

    def ordered(self, edges: Sequence[Edge]) -> Graph:
        """The graph with these edges in place of its own."""
        return replace(self, edges=tuple(edges))

    def __str__(self) -> str:
        known = sum(node.ptx is not None for node in self.nodes)
        return f"a graph of {len(self.nodes)} nodes, {known} with PTX, and {len(self.edges)} edges"

    @staticmethod
    def read(source: object) -> Graph:
        """The graph of a description: the path of a JSON file, its text, or the parsed object. Raises `InputError`."""
        from goptx.graph.graph_json import read_graph

        return read_graph(source)

    @staticmethod
    def of(graph: object, kernels: Collected | None = None) -> Graph:
        """The description of a CUDA graph that a program has captured, which is not changed.

        graph: of torch (`torch.cuda.CUDAGraph(keep_graph=True)`), cuda.core, CuPy, or the driver's handle.
        kernels: what `goptx.collect()` gave; kernels of which it has no PTX, and that goptx did not load, are opaque.

        Raises `InputError` for what is not a graph, and for graphs with conditional nodes, memory nodes or child
        graphs, or on several devices; `DeviceError` without a GPU.
        """
        from goptx.graph.captured_program import captured_program

        return captured_program(graph, kernels).graph

    def to_json(self) -> str:
        """The description as JSON text."""
        from goptx.graph.graph_json import as_json

        return as_json(self)

    def save(self, path: str | Path) -> None:
        """Writes the description to a file, whole or not at all."""
        from goptx.files_written import write_whole

        write_whole(Path(path), self.to_json().encode())


@lru_cache(maxsize=512)
def module_of(text: str, name: str) -> Module:
    """The module of a text; `name` is its name in messages."""
    return without_aliases(parse(text, name))


@lru_cache(maxsize=1024)
def sha_of(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def _listed(sizes: Sequence[int]) -> str:
    return ", ".join(map(str, sizes)) or "none"
