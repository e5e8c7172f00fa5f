"""Coarsening: one CTA of the fused kernel does the work of several neighbouring CTAs of a kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace

from goptx.errors import InputError
from goptx.launch.shape import Axes, Shape
from goptx.options import AXES, Axis, is_whole

MOST = 32  # CTAs in one; each is a copy of the kernel's code and registers


@dataclass(frozen=True, slots=True)
class Coarse:
    """`factor` CTAs of a kernel along one axis (0 is x) in one CTA of the fused kernel.

    With q = CTAs of the kernel along the axis / factor, rounded down: CTA c < q of the fused kernel along that axis
    carries the CTAs c * factor ... c * factor + factor - 1 of the kernel; each leftover CTA gets a CTA of its own. So a
    CTA of the fused kernel has either all copies or only the first, and one branch distinguishes the two.
    """

    factor: int = 1
    axis: int = 0

    def times(self, factor: int, axis: Axis) -> Coarse:
        """The same coarsened once more. Raises `InputError` for an invalid factor or axis."""
        if not is_whole(factor) or factor < 2:
            raise InputError(f"factor={factor!r} is not a number of CTAs to be made one; give 2 or more.")
        if axis not in AXES:
            raise InputError(f"axis `{axis}` is unknown; expected one of {', '.join(AXES)}.")
        if self.factor > 1 and AXES[self.axis] != axis:
            raise InputError(
                f"a kernel that is coarsened along {AXES[self.axis]} cannot be coarsened along {axis} too."
            )
        if self.factor * factor > MOST:
            raise InputError(f"{self.factor * factor} CTAs in one are more than {MOST}; give a smaller factor.")
        return Coarse(self.factor * factor, AXES.index(axis))

    def within(self, shape: Shape) -> Coarse:
        """The same with at most as many copies as a kernel of that shape has CTAs along the axis."""
        along = shape.axes("grid")[self.axis]
        if along is None or along >= self.factor:
            return self
        return replace(self, factor=along) if along > 1 else ALONE

    def grid(self, grid: Axes) -> Axes:
        """The CTAs of the fused kernel along each axis for a grid of the kernel; None where unknown."""
        sizes = list(grid)
        along = sizes[self.axis]
        if along is not None:
            sizes[self.axis] = along // self.factor + along % self.factor
        x, y, z = sizes
        return x, y, z

    def leaves_over(self, grid: Axes) -> bool:
        """Whether some CTAs of such a grid may be left over."""
        along = grid[self.axis]
        return self.factor > 1 and (along is None or along % self.factor > 0)

    def __str__(self) -> str:
        return f"{self.factor} CTAs along {AXES[self.axis]} in one"


ALONE = Coarse()
