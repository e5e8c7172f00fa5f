"""Shape: the launch shape of one kernel, as far as it is known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from operator import index

from goptx.errors import InputError

MOST_THREADS = 1024  # of a CTA
MOST_ALONG = (1024, 1024, 64)  # of a CTA along x, y and z
MOST_CTAS = ((1 << 31) - 1, 65535, 65535)  # of a grid along x, y and z
MOST_REGISTERS = 255  # of a thread
MOST_SHARED = 227 * 1024  # bytes of a CTA, static ones included; fewer on all GPUs except H100, H200 and B200
MOST_CLUSTER = 16  # CTAs; more than 8 only with a setting of the driver

Extent = int | Sequence[int | None] | None
Axes = tuple[int | None, int | None, int | None]


@dataclass(frozen=True, init=False)
class Shape:
    """The launch of one kernel. Raises `InputError` for a shape that no GPU supports.

    grid, block: CTAs, and threads of one, along up to three axes; an int is one axis. None stands for a size that is
        known only at launch: one axis (`grid=(None, 7)`, `grid=(None,)`), or all three (`grid=None`). A kernel with a
        block of its own (one of Triton's) needs only the grid, `Shape(1024)`.
    shared: bytes of dynamic shared memory of a CTA, None if known only at launch.
    cluster: CTAs of a cluster along up to three axes, None where there are no clusters.

    Extents become tuples without trailing ones: `Shape(4, (16, 16, 1)) == Shape((4,), (16, 16))`.
    """

    grid: tuple[int | None, ...]
    block: tuple[int | None, ...]
    shared: int | None
    cluster: tuple[int | None, ...] | None

    def __init__(self, grid: Extent, block: Extent = None, shared: int | None = 0, cluster: Extent = None) -> None:
        set_ = object.__setattr__
        set_(self, "grid", _extent("grid", grid, MOST_CTAS))
        set_(self, "block", _extent("block", block, MOST_ALONG))
        set_(self, "shared", shared if shared is None else _bytes(shared))
        set_(self, "cluster", None if cluster is None else _extent("cluster", cluster, (MOST_CLUSTER,) * 3))
        self._check_cluster()

    def _check_cluster(self) -> None:
        if self.cluster is None:
            return
        if None in self.cluster or prod(n or 1 for n in self.cluster) > MOST_CLUSTER:
            raise InputError(f"cluster={self.cluster} is not a cluster of at most {MOST_CLUSTER} CTAs.")
        if any(g is not None and g % (c or 1) for g, c in zip(self.axes("grid"), axes(self.cluster), strict=True)):
            raise InputError(f"grid={self.grid} is not a multiple of cluster={self.cluster} along every axis.")

    def axes(self, what: str) -> Axes:
        """All three axes of the "grid" or the "block"."""
        return axes(self.grid if what == "grid" else self.block)

    def sizes(self, what: str) -> tuple[int, int, int]:
        """All three axes, if all are known. Raises `InputError` otherwise."""
        x, y, z = self.axes(what)
        if x is None or y is None or z is None:
            raise InputError(f"the {what} of a launch in the shape {self} is not known; give all of its sizes.")
        return x, y, z

    def size_of(self, register: str) -> int:
        """The value of a register such as `%ntid.x`. Raises `InputError` if it is unknown."""
        what, axis = register.split(".")
        return self.sizes("grid" if what == "%nctaid" else "block")["xyz".index(axis)]

    @property
    def ctas(self) -> int | None:
        """The CTAs of the whole grid; None if known only at launch."""
        return _product(self.grid)

    @property
    def threads(self) -> int | None:
        """The threads of a CTA; None if known only at launch."""
        return _product(self.block)

    @property
    def known(self) -> bool:
        """Whether all sizes are known."""
        return self.ctas is not None and self.threads is not None and self.shared is not None

    @staticmethod
    def parse(text: str) -> Shape:
        """The shape `33x7:256:4096`: grid, block and, optionally, bytes of dynamic shared memory. `?` is a size known
        only at launch: `?:256` has a grid of one axis, `?x?x?:256` any grid. Raises `InputError`."""
        sizes = r"(?:\d+|\?)"
        matched = re.fullmatch(rf"({sizes}(?:x{sizes}){{0,2}}):({sizes}(?:x{sizes}){{0,2}})(?::({sizes}))?", text)
        if matched is None:
            raise InputError(f"shape `{text}` cannot be read; write GRID:BLOCK or GRID:BLOCK:SHARED, as in 33x7:256.")
        grid, block, (shared,) = ([_size(s) for s in (part or "0").split("x")] for part in matched.groups())
        return Shape(grid, block, shared)

    def __str__(self) -> str:
        """The text that `parse` accepts."""
        extents = ["x".join("?" if n is None else str(n) for n in extent) for extent in (self.grid, self.block)]
        shared = [] if self.shared == 0 else ["?" if self.shared is None else str(self.shared)]
        return ":".join([*extents, *shared])


@dataclass(frozen=True, slots=True, order=True)
class Limit:
    """An upper bound `most` on a product of launch sizes. The sizes are named as in PTX: `%ntid.x`."""

    sizes: tuple[str, ...]
    most: int

    def admits(self, shape: Shape) -> bool:
        """Whether a launch of that known shape respects the limit."""
        return prod(map(shape.size_of, self.sizes)) <= self.most

    def __str__(self) -> str:
        """The limit as code: `gridDim.x*blockDim.x <= 4294967296`."""
        words = {"%nctaid": "gridDim", "%ntid": "blockDim"}
        named = [words[base] + "." + axis for base, axis in (s.split(".") for s in self.sizes)]
        return f"{'*'.join(named)} <= {self.most}"


def tightest(limits: Iterable[Limit]) -> tuple[Limit, ...]:
    """The limits that some launch of a GPU can violate; for each product the lowest."""
    most = dict(
        zip((f"%{what}.{axis}" for what in ("ntid", "nctaid") for axis in "xyz"), MOST_ALONG + MOST_CTAS, strict=True)
    )
    found: dict[tuple[str, ...], Limit] = {}
    for limit in sorted(limits, reverse=True):
        if prod(most[name] for name in limit.sizes) > limit.most:
            found[tuple(sorted(limit.sizes))] = limit
    return tuple(sorted(found.values()))


def shared_unit(arch: str) -> int:
    """The unit in bytes in which a CTA gets shared memory, and in which `%total_smem_size` reports it."""
    return 256 if re.match(r"sm_[67]\d", arch) else 128


def axes(extent: Sequence[int | None]) -> Axes:
    """All three axes of an extent."""
    x, y, z = (*extent, 1, 1)[:3]
    return x, y, z


def _product(sizes: Sequence[int | None]) -> int | None:
    known = [n for n in sizes if n is not None]
    return prod(known) if len(known) == len(sizes) else None


def _size(text: str) -> int | None:
    return None if text == "?" else int(text)


def _extent(name: str, given: Extent, most: Sequence[int]) -> tuple[int | None, ...]:
    if given is None:
        return None, None, None
    try:
        sizes = [_size_along(s) for s in (given if isinstance(given, Iterable) else [given])]
    except TypeError:  # an array without axes
        sizes = []
    if not 1 <= len(sizes) <= 3 or 0 in sizes:
        raise InputError(f"{name}={given} is not an extent; give one to three numbers above 0.")
    if name == "block" and prod(s or 1 for s in sizes) > MOST_THREADS:
        raise InputError(f"block={given} has {prod(s or 1 for s in sizes)} threads; a CTA has at most {MOST_THREADS}.")
    if any(s is not None and s > limit for s, limit in zip(sizes, most, strict=False)):
        raise InputError(f"{name}={given} is more than {most}, the most that a launch has along x, y and z.")
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    return tuple(sizes)


def _size_along(value: object) -> int | None:
    """The size; 0 for an invalid value."""
    return None if value is None else max(_whole(value), 0)


def _bytes(value: object) -> int:
    if not 0 <= _whole(value) <= MOST_SHARED:
        raise InputError(f"shared={value!r} is not a number of bytes from 0 to {MOST_SHARED}.")
    return _whole(value)


def check_cap(cap: object) -> None:
    """Raises `InputError` for what is not a cap of the registers of a thread."""
    if not 1 <= _whole(cap) <= MOST_REGISTERS:
        raise InputError(f"max_registers={cap!r} is no cap; give 1 to {MOST_REGISTERS}, or None.")


def _whole(value: object) -> int:
    """The number, also of numpy's types; -1 for an invalid value."""
    try:
        return -1 if isinstance(value, bool) else index(value)  # type: ignore[arg-type]
    except TypeError:
        return -1
