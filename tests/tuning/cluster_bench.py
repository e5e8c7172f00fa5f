"""Benches for the workers of a cluster without GPUs: the emulator's counts are the times.

In a module of its own, since the workers have to import it. `FOLDER` names the folder in which they leave marks.
"""

import os
import signal
import time
from pathlib import Path
from typing import Any

from tuning.emulating_bench import EmulatingBench

from goptx.errors import DeviceError

FOLDER = "GOPTX_TEST_MARKS"
FATAL = "vertical x2 x2"  # the candidate with which a worker is lost


def first(what: str) -> bool:
    """Whether no worker has asked this before."""
    try:
        (Path(os.environ[FOLDER]) / what).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def made_by(seconds: float) -> int:
    """The process that made something in so much time."""
    time.sleep(seconds)
    return os.getpid()


class ClusterBench(EmulatingBench):
    """The bench of a worker."""

    def close(self) -> None:
        self.ms = {}


class Dying(ClusterBench):
    """The first worker that judges a certain candidate is killed."""

    def judge(self, key: str, *args: Any) -> Any:
        if key == FATAL and first("killed"):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().judge(key, *args)


class Failing(ClusterBench):
    """A GPU that can no longer be used from a certain candidate on: the first that judges it."""

    broken = False

    def judge(self, key: str, *args: Any) -> Any:
        self.broken = self.broken or (key == FATAL and first("broken"))
        if self.broken:
            raise DeviceError("the unchanged kernels cannot be measured: no answer within 300 s: it hangs")
        return super().judge(key, *args)

    def open(self, workload: Any) -> Any:
        if self.broken:
            raise DeviceError("the unchanged kernels cannot be measured: no answer within 300 s: it hangs")
        return super().open(workload)
