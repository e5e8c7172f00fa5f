"""The messages for text that is not PTX: tests/golden/broken_ptx.txt has one for each kind of fault."""

from collections.abc import Callable

import pytest

from goptx.errors import PtxSyntaxError
from goptx.ptx.parse import parse

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


def body(text: str) -> str:
    return f"{HEAD}.visible .entry k(.param .u64 out)\n{{\n\t.reg .b32 %r<5>;\n{text}\n\tret;\n}}\n"


BROKEN = {
    "a comma is missing": body("\tadd.u32 %r1, %r2 %r3;"),
    "a semicolon is missing": body("\tadd.u32 %r1, %r2, %r3\n\tmov.u32 %r4, 5;"),
    "a bracket is missing": body("\tld.global.u32 %r1, [%rd1+4;"),
    "a brace is missing": body("\t{\n\tmov.u32 %r1, 5;"),
    "a brace too many": body("\t}\n\tmov.u32 %r1, 5;"),
    "a colon is missing": body("again\n\tbra again;"),
    "an operand is missing": body("\tadd.u32 %r1, , %r3;"),
    "an opcode is missing": body("\t@%p1;"),
    "a type is missing": body("\t.reg %x;"),
    "a malformed number": body("\tmov.u32 %r1, 0x;"),
    "an octal number with an 8": body("\tmov.u32 %r1, 089;"),
    "a number without end": body(f"\tmov.u32 %r1, {'9' * 2000};"),
    "a string without end": HEAD + '.file 1 "kernel.cu\n',
    "a comment without end": body("\t/* to be done"),
    "a character of no meaning": body("\tmov.u32 %r1, \u00b5;"),
    "a directive of no meaning": HEAD + ".entri k()\n{\n\tret;\n}\n",
    "a word of C": body("\tint i = 0;"),
    "not PTX at all": "define void @k(ptr %out) {\n  ret void\n}\n",
    "a preprocessor directive": HEAD + "#define N 128\n",
    "an address in an expression": body("\tmov.u32 %r1, 2 * [x];"),
    "a sign before an address": body("\tld.global.u32 %r1, -[%rd1];"),
    "a list in an expression": body("\tmov.u32 %r1, (1, 2) + 3;"),
    "no version": ".target sm_90\n.version 8.0\n",
    "a version of no number": ".version eight\n.target sm_90\n",
    "no target": ".version 8.0\n.entry k()\n{\n\tret;\n}\n",
    "an address size of no machine": ".version 8.0\n.target sm_90\n.address_size 48\n",
    "parameters by number": HEAD + ".entry k(.param .u64 p<4>)\n{\n\tret;\n}\n",
    "more variables than anybody has": HEAD + ".global .u32 x<4000000000>;\n",
    "nested without end": body("\t" + "{" * 5000),
    "a fault far along a line": body(
        "\t" + "mov.u32 %r1, %r2; " * 50 + "mov.u32 %r1 %r2; " + "mov.u32 %r1, %r2; " * 50
    ),
    "an endless word": body("\tmov.u32 %r1 " + "a" * 5000 + ";"),
    "cut off in a statement": body("")[: -len("\n\tret;\n}\n")] + "\tmul.lo.s",
    "cut off between statements": body("")[: -len("\n\tret;\n}\n")],
}


def message(text: str) -> str:
    with pytest.raises(PtxSyntaxError) as caught:
        parse(text, "k.ptx")
    return str(caught.value)


def test_messages_for_broken_text(golden: Callable[[str, str], None]) -> None:
    golden("broken_ptx.txt", "\n".join(f"{kind}:\n  {message(text)}\n" for kind, text in BROKEN.items()))


@pytest.mark.parametrize("kind", [kind for kind in BROKEN if kind not in ("not PTX at all", "no version")])
def test_place_line_and_caret_are_those_of_the_fault(kind: str) -> None:
    found = message(BROKEN[kind])
    place, *excerpt = found.split("\n")
    line, column = map(int, place.split(":")[1:3])
    quoted = BROKEN[kind].split("\n")[line - 1]
    assert len(found) < 700
    if quoted.strip():
        assert place.split(": ", 1)[1]
        assert len(excerpt) == 2 and excerpt[1].endswith("^")
        at = len(excerpt[1]) - 1
        assert excerpt[0][at:].startswith(quoted[column - 1 : column + 9].rstrip())
