"""emulate_graph(): runs a graph of launches on any machine."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from goptx.display import as_text, brief
from goptx.emulator.decode import decode
from goptx.emulator.emulate import check_bounds
from goptx.emulator.emulated_launch import Launch
from goptx.emulator.emulation import Emulation
from goptx.emulator.memory.address_spaces import WINDOWS
from goptx.emulator.memory.placed_buffers import PlacedBuffers
from goptx.emulator.program import Program
from goptx.errors import EmulationFault, InputError
from goptx.graph.graph_description import EMPTY, Edge, Graph, GraphNode, Id
from goptx.graph.graph_json import read_graph
from goptx.graph.node_effects import Memory
from goptx.launch.sample_data import check_seed
from goptx.launch.shape import MOST_SHARED
from goptx.memo import Same
from goptx.ptx.ir import Module
from goptx.sources.kernel_text import choose_entry

Bytes = np.ndarray[Any, np.dtype[np.uint8]]


@dataclass(frozen=True, slots=True)
class GraphEmulation:
    """What a graph did on the emulator.

    memory: the bytes of each allocation afterwards, by its address; allocations that overlap are one.
    launches: the counts of each kernel, by the id of its node, in the order in which they ran.
    """

    __repr__ = brief

    memory: Mapping[int, Bytes]
    launches: Mapping[Id, Emulation]

    _repr_pretty_ = as_text

    def __str__(self) -> str:
        lines = [f"node {id_}: {counts.issued} warp instructions" for id_, counts in self.launches.items()]
        return "\n".join([*lines, f"{len(self.memory)} allocations"])


def emulate_graph(
    graph: object,
    memory: Mapping[int, object] | None = None,
    *,
    strict: bool = True,
    seed: int = 0,
    max_steps: int | None = None,
) -> GraphEmulation:
    """Runs a graph whose kernels all have PTX, on the emulator, and returns what it left in memory.

    graph: a `goptx.Graph`, or what `goptx.Graph.read` takes.
    memory: by the address of an allocation, its contents before: a numpy array or bytes, as many as the allocation has,
        or fewer. They are copied. What is not given is zero.
    seed: 0 runs nodes in the order of the graph, those that may run in any order as they are given; any other number
        takes another order that the edges allow, and lets warps run at different paces.
    strict, max_steps: as in `goptx.emulate`, for each launch.

    Raises `InputError` for opaque nodes and for memory that does not fit, `EmulationFault` for errors of a kernel; it
    names the node.
    """
    known = read_graph(graph)
    for node in known.nodes:
        if node.ptx is None and node.kind != EMPTY:
            raise InputError(f"node {node.id!r}: a {node.kind} node without PTX cannot be emulated; remove it.")
    check_seed(seed)
    if not isinstance(memory, Mapping | None):
        raise InputError(f"memory takes contents by address, not `{type(memory).__name__}`.")
    buffers = _placed(known, memory or {})
    variables: dict[tuple[str, str], bytes] = {}
    done: dict[Id, Emulation] = {}
    for index in _order(known, seed):
        node = known.nodes[index]
        if node.ptx is None:
            continue
        launch = _launch(known, node, buffers, strict, seed, max_steps)
        _restore(launch, node, variables)
        try:
            done[node.id] = launch.run()
        except EmulationFault as fault:
            fault.args = (f"node {node.id!r}: {fault}",)
            raise
        _save(launch, node, variables)
    return GraphEmulation(dict(buffers.placed), done)


def _order(graph: Graph, seed: int) -> Sequence[int]:
    """The nodes in an order that the edges allow."""
    if not seed:
        return graph.order
    chance = random.Random(seed)
    return ordered_by([n.id for n in graph.nodes], graph.edges, lambda ready: chance.randrange(len(ready)))


def ordered_by(ids: Sequence[Id], edges: Sequence[Edge], choose: Any) -> list[int]:
    """A topological order; of the nodes that are ready, `choose` gives the index of the next."""
    position = {id_: i for i, id_ in enumerate(ids)}
    following: list[list[int]] = [[] for _ in ids]
    waits = [0] * len(ids)
    for one, other in edges:
        following[position[one]].append(position[other])
        waits[position[other]] += 1
    ready = [i for i, n in enumerate(waits) if not n]
    found = []
    while ready:
        node = ready.pop(choose(ready))
        found.append(node)
        for other in following[node]:
            waits[other] -= 1
            if not waits[other]:
                ready.append(other)
    return found


def _placed(graph: Graph, memory: Mapping[int, object]) -> PlacedBuffers:
    extents = Memory(graph.allocations).extents
    contents = {start: np.zeros(end - start, np.uint8) for start, end in extents}
    for address, given in memory.items():
        home = Memory(graph.allocations).extent(address)
        if home is None:
            raise InputError(f"memory: no allocation of the graph has the address {address:#x}.")
        raw = _raw(given, address)
        if address + len(raw) > home[1]:
            raise InputError(
                f"memory: {len(raw)} bytes from {address:#x} on are more than its allocation has, "
                f"{home[1] - address} from there."
            )
        contents[home[0]][address - home[0] : address - home[0] + len(raw)] = raw
    return PlacedBuffers(list(contents.items()))


def _raw(given: object, address: int) -> Bytes:
    if isinstance(given, np.ndarray) and not given.dtype.hasobject:
        return np.frombuffer(given.tobytes(), np.uint8)
    if isinstance(given, bytes | bytearray | memoryview):
        return np.frombuffer(bytes(given), np.uint8)
    raise InputError(f"memory: {address:#x} takes a numpy array or bytes, not `{type(given).__name__}`.")


def _launch(
    graph: Graph, node: GraphNode, buffers: PlacedBuffers, strict: bool, seed: int, max_steps: int | None
) -> Launch:
    program = _program(Same(graph.module(node)), node.entry, node.shared)
    check_bounds(program.entry, node.block, program.module)
    if program.layout.sizes["shared"] > MOST_SHARED:
        raise InputError(
            f"node {node.id!r}: {program.layout.sizes['shared']} bytes of shared memory are more than a CTA has "
            f"({MOST_SHARED})."
        )
    block = bytearray(sum(p.size + 16 for p in program.entry.parameters))
    symbols = program.layout.own[program.entry.name]
    for parameter, content in zip(program.entry.parameters, node.parameters, strict=True):
        at = symbols[parameter.name].address - WINDOWS["param"]
        block[at : at + parameter.size] = content
    return Launch(program, node.grid, node.block, node.shared, bytes(block), buffers, strict, False, seed, max_steps)


@lru_cache(maxsize=64)
def _program(module: Same[Module], entry: str, shared: int) -> Program:
    held = module.held
    if held.address_size != 64:
        raise InputError(f"{held.at('.address_size')}: only 64-bit addresses can be emulated.")
    return decode(held, choose_entry(held, entry), shared, kernel="A")


def _restore(launch: Launch, node: GraphNode, variables: Mapping[tuple[str, str], bytes]) -> None:
    """Gives the variables of a module what earlier launches of the module left in them."""
    for name, at, size in _variables(launch):
        if content := variables.get((str(node.ptx), name)):
            launch.spaces["global"].bytes[at : at + size] = np.frombuffer(content, np.uint8)


def _save(launch: Launch, node: GraphNode, variables: dict[tuple[str, str], bytes]) -> None:
    for name, at, size in _variables(launch):
        variables[str(node.ptx), name] = launch.spaces["global"].bytes[at : at + size].tobytes()


def _variables(launch: Launch) -> list[tuple[str, int, int]]:
    symbols = launch.program.layout.symbols.items()
    return [(name, s.address - WINDOWS["global"], s.size) for name, s in symbols if s.space == "global"]
