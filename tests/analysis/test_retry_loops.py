"""Which compare-and-swaps are only tried again, so that their loops wait for nobody; and what comes close to that."""

import pytest
from bodies import flow

from goptx.analysis.sync.spin_loops import waiting_loops

SWAP = "atom.global.cas.b32 %r6, [%rd1], %r8, %r7;"
LOOP = f"L: mov.u32 %r8, %r6; add.u32 %r7, %r8, 3; {SWAP} setp.ne.s32 %p1, %r6, %r8; @%p1 bra L; ret;"
ROTATED = f"L: add.u32 %r7, %r8, 3; {SWAP} setp.ne.s32 %p1, %r8, %r6; mov.b32 %r8, %r6; @%p1 bra L; ret;"
LIMITED = (
    f"L: setp.gt.u32 %p2, %r8, 9; @%p2 bra E; {SWAP} setp.ne.s32 %p1, %r8, %r6; mov.b32 %r8, %r6; @%p1 bra L; E: ret;"
)

RETRIES = {
    "copied before": LOOP,
    "copied after": ROTATED,
    "until it need not change": LIMITED,
    "equal": LOOP.replace("setp.ne", "setp.eq").replace("@%p1", "@!%p1"),
    "out of the loop where it succeeds":
        LOOP.replace("setp.ne", "setp.eq").replace("@%p1 bra L;", "@%p1 bra E; bra L; E:"),
    "through other registers": ROTATED.replace("mov.b32 %r8, %r6;", "mov.b32 %f1, %r6; mov.b32 %r8, %f1;"),
    "on both ways": ROTATED.replace("mov.b32 %r8, %r6; @%p1 bra L;", "mov.b32 %r8, %r6; @!%p1 bra E; @%p3 bra L; "
        "add.u32 %r9, %r9, 1; bra L; E:"),
    "with an order": LOOP.replace("atom.global.cas", "atom.acq_rel.gpu.global.cas"),
    "64 bits": "L: add.u64 %rd7, %rd8, 3; atom.cas.b64 %rd6, [%rd1], %rd8, %rd7; setp.ne.s64 %p1, %rd8, %rd6;"
        "mov.u64 %rd8, %rd6; @%p1 bra L; ret;",
    "in a loop": LOOP.replace("ret;", "add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 4; @%p2 bra L; ret;"),
}  # fmt: skip
WAITS = {
    "always the same number is expected": ROTATED.replace("mov.b32 %r8, %r6;", ""),
    "another number is expected": ROTATED.replace("mov.b32 %r8, %r6;", "add.u32 %r8, %r6, 1;"),
    "a copy under a guard": ROTATED.replace("mov.b32", "@%p3 mov.b32"),
    "a copy on one way": ROTATED.replace("mov.b32 %r8, %r6; @%p1 bra L;", "@!%p1 bra E; @%p3 bra L; mov.b32 %r8, %r6; "
        "bra L; E:"),
    "a copy that is changed": LOOP.replace("mov.u32 %r8, %r6;", "mov.u32 %r8, %r6; and.b32 %r8, %r8, 255;"),
    "what was read is changed": LOOP.replace("@%p1 bra L", "add.u32 %r6, %r6, 1; @%p1 bra L"),
    "another place": LOOP.replace("@%p1 bra L", "add.s64 %rd1, %rd1, 4; @%p1 bra L"),
    "another comparison": LOOP.replace("setp.ne.s32", "setp.lt.s32"),
    "half of the word is compared": LOOP.replace("setp.ne.s32", "setp.ne.s16"),
    "as floats": LOOP.replace("setp.ne.s32", "setp.neu.f32"),
    "compared with a number": LOOP.replace("%r6, %r8; @", "%r6, 0; @"),
    "compared with what is written": LOOP.replace("%r6, %r8; @", "%r6, %r7; @"),
    "goes on where it succeeds": LOOP.replace("setp.ne", "setp.eq"),
    "and something else": LOOP.replace("setp.ne.s32 %p1, %r6, %r8;", "setp.ne.or.s32 %p1, %r6, %r8, %p3;"),
    "and stays where it succeeds": LOOP.replace("@%p1 bra L;", "@%p1 bra L; setp.ne.u32 %p2, %r6, 5; @%p2 bra L;"),
    "a swap under a guard": LOOP.replace("atom", "@%p3 atom"),
    "an exchange": LOOP.replace("cas.b32 %r6, [%rd1], %r8, %r7", "exch.b32 %r6, [%rd1], %r7"),
    "a lock": "L: atom.global.cas.b32 %r6, [%rd1], 0, 1; setp.ne.u32 %p1, %r6, 0; @%p1 bra L; ret;",
    "the result expected": LOOP.replace(SWAP, "atom.global.cas.b32 %r8, [%rd1], %r8, %r7;"),
    "a bit that another thread clears": ROTATED.replace("L:", "L: and.b32 %r9, %r8, 1; setp.eq.u32 %p2, %r9, 0; "
        "@%p2 bra N; ld.volatile.global.u32 %r8, [%rd1]; bra L; N:"),
}  # fmt: skip


@pytest.mark.parametrize("name", RETRIES)
def test_a_swap_that_is_only_tried_again(name: str) -> None:
    assert not list(waiting_loops(flow(RETRIES[name])))


@pytest.mark.parametrize("name", WAITS)
def test_a_swap_that_may_wait(name: str) -> None:
    assert WAITS[name] not in (LOOP, ROTATED, LIMITED)
    assert list(waiting_loops(flow(WAITS[name])))
