"""Where in device memory an argument lies. Does not import CUDA: arrays are recognised by their protocols."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any

from goptx.errors import InputError

Extent = tuple[int, int, int]
"""The address that the kernel gets, the first byte of the array, and the byte after its last: a view with negative
strides begins before its address. A raw pointer has no known size: all three are its address. An array without elements
is nowhere: from 0 to 0."""

NULL: Extent = (0, 0, 0)
_HOST = ("builtins", "numpy")  # packages whose types are not device arrays


def raw(address: int) -> Extent:
    """The extent of a pointer to memory of unknown size."""
    return address, address, address


def extent_of(arg: object) -> Extent | None:
    """The extent of a device array: a torch tensor, a CuPy array, a cuda.core Buffer, anything with
    `__cuda_array_interface__`; also of None, the null pointer, and of a `CUdeviceptr`. None for other values.

    Raises `InputError` for a tensor in host memory.
    """
    if arg is None:
        return NULL
    value: Any = arg
    kind: Any = type(value)
    framework = framework_of(kind)
    if framework in _HOST:
        return None
    if framework == "cupy" and hasattr(arg, "flags") and value.flags.c_contiguous:  # its interface is slow to make
        return contiguous(value.data.ptr, value.nbytes)
    # torch comes before the interface, which rejects a tensor that requires a gradient.
    if callable(getattr(arg, "data_ptr", None)):
        return _of_tensor(value)
    interface = getattr(arg, "__cuda_array_interface__", None)
    if interface is not None:
        address, item = int(interface["data"][0]), int(interface["typestr"][2:])
        return strided(address, interface["shape"], interface.get("strides"), item)
    if type(arg).__name__ == "CUdeviceptr":
        return raw(int(value))
    if framework == "cuda" and hasattr(arg, "handle") and hasattr(arg, "size"):
        return contiguous(int(value.handle), int(value.size))
    return None


@lru_cache(maxsize=256)
def framework_of(kind: Any) -> str:
    """The package that defines a type."""
    return str(kind.__module__).partition(".")[0]


def _of_tensor(tensor: Any) -> Extent:
    if not getattr(tensor, "is_cuda", True):
        raise InputError("the tensor is in host memory; move it with `.cuda()`")
    address = tensor.data_ptr()
    try:
        item, count = tensor.element_size(), tensor.numel()
    except AttributeError:
        return raw(address)
    is_contiguous = getattr(tensor, "is_contiguous", None)
    if is_contiguous is None or is_contiguous():
        return contiguous(address, count * item)
    return strided(address, tensor.shape, [item * s for s in tensor.stride()], item)


def strided(address: int, shape: Sequence[int], strides: Sequence[int] | None, item: int) -> Extent:
    """Strides and `item`, the size of an element, in bytes; without strides the elements are contiguous."""
    if strides is None or 0 in shape:
        return contiguous(address, item * prod(shape))
    ends = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
    return address, address + sum(e for e in ends if e < 0), address + sum(e for e in ends if e > 0) + item


def contiguous(address: int, size: int) -> Extent:
    """The extent of an array of `size` bytes without gaps."""
    return (address, address, address + size) if size else (address, 0, 0)


def host_view(value: object) -> object:
    """A tensor in host memory as the numpy array of that memory; other values unchanged. Raises `InputError` for a
    tensor whose elements numpy lacks."""
    tensor: Any = value
    kind: Any = type(value)
    if framework_of(kind) in _HOST or getattr(value, "is_cuda", True) or not hasattr(value, "numpy"):
        return value
    try:
        return tensor.detach().numpy()
    except (TypeError, RuntimeError) as error:
        raise InputError(f"a {kind.__name__} cannot be a numpy array ({error}); view it as integers.") from None
