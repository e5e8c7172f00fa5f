"""A thread has one carry flag, whatever kernels it runs: chains that go over the end of a block are refused."""

import pytest
from weaving.test_projection import LONG, checked, of_threads

import goptx
from goptx.errors import CannotWeave
from goptx.options import CHOICES, POLICIES, Choice

LOAD = "ld.global.u32 %r3, [%rd1]; add.cc.u32 %r4, %r3, -200;\n"
STORE = "addc.u32 %r5, %r4, 5; st.global.u32 [%rd2], %r5; ret;\n"
OWN = of_threads("add.cc.u32 %r3, %r1, -1; addc.u32 %r4, %r1, 7; st.global.u32 [%rd2], %r4; ret;", "own")
LOOP = of_threads(
    "mov.u32 %r3, 4; mov.u32 %r4, %r1; TURN: add.cc.u32 %r5, %r4, -1; addc.u32 %r4, %r4, 7; sub.u32 %r3, %r3, 1;"
    "setp.ne.u32 %p1, %r3, 0; @%p1 bra TURN; st.global.u32 [%rd2], %r4; ret;",
    "loop",
)
OVER = {
    "a label": "LABEL: mov.u32 %r6, 1;\nsetp.eq.u32 %p2, %r2, 999; @%p2 bra LABEL;\n",
    "a branch of all": "setp.eq.u32 %p1, %r2, 7; @%p1 bra ON; mul.lo.u32 %r4, %r4, 3; ON:\n",
    "a branch of some, with a chain": "setp.lt.u32 %p1, %r1, 9; @%p1 bra ON; add.cc.u32 %r6, %r3, %r3; ON:\n",
    "a loop": "mov.u32 %r6, %r1; TURN: add.u32 %r6, %r6, 9; setp.lt.u32 %p1, %r6, 99; @%p1 bra TURN;\n",
}


@pytest.mark.parametrize("choice", [None, *CHOICES])
@pytest.mark.parametrize("over", OVER)
def test_a_flag_over_the_end_of_a_block_is_refused(over: str, choice: Choice | None) -> None:
    text = of_threads(LOAD + OVER[over] + STORE)
    for kernels in ((text, LOOP), (LOOP, text)):
        with pytest.raises(CannotWeave, match=r"`addc.u32 %r5, %r4, 5;` reads a carry flag that was set before a bra"):
            goptx.weave(*kernels, divergence=choice)
    with pytest.raises(CannotWeave, match="reads a carry flag that was set before"):
        goptx.coarsen(text)


@pytest.mark.parametrize("over", OVER)
def test_kernels_side_by_side_keep_their_flags(over: str) -> None:
    text = of_threads(LOAD + OVER[over] + STORE)
    for strategy in ("interleave", "horizontal"):
        checked(text, LOOP, strategy=strategy)


@pytest.mark.parametrize("guards", [("", ""), ("@%p1 ", "@%p1 "), ("@%p1 ", "")])
def test_chains_in_an_arm_are_woven(guards: tuple[str, str]) -> None:
    chain = f"add.cc.u32 %r4, %r3, -200; {guards[0]}add.cc.u32 %r4, %r3, -300; {guards[1]}addc.u32 %r5, %r4, 5;"
    text = of_threads(
        "ld.global.u32 %r3, [%rd1]; mov.u32 %r5, 1; setp.lt.u32 %p2, %r1, 50; setp.lt.u32 %p1, %r3, 512; @%p2 bra ON;"
        f"{chain} ON: st.global.u32 [%rd2], %r5; ret;"
    )
    for kernels in ((text, LOOP), (text, OWN), (LONG, text)):
        checked(*kernels)


BARRIERS = of_threads(
    "mov.u32 %r3, 4; mov.u32 %r4, %r1; TURN: add.cc.u32 %r5, %r4, -1; addc.u32 %r4, %r4, 7; bar.sync 0;"
    "sub.u32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra TURN; st.global.u32 [%rd2], %r4; ret;",
    "barriers",
)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_flag_over_a_barrier_is_right_or_refused(policy: str) -> None:
    """The chain is cut there, and a loop of the other kernel may come between."""
    text = of_threads(LOAD.replace("add.cc", "bar.sync 0; add.cc") + "bar.sync 0; " + STORE)
    checked(text, OWN, policy=policy)
    refused = 0
    for kernels in ((text, BARRIERS), (BARRIERS, text)):
        try:
            checked(*kernels, policy=policy)
        except CannotWeave as error:
            assert "reads a carry flag that another kernel may have set: a barrier stands in the chain" in str(error)
            refused += 1
    assert refused or policy != "paper"
