"""Each kernel alone on a GPU, in its real size, beside its reference, in a process of its own: it may hang."""

from __future__ import annotations

import time
from multiprocessing.connection import Connection
from typing import Any

from measuring import Data, Single

import goptx
from goptx.device.child_process import Child, Lost
from suite_b import launches_of
from suite_b.references import problem

LIMIT = 90  # seconds for a kernel, with its reference


def alone(kernels: tuple[str, ...], small: bool = False) -> dict[str, dict[str, Any]]:
    """Of each kernel: "problem", empty if it writes what the reference says; registers and launch."""
    child, found = Child(serve), {}
    try:
        for kernel in kernels:
            try:
                found[kernel] = child.ask((kernel, small), LIMIT)
            except Lost as error:
                found[kernel] = {"problem": str(error)}
    finally:
        child.end()
    return found


def serve(connection: Connection) -> None:
    """Answers with what `compared` finds, until the connection is closed."""
    while True:
        try:
            kernel, small = connection.recv()
        except EOFError:
            return
        try:
            connection.send(compared(kernel, small))
        except Exception as error:  # any error is reported by the parent
            connection.send({"problem": f"{type(error).__name__}: {error}"})


def compared(kernel: str, small: bool = False) -> dict[str, Any]:
    """The kernel, run once on poisoned outputs, beside its reference."""
    from goptx.device.load import current_device, launch, load

    begin = time.monotonic()
    (one,) = launches_of(kernel)
    one = one.small() if small else one
    device = current_device()
    data, single = Data(one, 0), Single(one.file)
    data.reset(0xA5)
    given = _by_name(data)
    given |= {name: array.copy() for name, array in data.written.items()}
    made = single.assembly(True)
    stream = device.create_stream()
    device.sync()
    launch(
        load(made.cubin, single.name), stream, single.pack(data.arguments),
        grid=one.grid, block=one.block, shared=one.shared,
    )  # fmt: skip
    device.sync()
    return {
        "problem": problem(kernel, given, data.written),
        "registers": made.registers,
        "shape": str(goptx.Shape(one.grid, one.block, one.shared)),
        "seconds": round(time.monotonic() - begin, 1),
    }


def _by_name(data: Data) -> dict[str, Any]:
    return {argument.name: value for argument, value in zip(data.launch.arguments, data.arguments, strict=True)}
