"""What each rule of the grammar becomes: one reader for each rule, in `READERS`.

Requires: `c`, the rule's context with the labels of grammar/Ptx.g4, whose inner rules are read already (`value`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from goptx.ptx.generated.PtxParser import PtxParser
from goptx.ptx.ir import (
    Address,
    Arguments,
    Declaration,
    Directive,
    Element,
    Expression,
    Function,
    Guard,
    Immediate,
    Instruction,
    Item,
    Label,
    Name,
    Negated,
    Operand,
    Pair,
    Prototype,
    Registers,
    Scope,
    Section,
    Statement,
    Sum,
    Variable,
    Vector,
    whole_number,
)
from goptx.ptx.parser_runtime import Refused

Parts = tuple[Name | str, ...]  # of an expression, as written
LONGEST = 1000  # characters of a number, of which 64 bits take 67, or of an opcode, of which the longest take 150
_name = lru_cache(maxsize=1 << 16)(Name)  # most operands repeat a name
_REMAINDER = "% "  # the operator; `7%2` would be read as a number and the name of a register


def _texts(tokens: Sequence[Any]) -> tuple[str, ...]:
    return tuple([t.text for t in tokens])


def _number(token: Any) -> str:
    """The text of a number. Raises `Refused` where it is longer than any number of PTX."""
    text = str(token.text)
    if len(text) > LONGEST:
        raise Refused(token, f"a number of {len(text)} digits; PTX has 64 bits")
    return text


def _values(contexts: Sequence[Any]) -> tuple[Any, ...]:
    return tuple([c.value for c in contexts])


def _numbers(tokens: Sequence[Any]) -> tuple[str, ...]:
    return tuple([_number(t) for t in tokens])


def _joined(lists: Sequence[Any]) -> tuple[Any, ...]:
    return tuple([each for c in lists for each in c.value])


# Module -------------------------------------------------------------------------------------------------


def _version(c: Any) -> tuple[int, int]:
    major, dot, minor = str(c.number.text).partition(".")
    if not (major.isdigit() and dot and minor.isdigit() and len(c.number.text) < 10):
        raise Refused(c.number, f"`{c.number.text[:40]}` is not a PTX version such as 8.0")
    return int(major), int(minor)


def _address_size(c: Any) -> int:
    bits = whole_number(_number(c.bits))
    if bits not in (32, 64):
        raise Refused(c.bits, f"addresses of {bits} bits; PTX has 32 or 64")
    return bits


def _symbol(c: Any) -> tuple[Item, ...]:
    linkage = _texts(c.linkage)
    items: tuple[Variable | Function, ...] = c.of.value
    return tuple([replace(item, linkage=linkage) for item in items]) if linkage else items


def _linked(c: Any) -> tuple[Variable | Function, ...]:
    return tuple(c.of_variables.value) if c.of_variables else ((c.of_entry or c.of_function).value,)


def _file(c: Any) -> tuple[Item, ...]:
    stamp = f", {_number(c.stamp)}, {_number(c.size)}" if c.stamp else ""
    return (Directive(".file", (_number(c.index), c.path.text + stamp), c.start.line),)


def _dwarf(c: Any) -> tuple[Item, ...]:
    return (Directive("@@DWARF", (c.line.text.removeprefix("@@DWARF").strip(),), c.start.line),)


def _sources_section(c: Any) -> tuple[Item, ...]:
    name, brace, text = str(c.text.text).partition("{")
    return (Directive(name.strip(), (brace + text,), c.start.line),)


def _entry(c: Any) -> Function:
    directives, body = _values(c.directives), _body(c.body)
    return Function(".entry", c.name.text, _values(c.params), (), directives, body, (), c.start.line)


def _function(c: Any) -> Function:
    directives, body = _values(c.before) + _values(c.directives), _body(c.body)
    parameters, results = _values(c.params), _values(c.results)
    return Function(".func", c.name.text, parameters, results, directives, body, (), c.start.line)


def _body(c: Any | None) -> tuple[Statement, ...] | None:
    return None if c is None else c.value


def _directive(c: Any) -> Directive:
    return c.of.value if c.of else Directive(".pragma", _texts(c.texts), c.start.line)


def _setting(c: Any) -> Directive:
    quoted = next((v for v in c.values if v.type == PtxParser.STRING), None)
    if quoted is not None and c.name.text != ".language":
        raise Refused(quoted, f"`{c.name.text}` of {quoted.text[:40]}; give numbers")
    values = _numbers(c.values)
    dimensions = _DIMENSIONS.get(c.name.text)
    if dimensions is not None and not 1 <= len(values) <= dimensions:
        most = "one number" if dimensions == 1 else f"one to {dimensions} numbers"
        raise Refused(c.name, f"`{c.name.text}` with {len(values)} numbers; give {most}")
    if dimensions is not None and (wrong := next((v for v in c.values if not _is_extent(c.name.text, v.text)), None)):
        raise Refused(wrong, f"`{c.name.text}` of {wrong.text}; give a number from 1 to {_LARGEST}")
    return Directive(c.name.text, values, c.start.line)


# The most numbers of directives about launches.
_DIMENSIONS = {".reqntid": 3, ".maxntid": 3, ".reqnctapercluster": 3, ".maxnreg": 1, ".minnctapersm": 1}
_DIMENSIONS |= {".maxnctapersm": 1, ".maxclusterrank": 1}
_MAY_BE_ZERO = (".reqnctapercluster", ".maxclusterrank")
_LARGEST = (1 << 32) - 1


def _is_extent(directive: str, number: str) -> bool:
    return (0 if directive in _MAY_BE_ZERO else 1) <= whole_number(number) <= _LARGEST


# Variables ----------------------------------------------------------------------------------------------


def _variables(c: Any) -> tuple[Variable, ...]:
    before = c.of or c.aligned
    qualifiers = ((before.value,) if before else ()) + _values(c.qualifiers)
    return tuple(
        [
            Variable(c.space.text, qualifiers, name, dims, init, (), c.start.line)
            for declarator in c.declared
            for name, dims, init in declarator.value
        ]
    )


def _parameter(c: Any) -> Variable:
    declared = c.of.value if c.of else (("", (), ()),)
    if len(declared) != 1:
        raise Refused(c.start, "a parameter has one name")
    name, dims, init = declared[0]
    qualifiers = ((c.aligned.value,) if c.aligned else ()) + _values(c.qualifiers)
    return Variable(c.space.text, qualifiers, name, dims, init, (), c.start.line)


def _declarator(c: Any) -> tuple[tuple[str, tuple[str, ...], Parts], ...]:
    dims, init = _values(c.dims), c.init.value if c.init else ()
    return tuple([(name, dims, init) for name in _names(c)])


def _names(c: Any) -> list[str]:
    """The names that `x` or `x<4>` declares."""
    if c.count is None:
        return [c.name.text]
    return [f"{c.name.text}{i}" for i in c.parser.several(c.count, whole_number(_number(c.count)))]


def _qualifier(c: Any) -> str:
    if c.word:
        return str(c.word.text)
    return str((c.aligned or c.of).value)


def _dimension(c: Any) -> str:
    if c.size is None:
        return ""
    if c.size.text == "WARP_SZ":
        return "32"  # on every architecture
    if not c.size.text[0].isdigit():
        raise Refused(c.size, f"`{c.size.text[:40]}` is not the size of an array; give a whole number")
    return _number(c.size)


def _attributes(c: Any) -> str:
    return f".attribute({', '.join(_values(c.each))})"


def _attribute(c: Any) -> str:
    return str(c.name.text) + (f"({', '.join(_numbers(c.values))})" if c.values else "")


def _initializer(c: Any) -> Parts:
    if c.value_:  # a field of a sampler: its words are not names of the module
        return (*map(str, c.of.value), " = ", *map(str, c.value_.value))
    if c.of:
        return tuple(c.of.value)
    parts: list[Name | str] = ["{"]
    for i, part in enumerate(c.parts):
        parts += [", ", *part.value] if i else part.value
    return (*parts, "}")


# Statements ---------------------------------------------------------------------------------------------


def _block(c: Any) -> tuple[Statement, ...]:
    return _joined(c.statements)


def _named(c: Any) -> tuple[Statement, ...]:
    name = c.name
    if c.colon is not None:
        return (Label(name.text, name.line),)
    return (Instruction(_opcode(name, c.words), _values(c.operands), None, name.line),)


def _guarded(c: Any) -> tuple[Statement, ...]:
    guard = Guard(Name(c.guard.text), c.negated is not None)
    return (Instruction(_opcode(c.name, c.words), _values(c.operands), guard, c.name.line),)


def _opcode(name: Any, words: Sequence[Any]) -> str:
    """Raises `Refused` where it is longer than any opcode of PTX."""
    opcode = name.text + "".join(_texts(words)) if words else name.text
    if len(opcode) > LONGEST:
        raise Refused(name, f"an opcode of {len(opcode)} characters; PTX has none of more than {LONGEST}")
    return str(opcode)


def _registers(c: Any) -> tuple[Registers, ...]:
    names = [(n.name.text, whole_number(_number(n.count)) if n.count else None) for n in c.names]
    return (Registers(_texts(c.types), tuple(names), c.start.line),)


def _local(c: Any) -> tuple[Statement, ...]:
    linkage = _texts(c.linkage)
    return tuple([Declaration(replace(v, linkage=linkage) if linkage else v) for v in c.of.value])


def _location(c: Any) -> tuple[Statement, ...]:
    where = " ".join(_numbers(c.where)) + "".join(f", {w.value}" for w in c.words)
    return (Directive(".loc", (where,), c.start.line),)


def _intermediate_location(c: Any) -> tuple[Statement, ...]:
    return (Directive(".loc_intermediate", (" ".join(_numbers(c.where)),), c.start.line),)


def _location_word(c: Any) -> str:
    where = c.name.text + (f"+{_number(c.offset)}" if c.offset else "") if c.name else " ".join(_numbers(c.where))
    return f"{c.word.text} {where}"


def _pragma(c: Any) -> tuple[Directive, ...]:
    return (Directive(".pragma", _texts(c.texts), c.start.line),)


def _targets(name: str) -> Callable[[Any], tuple[Statement, ...]]:
    return lambda c: (Directive(name, tuple([x for n in c.names for x in _names(n)]), c.start.line),)


def _prototype(c: Any) -> tuple[Statement, ...]:
    results, parameters = _values(c.results), _values(c.params)
    return (Prototype(results, c.name.text, parameters, _values(c.directives), c.start.line),)


# Operands -----------------------------------------------------------------------------------------------


def _vector(c: Any) -> Operand:
    vector = Vector(_values(c.parts))
    return Pair(vector, Name(c.other.text)) if c.other else vector


def _tuple(c: Any) -> Operand:
    if c.cast:
        return _expression((f"({c.cast.text})", *_parts(c.of)))
    parts: tuple[Operand, ...] = _values(c.parts)
    if not c.tail and (len(parts) != 1 or _is_call(c.parentCtx)):
        return Arguments(parts)
    if len(parts) != 1:
        raise Refused(c.start, "a list cannot stand in an expression")
    return _expression(("(", *_parts(c.parts[0]), ")", *_joined(c.tail)))


def _is_call(c: Any) -> bool:
    return isinstance(c, PtxParser.NamedContext | PtxParser.GuardedContext) and c.name.text.partition(".")[0] == "call"


class Single:
    """An operand that is one token, in place of its rule's context."""

    __slots__ = ("value",)

    def __init__(self, value: Operand) -> None:
        self.value = value


@lru_cache(maxsize=1 << 16)
def _single_name(text: str) -> Single:
    return Single(_name(text))


def _symbolic(c: Any) -> Operand:
    first = _name(c.first.text)
    if c.index:
        return Element(first, c.index.value)
    if not c.tail:
        return first
    tail: Parts = _joined(c.tail)
    if len(tail) == 2 and tail[0] == "|" and isinstance(tail[1], Name):
        return Pair(first, tail[1])
    return Sum(first, _merged(tail))


def _signed(c: Any) -> Operand:
    sign, of = c.sign.text, c.of.value
    return Negated(of) if sign == "!" and isinstance(of, Name) else _expression((sign, *_parts(c.of)))


def _literal(c: Any) -> Operand:
    first = _number(c.number)
    if not c.tail:
        return Immediate(first)
    tail: Parts = _joined(c.tail)
    if any(isinstance(part, Name) for part in tail):
        return Sum(Immediate(first), _merged(tail))
    return Immediate(first + "".join(map(str, tail)))


def _expression(parts: Parts) -> Immediate | Expression:
    if any(isinstance(part, Name) for part in parts):
        return Expression(_merged(parts))
    return Immediate("".join(map(str, parts)))


def _merged(parts: Parts) -> Parts:
    """The parts, with the texts between two names joined into one."""
    merged: list[Name | str] = []
    for part in parts:
        if merged and isinstance(part, str) and isinstance(merged[-1], str):
            merged[-1] += part
        else:
            merged.append(part)
    return tuple(merged)


def _parts(c: Any) -> Parts:
    """An operand within an expression as parts, as written."""
    match c.value:
        case Name() as name:
            return (name,)
        case Immediate(text):
            return (text,)
        case Negated(name):
            return ("!", name)
        case Sum(base, tail):
            return (base if isinstance(base, Name) else base.text, *tail)
        case Expression(pieces):
            return pieces
    raise Refused(c.start, f"`{str(c.value)[:40]}` cannot stand in an expression")


def _tail(c: Any) -> Parts:
    operator = c.operator.text
    return (_REMAINDER if operator == "%" else operator, *c.of.value)


def _term(c: Any) -> Parts:
    signs = "".join(_texts(c.signs)) if c.signs else ""
    if c.nested:
        return (f"{signs}(", *c.nested.value, ")")
    if c.cast:
        return (f"{signs}({c.cast.text})", *c.casted.value)
    inner = ("(", *c.inner.value, ")") if c.inner else ()
    if c.name:
        return (signs, Name(c.name.text), *inner) if signs else (Name(c.name.text), *inner)
    return (signs + _number(c.of), *inner)


P = PtxParser
READERS: dict[Any, Callable[[Any], Any]] = {
    P.VersionContext: _version,
    P.TargetContext: lambda c: _texts(c.names),
    P.AddressSizeContext: _address_size,
    P.FileContext: _file,
    P.SectionContext: lambda c: (Section(c.name.text, _texts([w.word for w in c.words])),),
    P.DwarfContext: _dwarf,
    P.SourcesContext: _sources_section,
    P.ModulePragmaContext: _pragma,
    P.AliasContext: lambda c: (Directive(".alias", _texts(c.names), c.start.line),),
    P.ModuleRegistersContext: lambda c: c.of.value,
    P.SymbolContext: _symbol,
    P.LinkedContext: _linked,
    P.EntryContext: _entry,
    P.FunctionContext: _function,
    P.MarkingContext: lambda c: Directive(c.word.text if c.word else c.of.value, (), c.start.line),
    P.DirectiveContext: _directive,
    P.SettingContext: _setting,
    P.VariablesContext: _variables,
    P.ParameterContext: _parameter,
    P.DeclaratorContext: _declarator,
    P.QualifierContext: _qualifier,
    P.AttributesContext: _attributes,
    P.AttributeContext: _attribute,
    P.AlignmentContext: lambda c: f".align {_number(c.bytes_)}",
    P.DimensionContext: _dimension,
    P.InitializerContext: _initializer,
    P.BlockContext: _block,
    P.NamedContext: _named,
    P.GuardedContext: _guarded,
    P.LocalRegistersContext: lambda c: c.of.value,
    P.RegistersContext: _registers,
    P.LocalContext: _local,
    P.ScopeContext: lambda c: (Scope(c.of_block.value),),
    P.LocationContext: _location,
    P.IntermediateLocationContext: _intermediate_location,
    P.LocationWordContext: _location_word,
    P.PragmaContext: _pragma,
    P.BranchTargetsContext: _targets(".branchtargets"),
    P.CallTargetsContext: _targets(".calltargets"),
    P.CallPrototypeContext: _prototype,
    P.VectorContext: _vector,
    P.AddressContext: lambda c: Address(_values(c.parts)),
    P.TupleContext: _tuple,
    P.SymbolicContext: _symbolic,
    P.NAME: _single_name,
    P.SignedContext: _signed,
    P.LiteralContext: _literal,
    P.ExpressionContext: lambda c: (*c.first.value, *_joined(c.tail)),
    P.ExpressionTailContext: _tail,
    P.ExpressionTermContext: _term,
}
