"""The memory that holds the parameters of launches: what the driver would read there."""

import ctypes

import pytest

from goptx.device.launches.parameter_memory import ParameterMemory


def read(memory: ParameterMemory, launch: int, sizes: list[int]) -> list[bytes]:
    table = (ctypes.c_void_p * len(sizes)).from_address(memory.tables[launch])
    assert all(address and address % 8 == 0 for address in table)
    return [ctypes.string_at(address or 0, size) for address, size in zip(table, sizes, strict=True)]


def test_parameters_of_all_sizes_with_hidden_ones_after_them() -> None:
    hidden = [(77).to_bytes(4, "little"), b"\x05"]
    memory = ParameterMemory([([8, 4, 24, 2], hidden)])
    own = [bytes([k]) * size for k, size in enumerate((8, 4, 24, 2), 1)]
    memory.fill(own)
    assert read(memory, 0, [8, 4, 24, 2, 4, 1]) == own + hidden
    memory.write(2, bytes(24))
    memory.write(1, 0x01020304)
    memory.write(0, 2**64 - 1)
    assert read(memory, 0, [8, 4, 24, 2, 4, 1]) == [b"\xff" * 8, b"\4\3\2\1", bytes(24), own[3], *hidden]


def test_several_launches() -> None:
    memory = ParameterMemory([([8, 1], []), ([], []), ([4], [b"abc", b"d"])])
    memory.fill([1, 2, b"wxyz"])
    assert read(memory, 0, [8, 1]) == [b"\1" + bytes(7), b"\2"]
    assert read(memory, 2, [4, 3, 1]) == [b"wxyz", b"abc", b"d"]


def test_a_kernel_without_parameters_has_a_table_too() -> None:
    memory = ParameterMemory([([], [])])
    memory.fill([])
    assert memory.tables[0]


def test_what_is_too_large_is_an_error() -> None:
    memory = ParameterMemory([([8], [])])
    with pytest.raises(OverflowError):
        memory.write(0, 2**64)
