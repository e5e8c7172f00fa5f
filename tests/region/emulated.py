"""Regions without a GPU: arrays in host memory, and launches that run on the emulator."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import goptx
from goptx.device import load
from goptx.memo import Memo
from goptx.region import completion
from goptx.results.fused_kernel import Woven

Host = np.ndarray[Any, np.dtype[Any]]


class Stream:
    """A stream with its protocol, and the launches that were started on it."""

    def __init__(self, handle: int = 42) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle

    def sync(self) -> str:
        return "waited"


class Array:
    """A device array as frameworks have them, of host memory."""

    def __init__(self, host: Host) -> None:
        self.host = host

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self.host.__array_interface__, "version": 3}

    def __getitem__(self, piece: slice) -> "Array":
        return Array(self.host[piece])

    @property
    def address(self) -> int:
        return int(self.host.__array_interface__["data"][0])


@dataclass
class Device:
    """Arrays of one memory, and what was launched."""

    arrays: list[Array] = field(default_factory=list)
    launched: list[tuple[Woven, Any]] = field(default_factory=list)
    loaded: list[Woven] = field(default_factory=list)
    order: int = 0  # of the warps, and of random numbers

    def array(self, values: Any, dtype: Any = np.float32) -> Array:
        self.arrays.append(Array(np.array(values, dtype)))
        return self.arrays[-1]

    def zeros(self, count: int) -> Array:
        return self.array(np.zeros(count))

    def random(self, count: int) -> Array:
        return self.array(np.random.default_rng(len(self.arrays)).random(count))

    def refill(self) -> None:
        """Writes other random numbers to all arrays of floats."""
        self.order += 1
        for k, array in enumerate(self.arrays):
            array.host[...] = np.random.default_rng((self.order, k)).random(array.host.shape)

    def contents(self) -> list[bytes]:
        return [array.host.tobytes() for array in self.arrays]

    def restore(self, contents: Sequence[bytes]) -> None:
        for array, content in zip(self.arrays, contents, strict=True):
            array.host.view(np.uint8)[:] = np.frombuffer(content, np.uint8)

    def from_address(self, address: int) -> Host | None:
        """The memory from this address to the end of its array."""
        for array in self.arrays:
            if array.address <= address < array.address + array.host.nbytes:
                return array.host.view(np.uint8)[address - array.address :]
        return None

    def launch(self, woven: Woven, stream: Any, *args: Sequence[Any], **how: Any) -> None:
        """As `Woven.launch`."""
        assert how.pop("independent") is True
        how.pop("max_registers")
        self.launched.append((woven, stream))
        given = iter(p for p in woven.params if p.kernel)
        values = [[self.value(next(given), content) for content in own] for own in args]
        goptx.emulate(woven, args=values, **how, independent=True, seed=self.order)

    def alone(self, source: Any, grid: Any, block: Any, *args: Any, entry: str | None = None, shared: int = 0) -> None:
        """One launch without a region, as `Fusion.launch` takes it."""
        values = [self.from_address(a.address) if isinstance(a, Array) else a for a in args]
        goptx.emulate(source, grid, block, values, entry=entry, shared=shared)

    def value(self, param: Any, content: Any) -> object:
        if not isinstance(content, bytes):
            return self.from_address(content.address) if isinstance(content, Array) else content
        memory = self.from_address(int.from_bytes(content, "little")) if param.size == 8 else None
        return content if memory is None else memory


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    """Launches go to this device instead of to a GPU; the memos of regions are empty. What is fused does not depend on
    a GPU that is present."""
    made = Device()
    monkeypatch.setattr(load, "architecture", lambda: None)
    for memo in ("_COMPLETED", "_REPEATED", "_SEPARATE"):
        monkeypatch.setattr(completion, memo, Memo())
    monkeypatch.setattr(Woven, "launch", lambda woven, *args, **how: made.launch(woven, *args, **how))
    monkeypatch.setattr(Woven, "load", lambda woven, cap=None: made.loaded.append(woven))
    yield made
