"""From the shapes of the kernels to that of the fused kernel, and to the values of its hidden parameters.

Requires: one shape for each kernel. Ensures: the fused kernel has enough threads and CTAs for every kernel, and sizes
that are known when the kernels are woven have the same values when they are launched.
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
from goptx.options import AXES, Fold, Placement

ALIGNMENT = 1024  # bytes, of each kernel's dynamic shared memory: TMA and wgmma rely on it
AT_ONCE = 132 * 2048  # threads that an H200 runs at once; no other GPU runs many more
WARP = 32  # threads
FEW = 4  # a kernel with at most one part in so many of the threads that run at once is one of few CTAs
STRIDE = 128  # CTAs of the fused kernel from one CTA of a strided kernel to the next; assumptions have 1 % of them live
COUNTERS = 1 << 14  # launches of a loaded kernel that may run at once, where grids are folded by tickets
TICKETS = "tickets"  # the role of the number of the counters that such a launch uses


@dataclass(frozen=True)
class Plan:
    """How the fused kernel is to be launched.

    letters, shapes: of the kernels, with None for sizes that are known only at launch.
    placement: how the CTAs of a smaller grid are distributed over those of the fused kernel.
    carved: for each kernel, the bytes of its static shared memory that are in the fused kernel's dynamic memory
        instead.
    coarse: for each kernel, how many of its CTAs are in one CTA of the fused kernel.
    common: whether all kernels are launched in one shape, whatever it is.
    strided: the kernels of which each CTA is `STRIDE` after the one before it, among those that carry the kernel.
    """

    __repr__ = brief

    letters: tuple[str, ...]
    shapes: tuple[Shape, ...]
    placement: Placement
    carved: tuple[int, ...]
    coarse: tuple[Coarse, ...]
    common: bool = False
    strided: frozenset[int] = frozenset()

    overlaid: ClassVar[bool] = False  # whether each CTA belongs to one kernel, which has all of its memory

    @property
    def folds(self) -> bool:
        """Whether a CTA runs several CTAs of a kernel, one after the other."""
        return self.fold_of_teams is not None

    @property
    def fold_of_teams(self) -> Fold | None:
        """Which CTAs that are; None if it runs one."""
        return None

    @property
    def draws(self) -> bool:
        """Whether a launch draws numbers from counters in global memory."""
        return False

    @property
    def is_bound(self) -> bool:
        """Whether a CTA learns from such a counter which kernel it runs, and which of its CTAs."""
        return False

    @cached_property
    def shape(self) -> Shape:
        """The shape of the fused kernel, with None for sizes that are known only at launch."""
        return self.launched(self.shapes)

    def launched(self, shapes: Sequence[Shape]) -> Shape:
        """The shape of the fused kernel for these shapes of the kernels, which are `self.shapes` with more of them
        known. Raises `InputError` where no such launch is possible."""
        grid, block = (self._extent(what, shapes) for what in ("grid", "block"))
        shared = None if any(s.shared is None for s in shapes) else self.offsets(shapes)[1]
        if shared is not None and shared > MOST_SHARED:
            raise TooLarge(
                f"together the kernels {self._called} need {shared} bytes of dynamic shared memory; a CTA has at most "
                f"{MOST_SHARED}. Use separate launches."
            )
        return Shape(grid, block, shared, shapes[0].cluster)

    def _extent(self, what: str, shapes: Sequence[Shape]) -> Extent:
        """The extent along one axis of unknown size: no kernel then uses the fused kernel's numbers as its own."""
        sizes = self.carried(what, shapes)
        totals = [_product(a) for a in sizes]
        most = max(t or 0 for t in totals)
        if what == "grid" and len(set(sizes)) > 1 and most > MOST_CTAS[0]:
            raise TooLarge(
                f"grids that differ are woven up to {MOST_CTAS[0]} CTAs; this one would have {most}. Use separate "
                "launches."
            )
        if what == "block" and self.same_shape:
            return sizes[0]
        if what == "grid" and self.common_grid:
            return self.common_grid.grid(shapes[0].axes(what))
        if None in totals:
            return None, 1, 1
        if None in map(_product, self.carried(what, self.shapes)):
            return most, 1, 1
        return max((a for a, t in zip(sizes, totals, strict=True) if t == most), key=_trouble)

    def axes(self, what: str) -> Axes:
        """The sizes of the fused kernel's grid or block along all axes."""
        return self.shape.axes(what)

    @classmethod
    def of(cls, plan: Plan, **own: Any) -> Self:
        """The plan as an instance of this class, which adds the fields `own`."""
        return cls(**{f.name: getattr(plan, f.name) for f in fields(plan)}, **own)

    def first_thread(self, kernel: int) -> int:
        """The thread of the fused kernel's CTA that is the kernel's thread 0."""
        return 0

    def teams_of(self, kernel: int) -> int:
        """How many CTAs of the kernel (or groups of coarsened ones) a CTA of the fused kernel runs side by side, each
        in threads of its own."""
        return 1

    def parts_of(self, kernel: int) -> int:
        """How many teams it takes to run one CTA of the kernel, at the same time or not: its warps are divided."""
        return 1

    def helpers_of(self, kernel: int) -> int:
        """How many teams of another kernel run CTAs of this one, too, when no CTA of their own kernel is left."""
        return 0

    def places_of(self, kernel: int) -> int:
        """For how many teams a CTA of the fused kernel has the kernel's shared memory and barriers."""
        return self.teams_of(kernel) + self.helpers_of(kernel)

    def carried(self, what: str, shapes: Sequence[Shape]) -> list[Axes]:
        """For each kernel, the CTAs (or threads) of the fused kernel that carry its grid (or block)."""
        sizes = [s.axes(what) for s in shapes]
        return [c.grid(s) for c, s in zip(self.coarse, sizes, strict=True)] if what == "grid" else sizes

    def totals_to_fold(self, shapes: Sequence[Shape]) -> list[int | None]:
        """How many CTAs of folded grids carry each kernel, None if unknown. Raises `TooLarge` for more than their loops
        can count."""
        totals = [_product(axes) for axes in self.carried("grid", shapes)]
        for letter, total in zip(self.letters, totals, strict=True):
            if total is not None and total > MOST_CTAS[0]:
                raise TooLarge(
                    f"grids of up to {MOST_CTAS[0]} CTAs are folded; kernel {letter} has {total}. Leave out fold=, or "
                    "use separate launches."
                )
        return totals

    def few_first(self) -> Self:
        """The plan in which the CTAs of smaller grids come first, if the GPU runs them all at once and the largest grid
        takes much longer to begin. Spread over that grid, the last of them would begin at its end, and each may be
        long."""
        few = self.few
        return replace(self, placement="front") if few and len(few) == len(self.shapes) - 1 else self

    @property
    def few(self) -> frozenset[int]:
        """As `of_few_ctas`, of the CTAs that carry the kernels."""
        ctas = map(_product, self.carried("grid", self.shapes))
        return of_few_ctas([(n, s.threads) for n, s in zip(ctas, self.shapes, strict=True)], self.overlaid)

    @cached_property
    def same_shape(self) -> bool:
        """Whether the shapes of all kernels are the same, known or not."""
        return self.common or len(self.shapes) == 1

    @cached_property
    def common_grid(self) -> Coarse | None:
        """The coarsening from the grid that all kernels have, known or not, to the fused kernel's grid; None if they
        have no common grid, or it is still unknown which of them has the most CTAs."""
        least = min(self.coarse, key=lambda c: c.factor)
        return least if self.same_shape and (least.factor == 1 or len({*self.coarse}) == 1) else None

    def covers_exactly(self, what: str, kernel: int) -> bool:
        """Whether the fused kernel's grid or block equals the one that carries the kernel, along every axis."""
        if what == "grid" and kernel in self.strided:
            return False
        if self.same_shape and (what == "block" or self.coarse[kernel] == self.common_grid):
            return True
        sizes = self.carried(what, self.shapes)[kernel]
        return None not in sizes and sizes == self.axes(what)

    def is_common(self, what: str, axis: int) -> bool:
        """Whether the fused kernel's grid or block is the common one of all kernels along the axis."""
        if what == "block":
            return self.same_shape
        return self.common_grid is not None and (self.common_grid.factor == 1 or axis != self.common_grid.axis)

    @property
    def order(self) -> list[int]:
        """The order of the kernels' dynamic memory: unknown sizes last, so that few offsets depend on them."""
        return sorted(range(len(self.shapes)), key=lambda k: self.shapes[k].shared is None)

    def offsets(self, shapes: Sequence[Shape]) -> tuple[list[int], int]:
        """The offset of each kernel's dynamic memory in that of the fused kernel, in bytes, and the end of the last
        one. Carved memory comes before the dynamic arrays; an unknown size counts as 0."""
        offsets, end = [0] * len(shapes), 0
        for k in self.order:
            offsets[k] = aligned(end)
            size = self.needed(k, shapes)
            end = offsets[k] + size if size else end
        return offsets, end

    def start(self, kernel: int, copy: int) -> int:
        """The offset of the dynamic memory of a copy of the kernel, in bytes, as far as it is known."""
        return self.offsets(self.shapes)[0][kernel] + copy * aligned(self._part(kernel, self.shapes))

    def needed(self, kernel: int, shapes: Sequence[Shape]) -> int:
        """Bytes of the dynamic memory of all copies of the kernel, which begin at multiples of `ALIGNMENT`; of those of
        all teams."""
        part, parts = self._part(kernel, shapes), self.coarse[kernel].factor * self.places_of(kernel)
        return (parts - 1) * aligned(part) + part

    def stride(self, kernel: int) -> int:
        """How many bytes of dynamic memory lie between the parts of two teams of the kernel."""
        return self.coarse[kernel].factor * aligned(self._part(kernel, self.shapes))

    def _part(self, kernel: int, shapes: Sequence[Shape]) -> int:
        """Bytes of the dynamic memory of each copy of the kernel."""
        shared = shapes[kernel].shared
        return self.carved[kernel] if shared == 0 else aligned(self.carved[kernel]) + (shared or 0)

    # Values known only at launch -----------------------------------------------------------------------

    @cached_property
    def roles(self) -> tuple[str, ...]:
        """The roles of the hidden parameters, all of them `.u32`: "A.grid.x" the CTAs of kernel A along x, "A.block.x"
        its threads, "A.shared" its bytes of dynamic shared memory, "A.spread" the density of its CTAs (see
        `spread`), `TICKETS` the number of the counters that the launch draws from."""
        found = []
        for k, (letter, shape) in enumerate(zip(self.letters, self.shapes, strict=True)):
            for what in ("grid", "block"):
                unknown = [i for i, n in enumerate(shape.axes(what)) if n is None and not self.is_common(what, i)]
                found += [f"{letter}.{what}.{AXES[i]}" for i in unknown]
            if shape.shared is None:
                found.append(f"{letter}.shared")
            if self.is_spread(k) and self.among(k, self.shapes) is None and not self.covers_exactly("grid", k):
                found.append(f"{letter}.spread")
        return (*found, TICKETS) if self.draws else tuple(found)

    def values(self, shapes: Sequence[Shape]) -> dict[str, int]:
        """The values by role, for known shapes. Of counters it is the first: what launches may take others."""
        found: dict[str, int] = {}
        carried = map(_product, self.carried("grid", shapes))
        for k, (letter, shape, ctas) in enumerate(zip(self.letters, shapes, carried, strict=True)):
            for what in ("grid", "block"):
                found |= {f"{letter}.{what}.{a}": n or 0 for a, n in zip(AXES, shape.axes(what), strict=True)}
            found[f"{letter}.shared"] = shape.shared or 0
            found[f"{letter}.spread"] = spread(ctas or 0, self.among(k, shapes) or 0)
        return {role: 0 if role == TICKETS else found[role] for role in self.roles}

    def is_spread(self, kernel: int) -> bool:
        """Whether the kernel's CTAs are distributed as by `spread`."""
        return self.placement == "spread"

    def among(self, kernel: int, shapes: Sequence[Shape]) -> int | None:
        """The number of CTAs over which those of the kernel are spread; None if known only at launch."""
        return self.launched(shapes).ctas

    def filled(
        self,
        shapes: Sequence[Shape] | None = None,
        grid: Extent = None,
        block: Extent = None,
        shared: int | None = None,
    ) -> tuple[Shape, ...]:
        """The kernels' shapes with all sizes known, from `shapes` or from the common arguments. Raises `InputError`
        where that contradicts the shapes at weaving, or a size is missing."""
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
                # 0 bytes is the default, so it does not contradict a known size; nor does the size of a common shape.
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
        smaller = not self.folds and len({*self.carried("grid", self.shapes)}) > 1
        strides = [f", CTAs of {self.letters[k]} in strides of {STRIDE}" for k in sorted(self.strided)]
        return f"launch as {self.shape}, {self._described}{f', {self.placement}' if smaller else ''}{''.join(strides)}"

    @property
    def _described(self) -> str:
        kernels = [
            f"{letter} as {shape}{f' ({coarse})' if coarse.factor > 1 else ''}"
            for letter, shape, coarse in zip(self.letters, self.shapes, self.coarse, strict=True)
        ]
        return ", ".join(kernels)


def aligned(size: int) -> int:
    """The size rounded up to a multiple of `ALIGNMENT`."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def of_few_ctas(grids: Sequence[tuple[int | None, int | None]], interleaved: bool = False) -> frozenset[int]:
    """The kernels of which a GPU runs all threads at once, if the largest has more than twice as many as that; each
    with its CTAs and the threads of one. Of `interleaved` kernels, whose CTAs are all in one grid, also those with at
    most a quarter of the threads that it runs at once, and of those of the largest, if it does not run all of them at
    once: one of the last CTAs of few may be long. None of them if a size is known only at launch."""
    threads = [ctas * -(-block // WARP) * WARP for ctas, block in grids if ctas is not None and block is not None]
    if len(threads) < len(grids):
        return frozenset()
    most = max(threads)
    if most > 2 * AT_ONCE:
        return frozenset(k for k, n in enumerate(threads) if n <= AT_ONCE)
    small = interleaved and sum(threads) > AT_ONCE
    return frozenset(k for k, n in enumerate(threads) if small and n <= min(most, AT_ONCE) // FEW)


def spread(ctas: int, total: int) -> int:
    """The ratio of a kernel's `ctas` to the `total` CTAs of the fused kernel, less one, in units of 2**-32.

    With n = c * (spread + 1), CTA c of the fused kernel carries the kernel's CTA n >> 32 if the low half of n is at
    most `spread`: these are the CTAs at which the high half has just increased. At the last c the high half must be
    `ctas - 1`: the ratio is rounded up, so it is never too small for that, and bounded, so it is not too large.
    """
    ratio = -(-(ctas << 32) // total)
    return (min(ratio, ((ctas << 32) - 1) // (total - 1)) if total > 1 else ratio) - 1


def _product(sizes: Axes) -> int | None:
    return None if None in sizes else prod(n or 0 for n in sizes)


def _trouble(extent: Axes) -> int:
    """The cost of computing a number's coordinates in it: nothing in one dimension, masks for powers of two."""
    return sum(1 if n & (n - 1) == 0 else 4 for n in (m or 0 for m in extent[:2]) if n > 1) * (extent[1:] != (1, 1))


def _agreed(letter: str, stated: Shape, given: Shape) -> Shape:
    """The shape with the sizes known from either."""
    sizes: list[int | None] = []
    for known, new in zip(_sizes(stated), _sizes(given), strict=True):
        if None not in (known, new) and known != new:
            raise InputError(f"kernel {letter} was woven for the shape {stated}, which {given} contradicts.")
        sizes.append(new if known is None else known)
    return Shape(sizes[:3], sizes[3:6], sizes[6], stated.cluster)


def _sizes(shape: Shape) -> list[int | None]:
    return [*shape.axes("grid"), *shape.axes("block"), shape.shared]
