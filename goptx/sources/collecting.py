"""collect(): the PTX of the kernels that frameworks have loaded, by the driver's handles.

Ensures: nothing of a framework is changed; at the end of the `with` the objects that are alive are looked at. Until
then torch's allocator records its history, if the program has imported torch. Imports no framework and no CUDA.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from goptx.device.graphs import torch_memory
from goptx.device.graphs.held_arrays import check_hold, holding
from goptx.display import brief
from goptx.errors import GoptxError
from goptx.ptx.parse import parse
from goptx.sources import cupy, triton

Kernel = tuple[str, str]  # the text of its module, and its name there
Found = Iterator[tuple[int, str, str]]  # a handle, the text, the name


@dataclass(slots=True)
class Collected:
    """Kernels whose PTX is known. After the `with`, `kernels` has the text and the entry of each by the driver's handle
    of the function, `modules` the text of each module by that of the module, `left_out` what has no PTX, with the
    reason, and `arrays` the first address of each array that torch's allocator handed out within the `with`, and the
    one after its last.

    Known are kernels of Triton (also those of Inductor, if Triton's cache has their PTX), CuPy's RawKernel and
    RawModule, Numba-CUDA, modules that cuda.core loaded from PTX, and those that goptx loaded. Others are given with
    `add`.
    """

    __repr__ = brief

    kernels: dict[int, Kernel] = field(default_factory=dict)
    modules: dict[int, str] = field(default_factory=dict, repr=False)
    left_out: list[str] = field(default_factory=list)
    arrays: list[tuple[int, int]] = field(default_factory=list, repr=False)
    hold: int = field(default=0, repr=False)
    _recording: bool = field(default=False, repr=False)
    _holding: ExitStack = field(default_factory=ExitStack, repr=False)

    def __enter__(self) -> Self:
        self._holding.enter_context(holding(self.hold))
        self._recording = torch_memory.record()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._holding.close()
        self.arrays += torch_memory.recorded(stop=self._recording)
        self._recording = False
        if kind is None:
            self.scan(gc.get_objects())

    def __str__(self) -> str:
        return "\n".join([f"{len(self.kernels)} kernels with PTX", *(f"left out: {why}" for why in self.left_out)])

    def add(self, handle: int, ptx: str, entry: str) -> None:
        """Adds a kernel by the driver's handle of it, a CUfunction or a CUkernel. Raises `PtxSyntaxError`, and
        `InputError` if the text has no such entry."""
        from goptx.sources.kernel_text import choose_entry

        self.kernels[int(handle)] = ptx, choose_entry(parse(ptx), entry).name

    def scan(self, objects: Iterable[Any]) -> None:
        """Adds the kernels among objects."""
        for kernel in objects:
            kind = type(kernel)
            home = kind.__module__
            if not isinstance(home, str):  # some classes have something else of that name
                continue
            look = _LOOKS.get((home.partition(".")[0], kind.__name__))
            if look is None:
                continue
            try:
                for handle, text, entry in look(kernel):
                    if entry:
                        self.kernels[handle] = text, entry
                    else:
                        self.modules[handle] = text
            except (GoptxError, AttributeError, KeyError, TypeError, ValueError, OSError) as error:
                name = getattr(kernel, "name", None) or getattr(kernel, "__name__", None) or kind.__name__
                self.left_out.append(f"{name} ({home.partition('.')[0]}): {error}")

    def origin(self, handles: Iterable[int], modules: Iterable[int] = (), name: str = "") -> Kernel | None:
        """The text and the entry of a kernel with one of these handles, or of this name in a module with one of these;
        None if it is not known."""
        from goptx.device import loaded

        handles = list(handles)
        for handle in handles:
            if handle in self.kernels:
                return self.kernels[handle]
        for module in modules:
            if module in self.modules:
                return self.modules[module], name
        found = loaded.origin(handles) if "cuda" in sys.modules else None
        return (str(found[0]), found[1]) if found else None


def collect(hold: int = 0) -> Collected:
    """Collects the PTX of all kernels that frameworks have loaded by the end of the `with`:

        with goptx.collect() as kernels, torch.cuda.graph(g):
            y = model(x)

    Kernels that were loaded before count, too.

    hold: MiB of arrays, the newest that torch's operations made within the `with`, that are not given back to torch's
        allocator before its end. An array that is not needed any more leaves its memory to the next one, and kernels
        that work on both have to stay in order; of arrays that are held, more is independent. The graph takes so much
        more memory. What compiled functions allocate by themselves is not held.

    Raises `InputError` for a `hold` that is not a number of MiB.
    """
    return Collected(hold=check_hold(hold))


def _of_triton(kernel: Any) -> Found:
    if kernel.function:  # it was loaded
        found = triton.compiled(kernel)
        assert found is not None
        yield int(kernel.function), _text(found.content), kernel.metadata.name


def _of_inductor(kernel: Any) -> Found:
    """A kernel of Inductor's static launcher, which holds machine code; Triton's cache has the PTX beside it."""
    if not kernel.function:
        return
    beside = _of_tritons_cache(kernel)
    if beside is None or not beside.is_file():
        raise ValueError("its launcher holds machine code only; set TORCHINDUCTOR_USE_STATIC_CUDA_LAUNCHER=0")
    yield int(kernel.function), beside.read_text(encoding="utf-8"), kernel.name


def _of_tritons_cache(kernel: Any) -> Path | None:
    """Where Triton's cache has the PTX of a kernel of Inductor. Once it is loaded, only its hash leads there."""
    if path := getattr(kernel, "cubin_path", None):
        return Path(path).with_suffix(".ptx")
    inductor = sys.modules.get("torch._inductor.runtime.runtime_utils")
    if inductor is None or not getattr(kernel, "hash", None):
        return None
    device = sys.modules["torch"].cuda.current_device()
    return Path(inductor.triton_cache_dir(device), inductor.triton_hash_to_path_key(kernel.hash), f"{kernel.name}.ptx")


def _of_cupy(raw: Any) -> Found:
    found = cupy.compiled(raw)
    assert found is not None
    text = _text(found.content)
    names = [e.name for e in parse(text).entries]
    yield int(raw.kernel.ptr), text, raw.name if raw.name in names else names[0]


def _of_module(raw: Any) -> Found:
    """A RawModule of CuPy: its functions are found by its handle and their names."""
    found = cupy.compiled(raw)
    assert found is not None
    yield int(raw.module.ptr), _text(found.content), ""


def _of_cuda_core(code: Any) -> Found:
    """A module of cuda.core; one of machine code has no PTX."""
    if code.code_type == "ptx":
        yield int(code.handle), _text(bytes(code.code)), ""


def _of_numba(dispatcher: Any) -> Found:
    for signature, kernel in dispatcher.overloads.items():
        text = dispatcher.inspect_asm(signature)
        handle = kernel._codelibrary.get_cufunc().handle
        yield int(getattr(handle, "value", handle)), text, parse(text).entries[0].name


def _text(content: str | bytes) -> str:
    text = content if isinstance(content, str) else content.decode()
    return text.rstrip("\0")  # NVRTC ends its texts with a zero


_LOOKS: dict[tuple[str, str], Callable[[Any], Found]] = {
    ("triton", "CompiledKernel"): _of_triton,
    ("torch", "StaticallyLaunchedCudaKernel"): _of_inductor,
    ("torch", "StaticallyLaunchedTritonKernel"): _of_inductor,
    ("cupy", "RawKernel"): _of_cupy,
    ("cupy", "RawModule"): _of_module,
    ("cuda", "ObjectCode"): _of_cuda_core,
    ("numba", "CUDADispatcher"): _of_numba,
    ("numba_cuda", "CUDADispatcher"): _of_numba,
}
