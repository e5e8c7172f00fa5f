"""The tokens of goptx/ptx/tokens.py are those of the lexer that ANTLR makes of the grammar."""

import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

import pytest
from antlr4 import InputStream
from antlr4 import Token as AntlrToken
from hypothesis import given, settings
from hypothesis import strategies as st

from goptx.ptx.generated.PtxLexer import PtxLexer
from goptx.ptx.tokens import OPEN, tokens

ROOT = Path(__file__).parents[2]
FILES = [
    pytest.param(path, id=path.name)
    for pattern in ("tests/ptx/*.ptx", "tests/constructs/*.ptx", "tests/corpus/ptx/*.ptx")
    for path in sorted(ROOT.glob(pattern))
]
FIELDS = ("type", "text", "start", "line", "column")


def generated(text: str) -> Iterator[tuple[object, ...]]:
    lexer = PtxLexer(InputStream(text))
    lexer.removeErrorListeners()
    while (token := lexer.nextToken()).type != AntlrToken.EOF:
        yield tuple(getattr(token, field) for field in FIELDS)
    yield (AntlrToken.EOF, "", len(text), token.line, token.column)


def compare(text: str) -> None:
    for ours, theirs in zip_longest(tokens(text), generated(text)):
        if ours is not None and ours.text == OPEN:  # the generated lexer goes on after its `/`
            assert theirs[1:] == ("/", ours.start, ours.line, ours.column)
            return
        assert tuple(getattr(ours, field) for field in FIELDS) == theirs


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES)
def test_tokens_of_a_file(path: Path) -> None:
    text = path.read_text()
    compare(text[:60_000])  # the generated lexer needs a second for that


def test_words_of_the_grammar() -> None:
    grammar = (ROOT / "grammar" / "Ptx.g4").read_text()
    words = re.findall(r"'([^'\n]+)'", grammar)
    assert {".version", ".weak", ".sreg", "<<"} <= set(words)
    for word in words:
        compare(f"{word} {word}x {word}.x")


WORDS = (
    "add.s32 %r1 % $L__BB0_1 a.b::c. ::cta shared::cluster.b64 _ %tid.x .reg .regs .visible .weak .param .global . .5 "
    "0 00 08 089 0x 0x1F 0x1FU 0b101 0b2 7U 1e5 1e 1e+ 1.e-3 1.5E+7x 0f3F800000 0F 0d3FF0000000000000 12. 12.foo "
    "@@DWARF @@dwarf #line 3 #2 #define .2d .2dms .16x64b .5d .5f .1e2d ld.const[2].u32 .const[12] .const[x] <= >= == "
    "!= === !== && || &&& ? ?: %% x%y x$y "
    '"" "a \\" b" "open // a comment /* a comment */ /* open << >> < <<< @ ! {{ }} + - ~ | ^ : :: ; , = \\ # ` '
    "é \u2028 \xa0"
).split(" ")
PIECES = st.sampled_from([*WORDS, "\n", "\r\n", "\t", "\v", "\f", " ", "\0"]) | st.text(max_size=3)


@pytest.mark.slow
@settings(max_examples=400, deadline=None, derandomize=True)
@given(
    st.lists(PIECES, max_size=12).map("".join) | st.text('.0123456789abcdefxXfFdDeEU:+-"/*%$\\\n #[]<=>&|', max_size=12)
)
def test_tokens_of_any_text(text: str) -> None:
    compare(text)
