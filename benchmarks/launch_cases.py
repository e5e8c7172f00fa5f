"""The kernels of launch_overhead.py, as PTX: two that scale an array, and the steps of an optimizer."""

from __future__ import annotations

from dataclasses import dataclass

GRID, BLOCK = 4, 256
ELEMENTS = GRID * BLOCK
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


@dataclass(frozen=True)
class Case:
    """Kernels with the same parameters: `arrays` of floats, then `numbers`, the last of which counts the elements."""

    name: str
    texts: tuple[str, ...]
    arrays: int
    numbers: tuple[float | int, ...]


def kernel(name: str, arrays: list[str], numbers: list[str], body: str) -> str:
    """A kernel in which thread i of the grid works on element i: its addresses are in `%ARRAY`, the numbers in
    `%f_NUMBER`, and `body` loads and stores."""
    parameters = [f".param .u64 {name}_{a}" for a in arrays] + [f".param .f32 {name}_{n}" for n in numbers]
    addresses = [f".reg .u64 %{a}; ld.param.u64 %{a}, [{name}_{a}]; add.u64 %{a}, %{a}, %offset;" for a in arrays]
    values = [f".reg .f32 %f_{n}; ld.param.f32 %f_{n}, [{name}_{n}];" for n in numbers]
    lines = [
        ".reg .pred %outside; .reg .u32 %i, %r<4>; .reg .u64 %offset; .reg .f32 %f<9>;",
        "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %i, %r1, %r2, %r3;",
        f"ld.param.u32 %r0, [{name}_n]; setp.ge.u32 %outside, %i, %r0; @%outside bra END;",
        "mul.wide.u32 %offset, %i, 4;",
        *addresses,
        *values,
        body,
        "END: ret;",
    ]
    listed = ", ".join([*parameters, f".param .u32 {name}_n"])
    return f"{HEAD}.visible .entry {name}({listed})\n{{\n" + "\n".join(lines) + "\n}\n"


SCALE = "ld.global.f32 %f1, [%x]; mul.f32 %f1, %f1, %f_a; st.global.f32 [%y], %f1;"
STEP = """
ld.global.f32 %f1, [%p]; ld.global.f32 %f2, [%g]; ld.global.f32 %f3, [%m]; ld.global.f32 %f4, [%v];
fma.rn.f32 %f3, %f3, %f_b1, %f2; fma.rn.f32 %f4, %f4, %f_b2, %f2; fma.rn.f32 %f1, %f3, %f_lr, %f1;
fma.rn.f32 %f1, %f4, %f_eps, %f1;
st.global.f32 [%m], %f3; st.global.f32 [%v], %f4; st.global.f32 [%p], %f1;
"""
CASES = (
    Case("scale", tuple(kernel(f"scale{i}", ["x", "y"], ["a"], SCALE) for i in range(2)), 2, (1.5, ELEMENTS)),
    Case(
        "optimizer",
        tuple(kernel(f"step{i}", [*"pgmv"], ["lr", "b1", "b2", "eps"], STEP) for i in range(4)),
        4,
        (-0.01, 0.9, 0.99, 1e-3, ELEMENTS),
    ),
)
