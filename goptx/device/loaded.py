"""The PTX of the kernels that goptx has loaded, by the driver's handles."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from goptx.device.load import bindings

if TYPE_CHECKING:
    from cuda.core import Kernel

    from goptx.ptx.ir import Module

_LOADED: dict[int, tuple[weakref.ref[Kernel], Module, str]] = {}


def remember(kernels: Sequence[Kernel], module: Module, entries: Sequence[str]) -> None:
    """Records that these kernels on the current device are the entries of the module."""
    made = bindings()
    for kernel, entry in zip(kernels, entries, strict=True):
        handle = int(kernel.handle)
        failed, function = made.cuKernelGetFunction(made.CUkernel(handle))
        for known in (handle,) if failed else (handle, int(function)):
            _LOADED[known] = weakref.ref(kernel, _forgetting(known)), module, entry


def _forgetting(handle: int) -> Callable[[weakref.ref[Kernel]], None]:
    def forget(kernel: weakref.ref[Kernel]) -> None:
        if _LOADED.get(handle, (None,))[0] is kernel:  # the driver may have reused the handle since
            del _LOADED[handle]

    return forget


def origin(handles: Iterable[int]) -> tuple[Module, str] | None:
    """The module and the entry of a kernel with one of these handles; None if goptx did not load it."""
    for handle in handles:
        if found := _LOADED.get(handle):
            return found[1], found[2]
    return None
