"""Calls are proved where they stay calls of the same functions, or become the functions' code; others are refused."""

from __future__ import annotations

import re

import pytest

import goptx
from goptx.checking.certify import prove, prove_texts
from goptx.options import Strategy
from goptx.proof.certificate import digest
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
