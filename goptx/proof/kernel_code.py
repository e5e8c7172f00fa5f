"""A kernel's code as steps in the order of the text, with its blocks: what the checker reads of PTX, and all it reads.

Requires: a parsed entry. Ensures: each instruction is one step, each step belongs to one block, and a block is left by
its last step only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from goptx.proof.called_functions import DIRECT, called, computed_before
from goptx.ptx.flatten import flatten
from goptx.ptx.ir import (
    Address,
    Arguments,
    Directive,
    Expression,
    Function,
    Immediate,
    Instruction,
    Label,
    Name,
    Negated,
    Operand,
    Pair,
    Scope,
    Sum,
    Variable,
    Vector,
    whole_number,
)
from goptx.ptx.opcodes import Facts, facts_of

END = -1  # where a kernel has ended
NOWHERE = "_"  # the destination that PTX throws away
_WHOLE = re.compile(r"(-?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)U?")
_UNROLLING = re.compile('"nounroll"')
_HINT = re.compile('"(nounroll|used_bytes_mask 0[xX][0-9a-fA-F]+)"')
_OTHER_CALL = "a call of a form that the checker does not know"
_TAIL = re.compile(r"([+-])\s*(0x[0-9a-fA-F]+|[0-9]+)U?$")


class NotProved(Exception):
    """What could not be proved, at a line of the fused kernel, or of a kernel whose code is not known."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line


@dataclass(frozen=True, slots=True)
class Source:
    """An operand that is read: its text with a `{}` for each name. Of an address, `offset` is separate."""

    text: str
    names: tuple[str, ...] = ()
    negated: bool = False
    offset: int | None = None  # bytes, of an address


@dataclass(frozen=True, slots=True)
class Step:
    """`writes` are registers in the order of the destinations. `targets` are where a branch leads, by step."""

    number: int
    line: int
    opcode: str
    facts: Facts
    guard: str
    negated: bool
    writes: tuple[str, ...]
    sources: tuple[Source, ...]
    targets: tuple[int, ...] = ()
    statement: Instruction | Scope | None = field(default=None, compare=False)

    @property
    def is_branch(self) -> bool:
        return self.facts.row.ends in ("branch", "exit")

    @property
    def keeps(self) -> bool:
        """Whether registers keep what they hold where its guard skips it: what a call gives by a parameter is read
        after it in any case."""
        return not self.facts.calls or self.sources[1].text.startswith(DIRECT)


_CHANGING = re.compile(r"%(clock|clock_hi|clock64|globaltimer|globaltimer_lo|globaltimer_hi|smid|warpid|pm\d+(_64)?)")


@dataclass(frozen=True, slots=True)
class OfWarp:
    """The steps that give all threads of a warp the same value; of these, a multiple of 32; and those that give each
    thread the number of its lane and such a multiple, modulo 2 to the bits of the register."""

    uniform: set[int] = field(default_factory=set)
    multiples: set[int] = field(default_factory=set)
    lanes: set[int] = field(default_factory=set)


@dataclass(frozen=True, eq=False)
class Program:
    """`singles` has the type of each register that is declared one by one, `ranges` those of `%r<9>`; `variables` are
    those of the body; `pure` are functions that only compute. `of_warp` is filled when that is found out."""

    entry: Function
    steps: tuple[Step, ...]
    singles: dict[str, str]
    ranges: tuple[tuple[str, int, str], ...]
    variables: tuple[Variable, ...] = ()
    pure: frozenset[str] = frozenset()
    of_warp: OfWarp = field(default_factory=OfWarp)

    def type_of(self, register: str) -> str | None:
        """The type of a register, None for what is not one."""
        if register in self.singles:
            return self.singles[register]
        if register.startswith((ASKED, VOTED, REDUCED, HELD)):
            return ".pred"
        found = self._numbered.get(register)
        if found is None:
            stem = register.rstrip("0123456789")
            digits = register[len(stem) :]
            for cut in range(len(digits)):
                own = self._by_stem.get(stem + digits[:cut])
                if own and int(digits[cut:]) < own[0]:
                    found = own[1]
                    break
            self._numbered[register] = found or ""
        return found or None

    @cached_property
    def _numbered(self) -> dict[str, str]:
        return {}

    @cached_property
    def _by_stem(self) -> dict[str, tuple[int, str]]:
        return {stem: (count, type) for stem, count, type in self.ranges}

    def is_effect(self, step: Step) -> bool:
        """Whether a step does more than to compute a value from registers: it must be done as often as the kernel does
        it, and in an order that nobody can tell from the kernel's own."""
        row, facts = step.facts.row, step.facts
        if facts.calls:
            return step.sources[0].names[0] not in self.pure
        if row.ends == "trap" or not facts.known or row.scope or row.blocking or row.releases or row.acquires:
            return True
        if row.access or row.hint:
            return not self.is_parameter(step)
        return any(_CHANGING.fullmatch(name) for s in step.sources for name in s.names)

    def is_parameter(self, step: Step) -> bool:
        """Whether it loads a parameter by name at a constant offset: that cannot fault, whoever does it."""
        if step.facts.base not in ("ld", "ldu") or step.facts.space != "param":
            return False
        address = step.sources[0]
        return address.offset is not None and address.names[0] in self._parameters

    @cached_property
    def _parameters(self) -> frozenset[str]:
        return frozenset(p.name for p in self.entry.parameters)

    def is_predicate(self, register: str) -> bool:
        return self.type_of(register) == ".pred"

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first steps of the blocks."""
        found = {0}
        for step in self.steps:
            found.update(t for t in step.targets if t != END)
            if step.is_branch and step.number + 1 < len(self.steps):
                found.add(step.number + 1)
        return tuple(sorted(found))

    @cached_property
    def blocks(self) -> dict[int, range]:
        return {a: range(a, b) for a, b in zip(self.starts, [*self.starts[1:], len(self.steps)], strict=True)}

    @cached_property
    def block_of(self) -> dict[int, int]:
        return {n: start for start, block in self.blocks.items() for n in block}

    def successors(self, start: int) -> tuple[int, ...]:
        """The blocks that follow a block; `END` where the kernel ends."""
        return self.following(self.steps[self.blocks[start][-1]])

    def following(self, step: Step) -> tuple[int, ...]:
        """The steps that may be next."""
        after = step.number + 1 if step.number + 1 < len(self.steps) else END
        if step.facts.row.ends == "exit":
            return (END, after) if step.guard else (END,)
        if step.facts.row.ends == "branch":
            return tuple(dict.fromkeys((*step.targets, after) if step.guard else step.targets))
        return (after,)

    @cached_property
    def predecessors(self) -> dict[int, tuple[int, ...]]:
        found: dict[int, list[int]] = {start: [] for start in self.starts}
        for start in self.starts:
            for target in self.successors(start):
                if target != END:
                    found[target].append(start)
        return {start: tuple(its) for start, its in found.items()}

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The blocks that can be reached, in reverse postorder."""
        return self._walked[0]

    @cached_property
    def loop_heads(self) -> frozenset[int]:
        """The blocks by one of which every cycle passes."""
        return frozenset(head for _, head in self.back_edges)

    @cached_property
    def back_edges(self) -> frozenset[tuple[int, int]]:
        """Edges of which every cycle has one: from a block to one on the way to it."""
        return self._walked[1]

    def natural_loop(self, edge: tuple[int, int]) -> frozenset[int]:
        """The blocks from the target of a back edge to its source."""
        source, head = edge
        return self.reached(source, lambda b: () if b == head else self.predecessors[b]) | {head}

    @cached_property
    def _walked(self) -> tuple[tuple[int, ...], frozenset[tuple[int, int]]]:
        done, back, active = list[int](), set[tuple[int, int]](), {0}
        seen = {0}
        stack = [(0, iter(self.successors(0)))]
        while stack:
            start, following = stack[-1]
            target = next((t for t in following if t != END), None)
            if target is None:
                stack.pop()
                active.discard(start)
                done.append(start)
            elif target in active:
                back.add((start, target))
            elif target not in seen:
                seen.add(target)
                active.add(target)
                stack.append((target, iter(self.successors(target))))
        return tuple(reversed(done)), frozenset(back)

    @cached_property
    def loops(self) -> dict[int, frozenset[int]]:
        """For each loop head the blocks from which it is reached again."""
        return {head: self.reached(head, self.successors) & self.reached(head, self.predecessors.__getitem__)
                for head in self.loop_heads}  # fmt: skip

    @cached_property
    def meeting_points(self) -> dict[int, int]:
        """For each block the nearest one that every path from it to the end passes; `END` if there is none before."""
        return nearest_of_all(self.order, self.successors)

    def dominates(self, first: int, second: int) -> bool:
        """Whether every way from the beginning to the second block passes the first one."""
        return second not in self.reached(0, lambda b: () if b == first else self.successors(b)) - {first}

    def side(self, branch: int, target: int) -> frozenset[int]:
        """The blocks that lanes pass which take one side of a branch, until the sides have met."""
        meeting = self.meeting_points[branch]
        if target in (END, meeting):
            return frozenset()
        return self.reached(target, lambda b: (t for t in self.successors(b) if t != meeting))

    def region(self, branch: int) -> frozenset[int]:
        """The blocks on the sides of a branch."""
        return frozenset().union(*(self.side(branch, t) for t in self.successors(branch)))

    def reached(self, start: int, following: Callable[[int], Iterable[int]]) -> frozenset[int]:
        """The block, and those that come after it, where `following` gives the next ones."""
        seen, waiting = {start}, [start]
        while waiting:
            more = [t for t in following(waiting.pop()) if t != END and t not in seen]
            seen.update(more)
            waiting += more
        return frozenset(seen)

    def comes_to(self, first: int, ends: Collection[int], stops: Collection[int]) -> bool:
        """Whether, from a step on, one of these steps may be executed before any of the others is."""
        seen, waiting = set[int](), [first]
        while waiting:
            first = waiting.pop()
            if first == END or first in seen:
                continue
            seen.add(first)
            for number in range(first, self.blocks[self.block_of[first]].stop):
                if number in ends:
                    return True
                if number in stops:
                    break
            else:
                waiting += self.successors(self.block_of[first])
        return False

    @cached_property
    def live(self) -> tuple[frozenset[str], ...]:
        """For each step the registers that it or a later one may read before they are written."""
        live_in: dict[int, frozenset[str]] = dict.fromkeys(self.starts, frozenset())
        found: list[frozenset[str]] = [frozenset()] * len(self.steps)
        waiting = list(self.starts)
        queued = set(waiting)
        while waiting:
            start = waiting.pop()
            queued.discard(start)
            now = frozenset().union(*(live_in[t] for t in self.successors(start) if t != END))
            for number in reversed(self.blocks[start]):
                step = self.steps[number]
                if not step.guard and not step.facts.row.updates:
                    now = now.difference(step.writes)
                now = now | self.reads(step)
                found[number] = now
            if now != live_in[start]:
                live_in[start] = now
                more = [p for p in self.predecessors[start] if p not in queued]
                waiting += more
                queued.update(more)
        return tuple(found)

    def reads(self, step: Step) -> frozenset[str]:
        """The registers that a step reads."""
        names = {n for s in step.sources for n in s.names if self.type_of(n) is not None}
        if step.guard:
            names.add(step.guard)
        if step.facts.row.updates:
            names.update(step.writes)
        if step.facts.uses_carry:
            names.add(CARRY)
        return frozenset(names)


def nearest_of_all(order: Sequence[int], following: Callable[[int], Sequence[int]]) -> dict[int, int]:
    """For each block the nearest one that every path from it to the end passes, where `following` gives the next ones;
    `END` if there is none before."""
    above: dict[int, frozenset[int] | None] = dict.fromkeys(order)
    changed = True
    while changed:
        changed = False
        for start in reversed(order):
            ends = following(start)
            sets = [its | {t} for t in ends if t != END and (its := above[t]) is not None]
            if END in ends or not ends:
                found = frozenset[int]()
            elif not sets:
                continue
            else:
                found = frozenset.intersection(*sets)
            if above[start] != found:
                above[start], changed = found, True
    nearest = {}
    for start in order:
        later = above[start] or frozenset()
        nearest[start] = max(later, key=lambda b: len(above[b] or ()), default=END)
    return nearest


CARRY = "%%carry"  # the carry flag as a register
HELD, AT = "%%held ", "%%at "  # whether a register holds an element of memory, and which
# The names of predicates that only the checker has begin with these: whether a lane asked for the way that its warp, or
# its CTA, went from a block, and whether it asked for what a vote gave to the whole warp, or a barrier to the CTA.
ASKED, OF_CTA, VOTED, REDUCED = "%%asked ", "CTA ", "%%voted ", "%%reduced "


def program_of(entry: Function, pure: frozenset[str] = frozenset(), hints: bool = False) -> Program:
    """`hints`: what only says that some bytes of a load are not used is left out. Raises `NotProved` for code that the
    checker does not know."""
    body = flatten(entry.body or (), lambda name: name)
    singles = {CARRY: ".b32"}
    ranges = []
    for registers in body.registers:
        for name, count in registers.names:
            if count is None:
                singles[name] = registers.types[-1]
            else:
                ranges.append((name, count, registers.types[-1]))
    variables = tuple(d.variable for d in body.variables)
    made = Program(entry, tuple(_steps(body.code, hints)), singles, tuple(ranges), variables, pure)
    passed = {v.name for v in variables if v.space == ".param"}
    for step in made.steps:
        if not passed.isdisjoint((*step.writes, *(n for s in step.sources for n in s.names))):
            raise NotProved(step.line, _OTHER_CALL)
        truths = (step.guard, *(step.writes if step.facts.compares else ()))
        if wrong := [r for r in truths if r not in ("", NOWHERE) and not made.is_predicate(r)]:
            raise NotProved(step.line, f"`{wrong[0]}` is not a predicate")
        if wrong := [n for s in step.sources if s.negated for n in s.names if not made.is_predicate(n)]:
            raise NotProved(step.line, f"`{wrong[0]}` is not a predicate")
        names = (n.partition(".") for s in step.sources for n in s.names)
        if any(dot and made.type_of(stem) is not None for stem, dot, _ in names):
            raise NotProved(
                step.line, f"`{step.statement}` reads a part of a register, which the checker does not know"
            )
    return made


def _steps(code: Sequence[object], hints: bool) -> Iterator[Step]:
    labels: dict[str, int] = {}
    tables: dict[str, tuple[str, ...]] = {}
    statements: list[Instruction | Scope] = []
    last = ""
    for statement in code:
        match statement:
            case Label(name):
                labels[name], last = len(statements), name
            case Directive(".branchtargets", values):
                tables[last] = values
            case Directive(".pragma", values, line) if not all(map((_HINT if hints else _UNROLLING).fullmatch, values)):
                raise NotProved(line, f"`{statement}`, which the checker does not know")
            case Instruction() | Scope():
                statements += [*(computed_before(statement) if isinstance(statement, Scope) else ()), statement]
    for number, statement in enumerate(statements):
        yield _step(number, statement, labels, tables, len(statements))


def _step(
    number: int, statement: Instruction | Scope, labels: dict[str, int], tables: dict[str, tuple[str, ...]], count: int
) -> Step:
    if isinstance(statement, Scope) or facts_of(statement.opcode).calls:
        return _call(number, statement)
    facts = facts_of(statement.opcode)
    guard, negated = (statement.guard.predicate.text, statement.guard.negated) if statement.guard else ("", False)

    def place(name: str) -> int:
        if name not in labels:
            raise NotProved(statement.line, f"`{statement}` leads nowhere")
        return labels[name] if labels[name] < count else END

    unknown = not facts.known or facts.base in ("alloca", "stacksave", "stackrestore")
    if unknown or (facts.base == "brx" and (guard or str(statement.operands[-1]) not in tables)):
        raise NotProved(statement.line, f"`{statement}`, which the checker does not know")
    if facts.row.ends == "branch":
        indirect = facts.base == "brx"
        names = tables[str(statement.operands[-1])] if indirect else (str(statement.operands[-1]),)
        index = tuple(_source(o, statement.line) for o in statement.operands[:-1])
        targets = tuple(map(place, names))
        return Step(number, statement.line, statement.opcode, facts, guard, negated, (), index, targets, statement)
    writes: list[str] = []
    sources: list[Source] = []
    for position, operand in enumerate(statement.operands):
        if position < facts.row.writes and not isinstance(operand, Address):
            writes += _names(operand, statement.line)
        else:
            sources.append(_source(operand, statement.line))
    return Step(
        number, statement.line, statement.opcode, facts, guard, negated, tuple(writes), tuple(sources), (), statement
    )


def _call(number: int, statement: Instruction | Scope) -> Step:
    """A call with its parameters as one step, which reads the function's name, the form, and the arguments."""
    found = called(statement)
    if found is None:
        line = next((s.line for s in getattr(statement, "body", [statement]) if isinstance(s, Instruction)), 1)
        raise NotProved(line, _OTHER_CALL)
    call, guard = found.call, found.call.guard
    sources = (Source("{}", (found.function,)), Source(found.form), *(_source(o, call.line) for o in found.arguments))
    writes = tuple(name for o in found.results for name in _names(o, call.line))
    name, negated = (guard.predicate.text, guard.negated) if guard else ("", False)
    return Step(number, call.line, "call", facts_of("call"), name, negated, writes, sources, (), call)


def _names(operand: Operand, line: int) -> list[str]:
    """Those of a destination."""
    match operand:
        case Name(text) if "." not in text:
            return [text]
        case Pair(first, second):
            return _names(first, line) + _names(second, line)
        case Vector(parts):
            return [n for part in parts for n in _names(part, line)]
    raise NotProved(line, f"`{operand}` as a destination, which the checker does not know")


def _source(operand: Operand, line: int) -> Source:
    match operand:
        case Name(text):
            return Source("{}", (text,))
        case Negated(Name(text)):
            return Source("{}", (text,), negated=True)
        case Immediate(text):
            found = _WHOLE.fullmatch(text)
            return Source(f"{found[1]}{whole_number(found[2])}" if found else text)
        case Sum(base, tail):
            text = "".join("{}" if isinstance(t, Name) else t for t in tail)
            names = tuple(t.text for t in tail if isinstance(t, Name))
            return (
                Source("{}" + text, (base.text, *names)) if isinstance(base, Name) else Source(str(base) + text, names)
            )
        case Vector(parts):
            inner = [_source(p, line) for p in parts]
            return Source(f"{{{{{','.join(s.text for s in inner)}}}}}", tuple(n for s in inner for n in s.names))
        case Address((Name(text),)):
            return Source("[{}]", (text,), offset=0)
        case Address((Sum(Name(text), (str(tail),)),)) if found := _TAIL.match(tail.replace(" ", "")):
            return Source("[{}]", (text,), offset=int(f"{found[1]}{whole_number(found[2])}"))
        case Address(parts):
            inner = [_source(p, line) for p in parts]
            return Source(f"[{','.join(s.text for s in inner)}]", tuple(n for s in inner for n in s.names))
        case Expression(pieces):
            text = "".join("{}" if isinstance(p, Name) else p for p in pieces)
            return Source(text, tuple(p.text for p in pieces if isinstance(p, Name)))
        case Arguments(parts):
            inner = [_source(p, line) for p in parts]
            return Source(f"({','.join(s.text for s in inner)})", tuple(n for s in inner for n in s.names))
    raise NotProved(line, f"`{operand}` as an operand, which the checker does not know")
