"""Reads a kernel's code as steps, with one for each instruction and for each call with its parameters.

Requires: a parsed entry. Ensures: what is not known is refused, with its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from goptx.proof.code.called_functions import called, computed_before
from goptx.proof.code.kernel_code import CARRY, END, NOWHERE, NotProved, Program, Source, Step
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
    Vector,
    whole_number,
)
from goptx.ptx.opcodes import facts_of

_WHOLE = re.compile(r"(-?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)U?")
_UNROLLING = re.compile('"nounroll"')
_HINT = re.compile('"(nounroll|used_bytes_mask 0[xX][0-9a-fA-F]+)"')
_SIZED = frozenset("add sub mul mad fma div rem min max abs neg and or xor not shl shr mov selp setp".split())
_OTHER_CALL = "a call of a form that the checker does not know"
_TAIL = re.compile(r"([+-])\s*(0x[0-9a-fA-F]+|[0-9]+)U?$")


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
        if "ballot" in step.facts.modifiers and any(map(made.is_predicate, step.writes)):
            raise NotProved(step.line, f"`{step.statement}` writes a predicate")
        if wrong := [n for s in step.sources if s.negated for n in s.names if not made.is_predicate(n)]:
            raise NotProved(step.line, f"`{wrong[0]}` is not a predicate")
        if not _has_sizes(made, step):
            raise NotProved(step.line, f"`{step.statement}` has an operand of another size")
        names = (n.partition(".") for s in step.sources for n in s.names)
        if any(dot and made.type_of(stem) is not None for stem, dot, _ in names):
            raise NotProved(
                step.line, f"`{step.statement}` reads a part of a register, which the checker does not know"
            )
    return made


def _has_sizes(program: Program, step: Step) -> bool:
    """Whether registers are as large as the operation says. What is computed of numbers rests on that."""
    base, *words = step.opcode.split(".")
    if base not in _SIZED or not words[-1][1:].isdigit() or len(step.writes) != 1:
        return True
    bits = int(words[-1][1:])
    whole = 2 * bits if "wide" in words else bits
    sizes = [32 if base in ("shl", "shr") and k == 1 else whole if k == 2 else bits for k in range(3)]
    given = [(s.names[0], size) for s, size in zip(step.sources, sizes, strict=False) if s.text == "{}"]
    given += [] if step.facts.compares else [(step.writes[0], whole)]
    types = ((program.type_of(name) or "", size) for name, size in given)
    return all(type_ in ("", ".pred") or type_[2:] == str(size) for type_, size in types)


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
                last = ""
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
        if name not in labels or name in tables:
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
