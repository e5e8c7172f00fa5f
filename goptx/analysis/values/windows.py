"""Integers that the threads of a group (a warp or a CTA) have within a window above a base that all of them share.

In a block along one axis thread t has the base 32 * (t / 32) in its warp, and its lane is above that. So have sums of
such a number and one that is the same in the warp and a multiple of 32; a comparison with a multiple of 32, and a
division by 32, then have the same result in all lanes.

Requires: the windows of an instruction's sources, all of one group whose threads execute it together. Ensures: the
window of the result, or None where the threads may have anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import gcd

from goptx.launch.shape import MOST_CTAS, Shape
from goptx.ptx.ir import TYPE_BYTES, Immediate, Instruction, Name, whole_number
from goptx.ptx.opcodes import facts_of

_INTEGERS = frozenset(f"{kind}{bits}" for kind in "usb" for bits in (32, 64))
_NOT_PLAIN = frozenset(("hi", "cc", "sat", "pack"))
_MOST = (1 << 64) - 1  # of any register that holds an integer of these types
_WARP = 32  # lanes


@dataclass(frozen=True, slots=True)
class Window:
    """Each thread of a group has a number `base + residue + d` from 0 to `most`, read as unsigned, where the base is
    the same for the group and a multiple of `modulus`, and 0 <= d < `spread` may differ between threads.

    A modulus of 0 means that the base is 0. Otherwise residue + spread <= modulus: the window lies between two
    multiples of the modulus.
    """

    modulus: int
    residue: int
    spread: int
    most: int

    @property
    def number(self) -> int | None:
        """The number, if there is only one."""
        return self.residue if self.modulus == 0 and self.spread == 1 else None

    @property
    def uniform(self) -> bool:
        return self.spread == 1

    def joined(self, other: Window) -> Window | None:
        """The window of a register that holds either; of different spreads it takes a power of two, so that
        a loop widens it a few times only."""
        modulus = gcd(self.modulus, other.modulus, self.residue - other.residue)
        spread = max(self.spread, other.spread)
        if self.spread != other.spread:
            spread = 1 << (spread - 1).bit_length()
        residue = self.residue % modulus if modulus else self.residue
        return _within(modulus, residue, spread, max(self.most, other.most), 64)

    def widened(self, other: Window) -> Window | None:
        """`joined`, for a register whose window is `self` so far: a bound that still grows becomes that of a type."""
        found = self.joined(other)
        if found is None or found.most == self.most:
            return found
        most = next(m for m in ((1 << 32) - 1, _MOST) if found.most <= m)
        return Window(found.modulus, found.residue, found.spread, most)


ANY = Window(1, 0, 1, _MOST)  # of numbers that are the same for the group


def number(value: int) -> Window:
    return Window(0, value, 1, value)


def special_windows(shape: Shape) -> dict[str, tuple[Window, Window]]:
    """For launches in the shape, the windows in a warp and in a CTA of the special registers that have them. Without
    any unless the block is known and has one axis: lanes are counted along that."""
    threads, rows, planes = shape.axes("block")
    if threads is None or (rows, planes) != (1, 1):
        return {}
    found = {
        "%tid.x": (Window(_WARP, 0, _WARP, threads - 1), Window(0, 0, threads, threads - 1)),
        "%laneid": (Window(0, 0, _WARP, _WARP - 1),) * 2,
    }
    for axis, own, ctas, most in zip("xyz", shape.axes("block"), shape.axes("grid"), MOST_CTAS, strict=True):
        found[f"%ntid.{axis}"] = (number(own or 1),) * 2
        found[f"%ctaid.{axis}"] = (Window(1, 0, 1, (ctas or most) - 1),) * 2
        found[f"%nctaid.{axis}"] = (Window(1, 0, 1, most) if ctas is None else number(ctas),) * 2
    return found


def has_rule(instruction: Instruction) -> bool:
    """Whether `result` or `decided` may know more of it than that equal sources give equal results."""
    facts = facts_of(instruction.opcode)
    plain = bool(facts.types) and set(facts.types) <= _INTEGERS and not facts.modifiers & _NOT_PLAIN
    plain = plain and not facts.uses_carry and isinstance(instruction.operands[0], Name)
    return plain and "." not in str(instruction.operands[0]) and (facts.compares or _RULES.get(facts.base) is not None)


def sources(instruction: Instruction) -> Sequence[object]:
    """The operands that are numbers, for which `result` and `decided` take windows."""
    facts = facts_of(instruction.opcode)
    two = facts.compares or _RULES.get(facts.base) is _either  # and predicates
    return instruction.operands[1:3] if two else instruction.operands[1:]


def immediate(operand: object) -> Window | None:
    """The window of a number in the text; as 64 bits, since a negative one has as many as its instruction."""
    if not isinstance(operand, Immediate):
        return None
    matched = re.fullmatch(r"([+-]?)(0[xX][0-9a-fA-F]+U?|[0-9]+U?)", operand.text)
    return number(whole_number(matched[2]) * (-1 if matched[1] == "-" else 1) % (1 << 64)) if matched else None


def result(instruction: Instruction, found: Sequence[Window | None]) -> Window | None:
    """The window of the one register that an instruction with a rule writes, from those of its `sources`."""
    facts = facts_of(instruction.opcode)
    if facts.compares:
        return None
    given, taken = 8 * TYPE_BYTES[facts.types[0]], 8 * TYPE_BYTES[facts.types[-1]]
    wide = "wide" in facts.modifiers
    given = 2 * given if wide else given
    signed = facts.types[-1][0] == "s"
    bits = [given if i == 2 else 32 if facts.shifts and i == 1 else taken for i in range(len(found))]
    fitting = [w and _cut(w, b) for w, b in zip(found, bits, strict=True)]
    if any(w is None for w in fitting):
        return None
    if given > taken:
        fitting[:2] = [w and (_extended(w, taken, given) if signed else w) for w in fitting[:2]]
    made = _RULES[facts.base](given, signed, *fitting) if None not in fitting else None
    made = made and _cut(made, given)
    if made and facts.copies and facts.types[0] == "s32" and made.most >> 31:
        return None  # the register may have 64 bits, into which a sign is extended
    return made


def decided(instruction: Instruction, found: Sequence[Window | None]) -> bool:
    """Whether a comparison has the same result for all threads of the group, by the windows of its `sources`."""
    facts = facts_of(instruction.opcode)
    relations = [m for m in facts.modifiers if m in _RELATIONS]
    if not facts.compares or len(relations) != 1 or facts.types[-1][0] == "b":
        return False
    bits = 8 * TYPE_BYTES[facts.types[-1]]
    one, other = (w and _cut(w, bits) for w in found)
    if facts.types[-1][0] == "s":
        one, other = (w and _from_least(w, bits) for w in (one, other))
    if one is None or other is None:
        return False
    return _never_between(other, one) if _RELATIONS[relations[0]] else _never_between(one, other)


# Whether the operands of `a < b` are to be swapped; `a <= b` is the opposite of `b < a`.
_RELATIONS = {"lt": False, "lo": False, "ge": False, "hs": False, "gt": True, "hi": True, "le": True, "ls": True}


def _never_between(one: Window, other: Window) -> bool:
    """Whether one < other is the same for all threads. With D the distance from the lowest number of one window to that
    of the other, it differs between threads only if 1 - other.spread < D < one.spread; D is known modulo what
    divides both bases."""
    modulus = gcd(one.modulus, other.modulus)
    distance, first = other.residue - one.residue, 2 - other.spread
    if modulus == 0:
        return not first <= distance < one.spread
    return first + (distance - first) % modulus >= one.spread


def _cut(window: Window, bits: int) -> Window | None:
    """The window of the lowest `bits` bits."""
    return _within(window.modulus, window.residue, window.spread, window.most, bits)


def _within(modulus: int, residue: int, spread: int, most: int, bits: int) -> Window | None:
    """The window of numbers up to `most` modulo 2**bits. Where they may exceed that, a power of two remains of the
    modulus. None if it then does not lie between two multiples of that."""
    if most >> bits:
        if modulus == 0 and spread == 1:
            return number(residue % (1 << bits))
        modulus, most = gcd(modulus, 1 << bits), (1 << bits) - 1
    if modulus:
        residue %= modulus
        if residue + spread > modulus:
            return None
        modulus = 0 if most < modulus else modulus  # then the base is 0
    return number(residue) if modulus == 0 and spread == 1 else Window(modulus, residue, spread, most)


def _signed_modulus(window: Window, bits: int) -> int:
    """The power of two, up to that of the sign, that divides the base of signed numbers: all of a window have one
    sign."""
    return gcd(window.modulus, 1 << (bits - 1))


def _extended(window: Window, bits: int, more: int) -> Window | None:
    """The window sign-extended from `bits` to `more` bits."""
    if window.most >> (bits - 1) == 0:
        return window
    if window.number is not None:
        return number(window.number + (1 << more) - (1 << bits))
    modulus = _signed_modulus(window, bits)
    return _within(modulus, window.residue, window.spread, (1 << more) - 1, more)


def _from_least(window: Window, bits: int) -> Window | None:
    """The window of signed numbers, counted from the least one of the type: unsigned numbers in the same order."""
    half = 1 << (bits - 1)
    if window.number is not None:
        return number((window.number + half) % (2 * half))
    if window.most >> (bits - 1) == 0:
        return _within(window.modulus, window.residue + half, window.spread, window.most + half, bits)
    return _within(_signed_modulus(window, bits), window.residue, window.spread, 2 * half - 1, bits)


# Rules: the window of a result that may exceed its bits, from those, whether the operation is signed, and the windows
# of its sources ----------------------------------------------------------------------------------------------


def _add(bits: int, signed: bool, a: Window, b: Window) -> Window | None:
    modulus = gcd(a.modulus, b.modulus)
    return _within(modulus, a.residue + b.residue, a.spread + b.spread - 1, a.most + b.most, bits)


def _subtract(bits: int, signed: bool, a: Window, b: Window) -> Window | None:
    """Modulo 2**bits: the difference may be negative."""
    lowest = a.residue - b.residue - b.spread + 1
    if a.modulus == b.modulus == 0 and lowest >= 0:
        return _within(0, lowest, a.spread + b.spread - 1, a.most - b.residue, bits)
    modulus = gcd(a.modulus, b.modulus)
    if modulus == 0 and a.spread == b.spread == 1:
        return number(lowest % (1 << bits))
    modulus = gcd(modulus, 1 << bits)
    return _within(modulus, lowest, a.spread + b.spread - 1, (1 << bits) - 1, bits)


def _multiply(bits: int, signed: bool, a: Window, b: Window) -> Window | None:
    if b.number is not None:
        a, b = b, a
    if a.number is not None:
        times = a.number
        if times == 0:
            return number(0)
        spread = (b.spread - 1) * times + 1
        return _within(b.modulus * times, b.residue * times, spread, b.most * times, bits)
    if not (a.uniform and b.uniform):
        return None
    modulus = gcd(a.modulus * b.modulus, a.modulus * b.residue, b.modulus * a.residue)
    return _within(modulus, a.residue * b.residue, 1, a.most * b.most, bits)


def _multiply_add(bits: int, signed: bool, a: Window, b: Window, c: Window) -> Window | None:
    product = _multiply(bits, signed, a, b)
    return product and _add(bits, signed, product, c)


def _shift_left(bits: int, signed: bool, a: Window, b: Window) -> Window | None:
    if b.number is None:
        return None
    return _multiply(bits, signed, a, number(1 << b.number)) if b.number < bits else number(0)


def _shift_right(bits: int, signed: bool, a: Window, b: Window) -> Window | None:
    if b.number is None:
        return None
    if signed and a.most >> (bits - 1):
        if a.number is not None:
            return number(((a.number - (1 << bits)) >> b.number) % (1 << bits))
        most, shift = (1 << bits) - 1, min(b.number, bits)  # of the result, which may be negative
        made = _quotient(Window(_signed_modulus(a, bits), a.residue, a.spread, most << shift), 1 << shift)
        return made and _within(made.modulus, made.residue, made.spread, most, bits)
    return _quotient(a, 1 << b.number)


def _divide(bits: int, signed: bool, a: Window, b: Window) -> Window | None:
    return _quotient(a, b.number) if b.number and _natural(bits, signed, a, b) else None


def _remainder(bits: int, signed: bool, a: Window, b: Window) -> Window | None:
    if not b.number or not _natural(bits, signed, a, b):
        return None
    whole = gcd(a.modulus, b.number)
    if a.residue % whole + a.spread > whole:
        return None
    modulus = 0 if whole == b.number else whole
    return _within(modulus, a.residue % whole, a.spread, min(a.most, b.number - 1), bits)


def _natural(bits: int, signed: bool, *windows: Window) -> bool:
    """Whether the numbers are what they are as unsigned ones: no division by a negative number, nor of one."""
    return not signed or all(w.most >> (bits - 1) == 0 for w in windows)


def _quotient(a: Window, by: int) -> Window | None:
    """Of a division that rounds down: it is the same within a window that lies between two multiples of what divides
    the base and the divisor."""
    whole = gcd(a.modulus, by)
    most = a.most // by
    exact = a.modulus % by == 0
    low, high = a.residue // by, (a.residue + a.spread - 1) // by
    if a.residue % whole + a.spread <= whole:
        return _within(a.modulus // by, low, 1, most, 64) if exact else _within(1, 0, 1, most, 64)
    return _within(a.modulus // by, low, high - low + 1, most, 64) if exact else None


def _and(bits: int, signed: bool, a: Window, b: Window) -> Window | None:
    if a.number is not None:
        a, b = b, a
    if b.number is None:
        return None
    whole = gcd(a.modulus, 1 << bits)  # a power of two: below it are the bits of the window, above those of the base
    low, high, mask = a.residue % whole, a.residue % whole + a.spread - 1, b.number
    if high >= whole:
        return None
    differ = (1 << (low ^ high).bit_length()) - 1  # the bits in which the numbers of the window may differ
    rest = mask & ~(whole - 1)
    modulus = 0 if a.modulus == 0 or not rest else rest & -rest
    most = min(a.most, mask)
    if mask & differ == 0:
        return _within(modulus, low & mask, 1, most, bits)
    if mask & differ == differ:
        return _within(modulus, low & mask, a.spread, most, bits)
    return _within(modulus, low & mask & ~differ, differ + 1, most, bits)


def _or(bits: int, signed: bool, a: Window, b: Window) -> Window | None:
    """Of numbers without common bits, the sum: one is a multiple of a power of two, the other is below it."""
    for one, other in ((a, b), (b, a)):
        lowest = gcd(one.modulus, one.residue, 1 << bits)
        if one.uniform and other.most < lowest:
            return _add(bits, signed, one, other)
    return None


def _bits_of(bits: int, signed: bool, a: Window, first: Window, amount: Window) -> Window | None:
    if signed or first.number is None or amount.number is None:
        return None
    mask = number((1 << min(amount.number & 255, bits)) - 1)
    shifted = _shift_right(bits, False, a, number(first.number & 255))
    return shifted and _and(bits, False, shifted, mask)


def _same(bits: int, signed: bool, a: Window) -> Window:
    return a


def _either(bits: int, signed: bool, a: Window, b: Window) -> Window | None:
    return a.joined(b)


_RULES: dict[str, Callable[..., Window | None]] = {
    "mov": _same,
    "cvt": _same,
    "add": _add,
    "sub": _subtract,
    "mul": _multiply,
    "mad": _multiply_add,
    "shl": _shift_left,
    "shr": _shift_right,
    "div": _divide,
    "rem": _remainder,
    "and": _and,
    "or": _or,
    "xor": _or,
    "bfe": _bits_of,
    "selp": _either,
}
