"""What `auto` chooses without measuring: the search begins with it, and so never ends with less in a short time."""

from __future__ import annotations

from collections.abc import Sequence

from goptx.cost.assumptions import integers
from goptx.errors import GoptxError
from goptx.launch.parameter_names import letter_of
from goptx.launch.shape import Shape
from goptx.log import LOG
from goptx.options import Assume, KnownOfKernel, MeasuredStrategy
from goptx.results.expected_gain import unjudged
from goptx.sources.kernel_text import Chosen
from goptx.strategies.auto import auto
from goptx.strategies.candidate import Candidate


def auto_choices(
    kernels: Sequence[Chosen],
    shapes: Sequence[Shape],
    arch: str,
    strategies: Sequence[MeasuredStrategy],
    assumed: Sequence[Assume | None],
) -> list[Candidate]:
    """The candidates, without caps: what it chooses by each of what may be assumed. Those of other strategies than
    these are left out, and what `auto` refuses. This takes seconds."""
    found: list[Candidate] = []
    for known in assumed:
        try:
            with unjudged():
                decision = auto(*kernels, arch=arch, shapes=shapes, assume=known).report.decision
        except GoptxError as reason:
            LOG.info("tuning does not begin with what auto chooses: %s", reason)
            continue
        if decision:
            found.append(Candidate.from_dict(decision.taken).uncapped)
    return [choice for choice in dict.fromkeys(found) if choice.strategy in strategies]


def with_arguments(assume: Assume | None, arguments: Sequence[Sequence[object]]) -> Assume:
    """What is assumed, and the integers among the arguments of each kernel whose arguments are not known yet."""
    found: dict[str, KnownOfKernel] = {letter: {**known} for letter, known in (assume or {}).items()}
    for number, values in enumerate(arguments):
        own = found.setdefault(letter_of(number), {})
        if "arguments" not in own and "specification" not in own:
            own["arguments"] = integers(values)
    return found
