"""Masks of warp instructions on a side that ends the kernel: they may name lanes that never come there.

Alone, such lanes end sooner or later, without taking part, and the others go on: lanes that have ended do not count
(PTX ISA, `shfl.sync`). In the fused kernel they live on, and wait for the side to end. Requires: blocks that only end
the kernel. Ensures: each warp instruction in them names no lanes but those that come to these blocks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from goptx.analysis.cfg import Block, Code, Flow
from goptx.analysis.dataflow import written
from goptx.analysis.sync.sync_spans import is_warp_wide
from goptx.analysis.terminators import Branch
from goptx.ptx.ir import Instruction, Name, Negated, Operand
from goptx.ptx.opcodes import facts_of
from goptx.weaving.converge.predicate import edge_predicate
from goptx.weaving.converge.predicate_code import ballot, inverted, is_ours
from goptx.weaving.converge.running_lanes import Lanes


def needs_lanes(code: Code) -> bool:
    """Whether lanes of a warp wait there for others that the kernel names."""
    if not isinstance(code, Instruction) or not is_warp_wide(code) or is_ours(code):
        return False
    return not facts_of(code.opcode).reads_active_mask


def name_own_lanes(lanes: Lanes, side: str, arms: Collection[str], source: str | None) -> None:
    """Takes out of the masks in `arms` the lanes that do not come there. `source` is the one block from which lanes do,
    all of a warp together, by the `side` of its branch; None if there is no such block. Raises `CannotWeave` where
    that cannot be done."""
    own = _own_masks(lanes.flow, arms)
    blocks = {name: block for name, block in lanes.flow.blocks.items() if name in arms}
    foreign = [i for block in blocks.values() for i in block.instructions() if _names_others(i, own)]
    if not foreign:
        return
    if source is None or any("sync" not in facts_of(i.opcode).modifiers for i in foreign):
        raise lanes.missing(foreign[0])
    coming, edge = lanes.fresh.register("b32", f"lanes{len(lanes.fresh.made['b32'])}"), lanes.fresh.predicate("if")
    end, mask = lanes.flow.blocks[source].end, lanes.masks.get(source, "")
    lanes.append(source, [*edge_predicate(lanes, edge, mask, end, side), ballot(coming, edge)])
    for name, block in blocks.items():
        lanes.replace(name, replace(block, code=tuple(c for i in block.code for c in _named(lanes, i, coming, own))))


def _names_others(code: Code, own: Collection[str]) -> bool:
    """Whether its mask may name lanes that do not come to the blocks of `own`."""
    if not isinstance(code, Instruction) or not needs_lanes(code):
        return False
    return facts_of(code.opcode).row.mask is None or str(code.operands[-1]) not in own


def _named(lanes: Lanes, code: Code, coming: str, own: Collection[str]) -> Iterator[Code]:
    if isinstance(code, Instruction) and _names_others(code, own):
        named = Name(lanes.fresh.register("b32", "lanes_coming"))
        yield Instruction("and.b32", (named, code.operands[-1], Name(coming)))
        yield replace(code, operands=(*code.operands[:-1], named))
    else:
        yield code


def _own_masks(flow: Flow, blocks: Collection[str]) -> frozenset[str]:
    """The registers that name at most lanes which come to the blocks: all that writes them stands there, and takes
    lanes from the active ones or from another such register; or it is a vote on who goes there."""
    writers: dict[str, list[tuple[str, int]]] = {}
    votes = {(name, i) for name, block in flow.blocks.items() if name not in blocks for i in _votes(block, blocks)}
    for name, block in flow.blocks.items():
        for i, code in enumerate(block.code):
            for register in written(code):
                writers.setdefault(register, []).append((name, i))

    def is_own(place: tuple[str, int], own: Collection[str]) -> bool:
        name, i = place
        return place in votes or (name in blocks and _takes_lanes(flow.blocks[name].code[i], own))

    own = frozenset(writers)
    while True:  # what takes lanes from a register that is none of them is none either
        left = frozenset(register for register in own if all(is_own(place, own) for place in writers[register]))
        if left == own:
            return own
        own = left


def _votes(block: Block, blocks: Collection[str]) -> Iterator[int]:
    """Where the ballots of a block stand on the condition under which lanes go from it to one of `blocks`."""
    end = block.end
    if not isinstance(end, Branch) or (end.taken in blocks) == (end.fallen in blocks):
        return
    goes = end.guard if end.taken in blocks else inverted(end.guard)
    condition: Operand = Negated(goes.predicate) if goes.negated else goes.predicate
    for i, code in reversed([*enumerate(block.code)]):
        if goes.predicate.text in written(code):
            return
        if not isinstance(code, Instruction) or code.guard or not facts_of(code.opcode).is_ballot:
            continue
        if code.operands[1] == condition:
            yield i


def _takes_lanes(code: Code, own: Collection[str]) -> bool:
    """Whether what it writes names no lanes but active ones and those of `own` masks."""
    if not isinstance(code, Instruction):
        return False
    facts = facts_of(code.opcode)
    if facts.reads_active_mask:
        return True
    if facts.matches_lanes or facts.is_ballot:
        return str(code.operands[-1]) in own
    sources = [str(operand) in own for operand in code.operands[1:]]
    return any(sources) if facts.masks else (facts.moves or facts.unites) and all(sources)
