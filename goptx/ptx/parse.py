"""Text to `Module`, through the parser that ANTLR made of grammar/Ptx.g4.

No parse tree is built: each rule's context becomes a value as its rule ends, in `READERS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from antlr4 import CommonTokenStream, InputStream, Lexer, Token
from antlr4.atn.PredictionMode import PredictionMode
from antlr4.error.ErrorListener import ErrorListener

from goptx.errors import InputError, PtxSyntaxError
from goptx.ptx.generated.PtxLexer import PtxLexer
from goptx.ptx.generated.PtxParser import PtxParser
from goptx.ptx.ir import (
    Address,
    Arguments,
    Declaration,
    Directive,
    Function,
    Guard,
    Immediate,
    Instruction,
    Item,
    Label,
    Module,
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


def read(source: str | bytes | Path | Module) -> Module:
    """The module of a path, of PTX text or of its bytes; a module is returned as it is.

    A `str` is text, never a path. Raises `InputError` where a file cannot be read and `PtxSyntaxError`
    where its text is not PTX.
    """
    if isinstance(source, Module):
        return source
    if isinstance(source, Path):
        try:
            return parse(source.read_bytes(), str(source))
        except OSError as error:
            raise InputError(f"{source}: cannot be read ({error.strerror}); give the path of a PTX file.") from None
    return parse(source)


def parse(text: str | bytes, source: str = "<ptx>") -> Module:
    """The module that `text` spells; `source` names it in messages. Raises `PtxSyntaxError`."""
    if isinstance(text, bytes):
        try:
            text = text.rstrip(b"\0").decode("utf-8")
        except UnicodeDecodeError as error:
            raise _binary(source, f"byte {error.start} is no UTF-8") from None
    if "\0" in text:
        raise _binary(source, f"byte {text.index(chr(0))} is zero")
    if not text.strip():
        raise PtxSyntaxError(f"{source}: the file is empty; expected PTX text that begins with `.version`.")
    listener = _Raise(source, [line.rstrip("\r") for line in text.split("\n")])
    lexer = PtxLexer(InputStream(text))
    lexer.removeErrorListeners()
    lexer.addErrorListener(listener)
    parser = PtxParser(CommonTokenStream(lexer))
    parser.removeErrorListeners()
    parser.addErrorListener(listener)
    parser.buildParseTrees = False
    parser._interp.predictionMode = PredictionMode.SLL
    parser.addParseListener(_Reader(listener))
    return _module(parser.module(), source, listener)


def _binary(source: str, reason: str) -> PtxSyntaxError:
    return PtxSyntaxError(
        f"{source}: not text ({reason}), so not PTX; a cubin or fat binary holds PTX only if it was built in: "
        "extract it with `cuobjdump -ptx`."
    )


DEEPEST = 300  # rules within rules; two make a scope. The parser recurses, and Python ends at 1,000 calls.


class _Raise(ErrorListener):
    """Turns the first complaint of lexer or parser into `PtxSyntaxError`."""

    def __init__(self, source: str, lines: Sequence[str]) -> None:
        self.source = source
        self.lines = lines
        self.raised = False

    def syntaxError(
        self, recognizer: Any, symbol: Any, line: int, column: int, message: str, error: Exception | None
    ) -> None:
        self.raised = True
        if isinstance(recognizer, Lexer):
            raise self.at(line, column, f"cannot read this here: {message}")
        found = "the end of the file" if symbol.type == Token.EOF else f"`{symbol.text}`"
        # ANTLR records more than the tokens that can follow; those of the present state say what is missing.
        wanted = sorted(_spelling(t) for i in recognizer.getExpectedTokens().intervals for t in i)
        cut = "; is the file cut off?" if symbol.type == Token.EOF else ""
        raise self.at(line, column, f"found {found}, expected {' or '.join(wanted)}{cut}")

    def at(self, line: int, column: int, problem: str) -> PtxSyntaxError:
        quoted = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        caret = re.sub(r"[^\t]", " ", quoted[:column]) + "^"
        shown = f"\n    {quoted}\n    {caret}" if quoted.strip() else ""
        return PtxSyntaxError(f"{self.source}:{line}:{column + 1}: {problem}{shown}")


def _spelling(token: int) -> str:
    if token == Token.EOF:
        return "the end of the file"
    literal = PtxParser.literalNames[token] if token < len(PtxParser.literalNames) else "<INVALID>"
    if literal != "<INVALID>":
        return f"`{str(literal)[1:-1]}`"
    words = {"NAME": "a name", "DOTTED": "a directive", "INTEGER": "a whole number", "FLOAT": "a number",
             "STRING": "a string", "LINKAGE": "`.visible`", "SPACE": "a state space"}  # fmt: skip
    symbolic = str(PtxParser.symbolicNames[token])
    return words.get(symbolic, symbolic)


class _Reader:
    """Parse listener that leaves each rule's value in `ctx.value` as the rule ends."""

    def __init__(self, errors: _Raise) -> None:
        self.errors = errors
        self.depth = 0

    def enterEveryRule(self, ctx: Any) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            self.errors.raised = True
            raise self.errors.at(ctx.start.line, ctx.start.column, "nested too deeply; split the expression or scope")

    def exitEveryRule(self, ctx: Any) -> None:
        self.depth -= 1
        if self.errors.raised:  # the rules that the error cuts off are left too, half read
            return
        reader = READERS.get(type(ctx))
        if reader is not None:
            ctx.value = reader(ctx)

    def visitTerminal(self, node: object) -> None:
        pass

    def visitErrorNode(self, node: object) -> None:
        pass


# From here on one reader a rule; `c` is the rule's context with the labels of the grammar.


def _values(contexts: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(c.value for c in contexts)


def _texts(tokens: Sequence[Any]) -> tuple[str, ...]:
    return tuple(t.text for t in tokens)


def _module(c: Any, source: str, listener: _Raise) -> Module:
    version: tuple[int, int] | None = None
    target: tuple[str, ...] | None = None
    address_size = 32  # the manual's default
    items: list[Item] = []
    lines: dict[str, int] = {}
    for item in c.items:
        lines.setdefault(item.start.text, item.start.line)
        match type(item):
            case PtxParser.VersionContext:
                major, dot, minor = item.number.text.partition(".")
                if not (major.isdigit() and dot and minor.isdigit()):
                    raise listener.at(
                        item.number.line,
                        item.number.column,
                        f"`{item.number.text}` is no PTX version such as 8.0",
                    )
                version = int(major), int(minor)
            case PtxParser.TargetContext:
                target = _texts(item.names)
            case PtxParser.AddressSizeContext:
                address_size = whole_number(item.bits.text)
            case _:
                items.append(item.value)
        if version is None:
            raise listener.at(item.start.line, item.start.column, "expected `.version` before anything else")
    if version is None or target is None:
        missing = ".version" if version is None else ".target"
        raise listener.at(max(len(listener.lines), 1), 0, f"the module has no `{missing}`; is the file cut off?")
    return Module(version, target, address_size, tuple(items), source, lines)


def _symbol(c: Any) -> Item:
    item: Variable | Function = (c.of.of_variable or c.of.of_entry or c.of.of_function).value
    linkage = _texts(c.linkage)
    if isinstance(item, Variable):
        return Variable(item.space, item.qualifiers, item.name, item.dims, item.init, linkage, item.line)
    return Function(item.kind, item.name, item.parameters, item.results, item.directives, item.body, linkage, item.line)


def _entry(c: Any) -> Function:
    return Function(
        ".entry", c.name.text, _values(c.params), (), _values(c.directives), _body(c.body), (), c.start.line
    )


def _function(c: Any) -> Function:
    directives = tuple(Directive(t.text, (), t.line) for t in c.before) + _values(c.directives)
    return Function(
        ".func",
        c.name.text,
        _values(c.params),
        _values(c.results),
        directives,
        _body(c.body),
        (),
        c.start.line,
    )


def _body(c: Any | None) -> tuple[Statement, ...] | None:
    return None if c is None else c.value


def _block(c: Any) -> tuple[Statement, ...]:
    return tuple(statement for s in c.statements for statement in s.value)


def _named(c: Any) -> tuple[Statement, ...]:
    if c.colon is not None:
        return (Label(c.name.text, c.name.line),)
    return (Instruction(c.name.text, _values(c.operands), None, c.name.line),)


def _guarded(c: Any) -> tuple[Statement, ...]:
    guard = Guard(Name(c.guard.text), c.negated is not None)
    return (Instruction(c.opcode.text, _values(c.operands), guard, c.opcode.line),)


def _local(c: Any) -> tuple[Statement, ...]:
    v = c.of.value
    return (Declaration(Variable(v.space, v.qualifiers, v.name, v.dims, v.init, _texts(c.linkage), v.line)),)


def _location(c: Any) -> tuple[Statement, ...]:
    where = " ".join(_texts(c.where)) + "".join(f", {w.value}" for w in c.words)
    return (Directive(".loc", (where,), c.start.line),)


def _location_word(c: Any) -> str:
    where = c.name.text + (f"+{c.offset.text}" if c.offset else "") if c.name else " ".join(_texts(c.where))
    return f"{c.word.text} {where}"


def _file(c: Any) -> Directive:
    stamp = f", {c.stamp.text}, {c.size.text}" if c.stamp else ""
    return Directive(".file", (c.index.text, c.path.text + stamp), c.start.line)


def _variable(c: Any) -> Variable:
    name = c.name.text if c.name else ""
    init = c.init.value if c.init else ()
    return Variable(c.space.text, _values(c.qualifiers), name, _values(c.dims), init, (), c.start.line)


def _qualifier(c: Any) -> str:
    if c.word:
        return str(c.word.text)
    return f".align {c.bytes.text}" if c.bytes else f".attribute({', '.join(_values(c.attributes))})"


def _attribute(c: Any) -> str:
    return str(c.name.text) + (f"({', '.join(_texts(c.values))})" if c.values else "")


def _initializer(c: Any) -> tuple[Name | str, ...]:
    if c.of:
        return tuple(c.of.value)
    parts: list[Name | str] = ["{"]
    for i, part in enumerate(c.parts):
        parts += [", ", *part.value] if i else part.value
    return (*parts, "}")


def _expression(c: Any) -> tuple[Name | str, ...]:
    parts: list[Name | str] = list(c.first.value)
    for t in c.tail:
        parts += [t.operator.text, *t.term_.value]
    return tuple(parts)


def _expression_term(c: Any) -> tuple[Name | str, ...]:
    if c.nested:
        return ("(", *c.nested.value, ")")
    if c.name:
        inner = ("(", *c.inner.value, ")") if c.inner else ()
        return (Name(c.name.text), *inner)
    masked = ("(", *c.masked.value, ")") if c.masked else ()
    return ((c.sign.text if c.sign else "") + c.of.text, *masked)


def _symbolic(c: Any) -> Operand:
    first = Name(c.first.text)
    if c.other:
        return Pair(first, Name(c.other.text))
    return Sum(first, _tail(c.tail)) if c.tail else first


def _tail(terms: Sequence[Any]) -> tuple[Name | str, ...]:
    parts: list[Name | str] = []
    for t in terms:
        named = t.of_term.of.type == PtxParser.NAME
        parts.append(t.operator.text + (t.of_term.sign.text if t.of_term.sign else ""))
        parts.append(Name(t.of_term.of.text) if named else t.of_term.of.text)
    return tuple(parts)


def _literal(c: Any) -> Operand:
    number = (c.number.sign.text if c.number.sign else "") + c.number.number.text
    tail = _tail(c.tail)
    if any(isinstance(part, Name) for part in tail):
        return Sum(Immediate(number), tail)
    return Immediate(number + "".join(map(str, tail)))


def _directives(name: str) -> Callable[[Any], tuple[Statement, ...]]:
    return lambda c: (Directive(name, _texts(c.names), c.start.line),)


def _pragma(c: Any) -> tuple[Statement, ...]:
    return (Directive(".pragma", _texts(c.texts), c.start.line),)


def _directive(c: Any) -> Directive:
    if c.texts:
        return _pragma(c)[0]  # type: ignore[return-value]
    return Directive(c.name.text, _texts(c.values), c.start.line)


def _prototype(c: Any) -> tuple[Statement, ...]:
    return (Prototype(_values(c.results), c.name.text, _values(c.params), _values(c.directives)),)


P = PtxParser
READERS: dict[type, Callable[[Any], Any]] = {
    P.FileContext: _file,
    P.SectionContext: lambda c: Section(c.name.text, tuple(w.word.text for w in c.words)),
    P.ModulePragmaContext: lambda c: _pragma(c)[0],
    P.AliasContext: lambda c: Directive(".alias", _texts(c.names), c.start.line),
    P.SymbolContext: _symbol,
    P.EntryContext: _entry,
    P.FunctionContext: _function,
    P.DirectiveContext: _directive,
    P.VariableContext: _variable,
    P.QualifierContext: _qualifier,
    P.AttributeContext: _attribute,
    P.DimensionContext: lambda c: c.size.text if c.size else "",
    P.InitializerContext: _initializer,
    P.BlockContext: _block,
    P.NamedContext: _named,
    P.GuardedContext: _guarded,
    P.RegistersContext: lambda c: (Registers(_texts(c.types), _values(c.registers)),),
    P.LocalContext: _local,
    P.ScopeContext: lambda c: (Scope(c.of_block.value),),
    P.LocationContext: _location,
    P.LocationWordContext: _location_word,
    P.PragmaContext: _pragma,
    P.BranchTargetsContext: _directives(".branchtargets"),
    P.CallTargetsContext: _directives(".calltargets"),
    P.CallPrototypeContext: _prototype,
    P.RegisterNameContext: lambda c: (c.name.text, whole_number(c.count.text) if c.count else None),
    P.VectorContext: lambda c: Vector(_values(c.parts)),
    P.AddressContext: lambda c: Address(_values(c.parts)),
    P.TupleContext: lambda c: Arguments(_values(c.parts)),
    P.NegatedContext: lambda c: Negated(Name(c.name.text)),
    P.SymbolicContext: _symbolic,
    P.LiteralContext: _literal,
    P.ExpressionContext: _expression,
    P.ExpressionTermContext: _expression_term,
}
