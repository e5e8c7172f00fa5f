"""The waits of a kernel still count when it is merged with a second kernel, and that with a third."""

import numpy as np
import pytest
from bodies import kernel

import goptx
from goptx.analysis.build_cfg import flow_as_written
from goptx.analysis.sync.spin_loops import waiting_loops
from goptx.analysis.sync.sync_spans import waiting_blocks
from goptx.options import Choice
from goptx.ptx.parse import parse
from goptx.weaving.converge.converge import converge_flow

BLOCK = 128
BEGIN = "mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; ld.param.u64 %rd2, [{0}_out]; add.s64 %rd2, %rd2, %rd3;\n"
END = "st.global.u32 [%rd2], %r2; ret;\n"


def long(times: int) -> str:
    return "mad.lo.u32 %r2, %r2, %r2, %r1;\n" * times


# The first warp answers the waits of the others, after code as long as that which the others have after their wait.
ANSWERING = kernel(
    ".shared .align 8 .b64 bar; .shared .b32 word;"
    + BEGIN.format("k")
    + f"""
    setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [bar], 32; bar.sync 0; mov.u32 %r2, 1;
    shr.u32 %r3, %r1, 5; shfl.sync.idx.b32 %r3, %r3, 0, 31, -1; setp.eq.u32 %p2, %r3, 0; @%p2 bra.uni ANSWER;
    WAIT: mbarrier.test_wait.parity.shared.b64 %p3, [bar], 0; @!%p3 bra.uni WAIT;
    ld.shared.u32 %r2, [word];
    {long(40)}
    bra DONE;
    ANSWER: {long(20)} ld.param.u32 %r4, [k_n]; setp.eq.u32 %p4, %r4, 7; @%p4 bra.uni ON; mov.u32 %r2, 5;
    ON: {long(20)} setp.eq.u32 %p1, %r1, 3; @%p1 st.shared.u32 [word], %r2; mbarrier.arrive.shared.b64 %rd4, [bar];
    DONE: {END}
    """
)
SHUFFLES = kernel(BEGIN.format("shuffles") + f"shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1; {END}", "shuffles")
MEETING = kernel(
    BEGIN.format("meeting")
    + f"""
    mov.u32 %r2, %r1; {long(20)} mov.u32 %r5, tile; shl.b32 %r6, %r1, 2; add.u32 %r5, %r5, %r6;
    st.shared.u32 [%r5], %r2; bar.sync 0; ld.shared.u32 %r6, [tile+4]; add.u32 %r2, %r2, %r6; {long(20)} {END}
    """,
    "meeting",
)


@pytest.mark.parametrize("choice", [None, "predicate", "park"])
def test_loops_that_wait_stay_whole_whatever_becomes_of_branches(choice: Choice | None) -> None:
    """Merged flows know them by their regions alone (`sync_points`)."""
    flow = flow_as_written(parse(ANSWERING.replace(long(40), "")).entries[0].body)
    assert list(waiting_loops(flow))
    made = converge_flow(flow, "a", "line {}".format, lambda _: 4, choice).flow
    assert not list(waiting_loops(made))
    assert list(waiting_blocks(made, merged=True)) == list(waiting_blocks(made)) != []


@pytest.mark.parametrize("choice", [None, "predicate", "park"])
@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 1, 0)])
def test_of_three_kernels_none_holds_up_an_answer(order: tuple[int, ...], choice: Choice | None) -> None:
    texts = [(ANSWERING, SHUFFLES, MEETING)[k] for k in order]
    given = np.zeros(1, np.int32)
    alone = [np.zeros(BLOCK, np.int32) for _ in texts]
    for text, out in zip(texts, alone, strict=True):
        goptx.emulate(text, 1, BLOCK, [given, out, 1])
    woven = goptx.weave(*texts, divergence=choice)
    for seed in range(2):
        outs = [np.zeros(BLOCK, np.int32) for _ in texts]
        goptx.emulate(woven, 1, BLOCK, [[given, out, 1] for out in outs], seed=seed)
        assert [out.tolist() for out in outs] == [out.tolist() for out in alone]
