"""Buffers of a workload: what is made anew for each run, and what differs after it. Device memory is a stand-in."""

from typing import Any

import numpy as np
import pytest
from tuning.fake_bench import ARGS, PLUS, SHAPES, TIMES

from goptx.errors import InputError
from goptx.launch.sample_data import POISON, sample
from goptx.launch.specification import Argument
from goptx.measuring.bench.device_buffers import Arrays, Difference
from goptx.measuring.bench.device_memory import GUARD, Buffer, OutOfMemory
from goptx.measuring.bench.workload import Workload
from goptx.tuning.measured import measured


class Host:
    """As `Memory`, in the host's. Holds no more than `limit` bytes."""

    def __init__(self, limit: int = 1 << 20) -> None:
        self.limit = limit
        self.gap = 0
        self.blocks: dict[int, np.ndarray[Any, np.dtype[np.uint8]]] = {}
        self.next = 1 << 20

    def allocate(self, size: int) -> int:
        if sum(block.size for block in self.blocks.values()) + size > self.limit:
            raise OutOfMemory(f"the device has no memory for {size} bytes more")
        self.next += 1 << 20
        self.blocks[self.next] = np.zeros(size, np.uint8)
        return self.next

    def free(self, address: int) -> None:
        if address:
            del self.blocks[address]

    def buffer(self, dtype: np.dtype[Any], size: int) -> Buffer:
        made = Buffer(0, size, dtype)
        made.address = self.allocate(made.whole)
        self.fill(made.address, POISON, made.whole)
        return made

    def save(self, buffer: Buffer) -> None:
        buffer.first = buffer.first or self.allocate(buffer.whole)
        self.copy(buffer.first, buffer.address, buffer.whole)

    def reset(self, buffer: Buffer) -> int:
        if buffer.first:
            self.copy(buffer.address, buffer.first, buffer.whole)
        else:
            self.fill(buffer.address, POISON, buffer.whole)
        return buffer.whole

    def at(self, address: int, size: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        start = max(a for a in self.blocks if a <= address)
        assert address - start + size <= self.blocks[start].size
        return self.blocks[start][address - start :][:size]

    def copy(self, to: int, source: int, size: int) -> None:
        self.at(to, size)[:] = self.at(source, size)

    def fill(self, address: int, byte: int, size: int) -> None:
        self.at(address, size)[:] = byte

    def write(self, address: int, values: np.ndarray[Any, np.dtype[Any]]) -> None:
        self.at(address, values.nbytes)[:] = values.reshape(-1).view(np.uint8)

    def read(self, address: int, size: int, dtype: np.dtype[Any]) -> np.ndarray[Any, np.dtype[Any]]:
        return self.at(address, size).copy().view(dtype)

    def differ(self, one: int, other: int, size: int) -> bool:
        return bool((self.at(one, size) != self.at(other, size)).any())


def arrays(memory: Host, workload: Workload, cached: dict[Any, Any] | None = None) -> Arrays:
    return Arrays(memory, workload, {} if cached is None else cached)  # type: ignore[arg-type]


def workload(**how: Any) -> Workload:
    return measured([PLUS, TIMES], **{"shapes": SHAPES, "args": ARGS, **how}).workload


def test_described_data_is_that_of_the_emulator() -> None:
    memory = Host()
    made = arrays(memory, workload(seed=3))
    for letter in "AB":
        address, _, number = made.arguments[letter]
        argument = Argument("in", "uint32", None, 256, "integers", 0, 100, 0, "inout")
        expected = np.asarray(sample(argument, 3, ord(letter)))
        np.testing.assert_array_equal(memory.read(int(address), 1024, np.dtype(np.uint32)), expected)  # type: ignore[call-overload]
        assert number == np.uint32({"A": 3, "B": 5}[letter])
    assert [name for name, _ in made.written.values()] == ["A:1 (plus_out)", "B:1 (times_out)"]


def test_what_was_written_is_made_anew_and_compared_with_its_guard() -> None:
    memory = Host()
    made = arrays(memory, workload())
    expected = made.outputs()
    first, second = made.written
    assert made.differences(expected) == []
    memory.write(first + 40, np.full(3, 7, np.uint32))
    assert [str(d) for d in made.differences(expected)] == ["A:1 (plus_out) differs in 3 elements"]
    memory.write(second + 1024 + GUARD - 4, np.full(1, 7, np.uint32))  # the last word of the guard
    assert [str(d) for d in made.differences(expected)][1:] == ["B:1 (times_out) is overrun"]
    assert not made.within_tolerance(made.differences(expected))
    assert made.reset() == 2 * (1024 + GUARD)
    assert made.differences(expected) == []


def test_outputs_of_a_specification_are_poisoned() -> None:
    out = Argument("out", "uint32", length=256, role="out")
    memory = Host()
    made = arrays(memory, workload(args={**ARGS, "A:1": out}))
    first = next(iter(made.written))
    memory.fill(first, 0, 1024)
    made.reset()
    assert (memory.read(first, 1024, np.dtype(np.uint8)) == POISON).all()


def test_arrays_of_numpy_are_one_buffer_wherever_they_stand() -> None:
    shared, one, two = np.arange(256, dtype=np.uint32), np.zeros(256, np.uint32), np.zeros(256, np.uint32)
    memory = Host()
    made = arrays(memory, workload(args=[[shared, one, 3], [shared, two, 5]]))
    assert made.arguments["A"][0] == made.arguments["B"][0] != made.arguments["A"][1]
    memory.fill(int(made.arguments["A"][1]), 1, 1024)  # type: ignore[call-overload]
    made.reset()
    assert not memory.read(int(made.arguments["A"][1]), 1024, np.dtype(np.uint32)).any()  # type: ignore[call-overload]
    made.release()
    assert memory.blocks == {}


def test_described_buffers_serve_the_next_workload_while_there_is_memory() -> None:
    memory, cached = Host(20_000), {}  # type: ignore[var-annotated]
    first = arrays(memory, workload(), cached)
    again = arrays(memory, workload(), cached)
    assert first.arguments == again.arguments
    longer = {key: text.replace("256", "512") for key, text in ARGS.items()}
    arrays(memory, workload(args=longer), cached)  # takes the place of those
    assert len(cached) == 4 and {buffer.size for buffer in cached.values()} == {2048}
    with pytest.raises(InputError, match=r"the device has no memory for .* bytes more: give shorter arrays"):
        arrays(memory, workload(args={**ARGS, "A:0": "u32[5000]"}), cached)


def test_distances_of_floating_point_results() -> None:
    memory = Host()
    given = {**ARGS, "A:1": "f32[256]:zeros", "B:1": "f16[256]:zeros"}
    made = arrays(memory, workload(args=given, tolerance=0.25))
    expected = made.outputs()
    first, second = made.written
    memory.write(first, np.array([0.125, -0.25], np.float32))
    (found,) = made.differences(expected)
    assert (str(found), found.largest) == ("A:1 (plus_out) differs in 2 elements, by 0.25 at most", 0.25)
    assert made.within_tolerance([found])
    memory.write(second, np.array([0.5], np.float16))
    assert [made.within_tolerance([d]) for d in made.differences(expected)] == [True, False]
    memory.write(first, np.array([np.nan], np.float32))
    assert str(made.differences(expected)[0]) == "A:1 (plus_out) differs in 2 elements, by inf at most"
    memory.write(first, np.array([-0.0, 0.0], np.float32))
    signed = made.differences(expected)[0]
    assert (signed.elements, signed.largest) == (1, 0.0) and not made.within_tolerance([signed])


def test_differences_as_text() -> None:
    assert str(Difference("A:1", 0)) == "A:1 is overrun"
    assert str(Difference("A:1", 2)) == "A:1 differs in 2 elements"
    assert str(Difference("A:1", 2, 1e-7)) == "A:1 differs in 2 elements, by 1e-07 at most"
