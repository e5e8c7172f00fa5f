"""Calls are proved where they stay calls of the same functions, or become the functions' code; others are refused."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from proof.fused_text import ADDRESS, Given, certificate

import goptx
from goptx.checking.certify import prove, prove_texts
from goptx.options import Strategy
from goptx.proof.certificate import Certificate, digest
from goptx.ptx.parse import parse

KERNEL = """\
.version 8.0
.target sm_80
.address_size 64
.func (.param .b32 result) f(.param .b32 one, .param .b32 two) {
.reg .b32 %r<4>; .reg .pred %p; .reg .b64 %d<3>;
ld.param.b32 %r1, [one];
ld.param.b32 %r2, [two];
CODE
st.param.b32 [result+0], %r3;
ret;
}
.visible .entry k(.param .u64 out, .param .u32 n) {
.reg .b32 %r<9>; .reg .b64 %d<5>; .reg .pred %p<3>;
ld.param.u64 %d1, [out];
ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x;
mov.u32 %r5, 0;
setp.ge.u32 %p1, %r2, %r1;
@%p1 ret;
mul.wide.u32 %d2, %r2, 4;
add.u64 %d3, %d1, %d2;
{
.param .b32 a;
.param .b32 b;
.param .b32 c;
st.param.b32 [a], %r2;
st.param.b32 [b], 7;
call (c), f, (a, b);
ld.param.b32 %r4, [c];
}
add.cc.u32 %r6, %r4, %r2;
addc.u32 %r7, %r6, 1;
st.global.u32 [%d3], %r7;
ret;
}
"""
PURE = "sub.u32 %r3, %r1, %r2;"
STORES = "mov.u64 %d1, 4096;\nst.global.u32 [%d1], %r2;\nsub.u32 %r3, %r1, %r2;"
BOTH: tuple[Strategy, ...] = ("weave", "vertical")


def kernel(code: str) -> str:
    return KERNEL.replace("CODE", code)


def fused(code: str, strategy: Strategy = "weave") -> str:
    module = parse(kernel(code))
    return goptx.fuse(module, module, strategy=strategy).text()


def proved(text: str, code: str) -> bool:
    return bool(prove_texts(text, [parse(kernel(code))] * 2))


@pytest.mark.parametrize("strategy", BOTH)
@pytest.mark.parametrize("code", [PURE, STORES])
def test_calls_that_stay_calls(code: str, strategy: Strategy) -> None:
    text = fused(code, strategy)
    assert text.count("call (") >= 2
    assert proved(text, code)


@pytest.mark.parametrize("strategy", BOTH)
def test_calls_that_become_the_functions_code(strategy: Strategy) -> None:
    code = "setp.gt.u32 %p, %r1, %r2;\n@%p exit;\nsub.u32 %r3, %r1, %r2;"
    module = parse(kernel(code))
    made = goptx.fuse(module, module, strategy=strategy)
    assert "call (" not in made.text()
    certificate = prove(made)
    assert certificate, str(certificate)


EDITS = [
    (r"sub\.u32 %r3, %r1, %r2;", "sub.u32 %r3, %r2, %r1;"),  # another function
    (r"st\.param\.b32 \[b\], 7;", "st.param.b32 [b], 8;"),
    (r"call \(c\), f, \(a, b\);", "call (c), f, (b, a);"),
    (r"ld\.param\.b32 (%[ab]_r4), \[c\];", r"ld.param.b32 \1, [a];"),
    (r"st\.param\.b32 \[a\], %a_r2;", "st.param.b32 [a], %b_r6;"),
    (r"(\.param \.b32 )a;", r"\1a[2];"),
    (r"(?:@%\w+ )?(call \(c\))", r"@!%a_run0 \1"),
    (r"(?:@%\w+ )?call (\(c\))", r"@%a_run0 call.uni \1"),  # lanes may differ in the guard
]


@pytest.mark.parametrize("edit", EDITS, ids=range(len(EDITS)))
@pytest.mark.parametrize("code", [PURE, STORES])
def test_other_calls_are_refused(code: str, edit: tuple[str, str]) -> None:
    text = fused(code)
    changed = re.sub(*edit, text, count=1)
    assert changed != text and proved(text, code)
    assert not proved(changed, code)


def test_threads_that_have_ended_call_only_what_computes() -> None:
    for code, may in ((PURE, True), (STORES, False)):
        text = fused(code)
        changed = re.sub(r"@%a_run0 call", "call", text)
        assert proved(changed, code) == may
        assert (changed != text) or may


def test_a_call_between_a_carry_flag_and_its_use_is_refused() -> None:
    """Functions may use the flag. The call of kernel B is moved up to where kernel A needs it."""
    text = fused(PURE, "vertical")
    calls = re.findall(r" *\{\n(?:[^{}]*\n)*?.*call \(c\)[^}]*\}\n", text)
    flag = re.search(r".*addc\.u32 %\w+7,.*\n", text)
    assert len(calls) == 2 and flag and proved(text, PURE)
    lines = text.replace(calls[1], "").replace(flag[0], calls[1] + flag[0], 1)
    gaps = prove_texts(lines, [parse(kernel(PURE))] * 2).gaps
    assert [(gap.rule, gap.kernel) for gap in gaps] == [("projection", "A")] and "other operands" in gaps[0].what


REFUSED = [
    "bar.sync 0;\nmov.u32 %r3, 1;", "mov.u32 %r3, %clock;", "mov.u32 %r3, %dynamic_smem_size;",
    "vote.sync.any.pred %p, %p, -1;\nmov.u32 %r3, 1;", "frobnicate.u32 %r3, %r1;",
    "AGAIN: ld.volatile.global.u32 %r3, [%d1];\nsetp.eq.u32 %p, %r3, 0;\n@%p bra AGAIN;",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("code", REFUSED)
def test_functions_of_which_the_checker_knows_no_rule_are_refused(code: str) -> None:
    """The text is that of another function, whose calls stay; both texts have the changed one."""
    text = fused(STORES).replace(STORES.replace("\n", "\n    "), code)
    assert code in text
    old = re.search(r'"sha256": "(\w+)"', text)
    assert old
    changed = text.replace(old[1], digest(str(parse(kernel(code)))))
    certificate = prove_texts(changed, [parse(kernel(code))] * 2)
    assert "a call: " in str(certificate), str(certificate)


BY_REGISTERS = kernel(PURE)
for old, new in (
    ("(.param .b32 result) f(.param .b32 one, .param .b32 two)", "(.reg .b32 %r3) f(.reg .b32 %r1, .reg .b32 %r2)"),
    (".reg .b32 %r<4>; .reg .pred %p; .reg .b64 %d<3>;\nld.param.b32 %r1, [one];\nld.param.b32 %r2, [two];\n", ""),
    ("st.param.b32 [result+0], %r3;\n", ""),
):
    BY_REGISTERS = BY_REGISTERS.replace(old, new)
GUARD = "setp.lt.u32 %p2, %r2, 5;\n"
GUARDED = re.sub(r"\{\n\.param(.|\n)*?\}", f"mov.u32 %r4, 3;\n{GUARD}@%p2 call (%r4), f, (%r2, %r1);", BY_REGISTERS)


def certified(text: str, kernel: str) -> Certificate:
    return prove_texts(text, [parse(kernel)] * 2)


@pytest.mark.parametrize("strategy", BOTH)
def test_a_register_keeps_what_it_holds_where_a_call_is_skipped(strategy: Strategy) -> None:
    text = goptx.fuse(parse(GUARDED), parse(GUARDED), strategy=strategy).text()
    made = certified(text, GUARDED)
    assert text.count("call (%") == 2 and made, str(made)
    for old, new in (
        (r"mov\.u32 %b_r4, 3;", "mov.u32 %b_r4, 4;"), (r"@%b_\w+ call", "call"), (r"@%b_(\w+) call", r"@!%b_\1 call"),
        (r"call \(%b_r4\)", "call (%b_r5)"), (r"\(%b_r2, %b_r1\)", "(%b_r1, %b_r2)"), (r".*call \(%b_r4\).*\n", ""),
    ):  # fmt: skip
        changed = re.sub(old, new, text, count=1)
        assert changed != text and not certified(changed, GUARDED), (old, new)


def test_what_a_skipped_call_gives_by_a_parameter_is_not_known() -> None:
    """The parameter is loaded all the same."""
    skipped = kernel(PURE).replace("call (c)", "@%p2 call (c)").replace("@%p1 ret;\n", "")
    skipped = skipped.replace("{\n.param .b32 a", GUARD + "{\n.param .b32 a")
    made = certified(goptx.fuse(parse(skipped), parse(skipped)).text(), skipped)
    assert "other operands" in str(made)


A = r"\.param \.b32 a;"
PASSED = [  # what is passed stands outside of the braces, or nothing says what is passed
    (r"\{\n(\.param(?:.|\n)*?)\}", r"\1"),
    (
        rf"\{{\n{A}((?:.|\n)*?)st\.param\.b32 \[a\], %r2;\n((?:.|\n)*?\}})",
        r".param .b32 a;\nst.param.b32 [a], %r2;\n{\1\2",
    ),
]


@pytest.mark.parametrize("edit", PASSED, ids=range(len(PASSED)))
def test_calls_by_parameters_declared_elsewhere_are_refused(edit: tuple[str, str]) -> None:
    """Nothing would say when these are written: without one of two such calls the text has the same terms."""
    outside = re.sub(*edit, kernel(PURE))
    assert outside != kernel(PURE)
    made = certified(goptx.fuse(parse(outside), parse(outside)).text(), outside)
    assert "a call of a form that the checker does not know" in str(made)


def test_a_call_in_braces_by_registers_is_refused() -> None:
    braced = GUARDED.replace("@%p2 call (%r4), f, (%r2, %r1);", "{ call (%r4), f, (%r2, %r1); }")
    made = certified(goptx.fuse(parse(braced), parse(braced)).text(), braced)
    assert "a call of a form that the checker does not know" in str(made)


NUMBERED = kernel(
    "mov.u32 %r3, %tid.x;\nmad.lo.u32 %r3, %r3, %r1, %r2;\nmov.u32 %r1, %tid.y;\nadd.u32 %r3, %r3, %r1;\n"
    "mov.u64 %d1, 4096;\nst.global.u32 [%d1], %r3;"
)
VIEWS = [
    (r"(and\.b32 %\w+, %\w+, )15;", r"\g<1>7;"),
    (r"(shr\.u32 %\w+, %\w+, )4;", r"\g<1>3;"),
    (r"mov\.u32 (%shape\d+), %tid\.x;", r"mov.u32 \1, %laneid;"),
    (r"mov\.u32 %r3, %shape1;", "mov.u32 %r3, %shape0;"),
    (r"mov\.u32 %r3, %shape1;", "mov.u32 %r3, %tid.x;"),
    (r"mov\.u32 %r3, %shape1;", "mov.u32 %r3, 0;"),
    (r"(shr\.u32 %shape2)", r"@%p \1"),
    (r"shr\.u32 %shape2,", "shr.u32 %r2,"),
    (r"(shr\.u32 %shape2.*\n)", ""),
    (r"(shr\.u32 %shape2.*\n)", r"\1st.local.u32 [0], %shape2;\n"),
    (r"(mad\.lo\.u32 %r3.*\n)", r"\1mov.u32 %r3, %shape0;\n"),
    (r"(mad\.lo\.u32 %r3.*\n)", r"\1mov.u32 %shape2, 1;\n"),
]


def test_functions_that_ask_for_the_threads_number() -> None:
    """Where the kernels have shapes of their own, the fused kernel's function begins with code that computes it."""
    shapes = [goptx.Shape.parse(s) for s in ("2:16x3", "1:100")]
    text = goptx.fuse(parse(NUMBERED), parse(NUMBERED), strategy="interleave", shapes=shapes).text()
    made = certified(text, NUMBERED)
    assert "%shape2" in text and made, str(made)
    for old, new in VIEWS:
        changed = re.sub(old, new, text, count=1)
        assert changed != text and not certified(changed, NUMBERED), (old, new)


def test_parameters_for_calls_are_not_those_of_the_entry() -> None:
    """A load of one may not stand before what the kernel has before it."""
    outside = kernel(PURE).replace(
        "setp.ge.u32 %p1", ".param .b32 x;\nst.param.b32 [x], %r2;\nld.param.b32 %r3, [x];\nsetp.ge.u32 %p1"
    )
    made = certified(goptx.fuse(parse(outside), parse(outside)).text(), outside)
    assert "a call of a form that the checker does not know" in str(made)


def test_loads_of_the_entrys_parameters_may_stand_before_what_orders_memory() -> None:
    loads = kernel(PURE).replace(
        "setp.ge.u32 %p1",
        "FENCE\nmov.u64 %d4, out;\nld.param.u32 %r8, [%d4];\nst.global.u32 [%d1], %r8;\nsetp.ge.u32 %p1",
    )
    module = loads.replace("FENCE", "membar.gl;")
    text = goptx.fuse(parse(module), parse(module), strategy="vertical").text()
    assert certified(text, module)
    (fence,) = re.findall(r".*membar\.gl; // B.*\n", text)
    (load,) = re.findall(r".*ld\.param\.u32 %b_r8.*\n", text)
    (store,) = re.findall(r".*st\.global\.u32 \[%b_d1\], %b_r8.*\n", text)
    for moved, right in ((load, True), (store, False)):
        later = text.replace(fence, "").replace(moved, moved + fence)
        assert bool(certified(later, module)) == right, moved


READS = ".func (.reg .b32 %x) f(.reg .b64 %p) {{ .reg .pred %q; ld.{}.global.u32 %x, [%p]; {} ret; }}"
AGAIN = "setp.ne.u32 %q, %x, 0; @%q ret; call.uni (%x), f, (%p);"


@pytest.mark.parametrize("load", ["volatile", "relaxed.gpu"])
def test_functions_that_wait_by_being_called_again_are_not_known(load: str) -> None:
    """In a loop of the kernel, or by themselves: another CTA may have to answer, and need not run at the same time."""
    once = Given(ADDRESS + "call (%r2), f, (%d2);\nst.global.u32 [%d2], %r2;")
    loop = Given(ADDRESS + "L:\ncall (%r2), f, (%d2);\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;\nst.global.u32 [%d2], 1;")
    looped = "A1\nA2\nA3\nAL:\nA5\nA6\nA7: @%a_p1 bra AL;\nA8"
    for given, text, function, right in (
        (once, "A1\nA2\nA3\nA4\nA5", READS.format(load, ""), True),
        (once, "A1\nA2\nA3\nA4\nA5", READS.format(load, AGAIN), False),
        (loop, looped, READS.format(load, ""), False),
        (loop, looped, READS.format("weak", ""), True),
    ):
        own = replace(given, of_module=function, of_fused=function, symbols={"A": {"f": "f"}})
        made = certificate(own, text)
        assert bool(made) == right, str(made)
        assert right or "`f` may wait for other threads" in str(made)
