"""Code of a kernel that a warp or a CTA skips after the kernel has ended is proved; other questions are refused."""

from __future__ import annotations

import re

import pytest

import goptx
from goptx.checking.certify import prove, prove_texts
from goptx.options import Strategy
from goptx.proof.certificate import Certificate
from goptx.proof.prove import prove_text
from goptx.ptx.parse import parse

TILED = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry tiled(.param .u64 out, .param .u32 n, .param .u32 m) {
.reg .pred %p<5>; .reg .b32 %r<20>; .reg .b64 %rd<8>;
.shared .align 4 .b8 buf[1024];
ld.param.u64 %rd1, [out];
ld.param.u32 %r1, [n];
ld.param.u32 %r2, [m];
mov.u32 %r3, %ctaid.x;
mov.u32 %r9, %ntid.x;
mov.u32 %r4, %tid.x;
mad.lo.u32 %r10, %r3, %r9, %r4;
setp.ge.u32 %p1, %r10, %r1;
@%p1 bra DONE;
shl.b32 %r5, %r4, 2;
mov.u32 %r6, buf;
add.u32 %r6, %r6, %r5;
mov.u32 %r7, 0;
mov.u32 %r8, 0;
LOOP:
st.shared.u32 [%r6], %r7;
bar.sync 0;
ld.shared.u32 %r11, [buf];
add.u32 %r8, %r8, %r11;
bar.sync 0;
add.u32 %r7, %r7, 1;
setp.lt.u32 %p2, %r7, %r2;
@%p2 bra LOOP;
mul.wide.u32 %rd2, %r10, 4;
add.u64 %rd3, %rd1, %rd2;
st.global.u32 [%rd3], %r8;
DONE:
ret;
}
"""
PLAIN = TILED.replace("bar.sync 0;", "").replace("tiled", "plain")
BOTH: tuple[Strategy, ...] = ("weave", "vertical")


def fused(first: str, second: str, strategy: Strategy = "weave") -> goptx.Woven:
    return goptx.fuse(parse(first, "first.ptx"), parse(second, "second.ptx"), strategy=strategy)


@pytest.mark.parametrize("strategy", BOTH)
def test_a_cta_for_which_a_kernel_has_ended_skips_its_barriers(strategy: Strategy) -> None:
    made = fused(TILED, TILED, strategy)
    assert made.text().count("bar.red.or.pred") >= 2
    certificate = prove(made)
    assert certificate, str(certificate)


@pytest.mark.parametrize("pair", [(PLAIN, PLAIN), (TILED, PLAIN), (PLAIN, TILED)])
def test_ctas_and_warps_for_which_kernels_have_ended_are_asked(pair: tuple[str, str]) -> None:
    certificate = prove(fused(*pair, "vertical"))
    assert certificate, str(certificate)


EDITS = [
    (r"bar\.red\.or(.*%b_any)", r"bar.red.and\1"),  # the kernel goes on only where all threads run it
    (r"bar\.red\.or(.*%b_any\d+, 1, )%b_run0", r"bar.red.or\1%b_p1"),  # those are asked that have ended it
    (r"bar\.red\.or(.*%b_any\d+, 1, )%b_run0", r"bar.red.or\1!%b_run0"),
    (r"bar\.red\.or(.*%b_any\d+, 1, )%b_run0", r"bar.red.or\1%a_run0"),
    (r"bar\.red\.or(.*%b_any)", r"@%b_run0 bar.red.or\1"),  # not all threads come
    (r"bar\.red\.or\.pred (%b_any\d+), 1, (%b_run0);", r"vote.sync.any.pred \1, \2, -1;"),  # each warp by itself
    (r"bar\.red\.or\.pred (%b_any\d+), 1, (%b_run0);", r"mov.pred \1, \2;"),  # each thread by itself
    (r"bar\.red\.or\.pred (%b_any\d+), 1, (%b_run0);", r"bar.red.or.pred \1, 1, 64, \2;"),  # some threads
    (r"(bar\.red\.or.*%b_any\d+, 1, %b_run0;)", r"\1 mov.pred %b_any2, %a_any2;"),  # the answer for another kernel
    (r"@!(%b_any\d+ bra\.uni \$exit)", r"@\1"),
    (r"@(%b_any\d+ bra)", r"@!\1"),
    (r"(and\.pred %b_run0, %b_run0, %b_unless;)", ""),  # it goes on for threads that have ended it
]


@pytest.mark.parametrize("edit", EDITS, ids=range(len(EDITS)))
def test_another_question_is_refused(edit: tuple[str, str]) -> None:
    text = fused(TILED, TILED).text()
    changed = re.sub(*edit, text, count=1)
    assert changed != text
    modules = [parse(TILED, "first.ptx"), parse(TILED, "second.ptx")]
    assert prove_texts(text, modules)
    assert not prove_texts(changed, modules)


MASKED = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry masked(.param .u64 out, .param .u32 n) {
.reg .pred %p<5>; .reg .b32 %r<20>; .reg .b64 %rd<8>;
ld.param.u64 %rd1, [out];
ld.param.u32 %r1, [n];
mov.u32 %r4, %tid.x;
setp.ge.u32 %p1, %r4, %r1;
vote.sync.ballot.b32 %r8, !%p1, -1;
mul.wide.u32 %rd2, %r4, 4;
add.u64 %rd3, %rd1, %rd2;
@%p1 bra DONE;
setp.lt.u32 %p2, %r4, 7;
st.global.u32 [%rd3], %r4;
MASK
bar.warp.sync %r9;
DONE:
ret;
}
"""


def with_ended_lanes_at_the_barrier(kernel: str) -> Certificate:
    """Of the kernel side by side with an empty one, with a jump of the first lanes that leave changed to where the
    others meet. As it is made, it is proved."""
    empty = kernel[: kernel.index(".visible")] + ".visible .entry e() { ret; }"
    shapes = [goptx.Shape(2, 64)] * 2
    made = goptx.fuse(parse(kernel, "k.ptx"), parse(empty, "e.ptx"), strategy="interleave", shapes=shapes)
    modules = [one.module for one in made.chosen]
    assert prove_text(made.text(), modules)
    (jump,) = re.findall(r"@%a_p1 bra (\$\w+);", made.text())
    wrong = made.text().replace(f"@%a_p1 bra {jump};", "@%a_p1 bra $HERE;")
    return prove_text(wrong.replace("bar.warp.sync", "$HERE:\n    bar.warp.sync"), modules)


@pytest.mark.parametrize("mask", [
    "vote.sync.ballot.b32 %r9, %p2, %r8;", "mov.b32 %r9, %r8;", "mov.b32 %r9, 7;", "ld.param.u32 %r9, [n];",
])  # fmt: skip
def test_lanes_that_have_ended_come_only_where_the_mask_names_them(mask: str) -> None:
    certificate = with_ended_lanes_at_the_barrier(MASKED.replace("MASK", mask))
    assert not certificate
    assert "vote" in mask or "does not name a lane whose kernel has ended" in str(certificate)


def test_lanes_on_another_side_of_a_branch_do_not_come_along() -> None:
    """They come to where their kernel does not, and end only in the same block of the fused kernel."""
    sided = MASKED.replace("@%p1 bra DONE;", "@%p1 bra LATER;").replace("MASK", "mov.b32 %r9, %r8;")
    certificate = with_ended_lanes_at_the_barrier(sided.replace("DONE:", "LATER:\nst.global.u32 [%rd3+4], %r1;"))
    assert not certificate and "a lane whose kernel is past it may pass" in str(certificate)


INNER = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry NAME(.param .u64 out, .param .u32 n) {
.reg .pred %p<5>; .reg .b32 %r<20>; .reg .b64 %rd<8>;
ld.param.u64 %rd1, [out];
ld.param.u32 %r1, [n];
mov.u32 %r4, %tid.x;
mov.u32 %r8, 0;
OUTER:
mov.u32 %r7, 0;
INNER:
add.u32 %r8, %r8, %r7;
add.u32 %r7, %r7, 1;
setp.lt.u32 %p2, %r7, 16;
@%p2 bra INNER;
add.u32 %r4, %r4, 7;
setp.lt.u32 %p1, %r4, %r1;
@%p1 bra OUTER;
mul.wide.u32 %rd2, %r4, 4;
add.u64 %rd3, %rd1, %rd2;
st.global.u32 [%rd3], %r8;
ret;
}
"""


@pytest.mark.parametrize("strategy", BOTH)
def test_loops_within_loops_that_a_warp_goes_through_for_lanes_that_ask(strategy: Strategy) -> None:
    """Lanes that have left the outer loop come along, as others of their warp ask for it; at first nobody votes."""
    kernels = [INNER.replace("NAME", name) for name in "ab"]
    text = fused(kernels[0], kernels[1], strategy).text()
    assert "vote.sync.any" in text
    modules = [parse(k) for k in kernels]
    assert prove_text(text, modules), str(prove_text(text, modules))
    endless = re.sub(r"(vote\.sync\.any\.pred %b_any\d+, )%b_in\d+", r"\1%b_p2", text)
    forever = re.sub(r"mov\.pred (%b_in\d+), 1;", r"mov.pred \1, 0;", text)
    assert endless != text != forever
    for wrong in (endless, forever):
        assert not prove_text(wrong, modules)
