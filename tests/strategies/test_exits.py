"""`exit` in a device function ends the calling kernel for the thread, and no other kernel of the fused one."""

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from weaving.test_inline import BLOCK, DATA, HEAD, PARTNER, module

import goptx
from goptx import CannotWeave, Shape
from goptx.emulator.instructions.lanewise import Array
from goptx.options import Strategy
from goptx.results.fused_kernel import Woven
from goptx.strategies.fuse import STRATEGIES

Assembles = Callable[[Woven], None]
CTAS = 3
SHAPE = Shape(CTAS, BLOCK)
MORE = Shape(CTAS + 2, BLOCK + 24)  # of the partner
SIZE = CTAS * BLOCK

ENDS = ".func f(.reg .b32 x) { .reg .pred %q; setp.gt.u32 %q, x, 150; @%q exit; ret; }"
RESULT = (
    ".func (.param .b32 y) f(.param .b32 x) { .reg .pred %q<3>; .reg .b32 %m<3>; ld.param.u32 %m1, [x];"
    " setp.gt.u32 %q1, %m1, 200; @!%q1 bra GO; st.global.u32 [last], %m1; exit; GO: setp.lt.u32 %q2, %m1, 40;"
    " mul.lo.u32 %m1, %m1, 3; st.param.b32 [y], %m1; @%q2 ret; add.u32 %m1, %m1, 7; st.param.b32 [y], %m1; ret; }"
)
CALL = "{ .param .b32 p0; .param .b32 q; st.param.b32 [p0], %r2; call.uni (q), f, (p0); ld.param.b32 %r3, [q]; }"
FIRST = "st.global.u32 [%rd2], 5;"  # the result of a thread that ends
MEET = "bar.sync 0; add.u32 %r3, %r3, 1;"

CASES = {
    "under a guard": (ENDS, f"{FIRST} call f, (%r2); mov.u32 %r3, %r2;"),
    "before a barrier": (ENDS, f"{FIRST} call.uni f, (%r2); mov.u32 %r3, %r2; {MEET}"),
    "all threads": (".func f() { exit; }", f"{FIRST} call.uni f; mov.u32 %r3, 9;"),
    "after a branch, with a result": (".global .b32 last;" + RESULT, f"{FIRST} {CALL} {MEET}"),
    "two functions deep": (
        f"{ENDS} .func g(.reg .b32 x) {{ .reg .b32 %n; add.u32 %n, x, 20; call f, (%n); ret; }}"
        ".func h(.reg .b32 x) { call.uni g, (x); ret; }",
        f"{FIRST} call h, (%r2); mov.u32 %r3, %r2; {MEET}",
    ),
    "from several places, of them one on a side": (
        ENDS,
        f"{FIRST} setp.lt.u32 %p1, %r1, 40; @%p1 bra A; add.u32 %r4, %r2, 30; call f, (%r4); bra B;"
        f"A: mul.lo.u32 %r4, %r2, 4; call f, (%r4); B: st.global.u32 [%rd2], 6; sub.u32 %r4, %r2, 20; call f, (%r4);"
        "mov.u32 %r3, %r4;",
    ),
    "under a guard that differs by thread": (
        ".func f() { exit; }",
        f"{FIRST} setp.lt.u32 %p1, %r1, 40; @%p1 call f; mov.u32 %r3, %r2; {MEET}",
    ),
    "in a loop of the function": (
        ".func (.reg .b32 y) f(.reg .b32 x) { .reg .pred %q<3>; .reg .b32 %m<3>; mov.u32 y, 0; mov.u32 %m1, 0;"
        " L: add.u32 y, y, %m1; setp.gt.u32 %q1, y, 300; @%q1 exit; add.u32 %m1, %m1, 1; setp.lt.u32 %q2, %m1, x;"
        " @%q2 bra L; ret; }",
        f"{FIRST} shr.u32 %r4, %r2, 3; call (%r3), f, (%r4); {MEET}",
    ),
    "in a loop of the caller": (
        ENDS,
        f"{FIRST} mov.u32 %r5, 0; L: mad.lo.u32 %r4, %r5, 40, %r2; call f, (%r4); st.global.u32 [%rd2], %r4;"
        "add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 3; @%p1 bra L; mov.u32 %r3, %r4;",
    ),
    "a function that does not return": (
        ".func f(.reg .b64 x) .noreturn { st.global.u32 [x], 8; exit; }",
        f"{FIRST} setp.gt.u32 %p1, %r2, 150; @!%p1 bra GO; call.uni f, (%rd2); GO: mov.u32 %r3, %r2; {MEET}",
    ),
    "beside warp instructions": (
        ENDS,
        f"{FIRST} call f, (%r2); activemask.b32 %r4; vote.sync.ballot.b32 %r5, 1, -1; add.u32 %r3, %r4, %r5;",
    ),
    "and a function that only traps": (
        ENDS + ".func g(.reg .b32 x) { .reg .pred %q; setp.ne.u32 %q, x, 7777; @%q ret; trap; exit; }",
        f"{FIRST} call g, (%r2); call f, (%r2); mov.u32 %r3, %r2; {MEET}",
    ),
}  # fmt: skip
PLACES = "mov.u32 %r6, %ctaid.x; mul.wide.u32 %rd4, %r6, 256; add.s64 %rd1, %rd1, %rd4; add.s64 %rd2, %rd2, %rd4;"


def kernel(case: str) -> str:
    """Each CTA has a part of `in` and `out`; a global array of the functions is named where they use it."""
    functions, body = CASES[case]
    return module(functions, body).replace("ld.global.u32 %r2", f"{PLACES} ld.global.u32 %r2")


def partner() -> str:
    """PARTNER; each CTA has a result."""
    places = f"mov.u32 %r5, %ctaid.x; mul.wide.u32 %rd2, %r5, {4 * (MORE.threads or 0)};"
    return PARTNER.replace("st.global", f"{places} add.s64 %rd1, %rd1, %rd2; st.global")


def inputs() -> Array:
    return np.concatenate([DATA, DATA[::-1], np.where(DATA % 2, DATA, 1)]).astype(np.int32)


def outputs(text: str) -> Array:
    return np.zeros(SIZE if ".entry k" in text else (MORE.ctas or 0) * (MORE.threads or 0), np.int32)


def arguments(text: str) -> list[Array]:
    return [inputs(), outputs(text)] if ".entry k" in text else [outputs(text)]


def shape_of(text: str) -> Shape:
    return SHAPE if ".entry k" in text else MORE


@cache
def alone(text: str) -> Array:
    args, shape = arguments(text), shape_of(text)
    goptx.emulate(text, shape.sizes("grid"), shape.sizes("block"), args, races="last" not in text)
    return args[-1]


def check(woven: Woven, *texts: str) -> None:
    """It does what the kernels do alone, in two orders of the warps."""
    for seed in (0, 3):
        args = [arguments(text) for text in texts]
        goptx.emulate(woven, args=args, shapes=[shape_of(text) for text in texts], seed=seed)
        for text, own in zip(texts, args, strict=True):
            assert own[-1].tolist() == alone(text).tolist()


@pytest.mark.parametrize("case", CASES)
def test_a_kernel_alone(case: str) -> None:
    """Some threads end early, some do not."""
    found = set(alone(kernel(case)).tolist())
    assert len(found & {5, 6, 8}) >= 1
    assert len(found) > 2 or case == "all threads"


@pytest.mark.slow
@pytest.mark.parametrize(("case", "strategy"), list(product(CASES, [s for s in STRATEGIES if s != "auto"])))
def test_the_other_kernel_goes_on(case: str, strategy: Strategy, assembles: Assembles) -> None:
    texts = kernel(case), partner()
    for order in (texts, texts[::-1]):
        woven = goptx.fuse(*order, strategy=strategy, shapes=[shape_of(text) for text in order])
        check(woven, *order)
    assembles(woven)


@pytest.mark.parametrize("case", CASES)
def test_copies_of_the_kernel_go_on(case: str, assembles: Assembles) -> None:
    woven = goptx.coarsen(kernel(case), 2, shape=SHAPE)
    check(woven, kernel(case))
    assembles(woven)


@pytest.mark.parametrize("divergence", ["predicate", "park", "duplicate"])
def test_every_choice_for_divergence(divergence: Any) -> None:
    for case in ("under a guard", "from several places, of them one on a side"):
        texts = kernel(case), partner()
        try:
            woven = goptx.weave(*texts, shapes=[SHAPE, MORE], divergence=divergence)
        except CannotWeave:
            assert (case, divergence) != ("under a guard", "predicate")
        else:
            check(woven, *texts)


RECURSIVE = (
    ".func f(.reg .b32 x) { .reg .pred %q; .reg .b32 %n; setp.eq.u32 %q, x, 0; @%q bra E; sub.u32 %n, x, 1;"
    "call f, (%n); ret; E:\nexit; }"
)
POINTED = (
    ".func f(.reg .b32 x) {\nexit; }",
    "mov.u64 %rd5, f; setp.gt.u32 %p1, %r2, 150; P: .callprototype _ (.reg .b32 x); @%p1 call %rd5, (%r2), P;",
)


@pytest.mark.parametrize(
    ("functions", "body"), [(RECURSIVE, "call f, (3);"), POINTED], ids=["calls itself", "called through a pointer"]
)
def test_what_cannot_be_inlined_is_refused(functions: str, body: str) -> None:
    words = r"<ptx>:6: kernel A \(`k`\): `exit;` in the device function `f` would end the thread for all kernels, .*"
    with pytest.raises(CannotWeave, match=f"{words}use separate launches"):
        goptx.weave(module(functions, body), PARTNER)


def test_an_exit_after_a_trap_does_not_count() -> None:
    functions = ".func f(.reg .b32 x) { .reg .pred %q; setp.ne.u32 %q, x, 7777; @%q ret; trap; exit; }"
    woven = goptx.weave(module(functions, "call f, (%r2);"), PARTNER)
    assert [f.name for f in goptx.read(woven.ptx).functions if not f.is_entry] == ["f"]


def test_separate_kernels_keep_their_functions() -> None:
    """The thread has nothing else to run there."""
    other = f"{HEAD}.visible .entry o() {{ ret; }}"
    woven = goptx.fuse(module(RECURSIVE, "call f, (3);"), other, strategy="separate", shapes=[SHAPE, SHAPE])
    assert "call f, (3);" in woven.ptx
