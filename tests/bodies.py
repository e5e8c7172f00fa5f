"""Small kernels written as bodies, for the tests of the passes."""

from goptx.analysis.build_cfg import control_flow
from goptx.analysis.cfg import Flow
from goptx.ptx.flatten import flatten
from goptx.ptx.parse import parse

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
REGISTERS = ".reg .pred %p<9>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<9>;\n.shared .align 4 .b8 tile[1024];\n"


def kernel(body: str, name: str = "k") -> str:
    """A module with one entry `name(.u64 in, .u64 out, .u32 n)`."""
    parameters = f".param .u64 {name}_in, .param .u64 {name}_out, .param .u32 {name}_n"
    return f"{HEAD}.visible .entry {name}({parameters})\n{{\n{REGISTERS}{body}\n}}\n"


def flow(body: str) -> Flow:
    return control_flow(flatten(parse(kernel(body)).entries[0].body or (), lambda n: n), "test")


GUARD = """
    mov.u32 %r1, %tid.x;
    ld.param.u32 %r2, [k_n];
    setp.ge.u32 %p1, %r1, %r2;
    @%p1 bra DONE;
    {body}
DONE:
    ret;
"""
