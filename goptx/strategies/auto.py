"""auto: the first strategy that takes the kernels; a cost model will choose among them here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from goptx.errors import CannotLink, CannotWeave, TooLarge
from goptx.latency.table import LatencyTable
from goptx.shape import Shape
from goptx.strategies.buffers import Names, Pairs
from goptx.strategies.separate import separate
from goptx.strategies.vertical import vertical
from goptx.warned import log
from goptx.weaving.divergence.converged import Choice
from goptx.weaving.launching import Placement
from goptx.weaving.result import Woven
from goptx.weaving.sources import Source
from goptx.weaving.weave import weave

REFUSALS = (CannotWeave, CannotLink, TooLarge)  # what another strategy may take


def auto(
    *sources: Source,
    entries: Sequence[str | None] | None = None,
    arch: str | None = None,
    name: str | None = None,
    policy: str = "latency",
    slicing: str | int | None = "adaptive",
    divergence: Choice | None = None,
    latency: str | Path | LatencyTable | None = None,
    shapes: Sequence[Shape] | None = None,
    placement: Placement = "spread",
    max_blocks: int | None = None,
    max_growth: float | None = None,
    depends: bool = False,
    assume_local: bool = False,
    same: Pairs = (),
    private: Pairs = (),
    local: Pairs = (),
    apart: Names = (),
) -> Woven:
    """Woven, else vertical, else separate. Kernels that depend on each other (`depends`, `private`, `local`) are not
    woven; where their temporaries cannot be kept in registers or shared memory, they stay in memory.

    What is refused on the way is noted in the report and logged ("goptx"; a warning where nothing is fused). Options
    are those of `weave` and `vertical`. Raises `CannotLink` where not even `separate` takes the kernels.
    """
    read: dict[str, Any] = {"entries": entries, "arch": arch, "name": name, "latency": latency, "shapes": shapes}
    fused = {**read, "divergence": divergence, "placement": placement}
    woven = {**fused, "policy": policy, "slicing": slicing, "max_blocks": max_blocks, "max_growth": max_growth}
    hands_on = {**fused, "assume_local": assume_local, "apart": apart}
    temporaries = (*private, *local)
    ways: list[tuple[str, Callable[..., Woven], Mapping[str, Any]]] = [
        ("weave", weave, woven),
        ("vertical", vertical, {**hands_on, "depends": depends, "same": same, "private": private, "local": local}),
        ("temporaries in memory", vertical, {**hands_on, "depends": True, "same": (*same, *temporaries)}),
    ]
    tried = ways[0 if not (depends or temporaries) else 1 : 3 if temporaries else 2]
    refused: list[str] = []
    for way, function, options in tried:
        try:
            made = function(*sources, **options)
        except REFUSALS as reason:
            refused.append(f"{way}: {reason}")
            log("INFO", f"not {refused[-1]}")
        else:
            notes = (*made.report.notes, *(f"not {reason}" for reason in refused))
            return replace(made, report=replace(made.report, notes=notes))
    log("WARNING", f"not fused: {'; '.join(refused)}")
    return separate(*sources, **read, notes=[f"not {reason}" for reason in refused])
