"""What a kernel reads of its launch while it runs within another: %tid and its like, by the kernel's own shape.

Requires: a plan of the launch. Ensures: thread k of the kernel, counted along x first, is thread k of the fused
kernel's CTA, or of the kernel's own part of that, so that warps and lanes are the same; its CTAs lie among those of the
fused kernel as planned. Registers with the same value in both stay as they are: `%laneid`, the masks of lanes,
`%nwarpid` (of an SM), clocks, `%smid`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import prod

from goptx.launch.coarsening import Coarse
from goptx.launch.launch_plan import STRIDE, Plan, spread
from goptx.launch.shape import MOST_CTAS, MOST_THREADS, Shape, shared_unit
from goptx.options import AXES
from goptx.ptx.ir import Immediate, Name, Operand, Vector
from goptx.weaving.shapes.interleaved import Interleaved
from goptx.weaving.shapes.scalar_code import Scalars, Value, operand

WARP, WARPGROUP = 32, 128  # threads


@dataclass(slots=True)
class View:
    """Of the kernel at `position` in the plan. `scalars` takes the code that computes it.

    hidden: the value of the hidden parameter with a role.
    static: bytes of static shared memory of the kernel alone.
    cta: the number of the kernel's CTA, if that is computed elsewhere; of several that are in one, a number for all.
    place: of a coarsened kernel, which of those CTAs it is.
    """

    plan: Plan
    position: int
    scalars: Scalars
    hidden: Callable[[str], Value]
    static: int
    arch: str
    cta: Value | None = None
    place: int = 0

    @property
    def shape(self) -> Shape:
        return self.plan.shapes[self.position]

    @property
    def coarse(self) -> Coarse:
        return self.plan.coarse[self.position]

    @property
    def ctas(self) -> int | None:
        """How many CTAs of the fused kernel carry the kernel; None if that is known at launch only."""
        sizes = [n for n in self.plan.carried("grid", self.plan.shapes)[self.position] if n is not None]
        return prod(sizes) if len(sizes) == len(AXES) else None

    @property
    def letter(self) -> str:
        return self.plan.letters[self.position]

    # sizes and numbers -------------------------------------------------------------------------------

    def size(self, what: str, axis: int) -> Value:
        """Of the kernel's own "grid" or "block"."""
        known = self.shape.axes(what)[axis]
        if known is not None:
            return known
        if self.is_w_size(what, axis):
            return self.w_size(what, axis)
        return self.hidden(f"{self.letter}.{what}.{AXES[axis]}")

    def is_w_size(self, what: str, axis: int) -> bool:
        """Whether the fused kernel's own registers give the size."""
        return self.shape.axes(what)[axis] is None and self.plan.is_common(what, axis)

    def w_size(self, what: str, axis: int) -> Value:
        """Of the fused kernel's grid, or of its block."""
        known = self.plan.axes(what)[axis]
        register = {"grid": "%nctaid", "block": "%ntid"}[what]
        return self.scalars.read(f"{register}.{AXES[axis]}") if known is None else known

    def along(self, what: str, axis: int) -> Value:
        """How many CTAs of the fused kernel carry the kernel along the axis, or how many threads it has there."""
        s, size = self.scalars, self.size(what, axis)
        if what == "block" or axis != self.coarse.axis or self.coarse.factor == 1:
            return size
        return s.add(self.whole(), s.remainder(size, self.coarse.factor, MOST_CTAS[0]))

    def whole(self) -> Value:
        """How many CTAs of the fused kernel along the axis carry as many of the kernel's as one can."""
        return self.scalars.divide(self.size("grid", self.coarse.axis), self.coarse.factor, MOST_CTAS[0])

    def total(self, what: str) -> Value:
        """How many CTAs of the fused kernel carry the kernel, or how many threads it has."""
        s = self.scalars
        return s.multiply(s.multiply(self.along(what, 0), self.along(what, 1)), self.along(what, 2))

    def shared(self) -> Value:
        """Bytes of the kernel's dynamic shared memory."""
        return self.hidden(f"{self.letter}.shared") if self.shape.shared is None else self.shape.shared

    def number(self, what: str) -> Value:
        """Of the fused kernel's CTA within its grid, or of the kernel's thread within its CTA, along x first."""
        if what == "grid":
            return self._along_x_first(what)
        own = self.thread_of_team()
        return self.scalars.multiply_add(self.part(), self.warps_threads, own) if self.parts > 1 else own

    def thread_of_kernel(self) -> Value:
        """The thread's number among all that run the kernel in a CTA of the fused kernel, whatever their teams."""
        return self.scalars.subtract(self._along_x_first("block"), self.first_thread)

    def thread_of_team(self) -> Value:
        """The thread's number in its team: that in its CTA, or in a part of one."""
        return self._within_team(self.thread_of_kernel())

    def _along_x_first(self, what: str) -> Value:
        s, register = self.scalars, {"grid": "%ctaid", "block": "%tid"}[what]
        sizes = self.plan.axes(what)
        x, y, z = (0 if n == 1 else s.read(f"{register}.{a}") for n, a in zip(sizes, AXES, strict=True))
        row = s.multiply_add(z, self.w_size(what, 1), y) if z else y
        return s.multiply_add(row, self.w_size(what, 0), x) if row else x

    @property
    def first_thread(self) -> int:
        """Of the fused kernel's CTA that runs the kernel."""
        return self.plan.first_thread(self.position)

    @property
    def teams(self) -> int:
        """That run the kernel in a CTA of the fused kernel, each a CTA of its own."""
        return self.plan.teams_of(self.position)

    @property
    def places(self) -> int:
        """For teams of the kernel, and those of another kernel that help them."""
        return self.plan.places_of(self.position)

    def _within_team(self, thread: Value) -> Value:
        """The number of a thread in its team, for that among the threads of all teams of the kernel. Threads of teams
        that help may come before these: blocks are powers of two then."""
        if self.places == 1:
            return thread
        threads = self.warps_threads
        if threads & (threads - 1) == 0:  # so much the analyses understand: the base of a warp stays a multiple of 32
            return self.scalars.remainder(thread, threads, MOST_THREADS)
        return self.scalars.multiply_add(self.team(), -threads, thread)

    @property
    def warps_threads(self) -> int:
        """The threads of whole warps of a team that runs the kernel, where its block is known: those of a CTA, or of a
        part of one."""
        return -(-(self.shape.threads or WARP) // WARP) * WARP // self.parts

    @property
    def parts(self) -> int:
        """Into which a CTA of the kernel is divided."""
        return self.plan.parts_of(self.position)

    def part(self) -> Value:
        """Which of its CTA's parts the team runs."""
        return self.scalars.remainder(self.hidden(f"{self.letter}.cta"), self.parts, MOST_CTAS[0])

    def runs(self) -> Value:
        """How many CTAs, or parts of them, teams run where grids are folded."""
        return self.scalars.multiply(self.total("grid"), self.parts)

    def team(self) -> Value:
        """The number of the thread's team among those of the kernel in its CTA."""
        return self.hidden(f"{self.letter}.team") if self.places > 1 else 0

    def team_of_all(self) -> Value:
        """The number of the thread's team among all that run the kernel. The first teams of all CTAs come before the
        second ones, so that few CTAs of a kernel are spread over all SMs."""
        if isinstance(self.plan, Interleaved):
            return self.plan.carrying(self)[0]
        s, own = self.scalars, self.team()
        return s.multiply_add(s.read("%nctaid.x"), own, s.read("%ctaid.x")) if own else s.read("%ctaid.x")

    def all_teams(self) -> Value:
        """How many teams run the kernel."""
        if isinstance(self.plan, Interleaved):
            return self.plan.number_of_ctas(self)
        return self.scalars.multiply(self.scalars.read("%nctaid.x"), self.teams)

    def carrying(self) -> tuple[Value, Name | None]:
        """The number of the kernel's CTA that this CTA of the fused kernel carries, or of those that are in one, and
        the predicate that it carries none, if there are such."""
        if isinstance(self.plan, Interleaved):
            number, none = self.plan.carrying(self)
            return (self.hidden(f"{self.letter}.cta") if self.plan.folds else number), none
        if self.plan.folds:
            return self.scalars.divide(self.hidden(f"{self.letter}.cta"), self.parts, MOST_CTAS[0]), None
        s, ctas, total = self.scalars, self.ctas, self.plan.shape.ctas
        number = self.number("grid")
        if not self.fewer_ctas():
            return self._strided(number), None
        if self.plan.placement == "front":
            return number, s.compare("ge", number, self.total("grid"))
        step = self.hidden(f"{self.letter}.spread") if ctas is None or total is None else spread(ctas, total)
        low, high = s.halves(number, step)
        return self._strided(high), s.compare("gt", low, step)

    def _strided(self, number: Value) -> Value:
        """The number of the kernel's CTA that is at this place among those that carry the kernel."""
        ctas = self.ctas
        if self.position not in self.plan.strided or ctas is None:
            return number
        s = self.scalars
        part, row = s.remainder(number, STRIDE, ctas), s.divide(number, STRIDE, ctas)
        return s.multiply_add(part, ctas // STRIDE, row)

    def drawn(self) -> tuple[Value, Name | None]:
        """The number that the CTA has drawn among those that run the kernel, and the predicate that it runs another."""
        none = self.hidden(f"{self.letter}.absent")
        assert isinstance(none, Name)
        return self.hidden(f"{self.letter}.place"), none

    def own_cta(self) -> Value:
        """The number of the kernel's CTA."""
        return self.carrying()[0] if self.cta is None else self.cta

    def fewer_ctas(self) -> bool:
        """Whether the fused kernel may have more CTAs than carry the kernel."""
        if self.plan.folds or self.plan.is_bound:
            return self.plan.overlaid
        return not self.plan.covers_exactly("grid", self.position) and (
            self.ctas is None or self.ctas != self.plan.shape.ctas
        )

    def left_over(self) -> Name | None:
        """The predicate that a CTA carries one of the kernel's alone and not several, if there are such."""
        if not self.coarse.leaves_over(self.shape.axes("grid")):
            return None
        return self.scalars.compare("ge", self.place_along(self.coarse.axis), self.whole())

    def more_warps(self) -> bool:
        """Whether the fused kernel may have more warps than the kernel, or than a part of its CTA."""
        if self.plan.same_shape or self.parts > 1:
            return self.parts > 1
        most, own = self.plan.shape.threads or MOST_THREADS, self.shape.threads
        return own is None or -(-own // WARP) < -(-most // WARP)

    def more_lanes(self) -> bool:
        """Whether the fused kernel may have more threads in the last warp of the kernel."""
        if self.plan.same_shape:
            return False
        most, own = self.plan.shape.threads or MOST_THREADS, self.shape.threads
        return own is None or (own % WARP > 0 and own < most)

    def pass_by(self) -> bool:
        """Whether whole warps have to skip the kernel."""
        return self.more_warps() and not self.plan.overlaid

    def warps_end(self) -> bool:
        """Whether they end in it, since its CTA has nothing else to do. In folded grids they end before its loop."""
        return self.more_warps() and self.plan.overlaid and not self.plan.folds

    def end_at_once(self) -> bool:
        """Whether threads come to the kernel that do not belong to it. Whole warps end before all copies of it."""
        return self.more_lanes() or (self.warps_end() and self.coarse.factor == 1)

    # special registers -------------------------------------------------------------------------------

    def of(self, register: str, in_vector: bool = False) -> Operand | None:
        """What stands for a special register; None if that is the register itself. A vector of
        registers may not hold a special one, so there it is read first."""
        stem, dot, axis = register.partition(".")
        if stem in _VECTORS:
            rule = partial(_VECTORS[stem], self)
            if dot:
                place = "xyzrgb".find(axis)
                value = rule(place % 3) if place >= 0 else None
                if value is None and in_vector:
                    value = self.scalars.read(register)
                return None if value is None else operand(value)
            values = [rule(i) for i in range(3)]
            if values == [None] * 3:
                return None
            whole = (self.scalars.read(f"{stem}.{a}") if v is None else v for v, a in zip(values, AXES, strict=True))
            return Vector((*map(operand, whole), Immediate("0")))
        value = _SCALARS[stem](self) if stem in _SCALARS else None
        return None if value is None else operand(value)

    def coordinate(self, what: str, axis: int) -> Value | None:
        """Of the kernel's CTA in its grid, or of the thread in its CTA; None where the fused kernel's is the same."""
        if what == "block" or axis != self.coarse.axis or self.coarse.factor == 1:
            return self.carried(what, axis)
        s, place, factor = self.scalars, self.place_along(axis), self.coarse.factor
        if self.place or not self.coarse.leaves_over(self.shape.axes(what)):
            return s.multiply_add(place, factor, self.place)  # what is left over is the first place's
        return s.multiply_add(s.least(place, self.whole()), factor - 1, place)

    def place_along(self, axis: int) -> Value:
        """Of this CTA among those that carry the kernel."""
        found = self.carried("grid", axis)
        return self.scalars.read(f"%ctaid.{AXES[axis]}") if found is None else found

    def carried(self, what: str, axis: int) -> Value | None:
        """Of the CTA among those that carry the kernel, or of the thread in its CTA; None where the fused
        kernel's is the same."""
        if self.plan.covers_exactly(what, self.position):
            return None
        sizes = self.plan.carried(what, self.plan.shapes)[self.position]
        if sizes[axis] == 1:
            return 0
        s = self.scalars
        number = self.own_cta() if what == "grid" else self.number("block")
        ctas = self.ctas if self.plan.folds else self.plan.shape.ctas
        most = (ctas if what == "grid" else MOST_THREADS) or MOST_CTAS[0]
        below: Value = 1
        for inner in range(axis):
            below = s.multiply(below, self.along(what, inner))
        outer = s.divide(number, below, most)
        last = all(n == 1 for n in sizes[axis + 1 :])
        return outer if last else s.remainder(outer, self.along(what, axis), most)

    def warp(self) -> Value | None:
        """Hardware numbers the warps of a CTA in any order, but from 0 on. A kernel with fewer warps than the fused one
        relies on numbers below its own number of warps."""
        return self.scalars.divide(self.number("block"), WARP, MOST_THREADS) if self.more_warps() else None

    def total_shared(self) -> Value:
        s = self.scalars
        return s.round_up(s.add(self.shared(), self.static), shared_unit(self.arch))


_VECTORS: dict[str, Callable[[View, int], Value | None]] = {
    "%tid": lambda view, axis: view.coordinate("block", axis),
    "%ntid": lambda view, axis: None if view.is_w_size("block", axis) else view.size("block", axis),
    "%ctaid": lambda view, axis: view.coordinate("grid", axis),
    "%nctaid": lambda view, axis: None if view.is_w_size("grid", axis) else view.size("grid", axis),
}
_SCALARS: dict[str, Callable[[View], Value | None]] = {
    "%warpid": View.warp,
    "%dynamic_smem_size": View.shared,
    "%total_smem_size": View.total_shared,
}
