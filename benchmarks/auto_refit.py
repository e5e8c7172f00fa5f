"""Whether `auto` would choose as well if it had not been tuned on the measurements that judge it.

Four numbers of the cost model were chosen by measurements of suite A. Here they are chosen again for each kernel by the
pairs without it, and judged by the pairs with it. This does not undo that the model's form and its other numbers were
chosen with all measurements known. The instruction cache is not fitted: no kernel of suite A exceeds it.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

from suite_a import launches_of

import goptx
from goptx.cost import estimate
from goptx.strategies import auto, choose_strategy
from goptx.strategies.candidate import Candidate
from goptx.strategies.estimates import prospects

Setting = tuple[float, ...]  # of the numbers of TUNED, in that order

TUNED: Mapping[tuple[Any, str], Setting] = {
    (estimate, "OVERLAP"): (1, 2, 3, 5),
    (estimate, "LOADED"): (1, 1.5, 2, 3),
    (estimate, "ENOUGH"): (0.5, 0.75),
    (prospects, "TIE"): (0, 0.01, 0.03),
}
NAMES = [name for _, name in TUNED]
SETTINGS = list(product(*TUNED.values()))
UNMEASURED = 0.5  # the share of the best measured speed that a choice without a measurement counts as


def once(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, called only once for each first argument."""
    cached: dict[int, tuple[Any, Any]] = {}

    def ask(first: Any, *others: Any) -> Any:
        if id(first) not in cached:
            cached[id(first)] = first, function(first, *others)
        return cached[id(first)][1]

    return ask


def choices(pair: str) -> tuple[str, dict[Setting, str]]:
    """The choice with each setting; for a process of its own. No kernel is made twice."""
    sources = [goptx.read(one.file.read_text()) for one in launches_of(pair)]
    shapes = [goptx.Shape(one.grid, one.block, one.shared) for one in launches_of(pair)]
    for name in ("alone", "made_of"):
        setattr(choose_strategy, name, once(getattr(choose_strategy, name)))
    made: dict[Candidate, tuple[bool, goptx.Woven | None, str]] = {}

    class Again(choose_strategy.Search):
        def _make(self, way: Candidate) -> bool:
            if way not in made:
                done = super()._make(way)
                made[way] = done, self.made.get(way), self.refused.get(way, "")
            done, result, refused = made[way]
            if result is not None:
                self.made[way] = result
            else:
                self.refused[way] = refused
            return done

    vars(auto)["Search"] = Again
    found: dict[Setting, str] = {}
    for setting in SETTINGS:
        for (module, name), value in zip(TUNED, setting, strict=True):
            setattr(module, name, value)
        chosen = auto.auto(*sources, shapes=shapes).report.decision
        assert chosen
        found[setting] = chosen.chosen.name
    return pair, found


def refitted(shares: Mapping[str, Mapping[Setting, float]]) -> dict[str, Any]:
    """`shares` are the speeds of the choices for each pair, as shares of the best candidate's speed."""

    def best_for(pairs: Sequence[str]) -> Setting:
        """In the geometric mean; of equals, the first."""
        return max(SETTINGS, key=lambda setting: round(sum(math.log(shares[p][setting]) for p in pairs), 9))

    def named(setting: Setting) -> dict[str, float]:
        return dict(zip(NAMES, setting, strict=True))

    kernels = list(dict.fromkeys(kernel for pair in shares for kernel in pair.split("+")))
    rows = []
    for kernel in kernels:
        others = [pair for pair in shares if kernel not in pair.split("+")]
        setting = best_for(others)
        own = {pair: shares[pair][setting] for pair in shares if pair not in others}
        rows.append({"left_out": kernel, "setting": named(setting), "shares": own})
    everything = best_for(list(shares))
    return {
        "of_all": {"setting": named(everything), "shares": {pair: own[everything] for pair, own in shares.items()}},
        "left_out": rows,
    }


def table_of(found: Mapping[str, Any], near: float) -> list[str]:
    """The results as lines of Markdown; a choice with at least the share `near` is near the best."""

    def cells(row: Mapping[str, Any]) -> str:
        own = list(row["shares"].values())
        numbers = " | ".join(f"{row['setting'][name]:g}" for name in NAMES)
        return f"{numbers} | {statistics.geometric_mean(own):.3f} | {sum(s >= near for s in own)} of {len(own)}"

    held = [share for row in found["left_out"] for share in row["shares"].values()]
    return [
        "", "## Left out", "",
        f"For each kernel, {', '.join(NAMES)} are chosen again among {len(SETTINGS)} settings by the pairs without it; "
        "then how fast the choices for its pairs are, as a share of the best way, and for how many they are near it. A "
        f"choice that was not measured counts as {UNMEASURED:g}. That the rest of the model was made by somebody who "
        "had seen these measurements is not undone by this.", "",
        f"| left out | {' | '.join(NAMES)} | geomean | near the best |",
        "|---|" + "---|" * (len(NAMES) + 2),
        *(f"| {row['left_out']} | {cells(row)} |" for row in found["left_out"]),
        f"| none | {cells(found['of_all'])} |",
        "", f"All left out: geomean {statistics.geometric_mean(held):.3f}, near the best for "
        f"{sum(s >= near for s in held)} of {len(held)}; {held.count(UNMEASURED)} were not measured.",
    ]  # fmt: skip
