"""Rewrites a kernel so that every branch of its flow is one that whole warps take together.

Requires: the control flow of one kernel. Ensures: each branch left is warp-uniform or CTA-uniform, so
that the flow can be merged with another kernel's and every convergent instruction still meets all its
lanes (design.md, contract 2); a thread that ends walks on to `EXIT` with nothing that has effects (M14).

A divergent branch is dealt with in one of these ways, outermost first:

    leave      one side only ends the kernel: the lanes that stay are kept in a predicate, which from there
               on guards what has effects or may fault; the rest runs for all (predication of memory)
    vote       it leaves a loop: lanes still inside are kept in a predicate, and the warp goes on while a
               vote says that any is (M16)
    predicate  a small acyclic if/else: both sides one after the other, each under its predicate
    park       anything else: the smallest closed region around it becomes one block, during which the
               other kernel waits
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import networkx as nx

from goptx.analysis.cfg import (
    EXIT,
    Block,
    Branch,
    Code,
    Flow,
    Jump,
    Region,
    Switch,
    closure,
    controls,
    dominated_by,
    holds_barrier,
    is_barrier,
    loops,
)
from goptx.analysis.dataflow import live_in
from goptx.analysis.uniformity import Uniformity, uniformity
from goptx.errors import CannotWeave
from goptx.ptx.flatten import as_written
from goptx.ptx.ir import Guard, Name, Scope
from goptx.ptx.opcodes import Scope as Convergence
from goptx.ptx.opcodes import facts_of
from goptx.weaving.converged import Converged
from goptx.weaving.guards import Guards, is_warp_wide
from goptx.weaving.predicates import Fresh, ballot, copy, either, invert, inverted, is_ours, set_true, vote_any
from goptx.weaving.unknown import first_unknown, whole

MAX_PREDICATED = 96  # instructions of an if/else that still run under predicates rather than parked


def converge(flow: Flow, prefix: str, at: Callable[[int], str]) -> Converged:
    """`prefix` begins the names of fresh registers and blocks; `at(line)` names file, line and kernel in messages.

    Raises `CannotWeave` where a barrier stands under a branch that live threads take differently.
    """
    unknown = first_unknown(flow)
    if unknown is not None:
        return whole(flow, f"{at(unknown.line)}: `{as_written(unknown, prefix)}`")
    return _Converger(flow, Fresh(prefix), at).run()


@dataclass(slots=True)
class _Converger:
    flow: Flow
    fresh: Fresh
    at: Callable[[int], str]
    notes: list[str] = field(default_factory=list)
    masks: dict[str, str] = field(default_factory=dict)  # block -> predicate of the lanes that really run it
    kept: dict[str, frozenset[str]] = field(default_factory=dict)  # registers other lanes still need
    presumed: set[str] = field(default_factory=set)  # blocks whose branch is taken as CTA-uniform
    running: str = ""  # predicate of the lanes that have not ended, once some may have
    running_lanes: str = ""  # the same as a lane mask, where warp instructions need it

    def run(self) -> Converged:
        self.leave_early()
        self.check_barriers()
        while (block := self.next_divergent()) is not None:
            if not (self.vote_loop(block) or self.predicate(block)):
                self.park(block)
        flow = self.guarded().pruned()
        uniform = uniformity(flow).branches
        warp = frozenset(n for n, u in uniform.items() if u > Uniformity.CTA and n not in self.presumed)
        flow = Flow(flow.entry, {n: _marked_uniform(b) for n, b in flow.blocks.items()})
        return Converged(
            flow, tuple(self.fresh.predicates), tuple(self.fresh.words), warp, bool(self.running), tuple(self.notes)
        )

    def next_divergent(self) -> str | None:
        """The first block whose branch lanes of one warp may take differently."""
        branches = uniformity(self.guarded()).branches
        for name in self.flow.reverse_postorder():
            if branches[name] > Uniformity.WARP and name not in self.presumed:
                return name
        return None

    # leave -------------------------------------------------------------------------------------------

    def leave_early(self) -> None:
        """Turns each divergent branch that ends the kernel on one side into the predicate `running`."""
        while (found := self.next_leaving()) is not None:
            name, arm, stays = found
            block = self.flow.blocks[name]
            assert isinstance(block.end, Branch)
            if not self.running:
                self.running = self.fresh.predicate("run")
                begin = [set_true(self.running)]
                if any(is_warp_wide(i) and not is_ours(i) for b in self.flow.blocks.values() for i in b.instructions()):
                    self.running_lanes = self.fresh.word("lanes")
                    begin.append(ballot(self.running_lanes, self.running))
                self.prepend(self.flow.entry, *begin)
            goes_on = block.end.guard if block.end.taken == stays else inverted(block.end.guard)
            self.linearise(name, arm, stays)
            code = self.fresh.conjunction(self.running, self.running, goes_on)
            if self.running_lanes:
                code.append(ballot(self.running_lanes, self.running))
            self.append(name, code)  # ahead of the arm, which may change what the branch read
            below = nx.descendants(self.flow.graph(), arm[-1] if arm else name)
            self.masks.update({n: self.running for n in below if n not in self.masks})

    def next_leaving(self) -> tuple[str, list[str], str] | None:
        """A block whose divergent branch ends the kernel on one side: it, that side's blocks, the other side."""
        branches = uniformity(self.guarded()).branches
        cyclic = frozenset().union(*loops(self.flow).values())
        # Warps may end one by one, but not ahead of a barrier: theirs would then be missing.
        agreed = Uniformity.CTA if any(map(holds_barrier, self.flow.blocks.values())) else Uniformity.WARP
        for name in self.flow.reverse_postorder():
            end = self.flow.blocks[name].end
            if branches[name] <= agreed or not isinstance(end, Branch) or name in cyclic:
                continue
            if self.masks.get(name, self.running) != self.running:
                continue
            ends = []
            for side, other in ((end.taken, end.fallen), (end.fallen, end.taken)):
                arm = self.predicable(name, [side], EXIT)
                if arm is not None and other not in arm and other != EXIT:
                    ends.append((sum(len(self.flow.blocks[n].code) for n in arm), arm, other))
            if ends:
                _, arm, other = min(ends, key=lambda e: e[0])  # the shorter side is the one that ends
                return name, arm, other
        return None

    def predicable(self, source: str, sides: Sequence[str], join: str) -> list[str] | None:
        """The blocks from `sides` to `join` in topological order, if they can run under predicates."""
        graph = self.flow.graph()
        blocks = set[str]().union(*(_between(graph, side, join) for side in sides))
        inside = graph.subgraph(blocks)
        if source in blocks or not nx.is_directed_acyclic_graph(inside):
            return None
        if any(set(graph.pred[n]) - blocks - {source} for n in blocks):
            return None
        if any(self.masks.get(n) != self.masks.get(source) for n in blocks):
            return None
        if sum(len(self.flow.blocks[n].code) for n in blocks) > MAX_PREDICATED:
            return None
        if not all(_can_predicate(self.flow.blocks[n]) for n in blocks):
            return None
        rank = {n: i for i, n in enumerate(self.flow.reverse_postorder())}
        return list(nx.lexicographical_topological_sort(inside, key=lambda n: rank[n]))

    # barriers ----------------------------------------------------------------------------------------

    def check_barriers(self) -> None:
        """Every CTA barrier must be reached by all threads or by none (M18)."""
        barriers = [(n, i) for n, b in self.flow.blocks.items() for i in b.instructions() if is_barrier(i)]
        if not barriers:
            return
        uniform = uniformity(self.guarded())
        branches = uniform.branches
        controlled = controls(self.flow)
        for name, barrier in barriers:
            if barrier.guard and uniform.of(barrier.guard.predicate.text) > Uniformity.CTA:
                raise CannotWeave(
                    f"{self.at(barrier.line)}: `{as_written(barrier, self.fresh.prefix)}` is met under a condition "
                    "that is not shown to be the same for all threads of a CTA (M18); use separate launches."
                )
            for decider in sorted(closure([name], controlled), key=list(self.flow.blocks).index):
                if branches[decider] == Uniformity.CTA or decider in self.presumed:
                    continue
                end = self.flow.blocks[decider].end
                line = end.line if isinstance(end, Branch | Switch) else 0
                waits = as_written(barrier, self.fresh.prefix)
                place = f"{self.at(line)}: the branch decides whether `{waits}` (line {barrier.line}) is reached"
                if branches[decider] == Uniformity.DIVERGENT:
                    raise CannotWeave(
                        f"{place}, and it depends on the thread: threads that live on would never arrive (M18). "
                        "Move the barrier out of the branch, or launch the kernels separately."
                    )
                if self.running:
                    raise CannotWeave(
                        f"{place} and depends on loaded data, which threads that have returned early do not load. "
                        "Load it before the early return, or use separate launches."
                    )
                self.presumed.add(decider)
                self.notes.append(f"{place}; presumed to be the same for all threads of a CTA")

    # vote --------------------------------------------------------------------------------------------

    def vote_loop(self, block: str) -> bool:
        """Makes the outermost divergent loop around `block` warp-uniform; False if there is none or it cannot."""
        branches = uniformity(self.guarded()).branches
        bodies = sorted((b for b in loops(self.flow).items() if block in b[1]), key=lambda b: -len(b[1]))
        for header, body in bodies:
            leaving = [n for n in self.flow.blocks if n in body and self._leaves(n, body)]
            if not any(branches[n] > Uniformity.WARP for n in leaving):
                continue
            if not self._can_vote(header, body, leaving, branches):
                return False
            self._vote(header, body, leaving)
            return True
        return False

    def _leaves(self, name: str, body: frozenset[str]) -> bool:
        return any(t not in body for t in self.flow.blocks[name].end.successors())

    def _can_vote(self, header: str, body: frozenset[str], leaving: list[str], branches: dict[str, Uniformity]) -> bool:
        graph = self.flow.graph()
        targets = {t for n in leaving for t in graph.succ[n] if t not in body}
        if len(targets) != 1 or any(set(graph.pred[n]) - body for n in body if n != header):
            return False
        if any(not isinstance(self.flow.blocks[n].end, Branch) for n in leaving):
            return False
        if any(self.masks.get(n) != self.masks.get(header) for n in body):
            return False
        if any(n in inner for h, inner in loops(self.flow).items() if inner < body for n in leaving):
            return False
        controlled = controls(self.flow)
        deciders = {c for n in leaving for c in closure([n], controlled) if c in body}
        if any(branches[c] > Uniformity.WARP and c not in leaving for c in deciders):
            return False
        return all(
            facts_of(i.opcode).row.scope == Convergence.THREAD for n in body for i in self.flow.blocks[n].instructions()
        )

    def _vote(self, header: str, body: frozenset[str], leaving: list[str]) -> None:
        outer = self.masks.get(header, "")
        inside = self.fresh.predicate("in")
        target = next(t for t in self.flow.blocks[leaving[0]].end.successors() if t not in body)
        needed = live_in(self.flow)[target]
        before = f"{header}.enter"
        begin = copy(inside, outer) if outer else set_true(inside)
        blocks: dict[str, Block] = {}
        for name, block in self.flow.blocks.items():
            if name == header:
                blocks[before] = Block((begin,), Jump(header))
            if name not in body:
                blocks[name] = replace(block, end=block.end.retarget({header: before}))
                continue
            self.masks[name] = inside
            self.keep(name, needed)
            blocks[name] = block
            if name in leaving:
                assert isinstance(block.end, Branch)
                stay_side = block.end.taken if block.end.taken in body else block.end.fallen
                stays = block.end.guard if block.end.taken == stay_side else inverted(block.end.guard)
                anyone = self.fresh.predicate("any")
                code = [*self.fresh.conjunction(inside, inside, stays), vote_any(anyone, inside)]
                end = Branch(Guard(Name(anyone)), stay_side, target, True, block.end.line)
                blocks[name] = replace(block, code=(*block.code, *code), end=end)
        if outer:
            self.masks[before] = outer
        self.flow = Flow(before if self.flow.entry == header else self.flow.entry, blocks)

    # predicate ---------------------------------------------------------------------------------------

    def predicate(self, block: str) -> bool:
        """Runs both sides of an if/else one after the other under predicates; False if it cannot."""
        join = self.flow.post_dominators()[block]
        if join is None or not isinstance(self.flow.blocks[block].end, Branch):
            return False
        order = self.predicable(block, self.flow.blocks[block].end.successors(), join)
        if order is None:
            return False
        self.linearise(block, order, join)
        return True

    def linearise(self, source: str, order: list[str], join: str) -> None:
        """Lays the blocks of `order` one after the other behind `source`, each under its own predicate."""
        graph = self.flow.graph()
        live = live_in(self.flow)
        outer = self.masks.get(source, "")
        edges: dict[tuple[str, str], str] = {}
        for i, name in enumerate(order):
            elsewhere = [n for n in [*order[i + 1 :], join] if n not in dominated_by(self.flow, name)]
            self.keep(name, frozenset().union(*(live[n] for n in elsewhere)))
        for i, name in enumerate([source, *order]):
            block = self.flow.blocks[name]
            code: list[Code] = []
            if name != source:
                incoming = [edges[p, name] for p in graph.pred[name]]
                code, self.masks[name] = self.disjunction(incoming)
            under = self.masks.get(name, "") if name != source else outer
            after: list[Code] = []
            for target in block.end.successors():
                if target in order:
                    edges[name, target] = edge = self.fresh.predicate("if")
                    after += self.edge_predicate(edge, under, block.end, target)
            following = order[i] if i < len(order) else join
            self.replace(name, Block((*code, *block.code, *after), Jump(following), block.pragmas))

    def edge_predicate(self, edge: str, under: str, end: object, target: str) -> list[Code]:
        if not isinstance(end, Branch):
            return [copy(edge, under)]
        guard = end.guard if end.taken == target else inverted(end.guard)
        if under:
            return self.fresh.conjunction(edge, under, guard)
        return [invert(edge, guard.predicate.text) if guard.negated else copy(edge, guard.predicate.text)]

    def disjunction(self, terms: list[str]) -> tuple[list[Code], str]:
        if len(terms) == 1:
            return [], terms[0]
        result = self.fresh.predicate("if")
        code: list[Code] = [either(result, terms[0], terms[1])]
        code += [either(result, result, term) for term in terms[2:]]
        return code, result

    # park --------------------------------------------------------------------------------------------

    def park(self, block: str) -> None:
        """Makes the smallest closed region around `block` one block of the flow."""
        head, leave, blocks = self.closed_region(block)
        first = self.flow.blocks[head]
        name, start = f"{head}.region", f"{head}.in"
        entered_again = bool(set(self.flow.graph().pred[head]) & blocks)
        # Straight code ahead of the region need not be parked with it.
        ahead = Block((), Jump(name)) if entered_again else Block(first.code, Jump(name), first.pragmas)
        inner = {start: first if entered_again else replace(first, code=(), pragmas=())}
        for n in self.flow.blocks:
            if n in blocks and n != head:
                inner |= _flat(n, self.flow.blocks[n])
        inner = {n: replace(b, end=b.end.retarget({head: start})) for n, b in inner.items()}
        self._refuse_barriers(inner)
        inner = {n: replace(b, code=tuple(self.guards().without_ended(b.code))) for n, b in inner.items()}
        entry = start
        if mask := self.masks.get(head, ""):
            entry = f"{head}.gate"
            inner[entry] = Block((), Branch(Guard(Name(mask)), start, leave))
        outside: dict[str, Block] = {}
        for n, b in self.flow.blocks.items():
            if n == head:
                outside[head] = ahead
                outside[name] = Block((), Jump(leave), (), Region(entry, inner, leave))
            elif n not in blocks:
                outside[n] = b
        self.flow = Flow(self.flow.entry, outside)

    def _refuse_barriers(self, blocks: dict[str, Block]) -> None:
        barrier = next((i for b in blocks.values() for i in b.instructions() if is_barrier(i)), None)
        if barrier is not None:
            raise CannotWeave(
                f"{self.at(barrier.line)}: `{as_written(barrier, self.fresh.prefix)}` stands in divergent flow that "
                "cannot be taken apart, so the other kernel could not be kept out of it; use separate "
                "launches."
            )

    def closed_region(self, block: str) -> tuple[str, str, frozenset[str]]:
        graph = self.flow.graph()
        idom = self.flow.dominators()
        ipdom = self.flow.post_dominators()
        head: str | None = block
        while head is not None:
            leave = ipdom[head] or EXIT
            while True:
                blocks = {head}.union(*(_between(graph, s, leave) for s in graph.succ[head]))
                masks = {self.masks.get(n, "") for n in blocks}
                if leave == EXIT or len(masks) == 1:
                    break
                leave = ipdom[leave] or EXIT
            if not any(set(graph.pred[n]) - blocks for n in blocks if n != head) and len(masks) == 1:
                return head, leave, frozenset(blocks)
            head = idom[head]
        raise CannotWeave(
            f"{self.at(_first_line(self.flow.blocks[block]))}: the control flow here is too entangled to be woven "
            "(early returns out of irreducible or nested divergent loops); use separate launches."
        )

    def guards(self) -> Guards:
        return Guards(self.masks, self.kept, self.running, self.running_lanes, self.fresh, self.at)

    def guarded(self) -> Flow:
        return self.guards().applied(self.flow)

    # small changes -----------------------------------------------------------------------------------

    def keep(self, name: str, registers: frozenset[str]) -> None:
        self.kept[name] = self.kept.get(name, frozenset()) | registers

    def replace(self, name: str, block: Block) -> None:
        self.flow = Flow(self.flow.entry, {**self.flow.blocks, name: block})

    def prepend(self, name: str, *code: Code) -> None:
        block = self.flow.blocks[name]
        self.replace(name, replace(block, code=(*code, *block.code)))

    def append(self, name: str, code: list[Code]) -> None:
        block = self.flow.blocks[name]
        self.replace(name, replace(block, code=(*block.code, *code)))


def _between(graph: nx.DiGraph[str], start: str, join: str) -> set[str]:
    """The blocks reachable from `start` without passing `join`, which is not among them."""
    if start == join:
        return set()
    return {start} | set(nx.descendants(graph.subgraph(set(graph) - {join}), start))


def _flat(name: str, block: Block) -> dict[str, Block]:
    """The block itself, or the blocks of the region that it stands for."""
    if block.region is None:
        return {name: block}
    return {name: Block((), Jump(block.region.entry)), **block.region.blocks}


def _can_predicate(block: Block) -> bool:
    if block.region or isinstance(block.end, Switch) or any(isinstance(c, Scope) for c in block.code):
        return False
    return all(facts_of(i.opcode).row.scope == Convergence.THREAD for i in block.instructions())


def _first_line(block: Block) -> int:
    lines = [i.line for i in block.instructions() if i.line]
    return lines[0] if lines else getattr(block.end, "line", 0)


def _marked_uniform(block: Block) -> Block:
    if isinstance(block.end, Branch | Switch) and not block.region:
        return replace(block, end=replace(block.end, uniform=True))
    return block
