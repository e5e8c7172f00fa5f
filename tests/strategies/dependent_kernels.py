"""Element-wise kernels as PTX, for the tests of kernels that depend on each other."""

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
INDEX = "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;"
LOAD, STORE = "ld.global.f32", "st.global.f32"


def elementwise(
    operation: str = "add.f32",
    index: str = INDEX,
    guard: str = "setp.ge.s32 %p1, %r4, %r5; @%p1 bra DONE;",
    read: str = "%r4",
    write: str = "%r4",
    load: str = LOAD,
    store: str = STORE,
    before: str = "",
) -> str:
    """`out[write] = x[read] operation y[read]` for entry `k(x, y, out, n)`; `%r4` is the thread's number, `%r5` n."""
    return f"""{HEAD}
.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 out, .param .u32 n)
{{
    .reg .pred %p<4>; .reg .b16 %rs<8>; .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .b64 %rd<20>;
    ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u64 %rd3, [out]; ld.param.u32 %r5, [n];
    cvta.to.global.u64 %rd1, %rd1; cvta.to.global.u64 %rd2, %rd2; cvta.to.global.u64 %rd3, %rd3;
    {index}
    {guard}
    {before}
    mul.wide.s32 %rd4, {read}, 4;
    mul.wide.s32 %rd8, {write}, 4;
    add.s64 %rd5, %rd1, %rd4; add.s64 %rd6, %rd2, %rd4; add.s64 %rd7, %rd3, %rd8;
    {load} %f1, [%rd5]; ld.global.f32 %f2, [%rd6];
    {operation} %f3, %f1, %f2;
    {store} [%rd7], %f3;
DONE:
    ret;
}}
"""


def strided(operation: str = "add.f32", step: str = "mul.lo.s32 %r7, %r2, %r6;") -> str:
    """The same in a grid-stride loop."""
    return f"""{HEAD}
.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 out, .param .u32 n)
{{
    .reg .pred %p<4>; .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .b64 %rd<20>;
    ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u64 %rd3, [out]; ld.param.u32 %r5, [n];
    {INDEX}
    setp.ge.s32 %p1, %r4, %r5;
    @%p1 bra DONE;
    mov.u32 %r6, %nctaid.x;
    {step}
LOOP:
    mul.wide.s32 %rd4, %r4, 4;
    add.s64 %rd5, %rd1, %rd4; add.s64 %rd6, %rd2, %rd4; add.s64 %rd7, %rd3, %rd4;
    ld.global.f32 %f1, [%rd5]; ld.global.f32 %f2, [%rd6];
    {operation} %f3, %f1, %f2;
    st.global.f32 [%rd7], %f3;
    add.s32 %r4, %r4, %r7;
    setp.lt.s32 %p2, %r4, %r5;
    @%p2 bra LOOP;
DONE:
    ret;
}}
"""
