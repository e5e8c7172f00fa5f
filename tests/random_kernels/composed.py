"""Kernels fused by a strategy; each may be batched and coarsened before.

All other choices follow from the case: the same case always gives the same kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any, Literal

from random_kernels.case import NAMES, Case
from random_kernels.data import arguments
from random_kernels.drawing import MOVES
from random_kernels.trial import LETTERS, Array, Data, Trial

import goptx
from goptx.launch.shape import Shape
from goptx.options import AXES, FOLDS, Axis, Strategy
from goptx.ptx.ir import Module
from goptx.ptx.parse import parse
from goptx.results.fused_kernel import Woven

OWN_SHAPES: tuple[Strategy, ...] = ("horizontal", "interleave")  # strategies that need the kernels' shapes
STRATEGIES: tuple[Strategy, ...] = ("weave", "vertical", *OWN_SHAPES)
EVERY_STRATEGY: tuple[Strategy, ...] = (*STRATEGIES, "separate", "auto")
SCALE = 4  # among the parameters
COMPARED = {1: "out", 2: "totals", 5: "more"}
FACTORS = {1: (2, 2, 3, 4), 2: (2, 2, 3), 3: (2, 2, 2, 3)}  # by how much there is of everything else
CTAS = (1, 2, 3, 5)  # that run those of all kernels
TUNED = (32, 64, 96, 128, 192)  # threads of a kernel that is right with any number of warps


@dataclass(frozen=True, slots=True)
class Composition:
    """strategy: "" for one kernel, which is not fused. coarse: how many times some kernel is coarsened. batched:
    whether some kernel is batched. nested: whether a fused kernel is fused again. tunable: whether the first kernel is
    right with any number of warps. folded: whether a few CTAs run those of all kernels (horizontal, interleave). teams:
    whether a CTA then runs several CTAs of a kernel at once. bound: whether SMs decide about kernels (interleave)."""

    strategy: Strategy | Literal[""]
    coarse: int = 0
    batched: bool = False
    nested: bool = False
    tunable: bool = False
    folded: bool = False
    teams: bool = False
    bound: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """How a kernel is prepared: `launches` launches, in which `scale` is start, start + step, ..., become one along
    `along`; then CTAs along `axis` are coarsened by each of the factors."""

    factors: tuple[int, ...] = ()
    axis: Axis = "x"
    launches: int = 0
    start: int = 0
    step: int = 1
    along: Axis = "y"

    def wide(self, shape: Shape, known: bool = True) -> Shape:
        """The shape as the kernel has it after that."""
        if not self.launches:
            return shape
        grid = list(shape.axes("grid"))
        grid[AXES.index(self.along)] = self.launches if known else None
        return Shape(grid, shape.block, shape.shared)

    @property
    def scales(self) -> list[int]:
        return [self.start + self.step * k for k in range(self.launches)]


def composed(case: Case, how: Composition) -> Trial:
    choose = Random(f"{case.way} {case.seed} {case.shapes} {case.n}")
    parts = _parts(case, how, choose)
    inner = choose.choice(STRATEGIES) if how.nested else None
    modules = [parse(text, f"{name}.ptx") for text, name in zip(case.texts, NAMES, strict=False)]
    stated = _stated(case, how, inner, parts, choose)
    wide = tuple(part.wide(shape) for part, shape in zip(parts, case.shapes, strict=True))
    tuned = choose.choice(TUNED) if how.tunable else 0
    launch: dict[str, Any] = {"shapes": (Shape(wide[0].grid, tuned), *wide[1:]) if tuned else wide}
    if stated is None or how == Composition("", batched=True):
        shared = max(shape.shared or 0 for shape in wide)
        launch = {"grid": wide[0].grid, "block": wide[0].block, "shared": shared}
    make = _Fusing(case, how, modules, parts, stated, inner, tuned, choose.random())
    data = partial(_data, case, how, parts)
    return Trial(modules, case.shapes, launch, make.woven, data, counted=not tuned)


def _parts(case: Case, how: Composition, choose: Random) -> list[Part]:
    """Of all kernels; what is asked for is done with one of them at least."""
    parts = []
    chosen = choose.randrange(len(case.shapes))
    for k, shape in enumerate(case.shapes):
        part = Part()
        if how.batched and (k == chosen or choose.random() < 0.5):
            along = choose.choice(AXES[len(shape.grid) :] or AXES[2:])
            start, step = choose.randrange(MOVES), choose.randint(1, 2)
            part = Part(launches=choose.randint(1, 3), start=start, step=step, along=along)
        if how.coarse and (k == chosen or choose.random() < 1 / len(case.shapes)):
            several = [a for a, n in zip(AXES, part.wide(shape).axes("grid"), strict=True) if (n or 0) > 1]
            axis = choose.choice(several if several and choose.random() < 0.9 else AXES)
            factors = [choose.choice(FACTORS[len(case.shapes) + how.coarse - 1]), *[2] * (how.coarse - 1)]
            part = replace(part, factors=tuple(factors), axis=axis)
        parts.append(part)
    return parts


def _stated(
    case: Case, how: Composition, inner: Strategy | None, parts: Sequence[Part], choose: Random
) -> tuple[Shape, ...] | None:
    """The stated shapes of the prepared kernels: as much as the strategies need."""
    stated = case.stated
    several = len(parts) > 1
    if stated is None and several and (how.batched or how.tunable or {how.strategy, inner} & {*OWN_SHAPES}):
        stated = case.shapes
    if stated is None:
        return None
    if "horizontal" in (how.strategy, inner) or how.folded:
        sizes = zip(stated, case.shapes, strict=True)
        stated = tuple(Shape(s.grid, o.block, o.shared if how.teams else s.shared) for s, o in sizes)
    return tuple(part.wide(shape, choose.random() < 0.7) for part, shape in zip(parts, stated, strict=True))


def _can_help(sizes: Sequence[int], registers: Sequence[int]) -> bool:
    """Whether teams of the kernel with more registers, or of the first one, can run the other kernel."""
    helped = 0 if registers[1] > registers[0] else 1
    return sizes[1 - helped] >= sizes[helped] and all(size & (size - 1) == 0 for size in sizes)


def _data(case: Case, how: Composition, parts: Sequence[Part]) -> Data:
    separate: list[tuple[int, list[object]]] = []
    together: list[list[object]] = []
    compared: dict[str, Array] = {}
    for k, (part, shape, n, scale) in enumerate(zip(parts, case.shapes, case.n, case.scale, strict=True)):
        rows = max(part.scales, default=scale) + 1 if how.batched else 1
        values = arguments(shape, n, scale, case.seed + k, rows, case.texts[k])
        separate += [(k, _with_scale(values, s)) for s in part.scales or [scale]]
        together.append([*values[:SCALE], *values[SCALE + 1 :]] if part.launches else values)
        compared |= {f"{LETTERS[k]}:{name}": values[i] for i, name in COMPARED.items() if i < len(values)}  # type: ignore
    return Data(separate, together, compared)


def _with_scale(values: Sequence[object], scale: int) -> list[object]:
    return [*values[:SCALE], type(values[SCALE])(scale), *values[SCALE + 1 :]]  # type: ignore[call-arg]


@dataclass(frozen=True, slots=True)
class _Fusing:
    """`tuned`: the threads of the first kernel, where it does not keep its own. `seed` is that of what is left to
    choose."""

    case: Case
    how: Composition
    modules: Sequence[Module]
    parts: Sequence[Part]
    stated: Sequence[Shape] | None
    inner: Strategy | None
    tuned: int
    seed: float

    def woven(self) -> Woven:
        choose = Random(self.seed)
        how, kernels = self.how, len(self.modules)
        every = range(kernels)
        stated = (
            self.stated is not None and kernels > 1 and all(p.factors for p in self.parts) and choose.random() < 0.5
        )
        sources = [self._source(k, stated or kernels == 1) for k in every]
        if not how.strategy:
            (woven,) = sources
            assert isinstance(woven, Woven)
            return woven
        shapes: dict[str, Any] = {} if stated or self.stated is None else {"shapes": self.stated}
        if self.inner:
            first = choose.randrange(kernels - 1)
            two = slice(first, first + 2)
            within: dict[str, Any] = {} if self.stated is None else {"shapes": self.stated[two]}
            sources[two] = [goptx.fuse(*sources[two], **self._options(self.inner, every[two], choose), **within)]
        return goptx.fuse(*sources, **self._options(how.strategy, every, choose), **shapes)

    def _source(self, k: int, stated: bool) -> Module | Woven:
        """The prepared kernel; `stated`: with the stated part of its shape."""
        source: Module | Woven = self.modules[k]
        part, shape = self.parts[k], self.stated[k] if stated and self.stated else None
        if part.launches:
            own = None if self.case.stated is None else self.case.stated[k]
            if own and own.axes("grid")[AXES.index(part.along)] != 1:
                own = None
            source = goptx.batch(source, f"A:{SCALE}", part.along, part.start, part.step, shape=own)
        for factor in part.factors:
            source = goptx.coarsen(
                source, factor, part.axis, shape=shape, policy=self.case.policy, slicing=self.case.slicing,
                divergence=self.case.divergence,
            )  # fmt: skip
        return source

    def _options(self, strategy: Strategy, kernels: Sequence[int], choose: Random) -> dict[str, Any]:
        """Those of the strategy for these kernels, without shapes."""
        case = self.case
        own: dict[str, Any] = {"strategy": strategy}
        if self.stated is not None and strategy != "separate":
            own["placement"] = case.placement
        if strategy in ("weave", "vertical", "auto"):
            own["divergence"] = case.divergence
        if strategy in ("weave", "auto"):
            own |= {"policy": case.policy, "slicing": case.slicing}
        if strategy == "interleave" and choose.random() < 0.33:
            own |= {"placement": "spread", "ratio": [choose.randint(1, 3) for _ in kernels]}
        if strategy == "horizontal" and (self.tuned or choose.random() < 0.25):
            own["partition"] = [-(-(case.shapes[k].threads or 0) // 32) * 32 for k in kernels]
        if self.tuned:
            own["partition"][0] = self.tuned
            own["tunable"] = [True, *[False] * (len(kernels) - 1)]
        if self.how.bound:
            own = {"strategy": strategy, "binding": "sm"}
            if choose.random() < 0.5:
                own["ratio"] = [choose.randint(1, 3) for _ in kernels]
        if self.how.folded and strategy == "interleave":
            own |= {"fold": choose.choice(FOLDS), "ctas": [choose.choice(CTAS) for _ in kernels]}
        if self.how.folded and strategy == "horizontal":
            own.pop("placement", None)
            own |= {"fold": choose.choice(FOLDS), "ctas": choose.choice(CTAS)}
            threads = [case.shapes[k].threads or 0 for k in kernels]
            sizes = [-(-n // 32) * 32 for n in threads]
            if self.how.teams and choose.random() < 0.3:
                own["parts"] = [choose.choice([n for n in (1, 2, 4) if n == 1 or t % (32 * n) == 0]) for t in threads]
                sizes = [size // n for size, n in zip(sizes, own["parts"], strict=True)]
            roles = sizes
            if "partition" in own:
                divided = own.get("parts") or [1] * len(sizes)
                roles = [n // m for n, m in zip(own["partition"], divided, strict=True)]
            if all(n % 128 == 0 for n in roles):
                own |= {"arch": "sm_90a", "role_registers": [8 * choose.randint(3, 8) for _ in kernels]}
            if self.how.teams:
                own["teams"] = self._teams(sizes, choose)
                able = len(kernels) == 2 and _can_help(sizes, own.get("role_registers", (1, 1)))
                own |= {"assist": True, "fold": "ticket"} if able and choose.random() < 0.7 else {}
        return own

    def _teams(self, threads: Sequence[int], choose: Random) -> list[int]:
        """As many as a CTA has threads for."""
        left, teams = 1024, []
        for k, own in enumerate(threads):
            teams.append(choose.randint(1, max(min(3, (left - sum(threads[k + 1 :])) // own), 1)))
            left -= teams[-1] * own
        return teams
