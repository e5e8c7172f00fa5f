"""The result of a check: what was run on which data, and where the woven kernel differs from its kernels alone."""

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
from goptx.readable_names import elided, short
from goptx.results.report import Report

Host = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Difference:
    """An array that differs after two runs: how many of its elements differ, and the first of them with both values."""

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
    """One kernel: its letter, entry, file, its arguments by name of the parameter (`A:2 (n)`), and its launch."""

    __repr__ = brief

    letter: str
    name: str
    source: str
    inputs: dict[str, Input]
    shape: Shape


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of `goptx.check`; true if the woven kernel wrote what its kernels write alone.

    shape: of the woven kernel's launch, and of every kernel's if they do not differ.
    orders: the seeds of the orders in which warps ran, each once for every kernel.
    compared: bytes, all arrays together.
    differences: of the first order that has any; fault: that of the woven kernel, if it did not end.
    undefined: the names of temporaries, which are not compared.
    float_updates: where kernels add floating-point numbers in memory, in an order that is not fixed.
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
    float_updates: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.passed

    @property
    def passed(self) -> bool:
        """Whether the woven kernel ran without a fault and wrote what its kernels write alone, bit for bit."""
        return self.failure is None

    @property
    def failure(self) -> GoptxError | None:
        """The error to raise for a check that failed: the woven kernel's fault, or `CheckFailed`."""
        if self.fault is not None:
            return self.fault
        if not self.differences:
            return None
        listed = "\n  ".join(map(str, self.differences))
        cause = "Launch the kernels separately. If they are independent, this is a fault of goptx; please report it."
        if self.float_updates:
            cause = (
                f"They add floating-point numbers in memory ({', '.join(self.float_updates[:3])}), in an order that is "
                "not fixed, so the last bits may differ. Any other difference is a fault of goptx; please report it."
            )
        return CheckFailed(f"{self.name} writes other values than its kernels alone:\n  {listed}\n{cause}")

    @property
    def grid(self) -> Extent:
        """CTAs of the woven kernel."""
        return self.shape.sizes("grid")

    @property
    def block(self) -> Extent:
        """Threads of one CTA."""
        return self.shape.sizes("block")

    @property
    def shared(self) -> int:
        """Bytes of dynamic shared memory of one CTA."""
        return self.shape.shared or 0

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: the report of the weaving, and the facts of the check."""
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
            "arguments": {n: [value_text(i.value), i.source] for k in self.kernels for n, i in k.inputs.items()},
            "differences": [{f: getattr(d, f) for f in d.__slots__} for d in self.differences],
        }

    _repr_pretty_ = as_text

    _repr_html_ = as_html

    def __str__(self) -> str:
        if self.failure is None:
            first = f"{self.name} does what its kernels do alone: all {self.compared} bytes are equal."
        else:
            first = f"{type(self.failure).__name__}: {self.failure}"
        lines = [first, f"{launch_text(self.shape)}, seed {self.seed}, strict, in "]
        lines[-1] += f"{len(self.orders)} orders of the warps"
        lines += [f"not compared: {name}, a temporary" for name in self.undefined]
        rows = [(name, value_text(i.value)) for kernel in self.kernels for name, i in kernel.inputs.items()]
        names, values = (max((len(row[column]) for row in rows), default=0) for column in (0, 1))
        for kernel in self.kernels:
            own = "" if kernel.shape == self.shape else f"  {launch_text(kernel.shape)}"
            lines.append(f"{kernel.letter} {elided(short(kernel.name))}  {kernel.source}{own}")
            lines += [f"  {n:{names}}  {value_text(i.value):{values}}  {i.source}" for n, i in kernel.inputs.items()]
        return "\n".join(lines)


def differences(names: Sequence[str], alone: Sequence[object], woven: Sequence[object]) -> tuple[Difference, ...]:
    """The arrays that differ in any bit; other arguments are ignored."""
    found = []
    for name, expected, got in zip(names, alone, woven, strict=True):
        if not isinstance(expected, np.ndarray) or not isinstance(got, np.ndarray):
            continue
        first, second = expected.reshape(-1), got.reshape(-1)
        unequal = (_bits(first) != _bits(second)).any(axis=1)
        if unequal.any():
            at = int(unequal.argmax())
            values = (_element_text(array, at) for array in (first, second))
            found.append(Difference(name, int(np.count_nonzero(unequal)), len(first), at, *values))
    return tuple(found)


def _bits(array: Host) -> Host:
    """A row of bytes for each element."""
    return np.ascontiguousarray(array).view(np.uint8).reshape(len(array), -1)


def _element_text(array: Host, at: int) -> str:
    """An element as text; floating-point values also with their bits."""
    value = array[at].item()
    return f"{value} (0x{array[at].tobytes()[::-1].hex()})" if array.dtype.kind == "f" else str(value)


def value_text(value: object) -> str:
    """An argument in a few words."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"{value.dtype}[{value.size}]"
    return f"{value.dtype} {value}" if isinstance(value, np.generic) else str(value)


def launch_text(shape: Shape) -> str:
    """A wholly known shape as text."""
    grid, block = ("x".join(map(str, extent)) for extent in (shape.grid, shape.block))
    return f"grid {grid}, block {block}, shared {shape.shared}"
