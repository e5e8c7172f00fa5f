"""Numba-CUDA's kernels, and arguments in the form that they take."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from operator import mul
from typing import Any

from goptx.errors import InputError
from goptx.launch.device_arrays import host_view
from goptx.sources.kernel_text import Compiled


def compiled(kernel: Any) -> Compiled | None:
    """The kernel of a dispatcher compiled for one signature, or of (dispatcher, signature). Raises `InputError`."""
    dispatcher, signature = kernel if isinstance(kernel, tuple) else (kernel, None)
    if not hasattr(dispatcher, "inspect_asm"):
        return None
    name = dispatcher.py_func.__name__
    texts = dispatcher.inspect_asm()
    found = [key for key in texts if signature is None or key == signature or str(key) == str(signature)]
    if not texts:
        raise InputError(
            f"the Numba kernel `{name}` is not compiled yet; launch it once, or say the types of its arguments: "
            '@cuda.jit("void(float32[::1], int32)").'
        )
    if len(found) != 1:
        listed = "; ".join(map(str, texts))
        raise InputError(
            f"the Numba kernel `{name}` is compiled for these signatures: {listed}. Give (`{name}`, signature) with "
            "one of them."
        )
    return Compiled(f"{name} (Numba)", texts[found[0]])


def arguments(*args: object) -> list[object]:
    """The arguments of a Numba kernel in the form of its PTX: an array becomes seven parameters or more, a number one.
    For `launch`, arrays are those of Numba, CuPy, torch, or anything with `__cuda_array_interface__`; for
    `goptx.emulate`, those of numpy and tensors in host memory."""
    found: list[object] = []
    for arg in map(host_view, args):
        interface = getattr(arg, "__cuda_array_interface__", None)
        if interface is None and getattr(arg, "ndim", None):
            interface = getattr(arg, "__array_interface__", None)
        found += [arg] if interface is None else _array(arg, interface)
    return found


def _array(array: object, interface: dict[str, Any]) -> list[object]:
    """Numba's array structure: the owner of the memory (two pointers, null), the number of elements, the bytes of one,
    the address, and for each axis the number of elements and the stride in bytes."""
    shape: Sequence[int] = interface["shape"]
    item = int(interface["typestr"][2:])
    strides = interface.get("strides") or [*accumulate(reversed(shape[1:]), mul, initial=item)][::-1][: len(shape)]
    elements = [*accumulate(shape, mul, initial=1)][-1]
    return [None, None, elements, item, array, *shape, *strides]
