"""Branches at which the lanes of a warp may go different ways, and where whole CTAs may end at once.

Requires: a flow without regions, as it is written. Whether lanes do go different ways depends on data, so it is assumed
(assumptions.py). Branches that leave loops, and those that only end the kernel, do not count as such.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from goptx.analysis.cfg import EXIT, Flow, controls, loops
from goptx.analysis.dataflow import computed_from, register_of, written
from goptx.analysis.terminators import Branch, Jump, Stop, Switch
from goptx.analysis.uniformity import Uniformity, uniformity
from goptx.latency.slots import slots
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of

_CTA = ("%ctaid", "%clusterid")


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
        if leaves or any(_ends(flow, s) for s in successors):
            continue
        governed = frozenset(other for other, by in control.items() if name in by and other != name)
        sides = tuple(frozenset(b for b in governed if b == s or flow.dominates(s, b)) for s in successors)
        lengths = tuple(sum(slots(i) for b in side for i in flow.blocks[b].instructions()) for side in sides)
        found.append(Fork(name, sides, lengths))
    return tuple(found)


def shares(flow: Flow, found: Sequence[Fork], divergent: float, predicated: int) -> dict[str, float]:
    """The share of warps that execute each block of those that come by, if at a fork the share `divergent` of them
    goes all ways and the others one. Sides of at most `predicated` slots are executed by all."""
    share = dict.fromkeys(flow.blocks, 1.0)
    for fork in found:
        one = 1.0 / len(fork.sides)
        for side, length in zip(fork.sides, fork.lengths, strict=True):
            if length > predicated:
                for name in side:
                    share[name] *= divergent + (1.0 - divergent) * one
    return share


def early_end(flow: Flow) -> frozenset[str] | None:
    """The blocks that a thread executes that ends at once: those up to the first branch that may depend on the CTA, of
    which one side ends the kernel and the other is at least half of it. None if there is no such branch."""
    decided = by_cta(flow)
    size = {name: len(block.instructions()) for name, block in flow.blocks.items()}
    in_loops = frozenset[str]().union(*loops(flow).values())
    for name in flow.reverse_postorder():
        end = flow.blocks[name].end
        if name in in_loops or not isinstance(end, Branch) or not decided.intersection(map(register_of, end.reads())):
            continue
        before = frozenset(b for b in flow.blocks if flow.dominates(b, name))
        rest = sum(count for other, count in size.items() if other not in before)
        if any(_ends(flow, s) for s in end.successors()) and rest * 2 >= sum(size.values()):
            return before
    return None


def _ends(flow: Flow, name: str) -> bool:
    """Whether nothing but the end of the kernel follows."""
    seen = set[str]()
    while name not in seen and name != EXIT:
        seen.add(name)
        block = flow.blocks[name]
        if block.code or not isinstance(block.end, Jump | Stop):
            return False
        (name,) = block.end.successors() or (EXIT,)
    return name == EXIT


def by_cta(flow: Flow) -> set[str]:
    """Registers that may differ between CTAs: computed from the number of the CTA, or from data."""
    data = (register for i in flow.instructions() if _loads_data(i) for register in written(i))
    return computed_from(flow, _CTA, data)


def _loads_data(instruction: Instruction) -> bool:
    facts = facts_of(instruction.opcode)
    return facts.loads and facts.space not in ("param", "const")
