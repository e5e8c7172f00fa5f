"""Cuts PTX text into the tokens of grammar/Ptx.g4, with one regular expression.

Accepts any text: a character that begins no token becomes one of type OTHER. The generated lexer makes the same tokens
in ten times the time (benchmarks/parse_runtime.py); tests/ptx/test_tokens.py compares the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate, chain, compress, repeat, starmap

from antlr4 import Token as AntlrToken

from goptx.ptx.generated.PtxParser import PtxParser

OPEN = "/*"  # text of the token for an unterminated comment and everything after it


class Token:
    """The interface that ANTLR's parser needs of a token: its type as `PtxParser` numbers them, text and position.

    `start` and `column` count characters from 0, `line` counts from 1.
    """

    __slots__ = ("line", "source", "start", "text", "type")

    def __init__(self, kind: tuple[int, str], start: int, line: int, source: str) -> None:
        self.type, self.text = kind
        self.start = start
        self.line = line
        self.source = source

    @property
    def column(self) -> int:
        return self.start - (self.source.rfind("\n", 0, self.start) + 1)


def tokens(text: str) -> Iterator[Token]:
    """The tokens of `text` in order, made on demand; the last is of type EOF and has no text."""
    pieces = _PIECE.findall(text)
    kinds = list(map(_Kinds().__getitem__, pieces))
    starts = accumulate(map(len, pieces), initial=0)
    lines = accumulate(map(str.count, pieces, repeat("\n")), initial=1)
    significant = compress(zip(kinds, starts, lines, repeat(text), strict=False), kinds)
    end = Token((AntlrToken.EOF, ""), len(text), 1 + text.count("\n"), text)
    return chain(starmap(Token, significant), (end,))


class _Kinds(dict[str, tuple[int, str] | None]):
    """Maps a piece of text, with the blanks after it, to the type and text of its token, or None where it is skipped.

    A cache: most pieces occur many times.
    """

    def __missing__(self, piece: str) -> tuple[int, str] | None:
        match = _PIECE_BY_RULE.fullmatch(piece)
        assert match is not None and match.lastgroup is not None
        rule, text = match.lastgroup, match[match.lastgroup]
        if rule == "OTHER" and text.startswith(OPEN):
            text = OPEN
        type = _FIXED.get(text) or getattr(PtxParser, rule)
        self[piece] = kind = None if rule in _SKIPPED else (type, text)
        return kind


_FIXED = {str(spelled)[1:-1]: i for i, spelled in enumerate(PtxParser.literalNames) if spelled != "<INVALID>"}
_FIXED |= dict.fromkeys(".visible .extern .weak .common".split(), PtxParser.LINKAGE)
_FIXED |= dict.fromkeys(".global .shared .const .local .param .tex .sreg".split(), PtxParser.SPACE)

_BLANKS = r"[ \t\r\n\f\v]*"
_RATIO = "::[0-9]+:[0-9]+"  # of a sparse vector: `.sp::2:4`
_CODE_BLOCK = rf"{_BLANKS}\.code_block{_BLANKS}\{{.*?\.source_end{_BLANKS}\}}"

# ANTLR's lexer takes the longest match, a regular expression the first: so each rule is greedy, and where two rules
# share a beginning the longer comes first.
_RULES = {
    "NAME": rf"[a-zA-Z_$%][a-zA-Z0-9_$]*(?:\.const\[[0-9]+\]|{_RATIO}|(?:\.|::)[a-zA-Z0-9_$]+)*",
    "SPACE": r"\.const\[[0-9]+\]",
    "SOURCES": rf"\.nv_intermediate_source_section{_BLANKS}\{{(?:{_CODE_BLOCK})*{_BLANKS}\}}",
    "DOTTED": rf"\.(?:[a-zA-Z_]|[0-9]+(?:[dx]|byte))[a-zA-Z0-9_$]*(?:{_RATIO}|::[a-zA-Z0-9_$]+)*",
    "FLOAT": r"0[fFdD][0-9a-fA-F]+|(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+",
    "INTEGER": r"(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)U?",
    "STRING": r'"[^"\r\n]*"',
    "DWARF": r"@@DWARF[^\r\n]*",
    "LINE_COMMENT": r"//[^\r\n]*",
    "BLOCK_COMMENT": r"/\*.*?\*/",
    "LINE_MARK": r"#[ \t]*(?:line[ \t]+)?[0-9][^\r\n]*",
    "SPACES": r"[ \t\r\n\f\v]+",
    "OTHER": r"<<|>>|[<>=!]=|&&|\|\||/\*.*|.",  # an unterminated comment runs to the end of the text
}
_SKIPPED = ("LINE_COMMENT", "BLOCK_COMMENT", "LINE_MARK", "SPACES")
_NAMED_RULES = (f"(?P<{name}>{rule})" for name, rule in _RULES.items())
_PIECE = re.compile(f"(?:{'|'.join(_RULES.values())}){_BLANKS}", re.DOTALL)
_PIECE_BY_RULE = re.compile(f"(?:{'|'.join(_NAMED_RULES)}){_BLANKS}", re.DOTALL)
