"""From the shapes of the kernels to that of the woven kernel W, and to the values of its hidden parameters.

Requires: one shape for each kernel. Ensures: W has threads and CTAs enough for every kernel; what is known when the
kernels are woven stays so when they are launched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import prod
from typing import Any, ClassVar, Self

from goptx.display import brief
from goptx.errors import InputError, TooLarge
from goptx.launch.coarsening import Coarse
from goptx.launch.shape import MOST_CTAS, MOST_SHARED, Axes, Extent, Shape
from goptx.options import AXES, Placement

ALIGNMENT = 1024  # bytes, of each kernel's dynamic shared memory: TMA and wgmma count on it


@dataclass(frozen=True)
class Plan:
    """How W is to be launched.

    letters, shapes: of the kernels, with None for what is known at launch only.
    placement: how the CTAs of a smaller grid lie among those of W.
    carved: of each kernel, the bytes of static shared memory that lie in W's dynamic memory instead.
    coarse: of each kernel, how many of its CTAs are in one of W.
    common: whether all kernels are launched in one shape, whatever it is.
    """

    __repr__ = brief

    letters: tuple[str, ...]
    shapes: tuple[Shape, ...]
    placement: Placement
    carved: tuple[int, ...]
    coarse: tuple[Coarse, ...]
    common: bool = False

    overlaid: ClassVar[bool] = False  # whether each CTA of W is one of one kernel, whose memory then is all that it has

    @cached_property
    def shape(self) -> Shape:
        """That of W, with None for what is known at launch only."""
        return self.launched(self.shapes)

    def launched(self, shapes: Sequence[Shape]) -> Shape:
        """The shape of W for these shapes of the kernels, which are `self.shapes` with more of them known. Raises
        `InputError` where that is none."""
        grid, block = (self._extent(what, shapes) for what in ("grid", "block"))
        shared = None if any(s.shared is None for s in shapes) else self.offsets(shapes)[1]
        if shared is not None and shared > MOST_SHARED:
            raise TooLarge(
                f"together the kernels {self._called} need {shared} bytes of dynamic shared memory; a CTA has at most "
                f"{MOST_SHARED}. Use separate launches."
            )
        return Shape(grid, block, shared, shapes[0].cluster)

    def _extent(self, what: str, shapes: Sequence[Shape]) -> Extent:
        """Along one axis where W was woven without knowing it: no kernel then sees its own numbers in W's."""
        sizes = self.carried(what, shapes)
        totals = [_product(a) for a in sizes]
        most = max(t or 0 for t in totals)
        if what == "grid" and len(set(sizes)) > 1 and most > MOST_CTAS[0]:
            raise TooLarge(f"grids that differ are woven up to {MOST_CTAS[0]} CTAs; this one would have {most}.")
        if what == "block" and self.alike:
            return sizes[0]
        if what == "grid" and self.lead:
            return self.lead.grid(shapes[0].axes(what))
        if None in totals:
            return None, 1, 1
        if None in map(_product, self.carried(what, self.shapes)):
            return most, 1, 1
        return max((a for a, t in zip(sizes, totals, strict=True) if t == most), key=_trouble)

    def axes(self, what: str) -> Axes:
        """W's own."""
        return self.shape.axes(what)

    @classmethod
    def of(cls, plan: Plan, **own: Any) -> Self:
        """The plan as one of this kind, which has `own` of its own."""
        return cls(**{f.name: getattr(plan, f.name) for f in fields(plan)}, **own)

    def first_thread(self, kernel: int) -> int:
        """Of W's CTA, the one that is the kernel's thread 0."""
        return 0

    def carried(self, what: str, shapes: Sequence[Shape]) -> list[Axes]:
        """Of each kernel, the CTAs of W that carry its grid, or its threads."""
        sizes = [s.axes(what) for s in shapes]
        return [c.grid(s) for c, s in zip(self.coarse, sizes, strict=True)] if what == "grid" else sizes

    @cached_property
    def alike(self) -> bool:
        """Whether the shapes of all kernels are the same, known or not."""
        return self.common or len(self.shapes) == 1

    @cached_property
    def lead(self) -> Coarse | None:
        """How W's grid comes, axis by axis, from the one that all kernels have, known or not; None if they have none
        in common, or nobody can know yet which of them has the most CTAs in the end."""
        least = min(self.coarse, key=lambda c: c.factor)
        return least if self.alike and (least.factor == 1 or len({*self.coarse}) == 1) else None

    def keeps(self, what: str, kernel: int) -> bool:
        """Whether CTA by CTA, or thread by thread, what W has is what carries the kernel, along every axis."""
        if self.alike and (what == "block" or self.coarse[kernel] == self.lead):
            return True
        sizes = self.carried(what, self.shapes)[kernel]
        return None not in sizes and sizes == self.axes(what)

    def shown(self, what: str, axis: int) -> bool:
        """Whether W's grid or block is that of all kernels along the axis."""
        if what == "block":
            return self.alike
        return self.lead is not None and (self.lead.factor == 1 or axis != self.lead.axis)

    @property
    def order(self) -> list[int]:
        """In which the kernels' dynamic memory lies in W's: unknown sizes last, so that few offsets depend on them."""
        return sorted(range(len(self.shapes)), key=lambda k: self.shapes[k].shared is None)

    def offsets(self, shapes: Sequence[Shape]) -> tuple[list[int], int]:
        """Where in W's dynamic memory that of each kernel begins, in bytes, and where the last one's ends. Ahead of
        the dynamic arrays lies what was carved; an unknown size counts nothing."""
        offsets, end = [0] * len(shapes), 0
        for k in self.order:
            offsets[k] = aligned(end)
            size = self.needed(k, shapes)
            end = offsets[k] + size if size else end
        return offsets, end

    def start(self, kernel: int, copy: int) -> int:
        """Where the dynamic memory of a copy of the kernel begins, in bytes, as far as that is known."""
        return self.offsets(self.shapes)[0][kernel] + copy * aligned(self._part(kernel, self.shapes))

    def needed(self, kernel: int, shapes: Sequence[Shape]) -> int:
        """Bytes of the dynamic memory of all copies of the kernel, which begin at multiples of `ALIGNMENT`."""
        part = self._part(kernel, shapes)
        return (self.coarse[kernel].factor - 1) * aligned(part) + part

    def _part(self, kernel: int, shapes: Sequence[Shape]) -> int:
        """Bytes of the dynamic memory of each copy of the kernel."""
        shared = shapes[kernel].shared
        return self.carved[kernel] if shared == 0 else aligned(self.carved[kernel]) + (shared or 0)

    # What is known at launch only ----------------------------------------------------------------------

    @cached_property
    def roles(self) -> tuple[str, ...]:
        """Of the hidden parameters, all of them `.u32`: "A.grid.x" the CTAs of kernel A along x, "A.block.x" its
        threads, "A.shared" its bytes of dynamic shared memory, "A.spread" how densely its CTAs lie (see `spread`)."""
        found = []
        for k, (letter, shape) in enumerate(zip(self.letters, self.shapes, strict=True)):
            for what in ("grid", "block"):
                unknown = [i for i, n in enumerate(shape.axes(what)) if n is None and not self.shown(what, i)]
                found += [f"{letter}.{what}.{AXES[i]}" for i in unknown]
            if shape.shared is None:
                found.append(f"{letter}.shared")
            if self.is_spread(k) and self.among(k, self.shapes) is None and not self.keeps("grid", k):
                found.append(f"{letter}.spread")
        return tuple(found)

    def values(self, shapes: Sequence[Shape]) -> dict[str, int]:
        """By role, for shapes all of which are known."""
        found: dict[str, int] = {}
        carried = map(_product, self.carried("grid", shapes))
        for k, (letter, shape, ctas) in enumerate(zip(self.letters, shapes, carried, strict=True)):
            for what in ("grid", "block"):
                found |= {f"{letter}.{what}.{a}": n or 0 for a, n in zip(AXES, shape.axes(what), strict=True)}
            found[f"{letter}.shared"] = shape.shared or 0
            found[f"{letter}.spread"] = spread(ctas or 0, self.among(k, shapes) or 0)
        return {role: found[role] for role in self.roles}

    def is_spread(self, kernel: int) -> bool:
        """Whether the kernel's CTAs lie as `spread` has them."""
        return self.placement == "spread"

    def among(self, kernel: int, shapes: Sequence[Shape]) -> int | None:
        """How many CTAs those of the kernel are spread over; None if that is known at launch only."""
        return self.launched(shapes).ctas

    def filled(
        self,
        shapes: Sequence[Shape] | None = None,
        grid: Extent = None,
        block: Extent = None,
        shared: int | None = None,
    ) -> tuple[Shape, ...]:
        """The kernels' shapes with nothing unknown, from `shapes` or from what is common to all kernels. Raises
        `InputError` where that contradicts what was woven, and where something is missing."""
        if shapes is not None and len(shapes) != len(self.shapes):
            raise InputError(f"shapes= takes one for each of the kernels {', '.join(self.letters)}.")
        filled = []
        for k, (letter, stated) in enumerate(zip(self.letters, self.shapes, strict=True)):
            common = Shape(
                stated.grid if grid is None else grid,
                stated.block if block is None else block,
                stated.shared if shared is None else shared,
                stated.cluster,
            )
            for given in [common] if shapes is None else [common, shapes[k]]:
                # No bytes are none that were said; those of a common shape are for kernels that do not know theirs.
                own = stated.shared is not None and (self.common or not given.shared)
                stated = _agreed(letter, stated, replace(given, shared=stated.shared) if own else given)
            if not stated.known:
                raise InputError(
                    f"the shape of kernel {letter} is not known ({stated}); give it with shapes=, as in "
                    "shapes=[goptx.Shape(grid=1024, block=256), ...]."
                )
            filled.append(stated)
        if self.common and len({(s.grid, s.block) for s in filled}) > 1:
            raise InputError(
                f"the kernels {', '.join(self.letters)} were woven for one common grid and block, which these shapes "
                "are not; give `weave` the shapes."
            )
        return tuple(filled)

    @property
    def _called(self) -> str:
        coarse = (f" ({c})" if c.factor > 1 else "" for c in self.coarse)
        return ", ".join(map("".join, zip(self.letters, coarse, strict=True)))

    def __str__(self) -> str:
        smaller = len({*self.carried("grid", self.shapes)}) > 1
        return f"launch as {self.shape}, {self._described}{f', {self.placement}' if smaller else ''}"

    @property
    def _described(self) -> str:
        kernels = [
            f"{letter} as {shape}{f' ({coarse})' if coarse.factor > 1 else ''}"
            for letter, shape, coarse in zip(self.letters, self.shapes, self.coarse, strict=True)
        ]
        return ", ".join(kernels)


def aligned(size: int) -> int:
    """Up to the next multiple of `ALIGNMENT`."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def spread(ctas: int, total: int) -> int:
    """How many of a kernel's `ctas` there are for each of the `total` CTAs of W, less one, in units of 2**-32.

    With n = c * (spread + 1), CTA c of W carries the kernel's CTA n >> 32 if the low half of n is at most `spread`: the
    CTAs at which the high half has just become a new one. At the last c it has to be `ctas` - 1: the ratio, rounded up,
    is never too small for that, and kept from being too large.
    """
    ratio = -(-(ctas << 32) // total)
    return (min(ratio, ((ctas << 32) - 1) // (total - 1)) if total > 1 else ratio) - 1


def _product(sizes: Axes) -> int | None:
    return None if None in sizes else prod(n or 0 for n in sizes)


def _trouble(extent: Axes) -> int:
    """What it takes to find a number's coordinates in it: nothing in one dimension, masks for powers of two."""
    return sum(1 if n & (n - 1) == 0 else 4 for n in (m or 0 for m in extent[:2]) if n > 1) * (extent[1:] != (1, 1))


def _agreed(letter: str, stated: Shape, given: Shape) -> Shape:
    """What is known of either."""
    sizes: list[int | None] = []
    for known, new in zip(_sizes(stated), _sizes(given), strict=True):
        if None not in (known, new) and known != new:
            raise InputError(f"kernel {letter} was woven for the shape {stated}, which {given} contradicts.")
        sizes.append(new if known is None else known)
    return Shape(sizes[:3], sizes[3:6], sizes[6], stated.cluster)


def _sizes(shape: Shape) -> list[int | None]:
    return [*shape.axes("grid"), *shape.axes("block"), shape.shared]
