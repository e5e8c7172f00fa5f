"""Kernels side by side: each thread runs one of them. Both horizontal and interleave do this."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from goptx.latency.table import LatencyTable, load_table
from goptx.results.fused_kernel import Woven
from goptx.sources.kernel_text import Chosen
from goptx.weaving.merging.barrier_ids import prepare_barriers
from goptx.weaving.merging.merged_blocks import merged
from goptx.weaving.model import Converged, Kernel, Linked
from goptx.weaving.pipeline import Choices, Joining, Prepare, finish, sides_of
from goptx.weaving.shapes.kernel_dispatch import kernel_dispatch


def side_by_side(
    strategy: str,
    kernels: Sequence[Chosen],
    linked: Linked,
    latency: str | Path | LatencyTable | None,
    alone: Callable[[Kernel, Choices], Converged],
    prepare: Prepare = prepare_barriers,
    presume: bool = True,
) -> Woven:
    """From linked kernels to the fused kernel. Only the copies of one kernel are woven. `alone` takes the place of
    convergence for other kernels; `prepare` prepares barriers. Raises `CannotWeave`."""
    table = load_table(latency, linked.target[0])
    copies = len(linked.kernels) > len(linked.given)
    policy, slicing = ("latency", "adaptive") if copies else ("concat", None)
    choices = Choices(policy, slicing, table, presume)
    joining = Joining(linked, choices.alternatives())
    converged, sides = sides_of(linked, choices, None, joining.all_limits, lambda k: alone(k, choices), prepare)
    whole = merged(kernel_dispatch(joining.kernels(sides)))
    flows = [s.flow for s in sides]
    return finish(kernels, linked, flows, whole, joining.chosen, converged, joining.notes, strategy=strategy)
