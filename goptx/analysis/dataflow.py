"""The registers that instructions read and write, the data-flow solver, and liveness."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from typing import TypeVar

from goptx.analysis.cfg import Block, Code, Flow, instructions_in
from goptx.memo import cached_in_argument
from goptx.ptx.ir import (
    Address,
    Arguments,
    Element,
    Instruction,
    Operand,
    Scope,
)
from goptx.ptx.opcodes import Facts, facts_of
from goptx.ptx.walk import names_in

CARRY = "[carry]"  # the carry flag, where it counts as a register
KNOWN = 1 << 14  # instructions whose reads and writes are cached


def register_of(name: str) -> str:
    """The register that a name belongs to: `%v` for `%v.x`; special registers are returned unchanged."""
    return name if name.startswith("%") and name.partition(".")[0] in _WITH_AXES else name.partition(".")[0]


_WITH_AXES = frozenset("%tid %ntid %ctaid %nctaid %clusterid %nclusterid %cluster_ctaid %cluster_nctaid".split())


def written(code: Code) -> frozenset[str]:
    """The registers that an instruction, or the instructions of a call scope, may write."""
    try:
        return code._written
    except AttributeError:
        return _accesses(code)[1]


def read(code: Code) -> frozenset[str]:
    """The registers, special registers and symbols that an instruction or call scope may read."""
    try:
        return code._read
    except AttributeError:
        return _accesses(code)[0]


def killed(code: Code) -> frozenset[str]:
    """The registers whose old value is surely overwritten."""
    try:
        return code._killed
    except AttributeError:
        object.__setattr__(code, "_killed", found := _killed(code))
        return found


def replaced(code: Code) -> frozenset[str]:
    """What an instruction sets anew, though it may read the old value: registers, and the carry flag. One that writes
    a component reads the others."""
    return frozenset() if _preserves(code) else sets(code)


def depends_on(code: Code) -> frozenset[str]:
    """What the results of an instruction may depend on but memory: what it may read, and the carry flag."""
    carry = isinstance(code, Instruction) and facts_of(code.opcode).uses_carry
    return read(code) | {CARRY} if carry else read(code)


def sets(code: Code) -> frozenset[str]:
    """What an instruction may write but memory: registers, and the carry flag."""
    carry = isinstance(code, Instruction) and facts_of(code.opcode).sets_carry
    return written(code) | {CARRY} if carry else written(code)


def _accesses(code: Code) -> tuple[frozenset[str], frozenset[str]]:
    """What the code may read and may write, which is stored in it."""
    if isinstance(code, Scope):
        inside = list(instructions_in(code))
        found = frozenset().union(*map(read, inside)), frozenset().union(*map(written, inside))
    else:
        found = _registers_of(code)
    object.__setattr__(code, "_read", found[0])
    object.__setattr__(code, "_written", found[1])
    return found


def _registers_of(code: Instruction) -> tuple[frozenset[str], frozenset[str]]:
    facts = facts_of(code.opcode)
    writes, updates = facts.row.writes, facts.row.updates
    reads = [code.guard.predicate.text] if code.guard else []
    written: list[str] = []
    for position, operand in enumerate(code.operands):
        names = names_in(operand)
        if position < writes and _is_destination(facts, operand):
            written += names
            reads += names if updates else [n for n in names if "." in n]  # a write to one component leaves the others
        else:
            reads += names
    return _as_registers(reads), _as_registers(written)


def _is_destination(facts: Facts, operand: Operand) -> bool:
    """Whether an instruction writes the registers of an operand among its first. Writes to memory do not count."""
    if isinstance(operand, Address | Element):
        return False
    return not facts.calls or isinstance(operand, Arguments)  # `call (result), f, (x);` but `call f, (x);`


def _as_registers(names: Iterable[str]) -> frozenset[str]:
    return frozenset([register_of(name) if "." in name else name for name in names])


def _preserves(code: Code) -> bool:
    """Whether what it writes may hold its old value afterwards, or be made from it."""
    return isinstance(code, Scope) or code.guard is not None or facts_of(code.opcode).row.updates


def _killed(code: Code) -> frozenset[str]:
    if _preserves(code):
        return frozenset()
    outputs, inputs = written(code), read(code)
    return outputs if outputs.isdisjoint(inputs) else outputs - inputs


K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


def solve(
    order: Sequence[K], sources: Mapping[K, Iterable[K]], transfer: Callable[[K, Mapping[K, T]], T]
) -> dict[K, T]:
    """The one data-flow solver: a fixpoint of `values[n] = transfer(n, values)` for the nodes of `order`.

    sources: for each node those whose values its transfer reads; `values` lacks a node that has no value yet.

    A node is computed again when the value of a source has changed, the first in the order first. So in reverse
    postorder (of the reversed graph, for a backward problem) inner loops are solved before what comes after them.
    """
    rank = {node: i for i, node in enumerate(order)}
    readers: list[list[int]] = [[] for _ in order]
    for node, its in sources.items():
        for source in its:
            if source in rank and node in rank:
                readers[rank[source]].append(rank[node])
    values: dict[K, T] = {}
    waiting, queued = list(range(len(order))), [True] * len(order)
    while waiting:
        number = heappop(waiting)
        queued[number] = False
        node = order[number]
        value = transfer(node, values)
        if node in values and values[node] == value:
            continue
        values[node] = value
        for reader in readers[number]:
            if not queued[reader]:
                queued[reader] = True
                heappush(waiting, reader)
    return values


def computed_from(flow: Flow, special: tuple[str, ...], others: Iterable[str] = ()) -> set[str]:
    """The registers that may depend, other than through memory, on special registers with one of these prefixes or on
    `others`; these are among them."""
    readers: dict[str, list[Instruction]] = {}
    found = set(others)
    for instruction in flow.instructions():
        for name in read(instruction):
            if name.startswith(special):
                found |= written(instruction)
            readers.setdefault(name, []).append(instruction)
    waiting = list(found)
    while waiting:
        for reader in readers.get(waiting.pop(), ()):
            more = written(reader) - found
            found |= more
            waiting += more
    return found


def live_in(flow: Flow, partly: Collection[str] = ()) -> dict[str, frozenset[str]]:
    """The registers that are live at the start of each block. Only some lanes execute the blocks in `partly`: other
    lanes may still read after such a block what it overwrites."""
    return live_within(flow, flow.blocks, partly, {})


def live_within(
    flow: Flow, names: Collection[str], partly: Collection[str], beyond: Mapping[str, frozenset[str]]
) -> dict[str, frozenset[str]]:
    """What `live_in` gives for the blocks in `names`. Requires: it is known of what they lead to `beyond` them."""
    order = [name for name in reversed(flow.reverse_postorder()) if name in names]
    successors = {name: flow.blocks[name].end.successors() for name in order}
    own = {name: _upward(flow.blocks[name]) for name in order}

    def live(name: str, values: Mapping[str, frozenset[str]]) -> frozenset[str]:
        following = successors[name]
        out = frozenset().union(*((values if s in names else beyond).get(s, frozenset()) for s in following))
        uses, kills = own[name]
        return uses | (out if name in partly else out - kills)

    return solve(order, successors, live)


def extend_live_in(
    known: dict[str, frozenset[str]], flow: Flow, partly: Collection[str], changed: Collection[str]
) -> None:
    """Makes `known`, what `live_in` gave before the blocks in `changed` were changed, what it gives now. Requires: at
    no block can less be live than before."""
    above, waiting = flow.predecessors(), [name for name in flow.blocks if name in changed]
    while waiting:
        name = waiting.pop()
        uses, kills = _upward(flow.blocks[name])
        out = frozenset().union(*(known.get(s, frozenset()) for s in flow.blocks[name].end.successors()))
        before = known.get(name, frozenset())
        found = before | uses | (out if name in partly else out - kills)  # never less, even while successors are new
        if name not in known or len(found) > len(before):
            known[name] = found
            waiting += above[name]


@cached_in_argument
def _upward(block: Block) -> tuple[frozenset[str], frozenset[str]]:
    """The registers that a block reads before it writes them, and those that it surely overwrites."""
    used: set[str] = set()
    gone: set[str] = set()
    if block.region:  # some of its blocks may not run: all reads count, no write is certain
        for inner in block.region.blocks.values():
            used |= _upward(inner)[0]
    for code in block.code:
        used |= read(code) - gone
        gone |= killed(code)
    used |= {register_of(n) for n in block.end.reads()} - gone
    return frozenset(used), frozenset(gone)
