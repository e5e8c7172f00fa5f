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

# Slots of all sides of a branch that the assembler puts under predicates, and of one of them in a kernel that has a
# loop, at most: ptxas 13.0 for sm_90, found with 200 small kernels.
PREDICATED, BESIDE_LOOPS = 20, 8


@dataclass(frozen=True, slots=True)
class Fork:
    """A branch at which lanes may diverge: the blocks that it decides, by its successors, and the issue slots of each
    of these sides. predicated: whether the assembler puts the sides under predicates. inner: whether they meet where
    those of a branch around it do, so that its lanes are reconverged there along with those of the other."""

    block: str
    sides: tuple[frozenset[str], ...]
    lengths: tuple[int, ...]
    predicated: bool
    inner: bool


def most_predicated(flow: Flow) -> int:
    """The most slots of one side of a branch that the assembler puts under a predicate."""
    return BESIDE_LOOPS if loops(flow) else PREDICATED


def forks(flow: Flow) -> tuple[Fork, ...]:
    """The divergent branches whose sides meet again, in layout order."""
    decided = uniformity(flow).branches
    bodies = loops(flow)
    meets, most = flow.post_dominators(), most_predicated(flow)
    governed: dict[str, set[str]] = {}
    for name, by in controls(flow).items():
        for decider in by - {name}:
            governed.setdefault(decider, set()).add(name)
    found: list[Fork] = []
    around_blocks: dict[str, list[Fork]] = {}
    for name, block in flow.blocks.items():
        if not isinstance(block.end, Branch | Switch) or decided.get(name, Uniformity.CTA) < Uniformity.WARP_DATA:
            continue
        successors = block.end.successors()
        around = [(head, body) for head, body in bodies.items() if name in body]
        leaves = any(s == head or s not in body for head, body in around for s in successors)
        if leaves or any(only_ends(flow, s) for s in successors):
            continue
        own = governed.get(name, set())
        sides = tuple(frozenset(b for b in own if b == s or flow.dominates(s, b)) for s in successors)
        lengths = tuple(sum(slots(i) for b in side for i in flow.blocks[b].instructions()) for side in sides)
        predicated = max(lengths) <= most and sum(lengths) <= PREDICATED
        inner = any(meets[name] == meets[other.block] for other in around_blocks.get(name, ()))
        fork = Fork(name, sides, lengths, predicated, inner)
        found.append(fork)
        for inside in frozenset().union(*sides):
            around_blocks.setdefault(inside, []).append(fork)
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
    executed by all. A side to which several branches lead is executed by the warps that any of them sends there."""
    share = dict.fromkeys(flow.blocks, 1.0)
    passing: dict[frozenset[str], float] = {}
    for fork in found:
        assumed = divergent + (1.0 - divergent) / len(fork.sides)
        for side, length in zip(fork.sides, fork.lengths, strict=True):
            if length > predicated:
                passing[side] = passing.get(side, 1.0) * (1.0 - assumed)
    taken = {side: own for side, (own, _) in most_taken(seen).items()} if seen is not None else {}
    for side, passed in passing.items():
        for name in side:
            share[name] *= taken.get(side, 1.0 - passed)
    return share


def most_taken(seen: Mapping[Fork, Sequence[float]]) -> dict[frozenset[str], tuple[float, str]]:
    """For each side the share of the warps that run it of those at its branch, and the block of this: of several that
    lead to one side, the one from which most go there."""
    found: dict[frozenset[str], tuple[float, str]] = {}
    for fork, each in seen.items():
        for side, share in zip(fork.sides, each, strict=True):
            found[side] = max(found.get(side, (0.0, "")), (share, fork.block))
    return found
