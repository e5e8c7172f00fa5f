"""The control-flow graph of a kernel: basic blocks, and what follows from how they end (terminators.py).

Invariants of every `Flow`: every path of a thread ends in the block `EXIT`; every other block has an `end` that names
its successors; a branch whose two targets are the same is a `Jump`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, cast

import networkx as nx

from goptx.analysis.dominators import frontiers, immediate_dominators, reverse_postorder
from goptx.analysis.terminators import Branch, End, Jump, Stop, Switch
from goptx.memo import once
from goptx.ptx.ir import Directive, Instruction, Scope
from goptx.ptx.opcodes import Facts, facts_of

EXIT = "exit"
Code = Instruction | Scope
Change = Callable[[tuple[Code, ...]], Iterable[Code]]  # changes the code of a block


@dataclass(frozen=True)
class Block:
    """Straight code and its end. `pragmas` stand at its very beginning.

    A block with a `region` has no code: it stands for that whole piece of divergent flow. Where copies of one kernel
    run in lockstep, their blocks with the same `lockstep` begin together. A block that is `alone` is never joined with
    others. A block never changes and is in many flows, so the results of frequent queries are cached.
    """

    code: tuple[Code, ...]
    end: End
    pragmas: tuple[Directive, ...] = ()
    region: Region | None = None
    lockstep: str = ""
    alone: bool = False

    def instructions(self) -> tuple[Instruction, ...]:
        """Every instruction of the block, including those of call scopes and of a region's blocks."""
        return self._instructions

    @once
    def _instructions(self) -> tuple[Instruction, ...]:
        own = _instructions_of(self.code)
        return (*own, *chain.from_iterable(block.instructions() for block in self.inner())) if self.region else own

    @once
    def opcodes(self) -> frozenset[str]:
        """The opcodes of its instructions."""
        return frozenset([i.opcode for i in self.instructions()])

    def inner(self) -> Collection[Block]:
        """The blocks of its region, which may themselves have regions."""
        return self.region.blocks.values() if self.region else ()

    def ending(self, end: End) -> Block:
        """The block with another end."""
        return Block(self.code, end, self.pragmas, self.region, self.lockstep, self.alone)

    def with_code(self, change: Change) -> Block:
        """The block with its code changed, and the code of all blocks in its region."""
        region = self.region
        if region is not None:
            region = replace(region, blocks={n: b.with_code(change) for n, b in region.blocks.items()})
        return replace(self, code=tuple(change(self.code)), region=region)

    @property
    def size(self) -> int:
        """The number of its instructions, including the branch at its end and those of its region."""
        return len(self.instructions()) + self._branches

    @once
    def _branches(self) -> int:
        own = 1 + len(self.end.others) if isinstance(self.end, Branch) else len(self.end.successors()) > 1
        return own + sum(block._branches for block in self.inner())


@dataclass(frozen=True, slots=True)
class Region:
    """A single-entry, single-exit piece of flow: it is entered at `entry`, and every path leads to the block `leave`,
    which is not among `blocks`. All lanes that enter it leave it together. `sides` are empty blocks; each path passes
    exactly one of them, once. There may be no `sides`."""

    entry: str
    blocks: dict[str, Block]
    leave: str
    sides: tuple[str, ...] = ()

    def flow(self) -> Flow:
        """The region as a separate flow, which ends where threads leave the region."""
        blocks = {n: replace(b, end=b.end.retarget({self.leave: EXIT})) for n, b in self.blocks.items()}
        return Flow(self.entry, {**blocks, EXIT: Block((), Stop())})


def _instructions_of(code: tuple[Code, ...]) -> tuple[Instruction, ...]:
    if Scope not in map(type, code):
        return cast("tuple[Instruction, ...]", code)
    return tuple(i for each in code for i in (instructions_in(each) if isinstance(each, Scope) else (each,)))


def instructions_in(scope: Scope) -> Iterator[Instruction]:
    """The instructions of a scope and of the scopes within it, in order."""
    for statement in scope.body:
        if isinstance(statement, Instruction):
            yield statement
        elif isinstance(statement, Scope):
            yield from instructions_in(statement)


def _with_inner(blocks: Iterable[Block]) -> Iterator[Block]:
    for block in blocks:
        yield block
        yield from _with_inner(block.inner())


@dataclass(frozen=True)
class Flow:
    """The blocks of one kernel by name, in layout order; `EXIT` is always among them. A flow never changes, so the
    results of frequent queries are cached."""

    entry: str
    blocks: dict[str, Block]

    def instructions(self) -> tuple[Instruction, ...]:
        """Every instruction, including those of call scopes and of regions."""
        return self._instructions

    @once
    def _instructions(self) -> tuple[Instruction, ...]:
        return tuple(chain.from_iterable(block.instructions() for block in self.blocks.values()))

    @once
    def opcodes(self) -> frozenset[str]:
        """The opcodes of all instructions."""
        return frozenset().union(*[block.opcodes for block in self.blocks.values()])

    def codes(self) -> Iterator[Code]:
        """All code of the blocks and of the blocks in regions; a call scope is one item."""
        return (code for block in _with_inner(self.blocks.values()) for code in block.code)

    def ends(self) -> Iterator[End]:
        """The ends of all blocks, including those in regions."""
        return (block.end for block in _with_inner(self.blocks.values()))

    def with_code(self, change: Change) -> Flow:
        """The flow with the code of each block changed, including the blocks in regions."""
        return Flow(self.entry, {name: block.with_code(change) for name, block in self.blocks.items()})

    def graph(self) -> nx.DiGraph[str]:
        """The graph with blocks as nodes (attribute `block`) and the kinds of edges (attribute `kind`). It is frozen:
        copy it to change it."""
        return self._graph

    @once
    def _graph(self) -> nx.DiGraph[str]:
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from((name, {"block": block}) for name, block in self.blocks.items())
        graph.add_edges_from(
            (name, target, {"kind": kind})
            for name, block in self.blocks.items()
            for target, kind in zip(block.end.successors(), block.end.kinds(), strict=True)
        )
        frozen: nx.DiGraph[str] = nx.freeze(graph)
        return frozen

    def successors(self) -> Mapping[str, tuple[str, ...]]:
        """Where each block leads, in the order of its end."""
        return self._successors

    @once
    def _successors(self) -> dict[str, tuple[str, ...]]:
        return {name: block.end.successors() for name, block in self.blocks.items()}

    def predecessors(self) -> Mapping[str, Sequence[str]]:
        """The predecessors of each block, in layout order."""
        return self._predecessors

    @once
    def _predecessors(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {name: [] for name in self.blocks}
        for name, targets in self.successors().items():
            for target in targets:
                found[target].append(name)
        return {name: tuple(above) for name, above in found.items()}

    def found(self, query: str) -> Any:
        """What is cached of a query, such as "loops"; None if it has not been asked."""
        return self.__dict__.get(f"_{query}")

    def with_found(self, **results: object) -> Flow:
        """The flow, of which these queries have been answered (changed_flow.py)."""
        self.__dict__.update({f"_{query}": result for query, result in results.items()})
        return self

    def reverse_postorder(self) -> Sequence[str]:
        """The blocks reachable from the entry, predecessors first except over back edges."""
        return self._reverse_postorder

    @once
    def _reverse_postorder(self) -> Sequence[str]:
        return reverse_postorder(self.entry, self.successors().__getitem__)

    def ranks(self) -> Mapping[str, int]:
        """The place of each block in reverse postorder."""
        return self._ranks

    @once
    def _ranks(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self._reverse_postorder)}

    def dominators(self) -> dict[str, str | None]:
        """The immediate dominators; None for the entry."""
        return self._dominators

    @once
    def _dominators(self) -> dict[str, str | None]:
        return immediate_dominators(self.reverse_postorder(), self.predecessors())

    @once
    def ending(self) -> frozenset[str]:
        """The blocks from which a thread may come to `EXIT`: others lead to endless loops only."""
        return frozenset(closure([EXIT], self.predecessors()))

    def post_dominators(self) -> dict[str, str | None]:
        """The immediate post-dominators; None for `EXIT`. Endless loops are treated as leading to `EXIT`."""
        return self._post_dominators

    @once
    def _post_dominators(self) -> dict[str, str | None]:
        above, below = self._with_virtual_exits
        return immediate_dominators(reverse_postorder(EXIT, above.__getitem__), below)

    @once
    def _controls(self) -> dict[str, frozenset[str]]:
        _, below = self._with_virtual_exits
        found = frontiers(self.post_dominators(), below)
        return {name: frozenset(found.get(name, ())) for name in self.blocks}

    @once
    def _with_virtual_exits(self) -> tuple[Mapping[str, Sequence[str]], Mapping[str, Sequence[str]]]:
        """The predecessors and the successors of each block, with an edge to `EXIT` from each endless loop."""
        if len(self.ending) + 1 == len(self.blocks):
            return self.predecessors(), self.successors()
        graph = self.with_virtual_exits()
        return {n: tuple(graph.pred[n]) for n in self.blocks}, {n: tuple(graph.succ[n]) for n in self.blocks}

    def with_virtual_exits(self) -> nx.DiGraph[str]:
        """The graph with an edge to `EXIT` from each endless loop."""
        graph = self.graph()
        while trapped := graph.nodes - nx.ancestors(graph, EXIT) - {EXIT}:
            graph = graph.copy()
            for component in nx.strongly_connected_components(graph.subgraph(trapped)):
                if all(t in component for n in component for t in graph.succ[n]):
                    graph.add_edge(min(component), EXIT, kind="virtual")
        return graph

    def dominates(self, above: str, below: str) -> bool:
        """Whether `below` is reachable and every path from the entry to it passes through `above`."""
        begin, end = self._dominated.get(above, (0, 0))
        return begin <= self._dominated.get(below, (-1, -1))[0] < end

    @once
    def _dominated(self) -> dict[str, tuple[int, int]]:
        """For each block the half-open interval of preorder numbers of its subtree in the dominator tree."""
        above, order = self.dominators(), self.reverse_postorder()
        size = dict.fromkeys(order, 1)
        for name in reversed(order[1:]):
            size[above[name] or ""] += size[name]
        found: dict[str, tuple[int, int]] = {}
        free: dict[str | None, int] = {None: 0}
        for name in order:
            begin = free[above[name]]
            free[above[name]] = begin + size[name]
            free[name] = begin + 1
            found[name] = begin, begin + size[name]
        return found

    @once
    def _loops(self) -> dict[str, frozenset[str]]:
        return _natural_loops(self)

    def pruned(self) -> Flow:
        """The flow without empty and unreachable blocks; a jump is joined with its target if it is its only
        predecessor."""
        flow = self.without_empty()
        return flow.joined(flow.chains())

    def joined(self, runs: Mapping[str, Sequence[str]]) -> Flow:
        """The flow with each of these runs of blocks, by first block, as one block. The runs are pieces of `chains` and
        cover all blocks."""
        blocks: dict[str, Block] = {}
        for head, members in runs.items():
            pieces = [self.blocks[m] for m in members]
            if len(pieces) == 1 and not pieces[0].lockstep:
                blocks[head] = pieces[0]
                continue
            code = tuple(c for piece in pieces for c in piece.code)
            blocks[head] = Block(code, pieces[-1].end, pieces[0].pragmas, pieces[0].region)
        return self.with_blocks(blocks)

    def without_empty(self) -> Flow:
        """The flow without blocks that only jump on and without unreachable blocks; `EXIT` comes last."""
        skipped = {name: self._past_empty(name) for name in self.blocks}
        ends = {n: b.end.retarget(skipped) for n, b in self.blocks.items()}
        redirected = {n: b if ends[n] is b.end else b.ending(ends[n]) for n, b in self.blocks.items()}
        reachable = [n for n in self.with_blocks(redirected).reverse_postorder() if n != EXIT]
        flow = self.with_blocks({n: redirected[n] for n in [*reachable, EXIT]})
        # A branch whose two targets became one leaves a block that only jumps on.
        merged = (isinstance(b.end, Jump) and not isinstance(self.blocks[n].end, Jump) for n, b in flow.blocks.items())
        return flow.without_empty() if any(merged) else flow

    def with_blocks(self, blocks: dict[str, Block]) -> Flow:
        """A flow with these blocks; the flow itself, with its cached results, if the blocks are unchanged."""
        same = list(blocks) == list(self.blocks) and all(blocks[n] is b for n, b in self.blocks.items())
        return self if same else Flow(self.entry, blocks)

    def chains(self) -> dict[str, tuple[str, ...]]:
        """Runs of blocks that always follow each other, by first block. Each run could be one block."""
        predecessors = self.predecessors()
        follower: dict[str, str] = {}
        for name, block in self.blocks.items():
            match block.end:
                case Jump(target) if target not in (EXIT, self.entry) and len(predecessors[target]) == 1:
                    following = self.blocks[target]
                    separate = block.region or following.region or block.alone or following.alone
                    if not (separate or following.pragmas):
                        follower[name] = target
        chains: dict[str, tuple[str, ...]] = {}
        followers = set(follower.values())
        for name in self.blocks:
            if name not in followers:
                members = [name]
                while members[-1] in follower:
                    members.append(follower[members[-1]])
                chains[name] = tuple(members)
        return chains

    def cut(self, starts: Callable[[tuple[Code, ...]], Sequence[int]], word: str) -> Flow:
        """The flow with the code of each block cut before the positions `starts(code)`, which exclude position 0. The
        later pieces of a block are called `NAME.WORD1` and so on."""
        return self.cut_blocks(lambda block: starts(block.code), word)

    def cut_blocks(self, starts: Callable[[Block], Sequence[int]], word: str) -> Flow:
        """`cut` for positions that also depend on the end of the block."""
        blocks: dict[str, Block] = {}
        for name, block in self.blocks.items():
            inside = starts(block)
            if not inside:
                blocks[name] = block
                continue
            bounds = [0, *inside, len(block.code)]
            names = [name, *(f"{name}.{word}{k}" for k in range(1, len(bounds) - 1))]
            for k, piece in enumerate(names):
                end = Jump(names[k + 1]) if k + 1 < len(names) else block.end
                code = block.code[bounds[k] : bounds[k + 1]]
                pragmas, lockstep = ((), "") if k else (block.pragmas, block.lockstep)
                blocks[piece] = replace(block, code=code, end=end, pragmas=pragmas, lockstep=lockstep)
        return Flow(self.entry, blocks)

    def _past_empty(self, name: str) -> str:
        seen: set[str] = set()
        while name not in seen and name != self.entry:
            seen.add(name)
            block = self.blocks[name]
            if block.code or block.region or not isinstance(block.end, Jump):
                break
            name = block.end.target
        return name


def facts_among(code: Block | Flow) -> Iterator[Facts]:
    """What is known of the instructions, once for each opcode: whether there are any of a kind is mostly decided so."""
    return map(facts_of, code.opcodes)


def original(piece: str) -> str:
    """The name of the block that the piece was cut from (`Flow.cut`)."""
    return piece.partition(".")[0]


def marked_uniform(flow: Flow, names: Collection[str], uniform: bool = True) -> Flow:
    """The flow with the branches of those blocks marked `.uni`: all lanes of a warp agree. If not `uniform`, they lose
    that mark."""
    blocks = dict(flow.blocks)
    for name in names:
        end = blocks[name].end
        if isinstance(end, Branch | Switch):
            blocks[name] = replace(blocks[name], end=replace(end, uniform=uniform))
    return Flow(flow.entry, blocks)


def loops(flow: Flow) -> dict[str, frozenset[str]]:
    """The natural loops: header to the blocks of the body. Loops with the same header are one loop.

    An irreducible (multiple-entry) cycle is listed under its first block, with all its blocks and those of the loops
    in it.
    """
    return flow._loops


def _natural_loops(flow: Flow) -> dict[str, frozenset[str]]:
    order, rank, above, below = flow.reverse_postorder(), flow.ranks(), flow.predecessors(), flow.successors()
    retreating = [(s, t) for s in order for t in below[s] if rank[t] <= rank[s]]
    back = {(s, t): None for s, t in retreating if flow.dominates(t, s)}
    bodies: dict[str, set[str]] = {}
    for source, target in back:
        body = bodies.setdefault(target, {target})
        stack = [source]
        while stack:
            block = stack.pop()
            if block not in body:
                body.add(block)
                stack += above[block]
    if len(back) < len(retreating):
        _add_irreducible(bodies, nx.DiGraph([(s, t) for s in order for t in below[s] if (s, t) not in back]), rank)
    return {header: frozenset(bodies[header]) for header in sorted(bodies, key=rank.__getitem__)}


def _add_irreducible(bodies: dict[str, set[str]], forward: nx.DiGraph[str], rank: Mapping[str, int]) -> None:
    """Adds the irreducible cycles to the bodies of loops. `forward` has all edges but the back edges."""
    for component in nx.strongly_connected_components(forward):
        if len(component) > 1:
            body = bodies.setdefault(min(component, key=rank.__getitem__), set())
            body |= component
            while inner := [b for header, b in bodies.items() if header in body and not b <= body]:
                body.update(*inner)


def left_at(flow: Flow, body: Collection[str]) -> list[str]:
    """The blocks of a loop that lead out of it, in layout order."""
    return [n for n in flow.blocks if n in body and any(t not in body for t in flow.blocks[n].end.successors())]


def depths(flow: Flow) -> dict[str, int]:
    """The number of loops around each block."""
    bodies = loops(flow).values()
    around = Counter(name for body in bodies for name in body)
    return {name: around[name] for name in flow.blocks}


def controls(flow: Flow) -> dict[str, frozenset[str]]:
    """For each block the blocks whose branch directly decides whether it runs (control dependence).

    That is the post-dominance frontier (Ferrante, Ottenstein, Warren 1987).
    """
    return flow._controls


def closure(start: Iterable[str], edges: Mapping[str, Iterable[str]]) -> frozenset[str]:
    """Everything reachable from `start` over `edges`. A start node is included only if it can be reached again."""
    seen: set[str] = set()
    stack = [t for s in start for t in edges.get(s, ())]
    while stack:
        name = stack.pop()
        if name not in seen:
            seen.add(name)
            stack += edges.get(name, ())
    return frozenset(seen)
