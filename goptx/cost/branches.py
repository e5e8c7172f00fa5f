"""Branches at which the lanes of a warp may go different ways.

Requires: a flow without regions, as it is written. Whether lanes do go different ways depends on data, so it is assumed
(assumptions.py). Branches that leave loops, and those that only end the kernel, do not count as such.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from goptx.analysis.cfg import Flow, controls, loops
from goptx.analysis.early_ends import only_ends
from goptx.analysis.terminators import Branch, Switch
from goptx.analysis.uniformity import Uniformity, uniformity
from goptx.latency.slots import slots


@dataclass(frozen=True, slots=True)
class Fork:
    """A branch at which lanes may diverge: the blocks that it decides, by its successors, and the issue slots of each
    of these sides."""

    block: str
    sides: tuple[frozenset[str], ...]
    lengths: tuple[int, ...]


def forks(flow: Flow) -> tuple[Fork, ...]:
    """The divergent branches whose sides meet again, in layout order."""
    decided = uniformity(flow).branches
    bodies = loops(flow)
    control = controls(flow)
    found = []
    for name, block in flow.blocks.items():
        if not isinstance(block.end, Branch | Switch) or decided.get(name, Uniformity.CTA) < Uniformity.WARP_DATA:
            continue
        successors = block.end.successors()
        around = [(head, body) for head, body in bodies.items() if name in body]
        leaves = any(s == head or s not in body for head, body in around for s in successors)
        if leaves or any(only_ends(flow, s) for s in successors):
            continue
        governed = frozenset(other for other, by in control.items() if name in by and other != name)
        sides = tuple(frozenset(b for b in governed if b == s or flow.dominates(s, b)) for s in successors)
        lengths = tuple(sum(slots(i) for b in side for i in flow.blocks[b].instructions()) for side in sides)
        found.append(Fork(name, sides, lengths))
    return tuple(found)


def shares(
    flow: Flow,
    found: Sequence[Fork],
    divergent: float,
    predicated: int,
    seen: Mapping[Fork, Sequence[float]] | None = None,
) -> dict[str, float]:
    """The share of warps that execute each block of those that come by, if at a fork the share `divergent` of them
    goes all ways and the others one, or if so many go each way as were `seen`. Sides of at most `predicated` slots are
    executed by all."""
    share = dict.fromkeys(flow.blocks, 1.0)
    for fork in found:
        assumed = divergent + (1.0 - divergent) / len(fork.sides)
        each = seen[fork] if seen is not None else [assumed] * len(fork.sides)
        for side, length, own in zip(fork.sides, fork.lengths, each, strict=True):
            if length > predicated:
                for name in side:
                    share[name] *= own
    return share
