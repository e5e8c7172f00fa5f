"""The registers with a thread's position, for grids and blocks of one to three dimensions."""

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


def test_four_numbers_at_once_and_the_names_of_old() -> None:
    out = np.zeros(8 * 64, np.uint32)
    body = """
        .reg .v4 .u32 %v; mov.u32 %r1, %tid.r; mov.u32 %r2, %tid.g; mad.lo.u32 %r1, %r2, 16, %r1;
        ld.param.u64 %rd1, [k_out]; mad.wide.u32 %rd1, %r1, 32, %rd1; mov.v4.u32 %v, %tid; st.global.v4.u32 [%rd1], %v;
        mov.v4.u32 {%r3, %r4, %r5, %r6}, %ntid; mov.u32 %r6, %tid.a; st.global.v4.u32 [%rd1+16], {%r3, %r4, %r5, %r6};
        ret;
    """
    goptx.emulate(module(body, begin="", end=""), 1, (16, 4), [out.copy(), out, 0])
    assert out.reshape(64, 8).tolist() == [[i % 16, i // 16, 0, 0, 16, 4, 1, 0] for i in range(64)]


@pytest.mark.parametrize(("target", "total"), [("sm_90", 1920), ("sm_75", 2048)])  # the module has a tile of 1024 bytes
def test_shared_memory_is_reported_in_whole_units(target: str, total: int) -> None:
    out = np.zeros(2, np.uint32)
    body = """
        .shared .b8 own[100]; ld.param.u64 %rd1, [k_out]; mov.u32 %r1, %total_smem_size;
        mov.u32 %r2, %dynamic_smem_size; st.global.v2.u32 [%rd1], {%r1, %r2}; ret;
    """
    text = module(body, begin="", end="")
    goptx.emulate(text.replace("sm_90", target), 1, 1, [out.copy(), out, 0], shared=700)
    assert out.tolist() == [total, 700]
