import ctypes
import math
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from goptx.device.load import pack_arguments
from goptx.errors import InputError


@dataclass(frozen=True)
class Param:
    type: str
    size: int
    kernel: str | None = "A"
    name: str = "a_p"
    original: str = "p"


class DeviceArray:
    def __init__(self, address: int) -> None:
        self.__cuda_array_interface__ = {
            "data": (address, False),
            "shape": (4,),
            "typestr": "<f4",
            "version": 3,
        }


class Tensor:
    """Like torch: a leaf that requires a gradient refuses the array interface."""

    def __init__(self, address: int, *, is_cuda: bool = True) -> None:
        self.address, self.is_cuda = address, is_cuda

    def data_ptr(self) -> int:
        return self.address

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        raise RuntimeError("requires grad")


class Buffer:
    """Like cuda.core.Buffer, whose module is under `cuda`."""

    __module__ = "cuda.core._memory"
    handle = 0x7000
    size = 16


def one(param: Param, arg: object) -> "np.generic":
    (packed,) = pack_arguments([param], [arg])
    assert len(packed.tobytes()) == param.size
    return packed


@pytest.mark.parametrize(
    ("arg", "address"),
    [
        (DeviceArray(0x7F0000000000), 0x7F0000000000),
        (Tensor(0x1000), 0x1000),
        (Buffer(), 0x7000),
        (None, 0),
        (0xFFFF_0000_0000_0000, 0xFFFF_0000_0000_0000),
        (ctypes.c_void_p(0x55), 0x55),
    ],
)
@pytest.mark.parametrize("type_", ["u64", "b64", "s64"])
def test_pointers(arg: object, address: int, type_: str) -> None:
    assert one(Param(type_, 8), arg).tobytes() == struct.pack("<Q", address)


@pytest.mark.parametrize(
    ("type_", "size", "arg", "content"),
    [
        ("u32", 4, 7, struct.pack("<I", 7)),
        ("u32", 4, -1, b"\xff" * 4),  # nvcc declares an int as .u32
        ("s32", 4, 2**32 - 1, b"\xff" * 4),
        ("u8", 1, True, b"\x01"),
        ("s16", 2, -2, b"\xfe\xff"),
        ("b32", 4, 1.5, struct.pack("<f", 1.5)),
        ("b64", 8, 1.5, struct.pack("<d", 1.5)),
        ("b16", 2, 1.5, struct.pack("<e", 1.5)),
        ("f32", 4, 0.1, struct.pack("<f", 0.1)),
        ("f64", 8, 3, struct.pack("<d", 3.0)),
        ("f32", 4, math.inf, struct.pack("<f", math.inf)),
        (".u32", 4, np.int32(-5), struct.pack("<i", -5)),
        ("f32", 4, np.float32(2.5), struct.pack("<f", 2.5)),
        ("b16", 2, np.float16(2.5), struct.pack("<e", 2.5)),
        ("u32", 4, np.array(9, dtype=np.uint32), struct.pack("<I", 9)),
        ("f32", 4, ctypes.c_float(2.5), struct.pack("<f", 2.5)),
        ("u64", 8, ctypes.c_uint64(5), struct.pack("<Q", 5)),
        ("u16", 2, b"\x01\x02", b"\x01\x02"),
    ],
)
def test_scalars_get_the_width_and_kind_of_the_parameter(type_: str, size: int, arg: object, content: bytes) -> None:
    packed = one(Param(type_, size), arg)
    assert packed.tobytes() == content
    assert packed.dtype.kind == ("f" if "f" in type_ else "u")


class Point(ctypes.Structure):
    _fields_ = (("x", ctypes.c_int32), ("y", ctypes.c_double))


def test_structures_by_value() -> None:
    layout = np.dtype([("x", "<i4"), ("pad", "<i4"), ("y", "<f8")])
    record = np.zeros((), dtype=layout)
    record["x"], record["y"] = 3, 0.5
    expected = struct.pack("<iid", 3, 0, 0.5)
    param = Param("b8", 16)
    for arg in (
        expected,
        bytearray(expected),
        record,
        record[()],
        Point(3, 0.5),
        np.frombuffer(expected, np.uint8),
    ):
        packed = one(param, arg)
        assert packed.tobytes() == expected
        assert packed.dtype.kind == "V"
    assert one(Param("b64", 16), expected).tobytes() == expected
    assert one(Param("b8", 4), b"abcd").dtype.kind == "V"


@pytest.mark.parametrize(
    ("type_", "size", "arg", "complaint"),
    [
        ("u32", 4, 2**32, "does not fit into 32 bits"),
        ("s8", 1, -129, "does not fit into 8 bits"),
        ("u32", 4, 1.0, "takes an integer"),
        ("f32", 4, 1e39, r"1e\+39 is too large for a float of 4 bytes"),
        ("f32", 4, 10**400, "is too large for a float$"),
        ("u32", 4, np.int64(1), "has 8 bytes"),
        ("f32", 4, np.int32(1), "another kind"),
        ("u32", 4, np.float32(1), "numpy.float32 is of another kind; convert it first"),
        ("f64", 8, ctypes.c_float(1), "has 4 bytes"),
        ("u32", 4, DeviceArray(1), "does not take a device array"),
        ("f64", 8, Tensor(1), "does not take a device array"),
        ("u64", 8, Tensor(1, is_cuda=False), r"the tensor is in host memory; move it with `\.cuda\(\)`"),
        ("u64", 8, np.zeros(4, np.float32), "a numpy array is host memory; copy it to the device and pass that array"),
        ("u64", 8, "text", "cannot take str"),
        ("b8", 16, b"short", "has 5 bytes"),
        ("b8", 16, 1, "by value"),
    ],
)
def test_values_that_do_not_fit_are_refused_by_name(type_: str, size: int, arg: object, complaint: str) -> None:
    params = [Param("u64", 8, "A"), Param("u64", 8, "B"), Param(type_, size, "B", "b_length", "length")]
    with pytest.raises(InputError, match=rf"parameter B:1 \(length\), \.{type_} of {size} bytes: .*{complaint}"):
        pack_arguments(params, [0, 0, arg])


def test_hidden_parameters_and_counts() -> None:
    params = [Param("u64", 8), Param("u32", 4, None, "A.grid.x", "A.grid.x")]
    assert [value.tobytes() for value in pack_arguments(params, [1, 2])] == [
        struct.pack("<Q", 1),
        struct.pack("<I", 2),
    ]
    with pytest.raises(InputError, match=r"parameter A\.grid\.x,"):
        pack_arguments(params, [1, 2**40])
    with pytest.raises(InputError, match=r"1 arguments for 2 parameters: A:0 \(p\), A\.grid\.x"):
        pack_arguments(params, [1])
