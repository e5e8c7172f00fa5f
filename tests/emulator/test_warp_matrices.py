"""Matrix instructions in whole kernels, against numpy's product of the matrices."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.snippets import fault, run

WARP = "mov.u32 %r30, %tid.x; shr.u32 %r31, %r30, 5; and.b32 %r32, %r30, 31;"


def halves(*shape: int, seed: int = 0) -> np.ndarray:
    """Small multiples of 1/4, whose products and sums are exact in every format."""
    return (np.random.default_rng(seed).integers(-8, 9, shape) / 4).astype(np.float16)


def registers(letter: str, count: int, first: int = 0) -> str:
    return "{" + ", ".join(f"%{letter}{first + i}" for i in range(count)) + "}"


A, B, C = (f".reg .b32 %{x}<8>; .reg .b32 %{y}<8>; .reg .f32 %{z}<8>;" for x, y, z in [("a", "b", "c")] * 3)


@pytest.mark.parametrize("space", ["global", "shared", "", "shared generic"])
@pytest.mark.parametrize(("row_a", "row_b"), [(True, False), (True, True), (False, True), (False, False)])
@pytest.mark.parametrize("shape", [(16, 16, 16), (32, 8, 16), (8, 32, 16)])
def test_wmma(space: str, row_a: bool, row_b: bool, shape: tuple[int, int, int]) -> None:
    """Two warps, each with a strip of its own; strides are larger than the rows and stand in registers."""
    m, n, k = shape
    a, b, c = halves(2, m, k, seed=1), halves(k, n, seed=2), halves(2, m, n, seed=3).astype(np.float32)
    padded_a = np.zeros((2, m, k + 8) if row_a else (2, k, m + 8), np.float16)
    padded_b = np.zeros((k, n + 16) if row_b else (n, k + 16), np.float16)
    for w in range(2):
        matrix = a[w] if row_a else a[w].T
        padded_a[w, : matrix.shape[0], : matrix.shape[1]] = matrix
    matrix = b if row_b else b.T
    padded_b[:, : matrix.shape[1]] = matrix
    out = np.zeros((2, n, m + 4), np.float32)
    sizes = padded_a.nbytes, padded_b.nbytes
    copy = f"""mov.u32 %r1, %r30; COPY: mul.wide.u32 %rd10, %r1, 2; add.u64 %rd11, %rd0, %rd10; mov.u64 %rd12, s;
        add.u64 %rd12, %rd12, %rd10;
        setp.ge.u32 %p1, %r1, {padded_a.size}; @%p1 bra SECOND; ld.global.u16 %h1, [%rd11];
        st.shared.u16 [%rd12], %h1;
        SECOND: setp.ge.u32 %p2, %r1, {padded_b.size}; @%p2 bra DONE; add.u64 %rd11, %rd1, %rd10;
        ld.global.u16 %h1, [%rd11];
        st.shared.u16 [%rd12+{sizes[0]}], %h1; DONE: add.u32 %r1, %r1, 64;
        setp.lt.u32 %p3, %r1, {max(padded_a.size, padded_b.size)};
        @%p3 bra COPY; bar.sync 0; mov.u64 %rd10, s; {"cvta.shared.u64 %rd10, %rd10;" if "generic" in space else ""}
        add.u64 %rd11, %rd10, {sizes[0]};"""
    place = copy if "shared" in space else "mov.u64 %rd10, %rd0; mov.u64 %rd11, %rd1;"
    dot = f".{space}" if space in ("global", "shared") else ""
    name, side = f"m{m}n{n}k{k}", {True: "row", False: "col"}
    body = f"""{A} {WARP} {place} mul.wide.u32 %rd20, %r31, {padded_a.nbytes // 2}; add.u64 %rd10, %rd10, %rd20;
        mul.wide.u32 %rd20, %r31, {c.nbytes // 2}; add.u64 %rd12, %rd2, %rd20;
        mul.wide.u32 %rd20, %r31, {out.nbytes // 2};
        add.u64 %rd13, %rd3, %rd20; mov.u32 %r5, {padded_a.shape[-1]}; mov.u32 %r6, {padded_b.shape[-1]};
        wmma.load.a.sync.aligned.{side[row_a]}.{name}{dot}.f16 {registers("a", 8)}, [%rd10], %r5;
        wmma.load.b.sync.aligned.{side[row_b]}.{name}{dot}.f16 {registers("b", 8)}, [%rd11], %r6;
        wmma.load.c.sync.aligned.row.{name}.global.f32 {registers("c", 8)}, [%rd12];
        wmma.mma.sync.aligned.{side[row_a]}.{side[row_b]}.{name}.f32.f32
            {registers("c", 8)}, {registers("a", 8)}, {registers("b", 8)}, {registers("c", 8)};
        wmma.store.d.sync.aligned.col.{name}.global.f32 [%rd13], {registers("c", 8)}, {m + 4};"""
    run(body, padded_a, padded_b, c, out, block=64, variables=f".shared .align 32 .b8 s[{sum(sizes)}];")
    want = np.einsum("wmk,kn->wnm", a.astype(np.float64), b.astype(np.float64)) + c.transpose(0, 2, 1)
    assert (out[:, :, :m] == want).all()
    assert not out[:, :, m:].any()


@pytest.mark.parametrize("trans", [False, True])
@pytest.mark.parametrize("result", ["f32", "f16"])
@pytest.mark.parametrize("generic", [False, True])
def test_ldmatrix_and_mma(trans: bool, result: str, generic: bool) -> None:
    """A product of 16 by 8 by 64 in steps of 16. The matrices are copied to shared memory as they stand, with rows
    of 72 halves; the second lies by rows (and is transposed on the way to registers) or by columns."""
    a, b = halves(16, 64, seed=4), halves(64, 8, seed=5)
    padded_a, padded_b = np.zeros((16, 72), np.float16), np.zeros((64, 8) if trans else (8, 72), np.float16)
    padded_a[:, :64], padded_b[:, :64] = a, b if trans else b.T
    size = 4 if result == "f32" else 2
    out = np.zeros((16, 8), f"f{size}")
    sums = "{%f0, %f1, %f2, %f3}" if size == 4 else "{%r20, %r21}"
    space = "" if generic else ".shared"
    steps = "".join(
        f"""ldmatrix.sync.aligned.m8n8.x4{space}.b16 {{%r1, %r2, %r3, %r4}}, [%rd20+{32 * step}];
            ldmatrix.sync.aligned.m8n8.x2{".trans" if trans else ""}{space}.b16 {{%r5, %r6}},
            [%rd21+{256 * step if trans else 32 * step}];
            mma.sync.aligned.m16n8k16.row.col.{result}.f16.f16.{result}
            {sums}, {{%r1, %r2, %r3, %r4}}, {{%r5, %r6}}, {sums};
            """
        for step in range(4)
    )
    place_b = "mad.lo.u32 %r12, %r10, 16, 0;" if trans else """and.b32 %r12, %r30, 7; mul.lo.u32 %r12, %r12, 144;
        shr.u32 %r13, %r10, 3; mad.lo.u32 %r12, %r13, 16, %r12;"""  # fmt: skip
    store = "st.global.v2.f32 [%rd12], {%f0, %f1}; st.global.v2.f32 [%rd12+256], {%f2, %f3};"
    body = f"""mov.u32 %r30, %tid.x; mov.u32 %r1, %r30; mov.u64 %rd20, left; mov.u64 %rd21, right;
        COPY: mul.wide.u32 %rd10, %r1, 16; add.u64 %rd11, %rd0, %rd10; add.u64 %rd12, %rd20, %rd10;
        setp.lt.u32 %p1, %r1, {padded_a.nbytes // 16}; @%p1 cp.async.cg.shared.global [%rd12], [%rd11], 16;
        add.u64 %rd11, %rd1, %rd10; add.u64 %rd12, %rd21, %rd10; setp.lt.u32 %p2, %r1, {padded_b.nbytes // 16};
        @%p2 cp.async.cg.shared.global [%rd12], [%rd11], 16; add.u32 %r1, %r1, 32; @%p1 bra COPY;
        cp.async.wait_all; bar.warp.sync 0xffffffff;
        and.b32 %r10, %r30, 15; shr.u32 %r11, %r30, 4; mul.lo.u32 %r14, %r10, 144; mad.lo.u32 %r14, %r11, 16, %r14;
        cvt.u64.u32 %rd10, %r14; add.u64 %rd20, %rd20, %rd10; {place_b} cvt.u64.u32 %rd10, %r12;
        add.u64 %rd21, %rd21, %rd10;
        {"cvta.shared.u64 %rd20, %rd20; cvta.shared.u64 %rd21, %rd21;" if generic else ""}
        mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0; mov.b32 %r20, 0; mov.b32 %r21, 0;
        {steps}
        shr.u32 %r14, %r30, 2; and.b32 %r15, %r30, 3; mul.lo.u32 %r16, %r14, {8 * size};
        mad.lo.u32 %r16, %r15, {2 * size}, %r16; cvt.u64.u32 %rd12, %r16; add.u64 %rd12, %rd12, %rd2;
        {store if size == 4 else "st.global.b32 [%rd12], %r20; st.global.b32 [%rd12+128], %r21;"}"""
    variables = ".shared .align 16 .b8 left[2304]; .shared .align 16 .b8 right[2304];"
    run(body, padded_a, padded_b, out, block=32, variables=variables)
    assert (out.astype(np.float64) == a.astype(np.float64) @ b.astype(np.float64)).all()


@pytest.mark.parametrize("trans", ["", ".trans"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_matrices_go_through_shared_memory_and_come_back(count: int, trans: str) -> None:
    """What `stmatrix` stores in one order of rows `ldmatrix` loads; rows of all matrices in reverse order."""
    given, out = np.arange(32 * count, dtype=np.uint32), np.zeros((8 * count, 4), np.uint32)
    names = registers("r", count, 1)
    loads = "".join(f"ld.global.u32 %r{1 + i}, [%rd10+{128 * i}];" for i in range(count))
    body = f"""mov.u32 %r30, %tid.x; mul.wide.u32 %rd10, %r30, 4; add.u64 %rd10, %rd10, %rd0; {loads} mov.u32 %r10, s;
        mov.u32 %r11, {8 * count - 1}; sub.u32 %r11, %r11, %r30; setp.gt.u32 %p1, %r30, {8 * count - 1};
        @%p1 mov.u32 %r11, 0; mad.lo.u32 %r12, %r11, 16, %r10;
        stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%r12], {names}; bar.warp.sync -1;
        mad.lo.u32 %r13, %r30, 16, %r10;
        @%p1 bra END; ld.shared.v4.u32 {{%r20, %r21, %r22, %r23}}, [%r13]; mul.wide.u32 %rd11, %r30, 16;
        add.u64 %rd11, %rd11, %rd1;
        st.global.v4.u32 [%rd11], {{%r20, %r21, %r22, %r23}}; END:"""
    run(body, given, out, block=32, variables=".shared .align 16 .b8 s[512];")
    matrices = given.view(np.uint16).reshape(count, 8, 8)
    matrices = matrices.transpose(0, 2, 1) if trans else matrices
    assert (out.view(np.uint16).reshape(-1, 8)[::-1] == matrices.reshape(-1, 8)).all()


MMA = (
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, "
    "{%f0, %f1, %f2, %f3};"
)
FILL = "".join(f"mov.b32 %r{i}, 0;" for i in range(1, 7)) + "".join(f"mov.f32 %f{i}, 0f00000000;" for i in range(4))
LOAD = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r20];"


@pytest.mark.parametrize("instruction", [
    MMA, LOAD, f"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {registers('r', 8, 1)}, [%rd0];",
    "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;",
])  # fmt: skip
@pytest.mark.parametrize("block", [16, 48])
def test_a_warp_that_lacks_threads(instruction: str, block: int) -> None:
    """The last warp of the CTA has 16."""
    found = fault(
        "convergence",
        f"{FILL} mov.u32 %r20, s; {instruction}",
        np.zeros(256, np.float16),
        block=block,
        variables=".shared .align 16 .b8 s[512];",
    )
    assert "32" in str(found)


def test_a_warp_whose_lanes_diverge() -> None:
    body = f"{FILL} {WARP} setp.lt.u32 %p1, %r32, 31; @%p1 bra GO; bra.uni END; GO: {MMA} END:"
    assert fault("convergence", body, block=64).instruction == MMA
    fault("convergence", f"{FILL} {WARP} setp.lt.u32 %p1, %r32, 31; @%p1 {MMA}", block=32)
    run(f"{FILL} {WARP} setp.eq.u32 %p1, %r31, 1; @%p1 {MMA}", block=64)  # whole warps


def test_what_fragments_hold_and_where_they_lie() -> None:
    shared = ".shared .align 16 .b8 s[512];"
    fault("uninitialised", f"mov.u32 %r20, s; {LOAD}", block=32, variables=shared)
    fault("misaligned", f"{WARP} mov.u32 %r20, s; mad.lo.u32 %r20, %r32, 8, %r20; {LOAD}", block=32, variables=shared)
    fault(
        "out of bounds",
        f"{WARP} mov.u32 %r20, s; mad.lo.u32 %r20, %r32, 32, %r20; {LOAD}",
        block=32,
        variables=shared,
        strict=False,
    )
    store = "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd0], {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}{};"
    zero = "".join(f"mov.f32 %f{i}, 0f00000000;" for i in range(8))
    run(zero + store.replace("{}", ", 16"), np.ones(256, np.float32), block=32)
    fault("out of bounds", zero + store.replace("{}", ", 20"), np.zeros(256, np.float32), block=32)
    fault(
        "uninitialised",
        zero.replace("mov.f32 %f7", "mov.f32 %f8") + store.replace("{}", ""),
        np.zeros(256, np.float32),
        block=32,
    )
    fault(
        "uninitialised",
        zero + "@%p1 mov.u32 %r9, 16;" + store.replace("{}", ", %r9"),
        np.zeros(256, np.float32),
        block=32,
    )


def test_one_lanes_missing_value_spoils_the_warps_product_only() -> None:
    """A result that depends on an undefined register is undefined, in its warp."""
    missing = f"""{FILL} {WARP} .reg .b32 %gone; setp.eq.u32 %p1, %r30, 40; @%p1 mov.b32 %r6,
        %gone; {MMA} mul.wide.u32 %rd10, %r30, 4; add.u64 %rd10, %rd10, %rd0;"""
    run(missing, np.zeros(96, np.float32), block=96)
    assert fault(
        "uninitialised", missing + "st.global.f32 [%rd10], %f0;", np.zeros(96, np.float32), block=96
    ).threads == tuple(range(32, 64))
