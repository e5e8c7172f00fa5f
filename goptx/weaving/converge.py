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

from collections.abc import Callable, Iterator
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
    loops,
)
from goptx.analysis.dataflow import live_in, written
from goptx.analysis.uniformity import Uniformity, uniformity
from goptx.errors import CannotWeave
from goptx.ptx.ir import Guard, Immediate, Instruction, Name, Negated, Operand, Scope
from goptx.ptx.opcodes import Scope as Convergence
from goptx.ptx.opcodes import facts_of

MAX_PREDICATED = 96  # instructions of an if/else that still run under predicates rather than parked


@dataclass(frozen=True, slots=True)
class Converged:
    """A kernel's flow with warp-uniform branches only.

    `predicates` and `words` are the fresh registers (`.pred`, `.b32`) that it needs; `warp_branches` the
    blocks whose branch the warps of a CTA may take differently; `lanes_end` whether threads may return while
    others go on; `notes` what was presumed.
    """

    flow: Flow
    predicates: tuple[str, ...]
    words: tuple[str, ...]
    warp_branches: frozenset[str]
    lanes_end: bool
    notes: tuple[str, ...]


def converge(flow: Flow, prefix: str, at: Callable[[int], str]) -> Converged:
    """`prefix` begins the names of fresh registers and blocks; `at(line)` names file, line and kernel in messages.

    Raises `CannotWeave` where a barrier stands under a branch that live threads take differently.
    """
    return _Converger(flow, prefix, at).run()


@dataclass(slots=True)
class _Converger:
    flow: Flow
    prefix: str
    at: Callable[[int], str]
    predicates: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
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
        return Converged(flow, tuple(self.predicates), tuple(self.words), warp, bool(self.running), tuple(self.notes))

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
                self.running = self.predicate_register("run")
                self.prepend(self.flow.entry, _set_true(self.running))
                if any(
                    _is_warp_wide(i) and not _is_ours(i) for b in self.flow.blocks.values() for i in b.instructions()
                ):
                    self.running_lanes = self.word_register("lanes")
                    self.prepend(self.flow.entry, _ballot(self.running_lanes, self.running))
            goes_on = block.end.guard if block.end.taken == stays else _inverted(block.end.guard)
            self.linearise(name, arm, stays)
            code = self.conjunction(self.running, self.running, goes_on)
            if self.running_lanes:
                code.append(_ballot(self.running_lanes, self.running))
            last = arm[-1] if arm else name
            self.append(last, code)
            below = nx.descendants(self.flow.graph(), last)
            self.masks.update({n: self.running for n in below if n not in self.masks})

    def next_leaving(self) -> tuple[str, list[str], str] | None:
        """A block whose divergent branch ends the kernel on one side: it, that side's blocks, the other side."""
        branches = uniformity(self.guarded()).branches
        cyclic = frozenset().union(*loops(self.flow).values())
        for name in self.flow.reverse_postorder():
            end = self.flow.blocks[name].end
            if branches[name] <= Uniformity.WARP or not isinstance(end, Branch) or name in cyclic:
                continue
            if self.masks.get(name, self.running) != self.running:
                continue
            for side, other in ((end.taken, end.fallen), (end.fallen, end.taken)):
                arm = self.arm(name, side, EXIT)
                if arm is not None and other not in arm and other != EXIT:
                    return name, arm, other
        return None

    def arm(self, source: str, side: str, join: str) -> list[str] | None:
        """The blocks from `side` to `join` in topological order, if they can run under a predicate."""
        graph = self.flow.graph()
        blocks = _between(graph, side, join)
        inside = graph.subgraph(blocks)
        if source in blocks or not nx.is_directed_acyclic_graph(inside):
            return None
        if any(set(graph.pred[n]) - blocks - {source} for n in blocks):
            return None
        if any(n in self.masks and self.masks[n] != self.masks.get(source) for n in blocks):
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
        barriers = [(n, i) for n, b in self.flow.blocks.items() for i in b.instructions() if facts_of(i.opcode).barrier]
        if not barriers:
            return
        branches = uniformity(self.guarded()).branches
        controlled = controls(self.flow)
        for name, barrier in barriers:
            for decider in sorted(closure([name], controlled), key=list(self.flow.blocks).index):
                if branches[decider] == Uniformity.CTA or decider in self.presumed:
                    continue
                end = self.flow.blocks[decider].end
                line = end.line if isinstance(end, Branch | Switch) else 0
                place = f"{self.at(line)}: the branch decides whether `{barrier}` (line {barrier.line}) is reached"
                if branches[decider] == Uniformity.DIVERGENT:
                    raise CannotWeave(
                        f"{place}, and it depends on the thread: threads that live on would never arrive (M18). "
                        "Move the barrier out of the branch, or fuse with strategy horizontal."
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
        inside = self.predicate_register("in")
        target = next(t for t in self.flow.blocks[leaving[0]].end.successors() if t not in body)
        needed = live_in(self.flow)[target]
        before = f"{header}_enter"
        copy = _copy(inside, outer) if outer else _set_true(inside)
        blocks: dict[str, Block] = {}
        for name, block in self.flow.blocks.items():
            if name == header:
                blocks[before] = Block((copy,), Jump(header))
            if name not in body:
                blocks[name] = replace(block, end=block.end.retarget({header: before}))
                continue
            self.masks[name] = inside
            self.keep(name, needed)
            blocks[name] = block
            if name in leaving:
                assert isinstance(block.end, Branch)
                stay_side = block.end.taken if block.end.taken in body else block.end.fallen
                stays = block.end.guard if block.end.taken == stay_side else _inverted(block.end.guard)
                anyone = self.predicate_register("any")
                code = [*self.conjunction(inside, inside, stays), _vote_any(anyone, inside)]
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
        graph = self.flow.graph()
        blocks = set().union(*(_between(graph, s, join) for s in graph.succ[block]))
        inside = graph.subgraph(blocks)
        if block in blocks or not nx.is_directed_acyclic_graph(inside):
            return False
        if any(set(graph.pred[n]) - blocks - {block} for n in blocks):
            return False
        if any(self.masks.get(n) != self.masks.get(block) for n in blocks):
            return False
        if sum(len(self.flow.blocks[n].code) for n in blocks) > MAX_PREDICATED:
            return False
        if not all(_can_predicate(self.flow.blocks[n]) for n in blocks):
            return False
        rank = {n: i for i, n in enumerate(self.flow.reverse_postorder())}
        self.linearise(block, list(nx.lexicographical_topological_sort(inside, key=lambda n: rank[n])), join)
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
                    edges[name, target] = edge = self.predicate_register("if")
                    after += self.edge_predicate(edge, under, block.end, target)
            following = order[i] if i < len(order) else join
            self.replace(name, Block((*code, *block.code, *after), Jump(following), block.pragmas))

    def edge_predicate(self, edge: str, under: str, end: object, target: str) -> list[Code]:
        if not isinstance(end, Branch):
            return [_copy(edge, under)]
        guard = end.guard if end.taken == target else _inverted(end.guard)
        if under:
            return self.conjunction(edge, under, guard)
        return [_invert(edge, guard.predicate.text) if guard.negated else _copy(edge, guard.predicate.text)]

    def disjunction(self, terms: list[str]) -> tuple[list[Code], str]:
        if len(terms) == 1:
            return [], terms[0]
        result = self.predicate_register("if")
        code: list[Code] = [_logic("or", result, terms[0], terms[1])]
        code += [_logic("or", result, result, term) for term in terms[2:]]
        return code, result

    # park --------------------------------------------------------------------------------------------

    def park(self, block: str) -> None:
        """Makes the smallest closed region around `block` one block of the flow."""
        head, leave, blocks = self.closed_region(block)
        barrier = next(
            (i for n in blocks for i in self.flow.blocks[n].instructions() if facts_of(i.opcode).barrier),
            None,
        )
        if barrier is not None:
            raise CannotWeave(
                f"{self.at(barrier.line)}: `{barrier}` stands in divergent flow that cannot be taken apart; "
                "the other kernel could not be kept out of it. Use strategy horizontal or separate launches."
            )
        masks = {self.masks.get(n, "") for n in blocks}
        outer = self.masks.get(head, "")
        entered_within = bool(set(self.flow.graph().pred[head]) & blocks)
        inner = {n: self.flow.blocks[n] for n in self.flow.blocks if n in blocks}
        name = f"{head}_region"
        before: dict[str, Block] = {}
        if not entered_within and inner[head].code:  # straight code ahead of the region need not be parked
            before[head] = Block(inner[head].code, Jump(name), inner[head].pragmas)
            inner[f"{head}_in"] = replace(inner.pop(head), code=(), pragmas=())
            start = f"{head}_in"
        else:
            start = head
        if masks == {""}:
            entry = start
        else:
            entry = f"{head}_gate"
            inner = {entry: Block((), Branch(Guard(Name(outer)), start, leave)), **inner}
        if self.running_lanes:
            inner = {n: replace(b, code=tuple(self._with_lanes(b.code))) for n, b in inner.items()}
        outside: dict[str, Block] = {}
        for n, b in self.flow.blocks.items():
            if n == head:
                outside.update(before)
                outside[name] = Block((), Jump(leave), (), Region(entry, inner, leave))
            elif n not in blocks:
                outside[n] = b if before else replace(b, end=b.end.retarget({head: name}))
        if not before and self.flow.entry == head:
            self.flow = Flow(name, outside)
        else:
            self.flow = Flow(self.flow.entry, outside)

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

    # guards ------------------------------------------------------------------------------------------

    def guarded(self) -> Flow:
        """The flow with every instruction under the predicate of the lanes that really run it."""
        blocks = {
            name: replace(block, code=tuple(self._guard(name, block.code))) if name in self.masks else block
            for name, block in self.flow.blocks.items()
        }
        return Flow(self.flow.entry, blocks)

    def _guard(self, name: str, code: tuple[Code, ...]) -> Iterator[Code]:
        mask, kept = self.masks[name], self.kept.get(name, frozenset())
        for item in self._with_lanes(code):
            if isinstance(item, Scope):
                yield Scope(
                    tuple(
                        replace(s, guard=Guard(Name(mask))) if isinstance(s, Instruction) and not s.guard else s
                        for s in item.body
                    )
                )
            elif not _needs_guard(item, kept):
                yield item
            elif item.guard is None:
                yield replace(item, guard=Guard(Name(mask)))
            else:
                both = f"%{self.prefix}_both_{item.guard.predicate.text.lstrip('%')}_{mask.lstrip('%')}"
                if both not in self.predicates:
                    self.predicates.append(both)
                yield from self.conjunction(both, mask, item.guard)
                yield replace(item, guard=Guard(Name(both)))

    def _with_lanes(self, code: tuple[Code, ...]) -> Iterator[Code]:
        """Takes ended lanes out of the masks of warp instructions (M14 b and c)."""
        for item in code:
            if isinstance(item, Scope) or _is_ours(item):
                yield item
            elif facts_of(item.opcode).barrier:
                yield from self._neutral_when_ended(item)
            elif self.running_lanes and _is_warp_wide(item):
                yield from self._without_ended_lanes(item)
            else:
                yield item

    def _neutral_when_ended(self, item: Instruction) -> Iterator[Code]:
        """What ended threads bring to a CTA barrier: themselves, and to a reduction its neutral value."""
        facts = facts_of(item.opcode)
        if not self.running or "red" not in facts.modifiers:
            yield item
            return
        value = item.operands[-1]
        name, negated = (value.name, True) if isinstance(value, Negated) else (value, False)
        assert isinstance(name, Name)
        brought = f"%{self.prefix}_brought"
        if brought not in self.predicates:
            self.predicates.append(brought)
        yield from self.conjunction(brought, self.running, Guard(name, negated != ("and" in facts.modifiers)))
        # `and`: false only where a running thread says false, that is not (running and not value).
        term: Operand = Negated(Name(brought)) if "and" in facts.modifiers else Name(brought)
        yield replace(item, operands=(*item.operands[:-1], term))

    def _without_ended_lanes(self, item: Instruction) -> Iterator[Code]:
        """A warp instruction of the running lanes only."""
        facts = facts_of(item.opcode)
        if facts.row.mask is None:
            yield item
            if facts.base == "activemask":
                name = item.operands[0]
                yield Instruction("and.b32", (name, name, Name(self.running_lanes)))
        elif "sync" in facts.modifiers:
            lanes = f"%{self.prefix}_lanes_here"
            if lanes not in self.words:
                self.words.append(lanes)
            yield Instruction("and.b32", (Name(lanes), item.operands[-1], Name(self.running_lanes)))
            yield replace(item, operands=(*item.operands[:-1], Name(lanes)))
        else:
            raise CannotWeave(
                f"{self.at(item.line)}: `{item}` names no lanes, and lanes may have returned before it; "
                "use its `.sync` form."
            )

    def conjunction(self, result: str, left: str, right: Guard) -> list[Code]:
        """result := left and right."""
        if not right.negated:
            return [_logic("and", result, left, right.predicate.text)]
        unless = f"%{self.prefix}_unless"
        if unless not in self.predicates:
            self.predicates.append(unless)
        return [_invert(unless, right.predicate.text), _logic("and", result, left, unless)]

    # small changes -----------------------------------------------------------------------------------

    def predicate_register(self, stem: str) -> str:
        self.predicates.append(f"%{self.prefix}_{stem}{len(self.predicates)}")
        return self.predicates[-1]

    def word_register(self, stem: str) -> str:
        self.words.append(f"%{self.prefix}_{stem}{len(self.words)}")
        return self.words[-1]

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


def _can_predicate(block: Block) -> bool:
    if block.region or isinstance(block.end, Switch) or any(isinstance(c, Scope) for c in block.code):
        return False
    return all(facts_of(i.opcode).row.scope == Convergence.THREAD for i in block.instructions())


def _needs_guard(item: Instruction, kept: frozenset[str]) -> bool:
    facts = facts_of(item.opcode)
    if facts.barrier or _is_ours(item):
        return False  # ended threads still arrive (M14 a)
    if facts.may_fault_or_store or facts.row.ends == "trap" or facts.row.access == "f":
        return True
    return _is_warp_wide(item) or bool(written(item) & kept)


def _is_ours(item: Instruction) -> bool:
    """Inserted here, not written in the kernel: only what is read from text has a line."""
    return item.line == 0


def _is_warp_wide(item: Instruction) -> bool:
    return facts_of(item.opcode).row.scope in (Convergence.WARP, Convergence.WARPGROUP)


def _first_line(block: Block) -> int:
    lines = [i.line for i in block.instructions() if i.line]
    return lines[0] if lines else getattr(block.end, "line", 0)


def _marked_uniform(block: Block) -> Block:
    if isinstance(block.end, Branch | Switch) and not block.region:
        return replace(block, end=replace(block.end, uniform=True))
    return block


def _inverted(guard: Guard) -> Guard:
    return Guard(guard.predicate, not guard.negated)


def _pred(operation: str, *names: Operand) -> Instruction:
    return Instruction(f"{operation}.pred", names)


def _logic(operation: str, result: str, left: str, right: str) -> Instruction:
    return _pred(operation, Name(result), Name(left), Name(right))


def _copy(result: str, source: str) -> Instruction:
    return _pred("mov", Name(result), Name(source))


def _invert(result: str, source: str) -> Instruction:
    return _pred("not", Name(result), Name(source))


def _set_true(result: str) -> Instruction:
    return _pred("mov", Name(result), Immediate("1"))


def _ballot(result: str, predicate: str) -> Instruction:
    return Instruction("vote.sync.ballot.b32", (Name(result), Name(predicate), Immediate("-1")))


def _vote_any(result: str, predicate: str) -> Instruction:
    return Instruction("vote.sync.any.pred", (Name(result), Name(predicate), Immediate("-1")))
