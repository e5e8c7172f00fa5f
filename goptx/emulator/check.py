"""check(): whether a woven kernel does what its kernels do alone, on data of its own making."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from goptx.emulator.buffers import host_extents
from goptx.emulator.emulate import emulate
from goptx.emulator.inputs import MADE_UP, Input, given_to, inputs
from goptx.emulator.launch_shape import launch_shapes
from goptx.emulator.subject import Subject
from goptx.emulator.verdict import Check, Checked, Difference, differences
from goptx.errors import EmulationFault, InputError
from goptx.independence import Independence
from goptx.parameter_names import letter_of
from goptx.shape import Shape
from goptx.strategies.fuse import check_strategy, fuse
from goptx.weaving.link import choose_entry
from goptx.weaving.result import Woven
from goptx.weaving.sources import Source, kernels_of, shapes_of

OWN_SHAPES = ("horizontal", "interleave")  # which have to know them
DEPENDING = ("depends", "same", "private", "local")  # options of kernels that are not independent
STEPS = 1_000_000  # of a warp of a kernel alone, where nothing says otherwise
OWN_ARRAYS = "give each an array of its own"
PATIENCE, LEAST = 10, 1000  # a warp of the woven kernel may take so many times what all warps alone took, and more


def check(
    *sources: Source,
    entries: Sequence[str | None] | None = None,
    strategy: str = "weave",
    grid: int | Sequence[int] | None = None,
    block: int | Sequence[int] | None = None,
    shared: int | None = None,
    args: Mapping[str, object] | None = None,
    seed: int = 0,
    races: bool = False,
    max_steps: int | None = None,
    shapes: Sequence[Shape] | None = None,
    **options: Any,
) -> Check:
    """Weaves, runs the kernels alone and woven on equal data on the emulator, and compares all arrays bit for bit.

    sources, entries, strategy, options: as of `goptx.fuse`.
    grid, block, shared: CTAs, threads, bytes of dynamic shared memory, common to all kernels. By default those of the
        launch specifications beside the files, which may differ; else 4 CTAs of 256 threads, or what `.reqntid` and
        `.maxntid` allow.
    shapes: of each kernel, to weave with; what they leave to the launch comes from where the above does.
    args: values by name ("A:2", "B:n"): text such as "f32[1024]" (a random array), "f32[1024]:zeros",
        "i32[1024]:arange", "i32[1024]:0..10" or "i32:1024" (a scalar), or what `goptx.emulate` takes. By default what
        the specification says, else made up where pointers are indexed by thread id and scalars bound it.
    seed: of the random data, and of the second order in which the warps run.
    races: report data races too. max_steps: the most instructions of a warp of one kernel alone; a million.

    Raises what `weave` raises, `InputError` that says which argument is needed, `DependentKernels` where one kernel
    writes an array that the other is given too, and `EmulationFault` for what a kernel does wrong on its own; what the
    woven kernel does wrong is in the result.
    """
    check_strategy(strategy, options)
    if said := [name for name in DEPENDING if options.get(name)]:
        raise InputError(
            f"check() compares kernels that are independent, and {said[0]}= says that these are not; run them one "
            "after the other and fused with goptx.emulate."
        )
    if seed < 0:
        raise InputError(f"seed={seed} is below 0.")
    kernels = kernels_of(sources, entries)
    subjects = [
        Subject(letter_of(i), kernel.module, choose_entry(kernel.module, kernel.entry), kernel.path)
        for i, kernel in enumerate(kernels)
    ]
    launched, own = launch_shapes(subjects, grid, block, shared, shapes_of(sources, shapes, len(kernels)))
    if "partition" in options:
        options.setdefault("tunable", [bool(s.launch and s.launch.tunable) for s in subjects])
    woven = fuse(
        *kernels,
        strategy=strategy,
        shapes=launched if own is None and strategy in OWN_SHAPES else own,
        **options,
    )
    given = given_to(subjects, args or {})
    taken = [
        inputs(subject, g, shape.sizes("grid"), shape.sizes("block"), seed)
        for subject, g, shape in zip(subjects, given, launched, strict=True)
    ]
    Independence(woven.params).check(host_extents([i.value for own in taken for i in own]), OWN_ARRAYS)
    runner = _Runner(launched, races, STEPS if max_steps is None else max_steps, (0, seed + 1))
    alone = [v for s, i, shape in zip(subjects, taken, launched, strict=True) for v in runner.alone(s, i, shape)]
    named = [
        Checked(s.letter, s.entry.name, s.module.source, {s.called(i): v for i, v in enumerate(given)}, shape)
        for s, given, shape in zip(subjects, taken, launched, strict=True)
    ]
    found, fault = runner.woven(woven, taken, [n for k in named for n in k.inputs], alone)
    compared = sum(value.nbytes for value in alone if isinstance(value, np.ndarray))
    return Check(
        woven.name, tuple(named), runner.shape(woven), seed, runner.orders, compared, found, fault, woven.report
    )


@dataclass(slots=True)
class _Runner:
    """Launches of kernels in their `shapes`, each in all `orders` of the warps; `issued` counts the instructions of all
    kernels."""

    shapes: tuple[Shape, ...]
    races: bool
    max_steps: int
    orders: tuple[int, ...]
    issued: int = 0

    def shape(self, woven: Woven) -> Shape:
        """That of the woven kernel's launch."""
        return woven.plan.launched(self.within(woven)) if woven.plan else self.shapes[0]

    def within(self, woven: Woven) -> tuple[Shape, ...]:
        """The kernels' shapes in the woven kernel, where those that are tunable may have other blocks, and those that
        have no dynamic shared memory have none of what is common to all."""
        planned = woven.plan.shapes if woven.plan else self.shapes
        return tuple(
            Shape(s.grid, p.block if p.threads else s.block, s.shared if p.shared is None else p.shared, s.cluster)
            for s, p in zip(self.shapes, planned, strict=True)
        )

    def alone(self, subject: Subject, own: Sequence[Input], shape: Shape) -> list[object]:
        """The arguments as the kernel leaves them, which has to be the same in every order."""
        first: list[object] = []
        for order in self.orders:
            values = deepcopy([i.value for i in own])
            try:
                done = emulate(
                    subject.module, shape.sizes("grid"), shape.sizes("block"), values, subject.entry.name,
                    shape.shared or 0, races=self.races, seed=order, max_steps=self.max_steps, letter=subject.letter,
                )  # fmt: skip
            except EmulationFault as fault:
                data = ", on data that was made up" if any(i.source == MADE_UP for i in own) else ""
                fault.args = (f"{fault} It is {subject} alone that does this{data}; it was not woven yet.",)
                raise
            first = first or values
            names = [subject.called(i) for i in range(len(own))]
            if found := differences(names, first, values):
                raise InputError(
                    f"{subject.at(subject.entry.line)}: {subject} alone gives other results in another order of its "
                    f"warps ({found[0]}), so nothing can be compared with it; look for a race (races=True, --races), "
                    "and use atomic operations whose order does not matter."
                )
        self.issued += sum(done.instructions.values())
        return first

    def woven(
        self, woven: Woven, taken: Sequence[Sequence[Input]], names: Sequence[str], alone: Sequence[object]
    ) -> tuple[tuple[Difference, ...], EmulationFault | None]:
        """In the first order in which something is wrong, what that is."""
        launch: dict[str, Any] = {"shapes": self.within(woven)}
        if woven.plan is None:
            common = self.shapes[0]
            launch = {"grid": common.sizes("grid"), "block": common.sizes("block"), "shared": common.shared}
        for order in self.orders:
            values = deepcopy([[i.value for i in own] for own in taken])
            try:
                emulate(
                    woven, args=values, **launch,
                    races=self.races, seed=order, max_steps=PATIENCE * self.issued + LEAST,
                )  # fmt: skip
            except EmulationFault as fault:
                return (), fault
            if found := differences(names, alone, [value for own in values for value in own]):
                return found, None
        return (), None
