"""Arrays that torch's operations make are held for a while, so that none takes the memory of another.

An allocator hands the memory of an array that is not needed any more to the next one. In a captured graph, kernels that
have nothing to do with each other then have to stay in order. Ensures: at most a given number of bytes is held, those
of the newest arrays, and nothing at the end of the `with`. Imports torch only if the program has.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from goptx.errors import InputError
from goptx.options import is_whole

MIB = 1 << 20


class Held:
    """Storages of arrays, at most `limit` bytes of them: those that were added last."""

    def __init__(self, limit: int) -> None:
        self.limit, self.bytes = limit, 0
        self._storages: dict[int, Any] = {}

    def add(self, storages: Iterable[Any]) -> None:
        for storage in storages:
            address, size = storage.data_ptr(), storage.nbytes()
            if not address or address in self._storages or size > self.limit:
                continue
            self._storages[address] = storage
            self.bytes += size
            while self.bytes > self.limit:
                oldest = next(iter(self._storages))
                self.bytes -= self._storages.pop(oldest).nbytes()

    def release(self) -> None:
        self._storages.clear()
        self.bytes = 0


def check_hold(mebibytes: int) -> int:
    """The number, if it is one. Raises `InputError`."""
    if not is_whole(mebibytes) or mebibytes < 0:
        raise InputError(f"hold={mebibytes!r} is not a number of MiB; give for example hold=256, or 0.")
    return mebibytes


def holding(mebibytes: int) -> AbstractContextManager[object]:
    """Holds up to so many MiB of the arrays that torch's operations make within the `with`; nothing without torch, and
    with an older torch, which would not run compiled functions as compiled meanwhile."""
    torch = sys.modules.get("torch")
    if not mebibytes or torch is None:
        return nullcontext()
    try:
        from torch.utils._python_dispatch import TorchDispatchMode
    except ImportError:
        return nullcontext()
    if not hasattr(TorchDispatchMode, "ignore_compile_internals"):
        return nullcontext()
    return _mode(torch, TorchDispatchMode, Held(mebibytes * MIB))


def _mode(torch: Any, base: Any, held: Held) -> AbstractContextManager[object]:
    """torch calls `__torch_dispatch__` for each operation, but for those within compiled functions."""

    class Holding(base):  # type: ignore[misc]  # its type is known at run time only
        @classmethod
        def ignore_compile_internals(cls) -> bool:
            return True

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            made = function(*args, **(kwargs or {}))
            held.add(x.untyped_storage() for x in _leaves(made) if isinstance(x, torch.Tensor) and x.is_cuda)
            return made

        def __exit__(self, *error: Any) -> None:
            super().__exit__(*error)
            held.release()

    mode: AbstractContextManager[object] = Holding()
    return mode


def _leaves(made: Any) -> Iterable[Any]:
    """What an operation returns: an array, or several."""
    return made if isinstance(made, list | tuple) else (made,)
