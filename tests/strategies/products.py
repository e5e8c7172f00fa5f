"""Kernels of one warpgroup and one product by `wgmma`, of any bytes in shared memory, however these are laid out."""

from typing import NamedTuple

TILES = 4096  # bytes between the matrices of 8 columns, or between patterns: all in their 14 bits, in units of 16 bytes
BYTES = 96 << 10  # of shared memory
A_AT, B_AT = 0, 16 << 10
SIZES = {"f16": 16, "bf16": 16, "tf32": 8, "e4m3": 32, "s8": 32}  # k


class Case(NamedTuple):
    """A product: n columns, sums and elements of these types, how B lies (`swizzle` of its descriptor, transposed or
    not), and whether registers have A. loaded: whether nothing is known of the descriptor when it is assembled."""

    n: int
    sums: str = "f32"
    element: str = "f16"
    swizzle: int = 1
    transposed: bool = False
    in_registers: bool = False
    loaded: bool = False

    def __str__(self) -> str:
        words = [str(self.n), self.sums, self.element, f"swizzle{self.swizzle}"]
        words += [name for name in ("transposed", "in_registers", "loaded") if getattr(self, name)]
        return "-".join(words)


CASES = [
    *(Case(n, swizzle=s, transposed=t) for n in (256, 128) for s in range(4) for t in (False, True)),
    *(Case(256, sums="f16", transposed=t) for t in (False, True)),
    *(Case(256, in_registers=True, transposed=t) for t in (False, True)),
    *(Case(256, element=e) for e in ("bf16", "tf32", "e4m3")),
    Case(256, element="bf16", transposed=True, swizzle=2),
    Case(256, sums="s32", element="s8"),
    Case(192),
    Case(256, loaded=True),
    Case(256, loaded=True, swizzle=0),
]


def descriptor(case: Case) -> int:
    """That of B, without the address."""
    leading, stride = (TILES >> 4, 1024 >> 4) if case.transposed and case.swizzle else (128 >> 4, TILES >> 5)
    return case.swizzle << 62 | stride << 32 | leading << 16


def kernel(case: Case) -> str:
    """PTX: `product` reads BYTES of `data` into shared memory, and writes 128 registers of each of 128 threads."""
    sums = case.n // (4 if case.sums == "f16" else 2)
    halves = case.element in ("f16", "bf16")
    k = SIZES[case.element]
    d = ", ".join(f"%s{i}" for i in range(sums))
    a = "{%a0, %a1, %a2, %a3}" if case.in_registers else "%da"
    ends = [] if not halves else [str(int(case.transposed))] if case.in_registers else ["0", str(int(case.transposed))]
    last = ", ".join(["%p1", *([] if case.element == "s8" else ["1", "1"]), *ends])
    kind = "f32" if case.sums == "f32" else "b32"
    high = (
        "ld.global.u64 %db, [%fields]; or.b64 %db, %db, %low;"
        if case.loaded
        else f"or.b64 %db, %low, {descriptor(case)};"
    )
    zeros = " ".join(f"mov.b32 %s{i}, 0;" for i in range(sums))
    stores = " ".join(f"st.global.b32 [%out+{i * 512}], %s{i};" for i in range(sums))
    types = f"{case.sums}.{case.element}.{case.element}"
    return f"""
.version 8.0
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 tile[];
.visible .entry product(.param .u64 product_data, .param .u64 product_fields, .param .u64 product_out)
.reqntid 128
{{
    .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b64 %da, %db, %low, %fields, %out;
    .reg .{kind} %s<{sums}>; .reg .b32 %a<4>;
    ld.param.u64 %rd1, [product_data]; ld.param.u64 %fields, [product_fields]; ld.param.u64 %out, [product_out];
    mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 16; add.s64 %rd1, %rd1, %rd2; mov.u32 %r2, tile;
    mad.lo.u32 %r3, %r1, 16, %r2; mov.u32 %r4, 0;
COPY:
    ld.global.v4.b32 {{%a0, %a1, %a2, %a3}}, [%rd1]; st.shared.v4.b32 [%r3], {{%a0, %a1, %a2, %a3}};
    add.s64 %rd1, %rd1, 2048; add.u32 %r3, %r3, 2048; add.u32 %r4, %r4, 2048;
    setp.lt.u32 %p2, %r4, {BYTES}; @%p2 bra COPY;
    {zeros}
    bar.sync 0; fence.proxy.async.shared::cta; setp.eq.u32 %p1, %r2, %r2;
    add.u32 %r5, %r2, {A_AT}; bfe.u32 %r7, %r5, 4, 14; cvt.u64.u32 %rd4, %r7; or.b64 %da, %rd4, {1 << 62 | 64 << 32};
    add.u32 %r6, %r2, {B_AT}; bfe.u32 %r8, %r6, 4, 14; cvt.u64.u32 %low, %r8; {high}
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n{case.n}k{k}.{types} {{{d}}}, {a}, %db, {last};
    wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
    mad.wide.u32 %out, %r1, 4, %out; {stores} ret;
}}
"""


OTHER = """
.version 8.0
.target sm_90a
.address_size 64
.visible .entry other(.param .u64 other_out)
{
    .reg .b32 %r<3>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [other_out]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd2, %r1, 4, %rd1; st.global.u32 [%rd2], %r1;
    ret;
}
"""
