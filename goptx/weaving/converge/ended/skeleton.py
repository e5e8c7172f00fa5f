"""skeleton: between barriers of the CTA, warps in which no thread runs the kernel any more go past long code.

Requires: a converged flow with its guards, in which threads that ended early live on as `running` tells (retire.py).
Ensures: where such warps have to come to further barriers, they run what decides about branches and barriers, and skip
runs of other code: each becomes a region, entered by the warps of which a vote finds a lane that runs. Code of another
kernel may stand on both sides of it. Where a barrier follows, an ordinary branch that warps take differently would fix
the order of all later barriers of the kernels (sync_order.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import networkx as nx

from goptx.analysis.cfg import Block, Code, Flow, Region, loops
from goptx.analysis.dataflow import read, written
from goptx.analysis.sync.barriers import blocks_needing_all_threads, is_barrier, is_cluster_barrier, needs_all_threads
from goptx.analysis.sync.sync_spans import is_of_warpgroup, is_warp_wide
from goptx.analysis.terminators import Branch, Jump
from goptx.latency.slots import code_slots
from goptx.ptx.ir import Guard, Instruction, Name, Scope
from goptx.ptx.opcodes import Scope as Convergence
from goptx.ptx.opcodes import facts_of
from goptx.weaving.converge.ended.skip_ended import LONG
from goptx.weaving.converge.predicate_code import Fresh, is_ours, set_true, vote_any

LONG_IN_LOOP = 16  # issue slots of code that is run in each trip of a loop, as `LONG` of other code


def skip_between_barriers(flow: Flow, running: str, fresh: Fresh) -> Flow:
    """The flow in which warps without a lane of the predicate `running` skip long code on their way to barriers."""
    graph = flow.graph()
    ending = {n: _last_end(b.code, running) for n, b in flow.blocks.items()}
    below: dict[str, set[str]] = {n: nx.descendants(graph, n) for n in flow.blocks}
    after = set[str]().union(*(below[n] for n, position in ending.items() if position))
    waiting = blocks_needing_all_threads(flow)
    skeleton = _deciding(flow, running)
    in_loops = set[str]().union(*loops(flow).values())
    blocks: dict[str, Block] = {}
    for name, block in flow.blocks.items():
        begin = 0 if name in after else ending[name] or len(block.code)
        coming = bool(waiting & below[name]) or (name in in_loops and name in waiting)
        end = len(block.code) if coming else _last_barrier(block.code)
        if begin >= end or block.region or any(map(_is_of_chain, block.code)):
            blocks[name] = block
            continue
        least = LONG_IN_LOOP if name in in_loops else LONG
        runs = [(False, block.code[:begin]), *_runs(block.code[begin:end], skeleton), (False, block.code[end:])]
        blocks |= _with_regions(name, block, [(skip and code_slots(c) > least, c) for skip, c in runs], running, fresh)
    return flow.with_blocks(blocks)


def _last_end(code: Sequence[Code], running: str) -> int:
    """The position after the last instruction that takes lanes out of the running ones, 0 if there is none."""
    ends = (k + 1 for k, c in enumerate(code) if running in written(c) and c != set_true(running))
    return max(ends, default=0)


def _last_barrier(code: Sequence[Code]) -> int:
    return max((k for k, c in enumerate(code) if needs_all_threads(c)), default=0)


def _is_of_chain(code: Code) -> bool:
    return isinstance(code, Instruction) and (facts_of(code.opcode).sets_carry or facts_of(code.opcode).uses_carry)


def _deciding(flow: Flow, running: str) -> frozenset[str]:
    """The registers on which branches, barriers and votes depend, outside of regions."""
    codes = [code for block in flow.blocks.values() for code in block.code]
    found = {running, *(name for block in flow.blocks.values() for name in block.end.reads())}
    found |= {name for code in codes if _has_place(code) for name in (*read(code), *written(code))}
    while True:
        wider = found.union(*(read(code) for code in codes if found & written(code)))
        if wider == found:
            return frozenset(found)
        found = wider


def _has_place(code: Code) -> bool:
    """Whether warps that have ended the kernel may have to execute it, or other threads may wait for it."""
    if isinstance(code, Scope):
        return False
    row = facts_of(code.opcode).row
    if is_barrier(code) or is_cluster_barrier(code) or is_of_warpgroup(code) or row.ends:
        return True
    return row.scope != Convergence.WARP and (row.blocking or row.releases or row.acquires)


def _runs(code: Sequence[Code], skeleton: Collection[str]) -> Iterator[tuple[bool, tuple[Code, ...]]]:
    """The code in runs that may be skipped, and what stands between them. What decides about branches and barriers
    comes before a run where it can."""
    before: list[Code] = []
    run: list[Code] = []
    for item in code:
        if not _has_place(item) and not written(item) & set(skeleton):
            run.append(item)
        elif _may_come_before(item, run):
            before.append(item)
        else:
            yield False, tuple(before)
            yield True, tuple(run)
            before, run = [item], []
    yield False, tuple(before)
    yield True, tuple(run)


def _may_come_before(item: Code, run: Sequence[Code]) -> bool:
    """Whether the instruction only computes, and neither changes what the run reads or writes nor reads its results."""
    if isinstance(item, Scope) or _has_place(item) or is_warp_wide(item) or facts_of(item.opcode).row.access:
        return not run
    return not any(written(item) & (read(c) | written(c)) or read(item) & written(c) for c in run)


def _with_regions(
    name: str, block: Block, runs: Sequence[tuple[bool, tuple[Code, ...]]], running: str, fresh: Fresh
) -> dict[str, Block]:
    """The block with each of the runs that are to be skipped in a region."""
    blocks: dict[str, Block] = {}
    here, code = name, list[Code]()
    pragmas = block.pragmas
    for skipped, run in runs:
        if not skipped:
            code += run
            continue
        number = len(blocks)
        region, after = f"{name}.gate{number}", f"{name}.on{number}"
        blocks[here] = Block(tuple(code), Jump(region), pragmas)
        blocks[region] = Block((), Jump(after), (), _entered_by_vote(region, run, after, running, fresh))
        here, code, pragmas = after, [], ()
    blocks[here] = replace(block, code=tuple(code), pragmas=pragmas)
    return blocks


def _entered_by_vote(name: str, code: tuple[Code, ...], leave: str, running: str, fresh: Fresh) -> Region:
    """A region in which warps with a running lane execute the code; other code may stand on both sides."""
    vote, run, past = f"{name}.vote", f"{name}.run", f"{name}.past"
    anyone = fresh.named("any_here")
    return Region(
        vote,
        {
            vote: Block((vote_any(anyone, running),), Branch(Guard(Name(anyone)), run, past, True)),
            run: Block((), Jump(f"{name}.code")),
            f"{name}.code": Block(code, Jump(leave)),
            past: Block((), Jump(leave)),
        },
        leave,
        (run, past),
    )


def ends_within_ctas(flow: Flow, running: str) -> bool:
    """Whether warps of many CTAs may end the kernel before others: what decides about an end depends on the thread but
    not on the CTA, or on data. A bound for the thread's number in the whole grid divides one CTA at most."""
    for block in flow.blocks.values():
        for k, code in enumerate(block.code):
            if running in written(code) and code != set_true(running):
                known = _sources(flow, block.code[:k], read(code) - {running})
                if known is None or "%ctaid" not in {n.partition(".")[0] for n in known}:
                    return True
    return False


def _sources(flow: Flow, before: Sequence[Code], names: Collection[str]) -> frozenset[str] | None:
    """The registers that these depend on, in a block after the code `before`; None if they depend on memory."""
    found = set[str]()
    left = set(names)
    for code in reversed(before):  # fresh predicates are used again, so the last value counts
        if written(code) & left and is_made(code):
            left = (left - written(code)) | read(code)
    work = list(left)
    codes = [code for block in flow.blocks.values() for code in block.code]
    while work:
        name = work.pop()
        if name in found:
            continue
        found.add(name)
        for code in codes:
            if name not in written(code):
                continue
            if isinstance(code, Scope):
                return None
            facts = facts_of(code.opcode)
            if facts.row.access and not facts.loads_parameter:
                return None
            work += read(code)
    return frozenset(found) or None


def is_made(code: Code) -> bool:
    return isinstance(code, Instruction) and is_ours(code)
