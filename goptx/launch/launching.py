"""How the entries of a module are launched: from shapes and arguments to what the driver takes.

Requires: the parameters of each entry. Ensures: a shape or an argument that does not fit is refused before anything is
launched. Imports nothing of CUDA.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from goptx.display import brief
from goptx.errors import InputError
from goptx.launch.arguments import scalars
from goptx.launch.launch_plan import Plan
from goptx.launch.native_code import NativeCode
from goptx.launch.parameter import Parameter
from goptx.launch.shape import Limit, Shape
from goptx.options import Streams

Extent = int | Sequence[int]


@dataclass(frozen=True, slots=True)
class Launch:
    """One entry that is launched.

    params: all its parameters, hidden ones last.
    plan: how the shapes of its kernels become its own; None where it is launched as each of them would be.
    native: its machine code as a framework made it, which is launched unless a register cap is asked for.
    """

    __repr__ = brief

    entry: str
    params: tuple[Parameter, ...]
    plan: Plan | None
    native: NativeCode | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """One launch with its shape: `params` are those for which it takes arguments and, after them, hidden ones, which
    hold `hidden`."""

    __repr__ = brief

    entry: str
    shape: Shape
    params: tuple[Parameter, ...]
    hidden: list[bytes]


@dataclass(frozen=True, slots=True)
class Launching:
    """All that a launch of a module is computed from.

    name: of the result, in messages. letters: of the kernels.
    launches: what is launched, one after the other.
    plan: of all kernels, how their shapes become those of the launches; None if they have one shape in common.
    depends, along_x, limits, streams: as of `Woven`.
    """

    __repr__ = brief

    name: str
    letters: tuple[str, ...]
    launches: tuple[Launch, ...]
    plan: Plan | None
    depends: bool = False
    along_x: bool = False
    limits: tuple[Limit, ...] = ()
    streams: Streams = False

    @property
    def params(self) -> tuple[Parameter, ...]:
        """Those of all launches, kernel by kernel, hidden ones last."""
        return tuple(sorted((p for launch in self.launches for p in launch.params), key=lambda p: p.kernel is None))

    def starts(
        self, grid: Extent | None, block: Extent | None, shared: int = 0, shapes: Sequence[Shape] | None = None
    ) -> list[Start]:
        """The launches for these, as `Woven.launch` has them. Raises `InputError`."""
        if self.plan is None:
            shape = self._common(grid, block, shared, shapes)
            return [Start(launch.entry, shape, launch.params, []) for launch in self.launches]
        given = self.plan.common and shapes is None  # then `shared` is the size also where it is 0
        filled = self.plan.filled(shapes, grid, block, shared if given else shared or None)
        return [self._start(launch, filled) for launch in self.launches]

    def launched(
        self, grid: Extent | None, block: Extent | None, shared: int = 0, shapes: Sequence[Shape] | None = None
    ) -> tuple[Shape, list[bytes]]:
        """The shape of the one launch, and the bytes of its hidden arguments. Raises `InputError`, also where there are
        several."""
        first, *others = self.starts(grid, block, shared, shapes)
        if others:
            raise InputError(f"`{self.name}` is not one launch but {len(others) + 1}; `starts` says in which shapes.")
        return first.shape, first.hidden

    def arguments(self, contents: Sequence[bytes], shapes: Sequence[Shape] | None = None) -> list[list[Any]]:
        """What each launch passes, hidden arguments last, each in its parameter's own width. `contents` are those of
        the parameters that get an argument. Raises `InputError`."""
        shaped = self.plan is not None and (shapes is not None or any(p.kernel is None for p in self.params))
        filled = self.plan.filled(shapes) if self.plan and shaped else ()
        rest = iter(contents)
        found = []
        for launch in self.launches:
            own = [next(rest) for p in launch.params if p.is_passed]
            hidden = self._hidden(launch, filled) if shaped else []
            found.append(list[Any](scalars([p for p in launch.params if p.instead is None], own + hidden)))
        return found

    def _common(self, grid: Extent | None, block: Extent | None, shared: int, shapes: Sequence[Shape] | None) -> Shape:
        """That of kernels that were fused for one shape, whatever it is."""
        if shapes is not None:
            raise InputError(
                f"`{self.name}` was woven for one common shape; give `weave` the shapes, or grid and block."
            )
        if grid is None or block is None:
            raise InputError(f"`{self.name}` needs a grid and a block; or give `weave` the kernels' shapes.")
        return self._checked(Shape(grid, block, shared))

    def _start(self, launch: Launch, shapes: Sequence[Shape]) -> Start:
        assert launch.plan
        shape = self._checked(launch.plan.launched(self._own(launch.plan, shapes)))
        return Start(launch.entry, shape, launch.params, self._hidden(launch, shapes))

    def _hidden(self, launch: Launch, shapes: Sequence[Shape]) -> list[bytes]:
        """What the hidden parameters of a launch hold."""
        hidden = [p for p in launch.params if p.kernel is None]
        if not hidden:
            return []
        assert launch.plan
        values = launch.plan.values(self._own(launch.plan, shapes))
        return [values[p.role].to_bytes(p.size, "little") for p in hidden]

    def _own(self, plan: Plan, shapes: Sequence[Shape]) -> list[Shape]:
        """Of the shapes of all kernels, those of the plan's."""
        assert self.plan
        return [shape for letter, shape in zip(self.plan.letters, shapes, strict=True) if letter in plan.letters]

    def _checked(self, shape: Shape) -> Shape:
        if self.along_x and any(n != 1 for what in ("grid", "block") for n in shape.sizes(what)[1:]):
            raise InputError(
                f"`{self.name}` was fused of kernels that depend on each other, which was proved for grids and blocks "
                f"along x only, not for {shape}; launch the kernels separately."
            )
        broken = next((limit for limit in self.limits if not limit.admits(shape)), None)
        if broken is not None:
            raise InputError(
                f"`{self.name}` was fused of kernels that depend on each other, which was proved for launches with "
                f"{broken} only, not for {shape}: beyond, indices wrap; launch the kernels separately."
            )
        return shape
