"""Processes that replace the measuring process; in a module of their own, since a new process must import them."""

import os
import time
from multiprocessing.connection import Connection

from goptx.device.latency.jobs import Answer, Device, Job, Timed

DEVICE = Device("Imaginary", "sm_90", "580.1", "13.0", 1980, 3201)


def honest(connection: Connection, pace: bytes) -> None:
    """Each repetition takes 5 cycles, the clock 100; the name of a job may ask for faulty behaviour."""
    connection.send(DEVICE)
    while True:
        job: Job = connection.recv()
        if job.name == "hangs":
            time.sleep(600)
        if job.name == "ends":
            os._exit(3)
        if job.name == "breaks":
            connection.send(Answer(problem="the driver answers CUDA_ERROR_ILLEGAL_ADDRESS", broken=True))
            return
        if job.name == "refused":
            connection.send(Answer(problem="the driver refuses kernel"))
            continue
        timed = tuple(Timed(one.kind, ((180, 420), (180, 421), (180, 430)), b"") for one in job.launches)
        connection.send(Answer(timed, 1700.0 + len(job.name)))


def without_device(connection: Connection, pace: bytes) -> None:
    connection.send(Answer(problem="no usable NVIDIA GPU", broken=True))
