"""The windows of numbers that threads of a group share: each rule against numbers computed one by one."""

import pytest
from bodies import flow
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from goptx.analysis.values.windows import Window, decided, number, result
from goptx.ptx.ir import Instruction

GROUP = 32  # threads
SIZES = [0, 1, 2, 4, 5, 7, 12, 27, 31, 32, 33, 48, 64, 96, 100, 128, 4096, (1 << 31) - 64, 1 << 31, (1 << 32) - 32]
BINARY = ["add", "sub", "mul.lo", "mul.wide", "shl", "shr", "div", "rem", "and", "or", "xor", "selp"]
RELATIONS = ["lt", "le", "gt", "ge", "eq", "ne", "lo", "ls", "hi", "hs"]


def instruction(text: str) -> Instruction:
    return next(iter(flow(f"{text}; ret;").instructions()))


@st.composite
def groups(draw: st.DrawFn, bits: int) -> tuple[Window, list[int]]:
    """A window, and numbers of a group of threads that lie in it."""
    modulus = draw(st.sampled_from([0, 1, 2, 4, 8, 32, 64, 96, 128, 1 << 31]))
    bound = 1 << bits
    lowest = draw(st.sampled_from([0, 0, 0, 5, 16, 31]))
    spread = draw(st.sampled_from([1, 1, 2, 16, 32, 64, 100]))
    assume(not modulus or lowest + spread <= modulus)
    base = draw(st.one_of(st.integers(0, 8), st.integers(0, bound // modulus))) * modulus if modulus else 0
    base = draw(st.sampled_from([base, bound // 2, bound // 2 - modulus, bound - modulus])) if modulus else 0
    assume(not modulus or base % modulus == 0)
    numbers = [base + lowest + (k * 7 + draw(st.integers(0, 1))) % spread for k in range(GROUP)]
    assume(max(numbers) < bound)
    most = draw(st.sampled_from([max(numbers), bound - 1]))
    return Window(modulus, lowest, spread, most), numbers


def holds(window: Window, numbers: list[int]) -> bool:
    """Whether the numbers of a group lie in the window, above one base."""
    above = [n - window.residue for n in numbers]
    bases = {a // window.modulus * window.modulus if window.modulus else 0 for a in above}
    return max(numbers) <= window.most and len(bases) == 1 and all(0 <= a - min(bases) < window.spread for a in above)


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def computed(base: str, kind: str, bits: int, a: int, b: int) -> int | None:
    """What the instruction gives, as an unsigned number; None for a division by 0."""
    x, y = (signed(v, bits) if kind == "s" else v for v in (a, b))
    if base in ("div", "rem"):
        if y == 0:
            return None
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        return (quotient if base == "div" else x - y * quotient) % (1 << bits)
    shift = b % (1 << 32)
    made = {
        "add": x + y, "sub": x - y, "mul.lo": x * y, "mul.wide": x * y, "and": a & b, "or": a | b, "xor": a ^ b,
        "shl": a << shift if shift < bits else 0, "shr": x >> min(shift, bits), "selp": a,
    }  # fmt: skip
    return made[base] % (1 << (2 * bits if base == "mul.wide" else bits))


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.data(), st.sampled_from(BINARY), st.sampled_from("us"), st.sampled_from([32, 64]))
def test_results_lie_in_their_window(data: st.DataObject, base: str, kind: str, bits: int) -> None:
    assume(base != "mul.wide" or bits == 32)
    one, numbers = data.draw(groups(bits))
    if data.draw(st.booleans()):
        value = data.draw(st.sampled_from(SIZES)) * data.draw(st.sampled_from([1, -1]))
        other, others = number(value % (1 << 64)), [value % (1 << bits)] * GROUP
    else:
        other, others = data.draw(groups(32 if base in ("shl", "shr") else bits))
    if base not in ("shl", "shr") and data.draw(st.booleans()):
        one, numbers, other, others = other, others, one, numbers
        numbers = [n % (1 << bits) for n in numbers]
    kind = "b" if base in ("and", "or", "xor", "shl", "selp") else kind
    more = ", %p1" if base == "selp" else ""
    code = instruction(f"{base}.{kind}{bits} %r1, %r2, %r3{more}")
    found = result(code, [one, other])
    made = [computed(base, kind, bits, a, b) for a, b in zip(numbers, others, strict=True)]
    if found is not None and None not in made:
        assert holds(found, [m for m in made if m is not None]), (code, one, other, found, made)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.data(), st.sampled_from(RELATIONS), st.sampled_from("us"), st.sampled_from([32, 64]))
def test_decided_comparisons_agree(data: st.DataObject, relation: str, kind: str, bits: int) -> None:
    assume((relation[0] != "h" and relation not in ("lo", "ls")) or kind == "u")
    (one, numbers), (other, others) = data.draw(groups(bits)), data.draw(groups(bits))
    code = instruction(f"setp.{relation}.{kind}{bits} %p1, %r2, %r3")
    if decided(code, [one, other]):
        pairs = zip(numbers, others, strict=True)
        below = [(signed(a, bits) - signed(b, bits)) if kind == "s" else a - b for a, b in pairs]
        tests = {"l": [d < 0 for d in below], "g": [d > 0 for d in below]}
        strict = {"lt": "l", "lo": "l", "ge": "l", "hs": "l", "gt": "g", "hi": "g", "le": "g", "ls": "g"}
        assert len(set(tests[strict[relation]])) == 1, (code, one, other, numbers, others)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.data(), st.sampled_from(["u32", "s32", "u64", "s64"]), st.sampled_from(["u32", "s32", "u64", "s64"]))
def test_conversions(data: st.DataObject, to: str, source: str) -> None:
    bits = int(source[1:])
    window, numbers = data.draw(groups(bits))
    found = result(instruction(f"cvt.{to}.{source} %r1, %r2"), [window])
    values = [signed(n, bits) if source[0] == "s" else n for n in numbers]
    assert found is None or holds(found, [v % (1 << int(to[1:])) for v in values])


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_join_holds_both(data: st.DataObject) -> None:
    (one, numbers), (other, others) = data.draw(groups(32)), data.draw(groups(32))
    for found in (one.joined(other), one.widened(other)):
        assert found is None or (holds(found, numbers) and holds(found, others))
