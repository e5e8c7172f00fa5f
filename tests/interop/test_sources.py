"""Objects of Numba, CuPy and cuda.core, and CUDA C++, as kernels; other objects are refused."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import kernel
from interop.objects import CUDADispatcher, HostTensor, ObjectCode, RawKernel, RawModule, corpus, on_device

import goptx
from goptx import AssemblyError, InputError
from goptx.sources import nvrtc
from goptx.sources.numba import arguments

EMPTY = kernel("ret;")
DOUBLE = 'extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }'


@pytest.mark.parametrize("thing", [42, None, (EMPTY, "k"), ["text"], np.zeros(3), goptx.Shape(1)])
def test_objects_that_are_not_kernels(thing: Any) -> None:
    with pytest.raises(InputError, match=r"is not a kernel; goptx takes PTX text \(str, bytes\), a pathlib.Path"):
        goptx.weave(EMPTY, thing)
    with pytest.raises(InputError, match=r"^an object of type .* is not a kernel; goptx takes"):
        goptx.read(thing)


def test_the_module_of_a_fused_kernel_is_read() -> None:
    woven = goptx.weave(EMPTY, EMPTY)
    assert goptx.read(woven) is woven.module


def test_goptx_reads_what_it_weaves() -> None:
    assert goptx.read(ObjectCode(EMPTY.encode(), name="empty")).entries[0].name == "k"


def test_strings_that_are_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kernel.s").write_text(EMPTY)
    for name in ("harris.ptx", "some where/harris.ptx", "kernel.s", "auto"):
        with pytest.raises(InputError, match=rf"'{name}' is a string, and strings are PTX text; give pathlib.Path"):
            goptx.weave(name, EMPTY)
    assert goptx.weave(Path("kernel.s"), EMPTY)


@pytest.mark.parametrize("source", ["kernels/a.cu", Path("kernels/a.cu")])
def test_cuda_is_not_ptx(source: str | Path) -> None:
    with pytest.raises(
        InputError, match=r"kernels/a.cu: CUDA C\+\+, not PTX; compile it first, `nvcc -ptx -arch=sm_90 "
    ):
        goptx.read(source)


@pytest.mark.parametrize("text", [" ".join(EMPTY.split()), "no PTX", "x" * 10_000, "a\0b", ".version 8.0 // a.ptx"])
def test_text_of_one_line_is_not_a_path(text: str) -> None:
    try:
        assert goptx.read(text).entries
    except goptx.PtxSyntaxError:
        assert text != " ".join(EMPTY.split())


# Numba -----------------------------------------------------------------------------------------------------


def test_numba() -> None:
    dispatcher = CUDADispatcher({("array(float64, 2d, C)",): corpus("mandelbrot.numba")})
    woven = goptx.weave(dispatcher, (dispatcher, ("array(float64, 2d, C)",)))
    images = [on_device(np.zeros((6, 8), np.uint8)) for _ in range(3)]
    args = [[*arguments(image, -2.0, 1.0), 20] for image in images]
    goptx.emulate(woven, (1, 1), (8, 8), args[:2])
    goptx.emulate(dispatcher, (1, 1), (8, 8), args[2])
    assert images[2].any()
    assert np.array_equal(images[0], images[2]) and np.array_equal(images[1], images[2])


def test_numbas_arrays() -> None:
    array = on_device(np.zeros((3, 4, 5), np.float32))
    assert arguments(array, 7) == [None, None, 60, 4, array, 3, 4, 5, 80, 20, 4, 7]
    turned = array.T
    assert arguments(turned)[5:] == [5, 4, 3, 4, 20, 80]
    empty = on_device(np.zeros(0, np.int8))
    assert arguments(empty) == [None, None, 0, 1, empty, 0, 1]


def test_numbas_arrays_in_host_memory() -> None:
    """As for arrays on the device, so the emulator takes them; a launch names the array."""
    array = np.zeros((3, 4, 5), np.float32)
    assert arguments(array, np.float32(7)) == [None, None, 60, 4, array, 3, 4, 5, 80, 20, 4, np.float32(7)]
    assert arguments(array.T)[5:] == [5, 4, 3, 4, 20, 80]
    found = arguments(HostTensor(array))
    assert found[4] is array and found[5:8] == [3, 4, 5]
    dispatcher = CUDADispatcher({("array(float64, 2d, C)",): corpus("mandelbrot.numba")})
    image, tensor = np.zeros((6, 8), np.uint8), HostTensor(np.zeros((6, 8), np.uint8))
    for one in (image, tensor):
        goptx.emulate(dispatcher, (1, 1), (8, 8), [*arguments(one, -2.0, 1.0), 20])
    assert image.any() and np.array_equal(image, tensor.array)


def test_the_emulator_takes_tensors_in_host_memory() -> None:
    store = kernel("ld.param.u64 %rd1, [k_out]; mov.u32 %r1, %tid.x; st.global.u32 [%rd1], %r1; ret;")
    tensor = HostTensor(np.full(1, 9, np.uint32))
    goptx.emulate(store, 1, 1, [None, tensor, 0])
    assert tensor.array.tolist() == [0]
    woven = goptx.weave(store, store)
    others = [HostTensor(np.full(1, 9, np.uint32)) for _ in range(2)]
    goptx.emulate(woven, 1, 1, [[None, one, 0] for one in others])
    assert [one.array.tolist() for one in others] == [[0], [0]]
    with pytest.raises(InputError, match=r"a HostTensor cannot be a numpy array \(bfloat16\); view it as integers"):
        goptx.emulate(store, 1, 1, [None, HostTensor(None), 0])


def test_numba_is_not_compiled_or_for_several_signatures() -> None:
    with pytest.raises(InputError, match="Numba kernel `turn` is not compiled yet; launch it once"):
        goptx.weave(CUDADispatcher({}), EMPTY)
    several = CUDADispatcher({("int32",): EMPTY, ("float64",): EMPTY})
    with pytest.raises(
        InputError, match=r"is compiled for these signatures: \('int32',\); \('float64',\). Give \(`turn`"
    ):
        goptx.weave(several, EMPTY)
    with pytest.raises(InputError, match="is compiled for these signatures"):
        goptx.weave((several, ("int8",)), EMPTY)
    goptx.weave((several, ("int32",)), (several, str(("float64",))))


# cuda.core -------------------------------------------------------------------------------------------------


def test_cuda_core(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(EMPTY, encoding="utf-8")
    woven = goptx.weave(ObjectCode(EMPTY.encode()), ObjectCode(str(path)))
    assert woven.ptx == goptx.weave(EMPTY, EMPTY).ptx
    with pytest.raises(InputError, match="an ObjectCode of cubin has no PTX, and goptx weaves that"):
        goptx.weave(ObjectCode(b"\x7fELF", "cubin"), EMPTY)


# CuPy ------------------------------------------------------------------------------------------------------


def test_cupy_is_compiled_as_cupy_does(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def ptx_of(*given: object) -> bytes:
        asked.append(given)
        return EMPTY.encode()

    monkeypatch.setattr(nvrtc, "ptx_of", ptx_of)
    goptx.weave(RawKernel("k", "text"), RawModule("template", ("f<int>",)), entries=[None, "k"])
    assert asked == [
        ("text", None, ("-DN=4", "-ftz=true"), (), "k (CuPy)"),
        ("template", None, ("-ftz=true",), ("f<int>",), "RawModule (CuPy)"),
    ]


def test_cupy_without_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goptx.device.load.architecture", lambda: None)
    with pytest.raises(InputError, match=r"no GPU for which CuPy would compile it; give the module that") as caught:
        goptx.weave(RawKernel("k", "text"), EMPTY, arch="sm_90")
    remedy = r"""`goptx.compile_cuda(kernel.code, arch="sm_90", options=['-DN=4', '-ftz=true'])`"""
    assert remedy in str(caught.value)
    with pytest.raises(InputError, match=r"options=\['-ftz=true'\], instances=\['f<int>'\]\)`"):
        goptx.weave(RawModule("template", ("f<int>",)), EMPTY, arch="sm_90")


def test_cupy_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(EMPTY, encoding="utf-8")
    assert goptx.weave(RawKernel("k", path=str(path)), EMPTY).ptx == goptx.weave(EMPTY, EMPTY).ptx
    with pytest.raises(InputError, match=r"was made from k.cubin, which is not PTX; give the PTX that"):
        goptx.weave(RawKernel("k", path="k.cubin"), EMPTY)
    with pytest.raises(InputError, match="is compiled by nvcc, not NVRTC; compile its text to PTX"):
        goptx.weave(RawKernel("k", "text", backend="nvcc"), EMPTY)


# NVRTC -----------------------------------------------------------------------------------------------------


@pytest.fixture
def compiler() -> None:
    try:
        nvrtc._compiler()
    except AssemblyError as error:
        pytest.skip(str(error))


def test_cuda(compiler: None) -> None:
    module = goptx.compile_cuda(DOUBLE, arch="sm_80")
    assert module.target == ("sm_80",) and "twice" in goptx.weave(module, EMPTY).name
    template = "template <int N> __global__ void times(float* x) { x[threadIdx.x] *= N; }"
    module = goptx.compile_cuda(template, options=["-arch=sm_80"], instances=["times<2>", "times<3>"])
    assert len(module.entries) == 2
    with pytest.raises(AssemblyError, match=r"mine.cu: NVRTC does not compile it:\nmine.cu\(1\): error: "):
        goptx.compile_cuda("nonsense", arch="sm_90", name="mine.cu")
    with pytest.raises(AssemblyError, match="NVRTC does not compile it"):
        goptx.compile_cuda(DOUBLE, arch="sm_1")


def test_cuda_without_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r'options= takes a list, for example options=\["-G"\]'):
        goptx.compile_cuda(DOUBLE, options="-G")
    monkeypatch.setattr("goptx.device.load.architecture", lambda: None)
    with pytest.raises(InputError, match="there is no GPU whose architecture could be taken"):
        goptx.compile_cuda(DOUBLE)
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    with pytest.raises(AssemblyError, match=r"NVRTC is needed to compile CUDA C\+\+: `pip install goptx\[gpu\]`"):
        goptx.compile_cuda(DOUBLE, arch="sm_90")


def test_an_answer_that_is_not_success() -> None:
    class Failed:
        name = "NVRTC_ERROR_OUT_OF_MEMORY"

    with pytest.raises(AssemblyError, match="NVRTC answers NVRTC_ERROR_OUT_OF_MEMORY"):
        nvrtc._must((Failed(),))
