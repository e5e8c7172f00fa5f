"""Takes out what only computed registers that nothing reads any more.

Requires: flows of which the first holds all code. Ensures: an instruction goes only if it has no effect, and if no
instruction and no branch reads any register that it writes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from goptx.analysis.cfg import Block, Code, End, Flow
from goptx.analysis.dataflow import read, register_of, written
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import Scope, facts_of


def without_unused(flows: Sequence[Flow], registers: Collection[str]) -> list[Flow]:
    """The flows without what computed `registers`, and what only computed that, where nothing reads it."""
    code = list(_codes(flows[0]))
    readers = Counter(r for c in code for r in read(c))
    readers.update(register_of(r) for end in _ends(flows[0]) for r in end.reads())
    writers: dict[str, list[Code]] = {}
    for c in code:
        for register in written(c):
            writers.setdefault(register, []).append(c)
    gone: set[int] = set()
    work = sorted(registers)
    while work:
        for c in writers.get(work.pop(), ()):
            if id(c) not in gone and _is_pure(c) and not any(readers[r] for r in written(c)):
                gone.add(id(c))
                for register in read(c):
                    readers[register] -= 1
                    work.append(register)
    return [_without(flow, gone) for flow in flows]


def _is_pure(code: Code) -> bool:
    if not isinstance(code, Instruction):
        return False
    facts = facts_of(code.opcode)
    moves_data = bool(facts.row.access) and facts.space != "param"
    return facts.known and not (moves_data or facts.row.scope != Scope.THREAD or facts.sets_carry or facts.row.ends)


def _codes(flow: Flow) -> Iterator[Code]:
    for block in flow.blocks.values():
        yield from block.code
        if block.region:
            yield from _codes(block.region.flow())


def _ends(flow: Flow) -> Iterator[End]:
    for block in flow.blocks.values():
        yield block.end
        if block.region:
            yield from _ends(block.region.flow())


def _without(flow: Flow, gone: Collection[int]) -> Flow:
    def kept(block: Block) -> Block:
        region = block.region and replace(
            block.region, blocks={n: kept(b) for n, b in block.region.blocks.items()}
        )
        return replace(block, code=tuple(c for c in block.code if id(c) not in gone), region=region)

    return Flow(flow.entry, {n: kept(b) for n, b in flow.blocks.items()})
