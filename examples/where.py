"""Where the notebooks run: on the GPU that is here, with CuPy, or else on the emulator of goptx.

On a GPU kernels have the size that their specifications say (kernels/*.toml), on the emulator the size for checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os.path import relpath
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import goptx
from goptx.launch.sample_data import sample
from goptx.launch.specification import Launch, read_specification

KERNELS = Path(relpath(Path(__file__).parent / "kernels"))
RUNS = 20  # that are timed

try:
    import cupy

    GPU = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
except Exception as error:  # no CuPy, no driver, or no GPU
    GPU = ""
    WHERE = f"No GPU here ({type(error).__name__}): kernels run on the emulator, in small sizes, and nothing is timed."
else:
    WHERE = f"Kernels run on an {GPU}."


@dataclass(frozen=True)
class Kernel:
    """A kernel of examples/kernels and a launch of it, `small` enough for the emulator or as the specification says."""

    path: Path
    shape: goptx.Shape
    launch: Launch
    small: bool

    def arguments(self) -> list[Any]:
        """Fresh ones, every time of the same data: arrays, where the kernel will run, and numpy scalars."""
        made = [sample(argument, number) for number, argument in enumerate(self.launch.arguments)]
        return made if self.small else [cupy.asarray(value) if np.ndim(value) else value for value in made]


def kernel(name: str, small: bool = not GPU) -> Kernel:
    """Such as "harris"."""
    (launch,) = read_specification(KERNELS / f"{name}.toml")
    launch = launch.small() if small else launch
    return Kernel(KERNELS / f"{name}.sm_90.ptx", goptx.Shape(launch.grid, launch.block, launch.shared), launch, small)


def run(fused: goptx.Woven, *arguments: Sequence[Any]) -> None:
    """Launches a kernel that was made for given shapes, or emulates it; waits for its end."""
    if GPU:
        fused.launch(cupy.cuda.get_current_stream(), *arguments)
        cupy.cuda.get_current_stream().synchronize()
    else:
        goptx.emulate(fused, args=arguments)


def milliseconds(fused: goptx.Woven, *arguments: Sequence[Any]) -> float | None:
    """The median of a few launches; None on the emulator, whose time says nothing."""
    if not GPU:
        return None
    stream = cupy.cuda.get_current_stream()
    times: list[float] = []
    fused.launch(stream, *arguments)
    for _ in range(RUNS):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record(stream)
        fused.launch(stream, *arguments)
        end.record(stream)
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(begin, end))
    return median(times)


def largest_difference(one: Sequence[Sequence[Any]], other: Sequence[Sequence[Any]]) -> float:
    """Between the arrays of two lists of arguments; 0.0 where all are equal."""
    pairs = [(a, b) for x, y in zip(one, other, strict=True) for a, b in zip(x, y, strict=True) if np.ndim(a)]
    return max(float(abs(a.astype(np.float64) - b.astype(np.float64)).max()) for a, b in pairs)
