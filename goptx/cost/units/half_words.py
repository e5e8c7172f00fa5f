"""Integers of 64 bits of which a half need not be computed: it is 0, a copy, or nobody reads it.

Requires: a flow without regions. Ensures: for `and`, `or`, `xor`, `not`, shifts by constants, sums, differences and
products of 64 bits without a guard, the share of the machine instructions for two halves that the assembler makes.
Compilers that know one type of integers only, such as Numba's with 64 bits, leave many such halves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from goptx.analysis.cfg import Flow
from goptx.analysis.dataflow import read, written
from goptx.analysis.values.thread_values import number
from goptx.ptx.ir import TYPE_BYTES, Instruction, Name, Operand
from goptx.ptx.opcodes import facts_of

WORD = 32  # bits of a half
LOWER, BOTH = 1, 2  # halves that are needed: the lower one, or both

Place = tuple[str, int]  # a block, and the number of an instruction in it


def computed_shares(flow: Flow) -> dict[Place, float]:
    """The share of each instruction of which not all is computed."""
    code = {(name, n): i for name in flow.reverse_postorder() for n, i in enumerate(flow.blocks[name].instructions())}
    wide = {place: i for place, i in code.items() if _is_wide(i)}
    if not wide:
        return {}
    short = _short(code.values())
    needed = _needed(flow, code.values(), short)
    shares = {place: _computed(i, short, needed.get(_result(i), BOTH)) / BOTH for place, i in wide.items()}
    return {place: share for place, share in shares.items() if share < 1.0}


def _is_wide(instruction: Instruction) -> bool:
    facts = facts_of(instruction.opcode)
    if instruction.guard or not facts.types or TYPE_BYTES.get(facts.types[-1]) != 8 or facts.types[-1][0] not in "usb":
        return False
    by_constant = facts.shifts and number(instruction.operands[-1]) is not None
    return by_constant or facts.combines_bits or facts.adds or facts.gives_lower_half


def _result(instruction: Instruction) -> str:
    (register,) = written(instruction)
    return register


def _short(code: Collection[Instruction]) -> frozenset[str]:
    """Registers whose upper half is known to be 0: of one instruction each, in the order of the code."""
    writes = Counter(register for i in code for register in written(i))
    found: set[str] = set()
    for instruction in code:
        if any(writes[r] > 1 for r in written(instruction)) or instruction.guard:
            continue
        facts = facts_of(instruction.opcode)
        sources = instruction.operands[1:]
        if _is_wide(instruction) and facts.shifts:
            is_short = _amount(instruction) >= WORD and not facts.moves_bits_up and not facts.types[-1].startswith("s")
        elif facts.masks:
            is_short = any(_is_short(source, found) for source in sources)
        elif (facts.combines_bits and len(sources) == 2) or facts.moves:
            is_short = all(_is_short(source, found) for source in sources)
        else:
            is_short = facts.widens_with_zeros
        if is_short:
            found |= written(instruction)
    return frozenset(found)


def _is_short(operand: Operand, short: Collection[str]) -> bool:
    value = number(operand)
    return value >> WORD == 0 if value is not None else isinstance(operand, Name) and operand.text in short


def _amount(instruction: Instruction) -> int:
    return number(instruction.operands[-1]) or 0


def _needed(flow: Flow, code: Collection[Instruction], short: Collection[str]) -> Mapping[str, int]:
    """The halves of each register that somebody reads."""
    makers: dict[str, list[Instruction]] = {}
    found: dict[str, int] = {}
    waiting: list[str] = []

    def need(register: str, halves: int) -> None:
        if found.get(register, 0) < halves:
            found[register] = halves
            waiting.append(register)

    for instruction in code:
        if _is_wide(instruction):
            makers.setdefault(_result(instruction), []).append(instruction)
        else:
            halves = LOWER if facts_of(instruction.opcode).takes_lower_half else BOTH
            for register in read(instruction):
                need(register, halves)
    for end in flow.ends():
        for register in end.reads():
            need(register, BOTH)
    while waiting:
        register = waiting.pop()
        for maker in makers.get(register, ()):
            for source, halves in _of_sources(maker, short, found[register]):
                need(source, halves)
    return found


def _of_sources(instruction: Instruction, short: Collection[str], needed: int) -> Iterator[tuple[str, int]]:
    """The halves of its sources that it needs for so many of its result."""
    facts, sources = facts_of(instruction.opcode), instruction.operands[1:]
    for k, source in enumerate(sources):
        if not isinstance(source, Name):
            continue
        halves = needed
        if facts.shifts and not facts.moves_bits_up:
            halves = BOTH
        elif (facts.shifts and _amount(instruction) >= WORD) or (facts.masks and _is_short(sources[1 - k], short)):
            halves = LOWER
        yield source.text, halves


def _computed(instruction: Instruction, short: Collection[str], needed: int) -> int:
    """How many halves of its result are computed."""
    facts, sources = facts_of(instruction.opcode), instruction.operands[1:]
    if needed < BOTH:
        return needed
    known = [_is_short(source, short) for source in sources]
    if facts.shifts:
        half = _amount(instruction) >= WORD or (known[0] and not facts.moves_bits_up)
    else:
        half = any(known) if facts.combines_bits else all(known) and facts.gives_lower_half
    return LOWER if half else BOTH
