"""Loops that wait for other threads: each becomes a region, so that lanes leave it one by one as in the kernel alone.

A vote would hold up lanes in it that others, perhaps of their own warp, wait for.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from goptx.analysis.cfg import Flow, closure, controls, left_at
from goptx.analysis.dataflow import read
from goptx.analysis.sync.spin_loops import waiting_loops
from goptx.analysis.sync.sync_spans import is_warp_wide, sync_points, waiting_blocks
from goptx.analysis.uniformity import Uniformity, uniformity
from goptx.errors import CannotWeave
from goptx.ptx.flatten import as_written
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of
from goptx.weaving.converge.park import park
from goptx.weaving.converge.predicate_code import is_ours, set_true
from goptx.weaving.converge.running_lanes import Lanes
from goptx.weaving.model import Converged


def park_waiting_loops(lanes: Lanes) -> None:
    """Parks every loop that waits for other threads (spin_loops.py): once kernels are merged, the region marks it.
    Where divergence is to be predicated, loops that lanes leave one by one stay, and are refused later."""
    while (block := _next_left(lanes)) is not None:
        park(lanes, block)


def _next_left(lanes: Lanes) -> str | None:
    """Where the first waiting loop is left that is to be parked."""
    flow, branches = lanes.flow, lanes.uniformity().branches
    for body, _ in waiting_loops(flow):
        left = left_at(flow, body)
        if lanes.forced != "predicate" or all(branches[n] <= Uniformity.WARP for n in left):
            return left[0]
    return None


def lanes_wait_separately(flow: Flow) -> bool:
    """Whether lanes of one warp may come to a wait, or get through it, one by one: it stands under a branch that they
    may take differently, or they may wait for different things, or no longer. A barrier lets whole warps through in
    any case. A phase of an mbarrier is over for all lanes that test it."""
    loops = list(waiting_loops(flow))
    if not loops:
        return False
    if any(not facts_of(waited.opcode).acts_on_mbarrier or waited.guard for _, waited in loops):
        return True
    uniform = uniformity(_answered(flow, loops))
    controlled = controls(flow)
    decided = {n for body, _ in loops for n in (*body, *closure(body, controlled))}
    operands = {name for _, waited in loops for name in read(waited)}
    return any(uniform.branches[n] > Uniformity.WARP for n in decided) or any(
        uniform.of(name) > Uniformity.WARP for name in operands
    )


def _answered(flow: Flow, loops: Collection[tuple[frozenset[str], Instruction]]) -> Flow:
    """The flow with what the tests of mbarriers come to in the end. Where one decides when a loop ends, so does what is
    equal to it there."""
    blocks = dict(flow.blocks)
    for body, waited in loops:
        answer = set_true(str(waited.operands[0]))
        for name in body:
            block = blocks[name]
            blocks[name] = replace(block, code=tuple(answer if c == waited else c for c in block.code))
    return Flow(flow.entry, blocks)


def refuse_votes_amid_waits(converged: Converged, lanes: Lanes) -> None:
    """Raises `CannotWeave` where goptx would have lanes vote amid waits that they come to one by one: the vote would
    hold up lanes that others wait for."""
    if not converged.lanes_wait_separately:
        return
    found = sync_points(converged.flow)
    votes = {
        name
        for name, block in converged.flow.blocks.items()
        if any(isinstance(c, Instruction) and is_ours(c) and is_warp_wide(c) for c in block.code)
    }
    if votes & (found.span | found.other):
        waited = next(instruction for _, instruction in waiting_blocks(converged.flow))
        raise CannotWeave(
            f"{lanes.at(waited.line)}: lanes of a warp wait for `{as_written(waited, lanes.fresh.prefix)}` one by one, "
            "and amid such waits others of them end the kernel, which takes votes of all lanes; use "
            "separate launches.",
            rule="votes-amid-waits",
        )
