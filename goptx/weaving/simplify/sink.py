"""Divisions that only threads need which go on after an early end are computed after it.

Requires: a flow without regions. Ensures: every path computes what it did and in which order effects come, but for
registers that nothing reads on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from goptx.analysis.cfg import EXIT, Block, Flow
from goptx.analysis.dataflow import CARRY, depends_on, sets
from goptx.analysis.early_ends import only_ends
from goptx.analysis.terminators import Branch
from goptx.ptx.ir import Instruction, Name
from goptx.weaving.dependent.dead_code import is_pure
from goptx.weaving.simplify.definitions import DIVISION


def after_early_ends(flow: Flow) -> Flow:
    """The flow with these divisions, and what is computed from them, moved into the block after the branch; the same
    flow if there are none."""
    blocks = dict(flow.blocks)
    for name, target in early_ends(flow):
        moved = _movable(blocks[name])
        if moved:
            stay = tuple(code for place, code in enumerate(blocks[name].code) if place not in moved)
            go = tuple(blocks[name].code[place] for place in sorted(moved))
            blocks[name] = replace(blocks[name], code=stay)
            blocks[target] = replace(blocks[target], code=(*go, *blocks[target].code))
    return flow if all(blocks[n] is flow.blocks[n] for n in blocks) else replace(flow, blocks=blocks)


def early_ends(flow: Flow) -> Iterator[tuple[str, str]]:
    """Blocks that end in a branch of which one side only ends the kernel, and the block on the other side, if nothing
    else leads to that; in order."""
    above = flow.predecessors()
    for name in flow.reverse_postorder():
        end = flow.blocks[name].end
        if not isinstance(end, Branch):
            continue
        going = [s for s in end.successors() if not only_ends(flow, s)]
        if len(going) == 1 and going[0] != EXIT and list(above[going[0]]) == [name]:
            yield name, going[0]


def _movable(block: Block) -> set[int]:
    """The places of the divisions that can stand after all that stays in the block, and of what is computed from
    them."""
    moved: set[int] = set()
    for place, code in enumerate(block.code):
        if place not in moved and isinstance(code, Instruction) and _is_slow(code):
            more = moved | _with_dependents(block, place)
            moved = more if _can_follow(block, more) else moved
    return moved


def can_wait(block: Block, division: Instruction) -> bool:
    """Whether a division of the block, and what is computed from it, can stand after the rest of the block."""
    place = next(place for place, code in enumerate(block.code) if code is division)
    return _can_follow(block, _with_dependents(block, place))


def _is_slow(code: Instruction) -> bool:
    return bool(DIVISION.fullmatch(code.opcode)) and isinstance(code.operands[2], Name)


def _with_dependents(block: Block, first: int) -> set[int]:
    """The places of an instruction and of all after it that are computed from it."""
    found, results = {first}, set(sets(block.code[first]))
    for place in range(first + 1, len(block.code)):
        if depends_on(block.code[place]) & results:
            found.add(place)
            results |= sets(block.code[place])
    return found


def _can_follow(block: Block, moved: set[int]) -> bool:
    """Whether the code at these places, all that is computed from it included, may be executed after the rest of the
    block."""
    results, sources = set[str](), set[str]()
    for place, code in enumerate(block.code):
        if place in moved:
            if not isinstance(code, Instruction) or code.guard or not is_pure(code):
                return False
            results |= sets(code)
            sources |= depends_on(code)
        elif sets(code) & (results | sources):
            return False
    return CARRY not in sources and results.isdisjoint(block.end.reads())
