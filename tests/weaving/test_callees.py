"""Functions that are called through pointers, by other names, by themselves, or that others have."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import goptx
from goptx.emulator.instructions.lanewise import Array
from goptx.errors import CannotLink, CannotWeave, EmulationFault
from goptx.results.fused_kernel import Woven

Assembles = Callable[[Woven], None]
CORPUS = Path(__file__).parents[1] / "corpus" / "ptx"
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
BLOCK = 64
DATA = np.arange(BLOCK, dtype=np.int32) * 7 + 3

FUNCTIONS = """
.func (.param .b32 r) plus(.param .b32 a, .param .b32 b)
{ .reg .b32 %x, %y; ld.param.u32 %x, [a]; ld.param.u32 %y, [b]; add.u32 %x, %x, %y; st.param.b32 [r], %x; ret; }
.func (.param .b32 r) times(.param .b32 a, .param .b32 b)
{ .reg .b32 %x, %y; ld.param.u32 %x, [a]; ld.param.u32 %y, [b]; mul.lo.u32 %x, %x, %y; st.param.b32 [r], %x; ret; }
"""
TABLE = ".global .align 8 .u64 table[2] = {plus, times};\n"
CHOOSE = """
    mov.u64 %rd5, table; and.b32 %r5, %r2, 1; mul.wide.u32 %rd6, %r5, 8; add.u64 %rd5, %rd5, %rd6;
    ld.global.u64 %rd5, [%rd5];
"""
CALL = """
    { .param .b32 a; st.param.b32 [a], %r2; .param .b32 b; st.param.b32 [b], %r1; .param .b32 r;
      prototype : .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);
      call (r), %rd5, (a, b), prototype;
      ld.param.b32 %r3, [r]; }
"""
OUTSIDE = """
    .param .b32 a; .param .b32 b; .param .b32 r;
    st.param.b32 [a], %r2; st.param.b32 [b], %r1;
    call (r), %rd5, (a, b), callees;
    ld.param.b32 %r3, [r];
"""
RECURSIVE = """
.func (.param .b32 r) factorial(.param .b32 p)
{
    .reg .pred %q; .reg .b32 %x, %y;
    ld.param.u32 %x, [p]; st.param.b32 [r], 1; setp.le.u32 %q, %x, 1; @%q ret; sub.u32 %y, %x, 1;
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %y; call.uni (b), factorial, (a); ld.param.b32 %y, [b]; }
    mul.lo.u32 %x, %x, %y; st.param.b32 [r], %x; ret;
}
"""
RECURSE = """and.b32 %r5, %r2, 7;
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r5; call (b), factorial, (a); ld.param.b32 %r3, [b]; }"""
DIRECT = """{ .param .b32 a; .param .b32 b; .param .b32 r; st.param.b32 [a], %r2; st.param.b32 [b], %r1;
    call.uni (r), NAME, (a, b); ld.param.b32 %r3, [r]; }"""


def module(items: str, body: str, name: str = "k") -> str:
    """An entry in which %r1 is the thread's number, %r2 its word of `in`, and %r3 is stored after the body."""
    return f"""{HEAD}{items}
.visible .entry {name}(.param .u64 in, .param .u64 out)
{{
    .reg .pred %p<5>; .reg .b32 %r<20>; .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3; ld.global.u32 %r2, [%rd1]; mov.u32 %r3, 0;
    {body}
    st.global.u32 [%rd2], %r3; ret;
}}
"""


PARTNER = module("", "mad.lo.u32 %r3, %r2, 3, %r1;", "other")
ALIAS = ".func (.param .b32 r) also(.param .b32 a, .param .b32 b);\n.alias also, plus;\n"

CASES = {
    "a table of functions": (FUNCTIONS + TABLE, CHOOSE + CALL),
    "where some lanes call": (
        FUNCTIONS + TABLE, f"{CHOOSE} setp.lt.u32 %p1, %r1, 40; @!%p1 bra OVER; {CALL} OVER: add.u32 %r3, %r3, 5;"
    ),
    "addresses in code": (
        FUNCTIONS, "mov.u64 %rd5, plus; and.b32 %r5, %r2, 1; setp.eq.u32 %p1, %r5, 0; @%p1 mov.u64 %rd5, times;" + CALL
    ),
    "a prototype outside of braces": (
        FUNCTIONS + TABLE,
        f"{CHOOSE} callees: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _); {OUTSIDE}",
    ),
    "a list of targets": (FUNCTIONS + TABLE, f"{CHOOSE} callees: .calltargets plus, times; {OUTSIDE}"),
    "a list of targets in braces": (
        FUNCTIONS + TABLE, f"{CHOOSE} {{ callees: .calltargets plus, times; {OUTSIDE} }}"
    ),
    "through a function": (
        FUNCTIONS + TABLE + ".func (.param .b32 y) choose(.param .b32 c, .param .b32 d) { .reg .b32 %r<9>;"
        f".reg .b64 %rd<9>; ld.param.u32 %r2, [c]; ld.param.u32 %r1, [d]; {CHOOSE} {CALL} st.param.b32 [y], %r3;"
        "ret; }",
        DIRECT.replace("NAME", "choose"),
    ),
    "recursion": (RECURSIVE, RECURSE),
    "an alias": (FUNCTIONS + ALIAS, DIRECT.replace("NAME", "also")),
    "an alias in a table": (
        FUNCTIONS + ALIAS + TABLE.replace("plus", "also"), CHOOSE + CALL
    ),
    "an alias of an alias, declared after": (
        FUNCTIONS + ALIAS + ALIAS.replace("also", "too").replace(" plus", " also"), DIRECT.replace("NAME", "too"),
    ),
    "a stack": (
        "",
        ".local .align 8 .b8 __local_depot0[16]; .reg .b64 %SP; .reg .b64 %SPL; mov.u64 %SPL, __local_depot0;"
        "cvta.local.u64 %SP, %SPL; and.b32 %r5, %r1, 3; mul.wide.u32 %rd5, %r5, 4; add.u64 %rd5, %SP, %rd5;"
        "st.v2.u32 [%SP], {0, 0}; st.v2.u32 [%SP+8], {0, 0}; st.u32 [%rd5], %r2; ld.local.u32 %r3, [%SPL+4];",
    ),
    "weak and common": (
        FUNCTIONS.replace(".func", ".weak .func") + ".common .global .u32 common;\n.weak .global .u32 weak = 9;\n",
        f"{DIRECT.replace('NAME', 'times')} atom.global.add.u32 %r5, [common], 1; ld.global.u32 %r5, [weak];"
        "add.u32 %r3, %r3, %r5;",
    ),
}  # fmt: skip


def alone(source: str, entry: str) -> list[int]:
    out = np.zeros(BLOCK, np.int32)
    goptx.emulate(source, 1, BLOCK, [DATA, out], entry=entry)
    return [int(v) for v in out]


def together(woven: Woven) -> list[list[int]]:
    outs: list[Array] = [np.zeros(BLOCK, np.int32) for _ in range(2)]
    goptx.emulate(woven, 1, BLOCK, [[DATA, out] for out in outs])
    return [[int(v) for v in out] for out in outs]


@pytest.mark.parametrize("first", CASES)
@pytest.mark.parametrize("second", ["partner", "itself", "recursion", "a table of functions"])
def test_what_is_called_is_called(first: str, second: str, assembles: Assembles) -> None:
    source = module(*CASES[first])
    others = {"partner": (PARTNER, "other"), "itself": (source, "k")}
    other, entry = others[second] if second in others else (module(*CASES[second]), "k")
    woven = goptx.weave(source, other)
    assert together(woven) == [alone(source, "k"), alone(other, entry)]
    assert len(set(alone(source, "k"))) > 1
    assert ".alias" not in woven.ptx
    assembles(woven)


@pytest.mark.parametrize("name", ["a table of functions", "addresses in code", "a list of targets"])
def test_functions_that_know_their_kernel_through_pointers(name: str, assembles: Assembles) -> None:
    """Both modules have functions of the same names, of which each calls its own."""
    items, body = CASES[name]
    read_thread = items.replace("add.u32 %x, %x, %y;", "add.u32 %x, %x, %y; mov.u32 %y, %ntid.x; add.u32 %x, %x, %y;")
    sources = [module(items, body), module(read_thread, body, "other")]
    woven = goptx.weave(*sources)
    assert together(woven) == [alone(sources[0], "k"), alone(sources[1], "other")]
    assert woven.symbols["B"]["plus"] == "plus_b"
    assembles(woven)


def test_a_cloned_function_is_found_by_its_address_in_code_and_lists(assembles: Assembles) -> None:
    items, _ = CASES["a list of targets"]
    functions = items.replace(TABLE, "").replace("add.u32 %x, %x, %y;", "mov.u32 %x, %ntid.x;")
    body = f"mov.u64 %rd5, plus; callees: .calltargets plus; {OUTSIDE}"
    source = module(functions, body)
    shapes = [goptx.Shape(1, 64), goptx.Shape(1, 32)]
    woven = goptx.weave(source, source, shapes=shapes)
    assert re.findall(r"\.calltargets (\w+);", woven.ptx) == [woven.symbols[k]["plus"] for k in "AB"]
    assert len({woven.symbols[k]["plus"] for k in "AB"}) == 2
    outs: list[Array] = [np.zeros(BLOCK, np.int32) for _ in range(2)]
    goptx.emulate(woven, args=[[DATA, out] for out in outs])
    assert outs[0].tolist() == [64] * 64
    assert outs[1].tolist() == [32] * 32 + [0] * 32
    assembles(woven)


def test_what_a_pointer_may_lead_to_is_there(assembles: Assembles) -> None:
    """The host may have read any address that a variable of the module holds."""
    items = FUNCTIONS + ".global .u64 of_times = times;\n.global .u64 chosen;\n.global .u64 number = 5;\n"
    woven = goptx.weave(module(items, "ld.global.u64 %rd5, [chosen];" + CALL), PARTNER)
    assert woven.symbols["A"] == {n: n for n in ("times", "of_times", "chosen")}
    (note,) = woven.report.notes
    assert re.search(r"kernel A \(`k`\): `call .*` calls through a pointer; addresses .* of the woven module", note)
    assembles(woven)


BARRIER = (
    ".func (.param .b32 r) met(.param .b32 a, .param .b32 b)\n{ st.param.b32 [r], 1;\nbar.sync 0;  // culprit\nret; }\n"
)


@pytest.mark.parametrize(
    ("items", "body"),
    [
        (BARRIER + ".global .u64 table[1] = {met};\n", CHOOSE + CALL),
        (BARRIER, f"mov.u64 %rd5, met; {CALL}"),
        (BARRIER + ".global .u64 elsewhere = met;\n.global .u64 table;\n", CHOOSE + CALL),
        (
            BARRIER
            + ".func (.param .b32 r) via(.param .b32 a, .param .b32 b) { .reg .b64 %f; mov.u64 %f, met; ret; }\n"
            ".global .u64 table = via;\n",
            CHOOSE + CALL,
        ),
    ],
    ids=["in a table", "in code", "in another variable", "in a function called through a pointer"],
)
def test_a_pointer_that_may_lead_to_a_barrier_is_refused(items: str, body: str) -> None:
    source = module(items, body)
    line = next(n for n, text in enumerate(source.splitlines(), 1) if "culprit" in text)
    with pytest.raises(CannotWeave, match=rf"<ptx>:{line}: kernel A .*`bar.sync 0;` in the device function `met`"):
        goptx.weave(source, PARTNER)


SHARED = ".shared .b32 tile[64];\n.func f(.param .b32 a) { st.shared.u32 [tile], 1; ret; }\n.global .u64 table = f;\n"
PROTOTYPE = "{ P: .callprototype _ (.param .b32 _); .param .b32 a; st.param.b32 [a], 1; call %rd5, (a), P; }"


def test_a_variable_cannot_hold_two_functions() -> None:
    through = f"ld.global.u64 %rd5, [table]; {PROTOTYPE}"
    source = module(SHARED, through)
    message = (
        r"`table` holds the address of the device function `f`, of which each kernel .*; call the function by its name"
    )
    with pytest.raises(CannotLink, match=rf"<ptx>:6: kernel B \(`k`\): {message}"):
        goptx.weave(source, source)
    asks = module(
        ".func f(.param .b32 a) { .reg .b32 %x; mov.u32 %x, %ntid.x; ret; }\n.global .u64 table = f;\n", through
    )
    shapes = [goptx.Shape(1, 64), goptx.Shape(1, 32)]
    with pytest.raises(CannotLink, match=rf"<ptx>:5: kernel A \(`k`\): {message}"):
        goptx.weave(asks, PARTNER, shapes=shapes)


def test_a_kernel_that_launches_kernels_is_refused() -> None:
    path = CORPUS / "parallel.sm_80-rdc.nvcc.ptx"
    message = (
        r"`mov.u64 %rd\d+, _Z5childPfi;` in `_Z5childPfi` takes the address of the kernel `_Z5childPfi`.*use separate"
    )
    with pytest.raises(CannotWeave, match=message):
        goptx.weave(path, PARTNER, entries=["_Z6parentPfi", None])


PRINT = ".extern .func (.param .b32 r) vprintf(.param .b64 FORMAT, .param .b64 values);\n"
TEXT = ".global .align 1 .b8 text[6] = {37, 100, 37, 100, 10, 0};\n"  # "%d%d\n"
SAY = """
    .local .align 8 .b8 pair[8];
    setp.eq.u32 %p1, %r1, NUMBER; @!%p1 bra SILENT;
    mov.u64 %rd5, pair; st.local.v2.u32 [pair], {%r1, %r2}; cvta.local.u64 %rd5, %rd5; mov.u64 %rd6, text;
    cvta.global.u64 %rd6, %rd6;
    { .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %rd6; st.param.b64 [b], %rd5;
      call.uni (r), vprintf, (a, b); ld.param.b32 %r3, [r]; }
SILENT:
"""


def test_functions_of_the_system_are_declared_once(assembles: Assembles) -> None:
    """Whatever a module calls their parameters."""
    first = module(PRINT + TEXT, SAY.replace("NUMBER", "3"))
    second = module(PRINT.replace("FORMAT", "other_name") + TEXT, SAY.replace("NUMBER", "5"), "other")
    woven = goptx.weave(first, second)
    assert woven.ptx.count(".extern .func") == 1
    outs: list[Array] = [np.zeros(BLOCK, np.int32) for _ in range(2)]
    result = goptx.emulate(woven, 1, BLOCK, [[DATA, out] for out in outs])
    assert sorted(result.printed.split()) == sorted(f"{n}{DATA[n]}" for n in (3, 5))
    assert [np.flatnonzero(out).tolist() for out in outs] == [[3], [5]]
    assembles(woven)


COUNT = 100


def compiled(source: Path, entry: str) -> tuple[list[int], str]:
    """What a kernel of tests/corpus/sources/callees.cu writes and prints."""
    out = np.zeros(COUNT, np.int32)
    result = goptx.emulate(source, 2, BLOCK, [np.arange(COUNT, dtype=np.int32), out, np.int32(COUNT)], entry=entry)
    return [int(v) for v in out], result.printed


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::goptx.errors.DebugInformationLost")
@pytest.mark.parametrize("build", ["sm_80", "sm_80-lineinfo", "sm_80-debug"])
@pytest.mark.parametrize("names", [("callees", "partner"), ("callees", "callees"), ("partner", "callees")])
def test_what_nvcc_makes_of_it(build: str, names: tuple[str, str], assembles: Assembles) -> None:
    """A table of functions, virtual calls, recursion, printf, assert and a local array, in three builds."""
    path = CORPUS / f"callees.{build}.nvcc.ptx"
    woven = goptx.weave(path, path, entries=names)
    outs: list[Array] = [np.zeros(COUNT, np.int32) for _ in names]
    data = np.arange(COUNT, dtype=np.int32)
    result = goptx.emulate(woven, 2, BLOCK, [[data, out, np.int32(COUNT)] for out in outs])
    separate = [compiled(path, name) for name in names]
    assert [out.tolist() for out in outs] == [values for values, _ in separate]
    assert result.printed == "".join(text for _, text in separate)
    assert woven.symbols["A"]["calls"] == woven.symbols["B"]["calls"] == "calls"
    assembles(woven)


LANGUAGE = "language.sm_75.nvcc.ptx"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["calls", "chooses", "heap"])
def test_what_cuda_allows_is_woven(name: str, assembles: Assembles) -> None:
    """Recursion, tables of functions, virtual calls, printf, assert, malloc and free, local arrays, alloca."""
    path = CORPUS / LANGUAGE
    assembles(goptx.weave(path, path, entries=[name, "heap" if name == "chooses" else "chooses"]))
    assembles(goptx.weave(path, path, entries=[name, name]))


ASSERT = """
.extern .func __assertfail
    (.param .b64 message, .param .b64 file, .param .b32 line, .param .b64 function, .param .b64 size) .noreturn;
.global .align 1 .b8 text[6] = {120, 32, 60, 32, 57, 0};
"""  # "x < 9"
FAILS = """
    setp.lt.u32 %p1, %r1, BOUND; @%p1 bra FINE;
    mov.u64 %rd5, text; cvta.global.u64 %rd5, %rd5;
    { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
      st.param.b64 [a], %rd5; st.param.b64 [b], %rd5; st.param.b32 [c], 77; st.param.b64 [d], %rd5; st.param.b64 [e], 1;
      call.uni __assertfail, (a, b, c, d, e); }
FINE: mov.u32 %r3, %r2;
"""


def test_assertions_of_both_kernels(assembles: Assembles) -> None:
    """One that fails stops the woven kernel as it does its own."""
    holds, fails = (module(ASSERT, FAILS.replace("BOUND", str(bound)), f"below_{bound}") for bound in (64, 60))
    woven = goptx.weave(holds, holds)
    assert woven.ptx.count(".extern .func __assertfail") == 1
    assert together(woven) == [DATA.tolist()] * 2
    assembles(woven)
    woven = goptx.weave(holds, fails)
    with pytest.raises(EmulationFault, match="assertion `x < 9` failed") as caught:
        together(woven)
    assert (caught.value.kind, caught.value.kernel) == ("trap", "B")
    assembles(woven)


@pytest.mark.parametrize("name", ["textures", "surfaces"])
def test_textures_and_surfaces(name: str, assembles: Assembles) -> None:
    """By handles in parameters; the emulator has none, and says so."""
    path = CORPUS / "textures.sm_80.nvcc.ptx"
    woven = goptx.weave(path, path, entries=[name, "surfaces"])
    words = (" tex.", " tld4.", " txq.") if name == "textures" else (" suld.", " sust.", " sured.")
    assert all(word in woven.ptx for word in words)
    assembles(woven)
    alone = goptx.weave(path, PARTNER, entries=[name, None])
    handles = [np.uint64(0)] * 2 + [np.zeros(4096, np.float32), np.int32(1)] * (name == "textures")
    with pytest.raises(EmulationFault, match=r"`(tex|suld|suq)\.") as caught:
        goptx.emulate(alone, 1, BLOCK, [handles, [DATA, np.zeros(BLOCK, np.int32)]])
    assert caught.value.kind == "unsupported"


REFERENCES = ".global .texref picture;\n.global .surfref canvas;\n.global .texref unused;\n"
LOOK = "tex.1d.v4.s32.s32 {%r3, %r4, %r5, %r6}, [picture, {%r2}]; sust.b.1d.b32.trap [canvas, {%r1}], {%r3};"


def test_texture_references_stay_distinct_and_are_found(assembles: Assembles) -> None:
    woven = goptx.weave(module(REFERENCES, LOOK), module(REFERENCES, LOOK, "other"))
    assert woven.symbols == {
        "A": {"picture": "picture", "canvas": "canvas"}, "B": {"picture": "picture_b", "canvas": "canvas_b"}
    }  # fmt: skip
    assembles(woven)
    with pytest.raises(EmulationFault, match=r"`tex\.1d.*"):
        goptx.emulate(woven, 1, BLOCK, [[DATA, np.zeros(BLOCK, np.int32)] for _ in range(2)])


def test_samplers_of_independent_textures(assembles: Assembles) -> None:
    items = ".global .texref picture;\n.global .samplerref nearest = { filter_mode = nearest };\n"
    look = LOOK.partition("sust")[0].replace("picture", "picture, nearest")
    independent = [
        module(items, look, name).replace("sm_80", "sm_80, texmode_independent") for name in ("k", "other")
    ]  # fmt: skip
    woven = goptx.weave(*independent)
    assert woven.symbols["B"] == {"picture": "picture_b", "nearest": "nearest_b"}
    assembles(woven)
