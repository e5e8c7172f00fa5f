"""Reconverges the lanes of a warp after guarded code where ptxas does not.

ptxas (seen in 12.8 to 13.0, -O1 and above) makes a branch of guarded code at the end of a block, past it into the next
block. If other paths lead there too, ptxas sets no point at which the lanes reconverge. Some lanes then come to the
next barrier without the others, so the warp arrives twice at a barrier that counts warps. A `bar.warp.sync` keeps the
block's end where it is.

Lanes that leave a waiting loop one by one must not wait for each other before they have released what the others wait
for: a lane that holds a lock would wait for those that want it.

Where a waiting loop begins the loop around it, both have one header: lanes that go round again may meet there those
that still wait, and what they compare is of different iterations. So branches of such a loop are not `.uni`.

Requires: the final order of all code. Ensures: the same code, with that instruction at the end of each such block that
whole warps come to, but for blocks where lanes wait one by one; no promise about branches that lanes of different
iterations may come to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from goptx.analysis.cfg import EXIT, Block, Code, Flow, loops, marked_uniform
from goptx.analysis.dataflow import solve
from goptx.analysis.sync.barriers import is_cta_barrier
from goptx.analysis.sync.sync_spans import sync_points, waiting_blocks
from goptx.analysis.terminators import Branch, Jump, Switch
from goptx.ptx.ir import Immediate, Instruction, Provenance
from goptx.ptx.opcodes import facts_of
from goptx.weaving.invariants import ensured
from goptx.weaving.merging.merged_blocks import Merged
from goptx.weaving.model import Converged

RECONVERGE = Instruction("bar.warp.sync", (Immediate("0xffffffff"),))


def reconverge(scheduled: Flow, converged: Sequence[Converged], merged: Merged) -> Flow:
    """The scheduled flow of kernels that have converged."""
    as_written = {k for k, c in enumerate(converged) if c.as_written}
    flow = scheduled.without_empty()
    separate = (amid_waits(flow, c) for c in converged if c.lanes_wait_separately)
    diverged = merged.diverged(as_written).union(*separate)
    return ensured("reconverge", reconverged(_without_promises(flow), diverged), scheduled)


def _without_promises(flow: Flow) -> Flow:
    """The flow without `.uni` in loops that lanes begin again from several blocks, from one of these one by one."""
    above, found = flow.predecessors(), set[str]()
    for header, body in loops(flow).items():
        again = [flow.blocks[p] for p in above[header] if p in body]
        if len(again) > 1 and any(map(_may_part, again)):
            found |= body
    return marked_uniform(flow, found, uniform=False)


def _may_part(block: Block) -> bool:
    """Whether lanes may go different ways at its end."""
    return isinstance(block.end, Branch | Switch) and not block.end.uniform


def amid_waits(flow: Flow, kernel: Converged) -> set[str]:
    """The blocks of the final flow at whose ends a lane may have left one of the kernel's waiting loops while another
    of its warp still waits for what the first is yet to release. Both kinds of code lie between the same two barriers
    of the whole CTA: who waits at one has no part in what is before or after it."""
    points = sync_points(kernel.flow, () if kernel.threads is None else (kernel.threads,))
    waits = _provenance(i for n, _ in waiting_blocks(kernel.flow) for i in kernel.flow.blocks[n].instructions())
    releases = _provenance(c for c in kernel.flow.codes() if points.delimits_span(c))
    barriers = _provenance(i for i in kernel.flow.instructions() if is_cta_barrier(i))
    order, above = flow.reverse_postorder(), flow.predecessors()

    def after_wait(name: str, values: Mapping[str, bool]) -> bool:
        """Whether a lane may have come out of a wait at the end of the block."""
        found = any(values.get(p, False) for p in above[name])
        return _last(flow.blocks[name].code, waits, barriers, found)

    def before_release(name: str, values: Mapping[str, bool]) -> bool:
        """Whether a release may follow the beginning of the block."""
        found = any(values.get(s, False) for s in flow.blocks[name].end.successors())
        return _last(reversed(flow.blocks[name].code), releases, barriers, found)

    came = solve(order, {n: above[n] for n in order}, after_wait)
    goes = solve(order[::-1], {n: flow.blocks[n].end.successors() for n in order}, before_release)
    return {n for n in order if came[n] and any(goes.get(s, False) for s in flow.blocks[n].end.successors())}


def _provenance(code: Iterable[Code]) -> frozenset[Provenance]:
    return frozenset(c.provenance for c in code if c.provenance)


def _last(code: Iterable[Code], holds: Collection[Provenance], fails: Collection[Provenance], found: bool) -> bool:
    """What is true after code of which some makes it true, and some makes it false."""
    for item in code:
        if item.provenance in holds:
            found = True
        elif item.provenance in fails:
            found = False
    return found


def reconverged(flow: Flow, diverged: Collection[str]) -> Flow:
    """`diverged` are the blocks that lanes of one warp may come to separately."""
    predecessors = flow.predecessors()

    def forks(name: str, block: Block) -> bool:
        if name in diverged or not isinstance(block.end, Jump):
            return False
        target = block.end.target
        return target != EXIT and len(predecessors[target]) > 1 and _ends_guarded(block.code)

    return Flow(
        flow.entry,
        {n: replace(b, code=(*b.code, RECONVERGE)) if forks(n, b) else b for n, b in flow.blocks.items()},
    )


def _ends_guarded(code: tuple[Code, ...]) -> bool:
    """Whether the code ends in a guarded instruction, but for instructions that ptxas may move or drop."""
    for item in reversed(code):
        if not isinstance(item, Instruction):
            return False
        if item.guard is not None:
            return True
        if not facts_of(item.opcode).moves:
            return False
    return False
