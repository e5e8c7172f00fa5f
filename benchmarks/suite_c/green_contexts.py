"""Green contexts as a peer: each kernel of a pair on SMs of its own, on two streams.

Needs a driver and a cuda-core that have them; `offered` says which partitions of the SMs there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from goptx.device.load import current_device
from goptx.measuring.bench.baseline_runs import Runnable, Start, prepared
from goptx.measuring.bench.workload import Workload

SHARES = (0.25, 0.5, 0.75)  # of the SMs, for the first kernel


@dataclass(frozen=True, slots=True)
class Partition:
    """Two green contexts that share out the SMs, and a stream of each."""

    name: str
    contexts: tuple[Any, ...]
    streams: tuple[Any, ...]


@cache
def partitions() -> tuple[Partition, ...]:
    """Of the current device, made once in a process."""
    from cuda.core import ContextOptions, SMResourceOptions

    device = current_device()
    whole = device.resources.sm
    step = max(whole.min_partition_size, whole.coscheduled_alignment)
    found = []
    for share in SHARES:
        count = step * max(1, round(share * whole.sm_count / step))
        groups, rest = whole.split(SMResourceOptions(count=count))
        contexts = tuple(device.create_context(ContextOptions(resources=[one])) for one in (groups[0], rest))
        name = f"green contexts, {groups[0].sm_count} and {rest.sm_count} SMs"
        found.append(Partition(name, contexts, tuple(context.create_stream() for context in contexts)))
    return tuple(found)


def offered(number: int) -> list[str]:
    """The names of the partitions of the device with that number, whose streams were tried. Raises what making them
    raises."""
    from cuda.core import Device

    device = Device(number)
    device.set_current()
    stream = device.create_stream()
    for partition in partitions():
        beside(stream, partition.streams, [lambda _: None] * 2)
    stream.sync()
    return [partition.name for partition in partitions()]


def green_runs(workload: Workload, arguments: Sequence[list[object]], stream: Any) -> Iterator[tuple[str, Runnable]]:
    """Each partition with its name, for two kernels."""
    if len(workload.each) != 2:
        return
    starts = [prepared(kernel, [own]) for kernel, own in zip(workload.each, arguments, strict=True)]
    for partition in partitions():
        run = partial(beside, stream, partition.streams, starts)
        yield partition.name, Runnable(run, run)


def beside(stream: Any, streams: Sequence[Any], starts: Sequence[Start]) -> None:
    """Each on a stream of its own: after what is on `stream`, and before what comes there later. Events are recorded by
    the stream that they are of, since each has a context of its own."""
    begun = stream.record()
    for start, own in zip(starts, streams, strict=True):
        own.wait(begun)
        start(own)
    for own in streams:
        stream.wait(own.record())
