"""What is made of each pair and group: folded forms, plain strategies, what `auto` chooses, and what tuning finds."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Literal

from unseen.making import TUNED, Made, about

import goptx
from goptx.launch.parameter_names import letter_of
from goptx.measuring.bench.workload import Workload
from goptx.options import MEASURED_STRATEGIES, Assume, Fold, KnownOfKernel, Strategy
from goptx.tuning.judging import BenchLike
from suite_c import BEST, FITTED
from suite_c.cases import GROUPS, given, kernels_of, measured_of


@dataclass(frozen=True, slots=True)
class Form:
    """A folded form. registers: of a thread of each kernel. ctas: that are launched; None: one wave of them. woven: how
    many virtual CTAs of the second kernel run at a time, their instructions woven."""

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
FORMS: Mapping[str, tuple[Form, ...]] = {p: _PRODUCT if p.startswith("product") else _ATTENTION for p in FITTED}
"""By pair."""
AUTO: Strategy = "auto"
PLAIN: tuple[Strategy, ...] = tuple(strategy for strategy in MEASURED_STRATEGIES if strategy != "separate")
"""The strategies as they are, of which tuning should miss none of a group."""

Known = Literal["auto, sizes known"]  # what `auto` chooses if it is given the integer arguments of the launch
KNOWN: Known = "auto, sizes known"
Way = Form | Strategy | Known


def ways_of(name: str, forms: int) -> tuple[Way, ...]:
    """What is made: the first so many folded forms, of a group the plain strategies, and what `auto` chooses, without
    and with the sizes."""
    return (*FORMS.get(name, ())[:forms], *(PLAIN if name in GROUPS else ()), AUTO, KNOWN)


def workload(name: str, small: bool = False) -> Workload:
    """What is run and measured."""
    return measured_of(name, small).workload


def made(name: str, way: Way, small: bool = False, assembled: bool = True) -> Made:
    """The pair or group in that way, by default with its machine code."""
    begin = time.monotonic()
    called = way.name if isinstance(way, Form) else way
    try:
        woven = _folded(name, way, small) if isinstance(way, Form) else _fused(name, way, small)
        facts = about(woven, assembled)
    except goptx.GoptxError as error:
        return Made(called, facts={"refused": str(error)})
    return Made(called, woven, {**facts, "seconds": round(time.monotonic() - begin, 2)})


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


def _folded(name: str, form: Form, small: bool) -> goptx.Woven:
    found = measured_of(name, small)
    first, second = found.kernels
    return goptx.fuse(
        first,
        goptx.coarsen(second, form.woven, shape=found.shapes[1]) if form.woven > 1 else second,
        strategy="horizontal", shapes=found.shapes, fold=form.fold, ctas=form.ctas, role_registers=form.registers,
    )  # fmt: skip


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
