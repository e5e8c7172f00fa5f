"""What decides a value: registers, memory and branches by which one instruction of some blocks influences another.

Requires: a flow, or blocks of one. Ensures: whatever an instruction of these blocks can change of a register, in one
thread, within them, by data or by control, by registers, parameters or memory, is found. The order of instructions
does not count. Memory is told apart by where addresses come from: a variable of which no address is stored or passed
on is reached by its name only, and where offsets are constant, byte by byte; pointers that are different parameters are
taken for different memory; an address that comes out of memory, or out of a call, may be any other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property

from goptx.analysis.cfg import Block, Flow, closure, controls, instructions_in
from goptx.analysis.dataflow import read, register_of, written
from goptx.ptx.ir import (
    TYPE_BYTES,
    Address,
    Arguments,
    Declaration,
    Immediate,
    Instruction,
    Name,
    Operand,
    Registers,
    Scope,
    Sum,
    whole_number,
)
from goptx.ptx.opcodes import Facts, facts_of
from goptx.ptx.verify import SPECIAL
from goptx.ptx.walk import names_in

Asked = Mapping[str, tuple[Instruction, ...]]  # by function: the strong reads that what it gives depends on
NOTHING_ASKED: Asked = {}
_ANY = "[*]"  # what is stored anywhere, behind it the space
_ALL = "[all]"  # what is stored where a load from anywhere may find it, behind it the space
_CARRY = "[carry]"


class Influence:
    """Of the blocks `body` of a flow. `sources` has by register, or piece of memory, what it depends on directly,
    `asked` the strong reads that give it a value."""

    def __init__(self, flow: Flow, body: Collection[str], addresses: Addresses, asked: Asked = NOTHING_ASKED) -> None:
        self.flow = flow
        self.addresses = addresses
        self.callees = asked
        self.sources: dict[str, frozenset[str]] = {}
        self.asked: dict[str, dict[int, Instruction]] = {}  # each by its identity
        self.asks: dict[int, Instruction] = {}  # all of them, in order
        self.writers: dict[str, list[tuple[str, Instruction]]] = {}  # of registers: the blocks and instructions
        self.body = frozenset(body)
        for name, block in flow.blocks.items():
            if name in body:
                self.conditions = self.deciders(name)
                self._block(name, block)

    def deciders(self, name: str) -> frozenset[str]:
        """What the branches depend on that decide whether a block runs."""
        blocks = closure([name], controls(self.flow)) & self.body
        return frozenset(register_of(r) for d in blocks for r in self.flow.blocks[d].end.reads())

    def decide(self, wanted: Iterable[str]) -> Iterator[Instruction]:
        """The strong reads, in order, that decide one of the registers or pieces of memory. A sum that an atomic adds
        to does not count where it comes by memory: the loop that draws numbers for a CTA ends by itself."""
        work = [(name, is_memory(name)) for name in sorted(set(wanted))]
        seen = set(work)
        found = set[int]()
        while work:
            name, by_memory = work.pop()
            found.update(k for k, i in self.asked.get(name, {}).items() if not (by_memory and _draws(i)))
            for source in sorted(self.sources.get(name, ())):
                state = (source, by_memory or is_memory(source))
                if state not in seen:
                    seen.add(state)
                    work.append(state)
        yield from (i for k, i in self.asks.items() if k in found)

    def moves_on(self, load: Instruction, latches: Collection[str]) -> bool:
        """Whether the address of a load is another one each time around, as far as is seen: it follows a pointer, or
        what every way around adds to."""
        data = {r: frozenset().union(*(read(i) for _, i in found)) for r, found in self.writers.items()}
        start = [register_of(n) for o in load.operands if isinstance(o, Address) for n in names_in(o)]
        for register in sorted({*start, *closure(start, data)}):
            around = closure([register], data)
            if register in around:
                cycle = {r for r in around if register in closure([r], data)}
                if self._is_stepped(cycle, latches):
                    return True
        return False

    def _is_stepped(self, cycle: Collection[str], latches: Collection[str]) -> bool:
        """Whether every way around changes the registers, which depend on each other, by one step."""
        steps = False
        for register in cycle:
            if len(self.writers[register]) != 1:
                return False
            [(block, instruction)] = self.writers[register]
            facts = facts_of(instruction.opcode)
            others = read(instruction) - set(cycle)
            if instruction.guard or not all(self.flow.dominates(block, latch) for latch in latches):
                return False
            if facts.row.access == "l":
                steps = True
            elif not (facts.copies or facts.adds) or not others.isdisjoint(self.writers):
                return False
            steps |= facts.adds
        return steps

    def _block(self, name: str, block: Block) -> None:
        for code in block.code:
            if isinstance(code, Scope):
                own = {n: f"{n}@{id(code)}" for n in _declared(code)}
                for instruction in instructions_in(code):
                    self._instruction(name, instruction, own)
            else:
                self._instruction(name, code, {})
        for inner in block.inner():  # of a region, in any order
            self._block(name, inner)

    def _instruction(self, block: str, instruction: Instruction, own: Mapping[str, str]) -> None:
        facts = facts_of(instruction.opcode)
        reads = {own.get(n, n) for n in read(instruction)} | self.conditions
        writes = {own.get(n, n) for n in written(instruction)}
        for register in writes:
            self.writers.setdefault(register, []).append((block, instruction))
        reads |= {_CARRY} if facts.uses_carry else set()
        writes |= {_CARRY} if facts.sets_carry else set()
        loaded, stored = self.addresses.cells(instruction)
        reads |= {own.get(n, n) for n in loaded}
        writes |= {own.get(n, n) for n in stored}
        asks: tuple[Instruction, ...] = (instruction,) if facts.asks or facts.asks_anew else ()
        if facts.calls:
            asks = asked_by(instruction, self.callees)
        self.asks.update((id(i), i) for i in asks)
        for name in sorted(writes):
            self.sources[name] = self.sources.get(name, frozenset()) | reads
            if asks and not (is_memory(name) and not facts.calls):
                self.asked.setdefault(name, {}).update((id(i), i) for i in asks)


def asked_by(call: Instruction, asked: Asked) -> tuple[Instruction, ...]:
    """The strong reads that what a call gives may depend on; one through a pointer may lead to every function."""
    callee = callee_of(call)
    if callee in asked:
        return asked[callee]
    return tuple(i for found in asked.values() for i in found) if callee.startswith("%") else ()


def callee_of(call: Instruction) -> str:
    """The function that is called, or the register that has its address."""
    return next((str(o) for o in call.operands if not isinstance(o, Arguments)), "")


def _declared(scope: Scope) -> Iterator[str]:
    for statement in scope.body:
        match statement:
            case Declaration(variable):
                yield variable.name
            case Registers(_, names):
                for name, count in names:
                    yield from [name] if count is None else (f"{name}{i}" for i in range(count))
            case Scope():
                yield from _declared(statement)


def is_memory(name: str) -> bool:
    """Whether it is a piece of memory, not a register or a parameter."""
    return name.startswith("[") and name != _CARRY


def _draws(instruction: Instruction) -> bool:
    """Whether it adds to a word in memory, always more than nothing."""
    added = instruction.operands[-1]
    return facts_of(instruction.opcode).counts and isinstance(added, Immediate) and bool(_number(str(added)))


class Addresses:
    """Where the addresses of a flow come from: variables, parameters, or anywhere (`*`). Of a `piece` of one, it is not
    known who else has the addresses of its variables."""

    def __init__(self, flow: Flow, piece: bool = False) -> None:
        self.piece = piece
        self.defined: dict[str, list[Instruction]] = {}
        self.instructions = list(flow.instructions())
        for instruction in self.instructions:
            for register in written(instruction):
                self.defined.setdefault(register, []).append(instruction)
        self.known: dict[str, frozenset[str]] = {}

    def cells(self, instruction: Instruction) -> tuple[set[str], set[str]]:
        """The pieces of memory that an instruction may load, and those that it may store to."""
        facts = facts_of(instruction.opcode)
        access = facts.row.access
        places = [o for o in instruction.operands if isinstance(o, Address)]
        if access in ("", "f") or facts.read_only:
            return set(), set()
        if facts.calls or not facts.known or not places:
            return set(_everywhere(_ALL, "")), {_ANY, _ALL}
        if facts.space == "param":  # goes by the name, which `read` knows
            return set(), set() if "l" in access else {n for o in places for n in names_in(o)}
        loads, stores = set[str](), set[str]()
        for i, address in enumerate(places):
            space = facts.spaces[min(i, len(facts.spaces) - 1)] if facts.spaces else ""
            loads |= self.loaded(address, space, facts) if "l" in access else set()
            stores |= self.stored(address, space, facts) if "s" in access else set()
        return loads, stores

    def loaded(self, address: Address, space: str, facts: Facts) -> set[str]:
        roots, place = self.roots(address), self.exact(address)
        found = set(_everywhere(_ALL, space)) if "*" in roots else set[str]()
        found |= set() if roots <= self.private else set(_everywhere(_ANY, space))
        if place is None:
            return found | {f"[{root}]" for root in roots - {"*"}}
        return found | {f"[{place[0]}?]", *_bytes(*place, facts)}

    def stored(self, address: Address, space: str, facts: Facts) -> set[str]:
        roots, place = self.roots(address), self.exact(address)
        found = {f"[{root}]" for root in roots - {"*"}}
        if "*" in roots:
            found.add(f"{_ANY}{space}")
        if not roots <= self.private:
            found.add(f"{_ALL}{space}")
        return found | ({f"[{root}?]" for root in roots} if place is None else set(_bytes(*place, facts)))

    @cached_property
    def private(self) -> frozenset[str]:
        """The variables of the thread of which no address is stored, passed on, or made a number."""
        if self.piece:
            return frozenset()
        local, escaped = set[str](), set[str]()
        for instruction in self.instructions:
            facts = facts_of(instruction.opcode)
            follows = facts.points_by or ()
            for position, operand in enumerate(instruction.operands):
                if facts.space == "local":
                    local |= self.roots(operand)
                if not isinstance(operand, Address) and position >= facts.row.writes and position not in follows:
                    for name in names_in(operand):
                        escaped |= self.of(register_of(name))
        return frozenset(local - escaped - {"*"})

    def is_shared(self, operand: Operand, within: frozenset[str] = frozenset()) -> bool:
        """Whether a generic address surely is one of the CTA's shared memory: of a variable there, plus numbers."""
        base = operand.parts[0] if isinstance(operand, Address) else operand
        base = base.base if isinstance(base, Sum) else base
        if not isinstance(base, Name) or base.text in within:
            return isinstance(base, Name) and base.text in within
        found = self.defined.get(base.text, [])
        return bool(found) and all(self._gives_shared(i, within | {base.text}) for i in found)

    def _gives_shared(self, instruction: Instruction, within: frozenset[str]) -> bool:
        facts = facts_of(instruction.opcode)
        if facts.copies and facts.space == "shared" and "to" not in facts.modifiers:
            return "shared::cluster" not in facts.modifiers
        if facts.copies:
            return self.is_shared(instruction.operands[1], within)
        return facts.adds and any(self.is_shared(o, within) for o in instruction.operands[1:])

    def roots(self, operand: Operand) -> frozenset[str]:
        """Where the address that the operand is may come from."""
        base = operand.parts[0] if isinstance(operand, Address) else operand
        base = base.base if isinstance(base, Sum) else base
        return (self.of(register_of(base.text)) if isinstance(base, Name) else frozenset()) or frozenset("*")

    def of(self, name: str) -> frozenset[str]:
        """Where what a register holds may come from, if it is an address."""
        if name not in self.known:
            found, seen, work = set[str](), {name}, [name]
            while work:
                register = work.pop()
                if register not in self.defined:
                    found |= set() if register in SPECIAL else {"*" if register.startswith("%") else register}
                for instruction in self.defined.get(register, ()):
                    roots, registers = self.given(instruction)
                    found |= roots
                    work += sorted(registers - seen)
                    seen |= registers
            self.known[name] = frozenset(found)
        return self.known[name]

    def given(self, instruction: Instruction) -> tuple[set[str], set[str]]:
        """Where what an instruction gives may come from, if it is an address; and the registers that it may be made of
        instead."""
        facts = facts_of(instruction.opcode)
        if facts.row.access == "l" and facts.space == "param":
            return {f"param {o}" for o in instruction.operands if isinstance(o, Address)}, set()
        positions = facts.points_by
        if facts.row.access or positions is None:
            return {"*"}, set()
        return set(), {register_of(n) for p in positions for n in names_in(instruction.operands[p])}

    def exact(self, operand: Operand, offset: int = 0) -> tuple[str, int] | None:
        """The variable, and the offset in it, that an address always is."""
        base = operand.parts[0] if isinstance(operand, Address) else operand
        if isinstance(base, Sum):
            more = _number("".join(map(str, base.tail)))
            return None if more is None else self.exact(base.base, offset + more)
        if not isinstance(base, Name):
            return None
        found = self.defined.get(base.text, [])
        if not found:
            return None if base.text.startswith("%") else (base.text, offset)
        facts = facts_of(found[0].opcode)
        if len(found) > 1 or found[0].guard or base.text in read(found[0]):
            return None
        if facts.copies:
            return self.exact(found[0].operands[1], offset)
        if facts.adds and (step := _number(str(found[0].operands[2]))) is not None:
            return self.exact(found[0].operands[1], offset - step if facts.subtracts else offset + step)
        return None


def _everywhere(what: str, space: str) -> Iterator[str]:
    """What is known of nowhere in the spaces that an access to this one, or a generic one, may go to."""
    return (f"{what}{s}" for s in (("", "global", "shared", "local") if not space else ("", space)))


def _number(text: str) -> int | None:
    try:
        return whole_number(text.lstrip("+"))
    except ValueError:
        return None


def _bytes(variable: str, offset: int, facts: Facts) -> Iterator[str]:
    lanes = next((int(m[1:]) for m in sorted(facts.modifiers) if m in ("v2", "v4", "v8")), 1)
    size = TYPE_BYTES.get(facts.types[0], 16) * lanes if facts.types else 16
    return (f"[{variable}+{i}]" for i in range(offset, offset + size))
