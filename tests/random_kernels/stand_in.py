"""A process that replaces the one that launches kernels; in a module of its own, since a new process must import it."""

import os
import time
from multiprocessing.connection import Connection

HANGS = 4  # seconds after which a test gives up a child


def serve(connection: Connection, device: str) -> None:
    """The name of a job decides how it ends."""
    from pairs.job import Job  # of benchmarks, which has to be there before a job comes

    connection.send({"ready": True})
    while True:
        job: Job = connection.recv()
        what = job.name.split()[0]
        if what == "ends":
            os._exit(3)
        if what == "hangs":
            time.sleep(600)
        connection.send({"alone": True})
        if what == "woven-hangs":
            time.sleep(600)
        connection.send({"problem": "CUDAError: no"} if what == "fails" else {"device": device})
