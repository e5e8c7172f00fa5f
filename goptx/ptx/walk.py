"""Walks over PTX: the statements of a body, the names that operands mention, names that are not taken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from goptx.ptx.ir import (
    Address,
    Arguments,
    Declaration,
    Directive,
    Element,
    Expression,
    Function,
    Immediate,
    Instruction,
    Label,
    Name,
    Negated,
    Operand,
    Pair,
    Registers,
    Scope,
    Statement,
    Sum,
    Variable,
    Vector,
)


def statements_in(body: Iterable[Statement]) -> Iterator[Statement]:
    """Every statement of a body and of the scopes within it."""
    for statement in body:
        yield statement
        if isinstance(statement, Scope):
            yield from statements_in(statement.body)


def mentioned(body: Iterable[Statement]) -> Iterator[str]:
    """The names in operands, initialisers and target lists of a body and its scopes."""
    for statement in statements_in(body):
        match statement:
            case Instruction():
                yield from [name.partition(".")[0] if "." in name else name for name in named_by(statement)]
            case Declaration(variable):
                yield from names_of(variable)
            case Directive(_, values):
                yield from values


def named_outside(function: Function) -> Iterator[str]:
    """The names in a function's body that stand for symbols of the module: those that no label, register or variable
    of the function hides there."""
    own = frozenset(p.name for p in (*function.parameters, *function.results))
    return _not_hidden(function.body or (), own)


def _not_hidden(body: Sequence[Statement], hidden: frozenset[str]) -> Iterator[str]:
    hidden |= {name for statement in body for name, _ in declared_by(statement)}
    for statement in body:
        if isinstance(statement, Scope):
            yield from _not_hidden(statement.body, hidden)
        else:
            yield from (name for name in mentioned((statement,)) if name not in hidden)


def declared_by(statement: object) -> Iterator[tuple[str, int | None]]:
    """The names that a statement declares as labels, registers and variables; of a range of registers its stem, with
    their number."""
    match statement:
        case Label(name):
            yield name, None
        case Declaration(variable):
            yield variable.name, None
        case Registers(_, names):
            yield from names


def names_of(variable: Variable) -> Iterator[str]:
    """The names in the variable's initialiser."""
    return (part.text for part in variable.init if isinstance(part, Name))


def operand_names(statements: Iterable[Statement]) -> list[str]:
    """The sorted names among the operands of instructions, including those in braces."""
    instructions = (s for s in statements_in(statements) if isinstance(s, Instruction))
    return sorted({name for i in instructions for name in named_by(i)})


def in_vectors(statements: Iterable[Statement]) -> frozenset[str]:
    """The names that are parts of vectors."""
    operands = (o for s in statements_in(statements) if isinstance(s, Instruction) for o in s.operands)
    return frozenset(n for o in operands if isinstance(o, Vector) for n in names_in(o))


def free_name(name: str, taken: set[str]) -> str:
    """The name, made longer until it is not among those taken. It is added to them."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def named_by(instruction: Instruction) -> tuple[str, ...]:
    """The names in the operands of an instruction, in order."""
    try:
        return instruction._names
    except AttributeError:
        names = tuple([name for operand in instruction.operands for name in names_in(operand)])
        object.__setattr__(instruction, "_names", names)
        return names


def names_in(operand: Operand) -> Sequence[str]:
    """Every name that an operand mentions; `_` is not a name."""
    match operand:
        case Name(text):  # the most frequent first: this runs for every operand of every kernel
            return (text,) if text != "_" else ()
        case Immediate():
            return ()
        case Vector(parts) | Address(parts) | Arguments(parts):
            return [n for part in parts for n in names_in(part)]
        case Sum(base, tail):
            own = (base.text,) if isinstance(base, Name) else ()
            return (*own, *[t.text for t in tail if isinstance(t, Name)])
        case Expression(pieces):
            return [piece.text for piece in pieces if isinstance(piece, Name)]
        case Element(array, index):
            return (array.text, *names_in(index))
        case Negated(name):
            return (name.text,)
        case Pair(first, second):
            return (*names_in(first), *names_in(second))


def instructions_of(entry: Function) -> Iterator[Instruction]:
    """In the order of the text."""
    return (s for s in statements_in(entry.body or ()) if isinstance(s, Instruction))
