"""Barriers of the teams of folded grids: ids of their own for each team, and one at which a team gets its next ticket.

Requires: flows in which no barrier id is in two kernels. Ensures: nor is one in two teams. Where a kernel has several
teams, they run the same code: the id of its barrier is the first one's, plus the number of the team. It is computed
before the team's loop, because code of several copies of a kernel may be interleaved there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NoReturn

from goptx.analysis.cfg import Code, Flow
from goptx.analysis.sync.barriers import is_barrier
from goptx.errors import CannotWeave
from goptx.ptx.ir import Immediate, Instruction, Name, Operand
from goptx.ptx.opcodes import facts_of
from goptx.ptx.walk import statements_in
from goptx.weaving.link.call_graph import called_functions
from goptx.weaving.merging.barrier_ids import BARRIER_IDS
from goptx.weaving.model import CtaLoop, Kernel, Linked


@dataclass(frozen=True, slots=True)
class TeamBarriers:
    """A kernel's flow with the barriers of its teams, the code that computes their ids when a team begins, and the code
    with which it meets to get a ticket."""

    flow: Flow
    ids: tuple[Instruction, ...]
    meeting: tuple[Instruction, ...]


def barriers_of_teams(linked: Linked, flows: Sequence[Flow]) -> list[TeamBarriers]:
    """For each kernel. Raises `CannotWeave` where ids are too few, or unknown."""
    loops = [linked.loops[k.letter] for k in linked.given]
    if not any(loop.threads or loop.teams > 1 for loop in loops):
        return [TeamBarriers(flow, (), ()) for flow in flows]
    own = [_ids(k, linked, flow) for k, flow in zip(linked.given, flows, strict=True)]
    used = {n for ids, loop in zip(own, loops, strict=True) if loop.teams == 1 for n in ids}
    return [
        _barriers(kernel, flow, ids, loop, used)
        for kernel, flow, ids, loop in zip(linked.given, flows, own, loops, strict=True)
    ]


def _barriers(kernel: Kernel, flow: Flow, ids: set[int], loop: CtaLoop, used: set[int]) -> TeamBarriers:
    """With ids that are not used yet, which are used from now on."""
    first = {n: _free(kernel, used, loop.teams) for n in sorted(ids)} if loop.teams > 1 else {}
    flow = flow.with_code(lambda code: map(partial(_of_team, first, loop), code)) if first else flow
    firsts = [*first.values()]
    meeting: tuple[Instruction, ...] = ()
    if loop.threads:
        firsts.append(_free(kernel, used, loop.teams))
        meeting = (Instruction("barrier.sync", (_id(loop, firsts[-1]), Immediate(str(loop.threads)))),)
    return TeamBarriers(flow, tuple(_computed(loop, n) for n in firsts) if loop.teams > 1 else (), meeting)


def _ids(kernel: Kernel, linked: Linked, flow: Flow) -> set[int]:
    """Those that the kernel uses, in the functions that it calls too."""
    functions = (s for f in called_functions(kernel, linked.items) for s in statements_in(f.body or ()))
    used = set[int]()
    for i in (*flow.instructions(), *(s for s in functions if isinstance(s, Instruction))):
        if is_barrier(i):
            number = i.operands[facts_of(i.opcode).barrier_id]
            if not isinstance(number, Immediate):
                refuse_register(kernel, i)
            used.add(int(number.text))
    return used


def _free(kernel: Kernel, used: set[int], teams: int) -> int:
    """The first of as many ids as there are teams, which are used from now on."""
    places = (n for n in range(BARRIER_IDS - teams + 1) if used.isdisjoint(range(n, n + teams)))
    first = next(places, None)
    if first is None:
        raise CannotWeave(
            f"{kernel.at(kernel.entry.line)}: each team of folded grids needs barriers of its own, and one more if it "
            f'draws tickets; together they are more than {BARRIER_IDS}. Give fewer teams or fold="static", or use '
            "separate launches.",
            rule="barrier-ids",
        )
    used.update(range(first, first + teams))
    return first


def _of_team(first: dict[int, int], loop: CtaLoop, code: Code) -> Code:
    """A barrier of the thread's team in place of the first team's."""
    if not isinstance(code, Instruction) or not is_barrier(code):
        return code
    place = facts_of(code.opcode).barrier_id
    own = _id(loop, first[int(str(code.operands[place]))])
    return replace(code, operands=(*code.operands[:place], own, *code.operands[place + 1 :]))


def _id(loop: CtaLoop, first: int) -> Operand:
    """The barrier id of the thread's team, where the first team's is that."""
    if loop.teams == 1 or loop.registers is None:
        return Immediate(str(first))
    return Name(f"{loop.registers.barrier.text}{first}")


def _computed(loop: CtaLoop, first: int) -> Instruction:
    assert loop.registers is not None
    return Instruction("add.u32", (_id(loop, first), loop.registers.team, Immediate(str(first))))


def refuse_register(kernel: Kernel, barrier: Instruction) -> NoReturn:
    raise CannotWeave(
        f"{kernel.at(barrier.line)}: `{kernel.quote(barrier)}` takes its barrier id from a register, so no id is "
        "left for the barrier between two CTAs of folded grids; use a constant id, or leave out fold=.",
        rule="barrier-ids",
    )
