"""All ways of fusing random kernels: every strategy and its combinations, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from random_kernels import chains, twins
from random_kernels.case import Case
from random_kernels.composed import EVERY_STRATEGY, STRATEGIES, Composition, composed
from random_kernels.drawing import GENERATORS, KERNELS, pairs
from random_kernels.strided import with_strided
from random_kernels.tree import Pair
from random_kernels.trial import Trial
from random_kernels.written import case_of

Drawn = tuple[Case, set[str]]  # and what constructs it has


@dataclass(frozen=True, slots=True)
class Candidate:
    """`drawn`: the strategies of Hypothesis, by generator (`drawing.GENERATORS`); `case`: makes the case of a drawn
    value; `trial`: makes the trial of a case."""

    drawn: Mapping[str, SearchStrategy[Any]]
    case: Callable[[Any, str], Drawn]
    trial: Callable[[Case], Trial]


def _composed(how: Composition, kernels: Sequence[int] = KERNELS) -> Candidate:
    drawn = {g: pairs(kernels, larger=how.coarse > 0, moved=how.batched, generator=g) for g in GENERATORS}
    return Candidate(drawn, _strided if how.tunable else _pair, partial(composed, how=how))


def _pair(pair: Pair, generator: str) -> Drawn:
    return case_of(pair)


def _strided(pair: Pair, generator: str) -> Drawn:
    case, seen = case_of(pair)
    return with_strided(case), seen


def _chained(kind: str, strategy: str = "vertical") -> Candidate:
    drawn = dict.fromkeys(GENERATORS, st.integers(0, (1 << 40) - 1))
    return Candidate(drawn, chains.chain, partial(chains.chained, kind=kind, strategy=strategy))


WAYS: Mapping[str, Candidate] = {
    **{s: _composed(Composition(s)) for s in EVERY_STRATEGY},
    "horizontal with tunable": _composed(Composition("horizontal", tunable=True), [2]),
    "horizontal folded": _composed(Composition("horizontal", folded=True)),
    "horizontal folded of coarsened": _composed(Composition("horizontal", coarse=1, folded=True), [2]),
    "horizontal folded with tunable": _composed(Composition("horizontal", tunable=True, folded=True), [2]),
    "horizontal folded in teams": _composed(Composition("horizontal", folded=True, teams=True)),
    "horizontal folded in teams of coarsened": _composed(
        Composition("horizontal", coarse=1, folded=True, teams=True), [2]
    ),
    "interleave folded": _composed(Composition("interleave", folded=True)),
    "interleave bound to SMs": _composed(Composition("interleave", bound=True), [2]),
    "interleave folded and bound, of coarsened": _composed(
        Composition("interleave", coarse=1, folded=True, bound=True), [2]
    ),
    "coarsen": _composed(Composition("", coarse=1), [1]),
    "coarsen twice": _composed(Composition("", coarse=2), [1]),
    "batch": _composed(Composition("", batched=True), [1]),
    "coarsen of batch": _composed(Composition("", coarse=1, batched=True), [1]),
    **{f"{s} of coarsened": _composed(Composition(s, coarse=1), [2]) for s in STRATEGIES},
    **{f"{s} of batched": _composed(Composition(s, batched=True), [2]) for s in STRATEGIES},
    **{f"{s} of three": _composed(Composition(s, coarse=1, batched=True), [3]) for s in STRATEGIES},
    **{f"{s} of fused": _composed(Composition(s, nested=True), [3]) for s in STRATEGIES},
    **{f"vertical with {kind}": _chained(kind) for kind in chains.KINDS},
    **{f"{s} with same": _chained("same", s) for s in ("weave", "interleave")},
    "weave of twins": Candidate({g: pairs([2], generator=g) for g in GENERATORS}, twins.case, twins.woven),
}


def case_by(way: str, drawn: object, generator: str = "new") -> Drawn:
    """The case of this way that was drawn by this one of `drawing.GENERATORS`."""
    case, seen = WAYS[way].case(drawn, generator)
    return replace(case, way=way), seen


def trial(case: Case) -> Trial:
    return WAYS[case.way].trial(case)
