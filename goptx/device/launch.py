"""Loads a cubin on the current device and launches its kernel, through cuda.core.

Requires a GPU, its driver and cuda-python; without them every function here raises DeviceError and says what
is missing. Imports CUDA only inside functions.
"""

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from goptx.arguments import ParameterLike, pack_arguments
from goptx.errors import DeviceError

if TYPE_CHECKING:
    import numpy as np
    from cuda.core import Device, Kernel

__all__ = ["ParameterLike", "current_device", "launch", "load", "pack_arguments"]

_INSTALL = "`pip install goptx[gpu]`"

Shape = int | tuple[int, ...]
"""Extents along x, y and z; missing ones are 1."""


def current_device() -> "Device":
    """The current device (the first one when none is), made current for this thread.

    Raises DeviceError without cuda-python, driver or GPU.
    """
    try:
        from cuda.core import Device
    except Exception as error:  # ImportError, or the bindings' own when a library is missing
        raise DeviceError(f"cuda-python with cuda.core is needed to use the GPU: {_INSTALL} ({error})") from error
    try:
        device = Device()
        device.set_current()
    except Exception as error:  # cuda.core raises several types when there is no driver
        raise DeviceError(
            f"no usable NVIDIA GPU: cuda-python is here, but the driver or the device is missing ({error})"
        ) from error
    return device


def load(cubin: bytes, name: str) -> "Kernel":
    """The kernel `name` of `cubin`, loaded on the current device.

    Raises DeviceError without a GPU, and when the driver refuses the cubin: built for another architecture,
    or by an assembler newer than the driver.
    """
    device = current_device()
    from cuda.core import ObjectCode

    try:
        return ObjectCode.from_cubin(cubin, name=name).get_kernel(name)
    except Exception as error:
        raise DeviceError(
            f"the driver refuses kernel `{name}` on {device.name} (sm_{device.arch}): {error}; "
            "is it assembled for this architecture, and by a ptxas no newer than the driver's CUDA version?"
        ) from error


def launch(
    kernel: "Kernel",
    stream: object,
    args: "Sequence[np.generic]",
    *,
    grid: Shape,
    block: Shape,
    shared: int = 0,
) -> None:
    """Starts `kernel` on `stream` and does not wait for it.

    `args` come from `pack_arguments`; `grid` in CTAs, `block` in threads, `shared` is dynamic shared memory
    per CTA in bytes (above what a kernel may have by default, 48 KiB less its static part, the function
    attribute is raised). `stream` is a cuda.core Stream, any object with `__cuda_stream__` (torch, CuPy), or
    None for the default stream.

    Raises DeviceError when the driver refuses the launch.
    """
    device = current_device()
    queue: Any = device.default_stream if stream is None else stream
    try:
        if shared > 0:
            _allow_shared(device, kernel, shared)
        if any(arg.dtype.kind == "V" for arg in args):
            _launch_by_address(kernel, queue, args, grid, block, shared)
        else:
            from cuda.core import LaunchConfig
            from cuda.core import launch as core_launch

            core_launch(queue, LaunchConfig(grid=grid, block=block, shmem_size=shared), kernel, *args)
    except DeviceError:
        raise
    except Exception as error:
        raise DeviceError(f"launch of grid {grid}, block {block}, {shared} bytes shared failed: {error}") from error


def _allow_shared(device: "Device", kernel: "Kernel", shared: int) -> None:
    """Raises the kernel's limit of dynamic shared memory to `shared` bytes where it is lower."""
    if shared <= kernel.attributes.max_dynamic_shared_size_bytes:
        return
    from cuda.bindings import driver

    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    handle = driver.CUkernel(int(kernel.handle))
    answer = driver.cuKernelSetAttribute(attribute, shared, handle, driver.CUdevice(device.device_id))
    _check(answer, f"{shared} bytes of dynamic shared memory")


def _launch_by_address(
    kernel: "Kernel", stream: Any, args: "Sequence[np.generic]", grid: Shape, block: Shape, shared: int
) -> None:
    """The driver's own launch: cuda.core 1.2 takes no structures by value."""
    from cuda.bindings import driver

    held = [ctypes.create_string_buffer(content, len(content)) for content in (arg.tobytes() for arg in args)]
    addresses = (ctypes.c_void_p * len(held))(*map(ctypes.addressof, held))
    _check(
        driver.cuLaunchKernel(
            driver.CUfunction(int(kernel.handle)),
            *_three(grid),
            *_three(block),
            shared,
            driver.CUstream(int(stream.__cuda_stream__()[1])),
            ctypes.addressof(addresses),
            0,
        ),
        f"launch of grid {grid}, block {block}, {shared} bytes shared",
    )


def _three(shape: Shape) -> tuple[int, int, int]:
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    x, y, z = (*extents, 1, 1, 1)[:3]
    return x, y, z


def _check(result: tuple[Any, ...], what: str) -> None:
    from cuda.bindings import driver

    if result[0] != driver.CUresult.CUDA_SUCCESS:
        raise DeviceError(f"{what}: the driver answers {result[0].name}")
