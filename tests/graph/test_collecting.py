"""collect(): the PTX of what frameworks have loaded, found among the objects that are alive."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from graph.graph_kernels import add, scale
from interop.objects import CompiledKernel, CUDADispatcher, RawKernel

import goptx
from goptx.errors import InputError
from goptx.sources.collecting import Collected


def triton(handle: int | None, ptx: str | None = None) -> Any:
    kernel = CompiledKernel("scale", scale() if ptx is None else ptx)
    kernel.function = handle  # type: ignore[attr-defined]
    return kernel


class StaticallyLaunchedCudaKernel:
    """Inductor's."""

    __module__ = "torch._inductor.runtime.static_cuda_launcher"

    def __init__(self, path: Path | None) -> None:
        self.name, self.function, self.cubin_path = "add", 7, path and str(path)


def test_kernels_are_found_by_their_handles() -> None:
    held = triton(41)
    with goptx.collect() as kernels:
        pass
    assert kernels.kernels[41] == (scale(), "scale")
    assert kernels.origin([3, 41]) == (scale(), "scale")
    assert kernels.origin([3]) is None
    assert held.function == 41


def test_nothing_is_collected_after_an_exception() -> None:
    held = triton(42)
    kernels = goptx.collect()
    with pytest.raises(ZeroDivisionError), kernels:
        _ = 1 / 0
    assert kernels.kernels == {}
    assert held is not None


def test_what_is_not_loaded_is_no_kernel() -> None:
    kernels = Collected()
    kernels.scan([triton(None), object(), 3])
    assert (kernels.kernels, kernels.left_out) == ({}, [])


def test_inductor_has_its_ptx_in_tritons_cache(tmp_path: Path) -> None:
    (tmp_path / "add.ptx").write_text(add())
    kernels = Collected()
    kernels.scan([StaticallyLaunchedCudaKernel(tmp_path / "add.cubin")])
    assert kernels.kernels == {7: (add(), "add")}


def test_what_has_no_ptx_is_listed(tmp_path: Path) -> None:
    kernels = Collected()
    kernels.scan([StaticallyLaunchedCudaKernel(None), RawKernel("k", path="a.cubin"), CUDADispatcher({})])
    (static, raw, numba) = kernels.left_out
    assert static == "add (torch): its launcher holds machine code only; set TORCHINDUCTOR_USE_STATIC_CUDA_LAUNCHER=0"
    assert raw.startswith("k (cupy): k (CuPy) was made from a.cubin, which is not PTX")
    assert numba.startswith("CUDADispatcher (numba): ")
    assert str(kernels).startswith("0 kernels with PTX\nleft out: add")


def test_numba_has_a_kernel_for_each_signature() -> None:
    dispatcher: Any = CUDADispatcher({})
    library = SimpleNamespace(get_cufunc=lambda: SimpleNamespace(handle=SimpleNamespace(value=9)))
    dispatcher.overloads = {"void(int32)": SimpleNamespace(_codelibrary=library)}
    dispatcher.inspect_asm = lambda signature: add()
    kernels = Collected()
    kernels.scan([dispatcher])
    assert kernels.kernels == {9: (add(), "add")}


def test_kernels_may_be_added() -> None:
    kernels = Collected()
    kernels.add(5, add(), "add")
    assert kernels.origin([5]) == (add(), "add")
    with pytest.raises(InputError, match="no entry `other`"):
        kernels.add(6, add(), "other")


class RawModule:
    """CuPy's, loaded."""

    __module__ = "cupy._core.raw"
    file_path, backend, options, name_expressions, code = "x.ptx", "nvrtc", (), (), ""

    def __init__(self, path: Path) -> None:
        self.file_path = str(path)
        self.module = SimpleNamespace(ptr=77)


class ObjectCode:
    """cuda.core's."""

    __module__ = "cuda.core._module"

    def __init__(self, kind: str) -> None:
        self.code_type, self.code, self.handle = kind, add().encode(), 88


def test_functions_of_modules_are_found_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "scale.ptx").write_text(scale())
    kernels = Collected()
    kernels.scan([RawModule(tmp_path / "scale.ptx"), ObjectCode("ptx")])
    assert kernels.left_out == []
    assert kernels.origin([1], [77], "scale") == (scale(), "scale")
    assert kernels.origin([1], [5, 88], "add") == (add(), "add")
    assert kernels.origin([1], [5], "add") is None


def test_modules_of_machine_code_have_no_ptx() -> None:
    kernels = Collected()
    kernels.scan([ObjectCode("cubin")])
    assert (kernels.modules, kernels.left_out) == ({}, [])


def test_classes_whose_module_is_no_text_are_passed_over() -> None:
    odd = type("Odd", (), {"__module__": property(lambda self: "x")})
    kernels = Collected()
    kernels.scan([odd()])
    assert (kernels.kernels, kernels.left_out) == ({}, [])


def test_a_kernel_that_inductor_has_loaded_is_found_by_its_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cache3" / "KEY-abc"
    folder.mkdir(parents=True)
    (folder / "add.ptx").write_text(add())
    utils = SimpleNamespace(
        triton_cache_dir=lambda device: str(tmp_path / f"cache{device}"), triton_hash_to_path_key=lambda h: f"KEY-{h}"
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=SimpleNamespace(current_device=lambda: 3)))
    monkeypatch.setitem(sys.modules, "torch._inductor.runtime.runtime_utils", utils)
    known, unknown = StaticallyLaunchedCudaKernel(None), StaticallyLaunchedCudaKernel(None)
    known.hash, unknown.hash = "abc", "def"  # type: ignore[attr-defined]
    kernels = Collected()
    kernels.scan([unknown])
    assert kernels.kernels == {} and "holds machine code only" in kernels.left_out[0]
    kernels.scan([known])
    assert kernels.kernels == {7: (add(), "add")}


def test_texts_of_nvrtc_end_with_a_zero(tmp_path: Path) -> None:
    (tmp_path / "scale.ptx").write_bytes(scale().encode() + b"\0")
    kernels = Collected()
    kernels.scan([RawModule(tmp_path / "scale.ptx")])
    assert kernels.modules == {77: scale()}
