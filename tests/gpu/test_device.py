"""Loading, launching and sweeping on a real GPU: pointers, scalars, structures, large shared memory."""

import struct
import subprocess
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from goptx.device.assemble import assemble
from goptx.device.load import current_device, driver_version, launch, load, pack_arguments
from goptx.device.occupancy import occupancy
from goptx.device.sweep import sweep
from goptx.errors import DeviceError

pytestmark = pytest.mark.gpu

SAXPY = """.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 room[];
.visible .entry saxpy(.param .u64 out, .param .f32 a, .param .u32 n, .param .align 8 .b8 pair[16])
{
    .reg .u64 %rd<4>;
    .reg .u32 %r<8>;
    .reg .f32 %f<4>;
    .reg .pred %p;
    ld.param.u64 %rd1, [out];
    ld.param.f32 %f1, [a];
    ld.param.u32 %r1, [n];
    ld.param.f32 %f2, [pair+8];
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p, %r2, %r1;
    @%p ret;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd3, %rd1, %rd2;
    mov.u32 %r3, room;
    mad.lo.u32 %r4, %r2, 4, %r3;
    ld.global.f32 %f3, [%rd3];
    fma.rn.f32 %f3, %f1, %f3, %f2;
    st.shared.f32 [%r4], %f3;
    ld.shared.f32 %f3, [%r4];
    st.global.f32 [%rd3], %f3;
    ret;
}
"""


@dataclass(frozen=True)
class Param:
    type: str
    size: int
    kernel: str | None = "A"
    name: str = "p"
    original: str = "p"


PARAMS = [Param("u64", 8), Param("f32", 4), Param("u32", 4), Param("b8", 16)]


def device_arch() -> str:
    try:
        return f"sm_{current_device().arch}"
    except DeviceError as error:
        pytest.skip(str(error))


class DeviceFloats:
    """An array of floats on the device, through cuda.core alone."""

    def __init__(self, values: np.ndarray[Any, np.dtype[np.float32]]) -> None:
        from cuda.bindings import driver

        self._driver, self.count = driver, len(values)
        self._address = int(driver.cuMemAlloc(values.nbytes)[1])
        driver.cuMemcpyHtoD(self._address, values.ctypes.data, values.nbytes)
        self.__cuda_array_interface__ = {
            "data": (self._address, False),
            "shape": values.shape,
            "typestr": "<f4",
            "version": 3,
        }

    def read(self) -> np.ndarray[Any, np.dtype[np.float32]]:
        values = np.empty(self.count, np.float32)
        current_device().sync()
        self._driver.cuMemcpyDtoH(values.ctypes.data, self._address, values.nbytes)
        return values


@pytest.mark.parametrize("shared", [1024, 100 * 1024])
def test_every_kind_of_argument_arrives(shared: int) -> None:
    arch = device_arch()
    built = assemble(SAXPY, entry="saxpy", arch=arch)
    kernel = load(built.cubin, "saxpy")
    assert kernel.attributes.num_regs == built.registers
    values = np.arange(64, dtype=np.float32)
    for stream in (None, current_device().create_stream()):
        array = DeviceFloats(values)
        args = pack_arguments(PARAMS, [array, 2.0, 32, struct.pack("<qff", 0, 0.5, 0)])
        launch(kernel, stream, args, grid=1, block=64, shared=shared)
        assert array.read().tolist() == [*(values[:32] * 2 + 0.5), *values[32:]]


def test_scalars_alone_go_through_cuda_core() -> None:
    arch = device_arch()
    text = SAXPY.replace(", .param .align 8 .b8 pair[16]", "").replace(
        "ld.param.f32 %f2, [pair+8]", "mov.f32 %f2, 0f3F000000"
    )
    kernel = load(assemble(text, entry="saxpy", arch=arch).cubin, "saxpy")
    array = DeviceFloats(np.arange(64, dtype=np.float32))
    launch(
        kernel,
        None,
        pack_arguments(PARAMS[:3], [array, 2.0, 64]),
        grid=(1, 1),
        block=(64, 1, 1),
        shared=60_000,
    )
    assert array.read().tolist() == [2 * i + 0.5 for i in range(64)]


def test_refusals_name_what_was_asked() -> None:
    arch = device_arch()
    with pytest.raises(DeviceError, match="refuses kernel `saxpy`"):
        load(b"no cubin", "saxpy")
    cubin = assemble(SAXPY, entry="saxpy", arch=arch).cubin
    with pytest.raises(DeviceError, match="`other`"):
        load(cubin, "other")
    kernel = load(cubin, "saxpy")
    args = pack_arguments(PARAMS, [None, 2.0, 0, bytes(16)])
    with pytest.raises(DeviceError, match="block 2048"):
        launch(kernel, None, args, grid=1, block=2048, shared=0)
    with pytest.raises(DeviceError, match="4000000 bytes"):
        launch(kernel, None, args, grid=1, block=32, shared=4_000_000)


@dataclass(frozen=True)
class Resources:
    registers: int
    spill_bytes: int
    shared_bytes: int
    occupancy: float | None


class Woven:
    def _build(self, cap: int | None) -> Any:
        text = SAXPY.replace("\n{", f"\n.maxnreg {cap}\n{{" if cap else "\n{", 1)
        return assemble(text, entry="saxpy", arch=device_arch(), max_registers=cap)

    def resources(self, *, max_registers: int | None, block: Any) -> Resources:
        built = self._build(max_registers)
        fraction = occupancy(built.arch, built.registers, 1024, block).fraction
        return Resources(built.registers, built.spill_store_bytes, built.shared_bytes, fraction)

    def load(self, *, max_registers: int | None) -> Any:
        return load(self._build(max_registers).cubin, "saxpy")


def test_the_driver_has_a_version() -> None:
    device_arch()
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    assert driver_version() == subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0]


def test_sweep_times_each_cap() -> None:
    device_arch()
    array = DeviceFloats(np.zeros(64, np.float32))
    args = pack_arguments(PARAMS, [array, 1.0, 64, bytes(16)])

    def run(kernel: Any, stream: Any) -> None:
        launch(kernel, stream, args, grid=1, block=64, shared=1024)

    found = sweep(Woven(), run, (32, 64, 256), block=64, repeats=5)
    assert [row.cap for row in found.rows] == [32, 64, 256]
    assert all(0 < row.ms_min <= row.ms <= row.ms_max < 10 for row in found.rows)
    assert found.best in found.rows
    print(f"\n{found}")


def test_occupancy_agrees_with_the_driver() -> None:
    arch = device_arch()
    built = assemble(SAXPY, entry="saxpy", arch=arch)
    kernel = load(built.cubin, "saxpy")
    for block in (32, 64, 96, 256, 1024):
        for shared in (0, 4000, 20_000, 40_000):
            ours = occupancy(arch, built.registers, built.shared_bytes + shared, block, barriers=built.barriers)
            assert ours.ctas_per_sm == kernel.occupancy.max_active_blocks_per_multiprocessor(block, shared)
