"""The control flow of an entry whose instructions are identified by their number in the text.

Requires: an entry whose branches have known targets. Ensures: the numbers are those of `Woven.origins`: from 0 on in
the order of the text, with the instructions within braces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count

from goptx.analysis.build_cfg import flow_as_written
from goptx.analysis.cfg import EXIT, Code, Flow, instructions_in
from goptx.analysis.terminators import Branch, Switch
from goptx.errors import CannotWeave
from goptx.ptx.ir import Function, Instruction, Scope, Statement
from goptx.ptx.walk import statements_in


@dataclass(frozen=True)
class Traced:
    """`instructions` are all those of the entry, in order; lines in `flow` are their numbers, from 1 on."""

    flow: Flow
    instructions: Sequence[Instruction]

    def numbers(self, name: str) -> list[int]:
        """The numbers of a block's instructions, with the branch at its end."""
        block = self.flow.blocks[name]
        ends = [block.end.line] if isinstance(block.end, Branch | Switch) and block.end.line else []
        return [line - 1 for line in (*(i.line for i in block.instructions()), *ends)]

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The blocks in the order of the text; blocks without instructions come first, the exit last."""
        first = {n: min(self.numbers(n), default=-1) for n in self.flow.blocks}
        return tuple(sorted(first, key=lambda n: (n == EXIT, first[n])))

    @cached_property
    def block_of(self) -> Mapping[int, str]:
        """The block of each instruction by its number, without branches that became part of no block."""
        return {number: name for name in self.order for number in self.numbers(name)}


def traced(entry: Function, source: str) -> Traced:
    """The entry with numbered instructions. Raises `CannotWeave` if the control flow is unknown."""
    body = entry.body or ()
    numbers = count(1)
    try:
        flow = flow_as_written(tuple(_numbered(body, numbers)), source)
    except CannotWeave:
        flow_as_written(body, source)  # raises an error that names the line
        raise
    return Traced(flow, [s for s in statements_in(body) if isinstance(s, Instruction)])


def _numbered(body: Iterable[Statement], numbers: Iterator[int]) -> Iterator[Statement]:
    for statement in body:
        if isinstance(statement, Scope):
            yield Scope(tuple(_numbered(statement.body, numbers)))
        else:
            yield replace(statement, line=next(numbers)) if isinstance(statement, Instruction) else statement


def first_number(code: Code) -> int:
    """The number of an instruction, or of the first one in a call's braces."""
    return (next(instructions_in(code)) if isinstance(code, Scope) else code).line - 1
