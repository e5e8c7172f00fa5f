"""check(): whether a woven kernel writes what its kernels write alone, on given or made-up data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from goptx.checking.checked_kernel import Subject
from goptx.checking.checked_shapes import launch_shapes
from goptx.checking.inputs import MADE_UP, Input, given_to
from goptx.checking.shared_parameters import Position, common_inputs, compared, one_buffers
from goptx.checking.verdict import Check, Checked, Difference, differences
from goptx.emulator.emulate import emulate
from goptx.emulator.memory.caller_buffers import host_extents
from goptx.errors import EmulationFault, InputError
from goptx.launch.independence import Independence
from goptx.launch.sample_data import check_seed
from goptx.launch.shape import Shape
from goptx.options import is_whole
from goptx.results.expected_gain import unjudged
from goptx.results.fused_kernel import Woven
from goptx.results.given_kernels import Source, kernels_of, shapes_of
from goptx.sources.kernel_text import choose_entry
from goptx.strategies.fuse import check_strategy, fuse

if TYPE_CHECKING:
    from goptx.checking.check_options import (
        CheckAuto,
        CheckHorizontal,
        CheckInterleave,
        CheckSeparate,
        CheckVertical,
        CheckWeave,
    )
    from goptx.options import Strategy

OWN_SHAPES = ("horizontal", "interleave")  # strategies that need the shapes
STEPS = 1_000_000  # instructions of a warp of a kernel alone, by default
OWN_ARRAYS = "give each an array of its own"
PATIENCE, LEAST = 10, 1000  # a warp of the woven kernel may take PATIENCE times what all warps alone took, and LEAST


@overload
def check(*sources: Source, strategy: Literal["weave"] = "weave", **options: Unpack[CheckWeave]) -> Check: ...
@overload
def check(*sources: Source, strategy: Literal["vertical"], **options: Unpack[CheckVertical]) -> Check: ...
@overload
def check(*sources: Source, strategy: Literal["horizontal"], **options: Unpack[CheckHorizontal]) -> Check: ...
@overload
def check(*sources: Source, strategy: Literal["interleave"], **options: Unpack[CheckInterleave]) -> Check: ...
@overload
def check(*sources: Source, strategy: Literal["separate"], **options: Unpack[CheckSeparate]) -> Check: ...
@overload
def check(*sources: Source, strategy: Literal["auto"], **options: Unpack[CheckAuto]) -> Check: ...
def check(
    *sources: Source,
    entries: Sequence[str | None] | None = None,
    strategy: Strategy = "weave",
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
    """Weaves the kernels, runs them alone and woven on equal data on the emulator, and compares all arrays bit for bit.

    sources, entries, strategy, options: as in `goptx.fuse`. Kernels may depend on each other (`depends`, `same`,
        `private`, `local`): alone they run one after the other, on the same arrays if these options name them or `args`
        gives one array several times. Private and local buffers are not compared. If `partition` gives a tunable kernel
        another block, it runs alone in that block too: in its own block it may round sums differently.
    grid, block, shared: CTAs, threads, bytes of dynamic shared memory, common to all kernels. By default those of the
        launch specifications beside the files, which may differ; else 4 CTAs of 256 threads, or what `.reqntid` and
        `.maxntid` allow.
    shapes: of each kernel, to weave with; sizes that they leave open are chosen as for `grid`, `block` and `shared`.
    args: values by name ("A:2", "B:n"): text such as "f32[1024]" (a random array), "f32[1024]:zeros",
        "i32[1024]:arange", "i32[1024]:0..10" or "i32:1024" (a scalar), or what `goptx.emulate` takes. By default those
        of the specification; else they are made up if pointers are indexed by thread id and scalars bound it.
        Parameters that are one buffer get the value given for one of them, else the longest of their arrays.
    seed: of the random data, and of the second order in which the warps run.
    races: report data races too. max_steps: the most instructions of a warp of one kernel alone; a million.

    Raises what `weave` raises; `InputError` that names the needed argument; `DependentKernels` if one kernel writes an
    array that the other is given too; and `EmulationFault` for a fault of a kernel alone. A fault of the woven kernel
    is in the result.
    """
    check_strategy(strategy, options)
    check_seed(seed)
    if max_steps is not None and not (is_whole(max_steps) and max_steps > 0):
        raise InputError(f"max_steps={max_steps!r} is not a number of instructions; give 1 or more.")
    kernels = kernels_of(sources, entries)
    subjects = [
        Subject(chr(ord("A") + i), kernel.module, choose_entry(kernel.module, kernel.entry), kernel.path, kernel.shape)
        for i, kernel in enumerate(kernels)
    ]
    launched, own = launch_shapes(subjects, grid, block, shared, shapes_of(sources, shapes, kernels))
    if "partition" in options:
        options.setdefault("tunable", [bool(s.launch and s.launch.tunable) for s in subjects])
    with unjudged():  # in the shapes of a check, times mean nothing
        woven = fuse(
            *kernels,
            strategy=strategy,
            shapes=launched if own is None and strategy in OWN_SHAPES else own,
            **options,
        )
    launched = _with_blocks_of(woven, launched)
    buffers = one_buffers(subjects, options)
    taken = common_inputs(
        subjects, given_to(subjects, args or {}, [s.launch for s in subjects]), buffers, launched, seed
    )
    values = [[i.value for i in own] for own in taken]
    if not woven.depends:
        Independence(woven.params).check(host_extents([v for own in values for v in own]), OWN_ARRAYS)
    runner = _Runner(launched, races, STEPS if max_steps is None else max_steps, (0, seed + 1))
    alone = runner.alone(subjects, taken)
    named = [
        Checked(s.letter, s.entry.name, s.module.source, {s.called(i): v for i, v in enumerate(own)}, shape)
        for s, own, shape in zip(subjects, taken, launched, strict=True)
    ]
    arrays, undefined = compared(subjects, values, buffers)
    found, fault = runner.woven(woven, values, arrays, alone)
    size = sum(alone[k][i].nbytes for (k, i) in arrays)
    return Check(
        woven.name, tuple(named), runner.shape(woven), seed, runner.orders, size, found, fault, woven.report, undefined,
        tuple(place for subject in subjects for place in subject.float_updates),
    )  # fmt: skip


def _with_blocks_of(woven: Woven, shapes: Sequence[Shape]) -> tuple[Shape, ...]:
    """The kernels' shapes with their blocks in the woven kernel, as far as these are known."""
    planned = woven.plan.shapes if woven.plan else shapes
    return tuple(replace(s, block=p.block) if p.threads else s for s, p in zip(shapes, planned, strict=True))


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
        """The shape of the woven kernel's launch; for separate kernels, that of the first."""
        return woven.starts(**self.launch(woven))[0].shape

    def launch(self, woven: Woven) -> dict[str, Any]:
        """The launch arguments of the woven kernel. A kernel without dynamic shared memory gets no share of the common
        amount."""
        if woven.plan is None:
            common = self.shapes[0]
            return {"grid": common.sizes("grid"), "block": common.sizes("block"), "shared": common.shared}
        within = [
            s if p.shared is None else replace(s, shared=p.shared)
            for s, p in zip(self.shapes, woven.plan.shapes, strict=True)
        ]
        return {"grid": None, "block": None, "shapes": within}

    def alone(self, subjects: Sequence[Subject], taken: Sequence[Sequence[Input]]) -> list[list[Any]]:
        """The arguments of each kernel after all have run, one after the other. Raises `InputError` if the results of a
        kernel depend on the order of the warps."""
        states = [deepcopy([[i.value for i in own] for own in taken]) for _ in self.orders]
        for k, (subject, own) in enumerate(zip(subjects, taken, strict=True)):
            names = [subject.called(i) for i in range(len(own))]
            for order, state in zip(self.orders, states, strict=True):
                self._run(subject, own, self.shapes[k], state[k], order)
                if found := differences(names, states[0][k], state[k]):
                    raise InputError(
                        f"{subject.at(subject.entry.line)}: {subject} alone gives other results in another order of "
                        f"its warps ({found[0]}), so nothing can be compared with it; look for a race (races=True, "
                        "--races), and use atomic operations whose order does not matter."
                    )
        return states[0]

    def _run(self, subject: Subject, own: Sequence[Input], shape: Shape, values: Sequence[object], order: int) -> None:
        try:
            done = emulate(
                subject.module, shape.sizes("grid"), shape.sizes("block"), values, subject.entry.name,
                shape.shared or 0, races=self.races, seed=order, max_steps=self.max_steps, letter=subject.letter,
            )  # fmt: skip
        except EmulationFault as fault:
            data = ", on made-up data" if any(i.source == MADE_UP for i in own) else ""
            fault.args = (f"{fault} This is a fault of {subject} alone{data}, before weaving.",)
            raise
        if order == self.orders[0]:
            self.issued += sum(done.instructions.values())

    def woven(
        self, woven: Woven, values: list[list[object]], arrays: Mapping[Position, str], alone: list[list[Any]]
    ) -> tuple[tuple[Difference, ...], EmulationFault | None]:
        """The differences or the fault in the first order that has any. Compares these `arrays`, given with names."""
        how = self.launch(woven)
        for order in self.orders:
            state = deepcopy(values)
            try:
                emulate(
                    woven, args=state, **how,
                    races=self.races, seed=order, max_steps=PATIENCE * self.issued + LEAST,
                )  # fmt: skip
            except EmulationFault as fault:
                return (), fault
            left = [[of[k][i] for k, i in arrays] for of in (alone, state)]
            if found := differences(list(arrays.values()), *left):
                return found, None
        return (), None
