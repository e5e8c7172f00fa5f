"""Completes recorded launches: one fused kernel, or several launches in sequence; made once and cached in the process.

Requires: launches in order, and how their arguments alias. Ensures: the fused kernel leaves in memory what the launches
in order would leave, except in declared temporaries; if that cannot be proved, the launches stay separate. A completion
serves every region with the same kernels, shapes, options and equalities of arguments.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from time import perf_counter
from typing import Any

from goptx.device.load import device_number
from goptx.launch.device_arrays import Extent
from goptx.log import LOG
from goptx.memo import Memo, Same
from goptx.options import Strategy
from goptx.region.argument_aliasing import NO_ALIASING, Aliasing, Group, Position, aliasing_of, several
from goptx.region.declared_temporaries import called, outcome
from goptx.region.recorded import Known, Recorded
from goptx.results.fused_kernel import Woven
from goptx.results.temporary import Temporary
from goptx.sources.kernel_text import Chosen
from goptx.strategies.choose_strategy import REFUSALS
from goptx.strategies.fuse import fuse
from goptx.strategies.separate import ANY, separate
from goptx.weaving.dependent.common_variables import common_variables
from goptx.weaving.link.target import ARCHITECTURE

MOST = 256  # fused kernels that are cached
DEPENDENT = ("auto", "vertical")  # strategies of kernels that depend on each other
OWN_SHAPES = ("horizontal", "interleave")  # strategies that need the kernels' shapes
FREE = 256  # threads of a CTA that always have enough registers (65,536 in all, at most 255 per thread)


@dataclass(frozen=True, slots=True)
class RegionOptions:
    """The options of a region; `options` are those of the strategy."""

    strategy: Strategy = "auto"
    assume_local: bool = False
    no_barriers: bool = False
    independent: bool = False
    max_registers: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    assume_private: bool = False

    @property
    def key(self) -> Hashable:
        words = self.assume_local, self.assume_private, self.no_barriers, self.independent
        options = tuple((name, _hashable(value)) for name, value in self.options.items())
        return self.strategy, words, self.max_registers, options


@dataclass(frozen=True, slots=True)
class Completion:
    """The kernel made of the launches. `reason`: why they are not fused, "" if they are. `seconds`: to make, assemble
    and load it. `temporaries`: the outcome for each declared temporary."""

    fused: Woven
    reason: str
    seconds: float
    temporaries: tuple[Temporary, ...] = ()


_COMPLETED: Memo[Hashable, Completion] = Memo(most=MOST)
_REPEATED: Memo[Hashable, Completion] = Memo(most=MOST)  # by the launches themselves
_SEPARATE: Memo[Hashable, Woven] = Memo(most=MOST)


def completed(
    launches: Sequence[Recorded], private: Sequence[Extent], local: Sequence[Extent], how: RegionOptions
) -> tuple[Completion, bool]:
    """The completion, and whether it was made now; `private` and `local` are declared temporaries. Raises `InputError`
    for a temporary that no launch takes, `CannotLink` if not even separate launches go into one module,
    `AssemblyError`, `DeviceError`."""
    key = tuple(launches), tuple(private), tuple(local), how.key, device_number()
    found = _REPEATED.get(key)  # most regions are repeated with the same arguments
    if found is not None:
        return found, False
    job = _Job(launches, aliasing_of(launches, private, local), how)
    found, anew = _COMPLETED.get(job.key), False
    if found is None:
        found, anew = _COMPLETED.made(job.key, job.completion), True
    return _REPEATED.made(key, lambda: found), anew


def in_sequence(launches: Sequence[Recorded], how: RegionOptions, reason: str) -> Completion:
    """The launches unchanged, one after the other, whatever arguments they share."""
    start = perf_counter()
    return Completion(_Job(launches, NO_ALIASING, how).separate(reason), reason, perf_counter() - start)


def start(fused: Woven, stream: Any, launches: Sequence[Recorded], how: RegionOptions) -> None:
    """Starts the kernel with the recorded arguments."""
    first = launches[0].shape
    own = fused.plan is not None and not fused.plan.common
    where = {"shapes": [r.shape for r in launches]} if own else {"grid": first.grid, "block": first.block}
    contents = [r.contents for r in launches]
    fused.launch(stream, *contents, **where, max_registers=how.max_registers, independent=True)


class _Job:
    """Launches to be fused. `shapes` is None if one fused kernel serves every shape that is common to all launches;
    `names` is whether equal parameters are named to the strategy."""

    def __init__(self, launches: Sequence[Recorded], aliasing: Aliasing, how: RegionOptions) -> None:
        self.launches, self.aliasing, self.how = launches, aliasing, how
        self.kernels = [r.known.chosen for r in launches]
        self.options = {"arch": _architecture(self.kernels), **how.options}
        touches = not how.independent and bool(aliasing.conflicts or aliasing.unclear)
        shares = not how.independent and any(_share(a.known, b.known) for a, b in combinations(launches, 2))
        self.depends = touches or shares or bool(aliasing.private or aliasing.local)
        self.names = self.depends or (how.strategy == "vertical" and not how.independent)
        shape = launches[0].shape
        alike = all(r.shape == shape for r in launches) and not shape.shared and (shape.threads or 0) <= FREE
        shaped = self.depends or how.strategy in OWN_SHAPES or not alike
        self.shapes = tuple(r.shape for r in launches) if shaped else None

    @property
    def key(self) -> Hashable:
        asked = self.how.key, self.options["arch"], self.aliasing.declared
        return self._of_kernels, self.shapes, self.aliasing if self.names else None, asked

    @property
    def _of_kernels(self) -> Hashable:
        return tuple(r.known.key for r in self.launches)

    def completion(self) -> Completion:
        begin = perf_counter()
        made, reason = self.fused()
        made = made or self.separate(reason)
        made.load(self.how.max_registers)
        return Completion(made, reason, perf_counter() - begin, outcome(self.launches, self.aliasing, made, reason))

    def fused(self) -> tuple[Woven | None, str]:
        """The kernel, None for the unchanged launches; and the reason if the launches stay separate, "" if not."""
        if self.how.strategy == "separate" or len(self.launches) < 2:
            return None, "there is only one launch" if len(self.launches) < 2 else "separate launches were requested"
        if reason := self.obstacle():
            LOG.warning("not fused: %s", reason)
            return None, reason
        shapes: dict[str, Any] = {} if self.shapes is None else {"shapes": self.shapes}
        try:
            made = fuse(*self.kernels, strategy=self.how.strategy, **shapes, **{**self.parameters(), **self.options})
        except REFUSALS as refusal:
            LOG.warning("not fused: %s", refusal)
            return None, str(refusal)
        if made.strategy != "separate":
            return made, ""
        reason = "; ".join(made.report.notes)
        return made if made.report.decision else None, reason  # without a decision, separate was the only candidate

    def obstacle(self) -> str:
        """Why the kernels cannot be fused, by any strategy or by the requested one; "" if they can."""
        if self.how.independent:
            return ""
        if self.aliasing.unclear:
            pair = self.named(self.aliasing.unclear[0])
            return f"{pair} are different pointers into the same memory, or may be"
        for r, letter in zip(self.launches, self.letters, strict=True):
            if r.known.reach.beyond:
                return (
                    f"kernel {letter} (`{r.known.chosen.entry}`) may access memory that its parameters do not point to "
                    "(through pointers in memory or in structures, functions, textures), so it is not proved to be "
                    "independent of the others; pass independent=True if it is"
                )
        if self.depends and self.how.strategy not in DEPENDENT:
            what = f": {self.named(self.aliasing.conflicts[0])} are one buffer" if self.aliasing.conflicts else ""
            return f"strategy {self.how.strategy} takes kernels that do not depend on each other{what}"
        return ""

    def parameters(self) -> dict[str, Any]:
        """The options of the strategy that name parameters."""
        aliasing = self.aliasing
        if not self.depends:
            same = [g for g in (*aliasing.buffers, *aliasing.numbers) if several(g)]
            return {"same": self.pairs(same)} if self.names else {}
        temporary = {*aliasing.private, *aliasing.local}
        unproved = {"unproved": "memory"} if self.how.strategy == "vertical" else {}  # for "auto" that is the only one
        return {
            **unproved,
            "depends": True,
            "assume_local": self.how.assume_local,
            "assume_private": self.how.assume_private,
            "no_barriers": self.how.no_barriers,
            "same": self.pairs([g for g in (*aliasing.buffers, *aliasing.numbers) if g not in temporary]),
            "private": self.pairs(aliasing.private),
            "local": self.pairs(aliasing.local),
            "noalias": [self.name(position) for position in aliasing.lone],
        }

    def separate(self, reason: str) -> Woven:
        """The kernels in one module, launched separately, for any shapes and arguments."""
        options = self.options if self.how.strategy == "separate" else {"arch": self.options["arch"]}
        key = self._of_kernels, tuple((name, _hashable(value)) for name, value in options.items())
        shapes = [ANY] * len(self.kernels)
        made = _SEPARATE.made(key, lambda: separate(*self.kernels, shapes=shapes, **options))
        return made.reported(replace(made.report, notes=(*made.report.notes, reason)))

    @property
    def letters(self) -> list[str]:
        return [chr(ord("A") + k) for k in range(len(self.launches))]

    def name(self, position: Position) -> str:
        """The name of a parameter for the strategies."""
        return f"{self.letters[position[0]]}:{position[1]}"

    def pairs(self, groups: Sequence[Group]) -> list[tuple[str, str]]:
        return [(self.name(first), self.name(position)) for first, *others in groups for position in others]

    def named(self, places: Sequence[Position]) -> str:
        """The names of parameters in messages: `A:2 (out) and B:0 (in)`."""
        return " and ".join(called(self.launches, p) for p in places)


def _share(one: Known, other: Known) -> bool:
    """Whether one of them may write a variable of a module that has both."""
    if not (one.reach.writes_variables or other.reach.writes_variables):
        return False
    return _SHARED.made((one.key, other.key), lambda: bool(common_variables(one.chosen, other.chosen)))


_SHARED: Memo[Hashable, bool] = Memo(most=MOST)


def _architecture(kernels: Sequence[Chosen]) -> str | None:
    """The architecture of the current device, if no kernel is made for a higher or a special one; else None."""
    from goptx.device.load import architecture

    return _common_architecture(architecture(), tuple([k.module.target[0] for k in kernels]))


@lru_cache(maxsize=MOST)
def _common_architecture(present: str | None, targets: tuple[str, ...]) -> str | None:
    device = ARCHITECTURE.match(present or "")
    found = [ARCHITECTURE.match(target) for target in targets]
    if not device or any(not f or f[2] or int(f[1]) > int(device[1]) for f in found):
        return None
    return device[0]


def _hashable(value: object) -> Hashable:
    if isinstance(value, list | tuple):
        return tuple(map(_hashable, value))
    return value if isinstance(value, str | int | float | Path | None) else Same(value)
