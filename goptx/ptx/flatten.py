"""Gives a function body one flat name space: nested scopes dissolve, every name is unique.

Requires: a parsed body. A scope that holds a call stays whole, because a call must not be separated from the parameters
that are stored and loaded around it. It becomes one `Scope` statement with its names resolved.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import is_

from goptx.memo import Same
from goptx.ptx.ir import (
    Address,
    Arguments,
    Declaration,
    Directive,
    Element,
    Expression,
    Guard,
    Immediate,
    Instruction,
    Label,
    Name,
    Negated,
    Operand,
    Pair,
    Prototype,
    Registers,
    Scope,
    Statement,
    Sum,
    Vector,
)


@dataclass(frozen=True, slots=True)
class FlatBody:
    """A body without nested names: what it declares, then its code in order."""

    registers: tuple[Registers, ...]
    variables: tuple[Declaration, ...]
    code: tuple[Statement, ...]


def flatten(
    body: tuple[Statement, ...], rename: Callable[[str], str], symbols: Mapping[str, str] | None = None
) -> FlatBody:
    """The flat body. `rename` maps each local name of the outermost scope to its new name; `symbols` maps names from
    outside of the body.

    A name of an inner scope also gets the scope's number as a suffix.
    """
    if _registers_in(body) > MOST_REGISTERS:
        body = _with_used_registers(body, {name.partition(".")[0] for name in _mentioned(body)})
    flattener = _Flattener(rename)
    outer = _Names(parent=None, singles=dict(symbols or {}))
    code = flattener.scope(body, outer, suffix="")
    return FlatBody(tuple(flattener.registers), tuple(flattener.variables), tuple(code))


def flat_as_written(body: tuple[Statement, ...] | None) -> FlatBody:
    """The flat body with the names of the file. Those of the last 64 bodies are cached."""
    return _flat_as_written(Same(body or ()))


@lru_cache(maxsize=64)
def _flat_as_written(body: Same[tuple[Statement, ...]]) -> FlatBody:
    return flatten(body.held, lambda name: name)


MOST_REGISTERS = 1 << 16  # declared as ranges; of more, those in use are declared one by one


def _registers_in(body: tuple[Statement, ...]) -> int:
    """How many registers a body and the scopes within it declare as ranges."""
    own = sum(count or 0 for s in body if isinstance(s, Registers) for _, count in s.names)
    return own + sum(_registers_in(s.body) for s in body if isinstance(s, Scope))


def _with_used_registers(body: tuple[Statement, ...], used: set[str]) -> tuple[Statement, ...]:
    """The body with the registers of `used` in place of the ranges `%r<10>`."""
    by_stem: dict[str, list[int]] = {}
    for name in sorted(used):
        for stem, number in numbered(name):
            if f"{stem}{number}" == name:
                by_stem.setdefault(stem, []).append(number)

    def spelled_out(names: tuple[tuple[str, int | None], ...]) -> tuple[tuple[str, int | None], ...]:
        found: list[tuple[str, int | None]] = []
        for name, count in names:
            of_range = [] if count is None else sorted(n for n in by_stem.get(name, ()) if n < count)
            found += [(name, None)] if count is None else [(f"{name}{n}", None) for n in of_range]
        return tuple(found)

    statements: list[Statement] = []
    for statement in body:
        match statement:
            case Registers(types, names, line):
                if few := spelled_out(names):
                    statements.append(Registers(types, few, line))
            case Scope(inner, provenance):
                statements.append(Scope(_with_used_registers(inner, used), provenance))
            case _:
                statements.append(statement)
    return tuple(statements)


MOST_DIGITS = 9  # of a number within a name; `%r<1000000000>` is more registers than any machine has


def numbered(name: str) -> list[tuple[str, int]]:
    """Every range that may contain the name, with its number there, shortest stem first: `%r10` is number 10 of
    `%r<...>` or number 0 of `%r1<...>`."""
    digits = len(name) - len(name.rstrip("0123456789"))
    cuts = range(len(name) - min(digits, MOST_DIGITS), len(name))
    return [(name[:cut], int(name[cut:])) for cut in cuts]


@dataclass(slots=True)
class _Names:
    """The names that one scope declares, old to new; `ranges` holds those of `%r<10>` by their stem."""

    parent: _Names | None
    singles: dict[str, str]
    ranges: dict[str, tuple[int, str]] = field(default_factory=dict)
    _resolved: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    def resolve(self, name: str) -> str:
        """The new name of a name used in this scope; to be called after everything is declared."""
        found = self._resolved.get(name)
        if found is None:
            found = self._resolved[name] = self._found(name)
        return found

    def _found(self, name: str) -> str:
        found = self._find(name)
        if found is None and "." in name:  # a component of a vector register, or a special register
            stem, dot, component = name.partition(".")
            base = self._find(stem)
            return name if base is None else base + dot + component
        return name if found is None else found

    def _find(self, name: str) -> str | None:
        scope: _Names | None = self
        while scope is not None:
            found = scope.own(name)
            if found is not None:
                return found
            scope = scope.parent
        return None

    def keeps_all(self) -> bool:
        """Whether every name used in this scope stays as it is."""
        own = all(old == new for old, new in self.singles.items())
        own &= all(stem == new for stem, (_, new) in self.ranges.items())
        return own and (self.parent is None or self.parent.keeps_all())

    def own(self, name: str) -> str | None:
        """The new name, if this scope itself declares the name."""
        if name in self.singles:
            return self.singles[name]
        if not self.ranges:
            return None
        digits = len(name) - len(name.rstrip("0123456789"))
        for cut in range(len(name) - min(digits, MOST_DIGITS), len(name)):
            found = self.ranges.get(name[:cut])
            if found is not None:
                count, new = found
                number = name[cut:]
                if int(number) < count and (number[0] != "0" or number == "0"):
                    return new + number
        return None


class _Flattener:
    def __init__(self, rename: Callable[[str], str]) -> None:
        self.rename = rename
        self.registers: list[Registers] = []
        self.variables: list[Declaration] = []
        self.scopes = 0
        self.singles: set[str] = set()
        self.stems: dict[str, int] = {}

    def scope(self, body: tuple[Statement, ...], parent: _Names, suffix: str) -> list[Statement]:
        names = self.declare(body, parent, lambda name: self.rename(name) + suffix, self.unique)
        unchanged = names.keeps_all()
        code: list[Statement] = []
        for statement in body:
            match statement:
                case Registers():
                    self.registers.append(_declared_registers(statement, names))
                case Declaration():
                    self.variables.append(_declared_variable(statement, names))
                case Scope(inner, provenance) if _holds_call(inner):
                    code.append(Scope(self.call_scope(inner, names), provenance))
                case Scope(inner):
                    self.scopes += 1
                    code += self.scope(inner, names, suffix=f"_s{self.scopes}")
                case _:
                    code.append(statement if unchanged else renamed_statement(statement, names.resolve))
        return code

    def call_scope(self, body: tuple[Statement, ...], parent: _Names) -> tuple[Statement, ...]:
        names = self.declare(body, parent, lambda name: name, lambda name, _: name)
        outside = {parent.resolve(name) for name in _mentioned(body) if names.own(name) is None}
        if any(names.own(name) for name in outside):  # a new name from outside equals one that the scope declares
            names = self.declare(body, parent, lambda name: name, lambda name, count: _not_among(name, count, outside))
        inner: list[Statement] = []
        for statement in body:
            match statement:
                case Registers():
                    inner.append(_declared_registers(statement, names))
                case Declaration():
                    inner.append(_declared_variable(statement, names))
                case Scope(innermost, provenance):
                    inner.append(Scope(self.call_scope(innermost, names), provenance))
                case _:
                    inner.append(renamed_statement(statement, names.resolve))
        return tuple(inner)

    def unique(self, name: str, count: int | None) -> str:
        """The name, or a longer one where a scope has it already. With a count, the name is the stem of a range."""
        while self._taken(name, count):
            name += "_"
        if count is None:
            self.singles.add(name)
        else:
            self.stems[name] = count
        return name

    def _taken(self, name: str, count: int | None) -> bool:
        if name in self.stems:
            return True
        if count is None:
            return name in self.singles or any(number < self.stems.get(stem, 0) for stem, number in numbered(name))
        return name[-1:].isdigit() or any(stem == name and n < count for s in self.singles for stem, n in numbered(s))

    @staticmethod
    def declare(
        body: tuple[Statement, ...],
        parent: _Names,
        rename: Callable[[str], str],
        unique: Callable[[str, int | None], str],
    ) -> _Names:
        names = _Names(parent, {})
        for statement in body:
            match statement:
                case Registers(_, declared):
                    for name, count in declared:
                        new = unique(rename(name), count)
                        if count is None:
                            names.singles[name] = new
                        else:
                            names.ranges[name] = (count, new)
                case Declaration(variable):
                    names.singles[variable.name] = unique(rename(variable.name), None)
                case Label(name):
                    names.singles[name] = unique(rename(name), None)
        return names


def _declared_registers(statement: Registers, names: _Names) -> Registers:
    renamed = [(names.singles[n] if count is None else names.ranges[n][1], count) for n, count in statement.names]
    return Registers(statement.types, tuple(renamed))


def _declared_variable(statement: Declaration, names: _Names) -> Declaration:
    variable = statement.variable
    init = _renamed_parts(variable.init, names.resolve)
    return Declaration(replace(variable, name=names.singles[variable.name], init=init))


def _mentioned(body: tuple[Statement, ...]) -> set[str]:
    """The names that the statements of a body and of the scopes within it use."""
    found: set[str] = set()

    def note(name: str) -> str:
        found.add(name)
        return name

    for statement in body:
        renamed_statement(statement, note)
    return found


def _not_among(name: str, count: int | None, others: set[str]) -> str:
    """The name, or a longer one that is not in `others`. With a count, no name of its range is in `others` either."""
    while name in others or (
        count is not None and any(stem == name and n < count for o in others for stem, n in numbered(o))
    ):
        name += "_"
    return name


def prefixed(name: str, prefix: str) -> str:
    """`%r1` as `%a_r1`, for example: the prefix follows the sigil that marks a register or label."""
    sigil = name[0] if name[0] in "%$" else ""
    return f"{sigil}{prefix}_{name[len(sigil) :]}"


def as_written(statement: object, prefix: str) -> str:
    """The statement without the prefix that `prefixed` gave its names, for messages."""
    return re.sub(rf"(?<![\w$%])([%$]?){prefix}_", r"\1", str(statement))


def _holds_call(body: tuple[Statement, ...]) -> bool:
    """Whether a scope has a call, or declares a parameter for a call within it."""
    if any(isinstance(s, Instruction) and s.opcode.partition(".")[0] == "call" for s in body):
        return True
    passes = any(isinstance(s, Declaration) and s.variable.space == ".param" for s in body)
    return passes and any(isinstance(s, Scope) and _holds_call(s.body) for s in body)


def renamed_statement(statement: Statement, resolve: Callable[[str], str]) -> Statement:
    """The statement with every name in it replaced by `resolve(name)`; the statement itself if none changes."""
    if isinstance(statement, Instruction):
        return _renamed_instruction(statement, resolve)
    match statement:
        case Label(name, line):
            return Label(resolve(name), line)
        case Directive(".branchtargets" | ".calltargets" as name, values, line):
            return Directive(name, tuple(map(resolve, values)), line)
        case Scope(body, provenance):
            return Scope(tuple(renamed_statement(s, resolve) for s in body), provenance)
        case Registers() | Declaration() | Directive() | Prototype():
            return statement


def _renamed_instruction(instruction: Instruction, resolve: Callable[[str], str]) -> Instruction:
    guard, operands = instruction.guard, instruction.operands
    new_guard = guard
    if guard is not None and (predicate := _renamed_name(guard.predicate, resolve)) is not guard.predicate:
        new_guard = Guard(predicate, guard.negated)
    new_operands = _renamed_operands(operands, resolve)
    if new_guard is guard and new_operands is operands and not instruction.also:
        return instruction
    return Instruction(instruction.opcode, new_operands, new_guard, instruction.line, instruction.provenance)


def renamed_operand(operand: Operand, resolve: Callable[[str], str]) -> Operand:
    """The operand with every name in it replaced by `resolve(name)`; the operand itself if none changes."""
    if isinstance(operand, Name):  # the most frequent first: this runs for every operand of every kernel
        return _renamed_name(operand, resolve)
    if isinstance(operand, Address | Vector | Arguments):
        parts = _renamed_operands(operand.parts, resolve)
        return operand if parts is operand.parts else type(operand)(parts)
    match operand:
        case Sum(base, tail):
            new_base = _renamed_name(base, resolve) if isinstance(base, Name) else base
            return Sum(new_base, _renamed_parts(tail, resolve))
        case Immediate():
            return operand
        case Expression(pieces):
            return Expression(_renamed_parts(pieces, resolve))
        case Element(array, index):
            return Element(Name(resolve(array.text)), renamed_operand(index, resolve))
        case Negated(name):
            return Negated(Name(resolve(name.text)))
        case Pair(first, second):
            new_first = renamed_operand(first, resolve)
            assert isinstance(new_first, Name | Vector)
            return Pair(new_first, Name(resolve(second.text)))


def _renamed_operands(operands: tuple[Operand, ...], resolve: Callable[[str], str]) -> tuple[Operand, ...]:
    new = tuple([renamed_operand(operand, resolve) for operand in operands])
    return operands if all(map(is_, new, operands)) else new


def _renamed_name(name: Name, resolve: Callable[[str], str]) -> Name:
    text = resolve(name.text)
    return name if text == name.text else Name(text)


def _renamed_parts(parts: tuple[Name | str, ...], resolve: Callable[[str], str]) -> tuple[Name | str, ...]:
    return tuple(Name(resolve(part.text)) if isinstance(part, Name) else part for part in parts)
