"""The launch of a fused kernel whose every CTA is a CTA of one of the kernels: the place of these among its CTAs.

Requires: a shape for each kernel. Ensures: each CTA of each kernel is in one of the fused kernel's. Each of those
carries one, or several neighbours of a coarsened kernel; or, where grids are folded, several one after the other. The
block is the largest of the kernels' blocks, and the kernels' shared memory has one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, reduce
from math import prod
from typing import TYPE_CHECKING, ClassVar, Self

from goptx.errors import TooLarge
from goptx.launch.coarsening import Coarse
from goptx.launch.launch_plan import Plan, spread
from goptx.launch.shape import MOST_CTAS, Extent, Shape
from goptx.options import Binding, Fold
from goptx.ptx.ir import Name
from goptx.weaving.shapes.scalar_code import Value

if TYPE_CHECKING:
    from goptx.weaving.shapes.thread_view import View

MOST_ROUND = 32  # CTAs of a round on an SM, for one word has a bit for each
MOST_SHARE, MOST_SHARES = 8, 3  # if the ratio follows from the grids: at most 8:1, and 24:3
# The share of a kernel's grid among which the CTAs of another one begin that has few: the others come alone, while the
# last of the few run. Measured on 70 pairs of benchmarks/unseen that are not held out (0.35, 0.6, 0.8 and 1).
EARLY = 0.6


def early_ratio(ctas: Sequence[int], few: int) -> tuple[int, ...]:
    """The ratio of two kernels' CTAs with which those of the kernel that has `few` are among the first of the other's,
    not before them."""
    each = Fraction(EARLY * ctas[1 - few] / ctas[few]).limit_denominator(MOST_SHARES)
    own = max(each, Fraction(1, MOST_SHARE))
    return (own.denominator, own.numerator) if few == 0 else (own.numerator, own.denominator)


@dataclass(frozen=True)
class Interleaved(Plan):
    """ratio: how many CTAs of each kernel follow each other, again and again, as long as all kernels have so many; the
    rest comes after, kernel by kernel. Without it the placement decides: "front" is kernel by kernel, "spread" lays
    the first kernel's CTAs evenly among all, the next one's among those that are left, and so on.
    fold: which CTAs of its kernel a CTA runs, if several (folded.py); `ctas` is how many CTAs each kernel then has.
    binding: "sm" if the SM on which a CTA runs decides which kernel that is (sm_binding.py). The ratio is that of the
    CTAs that begin on an SM."""

    ratio: tuple[int, ...] = ()
    fold: Fold | None = None
    ctas: tuple[int, ...] = ()
    binding: Binding | None = None

    overlaid: ClassVar[bool] = True

    @property
    def fold_of_teams(self) -> Fold | None:
        return self.fold

    @property
    def is_bound(self) -> bool:
        return self.binding is not None

    @property
    def draws(self) -> bool:
        return self.is_bound or self.fold == "ticket"

    def _extent(self, what: str, shapes: Sequence[Shape]) -> Extent:
        if what == "block":
            return super()._extent(what, shapes)
        if self.folds:
            self.totals_to_fold(shapes)
        total = self.among(0, shapes)
        if total is not None and total > MOST_CTAS[0]:
            raise TooLarge(
                f"interleaved grids have at most {MOST_CTAS[0]} CTAs together; these have {total}. Fold them (fold=), "
                "or use separate launches."
            )
        return total, 1, 1

    @cached_property
    def common_grid(self) -> Coarse | None:
        """No kernel reads the fused kernel's own numbers of CTAs, if it does not run the CTAs of these numbers."""
        return None if self.folds or self.is_bound else super().common_grid

    def covers_exactly(self, what: str, kernel: int) -> bool:
        return (what == "block" or not (self.folds or self.is_bound)) and super().covers_exactly(what, kernel)

    def few_first(self) -> Self:
        """As `Plan.few_first`. Of two kernels the second follows the first CTA of the first: the GPU gives CTAs to its
        SMs in turn, so each SM gets as many of those that come together."""
        few = self.few
        if self.ratio or not few or self.folds or self.is_bound:
            return self
        if few == frozenset(range(len(self.shapes) - 1)):
            return replace(self, placement="front")
        if len(self.shapes) > 2:
            return self
        ctas = self.among(1, self.shapes)
        return replace(self, ratio=(1, ctas)) if ctas else self

    @property
    def takes_turns(self) -> bool:
        """Whether CTAs of several kernels come in a given ratio, none of them first."""
        return bool(self.ratio) and replace(self, ratio=()).few_first().ratio != self.ratio

    def offsets(self, shapes: Sequence[Shape]) -> tuple[list[int], int]:
        """All begin at 0; the fused kernel needs as much as the kernel that needs most."""
        return [0] * len(shapes), max(self.needed(k, shapes) for k in range(len(shapes)))

    def is_spread(self, kernel: int) -> bool:
        return self.placement == "spread" and not self.ratio and not self.is_bound and kernel < len(self.shapes) - 1

    def ctas_of(self, kernel: int, shapes: Sequence[Shape]) -> int | None:
        """How many CTAs of the fused kernel run the kernel; None if that is known at launch only. In folded grids it is
        known when kernels are woven, and then in their code, whatever their grids are at launch."""
        axes = self.carried("grid", self.shapes if self.folds else shapes)[kernel]
        total = None if None in axes else prod(n or 0 for n in axes)
        if not self.folds:
            return total
        return self.ctas[kernel] if total is None else min(self.ctas[kernel], total)

    def among(self, kernel: int, shapes: Sequence[Shape]) -> int | None:
        """The number of CTAs that the earlier kernels leave."""
        sizes = [self.ctas_of(k, shapes) for k in range(kernel, len(shapes))]
        return None if None in sizes else sum(n or 0 for n in sizes)

    @cached_property
    def round(self) -> tuple[int, ...]:
        """Which kernel the CTAs run that begin on an SM, one after the other, again and again: as the ratio says, or as
        many of each as of their grids, the second kernel's spread over the round."""
        first, second = self.ratio or self._shares
        total = first + second
        return tuple((i + 1) * second // total - i * second // total for i in range(total))

    @property
    def _shares(self) -> tuple[int, int]:
        first, second = (self.ctas_of(k, self.shapes) for k in range(2))
        if not first or not second:
            return 1, 1
        larger = Fraction(max(first, second), min(first, second)).limit_denominator(MOST_SHARES)
        few, many = (larger.denominator, larger.numerator) if larger < MOST_SHARE else (1, MOST_SHARE)
        return (many, few) if first >= second else (few, many)

    def number_of_ctas(self, view: View) -> Value:
        """How many CTAs of the fused kernel run the view's kernel."""
        known = self.ctas_of(view.position, self.shapes)
        return view.total("grid") if known is None else known

    def carrying(self, view: View) -> tuple[Value, Name | None]:
        """The number of the CTA among those that run the kernel, and the predicate that it runs another one. The
        kernels are asked in order, so a CTA of an earlier one may get any number."""
        if self.is_bound:
            return view.drawn()
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
        s, ctas, total = view.scalars, self.number_of_ctas(view), self.among(view.position, self.shapes)
        if self.placement == "front":
            return number, s.compare("ge", number, ctas), s.subtract(number, ctas)
        known = self.ctas_of(view.position, self.shapes)
        step = view.hidden(f"{view.letter}.spread") if total is None or known is None else spread(known, total)
        low, high = s.halves(number, step)
        return high, s.compare("gt", low, step), s.subtract(number, s.add(high, 1))

    def _in_groups(self, view: View) -> tuple[Value, Name | None]:
        """Either in one of the groups, or in the kernel's part of the rest."""
        s, number, k = view.scalars, view.number("grid"), view.position
        ctas = [self.number_of_ctas(replace(view, position=i)) for i in range(len(self.shapes))]
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
        ratio = ":".join(map(str, self.ratio))
        how = f"{ratio} CTAs at a time" if self.ratio else self.placement
        if self.is_bound:
            order = "".join(self.letters[k] for k in self.round)
            how = f"bound to SMs, on each of which CTAs of {order} begin again and again"
        text = f"launch as {self.shape}, each CTA is one of {self._described}, {how}"
        if not self.fold:
            return text
        each = ", ".join(f"{self.ctas_of(k, self.shapes)} CTAs run {a}" for k, a in enumerate(self.letters))
        return f"{text}; folded grids: {each}, each {ORDERS[self.fold]} of its CTAs"


ORDERS = {"static": "every n-th", "chunk": "a contiguous piece", "ticket": "the next one that is left"}
