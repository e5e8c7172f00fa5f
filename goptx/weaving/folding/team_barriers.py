"""Barriers of the teams of folded grids: ids of their own for each team, and one at which a team gets its next ticket.

Requires: flows in which no barrier id is in two kernels. Ensures: nor is one in two teams. Where a kernel has several
teams, they run the same code: the id of its barrier is the first one's, plus the number of the team.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from goptx.analysis.cfg import Code, Flow
from goptx.analysis.sync.barriers import is_barrier
from goptx.errors import CannotWeave
from goptx.ptx.ir import Immediate, Instruction, Operand
from goptx.ptx.opcodes import facts_of
from goptx.ptx.walk import statements_in
from goptx.weaving.link.call_graph import called_functions
from goptx.weaving.merging.barrier_ids import BARRIER_IDS
from goptx.weaving.model import CtaLoop, Kernel, Linked


@dataclass(frozen=True, slots=True)
class TeamBarriers:
    """A kernel's flow with the barriers of its teams, and the code with which a team meets to get a ticket."""

    flow: Flow
    meeting: tuple[Instruction, ...]


def barriers_of_teams(linked: Linked, flows: Sequence[Flow]) -> list[TeamBarriers]:
    """For each kernel. Raises `CannotWeave` where ids are too few, or unknown."""
    loops = [linked.loops[k.letter] for k in linked.given]
    if not any(loop.threads or loop.teams > 1 for loop in loops):
        return [TeamBarriers(flow, ()) for flow in flows]
    own = [_ids(k, linked, flow) for k, flow in zip(linked.given, flows, strict=True)]
    used = {n for ids, loop in zip(own, loops, strict=True) if loop.teams == 1 for n in ids}
    made = []
    for kernel, flow, ids, loop in zip(linked.given, flows, own, loops, strict=True):
        if loop.teams > 1:
            first = {n: _free(kernel, used, loop.teams) for n in sorted(ids)}
            flow = flow.with_code(lambda code, f=first, of=loop: _of_teams(code, f, of))  # type: ignore[misc]
        meeting = _meeting(loop, _free(kernel, used, loop.teams)) if loop.threads else ()
        made.append(TeamBarriers(flow, meeting))
    return made


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


def _of_teams(codes: Sequence[Code], first: dict[int, int], loop: CtaLoop) -> Iterator[Code]:
    """The code with barriers of the thread's team in place of the first team's."""
    for code in codes:
        if isinstance(code, Instruction) and is_barrier(code):
            place = facts_of(code.opcode).barrier_id
            computed, id_ = _id(loop, first[int(str(code.operands[place]))])
            yield from computed
            yield replace(code, operands=(*code.operands[:place], id_, *code.operands[place + 1 :]))
        else:
            yield code


def _meeting(loop: CtaLoop, first: int) -> tuple[Instruction, ...]:
    computed, id_ = _id(loop, first)
    return (*computed, Instruction("barrier.sync", (id_, Immediate(str(loop.threads)))))


def _id(loop: CtaLoop, first: int) -> tuple[tuple[Instruction, ...], Operand]:
    """The barrier id of the thread's team, and the code that computes it, where the first team's is that."""
    if loop.teams == 1 or loop.registers is None:
        return (), Immediate(str(first))
    id_, team = loop.registers.barrier, loop.registers.team
    return (Instruction("add.u32", (id_, team, Immediate(str(first)))),), id_


def refuse_register(kernel: Kernel, barrier: Instruction) -> NoReturn:
    raise CannotWeave(
        f"{kernel.at(barrier.line)}: `{kernel.quote(barrier)}` takes its barrier id from a register, so no id is "
        "left for the barrier between two CTAs of folded grids; use a constant id, or leave out fold=.",
        rule="barrier-ids",
    )
