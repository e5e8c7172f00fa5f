"""The launch of a fused kernel whose CTAs are fewer than those of its kernels: folded grids.

Requires: a plan with a partition. Ensures: each CTA of each kernel is run once, as a *virtual CTA*, by the warps that
one CTA of the fused kernel gives the kernel: its *team*. A team runs several of them, one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from goptx.errors import InputError
from goptx.launch.coarsening import Coarse
from goptx.launch.launch_plan import Plan
from goptx.launch.shape import MOST_CTAS, MOST_THREADS, Extent, Shape
from goptx.options import FOLDS, Fold, Placement, is_one_for_each, is_whole
from goptx.weaving.shapes.interleaved import ORDERS
from goptx.weaving.shapes.partitioned import Partitioned
from goptx.weaving.shapes.thread_view import WARP, WARPGROUP

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
    teams: how many teams of each kernel a CTA has; empty if each has one.
    parts: into how many parts of equally many warps each CTA of a kernel is divided, which teams run as if they were
        CTAs; empty if none is.
    helper: the kernel whose teams run CTAs of the other one when none of their own is left (helping.py).
    moves: whether the target can move registers. Else the fused kernel has their mean as a cap."""

    fold: Fold = "static"
    ctas: int = 1
    registers: tuple[int, ...] = ()
    moves: bool = False
    teams: tuple[int, ...] = ()
    parts: tuple[int, ...] = ()
    helper: int | None = None

    @property
    def fold_of_teams(self) -> Fold:
        return self.fold

    def teams_of(self, kernel: int) -> int:
        return self.teams[kernel] if self.teams else 1

    def parts_of(self, kernel: int) -> int:
        return self.parts[kernel] if self.parts else 1

    def helpers_of(self, kernel: int) -> int:
        if self.helper is None or self.helper == kernel:
            return 0
        return self.teams_of(self.helper) * self.teams_in_helper

    @property
    def teams_in_helper(self) -> int:
        """How many teams of the other kernel the warps of one that helps become."""
        assert self.helper is not None
        return self.partition[self.helper] // self.partition[1 - self.helper]

    def launched(self, shapes: Sequence[Shape]) -> Shape:
        """Without clusters, which are refused."""
        return super().launched([Shape(s.grid, s.block, s.shared) for s in shapes])

    def _extent(self, what: str, shapes: Sequence[Shape]) -> Extent:
        if what == "block":
            return super()._extent(what, shapes)
        totals = self.totals_to_fold(shapes)
        each = enumerate(totals)
        most = None if None in totals else max(-(-(n or 0) * self.parts_of(k) // self.teams_of(k)) for k, n in each)
        return self.ctas if most is None else min(self.ctas, most), 1, 1

    @cached_property
    def common_grid(self) -> Coarse | None:
        """No kernel reads the fused kernel's own numbers of CTAs."""
        return None

    def covers_exactly(self, what: str, kernel: int) -> bool:
        return what == "block" and self.parts_of(kernel) == 1 and super().covers_exactly(what, kernel)

    def is_spread(self, kernel: int) -> bool:
        return False

    def few_first(self) -> Self:
        return self

    @property
    def draws(self) -> bool:
        """Whether teams draw the numbers of their virtual CTAs."""
        return self.fold == "ticket"

    @property
    def registers_at_entry(self) -> int | None:
        """Of a thread of the fused kernel when it begins: as many as all teams have together, shared out equally. None
        if registers are not moved."""
        if not self.registers:
            return None
        threads = self.role_threads
        all_of_them = sum(n * r for n, r in zip(threads, self.registers, strict=True))
        return -(-all_of_them // (sum(threads) * REGISTER_STEP)) * REGISTER_STEP

    def __str__(self) -> str:
        how = ORDERS[self.fold]
        moved = [f"{k} {r}" for k, r in zip(self.letters, self.registers, strict=False)]
        text = f"{super().__str__()}; folded grids: n = {self.axes('grid')[0]} CTAs, each runs {how} of each kernel's"
        divided = [f"those of {k} in {n} parts" for k, n in zip(self.letters, self.parts, strict=False) if n > 1]
        text += f", {', '.join(divided)}" if divided else ""
        if self.helper is not None:
            text += f", and then teams of {self.letters[self.helper]} those of {self.letters[1 - self.helper]}"
        if not moved:
            return text
        if self.moves:
            return f"{text}; registers of a thread: {self.registers_at_entry} at entry, then {', '.join(moved)}"
        return f"{text}; registers of a thread: at most {self.registers_at_entry}, for the target cannot move them"


def folded(
    plan: Partitioned,
    fold: Fold,
    ctas: int,
    registers: Sequence[int] | None,
    moves: bool,
    teams: Sequence[int] | None = None,
    assist: bool = False,
    parts: Sequence[int] | None = None,
) -> Folded:
    """Raises `InputError` where registers cannot be moved between such parts, or a CTA cannot have so many teams, or
    they cannot help each other, or it cannot be divided so."""
    several, divided = (tuple(given) if given and max(given) > 1 else () for given in (teams, parts))
    made = Folded.of(
        _divided(plan, divided), fold=fold, ctas=ctas, registers=tuple(registers or ()), moves=moves, teams=several,
        parts=divided,
    )  # fmt: skip
    made = _assisting(made) if assist else made
    _check_teams(made)
    if registers:
        for letter, threads in zip(made.letters, made.role_threads, strict=True):
            if threads % WARPGROUP:
                raise InputError(
                    f"role_registers= moves registers between whole warpgroups of {WARPGROUP} threads, but kernel "
                    f"{letter} has {threads} threads; leave it out, or fuse kernels with such blocks."
                )
        total = (made.registers_at_entry or 0) * sum(made.role_threads)
        if total > SM_REGISTERS or (made.registers_at_entry or 0) > MOST_AT_ENTRY:
            raise InputError(
                f"role_registers={tuple(registers)} takes {total} registers for a CTA of {sum(made.role_threads)} "
                f"threads; an SM has {SM_REGISTERS}, and a thread at most {MOST_AT_ENTRY} at entry. Give fewer."
            )
    return made


def _divided(plan: Partitioned, parts: Sequence[int]) -> Partitioned:
    """With the threads of one part for each kernel."""
    for letter, shape, n in zip(plan.letters, plan.shapes, parts, strict=bool(parts)):
        if n > 1 and (shape.threads or 0) % (WARP * n):
            raise InputError(
                f"parts={tuple(parts)} divides CTAs of kernel {letter} into {n} parts of whole warps, but they have "
                f"{shape.threads} threads; give a number by which their warps can be divided."
            )
    return replace(plan, partition=tuple(t // n for t, n in zip(plan.partition, parts, strict=True))) if parts else plan


def _assisting(plan: Folded) -> Folded:
    """The kernel with more registers helps: its threads have enough for the other one. The first one, if both have
    equally many. A team that helps becomes several, if those of the other kernel are smaller."""
    helper = 1 if plan.registers and plan.registers[1] > plan.registers[0] else 0
    threads, helped = plan.partition[helper], plan.partition[1 - helper]
    if threads < helped or any(n & (n - 1) for n in plan.partition):
        raise InputError(
            f"assist=True lets teams of kernel {plan.letters[helper]} run CTAs of kernel {plan.letters[1 - helper]}, "
            f"but they have {threads} and {helped} threads; leave it out, or let both be powers of two, the first no "
            "less than the second (parts= divides CTAs)."
        )
    if plan.registers and plan.moves and threads % WARPGROUP:
        raise InputError(
            f"assist=True with role_registers= moves registers when a team begins to help, but a team has {threads} "
            f"threads, which are not whole warpgroups of {WARPGROUP}; leave one of them out."
        )
    return replace(plan, helper=helper)


def _check_teams(plan: Folded) -> None:
    threads = sum(plan.role_threads)
    if threads > MOST_THREADS:
        raise InputError(
            f"teams={plan.teams} comes to {threads} threads; a CTA has at most {MOST_THREADS}. Give fewer teams."
        )
    for k, (letter, shape) in enumerate(zip(plan.letters, plan.shapes, strict=True)):
        if plan.places_of(k) > 1 and shape.shared is None:
            raise InputError(
                f"each team that runs kernel {letter} has dynamic shared memory of its own, of which the size is not "
                "known; give it by shapes=, or leave out teams= and assist=."
            )


def check_fold(
    fold: Fold | None,
    ctas: int | None,
    registers: Sequence[int] | None,
    placement: Placement | None,
    kernels: int,
    teams: Sequence[int] | None = None,
    assist: bool = False,
    parts: Sequence[int] | None = None,
) -> None:
    """Raises `InputError` where the options of folded grids make no sense, whatever the kernels are."""
    if fold not in (None, *FOLDS):
        raise InputError(f"fold `{fold}` is unknown; expected one of {', '.join(FOLDS)}, or None.")
    if assist and (fold != "ticket" or kernels != 2):
        raise InputError(
            f'assist=True is for two kernels with fold="ticket"; these are {kernels} kernels with fold={fold!r}. Fuse '
            "two of them so, or leave it out."
        )
    if fold is None:
        for name, value in (("ctas", ctas), ("role_registers", registers), ("teams", teams), ("parts", parts)):
            if value is not None:
                raise InputError(f'{name}={value} is an option of folded grids; give fold="static", too.')
        return
    if placement is not None:
        raise InputError(
            f'placement="{placement}" says where the CTAs of a smaller grid lie, and fold="{fold}" says it, too; give '
            "one of them."
        )
    if ctas is not None and not (is_whole(ctas) and 0 < ctas <= MOST_CTAS[0]):
        raise InputError(f"ctas={ctas} is not a number of CTAs from 1 to {MOST_CTAS[0]}.")
    for name, numbers in (("teams", teams), ("parts", parts)):
        if numbers is not None:
            _check_numbers(name, numbers, kernels)
    if registers is None:
        return
    if not is_one_for_each(registers, kernels):
        raise InputError(f"role_registers={registers} takes a number of registers for each of the {kernels} kernels.")
    for number in registers:
        if not FEWEST_REGISTERS <= number <= MOST_REGISTERS or number % REGISTER_STEP:
            raise InputError(
                f"role_registers={tuple(registers)}: {number} is not a multiple of {REGISTER_STEP} from "
                f"{FEWEST_REGISTERS} to {MOST_REGISTERS}."
            )


def check_interleaved_fold(fold: Fold | None, ctas: Sequence[int] | None, kernels: int) -> None:
    """Raises `InputError` where the options of folded grids of interleaved kernels make no sense."""
    if fold not in (None, *FOLDS):
        raise InputError(f"fold `{fold}` is unknown; expected one of {', '.join(FOLDS)}, or None.")
    if ctas is None:
        return
    if fold is None:
        raise InputError(f'ctas={ctas} is an option of folded grids; give fold="static", too.')
    if not is_one_for_each(ctas, kernels) or min(ctas) < 1 or sum(ctas) > MOST_CTAS[0]:
        raise InputError(
            f"ctas={ctas} takes a number of CTAs above 0 for each of the {kernels} interleaved kernels, at most "
            f"{MOST_CTAS[0]} together."
        )


def check_blocks(plan: Plan) -> None:
    """Raises `InputError` where a block is not known: between two CTAs its threads meet."""
    for letter, shape in zip(plan.letters, plan.shapes, strict=True):
        if shape.threads is None:
            raise InputError(
                f"the block of kernel {letter} is not known ({shape}), and threads of folded grids meet between two "
                "CTAs; give its size by shapes=, or leave out fold=."
            )


def _check_numbers(name: str, numbers: Sequence[int], kernels: int) -> None:
    if not is_one_for_each(numbers, kernels) or min(numbers) < 1:
        raise InputError(f"{name}={numbers} takes a number of {name} above 0 for each of the {kernels} kernels.")


def moves_registers(target: str) -> bool:
    """Whether `setmaxnreg` is there: on sm_90a, and from sm_100 on with `a` or `f` (PTX ISA, setmaxnreg)."""
    number = int("".join(c for c in target if c.isdigit()))
    return target == "sm_90a" or (number >= 100 and target[-1] in "af")


def most_at_entry(threads: int) -> int:
    """The registers of a thread with which a kernel can begin if an SM holds so many threads of it at once."""
    return min(SM_REGISTERS // threads, MOST_AT_ENTRY) // REGISTER_STEP * REGISTER_STEP
