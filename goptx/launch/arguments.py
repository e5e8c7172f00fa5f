"""From Python values to the contents of a kernel's parameters, each by PTX type and size of its parameter.

Requires parameters in the order of the entry. Every result is a numpy scalar of exactly the parameter's
bytes. Does not import CUDA: arrays and streams are recognised by their protocols.
"""

import ctypes
import re
import struct
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol

from goptx.errors import InputError
from goptx.launch.device_arrays import Extent, extent_of, raw

if TYPE_CHECKING:
    import numpy as np

POINTER = 8  # bytes
Access = Literal["none", "read", "written", "both", "unknown"]  # what a kernel does to a parameter's memory


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
    return scalars(params, Packing(params).pack(args)[0])


def scalars(params: Sequence[ParameterLike], contents: Sequence[bytes]) -> "list[np.generic]":
    """The contents of parameters as numpy scalars of their kind: floating, unsigned, or np.void for a block of
    bytes."""
    import numpy as np

    letters = [{"array": "V", "f": "f"}.get(_kind(param), "u") for param in params]
    return [np.frombuffer(c, f"{letter}{len(c)}")[0] for c, letter in zip(contents, letters, strict=True)]


class Packing:
    """`pack_arguments` to bytes, for parameters that get arguments again and again."""

    def __init__(self, params: Sequence[ParameterLike]) -> None:
        self.params = params
        self.slots = [Slot(params, i) for i in range(len(params))]

    def pack(self, args: Sequence[object]) -> tuple[list[bytes], list[Extent | None]]:
        """The content of each parameter, and the extent of each pointer; None for other parameters."""
        if len(self.slots) != len(args):
            names = ", ".join(parameter_names(self.params))
            raise InputError(f"{len(args)} arguments for {len(self.slots)} parameters: {names or 'none'}")
        contents: list[bytes] = []
        extents: list[Extent | None] = []
        for slot, arg in zip(self.slots, args, strict=True):
            content, extent = slot.packed(arg)
            contents.append(content)
            extents.append(extent)
        return contents, extents


class Slot:
    """One parameter and the values that fit it.

    kind: "u", "s", "b" (untyped bits) or "f" for a scalar; "array" for one passed by value as a block of bytes.
    exact: numpy's scalars of its size and kind; if it takes any, integers below `end` fit too.
    """

    def __init__(self, params: Sequence[ParameterLike], position: int) -> None:
        import numpy as np

        self.params, self.position = params, position
        self.kind, self.size = _kind(params[position]), params[position].size
        self.integer = self.kind in "usb"
        self.pointer = self.integer and self.size == POINTER
        letters = {"array": "", "f": "f"}.get(self.kind, "ui")
        self.exact = frozenset(np.dtype(f"{letter}{self.size}").type for letter in letters)
        self.end = 1 << 8 * self.size
        floating = self.kind in "fb" and self.size in _FLOATS
        self.float_bytes = struct.Struct(_FLOATS[self.size]).pack if floating else None

    @cached_property
    def where(self) -> str:
        """The beginning of messages."""
        name, param = parameter_names(self.params)[self.position], self.params[self.position]
        return f"parameter {name}, .{param.type} of {self.size} bytes"

    def packed(self, arg: object) -> tuple[bytes, Extent | None]:
        """The content of the parameter, and the extent of a pointer; None for other parameters. Raises
        `InputError`."""
        extent = None
        kind = type(arg)
        if kind in self.exact:
            content: bytes = arg.tobytes()  # type: ignore[attr-defined]
        elif kind is int and self.integer and 0 <= arg < self.end:  # type: ignore[operator]
            content = arg.to_bytes(self.size, "little")  # type: ignore[attr-defined]
        elif kind is bytes and len(arg) == self.size:  # type: ignore[arg-type]
            content = arg  # type: ignore[assignment]
        elif kind is float and self.float_bytes:
            try:
                content = self.float_bytes(arg)
            except OverflowError:
                content = self.content(arg)  # raises the error
        else:
            extent = self.extent(arg)
            content = self.content(arg) if extent is None else extent[0].to_bytes(POINTER, "little")
        if extent is None and self.pointer:
            extent = raw(int.from_bytes(content, "little"))
        return content, extent

    def extent(self, arg: object) -> Extent | None:
        """The extent of a device array; None for other arguments. Raises `InputError`."""
        try:
            extent = extent_of(arg)
        except InputError as error:
            raise InputError(f"{self.where}: {error}") from None
        if extent is not None and not self.pointer:
            raise InputError(f"{self.where}: does not take a device array; a pointer is a 64-bit integer parameter")
        return extent

    def content(self, arg: object) -> bytes:
        """The bytes of an argument that is not a device array. Raises `InputError`."""
        return _content(self.kind, self.size, self.where, arg)


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


def _content(kind: str, size: int, where: str, arg: object) -> bytes:
    import numpy as np

    if isinstance(arg, np.ndarray) and arg.ndim == 0 and arg.dtype.names is None:
        arg = arg[()]
    found = _raw_bytes(arg)
    if found is not None:
        content, content_kind = found
        if len(content) != size:
            raise InputError(f"{where}: {_describe(arg)} has {len(content)} bytes")
        if kind != "array" and content_kind is not None and not _kinds_agree(kind, content_kind):
            raise InputError(f"{where}: {_describe(arg)} is of another kind; convert it first")
        return content
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
    """The kind of a parameter, see `Slot`."""
    typed = re.fullmatch(r"([usbf])(8|16|32|64)", param.type.removeprefix("."))
    if typed is None or int(typed[2]) != 8 * param.size:
        return "array"
    return typed[1]


def passed_by_value(param: ParameterLike) -> bool:
    """Whether the parameter is a block of bytes, such as a structure, instead of a number or pointer."""
    return _kind(param) == "array"


def _raw_bytes(arg: object) -> tuple[bytes, str | None] | None:
    """Bytes of a value with a layout of its own, and its kind ('i', 'f', or None: bytes of any meaning)."""
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


def _from_int(value: int, kind: str, size: int, where: str) -> bytes:
    if kind == "f":
        try:
            return _from_float(float(value), kind, size, where)
        except OverflowError:
            raise InputError(f"{where}: {value} is too large for a float") from None
    bits = 8 * size
    if not -(1 << (bits - 1)) <= value < 1 << bits:
        raise InputError(f"{where}: {value} does not fit into {bits} bits")
    return (value % (1 << bits)).to_bytes(size, "little")


def _from_float(value: float, kind: str, size: int, where: str) -> bytes:
    if kind in "us" or size not in _FLOATS:
        raise InputError(f"{where}: takes an integer, not the float {value!r}")
    try:
        return struct.pack(_FLOATS[size], value)
    except OverflowError:
        raise InputError(f"{where}: {value!r} is too large for a float of {size} bytes") from None


_FLOATS = {2: "<e", 4: "<f", 8: "<d"}


def _describe(arg: object) -> str:
    return f"{type(arg).__module__}.{type(arg).__qualname__}".removeprefix("builtins.")
