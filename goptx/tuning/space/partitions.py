"""The partitions of a horizontal kernel that tuning tries: how many threads of its CTA each kernel gets.

The search is that of HFUSE (CGO 2022), for any number of kernels. Only kernels that are declared tunable get a number
of threads other than that of their own block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from goptx.errors import InputError
from goptx.launch.shape import MOST_THREADS, Shape
from goptx.log import LOG
from goptx.options import is_whole

STEP = 128  # threads from one partition to the next, as published
WARP = 32
MOST = 64  # partitions of a search

Partition = tuple[int, ...]
D0 = int | Sequence[int]


def sizes_of(d0: D0 | None) -> tuple[int, ...]:
    """The sizes of a fused CTA (threads) to search, each once; empty if `d0` is None. Raises `InputError` for a size
    that is not a multiple of 128 up to 1,024."""
    if d0 is None:
        return ()
    sizes = (d0,) if isinstance(d0, int) else tuple(d0)
    if not sizes or not all(is_whole(n) and n in range(STEP, MOST_THREADS + 1, STEP) for n in sizes):
        raise InputError(
            f"d0={d0!r} takes the threads of a fused CTA, one number or several: multiples of {STEP} up to "
            f"{MOST_THREADS}, for example d0=768 or d0=[512, 1024]."
        )
    return tuple(dict.fromkeys(sizes))


@dataclass(frozen=True, slots=True)
class Partitions:
    """The partitions for kernels in these shapes, which are wholly known; `tunable` marks the kernels that are right
    with other blocks.

    sizes: threads of the fused CTA, as `sizes_of` gives them. Without sizes, the CTA has as many threads as the blocks
        of all kernels in sum and, as in the paper, 1,024; if only one kernel is tunable, that kernel gets each multiple
        of 128 that fits.
    """

    shapes: Sequence[Shape]
    tunable: Sequence[bool]
    sizes: Sequence[int] = ()

    def check(self) -> None:
        """Raises `InputError` if `sizes` are given and no partition has any of them."""
        if not self.sizes:
            return
        stated = f"d0={', '.join(map(str, self.sizes))}"
        if len(self.shapes) < 2:
            raise InputError(f"{stated}: one kernel alone has no partition; give two kernels or more.")
        if not any(self.tunable):
            raise InputError(
                f"{stated}: no kernel takes another block than its own; declare those that are right with any multiple "
                f"of {WARP} threads, by `tunable = true` in their launch specifications."
            )
        lacking = [size for size in self.sizes if not any(self._fits(p) for p in self._of_size(size))]
        if len(lacking) == len(self.sizes):
            raise InputError(
                f"{stated}: no partition has so many threads: kernels that are not tunable take {self._fixed}, and "
                f"each tunable one whole rows of its block, {STEP} threads or more; give another size."
            )
        for size in lacking:
            LOG.warning("d0=%s is left out: no partition of the kernels has so many threads", size)

    def all(self) -> list[Partition]:
        """The partitions in the order of their sizes, without the partition of the kernels' own blocks. If there are
        more than `MOST`, `MOST` at equal distances in this order are taken, and the number left out is logged."""
        found = dict.fromkeys(p for size in self._totals for p in self._of_size(size))
        fitting = [p for p in found if p != self._own and self._fits(p)]
        if len(fitting) <= MOST:
            return fitting
        LOG.warning("%s of %s partitions are left out: %s are tried at most", len(fitting) - MOST, len(fitting), MOST)
        return [fitting[k * len(fitting) // MOST] for k in range(MOST)]

    @property
    def _own(self) -> Partition:
        """The kernels' own blocks, in whole warps."""
        return tuple(-(-(shape.threads or 0) // WARP) * WARP for shape in self.shapes)

    @property
    def _fixed(self) -> int:
        """Threads of the kernels that are not tunable."""
        return sum(n for n, free in zip(self._own, self.tunable, strict=True) if not free)

    @property
    def _totals(self) -> Sequence[int]:
        free = sum(self.tunable)
        if len(self.shapes) < 2 or not free:
            return ()
        if self.sizes:
            return self.sizes
        if free == 1:
            return range(self._fixed + STEP, MOST_THREADS + 1, STEP)
        return (min(sum(self._own), MOST_THREADS), MOST_THREADS)

    def _of_size(self, total: int) -> Iterator[Partition]:
        """Every partition of `total` threads: the tunable kernels share what the others leave."""
        for shares in _shared_out(total - self._fixed, sum(self.tunable)):
            share = iter(shares)
            yield tuple(next(share) if free else n for n, free in zip(self._own, self.tunable, strict=True))

    def _fits(self, partition: Partition) -> bool:
        """Whether each kernel has whole warps, and a tunable kernel's block changes along its last axis only."""
        rows = [prod(n or 1 for n in shape.block[:-1]) for shape in self.shapes]
        each = zip(partition, rows, self.tunable, strict=True)
        return all(n % WARP == 0 and (not free or n % row == 0) for n, row, free in each)


def _shared_out(threads: int, kernels: int) -> Iterator[Partition]:
    """All but the last kernel get multiples of `STEP`, the last one the rest."""
    if kernels == 1 and threads > 0:
        yield (threads,)
    for first in range(STEP, threads, STEP) if kernels > 1 else ():
        for rest in _shared_out(threads - first, kernels - 1):
            yield (first, *rest)
