"""What the Python of README.md and docs/guide.md takes for granted: kernels, arguments, a stream. A launch has 4 CTAs
where the documents have more than these have data for; without a GPU it runs on the emulator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import goptx
from goptx.launch.sample_data import sample
from goptx.launch.specification import read_specification

try:
    from goptx.device.load import current_device

    device: Any = current_device()
    stream: Any = device.create_stream()
except goptx.DeviceError:
    device = stream = None


on_device = goptx.Woven.launch


def launch(self: goptx.Woven, on: Any, *args: Any, grid: Any = None, block: Any = None, **options: Any) -> None:
    """In the place of `Woven.launch`."""
    few = None if grid is None else min(grid, 4)
    if device is None:
        self.launched(grid, block, shapes=options.get("shapes"))
        goptx.emulate(self, few, block, args=args, shapes=options.get("shapes"))
    else:
        on_device(self, on, *args, grid=few, block=block, **options)


goptx.Woven.launch = launch  # type: ignore[assignment,method-assign]


def on_gpu(value: Any) -> Any:
    """An array where a GPU finds it, if there is one."""
    if device is None or not isinstance(value, np.ndarray):
        return value
    from cuda.core import LegacyPinnedMemoryResource

    buffer = LegacyPinnedMemoryResource().allocate(value.nbytes)
    np.from_dlpack(buffer).view(value.dtype)[...] = value
    return buffer


def samples(name: str) -> list[Any]:
    (small,) = (launch.small() for launch in read_specification(Path(f"examples/kernels/{name}.toml")))
    return [sample(argument, i) for i, argument in enumerate(small.arguments)]


x, y, xy, corners, *_ = samples("harris")
args_a, args_b, args_c, args_d, args_t = (
    [on_gpu(v) for v in samples(name)] for name in ("harris", "lud", "lud", "sort", "transpose")
)

_ELEMENTWISE = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry NAME(.param .u64 x, .param .u64 y, .param .u64 out, .param .u32 n)
{
    .reg .pred %p1;
    .reg .b32 %r<6>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u64 %rd3, [out];
    ld.param.u32 %r5, [n];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    setp.ge.s32 %p1, %r4, %r5;
    @%p1 bra DONE;
    mul.wide.s32 %rd4, %r4, 4;
    add.s64 %rd5, %rd1, %rd4;
    add.s64 %rd6, %rd2, %rd4;
    add.s64 %rd7, %rd3, %rd4;
    ld.global.f32 %f1, [%rd5];
    ld.global.f32 %f2, [%rd6];
    OPERATION.f32 %f3, %f1, %f2;
    st.global.f32 [%rd7], %f3;
DONE:
    ret;
}
"""


def elementwise(name: str, operation: str) -> str:
    return _ELEMENTWISE.replace("NAME", name).replace("OPERATION", operation)


four = [elementwise(*step) for step in (("first", "mul"), ("second", "sub"), ("third", "mul"), ("fourth", "sub"))]
kernel_a, kernel_b = elementwise("a", "mul"), elementwise("b", "add")
grid, block, n = 4, 256, np.uint32(1000)
u, v, t, z, out = (on_gpu(np.zeros(1000, np.float32)) for _ in range(5))
