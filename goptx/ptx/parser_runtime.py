"""ANTLR's parser of PTX on a light runtime: one token of lookahead, no recovery, no parse tree.

Requires: an LL(1) grammar, so that no prediction is ever needed (tests/ptx/test_grammar.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from antlr4 import Token as AntlrToken

from goptx.errors import PtxSyntaxError
from goptx.ptx.generated.PtxParser import PtxParser
from goptx.ptx.tokens import OPEN, Token, tokens

MOST = 1 << 16  # variables and labels of a module that are declared as `x<...>`
WIDEST = 160  # columns of a line that a message shows
DEEPEST = 150  # nested rules; a scope takes two. Reading and printing recurse, and Python allows 1,000 calls.


class Refused(Exception):
    """Something that the grammar allows and PTX does not. A reader raises it for the token at fault."""

    def __init__(self, token: Token, problem: str) -> None:
        super().__init__(problem)
        self.token = token


class Parser(PtxParser):  # type: ignore[misc]
    """ANTLR's parser of PTX, which ends at the first error and turns each rule into its value as the rule ends.

    It is its own token stream, with one token of lookahead, and its own error strategy. Except for recovery and the
    parse tree, the methods that it replaces do the same as those of ANTLR's runtime.
    """

    state = -1  # its position in the grammar; the generated code sets it

    def __init__(self, text: str, source: str, readers: Mapping[Any, Callable[[Any], Any]]) -> None:
        """`readers`: by type of a rule, what gives its value; by type of a token, what makes of its text an operand."""
        super().__init__(None)
        self._input = self._errHandler = self
        self.text = text
        self.source = source
        self.readers = readers
        self.following = tokens(text).__next__
        self.advance = self.following
        self.returned: Token | None = None
        self.token = self.advance()
        self.depth = 0
        self.spelled_out = 0
        self.failed = False

    # As token stream.

    def LA(self, _: int) -> int:
        return self.token.type

    def LT(self, _: int) -> Token:
        return self.token

    # As parser.

    def match(self, type: int) -> Token:
        token = self.token
        if token.type != type:
            self.refuse()
        if type != EOF:
            self.token = self.advance()
        return token

    def consume(self) -> None:
        self.token = self.advance()

    def enterRule(self, rule: Any, state: int, _: int) -> None:
        self.state = state
        self._ctx = rule
        rule.start = self.token
        self.depth += 1
        if self.depth > DEEPEST:
            self.failed = True
            raise self.at(self.token, "nested too deeply; split the expression or scope")

    def enterOuterAlt(self, rule: Any, _: int) -> None:
        self._ctx = rule

    def exitRule(self) -> None:
        if self.failed:  # the parser also leaves the rules that the error interrupts
            return
        self.depth -= 1
        rule = self._ctx
        reader = self.readers.get(type(rule))
        if reader is not None:
            try:
                rule.value = reader(rule)
            except Refused as refused:
                self.failed = True
                raise self.at(refused.token, str(refused)) from None
            rule.__dict__.clear()  # releases the parts of the rule
        self.state = rule.invokingState
        self._ctx = rule.parentCtx

    def operand(self) -> Any:
        """A name or number that is all of an operand, as in most instructions, is read without a rule of its own."""
        read = self.readers.get(self.token.type)
        if read is not None and self.depth < DEEPEST:
            token = self.token
            self.token = self.advance()
            if self.token.type in _AFTER_OPERAND:
                return read(token.text)
            self.returned, self.token = self.token, token
            self.advance = self._advance_to_returned
        return super().operand()

    def _advance_to_returned(self) -> Token:
        """The token that was taken, and returned, by `operand`."""
        assert self.returned is not None
        self.advance = self.following
        return self.returned

    # As error strategy.

    def sync(self, _: object) -> None:
        if self.token.type not in _NEXT[self.state]:
            self.refuse()

    def reportMatch(self, _: object) -> None:
        pass

    def recoverInline(self, _: object) -> None:
        self.refuse()

    def reportError(self, _: object, error: Exception) -> None:
        self.refuse()

    def refuse(self) -> NoReturn:
        """Raises the error that the current token cannot stand here."""
        self.failed = True
        if self.token.text == OPEN:
            raise self.at(self.token, "this comment has no end")
        at_end = self.token.type == EOF
        found = "the end of the file" if at_end else f"`{_clipped(self.token.text, 40)}`"
        wanted = {t for i in self.getExpectedTokens().intervals for t in i}
        cut = "; is the file cut off?" if at_end else ""
        raise self.at(self.token, f"found {found}, expected {_alternatives(wanted)}{cut}")

    def several(self, token: Token, amount: int) -> range:
        """The numbers that `x<amount>` stands for. A limit prevents short text from exhausting memory."""
        self.spelled_out += amount
        if self.spelled_out > MOST:
            raise Refused(token, f"more than {MOST} names of the form `x<...>`; spell out those in use")
        return range(amount)

    def at(self, token: Token, problem: str) -> PtxSyntaxError:
        quoted = self.text.split("\n")[token.line - 1].rstrip("\r")
        left = max(0, token.column - WIDEST // 2) if len(quoted) > WIDEST else 0
        quoted = _clipped(("..." if left else "") + quoted[left:], WIDEST)
        caret = re.sub(r"[^\t]", " ", quoted[: token.column - left + (3 if left else 0)]) + "^"
        excerpt = f"\n    {quoted}\n    {caret}" if quoted.strip() else ""
        return PtxSyntaxError(f"{self.source}:{token.line}:{token.column + 1}: {problem}{excerpt}")


class _Next(dict[int, frozenset[int]]):
    """The token types that may come at a state of the grammar; all of them where the rule may end there."""

    def __missing__(self, state: int) -> frozenset[int]:
        intervals = PtxParser.atn.nextTokens(PtxParser.atn.states[state]).intervals
        types = frozenset(type for interval in intervals for type in interval)
        self[state] = found = _ALL if AntlrToken.EPSILON in types else types
        return found


EOF = AntlrToken.EOF
_AFTER_OPERAND = frozenset(PtxParser.literalNames.index(f"'{c}'") for c in ",;]})")
_ALL = frozenset(range(EOF, PtxParser.atn.maxTokenType + 1))
_NEXT = _Next()


def _clipped(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[:width]}..."


def _spelling(token: int) -> str:
    if token == EOF:
        return "the end of the file"
    literal = PtxParser.literalNames[token] if token < len(PtxParser.literalNames) else "<INVALID>"
    if literal != "<INVALID>":
        return f"`{str(literal)[1:-1]}`"
    words = {"NAME": "a name", "DOTTED": "a directive", "INTEGER": "a whole number", "FLOAT": "a number",
             "STRING": "a string", "LINKAGE": "`.visible`", "SPACE": "a state space", "DWARF": "`@@DWARF`",
             "SOURCES": "`.nv_intermediate_source_section`"}  # fmt: skip
    symbolic = str(PtxParser.symbolicNames[token])
    return words.get(symbolic, symbolic)


# One word stands for a whole set of alternatives.
_TOGETHER = {
    "an operator": {f"`{o}`" for o in "+ - * / % << >> < > <= >= == != & | ^ && || ? :".split()},
    "a declaration": {"a state space"}
    | {f"`{w}`" for w in ".align .attribute .entry .func .visible .reg .alias .file .section @@DWARF .pragma".split()}
    | {"`.version`", "`.target`", "`.address_size`", "`.nv_intermediate_source_section`"},
    "a statement": {"a name", "a state space", "`.loc_intermediate`"}
    | {
        f"`{w}`"
        for w in ".align .attribute .branchtargets .callprototype .calltargets .loc .pragma .reg .visible @ {".split()
    },
    "a modifier": {"`.alias`", "`.visible`", "a directive", "a state space"},
    "an operand": {"`!`", "`(`", "`+`", "`-`", "`[`", "`{`", "`~`", "a name", "a number", "a whole number"},
}


def _alternatives(tokens: set[int]) -> str:
    spellings = {_spelling(t) for t in tokens}
    for together, members in _TOGETHER.items():
        if members <= spellings:
            spellings = spellings - members | {together}
    return " or ".join(sorted(spellings))
