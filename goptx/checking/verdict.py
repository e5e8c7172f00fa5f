"""What a check found: what was run on what, and where the woven kernel differs from its kernels alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from goptx.analysis.values.ranges import Extent
from goptx.checking.inputs import Input
from goptx.display import as_html, as_text, brief
from goptx.errors import CheckFailed, EmulationFault, GoptxError
from goptx.launch.shape import Shape
from goptx.results.report import Report

Host = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Difference:
    """An array that two runs leave in different states: how many of its elements differ, and the first that does
    with both values."""

    __repr__ = brief

    parameter: str
    count: int
    length: int
    index: int
    alone: str
    woven: str

    def __str__(self) -> str:
        return f"{self.parameter}[{self.index}] is {self.woven}, not {self.alone}; {self.count} of {self.length} differ"


@dataclass(frozen=True, slots=True)
class Checked:
    """One kernel: its letter, entry, file, by name of the parameter (`A:2 (n)`) what it was run on, and its launch."""

    __repr__ = brief

    letter: str
    name: str
    source: str
    inputs: dict[str, Input]
    shape: Shape


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of `goptx.check`; true if the woven kernel did what its kernels do alone.

    shape: of the woven kernel's launch, and of every other if kernels do not differ in it.
    orders: the seeds of the orders in which warps ran, each once for every kernel.
    compared: bytes, all arrays together.
    differences: from the first order in which there were some; fault: what the woven kernel did wrong instead.
    undefined: temporaries, by the names of their parameters, which are not compared.
    """

    __repr__ = brief

    name: str
    kernels: tuple[Checked, ...]
    shape: Shape
    seed: int
    orders: tuple[int, ...]
    compared: int
    differences: tuple[Difference, ...]
    fault: EmulationFault | None
    report: Report
    undefined: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.passed

    @property
    def passed(self) -> bool:
        """Whether the woven kernel ran without a fault and wrote what its kernels write alone, bit for bit."""
        return self.failure is None

    @property
    def failure(self) -> GoptxError | None:
        """Why it did not pass, ready to be raised: the woven kernel's fault, or `CheckFailed`."""
        if self.fault is not None:
            return self.fault
        if not self.differences:
            return None
        listed = "\n  ".join(map(str, self.differences))
        return CheckFailed(
            f"{self.name} writes other values than its kernels alone:\n  {listed}\n"
            "Launch the kernels separately. If they are independent, this is a fault of goptx; please report it."
        )

    @property
    def grid(self) -> Extent:
        """CTAs of the woven kernel."""
        return self.shape.sizes("grid")

    @property
    def block(self) -> Extent:
        """Threads of one of them."""
        return self.shape.sizes("block")

    @property
    def shared(self) -> int:
        """Bytes of dynamic shared memory of one of them."""
        return self.shape.shared or 0

    def to_dict(self) -> dict[str, Any]:
        """For JSON: the report of the weaving, and beside it what was checked."""
        failure = self.failure
        return self.report.to_dict() | {
            "passed": self.passed,
            "failure": f"{type(failure).__name__}: {failure}" if failure else None,
            "grid": self.grid,
            "block": self.block,
            "shared": self.shared,
            "shapes": {k.letter: str(k.shape) for k in self.kernels},
            "seed": self.seed,
            "orders": self.orders,
            "bytes_compared": self.compared,
            "undefined": self.undefined,
            "arguments": {n: [value_said(i.value), i.source] for k in self.kernels for n, i in k.inputs.items()},
            "differences": [{f: getattr(d, f) for f in d.__slots__} for d in self.differences],
        }

    _repr_pretty_ = as_text

    _repr_html_ = as_html

    def __str__(self) -> str:
        if self.failure is None:
            first = f"{self.name} does what its kernels do alone: all {self.compared} bytes are equal."
        else:
            first = f"{type(self.failure).__name__}: {self.failure}"
        lines = [first, f"{launch_said(self.shape)}, seed {self.seed}, strict, in "]
        lines[-1] += f"{len(self.orders)} orders of the warps"
        lines += [f"not compared: {name}, a temporary" for name in self.undefined]
        rows = [(name, value_said(i.value)) for kernel in self.kernels for name, i in kernel.inputs.items()]
        names, values = (max((len(row[column]) for row in rows), default=0) for column in (0, 1))
        for kernel in self.kernels:
            own = "" if kernel.shape == self.shape else f"  {launch_said(kernel.shape)}"
            lines.append(f"{kernel.letter} {kernel.name}  {kernel.source}{own}")
            lines += [f"  {n:{names}}  {value_said(i.value):{values}}  {i.source}" for n, i in kernel.inputs.items()]
        return "\n".join(lines)


def differences(names: Sequence[str], alone: Sequence[object], woven: Sequence[object]) -> tuple[Difference, ...]:
    """Where arrays differ in any bit; other arguments are passed over."""
    found = []
    for name, expected, got in zip(names, alone, woven, strict=True):
        if not isinstance(expected, np.ndarray) or not isinstance(got, np.ndarray):
            continue
        first, second = expected.reshape(-1), got.reshape(-1)
        unequal = (_bits(first) != _bits(second)).any(axis=1)
        if unequal.any():
            at = int(unequal.argmax())
            shown = (_shown(array, at) for array in (first, second))
            found.append(Difference(name, int(np.count_nonzero(unequal)), len(first), at, *shown))
    return tuple(found)


def _bits(array: Host) -> Host:
    """A row of bytes for each element."""
    return np.ascontiguousarray(array).view(np.uint8).reshape(len(array), -1)


def _shown(array: Host, at: int) -> str:
    """A value, with its bits where those say more."""
    value = array[at].item()
    return f"{value} (0x{array[at].tobytes()[::-1].hex()})" if array.dtype.kind == "f" else str(value)


def value_said(value: object) -> str:
    """An argument in a few words."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"{value.dtype}[{value.size}]"
    return f"{value.dtype} {value}" if isinstance(value, np.generic) else str(value)


def launch_said(shape: Shape) -> str:
    """A shape of which all is known, in words."""
    grid, block = ("x".join(map(str, extent)) for extent in (shape.grid, shape.block))
    return f"grid {grid}, block {block}, shared {shape.shared}"
