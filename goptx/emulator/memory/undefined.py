"""Which bits of a result are undefined, where bits of the operands are undefined.

Requires: at least one operand with an undefined bit. Ensures: a bit counts as defined only if it is the same whatever
the undefined bits of the operands are. Without a rule for an opcode, any undefined bit of an operand makes the whole
result undefined. The model is that of Valgrind's memcheck (Seward and Nethercote, 2005).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import product
from operator import and_, or_

import numpy as np

from goptx.emulator.instructions.lanewise import DTYPES, Array, Lanewise

# From the operands' values and their undefined bits (unsigned integers, or bools) to the undefined bits of each result.
Rule = Callable[[Sequence[Array], Sequence[Array]], list[Array]]

INTEGERS = frozenset("u8 s8 u16 s16 u32 s32 u64 s64".split())
# Opcodes that move bits of the first operands into the result, as the other operands direct.
MOVED = {"shl": 1, "shr": 1, "shf": 2, "bfe": 1, "bfi": 2, "prmt": 2, "brev": 1, "szext": 1, "cvt": 1}
TABLES = {"and": 0b1000, "or": 0b1110, "xor": 0b0110, "not": 0b01}  # bit n: the result for the operands' bits n
SUMS = frozenset(("add", "sub", "neg", "mul.lo", "mul.wide", "mad.lo", "mad.wide"))
# Opcodes that combine and move bits. Values used only by them may be partly undefined: that is how fields are set.
BITWISE = frozenset((*TABLES, *MOVED, "lop3", "mov"))
# Opcodes whose result is undefined if an operand is undefined in all bits.
SPOILED = frozenset("add sub neg mul mad setp set".split())


def rule_of(opcode: str, found: Lanewise) -> Rule | None:
    """The rule for undefined bits of an instruction; None if one of them makes the whole result undefined."""
    words = opcode.split(".")
    base, types = words[0], {*found.sources, *found.results}
    whole_numbers = types <= INTEGERS and not {"sat", "cc"} & set(words)
    if base in TABLES:
        return partial(_by_table, TABLES[base])
    if base == "lop3":
        return _lop3 if len(found.results) == 1 else None
    if base == "selp":
        return _selected
    if base in MOVED and (base != "cvt" or whole_numbers):
        return partial(_moved, found, MOVED[base])
    if whole_numbers and {base, ".".join(words[:2])} & SUMS:
        return partial(_carried, DTYPES[found.results[0]].itemsize)
    if base in ("setp", "set") and found.sources[0] in INTEGERS | {"b16", "b32", "b64"}:
        return partial(_compared, found, words[1] in ("eq", "ne"))
    return None


def bits(values: Array) -> Array:
    """The values as unsigned integers of their width; bools stay."""
    return values if values.dtype == np.bool_ else values.view(f"u{values.dtype.itemsize}")


def whole(lost: Array, dtype: np.dtype[np.generic]) -> Array:
    """All bits of a register of `dtype` for the lanes of `lost`; bits are returned unchanged."""
    return lost if lost.dtype != np.bool_ or dtype == np.bool_ else np.where(lost, ~dtype.type(0), dtype.type(0))  # type: ignore[operator]


def _by_table(table: int, values: Sequence[Array], lost: Sequence[Array]) -> list[Array]:
    """The rule of a bitwise function, given by its truth table: a bit of the result is undefined if both of its values
    are possible."""
    terms = [(~v | u, v | u) for v, u in zip(map(bits, values), lost, strict=True)]  # may be 0, may be 1
    may: list[list[Array]] = [[], []]
    for row, choice in enumerate(product((0, 1), repeat=len(terms))):
        may[table >> row & 1].append(reduce(and_, (term[bit] for term, bit in zip(terms, choice, strict=True))))
    if not all(may):
        return [np.zeros_like(terms[0][0])]
    return [reduce(or_, may[0]) & reduce(or_, may[1])]


def _lop3(values: Sequence[Array], lost: Sequence[Array]) -> list[Array]:
    return _by_table(int(values[3]) & 255, values[:3], lost[:3])


def _selected(values: Sequence[Array], lost: Sequence[Array]) -> list[Array]:
    """The undefined bits of the selected operand. If the choice is undefined: those of both, and the differing bits."""
    first, second = bits(values[0]), bits(values[1])
    either = lost[0] | lost[1] | (first ^ second)
    return [np.where(lost[2], either, np.where(values[2], lost[0], lost[1]))]


def _moved(found: Lanewise, count: int, values: Sequence[Array], lost: Sequence[Array]) -> list[Array]:
    """Undefined bits move as the bits do; if it is unknown where they move, all are undefined."""
    shapes = [DTYPES[t] for t in found.sources[:count]]
    moved = [u.view(d) for u, d in zip(lost, shapes, strict=False)]
    result = bits(np.asarray(found.apply(*moved, *values[count:])))
    unclear = reduce(or_, (u != 0 for u in lost[count:]), np.zeros((), np.bool_))
    return [result | whole(unclear, result.dtype)]


def _carried(width: int, values: Sequence[Array], lost: Sequence[Array]) -> list[Array]:
    """The rule of sums and lower halves of products: an undefined bit makes those above it undefined."""
    dtype = np.dtype(f"u{width}")
    some = reduce(or_, (u.astype(dtype) for u in lost))
    return [some | (dtype.type(0) - some)]


def _compared(found: Lanewise, equality: bool, values: Sequence[Array], lost: Sequence[Array]) -> list[Array]:
    """A comparison is defined if it has the same result for the operands that favour it most and for those that favour
    it least."""
    signed = DTYPES[found.sources[0]]
    a, b = bits(values[0]), bits(values[1])
    if equality:
        one = (a & ~lost[0]) | (b & lost[0] & ~lost[1]), (b & ~lost[1]) | (a & lost[1] & ~lost[0])
        other = one[0] ^ lost[0], one[1] ^ (lost[1] & ~lost[0])
    else:
        top = a.dtype.type(1 << 8 * signed.itemsize - 1 if signed.kind == "i" else 0)
        least, most = zip(*(((v | (u & top)) & ~(u & ~top), (v | (u & ~top)) & ~(u & top))
                            for v, u in ((a, lost[0]), (b, lost[1]))), strict=True)  # fmt: skip
        one, other = (least[0], most[1]), (most[0], least[1])
    cases = [tuple(np.asarray(v).view(signed) for v in pair) for pair in (one, other)]
    conditions = [(values[2],), (values[2] ^ lost[2],)] if len(values) > 2 else [()]
    outcomes = [found.apply(*pair, *condition) for pair in cases for condition in conditions]
    several = len(found.results) > 1
    results = list(zip(*outcomes, strict=True)) if several else [tuple(outcomes)]
    return [reduce(or_, (bits(o) != bits(of_one[0]) for o in of_one[1:])) for of_one in results]
