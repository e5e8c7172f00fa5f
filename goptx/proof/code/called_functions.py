"""Calls that stay calls: what one passes and gets, and which functions the checker lets a kernel call.

A function is called in the fused kernel as in its kernel: with the same arguments, and with the same code. What it does
must concern its own thread and memory only. A *pure* function moreover only computes, and ends for any arguments: those
threads may call it whose kernel does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import networkx as nx

from goptx.ptx.flatten import flatten
from goptx.ptx.ir import (
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

_OF_SYSTEM = frozenset(("vprintf", "malloc", "free", "__assertfail"))  # functions without code that do not wait
_OF_LANE = re.compile(r"%laneid|%lanemask_\w+")
_OF_LAUNCH = re.compile(r"%(tid|ntid|ctaid|nctaid)(\.[xyz])?")
WORD = re.compile(r"%?[A-Za-z_$][\w$.]*")
_PIECE = re.compile(r"[%\w$.]+|\S")
DIRECT = "directly "  # how the form of a call begins that names registers


@dataclass(frozen=True, slots=True)
class Called:
    """`form` is how arguments and results are passed; two calls of one form and function differ in operands only."""

    call: Instruction
    function: str
    arguments: tuple[Operand, ...]
    results: tuple[Operand, ...]
    form: str


def called(statement: Instruction | Scope) -> Called | None:
    """A call with the parameters around it; None for a form that the checker does not know. What else its braces
    compute is not of it."""
    if isinstance(statement, Instruction):
        given = passed(statement)
        if given is None:
            return None
        results, function, arguments = given
        return Called(statement, function, arguments, results, f"{DIRECT}{len(results)} {len(arguments)}")
    before = {id(s) for s in computed_before(statement)}
    found = [s for s in statement.body if isinstance(s, Instruction) and id(s) not in before]
    position = next((i for i, s in enumerate(found) if facts_of(s.opcode).calls), len(found))
    given = passed(found[position]) if position < len(found) else None
    if given is None or any(s.guard for i, s in enumerate(found) if i != position):
        return None
    results, function, arguments = given
    stores = [_moved(s, "st.param.", arguments) for s in found[:position]]
    loads = [_moved(s, "ld.param.", results) for s in found[position + 1 :]]
    moved = [m for m in (*stores, *loads) if m is not None]
    own = {name for r in statement.body if isinstance(r, Registers) for name, _ in r.names}
    local = any(str(m.value) in own for m in moved)
    known = all(isinstance(s, Instruction | Registers | Declaration) or _is_line(s) for s in statement.body)
    declared = [_declared(statement, name) for name in (*results, *arguments)]
    if len(moved) < len(stores) + len(loads) or local or not known or not all(declared):
        return None
    form = "; ".join([*(m.form for m in moved), *declared])
    values = tuple(m.value for m in moved)
    return Called(found[position], function, values[: len(stores)], values[len(stores) :], form)


def computed_before(scope: Scope) -> list[Instruction]:
    """What the braces of a call compute besides, before it: instructions that have no effect, and write no register
    that has been stored for the call. They may as well stand before the braces."""
    found, stored = list[Instruction](), set[str]()
    own = {name for s in scope.body for name in _declares(s)}
    for statement in scope.body:
        if not isinstance(statement, Instruction):
            continue
        facts, words = facts_of(statement.opcode), set(WORD.findall(str(statement)))
        if facts.calls:
            break
        written = WORD.findall(" ".join(map(str, statement.operands[: facts.row.writes])))
        if facts.row.access:
            stored |= words
        elif _has_effect(facts) or facts.row.ends or words & own or not stored.isdisjoint(written):
            return []
        else:
            found.append(statement)
    return found


def _is_line(statement: Statement) -> bool:
    """Whether it only names a line of the source."""
    return isinstance(statement, Directive) and statement.name == ".loc"


def _declares(statement: Statement) -> tuple[str, ...]:
    match statement:
        case Registers():
            return tuple(name for name, _ in statement.names)
        case Declaration(variable):
            return (variable.name,)
    return ()


@dataclass(frozen=True, slots=True)
class _Moved:
    value: Operand
    form: str


def passed(call: Instruction) -> tuple[tuple[Operand, ...], str, tuple[Operand, ...]] | None:
    """The results, the function and the arguments of a direct call."""
    lists = [o.parts if isinstance(o, Arguments) else o for o in call.operands]
    match lists:
        case [Name(function)]:
            return (), function, ()
        case [Name(function), tuple(arguments)]:
            return (), function, arguments
        case [tuple(results), Name(function)]:
            return results, function, ()
        case [tuple(results), Name(function), tuple(arguments)]:
            return results, function, arguments
    return None


def _moved(step: Instruction, opcode: str, among: tuple[Operand, ...]) -> _Moved | None:
    """What moves a value to a parameter of a call, or from one, with its place there."""
    if not step.opcode.startswith(opcode) or len(step.operands) != 2:
        return None
    address, value = step.operands if opcode.startswith("st") else reversed(step.operands)
    match address:
        case Address((Name(name),)):
            tail = ""
        case Address((Sum(Name(name), (str(tail),)),)):
            pass
        case _:
            return None
    if Name(name) not in among:
        return None
    offset = tail.replace(" ", "") or "+0"
    return _Moved(value, f"{step.opcode} {among.index(Name(name))}{offset}")


def _declared(scope: Scope, name: Operand) -> str:
    """How a parameter is declared in the scope, "" if it is not."""
    its = (d.variable for d in scope.body if isinstance(d, Declaration))
    return next((" ".join((v.space, *v.qualifiers, *v.dims)) for v in its if v.name == str(name)), "")


# functions ----------------------------------------------------------------------------------------


def pure_functions(module: Module) -> frozenset[str]:
    """The functions that only compute, and end for any arguments."""
    functions = {f.name: f for f in module.functions}
    found = frozenset[str]()
    while True:
        more = {name for name, f in functions.items() if name not in found and _is_pure(f, found)}
        if not more:
            return found
        found |= more


def _is_pure(function: Function, known: frozenset[str]) -> bool:
    if function.body is None:
        return False
    labels, own_names = set[str](), _Names(function)
    for statement in _code(function):
        if isinstance(statement, Label):
            labels.add(statement.name)
        if not isinstance(statement, Instruction):
            continue
        facts = facts_of(statement.opcode)
        if facts.calls:
            own = passed(statement)
            if own is None or own[1] not in known:
                return False
        elif facts.row.ends == "branch":
            if facts.is_indirect_branch or str(statement.operands[-1]) in labels:
                return False
        elif _has_effect(facts) or (facts.row.ends and facts.base != "ret") or own_names.special(statement):
            return False
    return True


def _has_effect(facts: Facts) -> bool:
    row = facts.row
    outside = bool(row.access) and facts.space != "param"
    return not facts.known or outside or row.hint or bool(row.scope) or row.blocking or facts.sets_carry


def why_not(function: Function, module: Module, again: bool = False) -> str:
    """Why the checker has no rule for calls of a function, "" if it has. `again`: it is called in a loop."""
    functions = {f.name: f for f in module.functions}
    every, calls = {function.name: function}, dict[str, set[str]]()
    waiting = [function]
    while waiting:
        one = waiting.pop()
        what = _why_not_alone(one, functions)
        if what:
            return what
        calls[one.name] = {name for name in _callees(one) if name in functions}
        more = [functions[name] for name in sorted(calls[one.name] - every.keys())]
        every.update((f.name, f) for f in more)
        waiting += more
    facts = [facts_of(s.opcode) for f in every.values() for s in _code(f) if isinstance(s, Instruction)]
    waits = any(f.is_strong_read or f.bypasses_l1 for f in facts)
    graph: nx.DiGraph[str] = nx.DiGraph([(caller, name) for caller, its in calls.items() for name in its])
    again |= any(_goes_back(f) for f in every.values()) or not nx.is_directed_acyclic_graph(graph)
    return f"`{function.name}` may wait for other threads" if waits and again else ""


def _callees(function: Function) -> Iterator[str]:
    for statement in _code(function):
        if isinstance(statement, Instruction) and facts_of(statement.opcode).calls and (own := passed(statement)):
            yield own[1]


def _goes_back(function: Function) -> bool:
    """Whether it has a loop."""
    labels = set[str]()
    for statement in _code(function):
        if isinstance(statement, Label):
            labels.add(statement.name)
        facts = facts_of(statement.opcode) if isinstance(statement, Instruction) else None
        if facts and facts.row.ends == "branch" and (facts.is_indirect_branch or _target(statement) in labels):
            return True
    return False


def _target(statement: Statement) -> str:
    return str(statement.operands[-1]) if isinstance(statement, Instruction) else ""


def _why_not_alone(function: Function, functions: Mapping[str, Function]) -> str:
    """The same of its own code, whatever the functions do that it calls."""
    if function.body is None:
        return "" if function.name in _OF_SYSTEM else f"the code of `{function.name}` is not known"
    own_names = _Names(function)
    for statement in _code(function):
        if isinstance(statement, Declaration) and statement.variable.space not in (".local", ".param"):
            return f"`{function.name}` has `{statement.variable}`"
        if isinstance(statement, Directive) and statement.name == ".pragma":
            return f"`{function.name}` has `{statement}`"
        if not isinstance(statement, Instruction):
            continue
        facts = facts_of(statement.opcode)
        what = f"`{function.name}` has `{statement}`"
        if facts.calls:
            own = passed(statement)
            if own is None or own[1] not in functions:
                return what
            continue
        if not all(_OF_LANE.fullmatch(n) or _OF_LAUNCH.fullmatch(n) for n in own_names.special(statement)):
            return what
        row = facts.row
        if not facts.known or row.scope or row.blocking or row.releases or facts.controls_grids or facts.exclusive:
            return what
        if facts.base in ("exit", "alloca", "stacksave", "stackrestore") or facts.acts_on_mbarrier:
            return what
    return ""


def _code(function: Function) -> Iterator[Statement]:
    def every(body: tuple[Statement, ...]) -> Iterator[Statement]:
        for statement in body:
            yield statement
            if isinstance(statement, Scope):
                yield from every(statement.body)

    yield from every(function.body or ())


class _Names:
    """The names of registers, parameters and results in a function."""

    def __init__(self, function: Function) -> None:
        registers = flatten(function.body or (), lambda name: name).registers
        self.singles = {name for r in registers for name, count in r.names if count is None}
        self.singles.update(v.name for v in (*function.parameters, *function.results))
        self.stems = {name for r in registers for name, count in r.names if count is not None}

    def special(self, statement: Instruction) -> list[str]:
        """The special registers that an instruction reads."""
        return [w for w in WORD.findall(str(statement)) if self.is_special(w)]

    def is_special(self, word: str) -> bool:
        """Whether a word is a special register."""
        own = word in self.singles or word.rstrip("0123456789") in self.stems
        return word.startswith("%") and not own


class View(Protocol):
    """What functions see of a kernel's launch."""

    def computed(
        self, function: Function, declared: Sequence[Registers], begin: Sequence[Statement]
    ) -> dict[str, int] | None: ...

    def is_own(self, name: str, stands: str, computed: Mapping[str, int]) -> bool: ...


def are_alike(own: Function, fused: Function, names: Mapping[str, str], module: Module, view: View) -> bool:
    """Whether a function of the fused text is the kernel's; `names` are what the kernel's variables and functions are
    called there. It may begin with code that computes what stands for special registers."""
    of_module = {i.name for i in module.items if isinstance(i, Function | Variable)}
    mine, its = (flatten(f.body or (), lambda name: name) for f in (own, fused))
    more, longer = len(its.registers) - len(mine.registers), len(its.code) - len(mine.code)
    if (own.body is None) != (fused.body is None) or min(more, longer) < 0:
        return False
    declared, begin = its.registers[len(mine.registers) :], its.code[:longer]
    added = {name for r in declared for name, _ in r.names}
    if declared and (any(n is not None for r in declared for _, n in r.names) or added & _words(own)):
        return False
    computed = view.computed(fused, declared, begin) if longer else {}
    special = _Names(own).is_special

    def same(old: object, new: object) -> bool:
        words = [_PIECE.findall(str(each)) for each in (old, new)]
        return len(words[0]) == len(words[1]) and all(map(stands, *words))

    def stands(old: str, new: str) -> bool:
        if _OF_LAUNCH.fullmatch(old) and special(old):
            return computed is not None and view.is_own(old, new, computed)
        return new == (names.get(old, "?") if old in of_module else old)

    parts = [(f.parameters, f.results, f.directives) for f in (own, fused)]
    bodies = [(b.registers[: len(mine.registers)], b.variables) for b in (mine, its)]
    pairs = zip((*parts[0], *bodies[0]), (*parts[1], *bodies[1]), strict=True)
    alike = all(len(a) == len(b) and all(map(same, a, b)) for a, b in pairs)
    return alike and computed is not None and all(map(same, mine.code, its.code[longer:]))


def _words(function: Function) -> set[str]:
    return set(_PIECE.findall(str(function)))
