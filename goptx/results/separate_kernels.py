"""Kernels that are not fused: one module with an entry for each, launched one after the other.

Requires: parsed modules, the entry of each. Ensures: each entry does what it does in its own module; kernels of one
module have its variables in common, those of different modules nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Self

from goptx.errors import InputError
from goptx.launch.launch_plan import Plan
from goptx.launch.shape import Shape
from goptx.memo import Memo
from goptx.results.fused_kernel import LAUNCHES, Extent, Parameter, Start, Woven


class Separate(Woven):
    """Several kernels that `launch` starts one after the other on the stream, each in its own shape; with `streams`
    side by side, all but the first on streams of their own, behind what was on the stream before and ahead of what
    comes on it later.

    It is used as a `Woven` is. `module` has the entries in the order of the kernels, `origins` are those of all their
    instructions, `params` what each takes, hidden ones (of coarsened kernels) last, and `shape` is None. One after the
    other, each kernel finds what those before it have written, so arguments are not compared. `resources` says the most
    that any of the kernels takes, `max_registers` holds for each, and `load` gives the first.
    """

    @property
    def shape(self) -> Shape | None:
        return None

    def side_by_side(self) -> Self:
        """With `streams`; the kernels are independent then."""
        return replace(self, streams=True, depends=False, _launchers=Memo(most=LAUNCHES))

    def starts(
        self, grid: Extent | None, block: Extent | None, shared: int = 0, shapes: Sequence[Shape] | None = None
    ) -> list[Start]:
        plan = self.plan
        assert plan
        told = plan.common and shapes is None  # all of it by these, and no bytes are none
        return self._starts(plan.filled(shapes, grid, block, shared if told else shared or None))

    def _starts(self, shapes: Sequence[Shape]) -> list[Start]:
        return [self._start(k, entry, shapes[k]) for k, entry in enumerate(self.entries)]

    def _start(self, k: int, entry: str, shape: Shape) -> Start:
        _, params, plan = self._launch(k, entry)
        hidden = [p for p in params if p.kernel is None]
        values = plan.values([shape]) if hidden else {}
        filled = [values[p.role].to_bytes(p.size, "little") for p in hidden]
        return Start(entry, plan.launched([shape]), params, filled)

    @property
    def launches(self) -> tuple[tuple[str, tuple[Parameter, ...], Plan | None], ...]:
        return tuple(self._launch(k, entry) for k, entry in enumerate(self.entries))

    def _launch(self, k: int, entry: str) -> tuple[str, tuple[Parameter, ...], Plan]:
        assert self.plan
        letter = self.plan.letters[k]
        own = [p for p in self.params if p.kernel == letter]
        hidden = [p for p in self.params if p.kernel is None and p.role.startswith(f"{letter}.")]
        return entry, (*own, *hidden), _of_one(self.plan, k)

    def launched(
        self, grid: Extent | None, block: Extent | None, shared: int = 0, shapes: Sequence[Shape] | None = None
    ) -> tuple[Shape, list[bytes]]:
        first, *others = self.starts(grid, block, shared, shapes)
        if others:
            raise InputError(f"`{self.name}` is not one launch but {len(others) + 1}; `starts` says in which shapes.")
        return first.shape, first.hidden

    def arguments(self, *args: Sequence[object], shapes: Sequence[Shape] | None = None) -> list[list[object]]:
        """The launch arguments of each kernel."""
        from goptx.launch.arguments import scalars

        assert self.plan
        contents = iter(self._arguments.packed(args, independent=True)[0])
        shaped = any(p.kernel is None for p in self.params)
        found = []
        for start in self._starts(self.plan.filled(shapes) if shaped else self.plan.shapes):
            own = [next(contents) for p in start.params if p.kernel is not None]
            found.append(list[object](scalars(start.params, own + start.hidden)))
        return found


def _of_one(plan: Plan, k: int) -> Plan:
    """How the kernel is launched alone."""
    return replace(
        plan, letters=(plan.letters[k],), shapes=(plan.shapes[k],), carved=(plan.carved[k],), coarse=(plan.coarse[k],),
        common=False,
    )  # fmt: skip
