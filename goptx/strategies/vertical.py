"""vertical: each thread runs its thread of the first kernel, then that of the second, and so on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from pathlib import Path

from goptx.latency.table import LatencyTable, load_table
from goptx.shape import Shape
from goptx.weaving.copies import copies_joined
from goptx.weaving.divergence.converged import Choice
from goptx.weaving.growth import limits
from goptx.weaving.launching import Placement
from goptx.weaving.merge import in_turn
from goptx.weaving.merged import merged
from goptx.weaving.pipeline import Choices, check_request, finish, read_and_link, sides_of
from goptx.weaving.result import Woven
from goptx.weaving.side import Side
from goptx.weaving.sources import Source, kernels_of, shapes_of


def vertical(
    *sources: Source,
    entries: Sequence[str | None] | None = None,
    arch: str | None = None,
    name: str | None = None,
    divergence: Choice | None = None,
    latency: str | Path | LatencyTable | None = None,
    shapes: Sequence[Shape] | None = None,
    placement: Placement = "spread",
) -> Woven:
    """One kernel after the other in each thread; arguments and errors are those of `weave`."""
    check_request("concat", None, divergence, placement)
    kernels = kernels_of(sources, entries)
    linked = read_and_link(kernels, arch, name, shapes_of(sources, shapes, len(kernels)), placement)
    choices = Choices("concat", None, load_table(latency, linked.target[0]))
    most = limits([k.flow for k in linked.kernels], None, None)
    converged, sides = sides_of(linked, choices, divergence, most)

    def join(several: Sequence[Side]) -> Side:
        return reduce(in_turn, sorted(several, key=lambda side: side.last))

    whole = merged(join(copies_joined([k.letter for k in linked.kernels], sides, linked.together, join)))
    return finish(kernels, linked, [s.flow for s in sides], whole, choices, converged, strategy="vertical")
