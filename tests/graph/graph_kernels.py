"""Kernels and descriptions of graphs for the tests, made from a few lines each."""

from collections.abc import Sequence
from itertools import pairwise

from goptx.graph.graph_description import Allocation, Graph, GraphNode, Id, sha_of

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


def scale(name: str = "scale", constant: int = 3) -> str:
    """y[i] = x[i] * constant + 1 for each thread i below n: parameters x, y, n."""
    return (
        HEAD
        + f"""
.visible .entry {name}(.param .u64 x, .param .u64 y, .param .u32 n)
{{
    .reg .pred %p;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u32 %r1, [n];
    cvta.to.global.u64 %rd1, %rd1;
    cvta.to.global.u64 %rd5, %rd2;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.s32 %p, %r5, %r1;
    @%p bra DONE;
    mul.wide.u32 %rd3, %r5, 4;
    ld.param.u64 %rd6, [x];
    add.s64 %rd4, %rd6, %rd3;
    ld.global.u32 %r6, [%rd4];
    mad.lo.s32 %r7, %r6, {constant}, 1;
    add.s64 %rd7, %rd5, %rd3;
    st.global.u32 [%rd7], %r7;
DONE:
    ret;
}}
"""
    )


def add(name: str = "add") -> str:
    """z[i] = x[i] + y[i] for each thread i below n: parameters x, y, z, n."""
    return (
        HEAD
        + f"""
.visible .entry {name}(.param .u64 x, .param .u64 y, .param .u64 z, .param .u32 n)
{{
    .reg .pred %p;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u64 %rd3, [z];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.s32 %p, %r5, %r1;
    @%p bra DONE;
    mul.wide.u32 %rd4, %r5, 4;
    add.s64 %rd5, %rd1, %rd4;
    add.s64 %rd6, %rd2, %rd4;
    add.s64 %rd7, %rd3, %rd4;
    ld.global.u32 %r6, [%rd5];
    ld.global.u32 %r7, [%rd6];
    add.s32 %r8, %r6, %r7;
    st.global.u32 [%rd7], %r8;
DONE:
    ret;
}}
"""
    )


def within(name: str = "within") -> str:
    """y[i] = x[i], with both pointers in a structure that is passed by value."""
    return (
        HEAD
        + f"""
.visible .entry {name}(.param .align 8 .b8 s[16])
{{
    .reg .b32 %r<4>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [s];
    ld.param.u64 %rd2, [s+8];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.u32 %r2, [%rd4];
    st.global.u32 [%rd5], %r2;
    ret;
}}
"""
    )


def indirect(name: str = "indirect") -> str:
    """**p = 1: it takes an address from memory."""
    return (
        HEAD
        + f"""
.visible .entry {name}(.param .u64 p)
{{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [p];
    ld.global.u64 %rd2, [%rd1];
    mov.u32 %r1, 1;
    st.global.u32 [%rd2], %r1;
    ret;
}}
"""
    )


def counter(name: str = "count") -> str:
    """A variable of the module counts the launches, and each stores the count: parameter y."""
    return (
        HEAD
        + f"""
.visible .global .align 4 .u32 launches;
.visible .entry {name}(.param .u64 y)
{{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [y];
    ld.global.u32 %r0, [launches];
    add.s32 %r1, %r0, 1;
    st.global.u32 [launches], %r1;
    st.global.u32 [%rd1], %r1;
    ret;
}}
"""
    )


BASE = 0x7F0000000000
SIZE = 1024  # bytes of each buffer
N = SIZE // 4


def buffer(number: int) -> int:
    """The address of a buffer; each is an allocation of its own."""
    return BASE + number * 4096


def u64(value: int) -> bytes:
    return value.to_bytes(8, "little")


def u32(value: int) -> bytes:
    return value.to_bytes(4, "little")


def launch(
    id_: Id, text: str, entry: str, *parameters: bytes, grid: int = 2, block: int = 128
) -> tuple[GraphNode, str]:
    return GraphNode(id_, entry, (grid, 1, 1), (block, 1, 1), 0, parameters, sha_of(text)), text


def scaled(id_: Id, x: int, y: int, n: int = N, grid: int = 2, constant: int = 3) -> tuple[GraphNode, str]:
    """A launch of `scale` from one buffer to another."""
    text = scale(f"scale{constant}", constant)
    return launch(id_, text, f"scale{constant}", u64(buffer(x)), u64(buffer(y)), u32(n), grid=grid)


def added(id_: Id, x: int, y: int, z: int) -> tuple[GraphNode, str]:
    return launch(id_, add(), "add", u64(buffer(x)), u64(buffer(y)), u64(buffer(z)), u32(N))


def opaque(id_: Id, *parameters: bytes, kind: str = "kernel") -> tuple[GraphNode, str]:
    return GraphNode(id_, "nvjet" if kind == "kernel" else "", parameters=parameters, kind=kind), ""


def chain(*nodes: tuple[GraphNode, str], buffers: int = 8, more: Sequence[Allocation] = ()) -> Graph:
    """The graph that the capture of one stream has."""
    ids = [node.id for node, _ in nodes]
    allocations = tuple(Allocation(buffer(i), SIZE) for i in range(buffers))
    texts = {sha_of(text): text for _, text in nodes if text}
    return Graph(tuple(n for n, _ in nodes), tuple(pairwise(ids)), (*allocations, *more), texts)
