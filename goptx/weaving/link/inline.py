"""Inlines device functions in which threads wait for each other, or end the kernel.

Requires: a parsed module. Ensures: a call of a function that holds a barrier, a warp instruction, another wait, a
release or an `exit`, or reads what a loop around a call waits for, or calls one that does, has become the function's
body wherever that can be done (`_may_be_copied`); an `exit` there is one of the entry. What is left is refused later
(link.py).

What such a call passes in memory is a register then if it is a number that is stored and loaded whole, else a local
variable, which the assembler turns into registers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import networkx as nx

from goptx.analysis.build_cfg import flow_as_written
from goptx.analysis.cfg import Flow
from goptx.analysis.influence import callee_of
from goptx.analysis.sync.spin_loops import (
    calls_in_waiting_loops,
    reads_strongly,
    strong_reads_of_functions,
    waiting_loops,
)
from goptx.errors import CannotLink, CannotWeave
from goptx.ptx.flatten import flatten
from goptx.ptx.ir import (
    TYPE_BYTES,
    Address,
    Arguments,
    Declaration,
    Directive,
    Function,
    Instruction,
    Label,
    Module,
    Name,
    Operand,
    Registers,
    Scope,
    Statement,
    Sum,
    Variable,
)
from goptx.ptx.opcodes import Facts, facts_of
from goptx.ptx.opcodes import Scope as Convergence
from goptx.ptx.walk import names_in, statements_in
from goptx.sources.kernel_text import MOST_INLINED
from goptx.weaving.converge.predicate_code import inverted


def inlined(module: Module, most: int = MOST_INLINED) -> Module:
    """The module with such calls in its entries replaced, by which no entry gets more than `most` instructions. Raises
    `CannotLink` where one would."""
    functions = {f.name: f for f in module.functions if f.body is not None and not f.is_entry}
    if not functions:
        return module
    calls = {name: {n for n in _mentioned(f) if n in functions} for name, f in functions.items()}
    callers: dict[str, set[str]] = {name: set() for name in functions}
    for name, called in calls.items():
        for callee in called:
            callers[callee].add(name)
    wanted = {name for name, f in functions.items() if _waits(f) or any(exits(f.body or ()))}
    wanted = _reached(wanted | _awaited(module.entries, functions), callers)
    recursive = {n for group in nx.strongly_connected_components(_graph(calls)) if len(group) > 1 for n in group}
    recursive |= {n for n, called in calls.items() if n in called}
    staying = {name for name in wanted if name in recursive or not _may_be_copied(functions[name])}
    staying = _reached(staying, callers) & wanted
    inliner = _Inliner({name: functions[name] for name in sorted(wanted - staying)})
    if not inliner.functions:
        return module
    _refuse_endless(module, inliner, most)
    entries = {e.name: replace(e, body=inliner.entry(e.body or ())) for e in module.entries}
    items = tuple(entries.get(i.name, i) if isinstance(i, Function) and i.body is not None else i for i in module.items)
    return replace(module, items=items)


MAX_DEPTH = 60  # calls within calls that are inlined; scopes nest as deeply as they do


def _reached(start: Collection[str], edges: Mapping[str, Collection[str]]) -> set[str]:
    """What can be reached from `start`, with `start` itself."""
    found, work = set(start), list(start)
    while work:
        more = [n for n in edges[work.pop()] if n not in found]
        found.update(more)
        work += more
    return found


def _graph(edges: Mapping[str, Collection[str]]) -> nx.DiGraph[str]:
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(edges)
    graph.add_edges_from((name, other) for name, others in edges.items() for other in others)
    return graph


def _refuse_endless(module: Module, inliner: _Inliner, most: int) -> None:
    """Raises `CannotLink` where inlining would make an entry longer, or nest it more deeply, than any kernel is."""
    own = {name: len(list(_instructions(f))) for name, f in inliner.functions.items()}
    called = {name: [_call(i)[1] for i in inliner.calls(f.body or ())] for name, f in inliner.functions.items()}
    size: dict[str, int] = {}
    depth: dict[str, int] = {}
    for name in reversed(list(nx.topological_sort(_graph(called)))):
        size[name] = own[name] + sum(size[n] for n in called[name])
        depth[name] = 1 + max((depth[n] for n in called[name]), default=0)
    for entry in module.entries:
        total = len(list(_instructions(entry)))
        for call in inliner.calls(entry.body or ()):
            name = _call(call)[1]
            total += size[name]
            if total > most or depth[name] > MAX_DEPTH:
                limit, remedy = f"{MAX_DEPTH} calls within each other", ""
                if total > most:
                    limit, remedy = f"the {most} instructions that max_inlined= allows", "raise max_inlined=, "
                raise CannotLink(
                    f"{module.source}:{call.line}: `{call}`: threads wait in `{name}` or in what it calls, so these "
                    f"calls would have to be inlined, which makes more than {limit}; let fewer functions hold the "
                    f"wait, move it into the entry, {remedy}or use separate launches.",
                    rule="size-limits",
                )


def _instructions(function: Function) -> Iterator[Instruction]:
    return (s for s in statements_in(function.body or ()) if isinstance(s, Instruction))


def _variables(function: Function) -> list[Variable]:
    return [s.variable for s in statements_in(function.body or ()) if isinstance(s, Declaration)]


def _mentioned(function: Function) -> Iterator[str]:
    """What the instructions of a function name, other functions among it."""
    return (name for i in _instructions(function) for operand in i.operands for name in names_in(operand))


def _waits(function: Function) -> bool:
    """Whether threads may wait for each other in it, or for what it does."""
    for instruction in _instructions(function):
        facts = facts_of(instruction.opcode)
        if facts.row.scope != Convergence.THREAD or facts.row.blocking or facts.releases:
            return True
    return any(True for _ in waiting_loops(_flow(function)))


def _awaited(entries: Iterable[Function], functions: Mapping[str, Function]) -> set[str]:
    """The functions whose results decide when a loop ends, because they read what other threads may change, and those
    by which they do."""
    if not any(reads_strongly(facts_of(i.opcode)) for f in functions.values() for i in _instructions(f)):
        return set()
    flows = {f.name: _flow(f) for f in (*functions.values(), *entries)}
    function_reads = strong_reads_of_functions({n: f for n, f in flows.items() if n in functions}, functions)
    called = {callee_of(call) for flow in flows.values() for call, _ in calls_in_waiting_loops(flow, function_reads)}
    found = called & function_reads.keys()
    while more := {n for name in found for n in _mentioned(functions[name]) if n in function_reads} - found:
        found |= more
    return found


def _flow(function: Function) -> Flow:
    try:
        return flow_as_written(function.body)
    except CannotWeave:  # branches to nowhere, which link.py refuses
        return flow_as_written(())


def exits(body: Iterable[Statement]) -> Iterator[Instruction]:
    """The instructions of a body that end the thread. What compilers put after a `trap` does not: no thread comes
    there."""
    trapped = False
    for statement in statements_in(body):
        match statement:
            case Instruction(opcode) if facts_of(opcode).ends_thread and not trapped:
                yield statement
            case Instruction(opcode, _, guard):
                trapped = guard is None and facts_of(opcode).row.ends == "trap"
            case Label():
                trapped = False


def _may_be_copied(function: Function) -> bool:
    """Whether each call may have a copy: nothing that the function declares outlives a call, except shared
    memory; accesses to its parameters in memory name them."""
    declared = _variables(function)
    formals = (*function.results, *function.parameters)
    if any(v.space not in (".local", ".param", ".shared") for v in declared):
        return False
    if any(v.space == ".reg" and v.type in _NO_MOVE for v in formals):
        return False
    named = {v.name for v in (*formals, *declared) if v.space == ".param"}
    for instruction in _instructions(function):
        facts = facts_of(instruction.opcode)
        uses_parameters = not named.isdisjoint(n for o in instruction.operands for n in names_in(o))
        accesses = facts.loads_parameter or facts.stores_parameter
        if not facts.calls and (uses_parameters or facts.space == "param") and not (uses_parameters and accesses):
            return False
    return True


_NO_MOVE = ("b8", "u8", "s8")  # of registers


@dataclass(slots=True)
class _Inliner:
    functions: Mapping[str, Function]
    copies: int = 0
    shared: dict[str, Declaration] = field(default_factory=dict)  # which all copies of a function have in common

    def entry(self, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
        """The body of an entry without calls of the functions."""
        self.shared = {}
        inner = self.body(body, {})
        return (*self.shared.values(), *inner)

    def body(self, body: tuple[Statement, ...], outer: Mapping[str, Variable]) -> tuple[Statement, ...]:
        """A body or scope without calls of the functions. `outer` has what has become of the variables around it that
        were in parameter space: they are in local memory, or registers (`.reg`)."""
        passed = {name for call in self.calls(body) for o in call.operands for name in names_in(o)}
        declared = {s.variable.name: s.variable for s in body if isinstance(s, Declaration)}
        moved = {n: v for n, v in declared.items() if v.space == ".param" and n in passed}
        spaces = {n: ".reg" if self.is_number(v, body) else ".local" for n, v in moved.items()}
        now = {n: v for n, v in outer.items() if n not in declared}
        now |= {n: replace(v, space=spaces[n]) for n, v in moved.items()}
        code: list[Statement] = []
        for statement in body:
            match statement:
                case Declaration(variable) if variable.name in moved:
                    code.append(_declared(now[variable.name]))
                case Scope(inner):
                    code.append(Scope(self.body(inner, now)))
                case Instruction() if self.function(statement):
                    code.append(Scope(self.body(self.copy(statement), now)))
                case Instruction():
                    code.append(_access(statement, now))
                case _:
                    code.append(statement)
        return tuple(code)

    def is_number(self, variable: Variable, body: tuple[Statement, ...]) -> bool:
        """Whether a register may take the variable's place, in the body and in the functions that it is passed to."""
        if variable.dims or variable.size not in (4, 8):
            return False
        accesses = [(variable.name, s) for s in statements_in(body) if isinstance(s, Instruction)]
        for call in self.calls(body):
            results, name, arguments = _call(call)
            function = self.functions[name]
            formals = (*function.results, *function.parameters)
            passed = [f.name for f, a in zip(formals, (*results, *arguments), strict=True) if str(a) == variable.name]
            accesses += [(formal, i) for formal in passed for i in _instructions(function)]
        return all(_is_whole(i, name, variable.size) for name, i in accesses if not facts_of(i.opcode).calls)

    def calls(self, body: tuple[Statement, ...]) -> Iterator[Instruction]:
        return (s for s in statements_in(body) if isinstance(s, Instruction) and self.function(s))

    def function(self, instruction: Instruction) -> Function | None:
        """What an instruction calls that is to be inlined."""
        if not facts_of(instruction.opcode).calls:
            return None
        results, name, arguments = _call(instruction)
        function = self.functions.get(name)
        if function is None or (len(results), len(arguments)) != (len(function.results), len(function.parameters)):
            return None
        dropped = any(f.space == ".param" and str(a) == "_" for f, a in zip(function.results, results, strict=True))
        return None if dropped else function

    def copy(self, call: Instruction) -> tuple[Statement, ...]:
        """The body of the function in place of the call, with its own names distinct from those around it."""
        results, name, arguments = _call(call)
        function = self.functions[name]
        self.copies += 1
        suffix = f"__{name}_{self.copies}"
        given = [*zip(function.results, results, strict=True), *zip(function.parameters, arguments, strict=True)]
        # A parameter in memory is the caller's variable, one in a register is a register that is set or read.
        symbols = {f.name: str(a) if f.space == ".param" else f.name + suffix for f, a in given}
        common = {v.name for v in _variables(function) if v.space == ".shared"}
        flat = flatten(function.body or (), lambda own: f"{own}__{name}" if own in common else own + suffix, symbols)
        self.shared.update((d.variable.name, d) for d in flat.variables if d.variable.space == ".shared")
        ended, past = f"$ended{suffix}", f"$past{suffix}"
        uniform = ".uni" if "uni" in facts_of(call.opcode).modifiers else ""
        around = [Instruction(f"bra{uniform}", (Name(past),), inverted(call.guard), call.line)] if call.guard else []
        registers = [Registers((f".{f.type}",), ((f.name + suffix, None),)) for f, _ in given if f.space == ".reg"]
        returned = [(f, a) for f, a in given[: len(results)] if f.space == ".reg" and str(a) != "_"]
        return (
            *registers,
            *flat.registers,
            *(d for d in flat.variables if d.variable.space != ".shared"),
            *around,
            *(_move(f, Name(f.name + suffix), a, call) for f, a in given[len(results) :] if f.space == ".reg"),
            *_returning(flat.code, ended),
            Label(ended),
            *(_move(f, a, Name(f.name + suffix), call) for f, a in returned),
            Label(past),
        )


def _call(instruction: Instruction) -> tuple[tuple[Operand, ...], str, tuple[Operand, ...]]:
    """Results, callee and arguments."""
    operands = list(instruction.operands)
    first = operands.pop(0) if isinstance(operands[0], Arguments) else Arguments(())
    last = operands[1] if len(operands) > 1 and isinstance(operands[1], Arguments) else Arguments(())
    assert isinstance(first, Arguments)
    return first.parts, str(operands[0]), last.parts


def _move(formal: Variable, to: Operand, value: Operand, call: Instruction) -> Instruction:
    return Instruction(f"mov.{formal.type}", (to, value), line=call.line)


def _returning(body: Iterable[Statement], ended: str) -> Iterator[Statement]:
    """The statements of a function with a branch to `ended` in place of a return, in scopes too. Lines are left out:
    they would hold for what stands after the call."""
    for statement in body:
        match statement:
            case Scope(inner):
                yield Scope(tuple(_returning(inner, ended)))
            case Instruction(opcode, _, guard, line) if facts_of(opcode).returns:
                yield Instruction(opcode.replace("ret", "bra"), (Name(ended),), guard, line)
            case Directive(".loc" | ".loc_intermediate"):
                continue
            case _:
                yield statement


def _declared(variable: Variable) -> Declaration | Registers:
    if variable.space == ".reg":
        return Registers((f".b{8 * variable.size}",), ((variable.name, None),))
    return Declaration(variable)


def _is_whole(instruction: Instruction, name: str, size: int) -> bool:
    """Whether an instruction loads or stores all of the variable `name`, or does nothing with it."""
    if all(name != n for operand in instruction.operands for n in names_in(operand)):
        return True
    facts = facts_of(instruction.opcode)
    offset = next((_offset(o) for o in instruction.operands if isinstance(o, Address)), "")
    return offset in ("", "+0") and len(facts.types) == 1 and TYPE_BYTES[facts.types[0]] == size and not _lanes(facts)


def _lanes(facts: Facts) -> bool:
    return not facts.modifiers.isdisjoint(("v2", "v4", "v8"))


def _access(instruction: Instruction, moved: Mapping[str, Variable]) -> Instruction:
    """An access to one of the variables `moved`, which is not a parameter any more."""
    for position, operand in enumerate(instruction.operands):
        if isinstance(operand, Address) and _base(operand) in moved:
            variable = moved[_base(operand)]
            if variable.space == ".local":
                words = ["local" if w.partition("::")[0] == "param" else w for w in instruction.opcode.split(".")]
                return replace(instruction, opcode=".".join(words))
            operands = list(instruction.operands)
            operands[position] = Name(variable.name)
            type_ = facts_of(instruction.opcode).types[0]
            return replace(instruction, opcode=f"mov.{type_}", operands=tuple(operands))
    return instruction


def _base(address: Address) -> str:
    base = address.parts[0].base if isinstance(address.parts[0], Sum) else address.parts[0]
    return str(base)


def _offset(address: Address) -> str:
    return "".join(map(str, address.parts[0].tail)) if isinstance(address.parts[0], Sum) else ""
