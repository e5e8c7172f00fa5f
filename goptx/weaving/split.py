"""Gives each loop of one kernel one way in while the kernel is small: once merged, each way in would stand beside many
blocks of the other kernel.

Requires: a converged kernel, whose branches whole warps take together, so that convergent instructions may stand in
copies (M15). Ensures: the same paths, and a reducible flow.
"""

from __future__ import annotations

from dataclasses import replace

from goptx.errors import CannotWeave
from goptx.weaving.divergence.converged import Converged
from goptx.weaving.growth import Limits, TooLarge
from goptx.weaving.reducible import reducible


def split(converged: Converged, limits: Limits, where: str) -> Converged:
    """`where` names the kernel. Raises `CannotWeave` where that takes more instructions than the limits allow."""
    try:
        flow, origin = reducible(converged.flow, limits.instructions, mark=".copy")
    except TooLarge:
        raise CannotWeave(
            f"{where}: the kernel has loops with several ways in, and copying code until each has one takes more than "
            f"the {limits.instructions} instructions that max_growth= allows; enter loops at their heads only, raise "
            "max_growth=, or use separate launches."
        ) from None
    branches = converged.warp_branches.union(n for n, old in origin.items() if old in converged.warp_branches)
    divergences = tuple(
        replace(d, regions=d.regions.union(n for n, old in origin.items() if old in d.regions))
        for d in converged.divergences
    )
    return replace(converged, flow=flow, warp_branches=branches, divergences=divergences)
