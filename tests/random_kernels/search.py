"""Lets Hypothesis draw pairs by a seed, and shrink the first that fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from unittest.mock import patch

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.internal.conjecture.providers import HypothesisProvider
from random_kernels.case import Case
from random_kernels.census import with_groups
from random_kernels.pairs import FORCED, Outcome, run
from random_kernels.ways import WAYS, case_by


@dataclass(slots=True)
class Search:
    """What came of the pairs of one seed.

    pairs: how many were run, until the first that failed. refused: by reason (`pairs.REASONS`). drawn, census: how many
    of the pairs have a construct (without pairs for which an impossible choice was requested), and how many of those
    that were woven. failing: the pair that failed, shrunken, and the failure.
    """

    seed: int
    pairs: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    drawn: Counter[str] = field(default_factory=Counter)
    census: Counter[str] = field(default_factory=Counter)
    failing: Case | None = None
    failure: str = ""


def _no_constant(*_: object, **__: object) -> None:
    """Instead of constants that Hypothesis finds in the modules that happen to be loaded, so that a seed gives the same
    pairs whatever else is tested, and however goptx is changed."""


def search(
    number: int,
    examples: int,
    shrink: bool = True,
    judge: Callable[[Case], Outcome] = run,
    way: str = "weave",
    generator: str = "new",
) -> Search:
    """Draws pairs by `generator`, one of `drawing.GENERATORS`, and fuses them by `way`, one of `ways.WAYS`."""
    found = Search(number)

    def one(drawn: object) -> None:
        case, seen = case_by(way, drawn, generator)
        try:
            outcome = judge(case)
        except Exception as error:
            found.failing, found.failure = case, f"{type(error).__name__}: {error}"
            raise
        if found.failing is not None:
            return  # this is a step of shrinking
        found.pairs += 1
        if outcome.refused != FORCED:
            found.drawn.update(with_groups(seen))
        if outcome.refused:
            found.refused[outcome.refused] += 1
        else:
            found.census.update(with_groups(seen))

    options = settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=False,
        report_multiple_bugs=False,
        phases=(Phase.generate, Phase.shrink) if shrink else (Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    try:
        with patch.object(HypothesisProvider, "_maybe_draw_constant", _no_constant):
            seed(number)(options(given(WAYS[way].drawn[generator])(one)))()
    except Exception:
        if found.failing is None:  # the drawing or the writing itself
            raise
    return found


def drawn(number: int, examples: int, way: str = "weave", generator: str = "new") -> list[Case]:
    """The cases of a seed for this way."""
    found: list[Case] = []

    def take(case: Case) -> Outcome:
        found.append(case)
        return Outcome("")

    search(number, examples, judge=take, way=way, generator=generator)
    return found
