"""What is a thread's own element, and what several threads may touch: pointers in structures, stores of equal values,
indices that wrap. Kernels that are accepted are run on the emulator, fused and one after the other."""

import struct
from typing import Any

import numpy as np
import pytest
from strategies.dependent_kernels import HEAD, INDEX

import goptx
from goptx.errors import CannotWeave, InputError

REGISTERS = ".reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .b64 %rd<30>;"
CTAS, THREADS = 3, 64
HALF = 256  # elements of a buffer; two of them in one array
BUFFER = ("A:0", "B:0")


def kernel(body: str, parameters: str = ".param .u64 x, .param .u64 out", variables: str = "") -> str:
    """`%r4` is the number of the thread in the grid."""
    return f"{HEAD}{variables}.visible .entry k({parameters})\n{{\n{REGISTERS}\n{INDEX}\n{body}\nret;\n}}\n"


def fused(*sources: str, **options: Any) -> goptx.Woven:
    return goptx.fuse(*sources, strategy="vertical", **{"depends": True, **options})


def barriers(woven: goptx.Woven) -> int:
    return woven.report.merged.barriers


def same_results(
    sources: list[str], woven: goptx.Woven, rest: list[Any], grid: Any = CTAS, block: Any = THREADS
) -> None:
    """One array is the first argument of all kernels; `rest` are the other arguments of each."""
    before = np.random.default_rng(0).random(2 * HALF, dtype=np.float32)
    before[:HALF].view(np.uint32)[:] %= 1000
    alone = before.copy()
    for source in sources:
        goptx.emulate(source, grid, block, [alone, *rest])
    for seed in range(4):
        together = before.copy()
        goptx.emulate(woven, grid, block, [[together, *rest] for _ in sources], seed=seed)
        assert alone.tobytes() == together.tobytes()


# pointers in structures ----------------------------------------------------------------------------------

OWN, IN_CTA, CROSSING = (
    "mov.u32 %r9, %r4;",
    "sub.s32 %r8, %r2, %r3; sub.s32 %r8, %r8, 1; mad.lo.s32 %r9, %r1, %r2, %r8;",
    "mov.u32 %r8, %nctaid.x; mul.lo.s32 %r8, %r8, %r2; sub.s32 %r8, %r8, 1; sub.s32 %r9, %r8, %r4;",
)
LOADED = {
    "direct": "ld.param.u64 %rd1, [s]; ld.param.u64 %rd2, [s+8];",
    "vector": "ld.param.v2.u64 {%rd1, %rd2}, [s];",
    "copied": "mov.b64 %rd9, s; mov.u64 %rd8, %rd9; ld.param.u64 %rd1, [%rd8]; ld.param.u64 %rd2, [%rd8+8];",
}
IN_STRUCTURE = ".param .u64 x, .param .align 16 .b8 s[24]"


def structured(form: str, index: str, first: bool) -> str:
    """The first kernel writes `s.p[...]`, the second reads it as `s.q[...]` and writes `s.p[i]`."""
    access = "add.s64 %rd5, %rd1, %rd4;" if first else "add.s64 %rd5, %rd2, %rd4; ld.global.f32 %f1, [%rd5];"
    store = "st.global.f32 [%rd5], %f1;" if first else "add.s64 %rd7, %rd1, %rd6; st.global.f32 [%rd7], %f1;"
    return kernel(
        f"{LOADED[form]} {index} cvt.rn.f32.s32 %f1, %r4; mul.wide.s32 %rd4, %r9, 4; mul.wide.s32 %rd6, %r4, 4;"
        f"{access} {store}",
        IN_STRUCTURE,
    )


def address_of_first() -> int:
    """Where the emulator places the first array of a launch."""
    found = np.zeros(1, np.uint64)
    goptx.emulate(kernel("ld.param.u64 %rd1, [x]; st.global.u64 [%rd1], %rd1;"), 1, 1, [found, None])
    return int(found[0])


@pytest.mark.parametrize("form", LOADED)
@pytest.mark.parametrize(("index", "expected"), [(OWN, 0), (IN_CTA, 1), (CROSSING, None)], ids=["own", "cta", "all"])
def test_pointers_in_structures_are_pointers(form: str, index: str, expected: int | None) -> None:
    sources = [structured(form, OWN, first=True), structured(form, index, first=False)]
    if expected is None:
        with pytest.raises(CannotWeave, match=r"may touch the same element of A:1 \(s\) and B:1\+8 \(s\) in different"):
            fused(*sources)
        assert barriers(fused(*sources, noalias=["A:1"])) == 0  # the caller promises it
        return
    woven = fused(*sources)
    assert barriers(woven) == expected
    begin = address_of_first()
    first, second = (struct.pack("<QQQ", p, q, 0) for p, q in ((begin, 0), (begin + 4 * HALF, begin)))
    before = np.zeros(2 * HALF, np.float32)
    alone = before.copy()
    for source, own in zip(sources, (first, second), strict=True):
        goptx.emulate(source, CTAS, THREADS, [alone, own])
    for seed in range(4):
        together = before.copy()
        goptx.emulate(woven, CTAS, THREADS, [[together, first], [together, second]], seed=seed)
        assert alone.tobytes() == together.tobytes() and alone[HALF:].any()


POINTED = "mul.wide.s32 %rd4, %r9, 4; add.s64 %rd5, %rd1, %rd4; ld.global.f32 %f1, [%rd5];"
WRITES = kernel(
    "ld.param.u64 %rd1, [x]; mul.wide.s32 %rd4, %r4, 4; add.s64 %rd5, %rd1, %rd4; st.global.f32 [%rd5], 0f0;"
)
TABLE = ".visible .global .align 8 .b8 table[4096];\n"


@pytest.mark.parametrize(
    ("loaded", "message"),
    [
        ("ld.param.u64 %rd1, [s+16];", r"A:0 \(x\) and B:1\+16 \(s\) in different CTAs"),
        ("mov.b64 %rd9, s; mad.wide.u32 %rd8, %r4, 8, %rd9; ld.param.u64 %rd1, [%rd8];", "is not known"),
        ("ld.param.u64 %rd2, [x]; ld.global.nc.u64 %rd1, [%rd2];", "is not known"),
        ("ld.const.u64 %rd1, [held];", "is not known"),
        ("ld.global.u64 %rd1, [table];", r"and `\w*table` in different CTAs"),
        ("mov.u64 %rd1, table;", r"A:0 \(x\) and `\w*table` in different CTAs"),
        ("mov.u64 %rd2, table; cvta.global.u64 %rd3, %rd2; cvta.to.global.u64 %rd1, %rd3;", "in different CTAs"),
    ],
    ids=["structure", "computed", "memory", "constant", "held", "variable", "converted"],
)  # fmt: skip
def test_a_pointer_from_anywhere_may_lead_to_the_buffer(loaded: str, message: str) -> None:
    variables = f"{TABLE}.const .align 8 .b8 held[8];\n"
    reads = kernel(f"{loaded} {CROSSING} {POINTED}", IN_STRUCTURE, variables)
    with pytest.raises(CannotWeave, match=message):
        fused(WRITES, reads, noalias=["B:0"])


def test_a_structure_in_common_has_written_buffers_in_common() -> None:
    sources = [structured("direct", OWN, first) for first in (True, False)]
    with pytest.raises(CannotWeave, match=r"writes the buffer A:1 \(s\), B:1 \(s\)"):
        fused(*sources, same=[("A:1", "B:1")], depends=False)
    fused(sources[0], sources[0].replace("st.global.f32 [%rd5], %f1;", ""), same=[("A:1", "B:1")], depends=False)


# stores of equal values ------------------------------------------------------------------------------------


def flags(index: str, first: bool) -> str:
    """K1 `out[i] = x[index]`, K2 `x[index] = 0`."""
    code = f"ld.param.u64 %rd1, [x]; {index} mul.wide.u32 %rd4, %r9, 4; add.s64 %rd5, %rd1, %rd4;"
    mine = "ld.param.u64 %rd2, [out]; mul.wide.s32 %rd6, %r4, 4; add.s64 %rd7, %rd2, %rd6; st.global.u32 [%rd7], %r10;"
    return kernel(f"{code} ld.global.u32 %r10, [%rd5]; {mine}" if first else f"{code} st.global.u32 [%rd5], 0;")


NAMED: dict[str, Any] = {"same": [BUFFER], "noalias": ["A:1", "B:1"]}
DIVIDED = "div.u32 %r9, %r4, 200;"
MASKED = "and.b32 %r9, %r4, 63;"
CTA = "mov.u32 %r9, %r1;"


@pytest.mark.parametrize(
    "index",
    [DIVIDED, "shr.u32 %r9, %r4, 5;", MASKED, "mul.hi.u32 %r9, %r4, 21474837;", "mov.u32 %r9, 0;"],
    ids=["divided", "shifted", "masked", "high", "one"],
)
@pytest.mark.parametrize("first", [True, False], ids=["read first", "written first"])
def test_stores_of_equal_values_do_not_race(index: str, first: bool) -> None:
    with pytest.raises(CannotWeave, match=r"may touch the same element of A:0 \(x\) in different CTAs"):
        fused(flags(index, first), flags(index, not first), **NAMED)


@pytest.mark.parametrize("first", [True, False])
def test_what_all_threads_of_a_cta_store_is_the_ctas_own(first: bool) -> None:
    sources = [flags(CTA, first), flags(CTA, not first)]
    woven = fused(*sources, **NAMED)
    assert barriers(woven) == 1
    rng = np.random.default_rng(0)
    flag, out = rng.integers(1, 9, HALF).astype(np.uint32), np.zeros(HALF, np.uint32)
    alone = [flag.copy(), out.copy()]
    for source in sources:
        goptx.emulate(source, CTAS, THREADS, alone)
    for seed in range(4):
        together = [flag.copy(), out.copy()]
        goptx.emulate(woven, CTAS, THREADS, [together, together], seed=seed)
        assert all((a == t).all() for a, t in zip(alone, together, strict=True))


def test_one_of_several_stored_values_is_not_private() -> None:
    """Each thread of a pair stores its number: one of the two is in memory for both."""
    writes = kernel("ld.param.u64 %rd1, [x]; shr.u32 %r9, %r4, 1; mul.wide.u32 %rd4, %r9, 4; add.s64 %rd5, %rd1, %rd4;"
                    "st.global.u32 [%rd5], %r4;")  # fmt: skip
    reads = kernel("ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [out]; shr.u32 %r9, %r4, 1; mul.wide.u32 %rd4, %r9, 4;"
                   "add.s64 %rd5, %rd1, %rd4; ld.global.u32 %r10, [%rd5]; mul.wide.u32 %rd6, %r4, 4;"
                   "add.s64 %rd7, %rd2, %rd6; st.global.u32 [%rd7], %r10;")  # fmt: skip
    with pytest.raises(CannotWeave, match="not shown to be an element of this thread alone"):
        fused(writes, reads, private=[BUFFER], depends=False)


# indices that wrap -----------------------------------------------------------------------------------------


def counted(index: str, scaled: str = "mul.wide.u32 %rd4, %r9, 4;", operation: str = "add.u32 %r10, %r10, %r4;") -> str:
    """`x[index] = x[index] operation i`."""
    return kernel(
        f"ld.param.u64 %rd1, [x]; {index} {scaled} add.s64 %rd5, %rd1, %rd4; ld.global.u32 %r10, [%rd5];"
        f"{operation} st.global.u32 [%rd5], %r10;"
    )


SHORT = "mov.u16 %rs1, %ctaid.x; mov.u16 %rs2, %ntid.x; mov.u16 %rs3, %tid.x; mad.lo.u16 %rs4, %rs1, %rs2, %rs3;"
FORMS = {  # index, how it becomes bytes, and the most threads
    "16 bits": (SHORT, "mul.wide.u16 %r9, %rs4, 4; cvt.u64.u32 %rd4, %r9;", None),
    "16 bits widened": (f"{SHORT} cvt.u32.u16 %r9, %rs4;", "mul.wide.u32 %rd4, %r9, 4;", None),
    "16 bits to 64": (SHORT, "cvt.u64.u16 %rd4, %rs4; shl.b64 %rd4, %rd4, 2;", 1 << 16),
    "bytes of 16 bits": (SHORT, "shl.b16 %rs5, %rs4, 2; cvt.u64.u16 %rd4, %rs5;", 1 << 14),
    "mask": ("and.b32 %r9, %r4, 127;", "mul.wide.u32 %rd4, %r9, 4;", None),
    "8 bits": ("cvt.u32.u8 %r9, %r4;", "mul.wide.u32 %rd4, %r9, 4;", None),
    "bits taken out": ("bfe.u32 %r9, %r4, 0, 7;", "mul.wide.u32 %rd4, %r9, 4;", None),
    "bytes of 32 bits": ("shl.b32 %r9, %r4, 2;", "cvt.u64.u32 %rd4, %r9;", 1 << 30),
    "multiplied in 32 bits": ("mul.lo.u32 %r9, %r4, 65536;", "mul.wide.u32 %rd4, %r9, 0;", None),
    "element of 32 bits": ("mov.u32 %r9, %r4;", "mul.wide.s32 %rd4, %r9, 4;", 1 << 32),
    "unsigned": ("mov.u32 %r9, %r4;", "cvt.u64.u32 %rd4, %r9; shl.b64 %rd4, %rd4, 2;", 1 << 32),
    "64 bits": ("mul.wide.u32 %rd4, %r1, %r2; cvt.u64.u32 %rd6, %r3;",
                "add.s64 %rd6, %rd4, %rd6; shl.b64 %rd4, %rd6, 2;", 0),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_indices_that_wrap_bound_the_launch(form: str) -> None:
    index, scaled, most = FORMS[form]
    sources = [counted(index, scaled), counted(index, scaled, "mul.lo.u32 %r10, %r10, 3;")]
    if most is None:
        with pytest.raises(CannotWeave, match="different CTAs"):
            fused(*sources, same=[BUFFER])
        return
    woven = fused(*sources, same=[BUFFER])
    assert [str(limit) for limit in woven.limits] == ([f"blockDim.x*gridDim.x <= {most}"] if most else [])
    assert barriers(woven) == 0
    same_results(sources, woven, [None])
    if most:
        beyond = most // 256 + 1
        with pytest.raises(
            InputError, match=r"which was proved for launches with blockDim.x\*gridDim.x <= .*indices wrap"
        ):
            woven.launched(beyond, 256)
        with pytest.raises(CannotWeave, match="different CTAs"):
            fused(*sources, same=[BUFFER], shapes=[goptx.Shape(beyond, 256)] * 2)
        assert woven.launched(beyond - 1, 256)


def test_a_thread_beyond_its_width_shares_an_element() -> None:
    """The reason: 66,048 threads count 512 elements twice."""
    index, scaled, _ = FORMS["16 bits to 64"]
    sources = [counted(index, scaled), counted(index, scaled, "mul.lo.u32 %r10, %r10, 3;")]
    with pytest.raises(InputError, match="indices wrap"):
        goptx.emulate(fused(*sources, same=[BUFFER]), 129, 512, [[np.zeros(1 << 16, np.uint32), None]] * 2)


@pytest.mark.parametrize(("threads", "fits"), [(64, True), (128, False)])
def test_constant_strides_bound_the_block(threads: int, fits: bool) -> None:
    sources = [counted("mad.lo.s32 %r9, %r1, 64, %r3;")]
    sources.append(counted("shl.b32 %r8, %r1, 6; add.s32 %r9, %r8, %r3;", operation="mul.lo.u32 %r10, %r10, 3;"))
    woven = fused(*sources, same=[BUFFER])
    assert "blockDim.x <= 64" in map(str, woven.limits)
    if fits:
        same_results(sources, woven, [None], block=threads)
        return
    with pytest.raises(InputError, match=r"with blockDim\.x <= 64 only"):
        woven.launched(CTAS, threads)
    with pytest.raises(CannotWeave, match="different CTAs"):
        fused(*sources, same=[BUFFER], shapes=[goptx.Shape(CTAS, threads)] * 2)


def test_pieces_of_other_strides_are_not_one() -> None:
    """CTAs of 64 threads: the one kernel counts by 64, the other by 128."""
    close, wide = counted("mov.u32 %r9, %r4;"), counted("mad.lo.s32 %r9, %r1, 128, %r3;")
    for shapes in (None, [goptx.Shape(CTAS, THREADS)] * 2):
        with pytest.raises(CannotWeave, match="different CTAs"):
            fused(close, wide, same=[BUFFER], shapes=shapes)


def test_bits_put_together_are_a_sum() -> None:
    """As compilers write `1024 * blockIdx.x + 4 * (threadIdx.x & 63) + 2`, of blocks of 64."""
    index = "shl.b32 %r8, %r1, 8; shl.b32 %r9, %r3, 2; and.b32 %r9, %r9, 252; or.b32 %r9, %r9, %r8; or.b32 %r9, %r9, 2;"
    sources = [counted(index), counted(index, operation="mul.lo.u32 %r10, %r10, 3;")]
    woven = fused(*sources, same=[BUFFER])
    assert "blockDim.x <= 64" in map(str, woven.limits)
    same_results(sources, woven, [None], grid=2, block=64)


ROWS = (
    "mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ntid.y; mov.u32 %r7, %tid.y; mad.lo.s32 %r8, %r5, %r6, %r7;"
    "ld.param.u32 %r11, [w]; setp.ge.s32 %p1, %r4, {bound}; setp.ge.s32 %p2, %r8, %r11; or.pred %p3, %p1, %p2;"
    "@%p3 bra DONE; mad.lo.s32 %r9, %r8, %r11, %r4;"
)


def rowed(bound: str, operation: str) -> str:
    text = counted(ROWS.format(bound=bound), operation=operation)
    return text.replace(".param .u64 out", ".param .u32 w").replace("ret;", "DONE: ret;")


def test_rows_and_columns_are_a_threads_own() -> None:
    sources = [rowed("%r11", "add.u32 %r10, %r10, %r4;"), rowed("%r11", "mul.lo.u32 %r10, %r10, 3;")]
    same = [BUFFER, ("A:1", "B:1")]
    woven = fused(*sources, same=same)
    assert barriers(woven) == 0 and not woven.along_x
    same_results(sources, woven, [13], grid=(2, 2), block=(8, 8))
    with pytest.raises(InputError, match=r"with gridDim.z <= 1 only"):
        woven.launched((2, 2, 2), (8, 8))
    known = fused(*sources, same=same, shapes=[goptx.Shape((2, 2), (8, 8))] * 2)
    assert barriers(known) == 0
    with pytest.raises(CannotWeave, match="different CTAs"):  # columns that run into the next row
        fused(*[s.replace("setp.ge.s32 %p1, %r4, %r11", "setp.ge.s32 %p1, %r4, 40") for s in sources], same=same)


@pytest.mark.parametrize("step", ["mul.lo.u16 %rs7, %rs5, %rs6;", "mul.lo.u16 %rs7, %rs5, 1;"], ids=["grid", "block"])
def test_short_counters_of_loops_wrap(step: str) -> None:
    body = (
        f"ld.param.u64 %rd1, [x]; {SHORT} mov.u16 %rs5, %ntid.x; mov.u16 %rs6, %nctaid.x; {step} mov.u32 %r12, 0;\n"
        "LOOP: cvt.u64.u16 %rd4, %rs4; shl.b64 %rd4, %rd4, 2; add.s64 %rd5, %rd1, %rd4; ld.global.u32 %r10, [%rd5];"
        "add.u32 %r10, %r10, 1; st.global.u32 [%rd5], %r10; add.u16 %rs4, %rs4, %rs7; add.u32 %r12, %r12, 1;"
        "setp.lt.u32 %p1, %r12, 3; @%p1 bra LOOP;"
    )
    with pytest.raises(CannotWeave, match="different CTAs"):
        fused(kernel(body), kernel(body), same=[BUFFER])
