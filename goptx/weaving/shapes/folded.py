"""The launch of a fused kernel whose CTAs are fewer than those of its kernels: folded grids.

Requires: a plan with a partition. Ensures: each CTA of each kernel is run once, as a *virtual CTA*, by the warps that
one CTA of the fused kernel gives the kernel: its *team*. A team runs several of them, one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import ClassVar, Self

from goptx.errors import InputError, TooLarge
from goptx.launch.coarsening import Coarse
from goptx.launch.launch_plan import TICKETS
from goptx.launch.shape import MOST_CTAS, Extent, Shape
from goptx.options import FOLDS, Fold, Placement
from goptx.weaving.shapes.partitioned import Partitioned
from goptx.weaving.shapes.thread_view import WARPGROUP

REGISTER_STEP = 8  # the unit of registers that a warpgroup takes or gives up
FEWEST_REGISTERS, MOST_REGISTERS = 24, 256  # of a thread after `setmaxnreg` (PTX ISA)
SM_REGISTERS = 1 << 16
MOST_AT_ENTRY = 255  # registers of a thread when a kernel begins


@dataclass(frozen=True)
class Folded(Partitioned):
    """fold: which virtual CTAs a team runs: "static" is every n-th, n being the CTAs of the fused kernel; "chunk" is a
    contiguous piece; "ticket" is one of the first n, and then, whenever the team is done, the next one that no team has
    (ticket_code.py).
    ctas: the CTAs of the fused kernel, unless its kernels all have fewer.
    registers: of a thread of each kernel, after registers were moved between the teams; empty if they are not.
    moves: whether the target can move registers. Else the fused kernel has their mean as a cap."""

    fold: Fold = "static"
    ctas: int = 1
    registers: tuple[int, ...] = ()
    moves: bool = False

    folds: ClassVar[bool] = True

    def launched(self, shapes: Sequence[Shape]) -> Shape:
        """Without clusters, which are refused."""
        return super().launched([Shape(s.grid, s.block, s.shared) for s in shapes])

    def _extent(self, what: str, shapes: Sequence[Shape]) -> Extent:
        if what == "block":
            return super()._extent(what, shapes)
        totals = [None if None in axes else prod(n or 0 for n in axes) for axes in self.carried("grid", shapes)]
        for letter, total in zip(self.letters, totals, strict=True):
            if total is not None and total > MOST_CTAS[0]:
                raise TooLarge(f"grids of up to {MOST_CTAS[0]} CTAs are folded; kernel {letter} has {total}.")
        most = None if None in totals else max(n or 0 for n in totals)
        return self.ctas if most is None else min(self.ctas, most), 1, 1

    @cached_property
    def common_grid(self) -> Coarse | None:
        """No kernel reads the fused kernel's own numbers of CTAs."""
        return None

    def covers_exactly(self, what: str, kernel: int) -> bool:
        return what == "block" and super().covers_exactly(what, kernel)

    def is_spread(self, kernel: int) -> bool:
        return False

    def few_first(self) -> Self:
        return self

    @property
    def draws(self) -> bool:
        """Whether teams draw the numbers of their virtual CTAs."""
        return self.fold == "ticket"

    @cached_property
    def roles(self) -> tuple[str, ...]:
        """With the number of the launch's counters, if teams draw from them."""
        return (*super().roles, TICKETS) if self.draws else super().roles

    @property
    def registers_at_entry(self) -> int | None:
        """Of a thread of the fused kernel when it begins: as many as all teams have together, shared out equally. None
        if registers are not moved."""
        if not self.registers:
            return None
        all_of_them = sum(n * r for n, r in zip(self.partition, self.registers, strict=True))
        return -(-all_of_them // (sum(self.partition) * REGISTER_STEP)) * REGISTER_STEP

    def __str__(self) -> str:
        how = {"static": "every n-th", "chunk": "a contiguous piece", "ticket": "the next one that is left"}[self.fold]
        moved = [f"{k} {r}" for k, r in zip(self.letters, self.registers, strict=False)]
        text = f"{super().__str__()}; folded grids: n = {self.axes('grid')[0]} CTAs, each runs {how} of each kernel's"
        if not moved:
            return text
        if self.moves:
            return f"{text}; registers of a thread: {self.registers_at_entry} at entry, then {', '.join(moved)}"
        return f"{text}; registers of a thread: at most {self.registers_at_entry}, for the target cannot move them"


def folded(plan: Partitioned, fold: Fold, ctas: int, registers: Sequence[int] | None, moves: bool) -> Folded:
    """Raises `InputError` where registers cannot be moved between such parts."""
    made = Folded.of(plan, fold=fold, ctas=ctas, registers=tuple(registers or ()), moves=moves)
    if registers:
        for letter, threads in zip(made.letters, made.partition, strict=True):
            if threads % WARPGROUP:
                raise InputError(
                    f"role_registers= moves registers between whole warpgroups of {WARPGROUP} threads, but kernel "
                    f"{letter} has {threads} threads; leave it out, or fuse kernels with such blocks."
                )
        total = (made.registers_at_entry or 0) * sum(made.partition)
        if total > SM_REGISTERS or (made.registers_at_entry or 0) > MOST_AT_ENTRY:
            raise InputError(
                f"role_registers={tuple(registers)} takes {total} registers for a CTA of {sum(made.partition)} threads;"
                f" an SM has {SM_REGISTERS}, and a thread at most {MOST_AT_ENTRY} at entry. Give fewer."
            )
    return made


def check_fold(
    fold: Fold | None,
    ctas: int | None,
    registers: Sequence[int] | None,
    placement: Placement | None,
    kernels: int,
) -> None:
    """Raises `InputError` where the options of folded grids make no sense, whatever the kernels are."""
    if fold not in (None, *FOLDS):
        raise InputError(f"fold `{fold}` is unknown; expected one of {', '.join(FOLDS)}, or None.")
    if fold is None:
        for name, value in (("ctas", ctas), ("role_registers", registers)):
            if value is not None:
                raise InputError(f'{name}={value} is an option of folded grids; give fold="static", too.')
        return
    if placement is not None:
        raise InputError(
            f'placement="{placement}" says where the CTAs of a smaller grid lie, and fold="{fold}" says it, too; give '
            "one of them."
        )
    if ctas is not None and (isinstance(ctas, bool) or not isinstance(ctas, int) or not 0 < ctas <= MOST_CTAS[0]):
        raise InputError(f"ctas={ctas} is not a number of CTAs from 1 to {MOST_CTAS[0]}.")
    if registers is None:
        return
    if isinstance(registers, str | int) or len(registers) != kernels:
        raise InputError(f"role_registers={registers} takes a number of registers for each of the {kernels} kernels.")
    for number in registers:
        whole = isinstance(number, int) and not isinstance(number, bool)
        if not whole or not FEWEST_REGISTERS <= number <= MOST_REGISTERS or number % REGISTER_STEP:
            raise InputError(
                f"role_registers={tuple(registers)}: {number} is not a multiple of {REGISTER_STEP} from "
                f"{FEWEST_REGISTERS} to {MOST_REGISTERS}."
            )


def moves_registers(target: str) -> bool:
    """Whether `setmaxnreg` is there: on sm_90a, and from sm_100 on with `a` or `f` (PTX ISA, setmaxnreg)."""
    number = int("".join(c for c in target if c.isdigit()))
    return target == "sm_90a" or (number >= 100 and target[-1] in "af")
