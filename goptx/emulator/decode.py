"""Turns a module into the program that the machine runs.

Requires: a parsed module. Ensures: names and opcodes are resolved, and segments are in order. Something that the
emulator lacks becomes an operation that reports so when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, lru_cache

from goptx.analysis.block_order import loop_order
from goptx.analysis.build_cfg import control_flow
from goptx.analysis.cfg import EXIT, Flow
from goptx.analysis.dataflow import read, register_of, written
from goptx.analysis.influence import StrongReads
from goptx.analysis.sync.spin_loops import strong_reads_of_functions, waiting_loops
from goptx.analysis.terminators import Branch, End, Jump, Stop, Switch
from goptx.emulator.families import OPCODES, execution
from goptx.emulator.faults import Trouble
from goptx.emulator.instructions.cluster_barriers import ARRIVE, WAIT
from goptx.emulator.instructions.load_store import load
from goptx.emulator.lanes import Lanes
from goptx.emulator.memory.layout import layout
from goptx.emulator.memory.undefined import BITWISE
from goptx.emulator.operands import CARRY, Names, Source, Symbol, operands_of
from goptx.emulator.program import (
    Barrier,
    Choose,
    Code,
    Done,
    Ending,
    Execute,
    Fork,
    Goto,
    Invoke,
    Operation,
    Program,
    Segment,
    WarpSync,
)
from goptx.errors import CannotWeave, InputError
from goptx.ptx.flatten import FlatBody, flatten, renamed_statement
from goptx.ptx.ir import (
    Arguments,
    Declaration,
    Function,
    Immediate,
    Instruction,
    Label,
    Module,
    Name,
    Operand,
    Prototype,
    Registers,
    Scope,
    Statement,
    Variable,
)
from goptx.ptx.opcodes import Scope as Convergence
from goptx.ptx.opcodes import facts_of
from goptx.ptx.walk import names_in
from goptx.results.fused_kernel import Origin


def decode(
    module: Module, entry: Function, shared: int, origins: Mapping[int, Origin] | None = None, kernel: str = ""
) -> Program:
    """The program of one entry with `shared` bytes of dynamic shared memory. `origins` are those of instructions by
    their lines; others come from their own lines, of the `kernel` with that letter."""
    functions = _reachable(module, entry)
    bodies = {name: flatten(f.body or (), lambda name: name) for name, f in functions.items()}
    made = Program(module, layout(module, entry, bodies, shared), entry, origins or {}, kernel)
    decoders = {name: _Decoder(made, function, bodies[name]) for name, function in functions.items()}
    flows = {name: decoder.flow() for name, decoder in decoders.items()}
    function_reads = strong_reads_of_functions(
        {name: flow for name, flow in flows.items() if not functions[name].is_entry}, functions
    )
    for name, decoder in decoders.items():
        made.codes[name] = decoder.code(flows[name], function_reads)
    return made


def _reachable(module: Module, entry: Function) -> dict[str, Function]:
    """The entry and the functions that it, or an initialiser of a variable, may call."""
    functions = {f.name: f for f in module.functions if f.body is not None}
    if len(functions) == 1:
        return functions
    stack = [entry.name, *(t.text for v in module.variables for t in v.init if isinstance(t, Name))]
    found: dict[str, Function] = {}
    while stack:
        name = stack.pop()
        if name in functions and name not in found:
            found[name] = functions[name]
            for instruction in _instructions(found[name].body or ()):
                stack += [n for operand in instruction.operands for n in names_in(operand)]
    return found


class _Decoder:
    def __init__(self, made: Program, function: Function, body: FlatBody) -> None:
        self.program = made
        self.function = function
        self.body = body
        self.frame_bytes = 0
        self.names = Names({**made.layout.symbols, **made.layout.own[function.name]})
        self.names.declare((".pred",), CARRY, None)  # register 0
        self.scopes = 0

    @cached_property
    def bitwise(self) -> frozenset[str]:
        """The registers that are used, and only by instructions that combine and move bits."""
        taken: dict[bool, set[str]] = {True: set(), False: {result.name for result in self.function.results}}
        for instruction in _instructions(self.function.body or ()):
            taken[_moves_bits(instruction.opcode)] |= read(instruction)
        return frozenset(taken[True] - taken[False])

    @cached_property
    def moved(self) -> frozenset[str]:
        """The registers that some such instruction uses."""
        return _moved(_instructions(self.function.body or ()))

    def code(self, flow: Flow, function_reads: StrongReads) -> Code:
        function, flat = self.function, self.body
        for registers in flat.registers:
            for name, count in registers.names:
                self.names.declare(registers.types, name, count)
        for declaration in flat.variables:
            self.variable(declaration.variable)
        if not function.is_entry:
            for parameter in (*function.parameters, *function.results):
                self.formal(parameter)
        segments = self.segments(flow, function_reads)
        return Code(function.name, self.names, segments, self.frame_bytes, function.parameters, function.results)

    def variable(self, variable: Variable, name: str = "") -> None:
        """Adds a variable to the frame, which every activation has anew. The layout has all other variables."""
        if variable.space not in (".local", ".param"):
            return
        start = self.frame_bytes + -self.frame_bytes % max(variable.alignment, 1)
        self.names.symbols[name or variable.name] = Symbol("frame", start, variable.size)
        self.frame_bytes = start + variable.size

    def formal(self, parameter: Variable) -> None:
        if parameter.space == ".reg":
            self.names.declare(parameter.qualifiers, parameter.name, None)
        else:
            self.variable(parameter)

    def flow(self) -> Flow:
        code: tuple[Statement, ...] = tuple(s for s in self.body.code if not isinstance(s, Prototype))
        if not self.function.is_entry:  # where `ret` ends only the call
            code = (*map(_thread_ends, code), *_ENDED_THREADS)
        try:
            return control_flow(replace(self.body, code=code), self.program.module.source)
        except CannotWeave as error:  # a branch without a target, although nothing is woven here
            raise InputError(error.message) from None

    # segments ----------------------------------------------------------------------------------------

    def segments(self, flow: Flow, function_reads: StrongReads) -> list[Segment]:
        order = loop_order(flow)
        spinning = frozenset[str]().union(*(body for body, _ in waiting_loops(flow, function_reads)))
        branches = {i.line: i for i in _instructions(self.function.body or ()) if facts_of(i.opcode).row.ends}
        post_dominators = flow.post_dominators()
        pieces: list[tuple[str, list[Operation], Callable[[int], Ending] | None]] = []
        starts: dict[str, int] = {}
        for block in order:
            starts[block] = len(pieces)
            operations: list[Operation] = []
            last_ordered = False
            code = list(self.expanded(flow.blocks[block].code))
            fields = self.loads_of_fields(code, flow.blocks[block].end)
            for i, instruction in enumerate(code):
                end = self.ending_of(instruction, block)
                if end is None:
                    ordered = _orders(instruction.opcode)
                    if operations and (ordered or last_ordered) and block not in spinning:
                        pieces.append((block, operations, Goto))
                        operations = []
                    last_ordered = ordered
                    operations.append(self.operation(instruction, block, fields.get(i)))
                    continue
                if instruction.guard:  # lanes whose guard is false go around it
                    pieces.append((block, operations, self.around(instruction, block)))
                    operations = []
                pieces.append((block, operations, end))
                operations = []
            pieces.append((block, operations, None))
        made = []
        for number, (block, operations, ending) in enumerate(pieces):
            made.append(
                Segment(
                    block,
                    operations,
                    ending(number + 1) if ending else self.end(flow, block, starts, post_dominators, branches),
                    block in spinning,
                )
            )
        return made

    def end(
        self,
        flow: Flow,
        block: str,
        starts: dict[str, int],
        post_dominators: dict[str, str | None],
        branches: dict[int, Instruction],
    ) -> Ending:
        join = post_dominators[block]
        reconvergence = None if join is None or join == EXIT else starts[join]
        match flow.blocks[block].end:
            case Jump(target) if target == block == ENDED:
                return Done(thread=True)
            case Jump(target):
                return Goto(starts[target])
            case Stop():
                return Done()
            case Branch(guard, taken, fallen, uniform, line):
                written = branches.get(line) or Instruction("bra", (Name(taken),), guard, line)
                condition = self.decider(guard.predicate, "pred", line)
                operation = self.operation(replace(written, guard=None), block, _nothing)
                return Fork(operation, condition, guard.negated, starts[taken], starts[fallen], reconvergence, uniform)
            case Switch(index, targets, uniform, line):
                written = branches.get(line) or Instruction("brx.idx", (index,), None, line)
                source = self.decider(index, "u32", line)
                operation = self.operation(replace(written, guard=None), block, _nothing)
                return Choose(operation, source, tuple(starts[t] for t in targets), reconvergence, uniform)

    def around(self, instruction: Instruction, block: str) -> Callable[[int], Ending]:
        """A fork to the next segment, which has the instruction, or past it."""
        guard = instruction.guard
        assert guard is not None
        operation = self.operation(replace(instruction, guard=None), block, _nothing)
        condition = self.decider(guard.predicate, "pred", instruction.line)
        facts = facts_of(instruction.opcode)
        uniform = facts.base == "call" and "uni" in facts.modifiers
        return lambda number: Fork(operation, condition, guard.negated, number, number + 1, number + 1, uniform, True)

    def ending_of(self, instruction: Instruction, block: str) -> Callable[[int], Ending] | None:
        """The end of the segment, where the instruction is convergent, a barrier or a call; None otherwise."""
        if not _ends_segment(instruction.opcode):
            return None
        facts = facts_of(instruction.opcode)
        warp_wide = _is_warp_wide(instruction.opcode)
        bare = replace(instruction, guard=None)
        try:
            if facts.base == "call":
                return self.call(bare, block)
            if facts.base in ("bar", "barrier") and "warp" not in facts.modifiers:
                return self.barrier(bare, block)
            if warp_wide and "sync" in facts.modifiers:
                operation = self.operation(bare, block)
                position = facts.row.mask
                mask = None if position is None else self.names.source(operands_of(bare)[position], "b32")
                return lambda number: WarpSync(operation, mask, number)
        except (Trouble, IndexError, ValueError):
            return None  # its operation reports the problem when it runs
        return None

    def barrier(self, instruction: Instruction, block: str) -> Callable[[int], Ending]:
        facts = facts_of(instruction.opcode)
        operands = list(operands_of(instruction))
        aligned = facts.base == "bar" or "aligned" in facts.modifiers
        if "cluster" in facts.modifiers:
            operation = self.operation(instruction, block, _nothing)
            cluster, none = ARRIVE if "arrive" in facts.modifiers else WAIT, self.names.source(Immediate("0"), "u32")
            return lambda number: Barrier(operation, cluster, aligned, none, None, number)
        kind = next((k for k in ("arrive", "red") if k in facts.modifiers), "sync")
        write = condition = None
        if kind == "red":
            write = self.names.target(operands.pop(0), "pred" if facts.types[-1] == "pred" else "u32")
            condition = self.names.source(operands.pop(), "pred")
        id_, *counts = [self.names.source(o, "u32") for o in operands]
        operation = self.operation(instruction, block, _nothing)
        count = counts[0] if counts else None
        return lambda number: Barrier(operation, kind, aligned, id_, count, number, condition, write)

    def call(self, instruction: Instruction, block: str) -> Callable[[int], Ending]:
        results, callee, arguments = _call_operands(instruction)
        target: str | Source = callee.text
        if callee.text in self.names.registers:
            target = self.names.source(callee, "u64")
        operation = self.operation(instruction, block, _nothing)
        uniform = "uni" in facts_of(instruction.opcode).modifiers
        return lambda number: Invoke(operation, target, arguments, results, number, uniform)

    # operations --------------------------------------------------------------------------------------

    def expanded(self, code: tuple[Instruction | Scope, ...]) -> Iterator[Instruction]:
        """The instructions, including those within scopes, whose names are made unique in the function."""
        for item in code:
            if isinstance(item, Instruction):
                yield item
            else:
                yield from self.scope(item, {})

    def loads_of_fields(self, code: list[Instruction], end: End) -> dict[int, Execute]:
        """The loads of a block, by position, whose results are used only by instructions that combine and move bits
        (undefined.py). They set bit fields, in words that may be uninitialised."""
        found: dict[int, Execute] = {}
        loads = {register_of(n) for i in code if _may_read_shared(i.opcode) for n in names_in(i.operands[0])}
        if loads.isdisjoint(self.moved | _moved(code) if loads else ()):
            return found
        taken: dict[str, bool | None] = {str(end.index): False} if isinstance(end, Switch) else {}  # None: not used
        for i in reversed(range(len(code))):
            if _may_read_shared(code[i].opcode):
                targets = map(str, self.names.parts(operands_of(code[i])[0]))
                if all(taken.get(name, name in self.bitwise) for name in targets):
                    with suppress(Trouble, LookupError, ValueError):  # otherwise its operation reports the problem
                        found[i] = load(code[i], self.names, checked=False)
            if code[i].guard is None:
                for name in written(code[i]):
                    taken[name] = None
            bitwise = _moves_bits(code[i].opcode)
            for name in read(code[i]):
                taken[name] = bitwise and taken.get(name, name in self.bitwise) is not False
        return found

    def scope(self, scope: Scope, outer: dict[str, str]) -> Iterator[Instruction]:
        self.scopes += 1
        new = dict(outer)
        for statement in scope.body:
            match statement:
                case Registers(types, names):
                    for name, count in names:
                        for each in [name] if count is None else [f"{name}{i}" for i in range(count)]:
                            new[each] = f"{each}@{self.scopes}"
                            self.names.declare(types, new[each], None)
                case Declaration(variable):
                    new[variable.name] = f"{variable.name}@{self.scopes}"
                    self.variable(variable, new[variable.name])
                case Scope():
                    yield from self.scope(statement, new)
                case Instruction():
                    renamed = renamed_statement(statement, lambda name: _resolved(name, new))
                    assert isinstance(renamed, Instruction)
                    yield renamed

    def operation(self, instruction: Instruction, block: str, execute: Execute | None = None) -> Operation:
        """The instruction ready to run; `execute` replaces the function of its family."""
        made = self.program
        guard = None
        if instruction.guard:
            condition = self.decider(instruction.guard.predicate, "pred", instruction.line)
            guard = condition
            if instruction.guard.negated:
                guard = Source(lambda lanes: ~condition.read(lanes), condition.registers)
        origin = made.origins.get(instruction.line)
        if origin is None:
            origin = Origin(made.kernel, made.module.source, instruction.line)
        operation = Operation(
            instruction,
            execute or execution(instruction, self.names),
            guard,
            self.function.name,
            block,
            origin,
            len(made.operations),
            self.only_writes(instruction) if guard else None,
        )
        made.operations.append(operation)
        return operation

    def only_writes(self, instruction: Instruction) -> tuple[int, ...] | None:
        """The registers that the instruction writes, if it has no other effect."""
        facts = facts_of(instruction.opcode)
        row = facts.row
        if not facts.known or row.access or row.ends or row.scope != Convergence.THREAD or facts.base == "call":
            return None
        names = [part for name in sorted(written(instruction)) for part in self.names.vectors.get(name, (name,))]
        names += [CARRY] * facts.sets_carry
        return tuple(self.names.registers[name] for name in names if name in self.names.registers) or None

    def decider(self, operand: Operand, type_: str, line: int) -> Source:
        """The source of a guard or branch condition. Raises `InputError` where it is not such a register."""
        try:
            return self.names.source(operand, type_)
        except Trouble as trouble:
            raise InputError(f"{self.program.module.source}:{line}: {trouble.message}.") from None


ENDED = "thread ended"  # the block for threads that end in a function
_ENDED_THREADS = (Instruction("ret"), Label(ENDED), Instruction("bra", (Name(ENDED),)))


def _thread_ends(statement: Statement) -> Statement:
    """A branch to `ENDED` instead of an `exit`."""
    if isinstance(statement, Instruction) and statement.opcode == "exit":
        return replace(statement, opcode="bra", operands=(Name(ENDED),))
    return statement


def _resolved(name: str, new: Mapping[str, str]) -> str:
    """The scope's new name for a name. For a component of a vector register, that of the register decides."""
    stem, dot, component = name.partition(".")
    return new.get(name) or (new[stem] + dot + component if stem in new else name)


@lru_cache(OPCODES)
def _orders(opcode: str) -> bool:
    """Whether other threads may observe on which side of it an access is. Such threads must be able to interleave."""
    facts = facts_of(opcode)
    return facts.is_release or facts.is_acquire


@lru_cache(OPCODES)
def _is_warp_wide(opcode: str) -> bool:
    facts = facts_of(opcode)
    return facts.row.scope == Convergence.WARP or facts.exclusive == "registers"


@lru_cache(OPCODES)
def _ends_segment(opcode: str) -> bool:
    """Whether lanes wait at such an instruction, or go elsewhere."""
    return facts_of(opcode).base in ("call", "bar", "barrier") or _is_warp_wide(opcode)


@lru_cache(OPCODES)
def _moves_bits(opcode: str) -> bool:
    return facts_of(opcode).base in BITWISE


def _moved(code: Iterable[Instruction]) -> frozenset[str]:
    return frozenset().union(*[read(i) for i in code if _moves_bits(i.opcode)])


@lru_cache(OPCODES)
def _may_read_shared(opcode: str) -> bool:
    facts = facts_of(opcode)
    return facts.base == "ld" and facts.space in ("shared", "")


def _nothing(lanes: Lanes) -> None:
    """The operation of an instruction that the machine itself executes."""


def _instructions(body: tuple[Statement, ...]) -> Iterator[Instruction]:
    for statement in body:
        if isinstance(statement, Instruction):
            yield statement
        elif isinstance(statement, Scope):
            yield from _instructions(statement.body)


def _call_operands(instruction: Instruction) -> tuple[tuple[Operand, ...], Name, tuple[Operand, ...]]:
    """Results, callee and arguments of `call (r), f, (a, b), prototype` and its shorter forms."""
    operands = list(instruction.operands)
    results: tuple[Operand, ...] = ()
    if isinstance(operands[0], Arguments):
        results = operands.pop(0).parts  # type: ignore[union-attr]
    callee = operands.pop(0)
    if not isinstance(callee, Name):
        raise Trouble("unsupported", f"`{callee}` cannot be called")
    arguments = operands[0].parts if operands and isinstance(operands[0], Arguments) else ()
    return results, callee, arguments
