"""The folded forms of each pair that are measured, and how they are made."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from unseen.making import TUNED, Made, about

import goptx
from goptx.measuring.bench.workload import Workload
from goptx.options import Fold
from goptx.tuning.judging import BenchLike
from goptx.tuning.measured import Measured, measured
from suite_c import PAIRS, specifications_of


@dataclass(frozen=True, slots=True)
class Form:
    """registers: of a thread of each kernel. ctas: that are launched; None: one wave of them. woven: how many virtual
    CTAs of the second kernel run at a time, their instructions woven."""

    registers: tuple[int, int]
    ctas: int | None = None
    woven: int = 1
    fold: Fold = "static"

    @property
    def name(self) -> str:
        ctas = "one wave" if self.ctas is None else f"{self.ctas} CTAs"
        return f"{self.registers[0]}/{self.registers[1]} x{self.woven} {self.fold}, {ctas}"


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
AUTO = "auto"
FORMS: Mapping[str, tuple[Form, ...]] = {p: _PRODUCT if p.startswith("product") else _ATTENTION for p in PAIRS}
"""By pair."""


@cache
def measured_of(pair: str, small: bool = False) -> Measured:
    """`small`: in the sizes for checks."""
    return measured([], spec=specifications_of(pair), small=small)


def workload(pair: str, small: bool = False) -> Workload:
    """What is run and measured."""
    return measured_of(pair, small).workload


def made(pair: str, form: Form | None, small: bool = False, assembled: bool = True) -> Made:
    """The pair in that form, None for what `auto` chooses, by default with its machine code."""
    begin = time.monotonic()
    try:
        found = measured_of(pair, small)
        if form is None:
            woven = goptx.fuse(*found.kernels, strategy="auto", shapes=found.shapes)
            facts = about(woven, assembled)
            return Made(AUTO, woven, {**facts, "seconds": round(time.monotonic() - begin, 2)})
        first, second = found.kernels
        own = found.shapes[1]
        woven = goptx.fuse(
            first,
            goptx.coarsen(second, form.woven, shape=own) if form.woven > 1 else second,
            strategy="horizontal", shapes=found.shapes, fold=form.fold, ctas=form.ctas, role_registers=form.registers,
        )  # fmt: skip
        facts = about(woven, assembled)
    except goptx.GoptxError as error:
        return Made(form.name if form else AUTO, facts={"refused": str(error)})
    return Made(form.name, woven, {**facts, "seconds": round(time.monotonic() - begin, 2)})


def tuned(pair: str, bench: BenchLike, seconds: float) -> Made:
    """The result of tuning the pair."""
    try:
        best = goptx.tune(spec=specifications_of(pair), budget=seconds, benches=[bench], progress=False)
    except goptx.GoptxError as error:
        return Made(TUNED, facts={"refused": str(error)})
    return Made(TUNED, best.fused, {**about(best.fused), "chosen": str(best.candidate), "estimate": None})
