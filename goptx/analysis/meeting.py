"""Whether all threads of a CTA come to its barriers.

Requires: a flow whose branches are those of the kernel as it is written.
"""

from __future__ import annotations

from goptx.analysis.cfg import Flow, closure, controls
from goptx.analysis.rendezvous import needs_all_threads
from goptx.analysis.uniformity import Uniformity, uniformity


def all_meet(flow: Flow) -> bool:
    """Whether it is shown that every thread comes to each barrier of the whole CTA as often as every other: what
    decides about them is the same for the whole CTA, so none has ended the kernel before."""
    barriers = [(n, i) for n, b in flow.blocks.items() for i in b.instructions() if needs_all_threads(i)]
    if not barriers:
        return True
    uniform = uniformity(flow)
    deciding = [uniform.branches[n] for n in closure([n for n, _ in barriers], controls(flow))]
    guards = [uniform.of(i.guard.predicate.text) for _, i in barriers if i.guard]
    return max([*deciding, *guards], default=Uniformity.CTA) == Uniformity.CTA
