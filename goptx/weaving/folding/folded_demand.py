"""The registers that a kernel needs on folded grids, where a team runs several of its CTAs one after the other.

There threads that end wait for the others of their CTA. A kernel in which some end before others is made convergent
for that: what they would have computed runs under predicates, and registers that are written so keep their values
around loops (ptxas 13.0: 88 instead of 56 registers of a thread for cross entropy, 32 instead of 24 for norms of rows).
The loop over CTAs itself takes, as a rule, no more than an assembler needs besides the live words.
"""

from __future__ import annotations

from collections.abc import Sequence

from goptx.analysis.cfg import Flow
from goptx.analysis.registers.register_demand import Demand, demand
from goptx.analysis.sync.barrier_uniformity import is_barrier_uniform
from goptx.errors import CannotWeave
from goptx.latency.table import LatencyTable
from goptx.ptx.ir import Registers
from goptx.weaving.converge.converge import converge_flow
from goptx.weaving.folding.fresh_registers import begun_anew
from goptx.weaving.folding.virtual_ctas import all_end_together
from goptx.weaving.merging.merged_blocks import expanded
from goptx.weaving.model import Choices

PREFIX = "folded"  # of the registers that convergence adds


def demand_when_folded(flow: Flow, declared: Sequence[Registers], table: LatencyTable) -> Demand:
    """The demand of a kernel's flow as it is on folded grids; that of the flow itself where it cannot be folded."""
    if is_barrier_uniform(flow) and all_end_together(flow):
        return demand(flow, declared)
    try:
        made = converge_flow(flow, PREFIX, str, Choices("concat", None, table).cycles)
    except CannotWeave:
        return demand(flow, declared)
    every = (*declared, *made.registers)
    return demand(expanded(begun_anew(made.flow, every))[0], every)
