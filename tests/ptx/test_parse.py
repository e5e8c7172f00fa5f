"""Each feature of the language: its value, and that the value prints as text with the same value."""

from pathlib import Path

import pytest

from goptx.errors import InputError, PtxSyntaxError, UnknownInstruction
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
from goptx.ptx.parse import parse
from goptx.sources.read import read

ROOT = Path(__file__).parents[2]
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


def items(text: str) -> tuple[Item, ...]:
    """The items of a module, which print as text with the same items."""
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
    return instruction(f"mov.b32 {text};").operands[0]


def variable(text: str) -> Variable:
    (item,) = items(text)
    assert isinstance(item, Variable)
    return item


# Module -------------------------------------------------------------------------------------------------


def test_header() -> None:
    module = parse(".version 7.8\n.target sm_90a, debug\n")
    assert module == Module((7, 8), ("sm_90a", "debug"), 64, ())
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
    with pytest.raises(InputError, match=r"give pathlib\.Path"):
        read(str(path))
    with pytest.raises(InputError, match=r"b\.ptx: cannot be read \(No such file"):
        read(tmp_path / "b.ptx")


def test_module_directives() -> None:
    declared = ".func f();\n.func g();\n"
    assert items(declared + '.file 1 "a.cu"\n.file 2 "b.cu", 12, 34\n.pragma "a", "b";\n.alias f, g;')[2:] == (
        Directive(".file", ("1", '"a.cu"')),
        Directive(".file", ("2", '"b.cu", 12, 34')),
        Directive(".pragma", ('"a"', '"b"')),
        Directive(".alias", ("f", "g")),
    )


def test_debug_data_by_lines() -> None:
    assert items('@@DWARF .section .debug_info, "", @progbits\n  @@DWARF .byte 0x2b, 0\n.pragma "a";') == (
        Directive("@@DWARF", ('.section .debug_info, "", @progbits',)),
        Directive("@@DWARF", (".byte 0x2b, 0",)),
        Directive(".pragma", ('"a"',)),
    )


def test_a_module_of_ptx_1() -> None:
    text = ".version 1.4\n.target sm_10, map_f64_to_f32\n.target sm_13\n.reg .u32 spare;\n"
    module = parse(text)
    assert module == Module(
        (1, 4), ("sm_10", "map_f64_to_f32", "sm_13"), 64, (Registers((".u32",), (("spare", None),)),)
    )
    assert ".address_size" not in str(module)
    assert ".target sm_10, map_f64_to_f32\n.target sm_13\n" in str(module)
    assert parse(str(module)) == module


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


def test_several_variables_in_one_declaration() -> None:
    number = (".align 4", ".u32")
    assert items(".visible .global .align 4 .u32 a, b[2] = {1, 2}, c<2>;") == (
        Variable(".global", number, "a", linkage=(".visible",)),
        Variable(".global", number, "b", ("2",), ("{", "1", ", ", "2", "}"), (".visible",)),
        Variable(".global", number, "c0", linkage=(".visible",)),
        Variable(".global", number, "c1", linkage=(".visible",)),
    )
    assert statements(".shared .b32 a, b;") == (
        Declaration(Variable(".shared", (".b32",), "a")),
        Declaration(Variable(".shared", (".b32",), "b")),
    )


def test_banks_of_constant_memory() -> None:
    assert variable(".extern .const[2] .u32 bank[];") == Variable(
        ".const[2]", (".u32",), "bank", ("",), (), (".extern",)
    )
    assert instruction("ld.const[2].u32 %r1, [bank];").opcode == "ld.const[2].u32"


def test_fields_of_a_sampler_are_not_names() -> None:
    sampler = variable(".global .samplerref s = { addr_mode_0 = wrap, filter_mode = linear };")
    assert sampler.init == ("{", "addr_mode_0", " = ", "wrap", ", ", "filter_mode", " = ", "linear", "}")


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


def test_registers_as_parameters() -> None:
    (function,) = items(".func (.reg .u32 r) f(.reg .u32 a, .reg .pred p) { ret; }")
    a, p = Variable(".reg", (".u32",), "a"), Variable(".reg", (".pred",), "p")
    assert function == Function(".func", "f", (a, p), (Variable(".reg", (".u32",), "r"),), (), (Instruction("ret"),))


def test_attributes_and_values_of_a_function() -> None:
    (function,) = items(".func .attribute(.unified(0xAB, 2)) (.param .b32 r) f() .noreturn .abi_preserve 8;")
    assert isinstance(function, Function)
    unified = Directive(".attribute(.unified(0xAB, 2))")
    assert function.directives == (unified, Directive(".noreturn"), Directive(".abi_preserve", ("8",)))
    assert str(function).startswith(".func .attribute(.unified(0xAB, 2)) (.param .b32 r) f()\n.noreturn\n")


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
    assert statements("p: .callprototype _ .noreturn;")[1] == Prototype((), "_", (), (Directive(".noreturn"),))


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


def test_numbered_labels_of_a_jump_table() -> None:
    assert statements("ts: .branchtargets L, M<3>;")[1] == Directive(".branchtargets", ("L", "M0", "M1", "M2"))


def test_location() -> None:
    assert statements(".loc 1 2 3\n.loc 1 2 3, function_name $L__s0+4, inlined_at 1 5 6\nret;")[:2] == (
        Directive(".loc", ("1 2 3",)),
        Directive(".loc", ("1 2 3, function_name $L__s0+4, inlined_at 1 5 6",)),
    )


def test_words_of_directives_are_free_as_names() -> None:
    assert instruction("bra function_name;").operands == (Name("function_name"),)


def test_pragma_and_label_in_a_body() -> None:
    assert statements('L:\n.pragma "nounroll";\nret;')[:2] == (Label("L"), Directive(".pragma", ('"nounroll"',)))


def test_lines_are_recorded_and_do_not_count_in_comparison() -> None:
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


def test_opcodes_in_pieces() -> None:
    assert instruction("ld .global .L1::evict_last\n.u32 %r1, [%rd1];").opcode == "ld.global.L1::evict_last.u32"
    assert instruction("@%p tex .2d.v4.f32.f32 {%f1, _, _, _}, [t, {%f1, %f2}];").opcode == "tex.2d.v4.f32.f32"
    assert instruction("fence.proxy .alias;").opcode == "fence.proxy.alias"


def test_parentheses_are_lists_in_calls_alone() -> None:
    assert instruction("call f, (5);").operands[1] == Arguments((Immediate("5"),))
    assert instruction("mov.u32 %r1, (5);").operands[1] == Immediate("(5)")


def test_unknown_instruction_is_preserved_and_named_once() -> None:
    text = HEAD + ".entry k()\n{\nfrob.u32 a, [b];\nfrob.u32 a, [c];\n{ @p wibble; }\nadd.u32 a, a, a;\n}"
    with pytest.warns(UnknownInstruction) as caught:
        module = parse(text, "k.ptx")
    assert [str(w.message).partition(";")[0] for w in caught] == [
        "k.ptx:6: goptx does not know `frob.u32`", "k.ptx:8: goptx does not know `wibble`"
    ]  # fmt: skip
    assert "frob.u32 a, [b];" in str(module)


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
        ("[%rd1+-8]", Address((Sum(Name("%rd1"), ("+-8",)),))),
        ("[%rd1-8]", Address((Sum(Name("%rd1"), ("-8",)),))),
        ("[ %rd1 + 0 ]", Address((Sum(Name("%rd1"), ("+0",)),))),
        ("[table+4]", Address((Sum(Name("table"), ("+4",)),))),
        ("[0x100]", Address((Immediate("0x100"),))),
        ("[4+table]", Address((Sum(Immediate("4"), ("+", Name("table"))),))),
        ("[map, {%r1, %r2}]", Address((Name("map"), Vector((Name("%r1"), Name("%r2")))))),
        ("table+4*2", Sum(Name("table"), ("+4*2",))),
        ("-1", Immediate("-1")),
        ("~0", Immediate("~0")),
        ("0x1FU", Immediate("0x1FU")),
        ("017", Immediate("017")),
        ("0b101", Immediate("0b101")),
        ("0f3F800000", Immediate("0f3F800000")),
        ("0d3FF0000000000000", Immediate("0d3FF0000000000000")),
        ("-1.5e-3", Immediate("-1.5e-3")),
        ("1 << 4", Immediate("1<<4")),
        ("7 % 2", Immediate("7% 2")),
        ("- -1", Immediate("--1")),
        ("-(1 + 2) * 3", Immediate("-(1+2)*3")),
        ("(.s64) 4 - 5U", Immediate("(.s64)4-5U")),
        ("!(1 <= 2) || 3 != 4", Immediate("!(1<=2)||3!=4")),
        ("1 ? 2 : 3 | 4", Immediate("1?2:3|4")),
        ("WARP_SZ * 2", Sum(Name("WARP_SZ"), ("*2",))),
        ("WARP_SZ | 1", Sum(Name("WARP_SZ"), ("|1",))),
        ("2 * WARP_SZ", Sum(Immediate("2"), ("*", Name("WARP_SZ")))),
        ("(WARP_SZ - 1) * 2", Expression(("(", Name("WARP_SZ"), "-1)*2"))),
        ("-%r3", Expression(("-", Name("%r3")))),
        ("~(.u64) (WARP_SZ)", Expression(("~(.u64)(", Name("WARP_SZ"), ")"))),
        ("[table + (1 + 2) * 4]", Address((Sum(Name("table"), ("+(1+2)*4",)),))),
        ("table[4]", Element(Name("table"), Immediate("4"))),
        ("table[%r1 + 1]", Element(Name("table"), Sum(Name("%r1"), ("+1",)))),
        ("{%f1, %f2}|%p1", Pair(Vector((Name("%f1"), Name("%f2"))), Name("%p1"))),
        ("%r1.b0", Name("%r1.b0")),
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
        "k.ptx:6:14: found `%r2`, expected `,` or `;` or `[` or an operator\n"
        "    \tadd.u32 %r1 %r2;\n    \t            ^"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        (" \n\t", "the file is empty"),
        (".target sm_90\n", ":1:1: expected `.version` before anything else"),
        (".version 8.0\n", "the module has no `.target`"),
        (".version eight\n", ":1:10: `eight` is not a PTX version"),
        (".version 8\n.target sm_90", ":1:10: `8` is not a PTX version"),
        (HEAD + ".entry k()\n{ ret;", r"found the end of the file, expected .*is the file cut off\?"),
        (HEAD + ".entry k()\n{ mov.u32 %r1, 089; }", "found `89`"),
        (HEAD + '.file 1 "open', 'found `"`, expected a string'),
        (".version 8.0\n.target sm_90\n.address_size 16", ":3:15: addresses of 16 bits"),
        (HEAD + ".entry k() { mov.u32 %r1, -[x]; }", r":4:28: `\[x\]` cannot stand in an expression"),
        (HEAD + ".entry k() { mov.u32 %r1, (a, b) + 1; }", ":4:27: a list cannot stand in an expression"),
        (HEAD + ".entry k(.param .u32 x<2>) { }", ":4:10: a parameter has one name"),
        (HEAD + ".global .u32 x<99999>;", ":4:16: more than 65536 names of the form"),
        (HEAD + "/* open", ":4:1: this comment has no end"),
        (HEAD + "(" * 10_000, r"found `\(`"),
        (HEAD + ".global .u32 x = " + "(" * 10_000, ":4:.*nested too deeply"),
        ("a\0b", "not text"),
    ],
)
def test_error(text: str, message: str) -> None:
    with pytest.raises(PtxSyntaxError, match=message):
        parse(text)


def test_bytes_that_are_not_text() -> None:
    with pytest.raises(PtxSyntaxError, match=r"byte 4 is not UTF-8.*cuobjdump"):
        parse(b"\x7fELF\xff\x01")
