"""The program that Nsight Compute runs: launches the forms of pickled groups, and counts each once.

    python -m profiles.program QUESTION PROGRESS

Forms that may hang are launched first, without counters, so that nothing that was counted is lost with them. Each form
is then launched on fresh data without counters, and again with them. What begins and what ends is written to PROGRESS,
a line each, so that it is known which form hangs: it ends this process. Launches that make the data are never counted.
"""

from __future__ import annotations

import json
import pickle
import signal
import sys
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import IO, Any

from goptx.device.load import current_device
from goptx.measuring.bench.baseline_runs import bound, prepared
from goptx.measuring.bench.device_buffers import Arrays
from goptx.measuring.bench.device_memory import Buffer, Memory
from profiles.work import Counted, Group

HANGS = 5  # seconds after which a launch, which takes milliseconds, counts as hanging
COUNTING = 60  # seconds for all passes of a counted launch


def main(question: str, progress: str) -> None:
    groups: Sequence[Group] = pickle.loads(Path(question).read_bytes())
    with Path(progress).open("a", encoding="utf-8") as log:
        _Launching(log).run(groups)


class _Launching:
    def __init__(self, log: IO[str]) -> None:
        from cuda.bindings import driver

        self.log, self.driver = log, driver
        self.device = current_device()
        self.stream = self.device.create_stream()
        self.memory = Memory(self.stream)
        self.cached: dict[Hashable, Buffer] = {}
        self.note("device", f"{self.device.name}, sm_{self.device.arch}")

    def note(self, what: str, name: str, problem: str = "") -> None:
        print(json.dumps([what, name, problem]), file=self.log, flush=True)

    def run(self, groups: Sequence[Group]) -> None:
        for group in groups:
            if risky := [one for one in group.counted if one.form.common is not None]:
                arrays = Arrays(self.memory, group.workload, self.cached)
                for one in risky:
                    self.launch(one, arrays, False)
                arrays.release()
        for group in groups:
            arrays = Arrays(self.memory, group.workload, self.cached)
            for one in group.counted:
                self.launch(one, arrays, False)
                self.launch(one, arrays, True)
            arrays.release()

    def launch(self, one: Counted, arrays: Arrays, counting: bool) -> None:
        woven, arguments = one.form.woven, list(arrays.arguments.values())
        alone = len(arguments) == 1
        start: Any = prepared(woven, arguments) if alone else bound(woven, one.form.cap, arguments, one.form.common)
        arrays.reset()
        self.stream.sync()
        self.note("begin", one.key)
        signal.alarm(COUNTING if counting else HANGS)
        try:
            if counting:
                self.driver.cuProfilerStart()
            start(self.stream)
            self.stream.sync()
            if counting:
                self.driver.cuProfilerStop()
        except Exception as error:  # such as an access out of bounds, after which the device does nothing more
            self.note("failed", one.key, f"{type(error).__name__}: {error}")
            raise
        signal.alarm(0)
        self.note("end", one.key)


if __name__ == "__main__":
    main(*sys.argv[1:])
