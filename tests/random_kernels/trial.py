"""What is run of a case: its kernels alone, one launch after the other, and the kernel that is made of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from goptx.launch.shape import Shape
from goptx.ptx.ir import Module
from goptx.results.fused_kernel import Woven

LETTERS = "ABC"
ORDERS = 2  # of the warps, in which the woven kernel is run
Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Data:
    """Fresh arguments; what several launches or kernels have in common is one array. `separate`: of each launch the
    kernel's number and its arguments. `together`: of the woven kernel, for each of its kernels. `compared`: what is
    left in the end, by name."""

    separate: list[tuple[int, list[object]]]
    together: list[list[object]]
    compared: dict[str, Array]


@dataclass(frozen=True, slots=True)
class Trial:
    """modules, shapes: of the kernels, launched alone. launch: how the woven kernel is launched, as `goptx.emulate`
    takes it: `shapes`, or `grid`, `block` and `shared`. woven: makes it. counted: whether it executes what has an
    effect as often as the kernels alone."""

    modules: list[Module]
    shapes: tuple[Shape, ...]
    launch: dict[str, Any]
    woven: Callable[[], Woven]
    data: Callable[[], Data]
    counted: bool = True
    orders: int = ORDERS
