"""The program that Nsight Compute runs: launches the kernels of a pickled `Subject`, and records the device's name.

All kernels are launched twice, each time on fresh data. Counting is switched on only for the second launches: the first
prove that the kernels run. Launches that make the data are never counted.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from goptx.device.load import current_device
from goptx.errors import GoptxError, InputError
from goptx.measuring.bench.device_buffers import Arrays
from goptx.measuring.bench.device_memory import Memory
from goptx.measuring.profiling.profiled_launches import Subject

GRACE = 10  # seconds above the limit after which it ends by itself, even if its parents have died


def main(question: str, answer: str, limit: str) -> None:
    end_after(math.ceil(float(limit)) + GRACE)
    try:
        result: dict[str, Any] = _run(pickle.loads(Path(question).read_bytes()))
    except GoptxError as error:
        result = {"problem": str(error), "input": isinstance(error, InputError)}
    except Exception as error:  # any error is reported by the parent
        result = {"problem": f"{type(error).__name__}: {error}", "input": False}
    Path(answer).write_text(json.dumps(result), encoding="utf-8")


def end_after(seconds: int) -> None:
    """Ends this process after so many seconds, even if it waits."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)
    else:  # Windows
        timer = threading.Timer(seconds, os._exit, [1])
        timer.daemon = True
        timer.start()


def _run(subject: Subject) -> dict[str, Any]:
    device = current_device()
    from cuda.bindings import driver

    stream = device.create_stream()
    arrays = Arrays(Memory(stream), subject.workload, {})
    for counting in (False, True):
        for kernel, arguments, shapes in subject.runs(list(arrays.arguments.values())):
            kernel.load()
            arrays.reset()
            stream.sync()
            if counting:
                driver.cuProfilerStart()
            kernel.launch(stream, *arguments, shapes=shapes, independent=True)
            stream.sync()
            if counting:
                driver.cuProfilerStop()
    return {"name": device.name, "arch": f"sm_{device.arch}"}


if __name__ == "__main__":
    main(*sys.argv[1:])
