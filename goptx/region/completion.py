"""What recorded launches become: one fused kernel, or several launched in turn; made once and kept in the process.

Requires: launches in order, and what their arguments have in common. Ensures: what the fused kernel leaves in memory,
but for declared temporaries, is what the launches in order would leave; where that is not shown, they stay separate.
What was made serves every region with the same kernels, shapes, options and equalities of arguments.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from time import perf_counter
from typing import Any

from goptx.log import LOG
from goptx.memo import Memo, Same
from goptx.options import Strategy
from goptx.region.argument_aliasing import NOTHING, Group, Meeting, Place, several
from goptx.region.declared_temporaries import called, outcome
from goptx.region.recorded import Known, Recorded
from goptx.results.fused_kernel import Woven
from goptx.results.temporary import Temporary
from goptx.sources.kernel_text import Chosen, choose_entry
from goptx.strategies.choose_strategy import REFUSALS
from goptx.strategies.fuse import fuse
from goptx.strategies.separate import ANY, separate
from goptx.weaving.link.symbols import reached_symbols
from goptx.weaving.link.target import ARCHITECTURE

MOST = 256  # fused kernels that are kept
HANDS_ON = ("auto", "vertical")  # strategies of kernels that depend on each other
OWN_SHAPES = ("horizontal", "interleave")  # strategies that have to know them
FREE = 256  # threads of a CTA for which there are registers, however many each has (65,536 in all, 255 of one)


@dataclass(frozen=True, slots=True)
class RegionOptions:
    """What the caller of a region asks for; `options` are the strategy's."""

    strategy: Strategy = "auto"
    assume_local: bool = False
    no_barriers: bool = False
    independent: bool = False
    max_registers: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    assume_private: bool = False


@dataclass(frozen=True, slots=True)
class Completion:
    """What the launches became; `reason` is why they are not fused, "" if they are. `seconds` is what it took to make,
    assemble and load it. `temporaries`: what became of each buffer that is declared one."""

    fused: Woven
    reason: str
    seconds: float
    temporaries: tuple[Temporary, ...] = ()


_COMPLETED: Memo[Hashable, Completion] = Memo(most=MOST)
_SEPARATE: Memo[Hashable, Woven] = Memo(most=MOST)


def completed(launches: Sequence[Recorded], met: Meeting, how: RegionOptions) -> tuple[Completion, bool]:
    """And whether it was made now. Raises `CannotLink` where not even separate launches go into one module,
    `AssemblyError`, `DeviceError`."""
    job = _Job(launches, met, how)
    found = _COMPLETED.get(job.key)
    if found is not None:
        return found, False
    return _COMPLETED.made(job.key, job.completion), True


def in_turn(launches: Sequence[Recorded], how: RegionOptions, why: str) -> Completion:
    """The launches as they are, whatever they have in common."""
    start = perf_counter()
    return Completion(_Job(launches, NOTHING, how).separate(why), why, perf_counter() - start)


def start(fused: Woven, stream: Any, launches: Sequence[Recorded], how: RegionOptions) -> None:
    """With the arguments as they were recorded."""
    first = launches[0].shape
    own = fused.plan is not None and not fused.plan.common
    where = {"shapes": [r.shape for r in launches]} if own else {"grid": first.grid, "block": first.block}
    contents = [r.contents for r in launches]
    fused.launch(stream, *contents, **where, max_registers=how.max_registers, independent=True)


class _Job:
    """Launches that are to be one. `shapes` is None where one fused kernel serves every shape that is common to all;
    `names` says whether it matters which parameters are one."""

    def __init__(self, launches: Sequence[Recorded], met: Meeting, how: RegionOptions) -> None:
        self.launches, self.met, self.how = launches, met, how
        self.kernels = [r.known.chosen for r in launches]
        self.options = {"arch": _architecture(self.kernels), **how.options}
        touches = not how.independent and bool(met.met or met.unclear)
        shares = not how.independent and any(_share(a.known, b.known) for a, b in combinations(launches, 2))
        self.depends = touches or shares or bool(met.private or met.local)
        self.names = self.depends or (how.strategy == "vertical" and not how.independent)
        shape = launches[0].shape
        alike = all(r.shape == shape for r in launches) and not shape.shared and (shape.threads or 0) <= FREE
        shaped = self.depends or how.strategy in OWN_SHAPES or not alike
        self.shapes = tuple(r.shape for r in launches) if shaped else None

    @property
    def key(self) -> Hashable:
        how = self.how
        words = how.assume_local, how.assume_private, how.no_barriers, how.independent
        asked = (how.strategy, *words, how.max_registers, self.met.declared)
        options = tuple((name, _hashable(value)) for name, value in self.options.items())
        return self._of_kernels, self.shapes, self.met if self.names else None, asked, options

    @property
    def _of_kernels(self) -> Hashable:
        return tuple(r.known.key for r in self.launches)

    def completion(self) -> Completion:
        begin = perf_counter()
        made, why = self.fused()
        made = made or self.separate(why)
        made.load(self.how.max_registers)
        return Completion(made, why, perf_counter() - begin, outcome(self.launches, self.met, made, why))

    def fused(self) -> tuple[Woven | None, str]:
        """None where the launches stay separate as they are, and why they stay separate, coarsened perhaps."""
        if self.how.strategy == "separate" or len(self.launches) < 2:
            return None, "there is one launch only" if len(self.launches) < 2 else "separate launches are asked for"
        if why := self.obstacle():
            LOG.warning("not fused: %s", why)
            return None, why
        shapes: dict[str, Any] = {} if self.shapes is None else {"shapes": self.shapes}
        try:
            made = fuse(*self.kernels, strategy=self.how.strategy, **shapes, **{**self.said(), **self.options})
        except REFUSALS as refusal:
            LOG.warning("not fused: %s", refusal)
            return None, str(refusal)
        if made.strategy != "separate":
            return made, ""
        return made if made.report.why else None, "; ".join(made.report.notes)  # what was chosen, or all that is left

    def obstacle(self) -> str:
        """What is against fusing the kernels, by any strategy or by the one that is asked for."""
        if self.how.independent:
            return ""
        if self.met.unclear:
            pair = self.named(self.met.unclear[0])
            return f"{pair} are different pointers into the same memory, or may be"
        for r, letter in zip(self.launches, self.letters, strict=True):
            if r.known.reach.beyond:
                return (
                    f"kernel {letter} (`{r.known.chosen.entry}`) may go where its parameters do not lead (pointers in "
                    "memory or in structures, functions, textures), so what it has in common with the others is not "
                    "shown; pass independent=True if that is nothing"
                )
        if self.depends and self.how.strategy not in HANDS_ON:
            what = f": {self.named(self.met.met[0])} are one buffer" if self.met.met else ""
            return f"strategy {self.how.strategy} takes kernels that do not depend on each other{what}"
        return ""

    def said(self) -> dict[str, Any]:
        """What the strategy is told of the parameters."""
        met = self.met
        if not self.depends:
            same = [g for g in (*met.buffers, *met.numbers) if several(g)]
            return {"same": self.pairs(same)} if self.names else {}
        temporary = {*met.private, *met.local}
        unproved = {"unproved": "memory"} if self.how.strategy == "vertical" else {}  # "auto" has no other way
        return {
            **unproved,
            "depends": True,
            "assume_local": self.how.assume_local,
            "assume_private": self.how.assume_private,
            "no_barriers": self.how.no_barriers,
            "same": self.pairs([g for g in (*met.buffers, *met.numbers) if g not in temporary]),
            "private": self.pairs(met.private),
            "local": self.pairs(met.local),
            "noalias": [self.name(place) for place in met.lone],
        }

    def separate(self, why: str) -> Woven:
        """In one module, that serves whatever shapes and arguments."""
        options = self.options if self.how.strategy == "separate" else {"arch": self.options["arch"]}
        key = self._of_kernels, tuple((name, _hashable(value)) for name, value in options.items())
        shapes = [ANY] * len(self.kernels)
        made = _SEPARATE.made(key, lambda: separate(*self.kernels, shapes=shapes, **options))
        return replace(made, report=replace(made.report, notes=(*made.report.notes, why)))

    @property
    def letters(self) -> list[str]:
        return [chr(ord("A") + k) for k in range(len(self.launches))]

    def name(self, place: Place) -> str:
        """As the strategies take it."""
        return f"{self.letters[place[0]]}:{place[1]}"

    def pairs(self, groups: Sequence[Group]) -> list[tuple[str, str]]:
        return [(self.name(first), self.name(place)) for first, *others in groups for place in others]

    def named(self, places: Sequence[Place]) -> str:
        """As messages have it: `A:2 (out) and B:0 (in)`."""
        return " and ".join(called(self.launches, p) for p in places)


def _share(one: Known, other: Known) -> bool:
    """Whether one of them may write a variable of a module that both are of."""
    if not (one.reach.writes_variables or other.reach.writes_variables):
        return False
    return _SHARED.made((one.key, other.key), lambda: _in_common(one.chosen, other.chosen))


_SHARED: Memo[Hashable, bool] = Memo(most=MOST)


def _in_common(one: Chosen, other: Chosen) -> bool:
    if one.module.items != other.module.items:
        return False
    reached = [reached_symbols(k.module, choose_entry(k.module, k.entry)) for k in (one, other)]
    return any(v.space == ".global" and all(v.name in r for r in reached) for v in one.module.variables)


def _architecture(kernels: Sequence[Chosen]) -> str | None:
    """That of the current device, where code for it is not what the kernels would become anyway."""
    from goptx.device.load import architecture

    device = ARCHITECTURE.match(architecture() or "")
    found = [ARCHITECTURE.match(k.module.target[0]) for k in kernels]
    if not device or any(not f or f[2] or int(f[1]) > int(device[1]) for f in found):
        return None
    return device[0]


def _hashable(value: object) -> Hashable:
    if isinstance(value, list | tuple):
        return tuple(map(_hashable, value))
    return value if isinstance(value, str | int | float | Path | None) else Same(value)
