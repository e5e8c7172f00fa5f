"""What is made of each pair and group: folded forms, plain strategies, what `auto` chooses, and what tuning finds."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Literal

from unseen.making import TUNED, Made, about

import goptx
from goptx.launch.parameter_names import letter_of
from goptx.launch.shape import Shape
from goptx.measuring.bench.workload import Workload
from goptx.options import MEASURED_STRATEGIES, Assume, Fold, KnownOfKernel, Strategy
from goptx.results.given_kernels import Source
from goptx.tuning.judging import BenchLike
from suite_c import BEST, FITTED
from suite_c.cases import GROUPS, given, kernels_of, measured_of


@dataclass(frozen=True, slots=True)
class Form:
    """A folded form. registers: of a thread of each kernel. ctas: that are launched; None: one wave of them. woven: how
    many virtual CTAs of the second kernel run at a time, their instructions woven. teams: warpgroups of each kernel.
    assist: who has no CTA left runs those of the other kernel."""

    registers: tuple[int, int]
    ctas: int | None = None
    woven: int = 1
    fold: Fold = "static"
    teams: tuple[int, int] = (1, 1)
    assist: bool = False

    @property
    def name(self) -> str:
        ctas = "one wave" if self.ctas is None else f"{self.ctas} CTAs"
        teams = f", teams {self.teams[0]}, {self.teams[1]}" if self.teams != (1, 1) else ""
        assist = ", assist" if self.assist else ""
        return f"{self.registers[0]}/{self.registers[1]} x{self.woven} {self.fold}, {ctas}{teams}{assist}"

    def fused(self, kernels: Sequence[Source], shapes: Sequence[Shape]) -> goptx.Woven:
        """Two kernels in this form."""
        return goptx.fuse(
            *kernels, strategy="horizontal", shapes=shapes, fold=self.fold, ctas=self.ctas,
            role_registers=self.registers, teams=self.teams, assist=self.assist,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Bound:
    """CTAs of each kernel side by side on every SM, which they find by its number. ratio: of their numbers; None: that
    of the grids. woven: CTAs of the second kernel that are coarsened into one."""

    ratio: tuple[int, int] | None = None
    woven: int = 1

    @property
    def name(self) -> str:
        ratio = f" {self.ratio[0]}:{self.ratio[1]}" if self.ratio else ""
        return f"bound to SMs{ratio} x{self.woven}"

    def fused(self, kernels: Sequence[Source], shapes: Sequence[Shape]) -> goptx.Woven:
        """Two kernels in this form."""
        return goptx.fuse(*kernels, strategy="interleave", shapes=shapes, binding="sm", ratio=self.ratio)


TILES = 1024  # CTAs of a matrix product, and of attention: with so many, each CTA runs one tile
_PRODUCT = (
    Form((184, 72), TILES, 2),
    Form((184, 72), TILES),
    Form((184, 72), None, 2),
    Form((184, 72)),
    Form((192, 64), TILES),
    Form((184, 72), TILES, 2, "chunk"),
)
_ATTENTION = (
    Form((192, 64), TILES),
    Form((192, 64)),
    Form((200, 56), TILES),
    Form((192, 64), TILES, 2),
    Form((192, 64), None, 2),
    Form((192, 64), TILES, 1, "chunk"),
)
_TWO_ATTENTIONS = (  # what else there is for a pair that misses its bar; nothing is fitted on it
    Form((200, 104), None, 1, "ticket", (2, 1), assist=True),
    Form((200, 104), None, 1, "ticket", (1, 3), assist=True),
    Form((192, 64), None, 1, "ticket", assist=True),
    Bound((1, 1), 2),
    Bound((1, 1)),
    Form((200, 104), None, 1, "ticket", (2, 1)),
    Form((192, 64)),
    Bound(),
)
FORMS: Mapping[str, tuple[Form | Bound, ...]] = {
    **{p: _PRODUCT if p.startswith("product") else _ATTENTION for p in FITTED},
    "attention+decode_attention": _TWO_ATTENTIONS,
}
"""By pair."""
AUTO: Strategy = "auto"
PLAIN: tuple[Strategy, ...] = tuple(strategy for strategy in MEASURED_STRATEGIES if strategy != "separate")
"""The strategies as they are, of which tuning should miss none of a group."""

Known = Literal["auto, sizes known"]  # what `auto` chooses if it is given the integer arguments of the launch
KNOWN: Known = "auto, sizes known"
Way = Form | Bound | Strategy | Known


def ways_of(name: str, forms: int) -> tuple[Way, ...]:
    """What is made: the first so many folded forms, of a group the plain strategies, and what `auto` chooses, without
    and with the sizes."""
    return (*FORMS.get(name, ())[:forms], *(PLAIN if name in GROUPS else ()), AUTO, KNOWN)


def called(way: Way) -> str:
    """Its name in results."""
    return way.name if isinstance(way, Form | Bound) else way


def workload(name: str, small: bool = False) -> Workload:
    """What is run and measured."""
    return measured_of(name, small).workload


def made(name: str, way: Way, small: bool = False, assembled: bool = True) -> Made:
    """The pair or group in that way, by default with its machine code."""
    begin = time.monotonic()
    try:
        woven = _by_hand(name, way, small) if isinstance(way, Form | Bound) else _fused(name, way, small)
        facts = about(woven, assembled)
    except goptx.GoptxError as error:
        return Made(called(way), facts={"refused": str(error)})
    return Made(called(way), woven, {**facts, "seconds": round(time.monotonic() - begin, 2)})


def _fused(name: str, way: Strategy | Known, small: bool) -> goptx.Woven:
    found = measured_of(name, small)
    if way == KNOWN:
        return goptx.fuse(*found.kernels, strategy=AUTO, shapes=found.shapes, assume=sizes_of(name))
    return goptx.fuse(*found.kernels, strategy=way, shapes=found.shapes)


def sizes_of(name: str) -> Assume:
    """The integer arguments of each kernel, as goptx takes what is known of kernels."""
    found: dict[str, KnownOfKernel] = {}
    for number, kernel in enumerate(kernels_of(name)):
        integers = (
            (i, one.value) for i, one in enumerate(kernel.launch().arguments) if one.dtype in ("int32", "int64")
        )
        found[letter_of(number)] = {"arguments": {i: int(value) for i, value in integers if value is not None}}
    return found


def _by_hand(name: str, form: Form | Bound, small: bool) -> goptx.Woven:
    found = measured_of(name, small)
    first, second = found.kernels
    coarse = goptx.coarsen(second, form.woven, shape=found.shapes[1]) if form.woven > 1 else second
    return form.fused([first, coarse], found.shapes)


def tuned(name: str, bench: BenchLike, seconds: float, executor: Executor | None = None) -> Made:
    """The result of tuning, without knowledge of the forms."""
    try:
        best = goptx.tune(**given(name), budget=seconds, executor=executor, benches=[bench], progress=False)
    except goptx.GoptxError as error:
        return Made(TUNED, facts={"refused": str(error)})
    tried: dict[str, Any] = {
        "chosen": str(best.candidate),
        "estimate": None,
        "expected": None,
        "tried": len(best.table.trials),
    }
    tried["held"] = best.to_dict(BEST.parent)
    return Made(TUNED, best.fused, {**about(best.fused), **tried})
