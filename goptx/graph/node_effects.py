"""What a node of a graph may access: spans of addresses, variables of its module, or everything.

Requires: a graph. Ensures: two nodes whose effects do not conflict may run in any order, or at once, provided that no
kernel computes from one pointer the address of another allocation. A pointer leads to the bytes that thread numbers
determine, within the allocation in which it lies; else to that whole allocation; else, to any address. Pointers in
structures that are passed by value count as others. What cannot be tracked is "everything".
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from goptx.analysis.build_cfg import flow_as_written
from goptx.analysis.values.accessed_bytes import accesses
from goptx.analysis.values.pointer_effects import Reach, reach
from goptx.errors import CannotWeave, InputError
from goptx.graph.graph_description import EMPTY, KERNEL, Allocation, Graph, GraphNode, Sizes
from goptx.launch.arguments import POINTER, Access
from goptx.launch.independence import PAGE
from goptx.memo import Same
from goptx.ptx.ir import Function, Module
from goptx.sources.kernel_text import choose_entry
from goptx.weaving.link.symbols import reached_variables

Trust = Literal["pointers"] | None
LAST = 1 << 64  # the end of all addresses


@dataclass(frozen=True, slots=True)
class Span:
    """The bytes from `start` up to `end` may be accessed, and written if `writes`. `unplaced`: the pointer lies in no
    known allocation."""

    start: int
    end: int
    writes: bool
    unplaced: bool = False


@dataclass(frozen=True, slots=True)
class Effects:
    """What a node may access. everything: why it may be anything, "" if it is only the rest. variables: names of module
    variables, each with the SHA-256 of its module. writes_variables: whether it may write one of these."""

    spans: tuple[Span, ...] = ()
    everything: str = ""
    variables: frozenset[tuple[str, str]] = frozenset()
    writes_variables: bool = False

    def conflicts(self, other: Effects) -> bool:
        """Whether the order of both may matter: one may write what the other accesses."""
        if self.everything or other.everything:
            return self != NOTHING and other != NOTHING
        if self.variables & other.variables and (self.writes_variables or other.writes_variables):
            return True
        if self._may_be_variable(other) or other._may_be_variable(self):
            return True
        return any(
            (one.writes or two.writes) and one.start < two.end and two.start < one.end
            for one in self.spans
            for two in other.spans
        )

    def _may_be_variable(self, other: Effects) -> bool:
        """Whether a pointer of this node may lead to a variable of the other, and one of them writes it."""
        unplaced = [span for span in self.spans if span.unplaced]
        return bool(other.variables) and any(span.writes or other.writes_variables for span in unplaced)


NOTHING = Effects()


def effects_of(graph: Graph, trust: Trust = None) -> list[Effects]:
    """The effects of each node. With trust="pointers" a kernel of which it is not known what it accesses is taken to
    access only the allocations that its parameters point into: any 8 bytes of them, at multiples of 8, that are an
    address in a known allocation. Raises `InputError` for another `trust`."""
    if trust not in (None, "pointers"):
        raise InputError(f'trust={trust!r} is unknown; expected "pointers" or None.')
    memory = Memory(graph.allocations)
    return [_effects(graph, node, memory, trust) for node in graph.nodes]


class Memory:
    """The known allocations. Those that overlap, because memory was used again, count as one."""

    def __init__(self, allocations: Sequence[Allocation]) -> None:
        merged: list[tuple[int, int]] = []
        for one in sorted(allocations, key=lambda a: (a.address, a.bytes)):
            if merged and one.address < merged[-1][1]:
                merged[-1] = merged[-1][0], max(merged[-1][1], one.end)
            elif one.bytes:
                merged.append((one.address, one.end))
        self.extents = merged

    def extent(self, address: int) -> tuple[int, int] | None:
        """The first byte of the allocation in which the address lies, and the byte after its last."""
        i = bisect_right(self.extents, (address, LAST)) - 1
        return self.extents[i] if i >= 0 and address < self.extents[i][1] else None


def _effects(graph: Graph, node: GraphNode, memory: Memory, trust: Trust) -> Effects:
    if node.kind == EMPTY:
        return NOTHING
    if node.kind != KERNEL and not (node.reads or node.writes):
        return Effects(everything=f"a {node.kind} node")
    if node.kind != KERNEL:
        pieces = [(piece, False) for piece in node.reads] + [(piece, True) for piece in node.writes]
        return Effects(tuple(Span(start, start + size, writes) for (start, size), writes in pieces))
    found = Effects(everything="its PTX is not known") if node.ptx is None else _known(graph, node, memory)
    if found.everything and trust and node.parameters:
        spans = [s for p in node.parameters for s in _pointed(p, memory)]
        return Effects(tuple(dict.fromkeys(spans)), "", found.variables, found.writes_variables)
    return found


def _known(graph: Graph, node: GraphNode, memory: Memory) -> Effects:
    """The effects of a kernel whose PTX is known."""
    module, assembled = graph.module(node), node.ptx
    assert assembled is not None
    entry, found, names = _facts(Same(module), node.entry)
    variables = frozenset((assembled, name) for name in names)
    if why := _untracked(found, entry):
        return Effects(everything=why, variables=variables, writes_variables=found.writes_variables)
    values = _numbers(found, entry, node.parameters)
    extents = _extents(Same(module), node.entry, values, node.grid, node.block)
    spans: list[Span] = []
    for parameter, content in zip(entry.parameters, node.parameters, strict=True):
        how = found.accesses[parameter.name]
        if parameter.dims:
            for offset, access in found.inside.get(parameter.name, {}).items():
                spans += _span(content[offset : offset + POINTER], access, None, memory)
        elif how != "none":
            spans += _span(content, how, extents.get(parameter.name), memory)
    return Effects(tuple(dict.fromkeys(spans)), "", variables, found.writes_variables)


def _untracked(found: Reach, entry: Function) -> str:
    """Why a kernel may access what its parameters do not lead to; "" where it cannot."""
    if found.elsewhere:
        return "it takes addresses from memory, calls functions, or uses textures"
    for parameter in entry.parameters:
        if found.accesses[parameter.name] == "unknown" and parameter.name not in found.tracked:
            return f"the uses of its parameter {parameter.name} cannot be tracked"
    return ""


def variables_of(module: Module, entry: Function) -> list[str]:
    """The variables of the module, in memory of the device, that the entry names or reaches."""
    return [v.name for v in reached_variables(module, entry) if v.space in (".global", ".const")]


def integers_of(graph: Graph, node: GraphNode) -> dict[int, int]:
    """The values of the integers among the parameters of a kernel, which are not pointers, by their places."""
    assert node.ptx is not None
    entry, found, _ = _facts(Same(graph.module(node)), node.entry)
    values = dict(_numbers(found, entry, node.parameters))
    return {i: values[p.name] for i, p in enumerate(entry.parameters) if p.name in values}


def _pointers(found: Reach, entry: Function) -> Iterator[str]:
    for parameter in entry.parameters:
        if not parameter.dims and found.accesses[parameter.name] != "none":
            yield parameter.name


def _numbers(found: Reach, entry: Function, contents: Sequence[bytes]) -> tuple[tuple[str, int], ...]:
    """The values of the integers among the parameters that are not pointers."""
    made = []
    for parameter, content in zip(entry.parameters, contents, strict=True):
        if not parameter.dims and parameter.type[0] in "usb" and found.accesses[parameter.name] == "none":
            made.append((parameter.name, int.from_bytes(content, "little", signed=parameter.type[0] == "s")))
    return tuple(made)


@lru_cache(maxsize=1024)
def _facts(module: Same[Module], name: str) -> tuple[Function, Reach, tuple[str, ...]]:
    """The entry of that name, its reach, and the variables in memory of the device that it reaches."""
    entry = choose_entry(module.held, name)
    return entry, reach(entry, module.held.address_size), tuple(variables_of(module.held, entry))


@lru_cache(maxsize=4096)
def _extents(
    module: Same[Module], name: str, numbers: tuple[tuple[str, int], ...], grid: Sizes, block: Sizes
) -> dict[str, int]:
    """The bytes that are accessed from a pointer on, for pointers of which thread numbers determine that."""
    entry, found_reach, _ = _facts(module, name)
    try:
        flow = flow_as_written(entry.body, module.held.source)
    except CannotWeave:  # its branches are not known
        return {}
    pointers = list(_pointers(found_reach, entry))
    found = accesses(flow, pointers, [name for name, _ in numbers], dict(numbers), grid, block)
    return {name: size for name, (size, _) in found.arrays.items() if name not in found.unclear}


def _span(content: bytes, access: Access, size: int | None, memory: Memory) -> Iterator[Span]:
    """What is accessed through a pointer: `size` bytes from there on, or an unknown part of its allocation."""
    address = int.from_bytes(content, "little")
    if len(content) == POINTER and address < PAGE:  # nothing is mapped there
        return
    whole = memory.extent(address) if len(content) == POINTER else None
    start, end = whole or (0, LAST)
    if size is not None and len(content) == POINTER:
        start, end = address, min(address + size, end)
    yield Span(start, end, access != "read", whole is None)


def _pointed(content: bytes, memory: Memory) -> Iterator[Span]:
    """The allocations into which 8 bytes of a parameter point."""
    for offset in range(0, len(content) - POINTER + 1, POINTER):
        whole = memory.extent(int.from_bytes(content[offset : offset + POINTER], "little"))
        if whole:
            yield Span(*whole, True)
