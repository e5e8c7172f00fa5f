"""The child process: runs a case that cases.py wrote, and prints what it measured.

    python measuring_child.py CASE.json SEED

Uses the driver and numpy only, nothing of goptx. Each way to run the kernels is timed in an order that changes with
each repetition. On the device: as CUDA graphs (streams as they are), after other work, so that launching takes no
time. Launched: from the host, on an idle device. Outputs of the tuned kernel are compared with those of the kernels
alone.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("CUDA_MODULE_LOADING", "EAGER")

import numpy as np

WARMUPS, REPEATS, LAUNCHED = 3, 20, 8
WRITTEN = 1 << 29  # bytes to write before a run: the device is busy with that while the host queues the run
PERIOD = 1 << 22  # random elements after which longer arrays repeat themselves
COMPARED = 1 << 26  # bytes of an output that are compared at its beginning, and as many at its end
POISON = 0xA5
TUNED = "tuned"

Run = Callable[[], None]


def main(path: Path, seed: int) -> None:
    device = Device(seed)
    bench = Bench(device, json.loads(path.read_text()), path.parent, seed)
    differences = bench.differences()
    print("RESULT " + json.dumps({"differences": differences, **bench.measured()}), flush=True)


class Device:
    """The first GPU, through the driver."""

    def __init__(self, seed: int) -> None:
        from cuda.bindings import driver

        self.driver = driver
        self.must(driver.cuInit(0))
        number = self.must(driver.cuDeviceGet(0))
        self.must(driver.cuCtxSetCurrent(self.must(driver.cuDevicePrimaryCtxRetain(number))))
        self.random = random.Random(seed)

    def must(self, answer: Any) -> Any:
        failed, *value = answer
        if failed:
            raise RuntimeError(f"the driver answers {failed.name}")
        return value[0] if value else None

    def stream(self) -> Any:
        return self.must(self.driver.cuStreamCreate(self.driver.CUstream_flags.CU_STREAM_NON_BLOCKING))

    def event(self, timed: bool = True) -> Any:
        flags = self.driver.CUevent_flags
        return self.must(self.driver.cuEventCreate(flags.CU_EVENT_DEFAULT if timed else flags.CU_EVENT_DISABLE_TIMING))

    def allocate(self, size: int) -> int:
        """Memory after a gap of another size each time."""
        self.must(self.driver.cuMemAlloc(self.random.randrange(1 << 20, 1 << 25)))
        return int(self.must(self.driver.cuMemAlloc(max(size, 256))))

    def function(self, cubin: bytes, entry: str, shared: int) -> Any:
        module = self.must(self.driver.cuModuleLoadData(cubin))
        function = self.must(self.driver.cuModuleGetFunction(module, entry.encode()))
        if shared:
            attribute = self.driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self.must(self.driver.cuFuncSetAttribute(function, attribute, shared))
        return function


class Array:
    """An array on the device, with a copy of its first content if it is read and written."""

    def __init__(self, device: Device, name: str, about: dict[str, Any], seed: int) -> None:
        self.device, self.role, self.dtype = device, about["role"], np.dtype(about["dtype"])
        self.size = about["length"] * self.dtype.itemsize
        self.address = device.allocate(self.size)
        if self.role != "out":
            self._fill(about, np.random.default_rng([seed, *name.encode()]))
        self.first = 0
        if self.role == "inout":
            self.first = device.allocate(self.size)
            device.must(device.driver.cuMemcpyDtoD(self.first, self.address, self.size))

    def _fill(self, about: dict[str, Any], generator: np.random.Generator) -> None:
        driver, must = self.device.driver, self.device.must
        if about["generator"] == "zeros":
            must(driver.cuMemsetD8(self.address, 0, self.size))
            return
        values = content(about, generator).astype(self.dtype)
        must(driver.cuMemcpyHtoD(self.address, values.ctypes.data, values.nbytes))
        done = values.nbytes
        while done < self.size:
            more = min(done, self.size - done)
            must(driver.cuMemcpyDtoD(self.address + done, self.address, more))
            done += more

    def reset(self, stream: Any) -> None:
        driver = self.device.driver
        if self.role == "inout":
            self.device.must(driver.cuMemcpyDtoDAsync(self.address, self.first, self.size, stream))
        elif self.role == "out":
            self.device.must(driver.cuMemsetD8Async(self.address, POISON, self.size, stream))

    def ends(self) -> np.ndarray[Any, Any]:
        """Bytes at its beginning and its end."""
        spans = [(0, self.size)]
        if self.size > 2 * COMPARED:
            spans = [(0, COMPARED), (self.size - COMPARED, COMPARED)]
        pieces = []
        for start, size in spans:
            piece = np.empty(size, np.uint8)
            self.device.must(self.device.driver.cuMemcpyDtoH(piece.ctypes.data, self.address + start, size))
            pieces.append(piece)
        return np.concatenate(pieces)


def content(about: dict[str, Any], generator: np.random.Generator) -> np.ndarray[Any, Any]:
    """The first elements of an array, or all of them."""
    length, low, high = about["length"], about["low"], about["high"]
    amount = min(length, PERIOD)
    made: np.ndarray[Any, Any]
    match about["generator"]:
        case "arange":
            made = np.arange(length)
        case "integers":
            made = generator.integers(int(low), int(high), amount)
        case "normal":
            made = generator.standard_normal(amount, np.float32) * high + low
        case _:
            made = generator.random(amount, np.float32) * (high - low) + low
    return made


class Launch:
    """One launch with its arguments."""

    def __init__(self, device: Device, about: dict[str, Any], arrays: dict[str, Array], folder: Path) -> None:
        self.device = device
        self.function = device.function((folder / about["cubin"]).read_bytes(), about["entry"], about["shared"])
        self.shape = (*_three(about["grid"]), *_three(about["block"]), about["shared"])
        contents = [
            arrays[a["array"]].address.to_bytes(8, "little") if "array" in a else bytes.fromhex(a["bytes"])
            for a in about["arguments"]
        ]
        self._contents = [ctypes.create_string_buffer(one, max(len(one), 8)) for one in contents]
        self._table = (ctypes.c_void_p * max(len(contents), 1))(*map(ctypes.addressof, self._contents))

    def __call__(self, stream: Any) -> None:
        table = ctypes.addressof(self._table)
        self.device.must(self.device.driver.cuLaunchKernel(self.function, *self.shape, stream, table, 0))


class Bench:
    """A case on the device."""

    def __init__(self, device: Device, case: dict[str, Any], folder: Path, seed: int) -> None:
        self.device, self.case = device, case
        names = list(case["arrays"])
        device.random.shuffle(names)
        self.arrays = {name: Array(device, name, case["arrays"][name], seed) for name in names}
        self.scratch = device.allocate(WRITTEN // 4)
        device.must(device.driver.cuCtxSynchronize())  # other streams do not wait for what makes the data
        self.stream = device.stream()
        kernels = [Launch(device, about, self.arrays, folder) for about in case["kernels"]]
        tuned = [Launch(device, about, self.arrays, folder) for about in case["tuned"]]
        self.sides = [device.stream() for _ in range(max(len(kernels), len(tuned)))]
        self.begin, *self.ends = [device.event(timed=False) for _ in range(len(self.sides) + 1)]
        self.ways: dict[str, tuple[Run, Run]] = {}  # as launched, and on the device
        self._add("separate", partial(self._in_turn, kernels))
        if not case["depends"] and len(kernels) > 1:
            for ending, ordered in (("", kernels), (", reversed", kernels[::-1])):
                forked = partial(self._forked, ordered)
                self.ways["streams" + ending] = forked, forked
                graph = self._graph(forked)
                self.ways["graph" + ending] = graph, graph
        if not case["streams"]:
            self._add(TUNED, partial(self._in_turn, tuned))
        else:
            graph = self._graph(partial(self._forked, tuned[::-1] if case["streams"] == "reversed" else tuned))
            self.ways[TUNED] = graph, graph

    def _add(self, name: str, run: Run) -> None:
        self.ways[name] = run, self._graph(run)

    def _in_turn(self, launches: Sequence[Launch]) -> None:
        for launch in launches:
            launch(self.stream)

    def _forked(self, launches: Sequence[Launch]) -> None:
        driver, must = self.device.driver, self.device.must
        first, *others = launches
        used = list(zip(others, self.sides, self.ends, strict=False))
        must(driver.cuEventRecord(self.begin, self.stream))
        first(self.stream)
        for launch, side, end in used:
            must(driver.cuStreamWaitEvent(side, self.begin, 0))
            launch(side)
            must(driver.cuEventRecord(end, side))
        for _, _, end in used:
            must(driver.cuStreamWaitEvent(self.stream, end, 0))

    def _graph(self, run: Run) -> Run:
        driver, must = self.device.driver, self.device.must
        must(driver.cuStreamBeginCapture(self.stream, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED))
        run()
        executable = must(driver.cuGraphInstantiate(must(driver.cuStreamEndCapture(self.stream)), 0))
        must(driver.cuGraphUpload(executable, self.stream))
        return lambda: must(driver.cuGraphLaunch(executable, self.stream))

    def _before(self) -> None:
        """Fresh inputs, and nothing of them in the cache."""
        for array in self.arrays.values():
            array.reset(self.stream)
        for _ in range(4):
            self.device.must(self.device.driver.cuMemsetD8Async(self.scratch, 0, WRITTEN // 4, self.stream))

    def _wait(self) -> None:
        self.device.must(self.device.driver.cuStreamSynchronize(self.stream))

    def differences(self) -> dict[str, Any]:
        """Of each written array: how many elements the tuned kernel leaves otherwise, and the largest difference."""
        found: dict[str, dict[str, np.ndarray[Any, Any]]] = {}
        written = [name for name, array in self.arrays.items() if array.role != "in"]
        written = [name for name in self.case.get("compared", written) if name in written]
        for way in ("separate", TUNED):
            self._before()
            self.ways[way][0]()
            self._wait()
            found[way] = {name: self.arrays[name].ends() for name in written}
        return {
            name: compared(found["separate"][name], found[TUNED][name], self.arrays[name].dtype) for name in written
        }

    def measured(self) -> dict[str, Any]:
        """Milliseconds of each run."""
        names = list(self.ways)
        device: dict[str, list[float]] = {name: [] for name in names}
        launched: dict[str, list[float]] = {name: [] for name in names}
        host: dict[str, list[float]] = {name: [] for name in names}
        for repetition in range(-WARMUPS, REPEATS):
            self.device.random.shuffle(names)
            self._before()
            self.ways[names[-1]][1]()
            marks = [(name, *self._queued(self.ways[name][1])) for name in names]
            self._wait()
            for name, begin, end in marks if repetition >= 0 else ():
                device[name].append(self._between(begin, end))
        for repetition in range(-1, LAUNCHED):
            self.device.random.shuffle(names)
            for name in names:
                self._before()
                self._wait()
                begin, spent, end = self._launched(self.ways[name][0])
                if repetition >= 0:
                    launched[name].append(self._between(begin, end))
                    host[name].append(1e6 * spent)
        return {
            "ms": rounded(device),
            "launched_ms": rounded(launched),
            "host_us": rounded(host, 1),
            "order": list(self.arrays),
        }

    def _queued(self, run: Run) -> tuple[Any, Any]:
        self._before()
        begin, end = self.device.event(), self.device.event()
        self.device.must(self.device.driver.cuEventRecord(begin, self.stream))
        run()
        self.device.must(self.device.driver.cuEventRecord(end, self.stream))
        return begin, end

    def _launched(self, run: Run) -> tuple[Any, float, Any]:
        begin, end = self.device.event(), self.device.event()
        self.device.must(self.device.driver.cuEventRecord(begin, self.stream))
        now = time.perf_counter()
        run()
        spent = time.perf_counter() - now
        self.device.must(self.device.driver.cuEventRecord(end, self.stream))
        self._wait()
        return begin, spent, end

    def _between(self, begin: Any, end: Any) -> float:
        return float(self.device.must(self.device.driver.cuEventElapsedTime(begin, end)))


def compared(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> dict[str, Any]:
    """How many elements of how many differ, and the largest difference of floats, relative to the larger of 1 and the
    element; the largest float where only one is a number."""
    bits = np.dtype(f"u{dtype.itemsize}")
    differs = one.view(bits) != other.view(bits)
    largest = 0.0
    if dtype.kind == "f" and differs.any():
        a, b = (values.view(dtype)[differs].astype(np.float64) for values in (one, other))
        with np.errstate(invalid="ignore", over="ignore"):
            distance = np.abs(a - b) / np.maximum(1.0, np.abs(a))
        distance[np.isnan(a) & np.isnan(b)] = 0.0
        largest = float(np.max(np.where(np.isnan(distance), np.finfo(np.float64).max, distance)))
    elements, of = int(np.count_nonzero(differs)), int(differs.size)
    return {"dtype": dtype.name, "elements": elements, "of": of, "largest": largest}


def rounded(times: dict[str, list[float]], digits: int = 5) -> dict[str, list[float]]:
    return {name: [round(one, digits) for one in own] for name, own in times.items()}


def _three(sizes: Sequence[int]) -> Iterator[int]:
    yield from (*sizes, 1, 1, 1)[:3]


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
