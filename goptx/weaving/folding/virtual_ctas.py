"""Folded grids: the threads of a kernel run several of its CTAs, one after the other.

Requires: converged flows, and the loops over the kernels' CTAs (cta_loops.py). Ensures: nothing is left of a virtual
CTA when the next one begins: all threads of the kernel have come to its end, its lanes have reconverged, its
asynchronous copies are complete, and nobody reads or writes its shared memory any more. What cannot be ensured so is
refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import networkx as nx

from goptx.analysis.cfg import EXIT, Block, Flow
from goptx.analysis.numbering import completed
from goptx.analysis.sync.barriers import is_barrier, is_counted
from goptx.analysis.sync.sync_spans import is_warp_wide
from goptx.analysis.terminators import Branch, Jump
from goptx.analysis.uniformity import Uniformity, uniformity
from goptx.errors import CannotWeave
from goptx.ptx.ir import Guard, Immediate, Instruction, Name
from goptx.ptx.opcodes import facts_of
from goptx.ptx.walk import free_name, statements_in
from goptx.weaving.emit.reconverge import RECONVERGE
from goptx.weaving.folding.divided_ctas import check_divided
from goptx.weaving.folding.fresh_registers import begun_anew
from goptx.weaving.folding.helping import Helping
from goptx.weaving.folding.team_barriers import TeamBarriers, barriers_of_teams, refuse_register
from goptx.weaving.link.call_graph import called_functions
from goptx.weaving.merging.barrier_ids import BARRIER_IDS
from goptx.weaving.merging.merge_input import MergeInput, ProductState
from goptx.weaving.model import Converged, CtaLoop, Kernel, Linked
from goptx.weaving.shapes.range_guard import RANGE_GUARD
from goptx.weaving.shapes.shared_pool import shared_of

# The end of a virtual CTA ---------------------------------------------------------------------------------


def all_end_together(flow: Flow) -> bool:
    """Whether it is proved that no thread ends while others of its CTA still come to an instruction that waits for
    threads of their warp or CTA. In a kernel alone threads that have ended are not waited for. Between virtual CTAs
    they wait for the others."""
    branches = uniformity(flow).branches
    joins, graph = flow.post_dominators(), flow.graph()
    together = {n for n, b in flow.blocks.items() if any(map(_is_together, b.instructions()))}
    ending = {n for n, u in branches.items() if u > Uniformity.CTA and joins[n] == EXIT}
    return all(together.isdisjoint({t, *nx.descendants(graph, t)}) for n in ending for t in graph.succ[n])


def _is_together(instruction: Instruction) -> bool:
    facts = facts_of(instruction.opcode)
    return is_barrier(instruction) or is_warp_wide(instruction) or facts.reads_active_mask or facts.calls


def with_end(linked: Linked, kernel: Kernel, made: Converged) -> Converged:
    """The kernel with code at its end that all threads come to, so that the next virtual CTA can begin. Raises
    `CannotWeave`."""
    _check_folds(linked, kernel)
    check_divided(linked, kernel)
    end = free_name("end", {*made.flow.blocks})
    code = (RECONVERGE, *_drained(linked, kernel, made.flow), *_barrier(linked, kernel, made.flow))
    blocks = {n: replace(b, end=b.end.retarget({EXIT: end})) for n, b in made.flow.blocks.items() if n != EXIT}
    blocks |= {end: Block(code, Jump(EXIT)), EXIT: made.flow.blocks[EXIT]}
    flow = begun_anew(Flow(made.flow.entry, blocks), (*kernel.registers, *made.registers))
    return replace(made, flow=flow)


def _check_folds(linked: Linked, kernel: Kernel) -> None:
    """Raises `CannotWeave` for what outlives a CTA's threads, or may be done once in a CTA only."""
    for instruction in _all_code(linked, kernel):
        facts = facts_of(instruction.opcode)
        why = ""
        if is_barrier(instruction) and not facts.row.blocking:
            why = "arrives at a barrier without waiting, so an arrival may be left over when the next CTA begins"
        elif facts.signals_mbarrier:
            why = "uses an mbarrier object, which the next CTA would initialise while it is in use"
        elif facts.moves_stack:
            why = "changes the stack, which would grow with each CTA"
        if why:
            raise CannotWeave(
                f"{kernel.at(instruction.line)}: `{kernel.quote(instruction)}` {why}: in folded grids a CTA runs "
                "several CTAs of a kernel, one after the other. Leave out fold=, or use separate launches.",
                rule="folded-grids",
            )


def _drained(linked: Linked, kernel: Kernel, flow: Flow) -> Iterator[Instruction]:
    """Waits for what the thread has begun and may not have waited for: it reads or writes shared memory."""
    waits = dict.fromkeys(words for i in _all_code(linked, kernel) for words in facts_of(i.opcode).completed_by)
    in_functions = [i for f in called_functions(kernel, linked.items) for i in statements_in(f.body or ())]
    for words in waits:
        outside = any(isinstance(i, Instruction) and _needs(i, words) for i in in_functions)
        if outside or _may_be_left(flow, words):
            opcode, *operands = words
            yield Instruction(opcode, tuple(map(Immediate, operands)))


def _needs(instruction: Instruction, words: tuple[str, ...]) -> bool:
    return words in facts_of(instruction.opcode).completed_by


def _may_be_left(flow: Flow, words: tuple[str, ...]) -> bool:
    """Whether a path leads from an instruction that needs that wait to the end of the kernel without it."""
    open_at_end, waiting = set[str](), set[str]()
    for name, block in flow.blocks.items():
        for instruction in block.instructions():
            if _needs(instruction, words):
                open_at_end.add(name)
            elif instruction.guard is None and block.region is None and _words(instruction) == words:
                open_at_end.discard(name)
                waiting.add(name)
    graph = flow.graph().subgraph(set(flow.blocks) - waiting)
    onward = {t for n in open_at_end for t in flow.graph().succ[n] if t in graph}
    return any(EXIT in {t, *nx.descendants(graph, t)} for t in onward)


def _words(instruction: Instruction) -> tuple[str, ...]:
    return (instruction.opcode, *map(str, instruction.operands))


def _barrier(linked: Linked, kernel: Kernel, flow: Flow) -> Iterator[Instruction]:
    """A barrier of all threads of the kernel, if there is anything that one of them could still use when another begins
    the next virtual CTA."""
    barriers = [i for i in flow.instructions() if is_barrier(i)]
    if linked.loops[kernel.letter].threads:
        return  # they meet when one of them has drawn the next number
    own = shared_of(kernel, linked)
    functions = called_functions(kernel, linked.items)
    if not (barriers or own.static or own.dynamic or functions):
        return
    ids = {i: i.operands[facts_of(i.opcode).barrier_id] for i in barriers}
    unknown = next((i for i, number in ids.items() if not isinstance(number, Immediate)), None)
    if unknown is not None:
        refuse_register(kernel, unknown)
    counted = {str(number) for i, number in ids.items() if is_counted(i) or facts_of(i.opcode).reduces}
    free = next((n for n in range(BARRIER_IDS) if str(n) not in counted), None)
    if free is None:
        raise CannotWeave(
            f"{kernel.at(kernel.entry.line)}: the kernel uses all {BARRIER_IDS} barriers with counts or for "
            "reductions, so none is left between two CTAs of folded grids; leave out fold=.",
            rule="barrier-ids",
        )
    yield Instruction("barrier.sync", (Immediate(str(free)),))


def _all_code(linked: Linked, kernel: Kernel) -> Iterator[Instruction]:
    """The instructions of the kernel, and of the functions that it calls."""
    yield from kernel.flow.instructions()
    for function in called_functions(kernel, linked.items):
        yield from (s for s in statements_in(function.body or ()) if isinstance(s, Instruction))


# The loop -------------------------------------------------------------------------------------------------


def in_loops(linked: Linked, inputs: Sequence[MergeInput]) -> tuple[list[MergeInput], Helping | None]:
    """Each kernel within its loop over virtual CTAs, after the range guard that keeps other kernels' threads out; and
    how teams of one get to another, if they help. `inputs` has one for each kernel. Raises `CannotWeave` where no
    barriers are left that the loops need."""
    loops = [linked.loops[k.letter] for k in linked.given]
    each = barriers_of_teams(linked, [side.flow for side in inputs])
    made = [
        _in_loop(replace(side, flow=own.flow), loop, own) for side, loop, own in zip(inputs, loops, each, strict=True)
    ]
    helped = next((k for k, loop in enumerate(loops) if loop.joining), None)
    if helped is None:
        return [side for side, _, _ in made], None
    helper = 1 - helped
    return [side for side, _, _ in made], Helping((helper, made[helper][1]), (helped, made[helped][2]))


def _in_loop(side: MergeInput, loop: CtaLoop, barriers: TeamBarriers) -> tuple[MergeInput, str, str]:
    """No code of the loop shares a block with the kernel's, so that nothing moves from one virtual CTA to another. Also
    the names of the block by which teams leave, and of that by which teams of another kernel join."""
    flow = side.flow
    guard = flow.blocks[flow.entry] if flow.entry == RANGE_GUARD else None
    first = guard.end.fallen if guard and isinstance(guard.end, Branch) else flow.entry
    taken = {*flow.blocks}
    words = ("fold", "cta", "next", "left", "joined", "again", "head")
    before, begin, step, left, joined, again, head = own = [free_name(word, taken) for word in words]
    head, done = head if loop.head else begin, again if loop.again else step
    blocks = {
        n: replace(b, end=b.end.retarget({EXIT: done}))
        for n, b in flow.blocks.items()
        if n != EXIT and not (guard and n == RANGE_GUARD)
    }
    blocks |= {
        before: Block(
            (*loop.before, *barriers.ids), Branch(Guard(Name(loop.none)), left, head, uniform=True), alone=True
        ),
        **({head: Block(loop.head, Jump(begin), alone=True)} if loop.head else {}),
        begin: Block(loop.begin, Jump(done if first == EXIT else first), alone=True),
        **({again: _again(loop, begin, step)} if loop.again else {}),
        step: Block(
            (*loop.drawn, *barriers.meeting, *loop.step),
            Branch(Guard(Name(loop.more)), head, left, uniform=True),
            alone=True,
        ),
        left: Block((), Jump(EXIT)),
        **({joined: Block((*loop.joining, *barriers.ids), Jump(step), alone=True)} if loop.joining else {}),
        EXIT: flow.blocks[EXIT],
    }
    entry = before
    if guard:
        entry, blocks[RANGE_GUARD] = RANGE_GUARD, replace(guard, end=guard.end.retarget({first: before}))
    kernel = side.kernels[0]
    states = side.states
    if states is not None:
        states = {**states, **{n: ProductState({kernel: n}, frozenset({kernel})) for n in own}}
    return replace(side, flow=completed(Flow(entry, blocks), kernel), states=states), left, joined


def _again(loop: CtaLoop, begin: str, step: str) -> Block:
    return Block(loop.again, Branch(Guard(Name(loop.within)), begin, step, uniform=True), alone=True)
