"""The launch of a fused kernel whose warps are divided among the kernels: each kernel has the next ones to itself.

Requires: a shape for each kernel, its block known. Ensures: each kernel has as many warps of the fused kernel as of its
own; CTAs are placed as in any plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from goptx.errors import InputError
from goptx.launch.launch_plan import Plan
from goptx.launch.shape import MOST_THREADS, Extent, Shape
from goptx.options import is_whole
from goptx.weaving.shapes.thread_view import WARP


@dataclass(frozen=True)
class Partitioned(Plan):
    """partition: how many threads of a CTA each kernel has, whole warps in the order of the kernels; each of its teams,
    if there are several."""

    partition: tuple[int, ...] = ()

    @property
    def role_threads(self) -> tuple[int, ...]:
        """How many threads of a CTA all teams of each kernel have."""
        return tuple(threads * self.teams_of(k) for k, threads in enumerate(self.partition))

    def _extent(self, what: str, shapes: Sequence[Shape]) -> Extent:
        return (sum(self.role_threads), 1, 1) if what == "block" else super()._extent(what, shapes)

    def first_thread(self, kernel: int) -> int:
        return sum(self.role_threads[:kernel])

    def __str__(self) -> str:
        return f"{super().__str__()}, {', '.join(map(self._described_part, range(len(self.letters))))}"

    def _described_part(self, kernel: int) -> str:
        first, teams = self.first_thread(kernel), self.teams_of(kernel)
        text = f"{self.letters[kernel]} in threads {first} to {first + self.role_threads[kernel] - 1}"
        return text if teams == 1 else f"{text} ({teams} teams of {self.partition[kernel]})"


def partitioned(plan: Plan, partition: Sequence[int] | None = None) -> Partitioned:
    """With that partition, by default the kernels' own blocks in whole warps. Raises `InputError`."""
    threads = []
    for letter, shape in zip(plan.letters, plan.shapes, strict=True):
        if shape.threads is None:
            raise InputError(
                f"the block of kernel {letter} is not known ({shape}), so it has no warps of its own; give its size by "
                "shapes=, or the strategy weave."
            )
        threads.append(-(-shape.threads // WARP) * WARP)
    found = tuple(threads) if partition is None else tuple(partition)
    for letter, shape, own, given in zip(plan.letters, plan.shapes, threads, found, strict=True):
        if given != own:
            raise InputError(
                f"partition={_rendered(found)} gives kernel {letter} {given} threads, but it is launched with "
                f"{shape.threads} ({shape}); a kernel that is right with any number of warps is declared so by "
                "tunable=."
            )
    _check_sum(found)
    return Partitioned.of(plan, partition=found)


def check_partition(partition: Sequence[int], kernels: int) -> None:
    """Raises `InputError` where it is not a partition, for any kernels."""
    if isinstance(partition, str | int) or len(partition) != kernels:
        raise InputError(f"partition={partition} takes a number of threads for each of the {kernels} kernels.")
    for threads in partition:
        if not is_whole(threads) or threads < WARP or threads % WARP:
            raise InputError(f"partition={_rendered(partition)}: {threads} is not a multiple of {WARP} above 0.")
    _check_sum(partition)


def _check_sum(partition: Sequence[int]) -> None:
    if sum(partition) > MOST_THREADS:
        raise InputError(
            f"partition={_rendered(partition)} comes to {sum(partition)} threads; a CTA has at most {MOST_THREADS}. "
            "Use smaller blocks or another strategy."
        )


def _rendered(partition: Sequence[int]) -> str:
    return f"({', '.join(map(str, partition))})"
