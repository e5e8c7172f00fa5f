"""Each feature of the language: what value it becomes, and that the value prints as text that reads the same."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goptx.errors import InputError, PtxSyntaxError
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
from goptx.ptx.parse import parse, read

ROOT = Path(__file__).parents[2]
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


def items(text: str) -> tuple[Item, ...]:
    """The items of a module, which print as text that reads the same."""
    module = parse(HEAD + text)
    assert parse(str(module)) == module
    return module.items


def statements(text: str) -> tuple[Statement, ...]:
    (entry,) = items(f".entry k()\n{{\n{text}\n}}")
    assert isinstance(entry, Function) and entry.body is not None
    return entry.body


def instruction(text: str) -> Instruction:
    (statement,) = statements(text)
    assert isinstance(statement, Instruction)
    return statement


def operand(text: str) -> Operand:
    return instruction(f"op.b32 {text};").operands[0]


def variable(text: str) -> Variable:
    (item,) = items(text)
    assert isinstance(item, Variable)
    return item


# Module -------------------------------------------------------------------------------------------------


def test_header() -> None:
    module = parse(".version 7.8\n.target sm_90a, debug\n")
    assert module == Module((7, 8), ("sm_90a", "debug"), 32, ())
    assert parse(HEAD).address_size == 64


def test_comments_and_layout_mean_nothing() -> None:
    assert parse("/* a */.version 8.0 // b\n.target/**/sm_90\t.address_size\r\n64") == parse(HEAD)


def test_bytes_may_end_in_zeros_as_fatbinaries_hold_them() -> None:
    assert parse(HEAD.encode() + b"\0\0") == parse(HEAD)


def test_path_is_read_and_text_is_never_a_path(tmp_path: Path) -> None:
    path = tmp_path / "a.ptx"
    path.write_text(HEAD)
    assert read(path) == parse(HEAD)
    assert read(path).source == str(path)
    with pytest.raises(PtxSyntaxError):
        read(str(path))
    with pytest.raises(InputError, match=r"b\.ptx: cannot be read \(No such file"):
        read(tmp_path / "b.ptx")


def test_module_directives() -> None:
    assert items('.file 1 "a.cu"\n.file 2 "b.cu", 12, 34\n.pragma "a", "b";\n.alias f, g;') == (
        Directive(".file", ("1", '"a.cu"')),
        Directive(".file", ("2", '"b.cu", 12, 34')),
        Directive(".pragma", ('"a"', '"b"')),
        Directive(".alias", ("f", "g")),
    )


def test_section_keeps_its_words() -> None:
    (section,) = items(".section .debug_abbrev\n{\n.b8 1, 0x2\n.b32 a+4\n.b64 b-a, -1\ninfo:\n.b32 .debug_str\n}")
    words = ".b8 1 , 0x2 .b32 a + 4 .b64 b - a , - 1 info : .b32 .debug_str"
    assert section == Section(".debug_abbrev", tuple(words.split()))


# Variables ----------------------------------------------------------------------------------------------


def test_variable_with_linkage_alignment_and_sizes() -> None:
    table = variable(".visible .global .align 16 .v2 .f32 table[2][0x3];")
    assert table == Variable(".global", (".align 16", ".v2", ".f32"), "table", ("2", "0x3"), (), (".visible",))
    assert (table.type, table.alignment, table.element_bytes, table.size) == ("f32", 16, 8, 48)
    dynamic = variable(".extern .shared .b8 dynamic[];")
    assert (dynamic.dims, dynamic.size, dynamic.alignment, dynamic.linkage) == (("",), 0, 1, (".extern",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{1, -2, 0x3}", ("{", "1", ", ", "-2", ", ", "0x3", "}")),
        ("{{1, 2}, {3}}", ("{", "{", "1", ", ", "2", "}", ", ", "{", "3", "}", "}")),
        ("{}", ("{", "}")),
        ("0f3F800000", ("0f3F800000",)),
        ("(1 + 2) * 3", ("(", "1", "+", "2", ")", "*", "3")),
        ("{other, other+4}", ("{", Name("other"), ", ", Name("other"), "+", "4", "}")),
        ("{generic(other)+8}", ("{", Name("generic"), "(", Name("other"), ")", "+", "8", "}")),
        ("{0xFF00(other)}", ("{", "0xFF00", "(", Name("other"), ")", "}")),
        ('"text"', ('"text"',)),
    ],
)
def test_initialiser(text: str, expected: tuple[Name | str, ...]) -> None:
    assert variable(f".global .u64 x[2] = {text};").init == expected


def test_attribute() -> None:
    assert variable(".global .attribute(.managed) .u32 x;").qualifiers == (".attribute(.managed)", ".u32")
    assert variable(".global .attribute(.unified(0x1, 2), .managed) .u32 x;").qualifiers == (
        ".attribute(.unified(0x1, 2), .managed)",
        ".u32",
    )


def test_pointer_parameter() -> None:
    (entry,) = items(".entry k(.param .u64 .ptr .global .align 16 a, .param .align 8 .b8 b[12])\n{ ret; }")
    assert isinstance(entry, Function)
    pointer, structure = entry.parameters
    assert pointer == Variable(".param", (".u64", ".ptr", ".global", ".align 16"), "a")
    assert (pointer.alignment, pointer.size) == (8, 8)  # its own, not that of what it points to
    assert (structure.alignment, structure.size) == (8, 12)


# Functions ----------------------------------------------------------------------------------------------


def test_entry_with_directives() -> None:
    (entry,) = items('.visible .entry k()\n.maxntid 32, 2, 1\n.noreturn\n.pragma "x";\n{ }')
    directives = (Directive(".maxntid", ("32", "2", "1")), Directive(".noreturn"), Directive(".pragma", ('"x"',)))
    assert entry == Function(".entry", "k", (), (), directives, (), (".visible",))
    assert entry.is_entry


def test_entries_are_those_with_a_body() -> None:
    module = parse(HEAD + ".entry a();\n.entry b { ret; }\n.func f { ret; }")
    assert [e.name for e in module.entries] == ["b"]


def test_device_function_and_declaration() -> None:
    declared, defined = items(".extern .func (.param .b32 r) f(.param .b64 _);\n.func .noreturn g { trap; }")
    assert declared == Function(
        ".func",
        "f",
        (Variable(".param", (".b64",), "_"),),
        (Variable(".param", (".b32",), "r"),),
        (),
        None,
        (".extern",),
    )
    assert defined == Function(".func", "g", (), (), (Directive(".noreturn"),), (Instruction("trap"),))


def test_call_sequence() -> None:
    (scope,) = statements(
        "{ .param .b32 p; st.param.b32 [p+0], %r1; .param .b32 r; call.uni (r), f, (p, 1); ld.param.b32 %r2, [r+0]; }"
    )
    assert isinstance(scope, Scope)
    assert scope.body[0] == Declaration(Variable(".param", (".b32",), "p"))
    assert scope.body[3] == Instruction(
        "call.uni", (Arguments((Name("r"),)), Name("f"), Arguments((Name("p"), Immediate("1"))))
    )


def test_indirect_call() -> None:
    label, prototype, call = statements(
        "proto: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _) .noreturn;\ncall (r), %rd1, (a), proto;"
    )
    assert label == Label("proto")
    b32, b64 = Variable(".param", (".b32",), "_"), Variable(".param", (".b64",), "_")
    assert prototype == Prototype((b32,), "_", (b64, b32), (Directive(".noreturn"),))
    assert isinstance(call, Instruction) and call.operands[3] == Name("proto")
    assert statements("t: .calltargets f, g;")[1] == Directive(".calltargets", ("f", "g"))


# Statements ---------------------------------------------------------------------------------------------


def test_registers() -> None:
    assert statements(".reg .b32 %r<11>, %x;\n.reg .v4 .f32 %v;\n.reg .pred p<0x10>;") == (
        Registers((".b32",), (("%r", 11), ("%x", None))),
        Registers((".v4", ".f32"), (("%v", None),)),
        Registers((".pred",), (("p", 16),)),
    )


def test_nested_scopes() -> None:
    (outer,) = statements("{ .reg .b32 a; { L: bra L; } { } }")
    inner = Scope((Label("L"), Instruction("bra", (Name("L"),))))
    assert outer == Scope((Registers((".b32",), (("a", None),)), inner, Scope(())))


def test_guards() -> None:
    assert instruction("@%p1 bra L;") == Instruction("bra", (Name("L"),), Guard(Name("%p1")))
    assert instruction("@!p exit;") == Instruction("exit", (), Guard(Name("p"), negated=True))


def test_jump_table() -> None:
    assert statements("ts: .branchtargets L1, L2;\nbrx.idx.uni %r1, ts;") == (
        Label("ts"),
        Directive(".branchtargets", ("L1", "L2")),
        Instruction("brx.idx.uni", (Name("%r1"), Name("ts"))),
    )


def test_location() -> None:
    assert statements(".loc 1 2 3\n.loc 1 2 3, function_name $L__s0+4, inlined_at 1 5 6\nret;")[:2] == (
        Directive(".loc", ("1 2 3",)),
        Directive(".loc", ("1 2 3, function_name $L__s0+4, inlined_at 1 5 6",)),
    )


def test_words_of_directives_are_free_as_names() -> None:
    assert instruction("bra function_name;").operands == (Name("function_name"),)


def test_pragma_and_label_in_a_body() -> None:
    assert statements('L:\n.pragma "nounroll";\nret;')[:2] == (Label("L"), Directive(".pragma", ('"nounroll"',)))


def test_lines_are_kept_and_do_not_count_in_comparison() -> None:
    first, second = statements("ret;\n\n@%p ret;"), statements("\nret; @%p ret;")
    assert first == second
    assert [s.line for s in first if isinstance(s, Instruction)] == [6, 8]


def test_long_opcodes() -> None:
    for opcode in (
        "mbarrier.try_wait.parity.shared::cta.b64",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
        "tex.2d.v4.f32.f32",
    ):
        assert instruction(f"{opcode} %p, [%r1], %r2;").opcode == opcode


# Operands -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%tid.x", Name("%tid.x")),
        ("_", Name("_")),
        ("!%p1", Negated(Name("%p1"))),
        ("%p1|%p2", Pair(Name("%p1"), Name("%p2"))),
        ("%p1 | _", Pair(Name("%p1"), Name("_"))),
        ("{%r1, _, 3}", Vector((Name("%r1"), Name("_"), Immediate("3")))),
        ("[%rd1]", Address((Name("%rd1"),))),
        ("[%rd1+-8]", Address((Sum(Name("%rd1"), ("+-", "8")),))),
        ("[%rd1-8]", Address((Sum(Name("%rd1"), ("-", "8")),))),
        ("[ %rd1 + 0 ]", Address((Sum(Name("%rd1"), ("+", "0")),))),
        ("[table+4]", Address((Sum(Name("table"), ("+", "4")),))),
        ("[0x100]", Address((Immediate("0x100"),))),
        ("[4+table]", Address((Sum(Immediate("4"), ("+", Name("table"))),))),
        ("[map, {%r1, %r2}]", Address((Name("map"), Vector((Name("%r1"), Name("%r2")))))),
        ("table+4*2", Sum(Name("table"), ("+", "4", "*", "2"))),
        ("-1", Immediate("-1")),
        ("~0", Immediate("~0")),
        ("0x1FU", Immediate("0x1FU")),
        ("017", Immediate("017")),
        ("0b101", Immediate("0b101")),
        ("0f3F800000", Immediate("0f3F800000")),
        ("0d3FF0000000000000", Immediate("0d3FF0000000000000")),
        ("-1.5e-3", Immediate("-1.5e-3")),
        ("1 << 4", Immediate("1<<4")),
    ],
)
def test_operand(text: str, expected: Operand) -> None:
    assert operand(text) == expected


@pytest.mark.parametrize(("text", "value"), [("16", 16), ("0x10", 16), ("0b11U", 3), ("020", 16), ("0", 0), ("7U", 7)])
def test_whole_number(text: str, value: int) -> None:
    assert whole_number(text) == value


# Errors -------------------------------------------------------------------------------------------------


def test_error_shows_place_caret_and_expectation() -> None:
    with pytest.raises(PtxSyntaxError) as caught:
        parse(HEAD + ".entry k()\n{\n\tadd.u32 %r1 %r2;\n}", "k.ptx")
    assert str(caught.value) == (
        "k.ptx:6:14: found `%r2`, expected `%` or `&` or `*` or `+` or `,` or `-` or `/` or `;` or `<<` or `>>` "
        "or `^` or `|`\n    \tadd.u32 %r1 %r2;\n    \t            ^"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        (" \n\t", "the file is empty"),
        (".target sm_90\n", ":1:1: expected `.version` before anything else"),
        (".version 8.0\n", "the module has no `.target`"),
        (".version eight\n", ":1:10: `eight` is no PTX version"),
        (".version 8\n.target sm_90", ":1:10: `8` is no PTX version"),
        (HEAD + ".entry k()\n{ ret;", r"found the end of the file, expected .*is the file cut off\?"),
        (HEAD + ".entry k()\n{ mov.u32 %r1, 089; }", "found `89`"),
        (HEAD + '.file 1 "open', 'found `"`, expected a string'),
        (HEAD + "/* open", "found `/`"),
        (HEAD + "(" * 10_000, r"found `\(`"),
        (HEAD + ".global .u32 x = " + "(" * 10_000, ":4:.*nested too deeply"),
        ("a\0b", "not text"),
    ],
)
def test_error(text: str, message: str) -> None:
    with pytest.raises(PtxSyntaxError, match=message):
        parse(text)


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(PtxSyntaxError, match=r"byte 4 is no UTF-8.*cuobjdump"):
        parse(b"\x7fELF\xff\x01")


# Properties ---------------------------------------------------------------------------------------------

LETTERS = "abcXYZ_$"
PLAIN_NAMES = st.builds(
    lambda sigil, first, rest: Name(sigil + first + rest),
    st.sampled_from(["", "%"]),
    st.sampled_from(LETTERS),
    st.text(LETTERS + "0123456789", max_size=6),
)
NAMES = PLAIN_NAMES | st.builds(lambda name, lane: Name(f"{name}.{lane}"), PLAIN_NAMES, st.sampled_from("xyzw"))
INTEGERS = st.integers(0, 2**64 - 1).flatmap(lambda n: st.sampled_from([str(n), f"{n}U", hex(n), bin(n), f"0{n:o}"]))
FLOATS = st.integers(0, 2**32 - 1).map("0f{:08X}".format) | st.integers(0, 2**64 - 1).map("0d{:016x}".format)
IMMEDIATES = st.builds(
    lambda sign, number: Immediate(sign + number), st.sampled_from(["", "-", "~"]), INTEGERS | FLOATS
)
OPERATORS = st.sampled_from(["+", "-", "+-", "*", "<<", "/", "&", "--"])
SUMS = st.builds(
    lambda name, terms: Sum(name, tuple(part for term in terms for part in term)),
    NAMES,
    st.lists(st.tuples(OPERATORS, INTEGERS | NAMES), min_size=1, max_size=3),
)
SIMPLE = NAMES | IMMEDIATES | SUMS
SEVERAL = st.lists(SIMPLE, max_size=4).map(tuple)
OPERANDS: st.SearchStrategy[Operand] = (
    SIMPLE
    | st.builds(Negated, NAMES)
    | st.builds(Pair, NAMES, NAMES)
    | SEVERAL.map(Vector)
    | SEVERAL.map(Arguments)
    | st.lists(SIMPLE | SEVERAL.map(Vector), min_size=1, max_size=3).map(tuple).map(Address)
)
OPCODES = st.lists(st.sampled_from(["ld", "b32", "v4", "shared::cta", "2d", "sync"]), min_size=1, max_size=4).map(
    lambda words: "op." + ".".join(words)
)
GUARDS = st.none() | st.builds(Guard, NAMES, st.booleans())
INSTRUCTIONS = st.builds(Instruction, OPCODES, st.lists(OPERANDS, max_size=4).map(tuple), GUARDS)
REGISTERS = st.builds(
    Registers,
    st.sampled_from([(".b32",), (".v4", ".f32")]),
    st.lists(st.tuples(PLAIN_NAMES.map(str), st.none() | st.integers(1, 99)), min_size=1, max_size=3).map(tuple),
)
LABELS = st.builds(Label, PLAIN_NAMES.map(str))
BODIES: st.SearchStrategy[tuple[Statement, ...]] = st.recursive(
    st.lists(INSTRUCTIONS | REGISTERS | LABELS, max_size=5).map(tuple),
    lambda bodies: st.lists(INSTRUCTIONS | bodies.map(Scope), max_size=3).map(tuple),
    max_leaves=6,
)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(BODIES)
def test_any_body_prints_as_text_that_reads_the_same(body: tuple[Statement, ...]) -> None:
    module = Module((8, 0), ("sm_90",), 64, (Function(".entry", "k", body=body),))
    assert parse(str(module)) == module


TEXTS = [path.read_bytes() for path in sorted(ROOT.glob("examples/**/*.sm_90.ptx"))]
TEXTS.append((ROOT / "tests" / "ptx" / "features.ptx").read_bytes())
Edit = Callable[[bytes, int], bytes]
EDITS: list[st.SearchStrategy[Edit]] = [
    st.binary(min_size=1, max_size=3).map(lambda new: lambda text, at: text[:at] + new + text[at + len(new) :]),
    st.text(' \n;,.:{}[]()<>@!%"/*0123456789xUf+-|=', min_size=1, max_size=3).map(
        lambda new: lambda text, at: text[:at] + new.encode() + text[at:]
    ),
    st.integers(1, 40).map(lambda size: lambda text, at: text[:at] + text[at + size :]),
    st.just(lambda text, at: text[:at]),
]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.sampled_from(TEXTS), st.lists(st.tuples(st.one_of(EDITS), st.floats(0, 1)), min_size=1, max_size=3))
def test_damaged_text_reads_or_is_refused_as_ptx(text: bytes, edits: list[tuple[Edit, float]]) -> None:
    for edit, place in edits:
        text = edit(text, int(place * len(text)))
    try:
        module = parse(text)
    except PtxSyntaxError:
        return
    assert parse(str(module)) == module
