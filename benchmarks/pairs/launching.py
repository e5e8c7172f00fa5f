"""A child process that launches the kernels of jobs on the GPU, alone and woven, and says where they differ.

Requires a GPU, cuda-python and CuPy. One job after the other comes through a pipe, each is answered by a dictionary;
after an error of the GPU the process ends, because nothing can be launched in it any more.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from pairs.job import Job, packed
from random_kernels.trial import Array


def serve(connection: Connection, device: str) -> None:
    """On that device, until None comes."""
    os.environ["CUDA_VISIBLE_DEVICES"] = device  # before CUDA begins
    import cupy as cp

    cp.zeros(1)  # so that the context is there before the first job's time begins
    connection.send({"ready": True})
    while (job := connection.recv()) is not None:
        try:
            answer = compared(job, connection)
        except Exception as error:
            connection.send({"problem": f"{type(error).__name__}: {error}"[:2000]})
            return
        connection.send(answer)


def compared(job: Job, connection: Connection) -> dict[str, Any]:
    """How many bytes the woven kernel leaves otherwise than its kernels alone, and these than the emulator, and whether
    the woven kernel has what the emulator has wherever it differs from them. Says when the kernels have run alone, so
    that it is known what hangs."""
    alone = launched(job, woven=False)
    connection.send({"alone": True})
    together = launched(job, woven=True)
    return {
        "woven": differences(alone, together),
        "emulated": differences(alone, job.emulated),
        "as emulated": not differences(together, job.emulated, alone)["count"],
        "bytes": sum(array.nbytes for array in alone.values()),
    }


def launched(job: Job, woven: bool) -> dict[str, Array]:
    """The arrays that are compared, by name, after the launches of the kernels alone or of the woven one, on fresh
    ones. What several launches have in common is one array."""
    import cupy as cp

    from goptx.device.load import current_device, launch, load

    data = job.data
    launches = job.together if woven else data.separate
    arrays = {id(v): v for _, values in launches for v in values if isinstance(v, np.ndarray) and v.ndim}
    held = {key: cp.asarray(value) for key, value in arrays.items()}
    cp.cuda.Device().synchronize()
    for number, values in launches:
        part = job.parts[number]
        arguments = packed(part, values, lambda array: np.uint64(held[id(array)].data.ptr))
        grid, block = part.shape.sizes("grid"), part.shape.sizes("block")
        launch(load(part.cubin, part.entry), None, arguments, grid=grid, block=block, shared=part.shape.shared or 0)
    current_device().sync()
    return {name: np.asarray(cp.asnumpy(held[id(array)])) for name, array in data.compared.items()}


def differences(
    one: Mapping[str, Array], other: Mapping[str, Array], where_not: Mapping[str, Array] | None = None
) -> dict[str, Any]:
    """How many bytes differ, and the first place where some do; those of `one` that are as in `where_not` are passed
    over."""
    count, first = 0, ""
    for name, a in one.items():
        b = other[name]
        unequal = _bytes(a) != _bytes(b)
        if where_not is not None:
            unequal &= _bytes(a) != _bytes(where_not[name])
        if unequal.any():
            count += int(np.count_nonzero(unequal))
            at = int(unequal.argmax()) // a.itemsize
            first = first or f"{name}, element {at}: {a.reshape(-1)[at]!s}, {b.reshape(-1)[at]!s}"
    return {"count": count, "first": first}


def _bytes(array: Array) -> Array:
    return np.ascontiguousarray(array).view(np.uint8)
