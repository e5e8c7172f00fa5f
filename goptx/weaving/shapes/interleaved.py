"""The launch of a fused kernel whose every CTA is a CTA of one of the kernels: the place of these among its CTAs.

Requires: a shape for each kernel. Ensures: each CTA of each kernel is in one of the fused kernel's. Each of those
carries one, or several neighbours of a coarsened kernel. The block is the largest of the kernels' blocks, and the
kernels' shared memory has one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import prod
from typing import TYPE_CHECKING, ClassVar, Self

from goptx.errors import InputError
from goptx.launch.launch_plan import Plan, spread
from goptx.launch.shape import MOST_CTAS, Extent, Shape
from goptx.ptx.ir import Name
from goptx.weaving.shapes.scalar_code import Value

if TYPE_CHECKING:
    from goptx.weaving.shapes.thread_view import View


@dataclass(frozen=True)
class Interleaved(Plan):
    """ratio: how many CTAs of each kernel follow each other, again and again, as long as all kernels have so many; the
    rest comes after, kernel by kernel. Without it the placement decides: "front" is kernel by kernel, "spread" lays
    the first kernel's CTAs evenly among all, the next one's among those that are left, and so on."""

    ratio: tuple[int, ...] = ()

    overlaid: ClassVar[bool] = True

    def _extent(self, what: str, shapes: Sequence[Shape]) -> Extent:
        if what == "block":
            return super()._extent(what, shapes)
        total = self.among(0, shapes)
        if total is not None and total > MOST_CTAS[0]:
            raise InputError(f"interleaved grids have at most {MOST_CTAS[0]} CTAs together; these have {total}.")
        return total, 1, 1

    def few_first(self) -> Self:
        """As `Plan.few_first`. Of two kernels the second follows the first CTA of the first: the GPU gives CTAs to its
        SMs in turn, so each SM gets as many of those that come together."""
        few = self.few
        if self.ratio or not few:
            return self
        if few == frozenset(range(len(self.shapes) - 1)):
            return replace(self, placement="front")
        if len(self.shapes) > 2:
            return self
        ctas = self.among(1, self.shapes)
        return replace(self, ratio=(1, ctas)) if ctas else self

    def offsets(self, shapes: Sequence[Shape]) -> tuple[list[int], int]:
        """All begin at 0; the fused kernel needs as much as the kernel that needs most."""
        return [0] * len(shapes), max(self.needed(k, shapes) for k in range(len(shapes)))

    def is_spread(self, kernel: int) -> bool:
        return self.placement == "spread" and not self.ratio and kernel < len(self.shapes) - 1

    def among(self, kernel: int, shapes: Sequence[Shape]) -> int | None:
        """The number of CTAs that the earlier kernels leave."""
        sizes = self.carried("grid", shapes)[kernel:]
        return None if any(None in axes for axes in sizes) else sum(prod(n or 0 for n in axes) for axes in sizes)

    def carrying(self, view: View) -> tuple[Value, Name | None]:
        """As `View.carrying`. The kernels are asked in order, so a CTA of an earlier one may get any number."""
        return self._in_groups(view) if self.ratio else self._among_the_rest(view)

    def _among_the_rest(self, view: View) -> tuple[Value, Name | None]:
        number = view.number("grid")
        for k in range(view.position):
            _, _, number = self._one(replace(view, position=k), number)
        if view.position == len(self.shapes) - 1:
            return number, None
        own, none, _ = self._one(view, number)
        return own, none

    def _one(self, view: View, number: Value) -> tuple[Value, Name, Value]:
        """For the CTA at this number among those that the earlier kernels leave: its number in this kernel, the
        predicate that it does not belong to this kernel, and its number among those that this one leaves too."""
        s, ctas, total = view.scalars, view.total("grid"), self.among(view.position, self.shapes)
        if self.placement == "front":
            return number, s.compare("ge", number, ctas), s.subtract(number, ctas)
        known = view.ctas
        step = view.hidden(f"{view.letter}.spread") if total is None or known is None else spread(known, total)
        low, high = s.halves(number, step)
        return high, s.compare("gt", low, step), s.subtract(number, s.add(high, 1))

    def _in_groups(self, view: View) -> tuple[Value, Name | None]:
        """Either in one of the groups, or in the kernel's part of the rest."""
        s, number, k = view.scalars, view.number("grid"), view.position
        ctas = [replace(view, position=i).total("grid") for i in range(len(self.shapes))]
        most, size = MOST_CTAS[0], sum(self.ratio)
        groups = reduce(s.least, (s.divide(n, each, most) for n, each in zip(ctas, self.ratio, strict=True)))
        rests = [s.subtract(n, s.multiply(groups, each)) for n, each in zip(ctas, self.ratio, strict=True)]
        grouped = s.multiply(groups, size)
        within = s.compare("lt", number, grouped)
        group = s.divide(number, size, most)
        earlier: Value = reduce(s.add, rests[:k], grouped)
        place = s.select(
            within,
            s.subtract(s.remainder(number, size, most), sum(self.ratio[:k])),
            s.subtract(number, earlier),
        )
        first = s.select(within, s.multiply(group, self.ratio[k]), s.multiply(groups, self.ratio[k]))
        none = s.compare("ge", place, s.select(within, self.ratio[k], rests[k]))
        return s.add(first, place), none

    def __str__(self) -> str:
        how = f"{':'.join(map(str, self.ratio))} CTAs at a time" if self.ratio else self.placement
        return f"launch as {self.shape}, each CTA is one of {self._described}, {how}"
