"""What is run and measured: kernels in their shapes, with their arguments, as plain data for another process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from goptx.errors import InputError
from goptx.launch.arguments import POINTER, passed_by_value
from goptx.launch.device_arrays import extent_of
from goptx.launch.parameter import Parameter
from goptx.launch.specification import Argument
from goptx.measuring.bench.baselines import baselines
from goptx.results.fused_kernel import Woven


@dataclass(frozen=True, slots=True)
class Workload:
    """`separate` runs the unchanged kernels one after the other; `each` holds each of them alone. `arguments` are the
    values of their parameters: an array or a scalar as a specification describes it, or one of numpy. A numpy array
    given twice is one buffer.

    seed: of the described data. tolerance: elements of floating-point arrays count as equal up to this absolute
        difference; None: they have to agree bit for bit.
    """

    separate: Woven
    each: tuple[Woven, ...]
    arguments: tuple[tuple[object, ...], ...]
    seed: int = 0
    tolerance: float | None = None

    @property
    def params(self) -> list[tuple[Parameter, object]]:
        """The parameters of all kernels, with their arguments."""
        own = [param for param in self.separate.params if param.kernel]
        return list(zip(own, [value for values in self.arguments for value in values], strict=True))

    @property
    def baselines(self) -> tuple[str, ...]:
        """The names of the ways in which the unchanged kernels are timed."""
        return baselines(len(self.each), self.has_native)

    @property
    def has_native(self) -> bool:
        """Whether a framework's machine code of a kernel is known."""
        return any(launch.native for launch in self.separate.launches)


def is_array(param: Parameter, value: object) -> bool:
    """Whether the argument becomes a buffer."""
    if isinstance(value, Argument):
        return value.is_array
    return isinstance(value, np.ndarray) and param.size == POINTER and not passed_by_value(param)


@dataclass(slots=True)
class Fetched:
    """Copies of device arrays in host memory, one for each array."""

    copies: dict[tuple[int, int], np.ndarray[Any, Any]] = field(default_factory=dict)

    def __call__(self, name: str, value: object) -> object:
        """The copy of a device array; other values unchanged. Raises `InputError` for a raw pointer."""
        if isinstance(value, np.ndarray | np.generic | Argument | bytes | int | float):
            return value
        extent = extent_of(value)
        if extent is None:
            return value
        address, start, end = extent
        if address and (start == end or address != start):
            raise InputError(
                f"argument {name}: a raw pointer, an empty array or one with negative strides cannot be copied to the "
                "process that measures; give an array, or describe it, for example f32[1024]."
            )
        if not address:
            return np.uint64(0)
        if (start, end) not in self.copies:
            self.copies[start, end] = _copied(start, end - start).view(_dtype(value, end - start))
        return self.copies[start, end]


def _copied(address: int, size: int) -> np.ndarray[Any, Any]:
    from cuda.bindings import driver

    from goptx.device.load import current_device

    current_device().sync()
    copy = np.empty(size, np.uint8)
    (failed,) = driver.cuMemcpyDtoH(copy.ctypes.data, address, size)
    if failed:
        raise InputError(f"an array of {size} bytes cannot be copied from the device: {failed.name}.")
    return copy


def _dtype(array: object, size: int) -> np.dtype[Any]:
    """The type of a device array's elements; bytes if numpy has no such type."""
    readers: Sequence[Callable[[], object]] = (
        lambda: getattr(array, "__cuda_array_interface__")["typestr"],  # noqa: B009
        partial(str, getattr(array, "dtype", "")),
    )
    for read in readers:
        try:
            found = np.dtype(str(read()).removeprefix("torch."))
        except Exception:  # such as of bfloat16, or a tensor that requires a gradient
            continue
        if size % found.itemsize == 0:
            return found
    return np.dtype(np.uint8)
