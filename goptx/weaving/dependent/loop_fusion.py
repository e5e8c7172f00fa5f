"""Fuses the loops of two kernels that go round equally often: each way around does that of the one, then of the other.

Requires: converged flows, no conflict between the kernels but where `orderly` says that the order is kept. Ensures: the
fused flow is that of the first, in which every block has the second's code behind its own. That is done where the flows
have the same blocks, branch for branch, and each branch is decided by equal expressions. Kernels without loops, and
those that wait for other threads, stand one after the other instead (choose.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from goptx.analysis.cfg import EXIT, Flow, loops
from goptx.analysis.terminators import Branch, Jump
from goptx.analysis.values.access_sites import AccessSites
from goptx.analysis.values.expressions import Atoms
from goptx.analysis.values.value_numbering import Values
from goptx.ptx.opcodes import Scope, facts_of
from goptx.weaving.merging.choose import sequential
from goptx.weaving.merging.merge_input import MergeInput, united
from goptx.weaving.merging.product import Move, Pairing, Product
from goptx.weaving.merging.sync_order import Order

Orderly = Callable[[AccessSites, MergeInput, MergeInput], bool]


def fused(first: MergeInput, second: MergeInput, orderly: Orderly) -> MergeInput:
    """Both as one: in step, else in turn."""
    return in_lockstep(first, second, orderly) or sequential(first, second)


def in_lockstep(first: MergeInput, second: MergeInput, orderly: Orderly) -> MergeInput | None:
    """None where the flows do not run as one. `orderly` is asked of the fused flow."""
    if not loops(first.flow) or not all(map(_free, (first.flow, second.flow))):
        return None
    pairs = _matched(first.flow, second.flow)
    if pairs is None:
        return None
    blocks = {EXIT: first.flow.blocks[EXIT]}
    for one, other in pairs.items():
        mine, its = first.flow.blocks[one], second.flow.blocks[other]
        pragmas = tuple(dict.fromkeys((*mine.pragmas, *its.pragmas)))
        blocks[one] = replace(mine, code=(*mine.code, *its.code), pragmas=pragmas)
    flow = Flow(first.flow.entry, blocks)
    values = Values(flow, Atoms())
    for one, other in pairs.items():
        end = second.flow.blocks[other].end
        if isinstance(end, Branch) and values.holds(one, end.guard) != values.branches[one]:
            return None
    if not orderly(AccessSites(values), first, second):
        return None
    pairings = {one: Pairing((one, other), Move.BOTH) for one, other in pairs.items()}
    return united(first, second, Product(flow, pairings), Order([first, second]))


def _free(flow: Flow) -> bool:
    """Whether nothing in it waits for other warps, and lanes never part."""
    facts = [facts_of(i.opcode) for i in flow.instructions()]
    waits = any(f.releases or f.row.scope > Scope.WARP or (f.row.blocking and not f.row.scope) for f in facts)
    return not waits and not any(b.region for b in flow.blocks.values())


def _matched(first: Flow, second: Flow) -> dict[str, str] | None:
    """The blocks of the second by those of the first, without `EXIT`."""
    found: dict[str, str] = {}
    stack = [(first.entry, second.entry)]
    while stack:
        one, other = stack.pop()
        if (one == EXIT) != (other == EXIT) or found.get(one, other) != other:
            return None
        if one == EXIT or one in found:
            continue
        ends = first.blocks[one].end, second.blocks[other].end
        match ends:
            case Branch(), Branch():
                pass
            case Jump(), Jump():
                pass
            case _:
                return None
        if other in found.values():
            return None
        found[one] = other
        stack += zip(ends[0].successors(), ends[1].successors(), strict=True)
    return found
