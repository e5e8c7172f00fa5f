"""Gives a function body one flat name space: nested scopes dissolve, every name is unique.

Requires: a parsed body. Scopes that hold a call stay whole, since a call and the parameters stored and
loaded around it must not be parted; they come out as one `Scope` statement with names resolved.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from goptx.ptx.ir import (
    Address,
    Arguments,
    Declaration,
    Directive,
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
    """`rename` gives a local name of the outermost scope its new one; `symbols` renames what lies outside.

    A name of an inner scope gets the scope's number as a suffix as well.
    """
    flattener = _Flattener(rename)
    outer = _Names(parent=None, singles=dict(symbols or {}))
    code = flattener.scope(body, outer, suffix="")
    return FlatBody(tuple(flattener.registers), tuple(flattener.variables), tuple(code))


_NUMBERED = re.compile(r"(.*?)(0|[1-9][0-9]*)$", re.DOTALL)


@dataclass(slots=True)
class _Names:
    """The names that one scope declares, old to new; `ranges` holds those of `%r<10>` by their stem."""

    parent: _Names | None
    singles: dict[str, str]
    ranges: dict[str, tuple[int, str]] | None = None

    def resolve(self, name: str) -> str:
        found = self._find(name)
        if found is None and "." in name:  # a component of a vector register, or a special register
            stem, dot, component = name.partition(".")
            base = self._find(stem)
            return name if base is None else base + dot + component
        return name if found is None else found

    def _find(self, name: str) -> str | None:
        scope: _Names | None = self
        numbered = _NUMBERED.match(name)
        while scope is not None:
            if name in scope.singles:
                return scope.singles[name]
            if numbered and scope.ranges:
                # `%r10` may come from `%r<11>` or from `%r1<2>`: try every split of the digits.
                for cut in range(len(numbered[1]), len(name)):
                    count, stem = scope.ranges.get(name[:cut], (0, ""))
                    digits = name[cut:]
                    if digits.isdigit() and str(int(digits)) == digits and int(digits) < count:
                        return stem + digits
            scope = scope.parent
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
        code: list[Statement] = []
        for statement in body:
            match statement:
                case Registers(types, declared):
                    renamed = tuple(
                        (names.singles[n] if count is None else _range(names, n)[1], count) for n, count in declared
                    )
                    self.registers.append(Registers(types, renamed))
                case Declaration(variable):
                    self.variables.append(Declaration(replace(variable, name=names.singles[variable.name])))
                case Scope(inner) if _holds_call(inner):
                    code.append(Scope(self.call_scope(inner, names)))
                case Scope(inner):
                    self.scopes += 1
                    code += self.scope(inner, names, suffix=f"_s{self.scopes}")
                case _:
                    code.append(renamed_statement(statement, names.resolve))
        return code

    def call_scope(self, body: tuple[Statement, ...], parent: _Names) -> tuple[Statement, ...]:
        names = self.declare(body, parent, lambda name: name, lambda name, _: name)
        return tuple(
            Scope(self.call_scope(s.body, names)) if isinstance(s, Scope) else renamed_statement(s, names.resolve)
            for s in body
        )

    def unique(self, name: str, count: int | None) -> str:
        """The name, or a longer one where a scope has it already; with a count it is the stem of a range."""
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
            stem = name.rstrip("0123456789")
            return name in self.singles or (name != stem and int(name[len(stem) :]) < self.stems.get(stem, 0))
        digits = [s[len(name) :] for s in self.singles if s.startswith(name)]
        return name[-1:].isdigit() or any(d.isdigit() and int(d) < count for d in digits)

    @staticmethod
    def declare(
        body: tuple[Statement, ...],
        parent: _Names,
        rename: Callable[[str], str],
        unique: Callable[[str, int | None], str],
    ) -> _Names:
        names = _Names(parent, {}, {})
        assert names.ranges is not None
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


def _range(names: _Names, stem: str) -> tuple[int, str]:
    assert names.ranges is not None
    return names.ranges[stem]


def prefixed(name: str, prefix: str) -> str:
    """`%r1` as `%a_r1`, for example: the prefix stands behind what marks a register or label."""
    sigil = name[0] if name[0] in "%$" else ""
    return f"{sigil}{prefix}_{name[len(sigil) :]}"


def as_written(statement: object, prefix: str) -> str:
    """The statement without the prefix that `prefixed` gave its names, for messages."""
    return re.sub(rf"(?<![\w$%])([%$]?){prefix}_", r"\1", str(statement))


def _holds_call(body: tuple[Statement, ...]) -> bool:
    return any(
        (isinstance(s, Instruction) and s.opcode.partition(".")[0] == "call")
        or (isinstance(s, Scope) and _holds_call(s.body))
        for s in body
    )


def renamed_statement(statement: Statement, resolve: Callable[[str], str]) -> Statement:
    """The statement with every name in it replaced by `resolve(name)`."""
    match statement:
        case Instruction(opcode, operands, guard, line):
            new_guard = Guard(Name(resolve(guard.predicate.text)), guard.negated) if guard else None
            return Instruction(opcode, tuple(renamed_operand(o, resolve) for o in operands), new_guard, line)
        case Label(name, line):
            return Label(resolve(name), line)
        case Directive(".branchtargets" | ".calltargets" as name, values, line):
            return Directive(name, tuple(map(resolve, values)), line)
        case Scope(body):
            return Scope(tuple(renamed_statement(s, resolve) for s in body))
        case Registers() | Declaration() | Directive() | Prototype():
            return statement


def renamed_operand(operand: Operand, resolve: Callable[[str], str]) -> Operand:
    """The operand with every name in it replaced by `resolve(name)`."""
    match operand:
        case Name(text):
            return Name(resolve(text))
        case Immediate():
            return operand
        case Sum(base, tail):
            new_base = Name(resolve(base.text)) if isinstance(base, Name) else base
            return Sum(new_base, tuple(Name(resolve(t.text)) if isinstance(t, Name) else t for t in tail))
        case Negated(name):
            return Negated(Name(resolve(name.text)))
        case Pair(first, second):
            return Pair(Name(resolve(first.text)), Name(resolve(second.text)))
        case Vector(parts):
            return Vector(tuple(renamed_operand(p, resolve) for p in parts))
        case Address(parts):
            return Address(tuple(renamed_operand(p, resolve) for p in parts))
        case Arguments(parts):
            return Arguments(tuple(renamed_operand(p, resolve) for p in parts))
