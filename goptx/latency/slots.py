"""About how many machine instructions the assembler makes of a PTX instruction, by kind, on the common path.

The counts are approximations, one for a whole family of instructions: the size of the code of ptxas 13.0 for sm_90, not
counted for each type and rounding. An instruction that is not listed counts as one. Of 22 pairs of suite A, `auto`
chooses another candidate for one if all counts below are a quarter higher, and for no pair if they are a fifth lower.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from goptx.analysis.cfg import Block, Code, instructions_in
from goptx.analysis.matrix_products import BITS, shape_of
from goptx.ptx.ir import TYPE_BYTES, Instruction, Scope, Vector
from goptx.ptx.opcodes import Facts, facts_of

FRAME = 8  # slots of a warp for its numbers, its addresses and its end
WARP = 32  # threads
CALL = 40  # of a call whose function is not looked at: about that of a slow path of CUDA's mathematics
_SPECIAL = {"ex2": 4, "lg2": 4, "rsqrt": 4, "sin": 2, "cos": 2, "tanh": 1}  # denormals scaled in and out
_APPROXIMATE = {"div": 6, "rcp": 4, "sqrt": 4}
_ROUNDED = {"div": 10, "rcp": 7, "sqrt": 8, "rem": 24}
_INTEGER_DIVISION = 20
_DOUBLE = 2  # times as many for a rounded one of 64 bits
_WIDE = {"mul": 4, "mad": 5, "min": 4, "max": 4, "abs": 4}  # of 64-bit integers, else 2
_INTEGERS = frozenset(f"{kind}{bits}" for kind in "usb" for bits in (8, 16, 32, 64))
_MULTIPLIES, _HIGH = frozenset(("mul", "mad", "madc", "mul24", "mad24")), frozenset(("hi", "wide"))
_USES_SPECIAL = frozenset((*_SPECIAL, *_ROUNDED))


@lru_cache(maxsize=4096)
def slots_of(opcode: str) -> int:
    """Issue slots of one warp, 0 for what its readers do along with their own work; for each access of an instruction
    that makes several."""
    facts = facts_of(opcode)
    base = facts.base
    if facts.moves or facts.loads_parameter:  # operands of what reads them
        return 0
    type_ = facts.types[-1] if facts.types else ""
    wide = TYPE_BYTES.get(type_, 4) == 8
    if base in _SPECIAL:
        return 1 if "ftz" in facts.modifiers else _SPECIAL[base]
    if base in _ROUNDED:
        if type_ in _INTEGERS:
            return _INTEGER_DIVISION * (4 if wide else 1)
        return _ROUNDED[base] * (_DOUBLE if wide else 1) if facts.slow_path else _APPROXIMATE[base]
    if wide and type_ in _INTEGERS and base not in ("cvt", "ld", "st") and "wide" not in facts.modifiers:
        return _WIDE.get(base, 2)
    return 1


def slots(code: Instruction) -> int:
    """Issue slots of one warp."""
    return slots_of(code.opcode) * fragments(code)


def block_slots(block: Block) -> int:
    """Issue slots of one warp that runs the block once, with the branch at its end. Each PTX instruction counts as one
    at least."""
    return sum(max(_with_callee(i), 1) for i in block.instructions()) + bool(block.end.reads())


def code_slots(code: Iterable[Code]) -> int:
    """The same for straight code."""
    return sum(max(_with_callee(i), 1) for c in code for i in (instructions_in(c) if isinstance(c, Scope) else (c,)))


def _with_callee(code: Instruction) -> int:
    return CALL if facts_of(code.opcode).calls else slots(code)


def fragments(code: Instruction) -> int:
    """How many accesses an instruction makes: a matrix one for each of its registers, any other instruction one."""
    facts = facts_of(code.opcode)
    if facts.base == "wmma" and facts.row.access:
        return max((len(o.parts) for o in code.operands if isinstance(o, Vector)), default=1)
    return 1


def unit_of(facts: Facts) -> str:
    """The unit that executes the instruction, if it is narrower than the scheduler; else ""."""
    type_ = facts.types[-1] if facts.types else ""
    if facts.base in _USES_SPECIAL and type_ not in _INTEGERS:
        return "special"
    if type_ == "f64":
        return "double"
    if type_ in _INTEGERS and not facts.row.access and facts.base not in ("cvt", "mov"):
        return "multiplier" if facts.base in _MULTIPLIES else "integer"
    return ""


def may_be_multiplied(facts: Facts) -> bool:
    """Whether the multiplier computes it as well: sums of words, and words shifted to higher places (IMAD.IADD,
    IMAD.SHL)."""
    return (facts.adds and facts.types in (("s32",), ("u32",))) or (facts.moves_bits_up and facts.types == ("b32",))


def passes_of(code: Instruction) -> int:
    """How often an instruction occupies its unit (`unit_of`): a product of which the high half is wanted, twice."""
    facts, unit = facts_of(code.opcode), unit_of(facts_of(code.opcode))
    if unit == "special":
        return 1
    both_halves = unit == "multiplier" and not _HIGH.isdisjoint(facts.modifiers)
    return slots(code) * (2 if both_halves else 1)


def _matrix_bytes(facts: Facts) -> int:
    """Of a matrix that a warp loads or stores, of which lanes may hold elements twice; 0 where that is unknown."""
    shape = shape_of(facts)
    if shape is None or not facts.types or facts.types[0] not in BITS:
        return 0
    m, n, k = shape
    elements = {"a": m * k, "b": k * n, "c": m * n, "d": m * n}
    return next((elements[word] for word in facts.modifiers if word in elements), 0) * BITS[facts.types[0]] // 8


def moved_bytes(code: Instruction) -> int:
    """Bytes moved between memory and one lane."""
    facts = facts_of(code.opcode)
    if facts.base == "wmma":
        return _matrix_bytes(facts) // WARP or 4 * fragments(code)
    lanes = next((int(m[1:]) for m in ("v2", "v4", "v8") if m in facts.modifiers), 1)
    return TYPE_BYTES.get(facts.types[-1] if facts.types else "", 4) * lanes
