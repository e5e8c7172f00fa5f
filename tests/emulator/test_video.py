"""Video instructions against the ISA's formulas on Python's integers."""

from __future__ import annotations

import operator
import random
from typing import Any

import numpy as np
import pytest
from emulator.agreement import Reference, agree, bits_for
from emulator.snippets import fault, run
from emulator.video_opcodes import INSTRUCTIONS, Selectors, spelled

from goptx.emulator.integer.video import video

WORD = 0xFFFFFFFF


def selected(word: int, selector: str, signed: bool) -> int:
    """A part of a word as a number: `partSelectSignExtend` of the ISA."""
    width = {"b": 8, "h": 16}.get(selector[:1], 32)
    value = word >> width * int(selector[1:] or 0) & (1 << width) - 1
    return value - (1 << width) if signed and value >> width - 1 else value


def clamped(value: int, width: int, signed: bool) -> int:
    bottom, top = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
    return max(bottom, min(top, value))


def computed(name: str, words: list[str]) -> Reference:
    """The operation on two numbers."""
    if name in ("vshl", "vshr"):
        shift = operator.lshift if name == "vshl" else operator.rshift
        return lambda a, b: shift(a, min(b, 32) if "clamp" in words else b % 32)
    if name == "vset":
        compare = next(getattr(operator, w) for w in words if w in ("eq", "ne", "lt", "le", "gt", "ge"))
        return lambda a, b: int(compare(a, b))
    operations: dict[str, Reference] = {
        "vadd": lambda a, b: a + b,
        "vsub": lambda a, b: a - b,
        "vabsdiff": lambda a, b: abs(a - b),
        "vmin": min,
        "vmax": max,
        "vavrg": lambda a, b: (a + b + 1) // 2 if a + b >= 0 else (a + b) // 2,
    }
    return operations[name]


SECOND: dict[str, Reference] = {"add": operator.add, "min": min, "max": max}


def scalar(opcode: str, selectors: Selectors) -> Reference:
    name, *words = opcode.split(".")
    types = [w == "s32" for w in words if w in ("u32", "s32")]
    result, of_a, of_b = types if len(types) == 3 else (False, *types)
    place = selectors[0]
    operation = computed(name, words)
    second = next((w for w in words[len(types) :] if w in ("add", "min", "max")), "")

    def apply(a: int, b: int, c: int = 0) -> Any:
        found = operation(selected(a, selectors[1], of_a), selected(b, selectors[2], of_b))
        width = {"b": 8, "h": 16}.get(place[:1], 32)
        if "sat" in words:
            found = clamped(found, width, result)
        if second:
            return SECOND[second](found, selected(c, "", result))
        if place:
            first = width * int(place[1])
            ones = (1 << width) - 1 << first
            return (found << first & ones) | (c & ~ones)
        return found

    return apply


def product_and_sum(opcode: str, selectors: Selectors) -> Reference:
    words = opcode.split(".")
    of_a, of_b = (word == "s32" for word in words[2:4])
    minus = [s.startswith("-") for s in selectors]
    parts = [s.lstrip("-") for s in selectors]
    signed = of_a or of_b or minus[1] != minus[2] or minus[3]
    distance = next((int(word[3:]) for word in words if word.startswith("shr")), 0)

    def apply(a: int, b: int, c: int) -> Any:
        found = selected(a, parts[1], of_a) * selected(b, parts[2], of_b) * (-1 if minus[1] != minus[2] else 1)
        found += selected(c ^ WORD, "", signed) + 1 if minus[3] else selected(c, "", signed)
        found = found + ("po" in words) >> distance
        return clamped(found, 32, signed) if "sat" in words else found

    return apply


def vector(opcode: str, selectors: Selectors) -> Reference:
    base, *words = opcode.split(".")
    name, count = base[:-1], int(base[-1])
    width, letter = 32 // count, "h" if count == 2 else "b"
    types = [w == "s32" for w in words if w in ("u32", "s32")]
    result, of_a, of_b = types if len(types) == 3 else (False, *types)
    own, other = ("10", "32") if count == 2 else ("3210", "7654")
    place, from_a, from_b = (s[1:] or d for s, d in zip(selectors[:3], (own, own, other), strict=True))
    operation = computed(name, words)

    def apply(a: int, b: int, c: int) -> Any:
        total, merged = c, 0
        for i in range(count):
            left, right = (
                selected(a | b << 32, letter + digits[count - 1 - i], signed)
                for digits, signed in ((from_a, of_a), (from_b, of_b))
            )
            found = operation(left, right)
            found = clamped(found, width, result) if "sat" in words else found
            total += found if str(i) in place else 0
            part = found if str(i) in place else c >> width * i
            merged |= (part & (1 << width) - 1) << width * i
        return total if "add" in words else merged

    return apply


def reference(opcode: str, selectors: Selectors) -> Reference:
    base = opcode.partition(".")[0]
    if base == "vmad":
        return product_and_sum(opcode, selectors)
    return vector(opcode, selectors) if base[-1] in "24" else scalar(opcode, selectors)


@pytest.mark.parametrize("base", sorted({opcode.partition(".")[0] for opcode, _ in INSTRUCTIONS}))
def test_every_form_with_some_selectors(base: str) -> None:
    source = random.Random(base)
    forms = [form for form in INSTRUCTIONS if form[0].partition(".")[0] == base]
    assert len(forms) > 20
    for opcode, selectors in forms:
        found = video(opcode, selectors)
        assert found is not None, (opcode, selectors)
        types = found.sources
        agree(found, reference(opcode, selectors), [bits_for(t, 40, source) for t in types], 40)
        agree(found, reference(opcode, selectors), [bits_for(t, 1, source)[0] for t in types], 3)
        agree(found, reference(opcode, selectors), [bits_for(types[0], 1, source)[0],
                                                  *(bits_for(t, 5, source) for t in types[1:])], 5)  # fmt: skip


def test_selectors_in_ptx() -> None:
    """A drawn part of the forms as instructions, with all operands in registers, on 32 lanes each."""
    source = random.Random("in PTX")
    forms = [*source.sample(INSTRUCTIONS, 60), ("vadd.s32.u32.s32.sat", ("h1", "b3", "", ""))]
    a, b, c = (np.array(bits_for("u32", 32, source), np.uint32) for _ in range(3))
    out = np.zeros((len(forms), 32), np.uint32)
    body = "mov.u32 %r1, %tid.x; mul.wide.u32 %rd5, %r1, 4;\n"
    body += "".join(f"add.u64 %rd6, %rd{i}, %rd5; ld.global.u32 %r{i + 10}, [%rd6];\n" for i in range(3))
    body += "add.u64 %rd6, %rd3, %rd5;\n"
    wanted = []
    for i, (opcode, selectors) in enumerate(forms):
        found = video(opcode, selectors)
        assert found is not None
        names = [f"%r{10 + k}" for k in range(len(found.sources))]
        operands = [spelled(name, s) for name, s in zip(["%r5", *names], selectors, strict=False)]
        body += f"{opcode} {', '.join(operands)}; st.global.u32 [%rd6+{128 * i}], %r5;\n"
        model = reference(opcode, selectors)
        given = (a, b, c)[: len(found.sources)]
        wanted.append([model(*map(int, row)) & WORD for row in zip(*given, strict=True)])
    run(body, a, b, c, out, block=32)
    assert (out == np.array(wanted, np.uint32)).all()


@pytest.mark.parametrize(
    "line",
    [
        "vadd.u32.u32.u32.add %r1.b0, %r2, %r3, %r4;",
        "vadd.u32.u32.u32.sat %r1, %r2, -%r3;",
        "vshr.u32.u32.u32 %r1, %r2, %r3;",
        "vshr.u32.u32.s32.clamp %r1, %r2, %r3;",
        "vset.u32.u32.lt.sat %r1, %r2, %r3;",
        "vmad.u32.u32.u32.po %r1, -%r2, %r3, %r4;",
        "vmad.u32.u32.u32.shr7.shr15 %r1, %r2, %r3, %r4;",
        "vadd2.u32.u32.u32.sat.add %r1, %r2, %r3, %r4;",
        "vadd2.u32.u32.u32 %r1.h01, %r2, %r3, %r4;",
        "vadd2.u32.u32.u32 %r1, %r2.b10, %r3, %r4;",
        "vadd4.u32.u32.u32 %r1, %r2.b9210, %r3, %r4;",
        "vset4.u32.u32 %r1, %r2, %r3, %r4;",
    ],
)
def test_forms_that_ptx_lacks(line: str) -> None:
    """The fault names the instruction."""
    found = fault("unsupported", f"mov.u32 %r2, 1; mov.u32 %r3, 1; mov.u32 %r4, 1; {line}")
    assert line.split()[0] in str(found)
