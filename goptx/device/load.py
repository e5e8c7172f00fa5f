"""Loads a cubin on the current device and launches its kernel, through cuda.core and the driver.

Requires a GPU, its driver and cuda-python; without them every function here raises DeviceError, which names what is
missing. Imports CUDA only inside functions. A launch does not allocate on the device and does not wait, so it may be
captured into a CUDA graph; loading may not.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from goptx.device.launches.parameter_memory import ParameterMemory
from goptx.device.recorded_streams import check_launch
from goptx.errors import DeviceError
from goptx.launch.arguments import ParameterLike, pack_arguments
from goptx.memo import Memo

if TYPE_CHECKING:
    import numpy as np
    from cuda.core import Device, Kernel

__all__ = ["Launcher", "ParameterLike", "current_device", "device_number", "launch", "load", "pack_arguments"]

_INSTALL = "`pip install goptx[gpu]`"

Shape = int | tuple[int, ...]
"""Extents along x, y and z; missing ones are 1."""


def current_device() -> Device:
    """The current device, or the first one if there is none, made current for this thread.

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


def device_number() -> int | None:
    """The number of the current device; None without one, or without CUDA. Quick, and changes nothing."""
    try:
        failed, device = bindings().cuCtxGetDevice()
    except Exception:  # `current_device` reports what is missing
        return None
    return None if failed else int(device)


def architecture() -> str | None:
    """The architecture of the device in use, such as "sm_90"; None without a device."""
    number = device_in_use()
    return None if number is None else _architecture(number)


def device_in_use() -> int | None:
    """The number of the current device; makes the first one current if needed. None without a device."""
    number = device_number()
    try:
        return current_device().device_id if number is None else number
    except DeviceError:
        return None


@cache
def _architecture(number: int) -> str:
    from cuda.core import Device

    return f"sm_{Device(number).arch}"


@cache
def bindings() -> Any:
    from cuda.bindings import driver

    return driver


def must(answer: Any) -> Any:
    """The driver's results after its status. Raises `DeviceError` for any status but success."""
    failed, *value = answer
    if failed:
        raise DeviceError(f"the driver answers {failed.name}")
    return value[0] if value else None


def driver_version() -> str:
    """The version that nvidia-smi prints, or "unknown" without the management library."""
    try:
        from cuda.bindings import nvml
    except ImportError:
        return "unknown"
    try:
        nvml.init_v2()
        return str(nvml.system_get_driver_version())
    except (RuntimeError, nvml.NvmlError):
        return "unknown"


def load(cubin: bytes, name: str) -> Kernel:
    """The kernel `name` of `cubin`, see `load_all`."""
    return load_all(cubin, [name])[0]


def load_all(cubin: bytes, names: Sequence[str]) -> list[Kernel]:
    """The kernels of these names, of one `cubin` that is loaded once and completely on the current device: the
    driver has nothing left to do at the first launch.

    Raises DeviceError without a GPU, and when the driver refuses the cubin: built for another architecture,
    or by an assembler newer than the driver, or while a CUDA graph is captured.
    """
    device = current_device()
    from cuda.core import ObjectCode

    driver = bindings()
    try:
        code = ObjectCode.from_cubin(cubin, name=names[0])
        kernels = [code.get_kernel(name) for name in names]
        for kernel in kernels:
            failed, function = driver.cuKernelGetFunction(driver.CUkernel(int(kernel.handle)))
            if not failed:
                driver.cuFuncLoad(function)
    except Exception as error:
        raise DeviceError(
            f"the driver refuses {', '.join(f'kernel `{n}`' for n in names)} on {device.name} (sm_{device.arch}): "
            f"{error}; is it assembled for this architecture, and by a ptxas no newer than the driver's CUDA version? "
            "For a CUDA graph, load it before the capture begins."
        ) from error
    return kernels


def launch(
    kernel: Kernel,
    stream: object,
    args: Sequence[np.generic],
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

    Raises DeviceError when the driver refuses the launch, InputError while a fusion region records the stream.
    """
    check_launch(stream)
    contents = [arg.tobytes() for arg in args]
    sizes = tuple(map(len, contents))
    device = device_number()
    if device is None:
        device = current_device().device_id
    known = _STARTERS.setdefault(kernel, Memo(most=_SHAPES))
    key = device, _three(grid), _three(block), shared, sizes
    start = known.made(key, lambda: _Alone(Launcher(kernel, grid, block, shared, sizes)))
    start.memory.fill(contents)
    start.starter(stream, start.memory)


class _Alone(threading.local):
    """A starter of one launch, and memory for its parameters: separate for each thread, since the driver reads the
    memory while other threads run."""

    def __init__(self, launcher: Launcher) -> None:
        self.starter = in_turn([launcher])
        self.memory = self.starter.memory()


_STARTERS: WeakKeyDictionary[Kernel, Memo[Hashable, _Alone]] = WeakKeyDictionary()
_SHAPES = 64  # shapes of each kernel that are cached


class Launcher:
    """What starts a kernel again and again in one shape, on the device that is current now, with parameters of these
    `sizes` in bytes, followed by constant `hidden` ones. Any thread may use it, as long as the kernel lives."""

    def __init__(
        self,
        kernel: Kernel,
        grid: Shape,
        block: Shape,
        shared: int,
        sizes: Sequence[int],
        hidden: Sequence[bytes] = (),
    ) -> None:
        device, driver = current_device(), bindings()
        self._what = f"launch of grid {grid}, block {block}, {shared} bytes shared"
        if shared > 0:
            _allow_shared(device, kernel, shared)
        self._launch = driver.cuLaunchKernel
        self.handle = int(kernel.handle)
        self.grid, self.block, self.shared = _three(grid), _three(block), shared
        self._fixed = (driver.CUfunction(self.handle), *self.grid, *self.block, shared)
        self.parameters = sizes, hidden

    def start(self, stream: Any, table: int) -> None:
        """Starts the kernel on the driver's stream with the parameters of this table of `ParameterMemory`."""
        try:
            (failed,) = self._launch(*self._fixed, stream, table, 0)
        except Exception as error:
            raise DeviceError(f"{self._what} failed: {error}") from error
        if failed:
            raise DeviceError(f"{self._what}: the driver answers {failed.name}")


class Starter:
    """Starts launches on the current device, one after the other.

    ordered: each comes after the one before it. order: the numbers of the launchers, in the order of their starts.
    """

    ordered = True

    def __init__(self, launchers: Sequence[Launcher]) -> None:
        self.launchers = tuple(launchers)
        self.order = range(len(self.launchers))
        self._default = int(current_device().default_stream.handle)
        self._stream = bindings().CUstream

    def memory(self) -> ParameterMemory:
        """New memory for the parameters."""
        return ParameterMemory([launcher.parameters for launcher in self.launchers])

    def __call__(self, stream: Any, memory: ParameterMemory) -> None:
        """Starts them on the stream with the parameters in this memory."""
        made, tables = self.driver_stream(stream), memory.tables
        for i, launcher in enumerate(self.launchers):  # quicker than a strict zip
            launcher.start(made, tables[i])

    def for_nodes(self) -> int:
        """What the launches have to be passed as nodes of a graph, in `passing`."""
        return 0

    def passing(self, memory: ParameterMemory, number: int) -> AbstractContextManager[None]:
        """While it is entered, the tables of the memory have the parameters of launches with that number. Launches
        that need none have the same always."""
        return nullcontext()

    def driver_stream(self, stream: Any) -> Any:
        """The driver's object for a stream; None is the default stream. Raises `DeviceError`."""
        try:
            return self._stream(self._default if stream is None else stream_handle(stream))
        except Exception as error:
            raise DeviceError(f"launch on {stream!r} failed: {error}") from error


def in_turn(launchers: Sequence[Launcher]) -> Starter:
    """Starts one after the other."""
    return Starter(launchers)


def stream_handle(stream: Any) -> int:
    """The handle of an object with `__cuda_stream__`, which is a method or a value."""
    found = stream.__cuda_stream__
    return int((found() if callable(found) else found)[1])


def _allow_shared(device: Device, kernel: Kernel, shared: int) -> None:
    """Raises the kernel's limit of dynamic shared memory to `shared` bytes where it is lower."""
    if shared <= kernel.attributes.max_dynamic_shared_size_bytes:
        return
    driver = bindings()
    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    handle = driver.CUkernel(int(kernel.handle))
    (failed,) = driver.cuKernelSetAttribute(attribute, shared, handle, driver.CUdevice(device.device_id))
    if failed:
        raise DeviceError(f"{shared} bytes of dynamic shared memory: the driver answers {failed.name}")


def _three(shape: Shape) -> tuple[int, int, int]:
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    x, y, z = (*extents, 1, 1, 1)[:3]
    return x, y, z
