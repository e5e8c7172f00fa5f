"""The arguments of a workload on the device: buffers that are reset before each run, and compared after it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from goptx.errors import InputError
from goptx.launch.arguments import parameter_names
from goptx.launch.sample_data import sample
from goptx.launch.specification import Argument
from goptx.measuring.bench.device_memory import Buffer, Memory, OutOfMemory
from goptx.measuring.bench.workload import Workload, is_array

PERIOD = 1 << 24  # random elements after which longer arrays repeat themselves: many times what caches hold
COUNTED = 1 << 28  # bytes of a buffer, from its beginning, in which differences are counted


@dataclass(frozen=True, slots=True)
class Difference:
    """How a written buffer differs from the expected one: the number of elements, and the largest absolute difference
    of finite floating-point elements."""

    name: str
    elements: int
    largest: float = 0.0

    def __str__(self) -> str:
        size = f", by {self.largest:.3g} at most" if self.largest else ""
        return f"{self.name} differs in {self.elements} elements{size}" if self.elements else f"{self.name} is overrun"


class Arrays:
    """Buffers of one workload. `cached` are buffers of described arrays, by their descriptions; later workloads reuse
    them."""

    def __init__(self, memory: Memory, workload: Workload, cached: dict[Hashable, Buffer]) -> None:
        self.memory, self.cached, self.tolerance = memory, cached, workload.tolerance
        self.arguments: dict[str, list[object]] = {letter: [] for letter in workload.separate.report.kernels}
        self.written: dict[int, tuple[str, Buffer]] = {}  # by address
        self._used: dict[Hashable, Buffer] = {}
        self._own: dict[int, Buffer] = {}  # by the identity of a numpy array
        given = workload.params
        names = parameter_names([param for param, _ in given])
        for param, value in reversed(given) if memory.gap else ():
            if isinstance(value, Argument) and is_array(param, value) and param.kernel:
                self._described(value, param.kernel, workload.seed)
        for (param, value), name in zip(given, names, strict=True):
            assert param.kernel
            argument = value
            if is_array(param, value):
                described = isinstance(value, Argument)
                buffer = self._described(value, param.kernel, workload.seed) if described else self._given(value)
                if param.access not in ("none", "read"):
                    self.written.setdefault(buffer.address, (name, buffer))
                    if not buffer.first and not _poisoned(value, param.access):
                        self._allocated(lambda b=buffer: memory.save(b))
                argument = buffer.address
            elif isinstance(value, Argument):
                argument = sample(value)
            self.arguments[param.kernel].append(argument)

    def reset(self) -> int:
        """Restores the inputs and poisons the outputs; gives how many bytes were written."""
        return sum(self.memory.reset(buffer) for _, buffer in self.written.values())

    def outputs(self) -> dict[int, int]:
        """Copies of the written buffers, by their addresses."""
        copies = {}
        for address, (_, buffer) in self.written.items():
            copies[address] = self._allocated(lambda b=buffer: self.memory.allocate(b.whole))
            self.memory.copy(copies[address], address, buffer.whole)
        return copies

    def differences(self, expected: dict[int, int]) -> list[Difference]:
        """How the written buffers differ from such copies."""
        return [
            self._difference(name, buffer, expected[address])
            for address, (name, buffer) in self.written.items()
            if self.memory.differ(address, expected[address], buffer.whole)
        ]

    def within_tolerance(self, found: Sequence[Difference]) -> bool:
        return all(d.elements and self.tolerance is not None and 0 < d.largest <= self.tolerance for d in found)

    def release(self) -> None:
        """Frees the buffers that no other workload can use."""
        for buffer in self._own.values():
            self.memory.free(buffer.address)
            self.memory.free(buffer.first)
        self._own.clear()

    def _difference(self, name: str, buffer: Buffer, expected: int) -> Difference:
        size = min(buffer.size, COUNTED) // buffer.dtype.itemsize * buffer.dtype.itemsize
        one, other = (self.memory.read(a, size, np.dtype(np.uint8)) for a in (buffer.address, expected))
        bits = np.dtype(f"u{buffer.dtype.itemsize}") if buffer.dtype.itemsize in (1, 2, 4, 8) else np.dtype(np.uint8)
        differs = one.view(bits) != other.view(bits)
        largest = 0.0
        if buffer.dtype.kind == "f" and differs.any():
            with np.errstate(invalid="ignore", over="ignore"):
                a, b = (values.view(buffer.dtype)[differs].astype(np.float64) for values in (one, other))
                distance = np.abs(a - b)
            largest = float(np.max(np.where(np.isnan(distance), np.inf, distance)))
        return Difference(name, int(np.count_nonzero(differs)), largest)

    def _described(self, argument: Any, letter: str, seed: int) -> Buffer:
        key = argument, letter, seed
        if key not in self.cached:
            dtype = np.dtype(argument.dtype)
            buffer: Buffer = self._allocated(lambda: self.memory.buffer(dtype, argument.length * dtype.itemsize))
            self.cached[key] = buffer
            self._fill(buffer, argument, (seed, ord(letter)))
            if argument.role == "inout":
                self._used[key] = buffer
                self._allocated(lambda: self.memory.save(buffer))
        self._used[key] = self.cached[key]
        return self.cached[key]

    def _fill(self, buffer: Buffer, argument: Argument, seeds: tuple[int, int]) -> None:
        if argument.role == "out":
            return
        if argument.generator == "zeros":
            self.memory.fill(buffer.address, 0, buffer.size)
            return
        length = argument.length if argument.generator == "arange" else min(argument.length, PERIOD)
        values = np.asarray(sample(replace(argument, length=length), *seeds))
        self.memory.write(buffer.address, values)
        done = values.nbytes
        while done < buffer.size:
            more = min(done, buffer.size - done)
            self.memory.copy(buffer.address + done, buffer.address, more)
            done += more

    def _given(self, array: Any) -> Buffer:
        if id(array) not in self._own:
            flat = np.ascontiguousarray(array).reshape(-1)
            buffer: Buffer = self._allocated(lambda: self.memory.buffer(flat.dtype, flat.nbytes))
            self._own[id(array)] = buffer
            if flat.nbytes:
                self.memory.write(buffer.address, flat)
        return self._own[id(array)]

    def _allocated(self, make: Any) -> Any:
        """The result of `make`, which allocates memory. If there is too little, cached buffers that this workload does
        not use are freed first."""
        while True:
            try:
                return make()
            except OutOfMemory as error:
                key = next((k for k in self.cached if k not in self._used), None)
                if key is None:
                    raise InputError(f"{error}: give shorter arrays") from None
                buffer = self.cached.pop(key)
                self.memory.free(buffer.address)
                self.memory.free(buffer.first)


def _poisoned(value: object, access: str) -> bool:
    """Whether the initial content of the array does not matter."""
    return isinstance(value, Argument) and value.role == "out" and access == "written"
