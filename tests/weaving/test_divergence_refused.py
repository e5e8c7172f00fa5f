"""What messages say where divergence, or what a thread that returned early would have to do, cannot be converted."""

import re

import pytest
from bodies import GUARD, kernel

import goptx
from goptx.errors import CannotWeave

FUNCTION = ".func f(.param .b32 x)\n{\nret;\n}\n"
SEPARATE = r"use separate launches\."
LOAD = "ld.param.u64 %rd1, [k_in]; ld.global.u32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 0;"
MAYBE_BARRIER = "@%p2 bra SKIP;  // culprit\nbar.sync 0; SKIP: add.u32 %r4, %r3, 1;"
LOADED_BEFORE = f"""
    {LOAD} mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 9; @%p1 bra DONE;
    {MAYBE_BARRIER}
    DONE: ret;
"""
LOOPS_AT_ONE_BLOCK = """
    mov.u32 %r1, %tid.x; add.u32 %r3, %r1, 1;
    TOP: add.u32 %r3, %r3, 1; setp.gt.u32 %p1, %r3, 12; @%p1 bra TOP;
    add.u32 %r3, %r3, 3; setp.gt.u32 %p1, %r3, 19; @%p1 bra TOP;  // culprit
    setp.gt.u32 %p1, %r3, 14; @%p1 bra TOP;
    ret;
"""
LANES_THAT_END_AMID_WAITS = """
    mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 40;
    TOP: ld.volatile.shared.u32 %r3, [tile];  // culprit
    setp.ne.u32 %p2, %r3, %r1; @%p2 bra TOP;
    @%p1 bra DONE;
    shfl.sync.idx.b32 %r5, %r3, 0, 31, -1; st.volatile.shared.u32 [tile], %r3;
    DONE: ret;
"""
LOADED = (
    r"the branch decides whether `bar\.sync 0;` \(line \d+\) is reached and depends on loaded data, of which threads "
    r"that have returned early or do not belong to the kernel, "
    rf"and have to arrive too, may have none or other; .*{SEPARATE}"
)


def guarded(body: str) -> str:
    """Where threads may have returned."""
    return GUARD.replace("{body}", body)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param(LOADED_BEFORE, LOADED, id="loaded before a return"),
        pytest.param(guarded(f"{LOAD}\n{MAYBE_BARRIER}"), LOADED, id="loaded after a return"),
        pytest.param(
            guarded(f"setp.eq.u32 %p2, %r1, 3;\n{MAYBE_BARRIER}"),
            "the branch decides whether .* is reached, and it depends on the thread: threads that live on would never "
            "arrive, unless .* launch the kernels separately",
            id="barrier of some threads after a return",
        ),
        pytest.param(
            guarded("vote.any.pred %p2, %p1;  // culprit"),
            r"`vote\.any\.pred %p2, %p1;` names no lanes, and lanes may have returned before it; use its `\.sync` form",
            id="vote of no lanes",
        ),
        pytest.param(
            guarded("{ .param .b32 v; st.param.b32 [v], %r1;\n@%p2 call f, (v);  // culprit\n}"),
            rf"`@%p2 call f, \(v\);` is conditional within a call sequence that not all threads reach; {SEPARATE}",
            id="conditional call",
        ),
        pytest.param(
            LOOPS_AT_ONE_BLOCK,
            rf"the control flow here is too entangled to be woven \(divergent loops that begin at .*{SEPARATE}",
            id="loops that begin at one block",
        ),
        pytest.param(
            LANES_THAT_END_AMID_WAITS,
            r"lanes of a warp wait for `ld\.volatile\.shared\.u32 %r3, \[tile\];` one by one, and amid such waits "
            rf"others of them end the kernel, which takes votes of all lanes; {SEPARATE}",
            id="lanes that end amid waits",
        ),
    ],
)
def test_refusals_name_line_kernel_and_remedy(body: str, message: str) -> None:
    text = kernel(body).replace(".visible", FUNCTION + ".visible", 1)
    line = next(number for number, words in enumerate(text.splitlines(), 1) if "culprit" in words)
    with pytest.raises(CannotWeave) as caught:
        goptx.weave(text, kernel("ret;", "other"))
    assert re.match(rf"<ptx>:{line}: kernel A \(`k`\): {message}", str(caught.value)), caught.value
