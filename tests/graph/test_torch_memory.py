"""The arrays of torch's allocator, now and while a graph was captured, with a stand-in for torch."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

import goptx
from goptx.device.graphs import torch_memory

POOL = {"address": 0x10000, "total_size": 0x4000, "segment_pool_id": (0, 1)}
MAIN = {"address": 0x20000, "total_size": 0x4000, "segment_pool_id": (0, 0)}
BLOCKS = [{"size": 0x1000, "state": "active_allocated"}, {"size": 0x3000, "state": "inactive"}]


class Memory:
    """What torch.cuda.memory has: the allocator's history, while it is recorded."""

    def __init__(self) -> None:
        self.history: list[dict[str, Any]] = []
        self.recording: list[object] = []

    def _snapshot(self) -> Any:
        return {"device_traces": [self.history]}

    def _record_memory_history(self, enabled: object, context: object = "all") -> None:
        self.recording.append(enabled)
        assert enabled is None or context is None  # stacks cost much


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Memory:
    made = Memory()
    segments = [segment | {"blocks": BLOCKS} for segment in (POOL, MAIN)]
    cuda = SimpleNamespace(is_initialized=lambda: True, memory=made, memory_snapshot=lambda: segments)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    return made


def entry(action: str, address: int, size: int) -> dict[str, Any]:
    return {"action": action, "addr": address, "size": size}


def test_arrays_of_the_capture_are_collected(memory: Memory) -> None:
    with goptx.collect() as kernels:
        memory.history += [entry("alloc", 0x11000, 1000), entry("segment_alloc", 0x10000, 0x4000)]
        memory.history += [entry("free_requested", 0x11000, 1000), entry("alloc", 0x11000, 3000)]
    assert kernels.arrays == [(0x11000, 0x11000 + 1024), (0x11000, 0x11000 + 3072)]
    assert memory.recording == ["all", None]


def test_a_history_that_the_program_records_goes_on(memory: Memory) -> None:
    memory.history.append(entry("alloc", 0x11000, 512))
    with goptx.collect() as kernels:
        pass
    assert memory.recording == []
    assert kernels.arrays == [(0x11000, 0x11200)]


def test_the_history_ends_after_an_exception(memory: Memory) -> None:
    with pytest.raises(ZeroDivisionError), goptx.collect():
        _ = 1 / 0
    assert memory.recording == ["all", None]


def test_in_a_pool_arrays_of_now_and_then_are_extents(memory: Memory) -> None:
    past = [(0x11000, 0x11400), (0x11000, 0x11C00), (0x30000, 0x30200)]
    found = torch_memory.arrays(past)
    assert found == [(0x10000, 0x11000), *past[:2], (0x20000, 0x21000)]
    assert torch_memory.arrays() == [(0x10000, 0x14000), (0x20000, 0x21000)]


def test_another_torch_has_no_history(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(Memory, "_record_memory_history")
    with goptx.collect() as kernels:
        pass
    assert kernels.arrays == []


def test_without_torch_there_are_no_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert (torch_memory.record(), torch_memory.recorded(stop=True), torch_memory.arrays()) == (False, [], [])
