"""Gives code its provenance: the kernel that it belongs to, and a number there.

Requires: the code of one kernel. Ensures: all instructions and scopes have a provenance, those within braces among
them. Two have the same one only if they are copies of one instruction: passes that replace an instruction hand its
provenance on, and those that copy a block copy it with the code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count

from goptx.analysis.cfg import Code, Flow
from goptx.ptx.ir import Instruction, Provenance, Scope, Statement
from goptx.ptx.walk import statements_in


def numbered(body: Iterable[Statement], kernel: int = 0) -> tuple[Statement, ...]:
    """The statements with numbers in the order of the text, whatever provenance they had."""
    return tuple(_numbered(body, _from(kernel, 0)))


def completed(flow: Flow, kernel: int) -> Flow:
    """The flow of a kernel into which passes have put code that has no provenance yet: that gets the kernel, and
    numbers that no other code of the flow has."""
    found = [s for s in statements_in(flow.codes()) if isinstance(s, Instruction | Scope)]
    if all(code.provenance for code in found):
        return flow
    free = _from(kernel, free_number(flow))
    return flow.with_code(lambda code: (_completed(c, free) for c in code))


def provenance_of(code: Code) -> Provenance:
    """The provenance of code that has one: keys of maps must not be None."""
    assert code.provenance is not None, code
    return code.provenance


def free_number(flow: Flow) -> int:
    """The first that is above those of all code."""
    found = (s.provenance for s in statements_in(flow.codes()) if isinstance(s, Instruction | Scope))
    return 1 + max((p.number for p in found if p), default=-1)


def _from(kernel: int, first: int) -> Iterator[Provenance]:
    return (Provenance(kernel, number) for number in count(first))


def _numbered(body: Iterable[Statement], free: Iterator[Provenance]) -> Iterator[Statement]:
    for statement in body:
        if isinstance(statement, Instruction):
            yield statement.with_provenance(next(free))
        elif isinstance(statement, Scope):
            own = next(free)
            yield Scope(tuple(_numbered(statement.body, free)), own)
        else:
            yield statement


def _completed(code: Code, free: Iterator[Provenance]) -> Code:
    own = code.provenance or next(free)
    if isinstance(code, Scope):
        inner = (_completed(s, free) if isinstance(s, Instruction | Scope) else s for s in code.body)
        return Scope(tuple(inner), own)
    return code if code.provenance else replace(code, provenance=own)
