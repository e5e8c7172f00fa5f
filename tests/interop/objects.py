"""Objects shaped like those of frameworks, none of which need be installed."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

CORPUS = Path(__file__).parents[1] / "corpus" / "ptx"


def corpus(name: str) -> str:
    return (CORPUS / f"{name}.ptx").read_text(encoding="utf-8")


class CompiledKernel:
    """Triton's."""

    __module__ = "triton.compiler.compiler"

    def __init__(self, name: str, ptx: str | None, shared: int = 0, num_warps: int = 4, **metadata: Any) -> None:
        self.asm = {"cubin": b""} if ptx is None else {"ptx": ptx, "cubin": b""}
        known = {"num_ctas": 1, "global_scratch_size": 0, "profile_scratch_size": 0}
        self.metadata = SimpleNamespace(name=name, shared=shared, num_warps=num_warps, **known | metadata)


class HostTensor:
    """Torch's, in host memory, which it shares with `array`; None is of a type that numpy lacks."""

    __module__ = "torch"
    is_cuda = False

    def __init__(self, array: Any) -> None:
        self.array = array

    def detach(self) -> "HostTensor":
        return self

    def numpy(self) -> Any:
        if self.array is None:
            raise TypeError("bfloat16")
        return self.array


class JITFunction:
    """Triton's."""

    __module__ = "triton.runtime.jit"
    __name__ = "softmax"

    def warmup(self) -> None: ...


class CUDADispatcher:
    """Numba's."""

    __module__ = "numba.cuda.dispatcher"

    def __init__(self, texts: dict[Any, str]) -> None:
        self.py_func = SimpleNamespace(__name__="turn")
        self.texts = texts

    def inspect_asm(self) -> dict[Any, str]:
        return self.texts


class RawKernel:
    """CuPy's."""

    __module__ = "cupy._core.raw"

    def __init__(self, name: str, code: str | None = None, path: str | None = None, backend: str = "nvrtc") -> None:
        self.name, self.code, self.file_path, self.backend = name, code, path, backend
        self.options = ("-DN=4",)


class RawModule:
    """CuPy's."""

    __module__ = "cupy._core.raw"

    def __init__(self, code: str, name_expressions: tuple[str, ...]) -> None:
        self.code, self.name_expressions = code, name_expressions
        self.file_path, self.backend, self.options = None, "nvrtc", ()


class ObjectCode:
    """cuda.core's."""

    __module__ = "cuda.core._module"

    def __init__(self, code: bytes | str, code_type: str = "ptx", name: str = "") -> None:
        self.code, self.code_type, self.name = code, code_type, name

    def __repr__(self) -> str:
        raise AssertionError("loads the code, which takes a driver")


class Array(np.ndarray[Any, Any]):
    """Host memory that claims to be on a device, that of the emulator."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return dict(self.__array_interface__)


def on_device(values: Any) -> Array:
    return np.array(values).view(Array)


def softmax() -> CompiledKernel:
    """Of rows: out, x, stride, columns."""
    return CompiledKernel("softmax", corpus("softmax.sm_90.triton"), shared=16)


def layer_norm() -> CompiledKernel:
    """Of rows: x, out, weight, bias, mean, deviation, stride, columns, epsilon."""
    return CompiledKernel("layer_norm", corpus("layer_norm.sm_80.triton"), shared=32)
