"""Takes out what only computed registers that nothing needs any more.

Requires: a flow, and what it was changed to; all code has its provenance. Ensures: an instruction goes only if it has
no effect, if nothing that has one needs what it writes, and if that was different before the change. Where an
instruction stands does not count.
"""

from __future__ import annotations

from collections.abc import Sequence

from goptx.analysis.cfg import Code, Flow
from goptx.analysis.dataflow import read, register_of, written
from goptx.analysis.numbering import provenance_of
from goptx.ptx.ir import Instruction, Provenance
from goptx.ptx.opcodes import Scope, facts_of


def without_unused(flows: Sequence[Flow], before: Flow) -> list[Flow]:
    """The flows, of which the first holds all code and was `before`, without what the change made useless."""
    gone = _useless(flows[0]) - _useless(before)
    return [flow.with_code(lambda code: (c for c in code if c.provenance not in gone)) for flow in flows]


def _useless(flow: Flow) -> set[Provenance]:
    """The provenance of instructions that nothing with an effect needs."""
    code = list(flow.codes())
    writers: dict[str, list[Code]] = {}
    for c in code:
        for register in written(c):
            writers.setdefault(register, []).append(c)
    work = [register_of(r) for end in flow.ends() for r in end.reads()]
    work += [r for c in code if not is_pure(c) for r in read(c)]
    needed: set[str] = set()
    while work:
        register = work.pop()
        if register not in needed:
            needed.add(register)
            work += (r for c in writers.get(register, ()) for r in read(c))
    return {provenance_of(c) for c in code if is_pure(c) and written(c).isdisjoint(needed)}


def is_pure(code: Code) -> bool:
    if not isinstance(code, Instruction):
        return False
    facts = facts_of(code.opcode)
    moves_data = bool(facts.row.access) and facts.space != "param"
    return facts.known and not (moves_data or facts.row.scope != Scope.THREAD or facts.sets_carry or facts.row.ends)
