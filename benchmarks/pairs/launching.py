"""A child process that launches the kernels of jobs on the GPU, alone and woven, and says where they differ.

Requires a GPU, cuda-python and CuPy. One job after the other comes through a pipe, each is answered by a dictionary;
after an error of the GPU the process ends, because nothing can be launched in it any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from pairs.job import Job, Part
from random_kernels.pairs import LETTERS

from goptx.arguments import pack_arguments

Arrays = list[Any]


def serve(connection: Connection) -> None:
    """Until None comes."""
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
    """How many bytes the woven kernel leaves otherwise than its kernels alone, and these than the emulator. Says when
    the kernels have run alone, so that it is known what hangs."""
    every = range(len(job.shapes))
    alone = [launched(job, [k])[0] for k in every]
    connection.send({"alone": True})
    woven = launched(job, every)
    return {
        "woven": differences(alone, woven),
        "emulated": differences(alone, job.emulated),
        "bytes": sum(array.nbytes for arrays in alone for array in arrays),
    }


def launched(job: Job, kernels: Sequence[int]) -> list[Arrays]:
    """The arrays of each of these kernels after a launch on fresh ones: of the woven kernel if they are several."""
    import cupy as cp

    from goptx.device.launch import current_device, launch, load

    device = current_device()
    part: Part = job.parts[kernels[0] if len(kernels) == 1 else -1]
    held: list[Arrays] = []
    values: list[object] = []
    for k in kernels:
        held.append([])
        for value in job.arguments[k]:
            if isinstance(value, np.ndarray) and value.ndim:
                held[-1].append(cp.asarray(value))
                values.append(np.uint64(held[-1][-1].data.ptr))
            else:
                values.append(value)
    cp.cuda.Device().synchronize()
    if len(kernels) > 1:
        values += job.hidden
    packed = pack_arguments(part.params, values)
    grid, block = part.shape.sizes("grid"), part.shape.sizes("block")
    launch(load(part.cubin, part.entry), None, packed, grid=grid, block=block, shared=part.shape.shared or 0)
    device.sync()
    return [[np.asarray(cp.asnumpy(array)) for array in arrays] for arrays in held]


def differences(one: Sequence[Arrays], other: Sequence[Arrays]) -> dict[str, Any]:
    """How many bytes differ, and the first place where some do."""
    count, first = 0, ""
    for letter, arrays, others in zip(LETTERS, one, other, strict=False):
        for number, (a, b) in enumerate(zip(arrays, others, strict=True)):
            unequal = np.ascontiguousarray(a).view(np.uint8) != np.ascontiguousarray(b).view(np.uint8)
            if unequal.any():
                count += int(np.count_nonzero(unequal))
                at = int(unequal.argmax()) // a.itemsize
                first = (
                    first or f"array {number} of {letter}, element {at}: {a.reshape(-1)[at]!s}, {b.reshape(-1)[at]!s}"
                )
    return {"count": count, "first": first}
