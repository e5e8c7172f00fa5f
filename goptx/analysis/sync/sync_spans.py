"""Where the threads of a kernel wait for each other, and the span in which nothing may hold them up.

Barriers of the whole CTA, as the kernel knows it, are one kind of wait. All others are of *another kind*: counted
barriers, loops that wait for memory or for an mbarrier, and barriers of a cluster. Their releases, for which other
threads wait, belong to them: arrivals, copies that complete a transaction and, where loops read memory, stores. The
kernel's span reaches from the first to the last of these: if another kernel holds up a thread there, a thread of this
kernel may be waiting for that thread.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from goptx.analysis.cfg import Block, Code, Flow, closure, facts_among, instructions_in
from goptx.analysis.sync.barriers import is_barrier, is_cluster_barrier, is_cta_barrier
from goptx.analysis.sync.spin_loops import waiting_loops
from goptx.ptx.ir import Instruction, Operand, Scope
from goptx.ptx.opcodes import Scope as Convergence
from goptx.ptx.opcodes import facts_of


@dataclass(frozen=True, slots=True)
class SyncPoints:
    """Sets of blocks of one flow.

    ordered: those with a barrier, or a wait or release of another kind: what has a place in the synchronization order.
    other: those with a wait or release of another kind; empty where there is no such wait.
    span: those that come after such a wait or release (or between its parts) and before another one.
    waits: those in which a thread may wait for others of its CTA.
    lanes: those in which a lane may wait for others of its warp.
    warpgroups: those with instructions that the warps of a warpgroup execute together.
    releasing_stores: whether stores count as releases.
    threads: the counts of barriers that all threads of a kernel execute, where its CTA is larger.
    """

    ordered: frozenset[str]
    other: frozenset[str]
    span: frozenset[str]
    waits: frozenset[str]
    lanes: frozenset[str]
    warpgroups: frozenset[str]
    releasing_stores: bool
    threads: Collection[Operand]

    def in_sync_order(self, code: Code) -> bool:
        """Whether an instruction outside of regions has a place in the synchronization order."""
        return _is_any_barrier(code) or self.delimits_span(code)

    def delimits_span(self, code: Code) -> bool:
        """Whether an instruction outside of regions is a wait of another kind, or a release for one."""
        if _is_any_barrier(code):
            return not _is_cta_barrier(code, self.threads)
        return bool(self.other) and _releases(code, self.releasing_stores)


def sync_points(flow: Flow, threads: Collection[Operand] = (), merged: bool = False) -> SyncPoints:
    """The synchronization of a converged flow; for `threads` see `SyncPoints`. In a flow that is already `merged`, only
    regions are loops that wait: other loops may look so because one kernel decides how another comes to their ends."""
    found = list(waiting_blocks(flow, merged))
    looping = {name for name, _ in found}
    stores = any(not facts_of(instruction.opcode).acts_on_mbarrier for _, instruction in found)
    together = {n: _convergent(b) for n, b in flow.blocks.items()}
    kinds = {n: [i for i in several if _is_any_barrier(i)] for n, several in together.items()}
    other = looping | {n for n, barriers in kinds.items() if not all(_is_cta_barrier(b, threads) for b in barriers)}
    if other:
        other |= {n for n, b in flow.blocks.items() if any(_releases(i, stores) for i in b.instructions())}
    following = {t for n in other for t in flow.blocks[n].end.successors()}
    after = following | closure(following, flow.successors())
    before = other | closure(other, flow.predecessors())
    barriers = {n for n, found in kinds.items() if found}
    return SyncPoints(
        ordered=frozenset(barriers | other),
        other=frozenset(other),
        span=frozenset(after & before),
        waits=frozenset(looping | {n for n in barriers if any(facts_of(i.opcode).row.blocking for i in kinds[n])}),
        lanes=frozenset(n for n, several in together.items() if any(map(is_warp_wide, several))),
        warpgroups=frozenset(n for n, several in together.items() if any(map(is_of_warpgroup, several))),
        releasing_stores=stores,
        threads=threads,
    )


def _convergent(block: Block) -> list[Instruction]:
    if not any(facts.row.scope for facts in facts_among(block)):
        return []
    return [i for i in block.instructions() if facts_of(i.opcode).row.scope]


def waiting_blocks(flow: Flow, merged: bool = False) -> Iterator[tuple[str, Instruction]]:
    """The blocks of loops that wait for other threads, each with the read that it waits for. A loop within a region
    counts as the region's block."""
    for body, instruction in waiting_loops(flow) if not merged else ():
        yield from ((name, instruction) for name in body)
    for name, block in flow.blocks.items():
        if block.region:
            yield from ((name, instruction) for _, instruction in waiting_loops(block.region.flow(), piece=True))


def _is_cta_barrier(code: Code, threads: Collection[Operand]) -> bool:
    """Whether all threads of the kernel execute it together."""
    if is_cta_barrier(code) or not threads or not isinstance(code, Instruction) or not is_barrier(code):
        return is_cta_barrier(code)
    facts = facts_of(code.opcode)
    return facts.row.blocking and any(count in threads for count in code.operands[facts.barrier_id + 1 :][:1])


def _is_any_barrier(code: Code) -> bool:
    return is_barrier(code) or is_cluster_barrier(code)


def _releases(code: Code, stores: bool) -> bool:
    if isinstance(code, Scope):
        return any(_releases(i, stores) for i in instructions_in(code))
    facts = facts_of(code.opcode)
    return facts.releases or (stores and "s" in facts.row.access and facts.space in ("", "shared", "global"))


def is_warp_wide(code: Code) -> bool:
    """Whether the lanes of a warp, or of a warpgroup, execute it together: each waits for those that it needs, `.sync`
    or not."""
    scopes = (Convergence.WARP, Convergence.WARPGROUP)
    return isinstance(code, Instruction) and facts_of(code.opcode).row.scope in scopes


def is_of_warpgroup(code: Code) -> bool:
    """Whether the warps of a warpgroup execute it together."""
    return isinstance(code, Instruction) and facts_of(code.opcode).row.scope == Convergence.WARPGROUP
