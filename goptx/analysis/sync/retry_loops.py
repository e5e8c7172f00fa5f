"""Finds compare-and-swaps that are only tried again: how CUDA programs make an atomic operation of their own.

    retry: atom.global.cas.b32 %old, [%a], %expected, %new;
           setp.ne.b32 %failed, %old, %expected;
           mov.b32 %expected, %old;
           ... %new of %expected ...
           @%failed bra retry;

Such a loop waits for nobody. Each further iteration expects what the one before has read, in the same place, so it
fails only if another thread has changed the word since then; if no other thread runs, the next iteration is the last.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from goptx.analysis.cfg import Block, Code, Flow
from goptx.analysis.dataflow import register_of, sets
from goptx.analysis.terminators import Branch
from goptx.ptx.ir import TYPE_BYTES, Instruction, Name
from goptx.ptx.opcodes import facts_of
from goptx.ptx.walk import names_in

Equal = frozenset[str]  # registers that hold one value


def only_retries(flow: Flow, body: Collection[str], swap: Instruction) -> bool:
    """Whether the compare-and-swap in a loop with this body ends the loop where it succeeds, and where it fails
    expects what it has just read when it comes again."""
    home = next((n for n in body if any(code is swap for code in flow.blocks[n].code)), None)
    if home is None or not _is_plain(swap):
        return False
    old, address, expected, _ = swap.operands
    written = {register for n in body for i in flow.blocks[n].instructions() for register in sets(i)}
    if str(old) == str(expected) or not written.isdisjoint(map(register_of, names_in(address))):
        return False
    block = flow.blocks[home]
    after = block.code[_place(block, swap) + 1 :]
    again = _where_it_failed(block, after, swap, Equal([str(old)]), Equal([str(expected)]))
    if again is None or not isinstance(block.end, Branch) or again not in body:
        return False
    ends = {*block.end.successors()} - {again}
    return bool(ends) and ends.isdisjoint(body) and _expects(flow, body, home, again, swap, _through(after, [str(old)]))


def _is_plain(swap: Instruction) -> bool:
    """Whether it is an unguarded compare-and-swap of registers."""
    facts = facts_of(swap.opcode)
    plain = facts.swaps_if_equal and swap.guard is None and len(swap.operands) == 4
    return plain and all(isinstance(swap.operands[i], Name) for i in (0, 2))


def _place(block: Block, swap: Instruction) -> int:
    return next(i for i, code in enumerate(block.code) if code is swap)


def _where_it_failed(block: Block, after: Iterable[Code], swap: Instruction, old: Equal, expected: Equal) -> str | None:
    """The block to which the branch at the end goes where the word that was read is not the expected one."""
    if not isinstance(block.end, Branch) or block.end.others:
        return None
    failed: dict[str, bool] = {}  # by predicate: whether it is true where the swap failed
    for code in after:
        relation = _compared(code, swap, old, expected)
        for register in sets(code):
            failed.pop(register, None)
        old, expected = _through([code], old), _through([code], expected)
        if relation is not None and isinstance(code, Instruction):
            failed[str(code.operands[0])] = relation
    guard = block.end.guard
    predicate = register_of(guard.predicate.text)
    if predicate not in failed:
        return None
    return block.end.taken if failed[predicate] != guard.negated else block.end.fallen


def _compared(code: Code, swap: Instruction, old: Equal, expected: Equal) -> bool | None:
    """Of a comparison of the two, whether its predicate is true where they differ."""
    if not isinstance(code, Instruction) or code.guard is not None or len(code.operands) != 3:
        return None
    facts = facts_of(code.opcode)
    if not facts.compares or facts.modifiers.isdisjoint(("eq", "ne")) or facts.types[0][0] == "f":
        return None
    if TYPE_BYTES[facts.types[0]] != TYPE_BYTES[facts_of(swap.opcode).types[0]]:
        return None
    one, other = (str(o) for o in code.operands[1:])
    both = (one in old and other in expected) or (one in expected and other in old)
    return "ne" in facts.modifiers if both else None


def _through(code: Iterable[Code], equal: Iterable[str]) -> Equal:
    """The registers that hold the value after the code, of those that hold it before and their copies."""
    held = {*equal}
    for each in code:
        copied = _copied(each, held)
        held -= sets(each)
        held |= copied
    return Equal(held)


def _copied(code: Code, held: Collection[str]) -> set[str]:
    """The register to which an unguarded move copies the value."""
    if not isinstance(code, Instruction) or code.guard is not None or len(code.operands) != 2:
        return set()
    facts, (to, source) = facts_of(code.opcode), code.operands
    moves = facts.moves and not facts.converts_address and isinstance(to, Name)
    return {str(to)} if moves and str(source) in held else set()


def _expects(flow: Flow, body: Collection[str], home: str, again: str, swap: Instruction, held: Equal) -> bool:
    """Whether on all ways through the loop, from `again` back to the swap, what it expects is the value in `held`."""
    before: dict[str, Equal] = {again: held}
    waiting = [again]
    while waiting:
        name = waiting.pop()
        block = flow.blocks[name]
        if name == home:
            continue
        after = Equal() if block.region else _through(block.code, before[name])
        for target in block.end.successors():
            if target in body:
                met = before.get(target, after) & after
                if target not in before or met != before[target]:
                    before[target] = met
                    waiting.append(target)
    if home not in before:
        return False
    block = flow.blocks[home]
    return str(swap.operands[2]) in _through(block.code[: _place(block, swap)], before[home])
