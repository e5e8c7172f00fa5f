"""Kernels have to be independent: which launches are refused, which give a warning, and which pass."""

import pickle
import struct
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import HEAD, kernel
from device.fake_driver import install

import goptx
from goptx import DependentKernels
from goptx.analysis.values.pointer_effects import Reach, reach
from goptx.cli import main
from goptx.errors import DependenceWarning
from goptx.ptx.ir import Function
from goptx.results.fused_kernel import Woven

KERNELS = Path(__file__).parents[1] / "examples" / "kernels"
COPY = """
    ld.param.u64 %rd1, [k_in]; ld.param.u64 %rd2, [k_out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r2, [%rd4]; add.s64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r2;
"""
ATOMIC = "ld.param.u64 %rd1, [j_out]; atom.global.add.u32 %r2, [%rd1], 1;"
ADDRESS = 0x7F00_0000_0000
BYTES = 4096  # of every array


@pytest.fixture(scope="module")
def woven() -> Woven:
    """A: `in` is read, `out` written; B the same."""
    return goptx.weave(kernel(COPY), kernel(COPY.replace("k_", "j_"), "j"))


class Array:
    """An array as CuPy and Numba have it."""

    def __init__(self, address: int, size: int = BYTES, strides: tuple[int, ...] | None = None) -> None:
        self.__cuda_array_interface__ = {
            "data": (address, False), "shape": (size // 4,), "typestr": "<f4", "strides": strides, "version": 3,
        }  # fmt: skip


class Tensor:
    """Like torch's, with a stride of `step` elements."""

    def __init__(self, address: int, size: int = BYTES, step: int = 1) -> None:
        self.address, self.shape, self.step = address, (size // 4,), step

    def data_ptr(self) -> int:
        return self.address

    def numel(self) -> int:
        return self.shape[0]

    def element_size(self) -> int:
        return 4

    def is_contiguous(self) -> bool:
        return self.step == 1

    def stride(self) -> tuple[int, ...]:
        return (self.step,)


class Buffer:
    """A buffer as cuda.core has it, whose module is under `cuda`."""

    __module__ = "cuda.core._memory"

    def __init__(self, address: int, size: int = BYTES) -> None:
        self.handle, self.size = address, size


def launched(monkeypatch: pytest.MonkeyPatch, woven: Woven, *args: Sequence[object], **options: Any) -> None:
    """Launches with a driver that starts nothing."""
    install(monkeypatch)
    woven.launch(None, *args, grid=1, block=32, **options)


def test_parameters_have_their_kernels_accesses() -> None:
    woven = goptx.weave(KERNELS / "harris.sm_90.ptx", KERNELS / "lud.sm_90.ptx")
    accesses = [p.access for p in woven.params]
    assert accesses == ["read", "read", "read", "written", "none", "none", "both", "none"]


def test_hidden_parameters_are_not_accessed() -> None:
    shapes = [goptx.Shape(None, 32), goptx.Shape(None, 64)]
    woven = goptx.weave(kernel(COPY), kernel(COPY.replace("k_", "j_"), "j"), shapes=shapes)
    assert {p.access for p in woven.params if p.kernel is None} == {"none"}


A = ADDRESS
FAR = [ADDRESS + (k << 20) for k in range(1, 9)]
SAME = (
    "A:1 (k_out) is written, B:0 (j_in) is read: the same array. The kernels depend on each other; launch the kernels "
)


@pytest.mark.parametrize("make", [Array, Tensor, Buffer])
def test_an_array_that_one_kernel_writes_and_the_other_reads(
    make: Any, woven: Woven, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = [make(FAR[0]), make(A), 0], [make(A), make(FAR[1]), 0]
    with pytest.raises(DependentKernels) as refused:
        launched(monkeypatch, woven, *args)
    assert str(refused.value).startswith(SAME)
    with pytest.raises(DependentKernels, match=r"^B:1 \(j_out\) is written, A:0 \(k_in\) is read: the same array"):
        launched(monkeypatch, woven, *args[::-1])
    launched(monkeypatch, woven, *args, independent=True)


@pytest.mark.parametrize(
    ("out", "other", "what"),
    [
        (Array(A), Array(A + BYTES - 4), "their arrays have 4 bytes in common"),
        (Array(A), Tensor(A + 1024, 8), "their arrays have 8 bytes in common"),
        (Array(A + 2048), Buffer(A), "their arrays have 2048 bytes in common"),
        (Array(A + 4 * 1023, BYTES, (-4,)), Array(A), "the same array"),  # reversed
        (Tensor(A, 1024, 4), Array(A + 2048, 4), "their arrays have 4 bytes in common"),  # every fourth element
        (A, A, "the same pointer, 0x7f0000000000"),
        (np.uint64(A), A, "the same pointer"),
        (Array(A), A, "the same array"),
        (A, Tensor(A), "the same array"),
    ],
)
def test_dependent_arguments(
    out: object, other: object, what: str, woven: Woven, monkeypatch: pytest.MonkeyPatch
) -> None:
    for args in ([[FAR[0], out, 0], [other, FAR[1], 0]], [[FAR[0], other, 0], [out, FAR[1], 0]]):
        with pytest.raises(DependentKernels, match=what):
            launched(monkeypatch, woven, *args)
    with pytest.raises(DependentKernels, match=rf"A:1 \(k_out\) is written, B:1 \(j_out\) is written: {what}"):
        launched(monkeypatch, woven, [FAR[0], out, 0], [FAR[1], other, 0])


IN_STRUCTURE = f"""{HEAD}.visible .entry NAME(.param .align 8 .b8 s[24])
{{
    .reg .b32 %r<3>; .reg .b64 %rd<9>;
    LOAD ld.param.u64 %rd3, [s+16]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 4;
    add.s64 %rd5, %rd1, %rd4; ld.global.u32 %r2, [%rd5]; add.s64 %rd6, %rd2, %rd4; st.global.u32 [%rd6], %r2;
}}
"""


@pytest.mark.parametrize(
    "load",
    [
        "ld.param.u64 %rd1, [s]; ld.param.u64 %rd2, [s+8]; cvta.to.global.u64 %rd2, %rd2;",
        "ld.param.v2.u64 {%rd1, %rd2}, [s];",
    ],
    ids=["direct", "vector"],
)
def test_pointers_in_structures_are_compared(load: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = goptx.weave(*(IN_STRUCTURE.replace("LOAD", load).replace("NAME", name) for name in ("k", "j")))
    both = "v2" in load  # of which the analysis does not know which register is which
    assert [p.inside for p in made.params] == [
        ((0, "both"), (8, "both")) if both else ((0, "read"), (8, "written"))
    ] * 2

    def structure(first: int, second: int) -> list[bytes]:
        return [struct.pack("<QQQ", first, second, A)]

    text = "is read and written" if both else "is written"
    with pytest.raises(
        DependentKernels, match=rf"A:0\+8 \(s\) {text}, B:0 \(s\) is read.*the same pointer, 0x7f0000000000"
    ):
        launched(monkeypatch, made, structure(A + 64, A), structure(A, A + 128))
    launched(monkeypatch, made, structure(A, A + 64), structure(A + 128, A + 192))
    launched(monkeypatch, made, structure(A, A + 64), structure(A, A + 192), independent=both)  # both read it
    launched(monkeypatch, made, structure(A, A + 64), structure(A + 64, A + 192), independent=True)
    copied = "mov.b64 %rd7, s; ld.param.u64 %rd1, [%rd7]; ld.param.u64 %rd2, [%rd7+8];"
    followed_not = goptx.weave(*(IN_STRUCTURE.replace("LOAD", copied).replace("NAME", name) for name in ("k", "j")))
    assert {p.access for p in followed_not.params} == {"unknown"} and not any(p.inside for p in followed_not.params)


@pytest.mark.parametrize(
    ("out", "other"),
    [
        (Array(A), Array(A + BYTES)),  # views of one allocation
        (Tensor(A + BYTES), Buffer(A)),
        (Array(A + 4 * 1023, BYTES, (-4,)), Array(A + BYTES)),
        (Tensor(A, 1024, 4), Tensor(A + 4096 - 12, 1024)),  # after the last of every fourth element
        (Array(A, 0), Array(A)),
        (Array(A, 0), A),
        (None, None),
        (0, None),
        (1024, 1024),  # numbers, whatever the analysis takes them for
        (A, A + 8),
        (A, Array(A + 8)),
    ],
)
def test_independent_arguments(out: object, other: object, woven: Woven, monkeypatch: pytest.MonkeyPatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        launched(monkeypatch, woven, [FAR[0], out, 0], [other, FAR[1], 0])
        launched(monkeypatch, woven, [FAR[0], other, 0], [out, FAR[1], 0])


def test_arrays_that_both_read_or_one_kernel_uses_twice(woven: Woven, monkeypatch: pytest.MonkeyPatch) -> None:
    launched(monkeypatch, woven, [Array(A), Array(FAR[0]), 7], [Array(A), Array(FAR[1]), 7])
    launched(monkeypatch, woven, [Array(A), Array(A), 7], [Array(FAR[0]), Array(FAR[0]), 7])


def test_a_raw_pointer_into_an_array_is_warned_of_at_every_launch(
    woven: Woven, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = r"A:1 \(k_out\) is written, B:0 \(j_in\) is read: a raw pointer into the array of the other\."
    for out, other in ((A + 8, Array(A)), (Array(A), A + BYTES - 1), (A + 8, Array(A)), (A + 8, Array(A))):
        with pytest.warns(DependenceWarning, match=text) as warned:
            launched(monkeypatch, woven, [FAR[0], out, 0], [other, FAR[1], 0])
        assert [w.filename for w in warned] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        launched(monkeypatch, woven, [FAR[0], A + 8, 0], [Array(A), FAR[1], 0], independent=True)
        launched(monkeypatch, woven, [FAR[0], A + BYTES, 0], [Array(A), FAR[1], 0])


def test_every_launch_is_checked(woven: Woven, monkeypatch: pytest.MonkeyPatch) -> None:
    good = [Array(FAR[0]), Array(A), 0], [Array(FAR[1]), Array(FAR[2]), 0]
    bad = good[0], [Array(A), Array(FAR[2]), 0]
    for _ in range(2):
        launched(monkeypatch, woven, *good)
        launched(monkeypatch, woven, *good)
        with pytest.raises(DependentKernels):
            launched(monkeypatch, woven, *bad)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (ATOMIC, "B:1 (j_out) is read and written, A:0 (k_in) is read"),
        (ATOMIC.replace("atom.global.add", "st.global").replace("%r2, [%rd1], 1", "[%rd1], %r2"),
         "B:1 (j_out) is written, A:0 (k_in) is read"),
        ("ld.param.u64 %rd1, [j_out]; ld.global.u64 %rd2, [%rd1]; ld.global.u32 %r1, [%rd2];",
         "B:1 (j_out) may be read and written, A:0 (k_in) is read"),
    ],
    ids=("atomic", "store", "unknown"),
)  # fmt: skip
def test_unknown_counts_as_read_and_written(body: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    woven = goptx.weave(kernel(COPY), kernel(body, "j"))
    with pytest.raises(DependentKernels) as refused:
        launched(monkeypatch, woven, [Array(A), Array(FAR[0]), 0], [0, Array(A), 0])
    assert str(refused.value).startswith(f"{text}: the same array.")


def test_unused_parameters_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    woven = goptx.weave(kernel(COPY), kernel(ATOMIC, "j"))
    assert [p.access for p in woven.params] == ["read", "written", "none", "none", "both", "none"]
    launched(monkeypatch, woven, [Array(A), Array(FAR[0]), 0], [Array(FAR[0]), Array(FAR[1]), 0])


def test_arguments_that_do_not_fit_come_first(woven: Woven, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(goptx.InputError, match=r"B:2 \(j_n\)"):
        launched(monkeypatch, woven, [0, Array(A), 0], [Array(A), 0, 1.5])


def test_a_kernel_without_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = HEAD + ".visible .entry e() { bar.sync 0; ret; }"
    woven = goptx.weave(alone, kernel(COPY))
    launched(monkeypatch, woven, [], [Array(A), Array(FAR[0]), 0])
    with pytest.raises(goptx.InputError, match="one argument sequence for each of the kernels A, B"):
        launched(monkeypatch, woven, [Array(A), Array(FAR[0]), 0])


# On the emulator ----------------------------------------------------------------------------------------


def numbers(count: int = 32) -> np.ndarray[Any, np.dtype[np.uint32]]:
    return np.arange(count, dtype=np.uint32)


def test_emulate_refuses_arrays_with_memory_in_common(woven: Woven) -> None:
    shared, whole = numbers(), numbers(64)
    with pytest.raises(DependentKernels, match=r"A:1 \(k_out\) is written, B:0 \(j_in\) is read: the same array"):
        goptx.emulate(woven, 1, 32, [[numbers(), shared, 0], [shared, numbers(), 0]])
    with pytest.raises(DependentKernels, match="their arrays have 64 bytes in common"):
        goptx.emulate(woven, 1, 32, [[numbers(), whole[:32], 0], [whole[16:48], numbers(), 0]])
    goptx.emulate(woven, 1, 32, [[numbers(), whole[:32], 0], [whole[32:], numbers(), 0]])


def test_emulate_trusts_the_caller(woven: Woven) -> None:
    shared, out = numbers(), numbers() * 0
    goptx.emulate(woven, 1, 32, [[numbers(), shared, 0], [shared, out, 0]], independent=True)
    assert (out == numbers()).all()


def test_check_refuses_an_array_for_both() -> None:
    shared = numbers(128)
    args = {"A:0": "u32[128]", "A:1": shared, "A:2": 0, "B:0": shared, "B:1": "u32[128]", "B:2": 0}
    texts = kernel(COPY), kernel(COPY.replace("k_", "j_"), "j")
    with pytest.raises(DependentKernels, match=r"A:1 \(k_out\) is written, .* of its own\. \[independent-kernels\]$"):
        goptx.check(*texts, grid=1, block=32, args=args)
    assert goptx.check(*texts, grid=1, block=32, args=args | {"A:1": "u32[128]"})
    both_read = args | {"A:1": "u32[128]", "A:0": shared}
    assert goptx.check(*texts, grid=1, block=32, args=both_read)


def test_the_command_line_ends_with_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise DependentKernels("A:1 is written", rule="independent-kernels")

    monkeypatch.setattr("goptx.checking.check.check", refuse)
    assert main(["check", "a.ptx", "b.ptx"]) == 1
    assert capsys.readouterr().err.splitlines()[0] == "DependentKernels: A:1 is written [independent-kernels]"


def test_what_kernels_do_by_parameters_is_found_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def noted(entry: Function, address_size: int) -> Reach:
        asked.append(entry.name)
        return reach(entry, address_size)

    monkeypatch.setattr("goptx.weaving.link.interface.reach", noted)
    made = goptx.weave(kernel(COPY), kernel(COPY.replace("k_", "j_"), "j"))
    assert not asked
    assert [p.access for p in made.params if p.kernel == "A"].count("written") == 1
    assert asked == ["k"]
    assert [p.access for p in pickle.loads(pickle.dumps(made)).params] == [p.access for p in made.params]
