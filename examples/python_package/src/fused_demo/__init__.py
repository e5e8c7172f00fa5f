"""saxpy and mix in one launch: the PTX that was woven when this package was built, and how to launch it."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

GRID, BLOCK = 4096, 256  # of the woven kernel, as it was made
MOST_FLOATS, MOST_STATES = 4096 * 256, 2048 * 128


def ptx() -> str:
    return (files(__name__) / "saxpy_mix.ptx").read_text(encoding="utf-8")


def launch(stream: Any, saxpy: tuple[object, ...], mix: tuple[object, ...]) -> None:
    """y, x, a, n of saxpy and states, rounds, n of mix, through cuda.core: buffers, and scalars of numpy."""
    from cuda.core import LaunchConfig, ObjectCode
    from cuda.core import launch as start

    kernel = ObjectCode.from_ptx(ptx().encode()).get_kernel("saxpy_mix")
    start(stream, LaunchConfig(grid=GRID, block=BLOCK), kernel, *saxpy, *mix)
