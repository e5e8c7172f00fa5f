"""Kernels that are right in any launch shape, for the tests of launch shapes. Each is `NAME(.u64 out, .u32 n)`.

Before the body, %r1 is the thread's number in its CTA, %r2 the CTA's in the grid, %r3 the threads of a CTA, %r4 the
thread's number in the grid, all along x first; %r5 is n and %rd1 where the thread's `WORDS` words of `out` begin.
"""

from collections.abc import Sequence

WORDS = 24  # of each thread
HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
REGISTERS = ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<90>; .reg .b64 %rd<20>; .reg .v4 .u32 %v;\n"
BEGIN = """
    ld.param.u64 %rd1, [{name}_out]; ld.param.u32 %r5, [{name}_n];
    mov.u32 %r10, %tid.x; mov.u32 %r11, %tid.y; mov.u32 %r12, %tid.z;
    mov.u32 %r13, %ntid.x; mov.u32 %r14, %ntid.y; mov.u32 %r15, %ntid.z;
    mad.lo.u32 %r1, %r12, %r14, %r11; mad.lo.u32 %r1, %r1, %r13, %r10;
    mul.lo.u32 %r3, %r13, %r14; mul.lo.u32 %r3, %r3, %r15;
    mov.u32 %r20, %ctaid.x; mov.u32 %r21, %ctaid.y; mov.u32 %r22, %ctaid.z;
    mov.u32 %r23, %nctaid.x; mov.u32 %r24, %nctaid.y; mov.u32 %r25, %nctaid.z;
    mad.lo.u32 %r2, %r22, %r24, %r21; mad.lo.u32 %r2, %r2, %r23, %r20;
    mad.lo.u32 %r4, %r2, %r3, %r1; mul.wide.u32 %rd2, %r4, {bytes}; add.s64 %rd1, %rd1, %rd2;
"""


def kernel(name: str, body: str, variables: str = "", bounds: str = "", functions: str = "") -> str:
    begin = BEGIN.format(name=name, bytes=4 * WORDS)
    head = f".visible .entry {name}(.param .u64 {name}_out, .param .u32 {name}_n) {bounds}"
    return f"{HEAD}{functions}\n{head}\n{{\n{REGISTERS}{variables}{begin}{body}\nret;\n}}\n"


def stored(values: Sequence[str]) -> str:
    return "".join(f"st.global.u32 [%rd1+{4 * i}], {value};\n" for i, value in enumerate(values))


# Every special register that a shape decides, and some that it does not, in the ways in which PTX reads them.
REGISTERS_READ = kernel(
    "registers",
    """
    mov.v4.u32 %v, %tid; mov.u32 %r30, %v.y; mov.v4.u32 {%r31, %r32, %r33, %r34}, %nctaid; mov.u16 %h1, %tid.x;
    cvt.u32.u16 %r35, %h1; mov.b64 %rd3, {%ctaid.z, %ntid.y}; mov.b64 {%r36, %r37}, %rd3; mov.u32 %r38, %laneid;
    mov.u32 %r39, %warpid; mov.u32 %r40, %dynamic_smem_size; mov.u32 %r41, %total_smem_size; cvt.u64.u32 %rd4, %ctaid.y;
    cvt.u32.u64 %r42, %rd4; mov.u32 %r43, %tid.r; mov.u32 %r44, %tid.w; mov.u32 %r45, %lanemask_lt;
    st.global.v2.u32 [%rd1+88], {%ntid.x, %ctaid.x};
    """
    + stored([f"%r{i}" for i in (10, 11, 12, 13, 14, 15, 20, 21, 22, 30, 31, 32, 33, 35, 36, 37, 38, 39, 40, 41, 42)])
    + "add.u32 %r43, %r43, %r44; xor.b32 %r43, %r43, %r45; st.global.u32 [%rd1+84], %r43;",
)

# Threads write a tile, meet, and read the element of their neighbour; once more; then reduce over the CTA.
TILE = """
    shl.b32 %r50, %r1, 2; mov.u32 %r51, tile; add.u32 %r52, %r51, %r50; st.shared.u32 [%r52], %r4;
    bar.sync 0; add.u32 %r53, %r1, 1; rem.u32 %r53, %r53, %r3; shl.b32 %r53, %r53, 2; add.u32 %r53, %r51, %r53;
    ld.shared.u32 %r54, [%r53]; bar.sync 0; mad.lo.u32 %r55, %r54, 3, %r1; st.shared.u32 [%r52], %r55; bar.sync 0;
    ld.shared.u32 %r56, [%r53]; and.b32 %r57, %r56, 1; setp.ne.u32 %p1, %r57, 0;
    bar.red.popc.u32 %r58, 0, %p1; bar.red.and.pred %p2, 0, %p1; bar.red.or.pred %p3, 0, !%p1;
    selp.u32 %r59, 1, 2, %p2; selp.u32 %r60, 1, 2, %p3;
"""
TILED = kernel("tiled", TILE + stored(["%r54", "%r56", "%r58", "%r59", "%r60"]), ".shared .align 4 .b8 tile[4096];")

# Some threads end at once, some between barriers; the others meet, and shuffle among those of their warp that are left.
LEFT = """
    setp.ge.u32 %p1, %r4, %r5; @%p1 ret;
    activemask.b32 %r61; vote.sync.ballot.b32 %r62, %p1, -1; shfl.sync.bfly.b32 %r63|%p4, %r1, 1, 31, -1;
    selp.u32 %r63, %r63, 99, %p4;
    shl.b32 %r50, %r1, 2; mov.u32 %r51, tile; add.u32 %r52, %r51, %r50; st.shared.u32 [%r52], %r4;
    bar.sync 0; ld.shared.u32 %r54, [tile]; bar.sync 0; and.b32 %r64, %r1, 7; setp.eq.u32 %p2, %r64, 3; @%p2 ret;
    redux.sync.add.u32 %r65, %r1, -1; bar.red.popc.u32 %r66, 0, %p4;
"""
LEAVING = kernel("leaving", LEFT + stored(["%r54", "%r61", "%r62", "%r65", "%r66"]), ".shared .align 4 .b8 tile[4096];")

# A loop that the thread's number ends, beside work of the whole warp.
LOOPING = kernel(
    "looping",
    """
    and.b32 %r70, %r1, 13; mov.u32 %r71, 0; mov.u32 %r72, 1;
    TURN: mad.lo.u32 %r72, %r72, 5, %r4; add.u32 %r71, %r71, 1; setp.le.u32 %p1, %r71, %r70; @%p1 bra TURN;
    setp.gt.u32 %p2, %r1, %r5; @%p2 bra BIG; add.u32 %r72, %r72, 7; bra JOIN; BIG: xor.b32 %r72, %r72, 5;
    JOIN: shfl.sync.idx.b32 %r73|%p3, %r72, 0, 31, -1;
    """
    + stored(["%r72", "%r73"]),
)

# Two arrays of unknown size, which begin at one place; and a static one in the entry.
DYNAMIC = kernel(
    "dynamic",
    """
    shl.b32 %r50, %r1, 2; mov.u32 %r51, first; add.u32 %r52, %r51, %r50; st.shared.u32 [%r52], %r4;
    setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [fixed+4], %r5; bar.sync 0;
    mov.u64 %rd5, second; cvta.shared.u64 %rd6, second;
    ld.shared.u32 %r54, [%rd5]; ld.u32 %r55, [%rd6]; ld.shared.u32 %r56, [second+4]; mov.u32 %r57, first+8;
    ld.shared.u32 %r58, [%r57+-4]; cvta.shared.u64 %rd7, first+4; ld.u32 %r59, [%rd7+-4]; ld.shared.u32 %r60, [fixed+4];
    mov.u32 %r61, %dynamic_smem_size; add.u32 %r62, %r51, %r61; ld.shared.u32 %r63, [first+0x4];
    """
    + stored([f"%r{i}" for i in (54, 55, 56, 58, 59, 60, 61, 63)]),
    ".shared .align 8 .b8 fixed[40];",
    functions=".extern .shared .align 16 .b32 first[]; .extern .shared .align 8 .b8 second[];",
)

# Device functions: one reads the thread's place, and one that calls it does not.
CALLING = kernel(
    "calling",
    """
    { .param .b32 given; .param .b32 back; st.param.b32 [given], %r4; call (back), outer, (given);
      ld.param.b32 %r50, [back]; }
    { .param .b32 back; call (back), plain, (); ld.param.b32 %r51, [back]; }
    """
    + stored(["%r50", "%r51"]),
    functions="""
.extern .shared .align 16 .b8 pool[];
.func (.param .b32 r) place(.param .b32 x);
.func (.param .b32 r) plain() { .reg .b32 %r1; mov.u32 %r1, 77; st.param.b32 [r], %r1; ret; }
.func (.param .b32 r) outer(.param .b32 x)
{
    .reg .b32 %r<9>; ld.param.b32 %r1, [x];
    { .param .b32 p; .param .b32 q; st.param.b32 [p], %r1; call (q), place, (p); ld.param.b32 %r2, [q]; }
    add.u32 %r2, %r2, 1; st.param.b32 [r], %r2; ret;
}
.func (.param .b32 r) place(.param .b32 x)
{
    .reg .b32 %r<20>; .reg .b32 %shape0; ld.param.b32 %r1, [x]; mov.u32 %r2, %tid.y; mov.u32 %r3, %ntid.x;
    mov.u32 %r10, %tid.z; mov.u32 %r11, %ntid.y; mov.u32 %r12, %tid.x; mad.lo.u32 %r10, %r10, %r11, %r2;
    mad.lo.u32 %r10, %r10, %r3, %r12; shl.b32 %r10, %r10, 2; mov.u32 %shape0, pool; add.u32 %shape0, %shape0, %r10;
    st.shared.u32 [%shape0], %r1;
    mov.u32 %r4, %ctaid.x; mov.u32 %r5, %tid.x; mov.u32 %r6, %nctaid.y; mov.u32 %r7, %ctaid.y;
    mad.lo.u32 %r1, %r1, 3, %r2; mad.lo.u32 %r1, %r1, 3, %r3; mad.lo.u32 %r1, %r1, 3, %r4; mad.lo.u32 %r1, %r1, 3, %r5;
    mad.lo.u32 %r1, %r1, 3, %r6; mad.lo.u32 %r1, %r1, 3, %r7; ld.shared.u32 %r8, [%shape0]; add.u32 %r1, %r1, %r8;
    st.param.b32 [r], %r1; ret;
}
""",
)

KERNELS = {
    "registers": REGISTERS_READ, "tiled": TILED, "leaving": LEAVING, "looping": LOOPING, "dynamic": DYNAMIC,
    "calling": CALLING,
}  # fmt: skip

# Right with any block: each CTA sums a part of what `in` holds, element by element in turn.
STRIDE = f"""{HEAD}
.visible .entry stride(.param .u64 in, .param .u64 out, .param .u32 n)
{{
    .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<9>; .shared .align 4 .b8 sum[4];
    ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %ctaid.x; mov.u32 %r5, %nctaid.x;
    setp.eq.u32 %p1, %r2, 0; @%p1 st.shared.u32 [sum], 0; bar.sync 0;
    mad.lo.u32 %r6, %r4, %r3, %r2; mul.lo.u32 %r7, %r3, %r5; mov.u32 %r8, 0;
    LOOP: setp.ge.u32 %p2, %r6, %r1; @%p2 bra DONE;
    mul.wide.u32 %rd3, %r6, 4; add.s64 %rd3, %rd3, %rd1; ld.global.u32 %r9, [%rd3]; add.u32 %r8, %r8, %r9;
    add.u32 %r6, %r6, %r7; bra LOOP;
    DONE: atom.shared.add.u32 %r10, [sum], %r8; bar.sync 0;
    @!%p1 ret;
    ld.shared.u32 %r11, [sum]; cvta.to.global.u64 %rd4, %rd2; red.global.add.u32 [%rd4], %r11;
    ret;
}}
"""
