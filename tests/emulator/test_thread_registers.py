"""The registers that tell a thread where it is, for grids and blocks of one to three dimensions."""

import numpy as np
import pytest
from emulator.threads import MASK, module

import goptx


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("grid", "block"), [((3, 2, 2), (4, 3, 5)), ((5,), (70,)), ((1, 4), (8, 8)), ((2, 1, 3), (1, 1, 40))]
)
def test_thread_registers(grid: tuple[int, ...], block: tuple[int, ...], seed: int) -> None:
    names = [f"%{r}.{a}" for r in ("tid", "ntid", "ctaid", "nctaid") for a in "xyz"]
    names += ["%laneid", "%warpid", "%nwarpid"] + [f"%lanemask_{c}" for c in ("eq", "le", "lt", "ge", "gt")]
    gx, gy, gz, bx, by, bz = *(*grid, 1, 1)[:3], *(*block, 1, 1)[:3]
    threads, ctas = bx * by * bz, gx * gy * gz
    store = "".join(f"mov.u32 %r4, {n}; st.global.u32 [%rd2+{4 * i}], %r4;\n" for i, n in enumerate(names))
    body = f"""
        ld.param.u64 %rd8, [k_out];
        mov.u32 %r0, %ctaid.z; mov.u32 %r1, %nctaid.y; mov.u32 %r2, %ctaid.y; mad.lo.u32 %r0, %r0, %r1, %r2;
        mov.u32 %r1, %nctaid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r0, %r0, %r1, %r2;
        mov.u32 %r1, %ntid.z; mov.u32 %r2, %tid.z; mad.lo.u32 %r0, %r0, %r1, %r2;
        mov.u32 %r1, %ntid.y; mov.u32 %r2, %tid.y; mad.lo.u32 %r0, %r0, %r1, %r2;
        mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r0, %r0, %r1, %r2;
        mad.wide.u32 %rd2, %r0, {4 * len(names)}, %rd8;
        {store}
        ret;
    """
    want = []
    for cta in range(ctas):
        for thread in range(threads):
            lane = thread % 32
            place = [thread % bx, thread // bx % by, thread // (bx * by), bx, by, bz]
            place += [cta % gx, cta // gx % gy, cta // (gx * gy), gx, gy, gz]
            below = (1 << lane) - 1
            masks = [1 << lane, below | 1 << lane, below, MASK & ~below, MASK & ~below & ~(1 << lane)]
            want += [*place, lane, thread // 32, 64, *masks]
    out = np.zeros(len(want), np.uint32)
    goptx.emulate(module(body, begin="", end=""), grid, block, [out.copy(), out, 0], seed=seed)
    assert out.tolist() == want
