"""Green contexts as a peer, with a device that only records what it is asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("cuda.core")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from suite_c import green_contexts
from suite_c.forms import workload
from suite_c.green_contexts import green_runs, partitions


class Stream:
    def __init__(self, name: str, journal: list[str]) -> None:
        self.name, self.journal = name, journal

    def record(self) -> str:
        return f"event of {self.name}"

    def wait(self, event: str) -> None:
        self.journal.append(f"{self.name} waits for {event}")


class Resource:
    min_partition_size = coscheduled_alignment = 8

    def __init__(self, sm_count: int) -> None:
        self.sm_count = sm_count

    def split(self, options: Any) -> tuple[list[Resource], Resource]:
        return [Resource(options.count)], Resource(self.sm_count - options.count)


class Device:
    def __init__(self, journal: list[str]) -> None:
        self.journal = journal
        self.resources = SimpleNamespace(sm=Resource(132))

    def create_context(self, options: Any) -> Any:
        (own,) = options.resources
        return SimpleNamespace(create_stream=lambda: Stream(f"{own.sm_count} SMs", self.journal))


@pytest.fixture
def journal(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    found: list[str] = []
    monkeypatch.setattr(green_contexts, "current_device", lambda: Device(found))
    monkeypatch.setattr(green_contexts, "prepared", lambda kernel, own: lambda on: found.append(f"kernel on {on.name}"))
    partitions.cache_clear()
    yield found
    partitions.cache_clear()


def test_three_partitions_in_steps_of_the_hardware(journal: list[str]) -> None:
    assert [partition.name for partition in partitions()] == [
        "green contexts, 32 and 100 SMs", "green contexts, 64 and 68 SMs", "green contexts, 96 and 36 SMs"
    ]  # fmt: skip


def test_each_kernel_runs_on_its_stream_between_what_comes_before_and_after(journal: list[str]) -> None:
    name, run = next(green_runs(workload("query and key norms, 8 tokens"), [[], []], Stream("first", journal)))
    assert name == "green contexts, 32 and 100 SMs" and run.launched is run.on_device
    run.on_device()
    assert journal == [
        "32 SMs waits for event of first", "kernel on 32 SMs", "100 SMs waits for event of first", "kernel on 100 SMs",
        "first waits for event of 32 SMs", "first waits for event of 100 SMs",
    ]  # fmt: skip


def test_groups_of_more_kernels_are_left_out(journal: list[str]) -> None:
    found = workload("three GEMVs, 1 token")
    assert list(green_runs(found, [[]] * 3, Stream("first", journal))) == []
