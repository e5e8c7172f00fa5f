"""What decides a value: the registers, memory and branches through which one instruction influences another.

Requires: a flow, or blocks of one. Ensures: finds whatever an instruction of these blocks can change in a
register, in one thread, within them: by data or by control, through registers, parameters or memory. The order of
instructions does not count. Memory is distinguished by the origins of addresses: a variable whose address is never
stored or passed on is accessed through its name only, and byte by byte where offsets are constant; pointers in
different parameters are assumed to point to different memory; an address that is loaded from memory or returned by a
call may be any address.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property

from goptx.analysis.cfg import Block, Flow, closure, controls, instructions_in
from goptx.analysis.dataflow import CARRY, depends_on, read, register_of, sets, written
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

StrongReads = Mapping[str, tuple[Instruction, ...]]  # by function: the strong reads that its results depend on
NO_STRONG_READS: StrongReads = {}
_ANY = "[*]"  # the memory of stores to unknown places; followed by the space
_ALL = "[all]"  # the memory that a load from an unknown place may read; followed by the space


class Influence:
    """The influences within the blocks `body` of a flow. By register or piece of memory, `sources` has what it depends
    on directly, and `strong_reads` the strong reads that give it a value."""

    def __init__(
        self, flow: Flow, body: Collection[str], addresses: Addresses, function_reads: StrongReads = NO_STRONG_READS
    ) -> None:
        self.flow = flow
        self.addresses = addresses
        self.function_reads = function_reads
        self.sources: dict[str, frozenset[str]] = {}
        self.strong_reads: dict[str, dict[int, Instruction]] = {}  # by `id`
        self.all_strong_reads: dict[int, Instruction] = {}  # all strong reads by `id`, in order
        self.writers: dict[str, list[tuple[str, Instruction]]] = {}  # by register
        self.body = frozenset(body)
        for name, block in flow.blocks.items():
            if name in body:
                self.conditions = self.deciders(name)
                self._block(name, block)

    def deciders(self, name: str) -> frozenset[str]:
        """The registers of the branches that decide whether a block runs."""
        blocks = closure([name], controls(self.flow)) & self.body
        return frozenset(register_of(r) for d in blocks for r in self.flow.blocks[d].end.reads())

    def decide(self, wanted: Iterable[str]) -> Iterator[Instruction]:
        """The strong reads, in order, that decide one of the registers or pieces of memory. A sum in memory that an
        atomic increments does not count: a loop that draws work numbers for a CTA ends by itself."""
        work = [(name, is_memory(name)) for name in sorted(set(wanted))]
        seen = set(work)
        found = set[int]()
        while work:
            name, by_memory = work.pop()
            found.update(k for k, i in self.strong_reads.get(name, {}).items() if not (by_memory and _draws(i)))
            for source in sorted(self.sources.get(name, ())):
                state = (source, by_memory or is_memory(source))
                if state not in seen:
                    seen.add(state)
                    work.append(state)
        yield from (i for k, i in self.all_strong_reads.items() if k in found)

    def moves_on(self, load: Instruction, latches: Collection[str]) -> bool:
        """Whether the address of a load is known to change in each iteration: it follows a pointer, or every path
        through the loop adds to it."""
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
        """Whether every iteration changes the registers, which depend on each other, by one step."""
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
        for inner in block.inner():  # the blocks of a region, in any order
            self._block(name, inner)

    def _instruction(self, block: str, instruction: Instruction, own: Mapping[str, str]) -> None:
        facts = facts_of(instruction.opcode)
        reads = {own.get(n, n) for n in depends_on(instruction)} | self.conditions
        writes = {own.get(n, n) for n in sets(instruction)}
        for register in writes:
            self.writers.setdefault(register, []).append((block, instruction))
        loaded, stored = self.addresses.cells(instruction)
        reads |= {own.get(n, n) for n in loaded}
        writes |= {own.get(n, n) for n in stored}
        strong: tuple[Instruction, ...] = (instruction,) if facts.is_strong_read or facts.bypasses_l1 else ()
        if facts.calls:
            strong = strong_reads_of_call(instruction, self.function_reads)
        self.all_strong_reads.update((id(i), i) for i in strong)
        for name in sorted(writes):
            self.sources[name] = self.sources.get(name, frozenset()) | reads
            if strong and not (is_memory(name) and not facts.calls):
                self.strong_reads.setdefault(name, {}).update((id(i), i) for i in strong)


def strong_reads_of_call(call: Instruction, function_reads: StrongReads) -> tuple[Instruction, ...]:
    """The strong reads that the results of a call may depend on. A call through a pointer may reach every function."""
    callee = callee_of(call)
    if callee in function_reads:
        return function_reads[callee]
    return tuple(i for found in function_reads.values() for i in found) if callee.startswith("%") else ()


def callee_of(call: Instruction) -> str:
    """The called function, or the register with its address."""
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
    return name.startswith("[") and name != CARRY


def _draws(instruction: Instruction) -> bool:
    """Whether it adds a constant that is not zero to a word in memory."""
    added = instruction.operands[-1]
    return facts_of(instruction.opcode).is_atomic_add and isinstance(added, Immediate) and bool(_number(str(added)))


class Addresses:
    """Where the addresses of a flow come from: variables, parameters, or anywhere (`*`). In a `piece` of a flow, other
    code may have the addresses of its variables."""

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
        if facts.space == "param":  # the name decides, which `read` returns
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
        """The thread's own variables whose address is never stored, passed on, or converted to a number."""
        if self.piece:
            return frozenset()
        local, escaped = set[str](), set[str]()
        for instruction in self.instructions:
            facts = facts_of(instruction.opcode)
            follows = facts.pointer_operands or ()
            for position, operand in enumerate(instruction.operands):
                if facts.space == "local":
                    local |= self.roots(operand)
                if not isinstance(operand, Address) and position >= facts.row.writes and position not in follows:
                    for name in names_in(operand):
                        escaped |= self.of(register_of(name))
        return frozenset(local - escaped - {"*"})

    def is_shared(self, operand: Operand, within: frozenset[str] = frozenset()) -> bool:
        """Whether a generic address is surely in the CTA's shared memory: that of a variable there, plus numbers."""
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
        """The possible origins of the address in the operand."""
        base = operand.parts[0] if isinstance(operand, Address) else operand
        base = base.base if isinstance(base, Sum) else base
        return (self.of(register_of(base.text)) if isinstance(base, Name) else frozenset()) or frozenset("*")

    def of(self, name: str) -> frozenset[str]:
        """The possible origins of what a register holds, if it is an address."""
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
        """The possible origins of an instruction's result, if it is an address, and the registers from which it may
        come instead."""
        facts = facts_of(instruction.opcode)
        if facts.row.access == "l" and facts.space == "param":
            return {f"param {o}" for o in instruction.operands if isinstance(o, Address)}, set()
        positions = facts.pointer_operands
        if facts.row.access or positions is None:
            return {"*"}, set()
        return set(), {register_of(n) for p in positions for n in names_in(instruction.operands[p])}

    def exact(self, operand: Operand, offset: int = 0) -> tuple[str, int] | None:
        """The variable and the offset in it, if the address is always the same."""
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
    """`what` in each space that an access to this space, or a generic access, may reach."""
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
