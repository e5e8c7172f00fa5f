"""Python values to what a kernel's parameters hold: each by the PTX type and the size of its parameter.

Requires parameters in the order of the entry. Every result is a numpy scalar of exactly the parameter's
bytes. Imports nothing of CUDA: arrays and streams are known by their protocols.
"""

import ctypes
import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from goptx.errors import InputError

if TYPE_CHECKING:
    import numpy as np


class ParameterLike(Protocol):
    """A parameter of a woven kernel: kernel letter (None for a hidden one), its name in the woven entry and
    in the kernel's own PTX (`original`), PTX type without the dot ("u64", "b8", "f32"), and size in bytes."""

    @property
    def kernel(self) -> str | None: ...
    @property
    def name(self) -> str: ...
    @property
    def original(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def size(self) -> int: ...


def pack_arguments(params: Sequence[ParameterLike], args: Sequence[object]) -> "list[np.generic]":
    """One numpy scalar per parameter, as `launch` takes them; `args` in the order of `params`.

    * Device arrays: a torch tensor, a cuda.core Buffer, anything with `__cuda_array_interface__`: its
      address. None is the null pointer.
    * Python numbers are converted to the parameter's width and kind. Integers may be signed or unsigned,
      since nvcc writes `.u32` for `int`; a float to an untyped `.b16`, `.b32` or `.b64` becomes the bits of
      that width.
    * numpy and ctypes scalars must have the parameter's size and kind.
    * A parameter passed by value (an array such as `.b8 p[24]`) takes bytes, a numpy or ctypes structure or a
      CUDA structure such as CUtensorMap, of exactly its size.

    Raises InputError, naming the parameter as `A:2 (name)`, when a value does not fit, and for a wrong count.
    """
    if len(params) != len(args):
        names = ", ".join(parameter_names(params))
        raise InputError(f"{len(args)} arguments for {len(params)} parameters: {names or 'none'}")
    return [_pack(param, name, arg) for param, name, arg in zip(params, parameter_names(params), args, strict=True)]


def parameter_names(params: Sequence[ParameterLike]) -> list[str]:
    """`A:2 (name)` for each parameter, the index counted within its kernel; the bare name of a hidden one."""
    seen: Counter[str] = Counter()
    names = []
    for param in params:
        if param.kernel is None:
            names.append(param.name)
        else:
            names.append(f"{param.kernel}:{seen[param.kernel]} ({param.original})")
            seen[param.kernel] += 1
    return names


def _pack(param: ParameterLike, name: str, arg: object) -> "np.generic":
    import numpy as np

    kind, size = _kind(param), param.size
    where = f"parameter {name}, .{param.type} of {size} bytes"
    address = _device_address(arg, where)
    if address is not None:
        if kind not in "usb" or size != 8:
            raise InputError(f"{where}: takes no device array; a pointer is a 64-bit integer parameter")
        return np.uint64(address)
    if isinstance(arg, np.ndarray) and arg.ndim == 0 and arg.dtype.names is None:
        arg = arg[()]
    raw = _raw_bytes(arg)
    if raw is not None:
        content, content_kind = raw
        if len(content) != size:
            raise InputError(f"{where}: {_describe(arg)} has {len(content)} bytes")
        if kind != "array" and content_kind is not None and not _kinds_agree(kind, content_kind):
            raise InputError(f"{where}: {_describe(arg)} is of another kind; convert it first")
        return _scalar(content, kind)
    if kind == "array":
        raise InputError(f"{where}: passed by value: takes bytes or a structure of that size, not {_describe(arg)}")
    if isinstance(arg, np.ndarray):
        raise InputError(f"{where}: a numpy array is host memory; copy it to the device and pass that array")
    if isinstance(arg, bool | int):
        return _from_int(int(arg), kind, size, where)
    if isinstance(arg, float):
        return _from_float(arg, kind, size, where)
    raise InputError(f"{where}: cannot take {_describe(arg)}")


def _kind(param: ParameterLike) -> str:
    """'u', 's', 'b' (untyped bits) or 'f' for a scalar; 'array' for one passed by value as a block of
    bytes."""
    typed = re.fullmatch(r"([usbf])(8|16|32|64)", param.type.removeprefix("."))
    if typed is None or int(typed[2]) != 8 * param.size:
        return "array"
    return typed[1]


def passed_by_value(param: ParameterLike) -> bool:
    """Whether the parameter is a block of bytes, such as a structure: no number and no pointer."""
    return _kind(param) == "array"


def _device_address(arg: object, where: str) -> int | None:
    """Address of a device array; None when `arg` is no device array."""
    value: Any = arg
    if arg is None:
        return 0
    # torch comes first: its array interface refuses a tensor that requires a gradient.
    if callable(getattr(arg, "data_ptr", None)):
        if not getattr(arg, "is_cuda", True):
            raise InputError(f"{where}: the tensor is in host memory; move it with `.cuda()`")
        return int(value.data_ptr())
    interface = getattr(arg, "__cuda_array_interface__", None)
    if interface is not None:
        return int(interface["data"][0])
    if type(arg).__name__ == "CUdeviceptr":
        return int(value)
    if type(arg).__module__.partition(".")[0] == "cuda" and hasattr(arg, "handle") and hasattr(arg, "size"):
        return int(value.handle)
    return None


def _raw_bytes(arg: object) -> tuple[bytes, str | None] | None:
    """Bytes of a value with a layout of its own and its kind ('i', 'f', or None: bytes of any meaning)."""
    import numpy as np

    if isinstance(arg, bytes | bytearray | memoryview):
        return bytes(arg), None
    if isinstance(arg, np.ndarray):
        by_value = arg.dtype.names is not None or arg.dtype == np.uint8
        return (arg.tobytes(), None) if by_value else None
    if isinstance(arg, np.generic):
        return arg.tobytes(), {"i": "i", "u": "i", "b": "i", "f": "f"}.get(arg.dtype.kind)
    if isinstance(arg, ctypes._SimpleCData):
        return bytes(arg), "f" if isinstance(arg, ctypes.c_float | ctypes.c_double) else "i"
    if isinstance(arg, ctypes.Structure | ctypes.Union | ctypes.Array):
        return bytes(arg), None
    if type(arg).__module__.startswith("cuda.bindings") and hasattr(arg, "getPtr"):
        sizes = {"CUtensorMap": 128}
        size = sizes.get(type(arg).__name__)
        return (ctypes.string_at(arg.getPtr(), size), None) if size else None
    return None


def _kinds_agree(kind: str, content_kind: str) -> bool:
    return kind == "b" or (kind == "f") == (content_kind == "f")


def _from_int(value: int, kind: str, size: int, where: str) -> "np.generic":
    if kind == "f":
        try:
            return _from_float(float(value), kind, size, where)
        except OverflowError:
            raise InputError(f"{where}: {value} is too large for a float") from None
    bits = 8 * size
    if not -(1 << (bits - 1)) <= value < 1 << bits:
        raise InputError(f"{where}: {value} does not fit into {bits} bits")
    return _scalar((value % (1 << bits)).to_bytes(size, "little"), kind)


def _from_float(value: float, kind: str, size: int, where: str) -> "np.generic":
    import numpy as np

    floats: dict[int, type[np.floating[Any]]] = {2: np.float16, 4: np.float32, 8: np.float64}
    if kind in "us" or size not in floats:
        raise InputError(f"{where}: takes an integer, not the float {value!r}")
    with np.errstate(over="ignore", under="ignore"):
        converted = floats[size](value)
    if np.isinf(converted) and not math.isinf(value):
        raise InputError(f"{where}: {value!r} is too large for a float of {size} bytes")
    return _scalar(converted.tobytes(), kind)


def _scalar(content: bytes, kind: str) -> "np.generic":
    """`content` as the numpy scalar that says what it is: floating, unsigned, or np.void for a block of
    bytes."""
    import numpy as np

    letter = {"array": "V", "f": "f"}.get(kind, "u")
    scalar: np.generic = np.frombuffer(content, dtype=f"{letter}{len(content)}")[0]
    return scalar


def _describe(arg: object) -> str:
    return f"{type(arg).__module__}.{type(arg).__qualname__}".removeprefix("builtins.")
