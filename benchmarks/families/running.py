"""Assembles and emulates cases, in batches that processes of their own can take, and launches them on a GPU.

Requires ptxas for the first part, a GPU and CuPy for the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from families.entry import HEADER, Case

import goptx
from goptx.device.assemble import assemble
from goptx.emulator.instructions.lanewise import Array
from goptx.errors import AssemblyError, GoptxError

ARCH = "sm_90a"
MOST_STEPS = 20_000  # instructions of a warp
BATCH = 48  # entries of a module


@dataclass(slots=True)
class Prepared:
    """A case's cubin, or why ptxas refuses it; and what the emulator leaves of its results, or why it does not."""

    entry: str
    cubin: bytes = b""
    refusal: str = ""
    emulated: list[Array] = field(default_factory=list)
    trouble: str = ""


def prepare(cases: Sequence[Case]) -> list[Prepared]:
    """In the order of the cases. What ptxas refuses is not emulated."""
    prepared = [Prepared(f"case_{i}") for i in range(len(cases))]
    _assemble(list(zip(cases, prepared, strict=True)))
    for case, each in zip(cases, prepared, strict=True):
        if each.cubin:
            try:
                each.emulated = emulate(case, each.entry)
            except GoptxError as error:
                each.trouble = f"{type(error).__name__}: {error}"
    return prepared


def _assemble(batch: list[tuple[Case, Prepared]]) -> None:
    """All in one module; if ptxas refuses it, each half on its own."""
    text = HEADER + "\n".join(case.text(each.entry) for case, each in batch)
    try:
        cubin = assemble(text, entry=batch[0][1].entry, arch=ARCH).cubin
    except AssemblyError as error:
        if len(batch) == 1:
            batch[0][1].refusal = _reason(error)
            return
        for half in (batch[: len(batch) // 2], batch[len(batch) // 2 :]):
            _assemble(half)
        return
    for _, each in batch:
        each.cubin = cubin


def _reason(error: AssemblyError) -> str:
    """The first line in which ptxas says what is wrong."""
    lines = [line.partition("error")[2].lstrip(" :") for line in str(error).splitlines() if "error" in line]
    return lines[0] if lines else str(error)


def emulate(case: Case, entry: str) -> list[Array]:
    arrays = [array.copy() for array in case.arrays]
    goptx.emulate(HEADER + case.text(entry), case.grid, case.block, arrays, entry=entry, max_steps=MOST_STEPS)
    return [arrays[result.array] for result in case.results]


def launch_on_gpu(case: Case, prepared: Prepared) -> list[Array]:
    """The results in the order of the case. Raises what CuPy or cuda.core raise where the kernel fails."""
    import cupy as cp

    from goptx.device.load import current_device, launch, load

    device = current_device()
    arrays = [cp.asarray(array) for array in case.arrays]
    cp.cuda.Device().synchronize()
    arguments: list[np.generic] = [np.uint64(array.data.ptr) for array in arrays]
    launch(load(prepared.cubin, prepared.entry), None, arguments, grid=case.grid, block=case.block)
    device.sync()
    return [np.asarray(cp.asnumpy(arrays[result.array])) for result in case.results]
