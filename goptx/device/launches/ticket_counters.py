"""Which counters a launch draws its tickets from, where grids are folded by tickets (weaving/folding/ticket_code.py).

Requires: kernels whose last parameter is the number of the launch's counters; all counters are 0 when a kernel is
loaded, and again when a launch has ended. Ensures: launches that may run at once have different numbers. Those on one
stream run one after the other, so they have one number; a launch that is captured has its own, because the graph may be
launched on any stream. A launch that is killed takes its context with it: what is loaded in the next one is new.
Imports CUDA only inside functions.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from goptx.device.load import Launcher, Starter, bindings, must
from goptx.errors import DeviceError
from goptx.launch.launch_plan import COUNTERS

if TYPE_CHECKING:
    from cuda.core import Kernel

    from goptx.device.launches.parameter_memory import ParameterMemory


class Counters:
    """Those of a loaded kernel."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._streams: dict[int, int] = {}  # numbers by the driver's ids of streams, which are not used again
        self._free = count(1)  # 0 is for launches that others make

    def of(self, stream: Any) -> int:
        """The number for a launch on the driver's stream."""
        driver = bindings()
        if int(must(driver.cuStreamIsCapturing(stream))):
            return self.new()
        id_ = int(must(driver.cuStreamGetId(stream)))
        found = self._streams.get(id_)
        if found is not None:
            return found
        with self._lock:
            return self._streams[id_] if id_ in self._streams else self._streams.setdefault(id_, self._next())

    def new(self) -> int:
        """A number that no other launch has. Raises `DeviceError` if there is none."""
        with self._lock:
            return self._next()

    def _next(self) -> int:
        number = next(self._free)
        if number >= COUNTERS:
            raise DeviceError(
                f"a kernel that draws tickets has counters for {COUNTERS - 1} streams and captured launches, and all "
                'are taken; launch on fewer streams, fuse it again, or give fold="static".'
            )
        return number


_COUNTERS: WeakKeyDictionary[Kernel, Counters] = WeakKeyDictionary()


def drawing(launcher: Launcher, kernel: Kernel) -> DrawingStarter:
    """Starts one kernel that draws tickets."""
    return DrawingStarter([launcher], _COUNTERS.setdefault(kernel, Counters()))


class DrawingStarter(Starter):
    """Passes to the one kernel that it starts the number of its counters."""

    def __init__(self, launchers: Sequence[Launcher], counters: Counters) -> None:
        super().__init__(launchers)
        self._counters = counters
        self._lock = threading.Lock()  # threads may launch at once with one memory

    def __call__(self, stream: Any, memory: ParameterMemory) -> None:
        made = self.driver_stream(stream)
        with self.passing(memory, self._counters.of(made)):
            self.launchers[0].start(made, memory.tables[0])

    def for_nodes(self) -> int:
        return self._counters.new()

    @contextmanager
    def passing(self, memory: ParameterMemory, number: int) -> Iterator[None]:
        with self._lock:
            memory.write_last(number)
            yield
