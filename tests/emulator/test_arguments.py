"""The arguments of `emulate`: arrays and values for parameters, launch shapes, and refusals."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from emulator.snippets import fault, module, run

import goptx
from goptx import InputError

BUMP = "mov.u32 %r30, %tid.x; mul.wide.u32 %rd30, %r30, 4; add.u64 %rd31, %rd0, %rd30; "
BUMP += "ld.global.u32 %r1, [%rd31]; add.u32 %r1, %r1, 1; st.global.u32 [%rd31], %r1;"


def words(count: int) -> np.ndarray:
    return np.arange(count, dtype=np.uint32)


def refusal(*arguments: object, body: str = "", **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        run(body, *arguments, **options)
    return str(caught.value)


# arrays ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype", ["?", "u1", "i1", "f2", "u2", "f4", "f8", "c16", "i8", "S4", "M8[s]", [("a", "u1"), ("b", "<f4")]]
)
def test_arrays_of_any_dtype_are_changed_in_place(dtype: Any) -> None:
    """Every byte is copied to the other array, and becomes 1 in its own."""
    size = 12 * np.dtype(dtype).itemsize
    raw = np.random.default_rng(3).integers(0, 2 if dtype == "?" else 256, size, np.uint8)
    given, out = raw.copy().view(dtype).reshape(3, 4), np.zeros(size, np.uint8).view(dtype).reshape(2, 3, 2)
    body = """mov.u32 %r30, %tid.x; cvt.u64.u32 %rd30, %r30; add.u64 %rd2, %rd0, %rd30; add.u64 %rd3, %rd1, %rd30;
        ld.global.u8 %r1, [%rd2]; st.global.u8 [%rd3], %r1; st.global.u8 [%rd2], 1;"""
    run(body, given, out, block=size)
    assert out.reshape(-1).view(np.uint8).tolist() == raw.tolist()
    assert given.reshape(-1).view(np.uint8).tolist() == [1] * size


def test_one_array_for_two_parameters_is_one_buffer() -> None:
    given = words(4)
    run("st.global.u32 [%rd0], 7; ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd1+4], %r1;", given, given)
    assert given.tolist() == [7, 7, 2, 3]


@pytest.mark.parametrize(("first", "second"), [(slice(0, 6), slice(4, 10)), (slice(4, 10), slice(0, 6)),
                                               (slice(0, 10), slice(4, 5)),
                                               (slice(4, 5), slice(0, 10))])  # fmt: skip
def test_views_of_one_array_overlap_as_they_do_for_numpy(first: slice, second: slice) -> None:
    base = words(10)
    a, b = base[first], base[second]
    at = 4 * (4 - (first.start or 0))  # the byte of `base[4]` in `a`, and below in `b`
    body = f"""st.global.u32 [%rd0+{at}], 77; ld.global.u32 %r1,
        [%rd1+{4 * (4 - (second.start or 0))}]; st.global.u32 [%rd2], %r1;"""
    body += "sub.u64 %rd3, %rd1, %rd0; st.global.u32 [%rd2+4], %rd3;"
    out = np.zeros(2, np.int32)
    run(body, a, b, out)
    assert base.tolist() == [0, 1, 2, 3, 77, 5, 6, 7, 8, 9]
    assert out.tolist() == [77, 4 * (second.start - first.start)]


def test_a_read_only_view_lets_the_array_itself_be_written() -> None:
    for order in (0, 1):
        base = words(4)
        locked = base[:2]
        locked.flags.writeable = False
        arrays = [base, locked] if order else [locked, base]
        run(f"st.global.u32 [%rd{1 - order}+4], 9; ld.global.u32 %r1, [%rd{order}+4]; "
            f"st.global.u32 [%rd{1 - order}+12], %r1;", *arrays)  # fmt: skip
        assert base.tolist() == [0, 9, 2, 9]


@pytest.mark.parametrize("step", [(slice(None, None, 2),), (slice(None, None, -1),), (slice(None), 1)])
def test_arrays_with_gaps_are_refused(step: Any) -> None:
    """They would have to be copied, and the kernel relies on the positions of elements."""
    array = np.zeros((4, 4), np.uint32)[step]
    assert "A:0 (a0)" in refusal(array) and "contiguous" in refusal(array)
    assert "contiguous" in refusal(np.zeros((2, 3), order="F"))
    assert "objects" in refusal(np.array([None]))


def test_arrays_without_elements() -> None:
    """They have an address, and nothing at it."""
    empty = np.zeros((0, 3), np.uint32)
    run("setp.eq.u64 %p1, %rd0, 0; @%p1 trap; st.global.u32 [%rd1], 1;", empty, words(1))
    assert "of 0 bytes" in str(fault("out of bounds", "ld.global.u8 %r1, [%rd0];", empty))
    fault("out of bounds", "ld.global.u8 %r1, [%rd1];", words(100), empty, words(100))


def test_buffers_are_aligned_and_separate() -> None:
    out = np.zeros(3, np.uint64)
    arrays = [np.zeros(n, np.uint8) for n in (1, 300)]
    run("st.global.u64 [%rd2], %rd0; st.global.u64 [%rd2+8], %rd1; st.global.u64 [%rd2+16], %rd2;", *arrays, out)
    assert all(address % 256 == 0 for address in out.tolist())
    assert len(set(out.tolist())) == 3


def test_contents_come_back_after_a_fault() -> None:
    given = words(40)
    fault("trap", BUMP + "bar.sync 0; setp.eq.u32 %p1, %r30, 5; @%p1 trap;", given, block=40)
    assert given.tolist() == list(range(1, 41))
    locked = words(40)
    locked.flags.writeable = False
    fault("read-only", BUMP, locked, block=40)
    assert locked.tolist() == list(range(40))


# values ---------------------------------------------------------------------------------------------


class Pair(ctypes.Structure):
    _fields_ = (("a", ctypes.c_double), ("b", ctypes.c_float), ("c", ctypes.c_int16), ("d", ctypes.c_uint8 * 10))


RECORD = np.dtype([("a", "f8"), ("b", "f4"), ("c", "i2"), ("d", "u1", 10)])
RAW = np.array([(-1.5, 2.25, -3, list(range(10)))], RECORD)


@pytest.mark.parametrize("value", [RAW.tobytes(), bytearray(RAW.tobytes()), memoryview(RAW.tobytes()), RAW[0], RAW,
                                   RAW.reshape(()), np.frombuffer(RAW.tobytes(), np.uint8),
                                   Pair(-1.5, 2.25, -3, tuple(range(10)))])  # fmt: skip
def test_structures_by_value(value: object) -> None:
    """Read directly, through a register, and through a generic address."""
    out = np.zeros(1, RECORD)
    body = """ld.param.f64 %d1, [a1]; st.global.f64 [%rd0], %d1; mov.u64 %rd2, a1; ld.param.f32 %f1, [%rd2+8];
        st.global.f32 [%rd0+8], %f1; cvta.param.u64 %rd3, %rd2; ld.s16 %r1, [%rd3+12]; st.global.u16 [%rd0+12], %r1;
        ld.param.v2.u8 {%r2, %r3}, [a1+14]; st.global.v2.u8 [%rd0+14], {%r2, %r3}; ld.param.b64 %rd4, [a1+16];
        st.global.b64 [%rd0+16], %rd4;"""
    run(body, out, value, parameters={1: ".param .align 8 .b8 {}[24]"})
    assert out.tobytes() == RAW.tobytes()


NUMBERS = [("u32", -1, 0xFFFFFFFF), ("s32", 0xFFFFFFFF, 0xFFFFFFFF), ("u8", True, 1), ("u16", np.uint16(9), 9),
           ("u64", np.int64(-2), (1 << 64) - 2),
           ("f32", 1.5, 0x3FC00000), ("f32", 3, 0x40400000), ("f64", np.float64(-2), 0xC000000000000000),
           ("b32", 1.5, 0x3FC00000),
           ("f32", ctypes.c_float(1.5), 0x3FC00000), ("u64", ctypes.c_void_p(8), 8), ("f16", np.float16(1), 0x3C00),
           ("u64", None, 0),
           ("u64", np.array(7), 7), ("b16", np.float16(1), 0x3C00)]  # fmt: skip


@pytest.mark.parametrize(("type_", "value", "bits"), NUMBERS)
def test_numbers(type_: str, value: object, bits: int) -> None:
    out = np.zeros(1, np.uint64)
    run(
        f"ld.param.b{type_[1:]} %rd3, [a1]; st.global.u64 [%rd0], %rd3;",
        out,
        value,
        parameters={1: f".param .{type_} {{}}"},
    )
    assert out[0] == bits


def test_many_parameters_of_all_sizes_lie_as_their_alignment_asks() -> None:
    types = ["u8", "u64", "u8", "u16", "f32", "u8", "f64", "s8", "u32"]
    out = np.zeros(len(types), np.uint64)
    body = "".join(
        f"ld.param.b{t[1:]} %rd3, [a{i + 1}]; st.global.u64 [%rd0+{8 * i}], %rd3;" for i, t in enumerate(types)
    )
    run(body, out, *range(1, 10), parameters={i + 1: f".param .{t} {{}}" for i, t in enumerate(types)})
    floats = {4: int(np.float32(5).view(np.uint32)), 6: int(np.float64(7).view(np.uint64))}
    assert out.tolist() == [floats.get(i, i + 1) for i in range(9)]


@pytest.mark.parametrize(("type_", "value", "problem"), [
    ("u32", np.zeros(4), "does not take an array"), ("f64", np.zeros(1), "does not take an array"),
    ("u32", 1 << 32, "does not fit"),
    ("u32", 1.5, "integer"),
    ("u32", np.uint64(1), "8 bytes"), ("u32", np.float32(1), "kind"), ("f32", np.int32(1), "kind"),
    ("f32", 1e39, "too large"),
    ("u32", "7", "cannot take str"), ("u64", [1], "cannot take list"), ("u32", None, "64-bit"), ("u64", object(),
    "cannot take"),
])  # fmt: skip
def test_values_that_do_not_fit_are_refused_by_the_parameters_name(type_: str, value: object, problem: str) -> None:
    text = refusal(words(1), value, parameters={1: f".param .{type_} {{}}"})
    assert text.startswith("parameter A:1 (a1), ") and problem in text


def test_structures_that_do_not_fit() -> None:
    given = {0: ".param .align 8 .b8 {}[24]"}
    for value, problem in (
        (bytes(23), "23 bytes"),
        (np.zeros(24, np.int8), "by value"),
        (5, "by value"),
        (np.zeros(4, np.uint8), "4 bytes"),
    ):
        assert problem in refusal(value, parameters=given)


def test_the_number_of_arguments() -> None:
    source = module("", words(1), np.uint32(1))
    for wrong in ([], [words(1)], [words(1), 1, 2]):
        with pytest.raises(InputError, match=rf"{len(wrong)} arguments for 2 parameters: A:0 \(a0\), A:1 \(a1\)"):
            goptx.emulate(source, 1, 1, wrong)
    for other in (None, words(2), "ab", {"a": 1}):
        with pytest.raises(InputError, match="sequence"):
            goptx.emulate(source, 1, 1, other)  # type: ignore[arg-type]


# the shape of a launch ------------------------------------------------------------------------------


@pytest.mark.parametrize("extent", [6, np.int64(6), (6,), (3, 2), [1, 2, 3], np.array([2, 3]), (np.int32(6), 1, 1)])
def test_extents(extent: Any) -> None:
    out = words(1)
    run("red.global.add.u32 [%rd0], 1;", out, grid=extent, block=extent)
    assert out[0] == 36


@pytest.mark.parametrize(
    "extent", [0, -1, True, 1.0, None, "6", (), (1, 0), (1, 1, 1, 1), (2, True), (2.0, 1), [[1]], np.array(3)]
)
def test_invalid_extents(extent: Any) -> None:
    assert refusal(grid=extent).startswith(f"grid={extent} ")
    assert refusal(block=extent).startswith(f"block={extent} ")


@pytest.mark.parametrize("options",
                                     [{"block": 1025}, {"block": (32, 33)}, {"block": (1, 1, 65)}, {"grid": (1,
                                     65536)}, {"grid": 1 << 31},
                                     {"shared": -1}, {"shared": 1.5}, {"shared": 228 * 1024},
                                     {"seed": -1}])  # fmt: skip
def test_launches_that_no_gpu_accepts(options: Any) -> None:
    assert next(iter(options)) in refusal(**options)


def test_shared_memory_counts_static_and_dynamic() -> None:
    variables = ".shared .b8 s[100000]; .extern .shared .b8 d[];"
    run("st.shared.u8 [s+99999], 1; st.shared.u8 [d+9999], 1;", shared=10000, variables=variables)
    assert "shared memory" in refusal(variables=variables, shared=140000)


@pytest.mark.parametrize(("bounds", "fits"), [(".reqntid 32", True), (".reqntid 8, 4", False), (".reqntid 64", False),
                                              (".maxntid 32", True),
                                              (".maxntid 8, 4", True), (".maxntid 16", False),
                                              (".minnctapersm 4", True),
                                              (".reqntid 32, 1, 1 .minnctapersm 2", True),
                                              (".reqnctapercluster 2", False)])  # fmt: skip
def test_bounds_of_the_entry(bounds: str, fits: bool) -> None:
    if fits:
        run("", block=32, bounds=bounds)
    else:
        assert bounds in refusal(block=32, bounds=bounds)
