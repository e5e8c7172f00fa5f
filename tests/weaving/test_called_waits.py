"""Waits by what functions read: refused where other CTAs may answer, or where the function stays a function."""

from collections.abc import Callable

import numpy as np
import pytest

import goptx
from goptx import CannotWeave, Shape

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
FUNCTIONS = """
.func (.param .b32 r) peek(.param .b64 p)
{ .reg .b64 %a; .reg .b32 %x; ld.param.u64 %a, [p]; ld.volatile.global.u32 %x, [%a]; st.param.b32 [r], %x; ret; }
.func (.param .b32 r) peek2(.param .b64 p)
{ .reg .b64 %a; .reg .b32 %x; ld.param.u64 %a, [p];
  { .param .b64 q; .param .b32 s; st.param.b64 [q], %a; call.uni (s), peek, (q); ld.param.b32 %x, [s]; }
  add.u32 %x, %x, 0; st.param.b32 [r], %x; ret; }
.func (.param .b32 r) fetch(.param .b64 p)
{ .reg .b64 %a; .reg .b32 %x; ld.param.u64 %a, [p]; ld.global.cg.u32 %x, [%a]; st.param.b32 [r], %x; ret; }
.func (.param .b32 r) swap(.param .b64 p)
{ .reg .b64 %a; .reg .b32 %x; ld.param.u64 %a, [p]; atom.cas.b32 %x, [%a], 0, 1; st.param.b32 [r], %x; ret; }
.func (.param .b32 r) count(.param .b64 p)
{ .reg .b64 %a; .reg .b32 %x; ld.param.u64 %a, [p]; atom.add.u32 %x, [%a], 1; st.param.b32 [r], %x; ret; }
.func (.param .b32 r) again(.param .b64 p)
{ .reg .b64 %a; .reg .b32 %x; .reg .pred %q; ld.param.u64 %a, [p]; ld.volatile.global.u32 %x, [%a];
  st.param.b32 [r], %x; setp.ne.u32 %q, %x, 0; @%q ret;
  { .param .b64 s; .param .b32 t; st.param.b64 [s], %a; call.uni (t), again, (s); ld.param.b32 %x, [t]; }
  st.param.b32 [r], %x; ret; }
.func (.param .b32 r) deeper(.param .b64 p)
{ .reg .b64 %a; .reg .b32 %x, %y; .reg .pred %q; ld.param.u64 %a, [p]; atom.global.add.u32 %y, [%a], 1;
  and.b64 %a, %a, -8; ld.global.u32 %x, [%a+1024]; st.param.b32 [r], %x; setp.eq.u32 %q, %x, 0; @%q ret;
  { .param .b64 s; .param .b32 t; st.param.b64 [s], %a; call.uni (t), deeper, (s); ld.param.b32 %x, [t]; }
  st.param.b32 [r], %x; ret; }
.func (.param .b32 r) own(.param .b64 p)
{ .reg .b64 %a; .reg .b32 %x; ld.param.u64 %a, [p]; ld.acquire.cta.global.u32 %x, [%a]; st.param.b32 [r], %x; ret; }
.extern .func (.param .b32 r) elsewhere(.param .b64 p);
"""
CALL = "{{ .param .b64 a; .param .b32 b; st.param.b64 [a], %rd3; call.uni (b), {}, (a); ld.param.b32 %r3, [b]; }}"
POINTED = """{{ .param .b64 a; .param .b32 b; st.param.b64 [a], %rd3; mov.u64 %rd4, {};
    prototype: .callprototype (.param .b32 _) _ (.param .b64 _); call (b), %rd4, (a), prototype;
    ld.param.b32 %r3, [b]; }}"""
AROUND = "L: {} setp.eq.u32 %p1, %r3, 0; @%p1 bra L;"


def module(body: str, name: str = "k") -> str:
    """An entry in which %r1 is the thread's number in the grid, %rd3 the address of `in`; %r3 is stored."""
    return f"""{HEAD}{FUNCTIONS}
.visible .entry {name}(.param .u64 in, .param .u64 out)
{{
    .reg .pred %p<5>; .reg .b32 %r<20>; .reg .b64 %rd<9>;
    ld.param.u64 %rd3, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r4, %ntid.x;
    mad.lo.u32 %r1, %r2, %r4, %r1; mul.wide.u32 %rd1, %r1, 4; add.s64 %rd2, %rd2, %rd1; mov.u32 %r5, 0;
    {body}
    st.global.u32 [%rd2], %r3; ret;
}}
"""


PARTNER = module("bar.sync 0; add.u32 %r3, %r1, 7;", "other")
SHAPES = [Shape(8, 64), Shape(4, 64)]
WAYS: dict[str, Callable[[str], goptx.Woven]] = {
    "weave": lambda text: goptx.weave(text, PARTNER),
    "vertical": lambda text: goptx.fuse(text, PARTNER, strategy="vertical"),
    "horizontal": lambda text: goptx.fuse(text, PARTNER, strategy="horizontal", shapes=SHAPES),
    "interleave": lambda text: goptx.fuse(text, PARTNER, strategy="interleave", shapes=SHAPES),
    "interleave in front": lambda t: goptx.fuse(t, PARTNER, strategy="interleave", shapes=SHAPES, placement="front"),
    "coarsen": lambda text: goptx.coarsen(text, 2),
    "coarsen, known": lambda text: goptx.coarsen(text, 2, shape=Shape(8, 64)),
}
CTAS = r"the loop may wait for other CTAs.*use separate launches"
REFUSED = {
    "a call": (AROUND.format(CALL.format("peek")), CTAS),
    "a call of a call": (AROUND.format(CALL.format("peek2")), CTAS),
    "ld.cg in a call": (AROUND.format(CALL.format("fetch")), CTAS),
    "ld.cg": (AROUND.format("ld.global.cg.u32 %r3, [%rd3];"), CTAS),
    "ld.cv": (AROUND.format("ld.global.cv.u32 %r3, [%rd3];"), CTAS),
    "ld.cv of one of several": (
        "L: mul.wide.u32 %rd4, %r5, 4; add.s64 %rd5, %rd3, %rd4; ld.global.cv.u32 %r3, [%rd5]; setp.ne.u32 %p1, %r3, 0;"
        "selp.u32 %r6, 1, 0, %p1; add.u32 %r5, %r5, %r6; setp.lt.u32 %p2, %r5, 4; @%p2 bra L;",
        CTAS,
    ),
    "a lock in a call": (AROUND.format(CALL.format("swap")).replace("eq", "ne"), CTAS),
    "by shared memory": (
        ".shared .b32 s; setp.ne.u32 %p2, %r1, 0; L: bar.sync 0; @%p2 bra N; ld.acquire.gpu.global.u32 %r6, [%rd3];"
        "st.shared.u32 [s], %r6; N: bar.sync 0; ld.shared.u32 %r3, [s]; setp.eq.u32 %p1, %r3, 0; @%p1 bra L;",
        CTAS,
    ),
    "one of two reads": (
        ".shared .b32 s; L: ld.acquire.gpu.global.u32 %r3, [%rd3];"
        "ld.volatile.shared.u32 %r6, [s]; or.b32 %r3, %r3, %r6;"
        "setp.eq.u32 %p1, %r3, 0; @%p1 bra L;",
        CTAS,
    ),
    "a call through a pointer": (AROUND.format(POINTED.format("peek")), CTAS),
    "within the CTA through a pointer": (AROUND.format(POINTED.format("own")), "called through a pointer.*inline the"),
    "a function that calls itself": (CALL.format("again"), CTAS),
    "a function that is not there": (
        AROUND.format(CALL.format("elsewhere")),
        r"`call.uni \(b\), elsewhere, \(a\);` decides when a loop ends, and the code of that function is not there, so "
        r"the loop may wait for other threads; give a module with its code, or use separate launches",
    ),
}
TAKEN = {
    "a count in a call": "L: " + CALL.format("count") + "add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 3; @%p1 bra L;",
    "a list that ends": "L: " + CALL.format("fetch") + "add.s64 %rd3, %rd3, 4; setp.ne.u32 %p1, %r3, 0; @%p1 bra L;",
    "a call after a loop": "L: add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 3; @%p1 bra L;" + CALL.format("peek"),
    "a function that calls itself": CALL.format("deeper"),
    "a call through a pointer": POINTED.format("count"),
    "in the own CTA": "setp.ne.u32 %p2, %r1, %r1; " + AROUND.format(CALL.format("own")),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", REFUSED)
def test_waits_for_other_ctas_are_refused_whatever_the_strategy(name: str, way: str) -> None:
    body, words = REFUSED[name]
    with pytest.raises(CannotWeave, match=words) as caught:
        WAYS[way](module(body))
    assert str(caught.value).startswith("<ptx>:")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", TAKEN)
def test_what_does_not_wait_for_other_ctas_is_taken(name: str, way: str) -> None:
    assert WAYS[way](module(TAKEN[name]))


@pytest.mark.parametrize("name", [name for name in TAKEN if name not in ("a count in a call", "in the own CTA")])
def test_what_is_taken_is_right(name: str) -> None:
    source = module(TAKEN[name].replace("count", "fetch"))
    data = np.array([*range(5, 0, -1), *[0] * 600], np.uint32)

    def alone(text: str, given: np.ndarray) -> list[int]:
        out = np.zeros(128, np.uint32)
        goptx.emulate(text, 2, 64, [given, out], max_steps=10_000)
        return [int(v) for v in out]

    outs = [np.zeros(128, np.uint32) for _ in range(2)]
    goptx.emulate(goptx.weave(source, PARTNER), 2, 64, [[data.copy(), out] for out in outs], max_steps=10_000)
    assert [out.tolist() for out in outs] == [alone(source, data.copy()), alone(PARTNER, data.copy())]
