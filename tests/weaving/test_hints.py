"""Hints about memory have addresses, too: threads that have ended the kernel have loaded none."""

import pytest
from bodies import GUARD, kernel

import goptx

HINTS = [
    "prefetch.global.L2 [%rd2];",
    "prefetchu.L1 [%rd2];",
    "applypriority.global.L2::evict_normal [%rd2], 128;",
    "cp.async.bulk.prefetch.L2.global [%rd2], 16;",
]
BODY = "ld.param.u64 %rd1, [k_in]; ld.global.u64 %rd2, [%rd1]; {hint} st.global.u32 [%rd1], %r1;"


@pytest.mark.parametrize("hint", HINTS)
def test_hints_are_given_by_threads_that_run(hint: str) -> None:
    other = kernel("bar.sync 0; ret;", "other")
    woven = goptx.weave(kernel(GUARD.replace("{body}", BODY.replace("{hint}", hint))), other)
    (line,) = [text.strip() for text in woven.ptx.splitlines() if hint.partition(" ")[0] in text]
    assert line.startswith("@%a_run0 ")
