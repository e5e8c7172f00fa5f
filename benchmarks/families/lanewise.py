"""Cases for instructions that compute in each lane from that lane's values: integers, floats, conversions, moves.

Requires tests/ on the module path, for the lists of opcodes and for the bounds of the approximate ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from emulator import convert_opcodes, floating_opcodes, integer_opcodes, video_opcodes
from emulator.floating_opcodes import Bound
from families.comparison import FLOATS, element_of, numbers
from families.entry import WIDTHS, Case, Entry
from families.operands import FORMATS, operands

from goptx.emulator.floating.convert import convert
from goptx.emulator.floating.floating import floating
from goptx.emulator.instructions.lanewise import Array, Lanewise
from goptx.emulator.integer.integer import integer
from goptx.emulator.integer.video import video
from goptx.ptx.opcodes import facts_of

TABLES = (0x00, 0x80, 0xFE, 0x96, 0xE8, 0xCA, 0xB8, 0x1B, 0x6A, 0x3C, 0x0F, 0x55, 0x78, 0xD2, 0xFF)  # of lop3

# Operands that the ISA leaves open, made ones that it does not, by the opcode's first word: operand, and how.
DEFINED: dict[str, dict[int, Callable[[Array], Array]]] = {
    "div": {1: lambda b: np.where(b == 0, b.dtype.type(3), b)},
    "rem": {1: lambda b: np.where(b == 0, b.dtype.type(3), b)},
    "bfe": {1: lambda b: b & np.uint32(255), 2: lambda b: b & np.uint32(255)},
    "bfi": {2: lambda b: b & np.uint32(255), 3: lambda b: b & np.uint32(255)},
    "fns": {1: lambda b: b & np.uint32(31), 2: lambda n: np.where(n.view(np.uint32) == 1 << 31, n.dtype.type(0), n)},
}

KINDS = {
    "integer arithmetic": """add sub mul mad div rem abs neg min max sad mul24 mad24 dp4a dp2a""",
    "carries": "addc subc madc",
    "bits": "and or xor not cnot lop3 shl shr shf bfe bfi bmsk szext popc clz brev bfind fns prmt",
    "integer comparison": "setp set selp slct",
}


def found(opcode: str) -> Lanewise:
    lanewise = integer(opcode) or floating(opcode) or convert(opcode)
    if lanewise is None:
        raise ValueError(f"`{opcode}` is not known to the emulator")
    return lanewise


# one instruction ------------------------------------------------------------------------------------


def case(
    opcode: str,
    immediate: int | None = None,
    allowed: Callable[[Array], Array] | None = None,
    guarded: bool = False,
) -> Case:
    """The instruction on all its operands; `immediate` stands for the fourth (of `lop3`).

    guarded: some threads do not execute it; their registers must not change.
    """
    lanewise = found(opcode)
    types = lanewise.sources
    values = list(operands(tuple("pred" if t == "cc" else t for t in types)))
    if all(t not in FORMATS for t in types):
        for place, change in DEFINED.get(opcode.split(".")[0], {}).items():
            values[place] = change(values[place])
    entry = Entry(opcode if immediate is None else f"{opcode} {immediate:#04x}", len(values[0]) // 256)
    read = [
        f"{immediate:#x}" if i == 3 and immediate is not None else entry.read(v, "pred" if t in ("pred", "cc") else "")
        for i, (t, v) in enumerate(zip(types, values, strict=True))
    ]
    borrows = "sub" in opcode
    if types[-1] == "cc":
        _set_carry(entry, read.pop(), borrows)
    plain = [t for t in lanewise.results if t != "cc"]
    if opcode.startswith("setp") and types[0] in ("f16", "bf16"):
        plain.pop()  # ptxas takes one predicate only
    targets = [_held(entry, _register(t), i) if guarded else entry.new(_register(t)) for i, t in enumerate(plain)]
    guard = f"@{_held(entry, 'pred', len(plain))} " if guarded else ""
    entry.line(f"{guard}{opcode} {'|'.join(targets)}, {', '.join(read)};")
    if "cc" in lanewise.results and not guarded:  # a thread that does not execute it leaves the flag undefined
        _write_carry(entry, borrows)
    for t, target in zip(plain, targets, strict=True):
        entry.write(target, _register(t), t if t in FLOATS else "bits", allowed=allowed)
    return entry.case()


def _register(type_: str) -> str:
    if type_ == "pred":
        return "pred"
    return {"u8": "b32", "s8": "b32"}.get(type_) or f"b{8 * element_of(type_)}"


def _held(entry: Entry, type_: str, seed: int) -> str:
    """A register that holds random bits."""
    width = np.dtype(f"u{1 if type_ == 'pred' else WIDTHS[type_]}")
    bits = np.random.default_rng(seed).integers(0, 2 if type_ == "pred" else np.iinfo(width).max, entry.threads, width)
    return entry.read(bits.astype(np.uint32) if type_ == "pred" else bits, "pred" if type_ == "pred" else "")


def _set_carry(entry: Entry, predicate: str, borrows: bool) -> None:
    """The flag as a chain of the same kind has it."""
    given, nothing = entry.new("b32"), entry.new("b32")
    entry.line(f"selp.b32 {given}, 1, 0, {predicate};")
    entry.line(f"sub.cc.u32 {nothing}, 0, {given};" if borrows else f"add.cc.u32 {nothing}, {given}, 0xffffffff;")


def _write_carry(entry: Entry, borrows: bool) -> None:
    flag = entry.new("b32")
    entry.line(f"{'subc' if borrows else 'addc'}.u32 {flag}, 0, 0;")
    entry.write(flag)


# families -------------------------------------------------------------------------------------------


def integers(kind: str) -> list[Case]:
    """Of one of `KINDS`; `add.cc` and the like go with `addc`."""
    bases = KINDS[kind].split()
    cases: list[Case] = []
    for opcode in integer_opcodes.OPCODES:
        words = opcode.split(".")
        base = f"{words[0].removesuffix('c')}c" if "cc" in words else words[0]
        if base in bases:
            cases += [case(opcode, table) for table in (TABLES if base == "lop3" else (None,))]
    return cases + (_mixed_carries() if kind == "carries" else [])


def _mixed_carries() -> list[Case]:
    """Additions after subtractions, and the other way round."""
    cases = []
    for first, second in (("sub.cc", "addc"), ("add.cc", "subc"), ("sub.cc", "madc.lo"), ("mad.lo.cc", "subc")):
        entry = Entry(f"{first}.u32, {second}.u32")
        a, b, c = (entry.read(v) for v in operands(("u32",) * 3))
        low, high = entry.new("b32"), entry.new("b32")
        entry.line(
            f"{first}.u32 {low}, {a}, {b}{f', {c}' if 'mad' in first else ''};",
            f"{second}.u32 {high}, {b}, {c}{f', {a}' if 'mad' in second else ''};",
        )
        entry.write(low)
        entry.write(high)
        cases.append(entry.case())
    return cases


def videos() -> list[Case]:
    """With selectors; operands of few bits where ptxas 13.0 expands the instruction into something else than the manual
    has: sums of words, and products of words."""
    cases = []
    for opcode, selectors in video_opcodes.INSTRUCTIONS:
        lanewise = video(opcode, selectors)
        assert lanewise is not None
        values = [v & np.uint32(0x7FFF) if _is_scalar(opcode) else v for v in operands(lanewise.sources)]
        entry = Entry(f"{opcode} {' '.join(s or '-' for s in selectors)}", len(values[0]) // 256)
        given = [entry.read(v) for v in values]
        target = entry.new("b32")
        named = [video_opcodes.spelled(r, s) for r, s in zip([target, *given], selectors, strict=False)]
        entry.line(f"{opcode} {', '.join(named)};")
        entry.write(target)
        cases.append(entry.case())
    return cases


def _is_scalar(opcode: str) -> bool:
    return opcode.split(".")[0][-1] not in "24"


def floats(opcodes: Sequence[str]) -> list[Case]:
    return [case(opcode) for opcode in opcodes]


def conversions() -> list[Case]:
    return [case(opcode) for opcode in convert_opcodes.OPCODES]


def approximations() -> list[Case]:
    return [case(o, allowed=_allowed(o, bounds)) for o, bounds in floating_opcodes.APPROXIMATE.items()]


def _allowed(opcode: str, bounds: tuple[Bound, ...]) -> Callable[[Array], Array]:
    """What the ISA allows around the exact result, and half a unit more, since the emulator's is rounded."""
    lanewise = found(opcode)
    format = lanewise.results[0].removesuffix("x2")
    mantissa = FORMATS[format][1]
    smallest = 2.0 ** (2 - (1 << FORMATS[format][0] - 1))
    flushed = smallest if "ftz" in opcode else smallest * 2.0**-mantissa

    def allowed(right: Array) -> Array:
        size = np.abs(numbers(operands(lanewise.sources)[-1], lanewise.sources[-1]))
        unit = np.ldexp(1.0, np.maximum(np.frexp(right)[1] - 1, np.frexp(smallest)[1] - 1) - mantissa)
        permitted = np.full(right.shape, np.nan)
        for bound in bounds:
            scale = {"abs": np.ones_like(right), "rel": np.abs(right), "ulp": unit}[bound.kind]
            within = (size >= bound.lowest) & (size <= bound.highest)
            permitted = np.where(within, bound.value * scale + unit / 2, permitted)
        near_zero = np.abs(right) <= smallest * (1 + 2.0**-10)
        return np.where(near_zero, np.maximum(permitted, flushed * (1 + 2.0**-10)), permitted)

    return allowed


def guarded() -> list[Case]:
    """All that the assembler keeps a guard of; of `lop3` with one table."""
    bounds = floating_opcodes.APPROXIMATE
    plain = [*integer_opcodes.OPCODES, *floating_opcodes.ARITHMETIC, *floating_opcodes.UNROUNDED]
    plain += [*floating_opcodes.COMPARING, *convert_opcodes.OPCODES]
    return [
        case(o, TABLES[3] if o.startswith("lop3") else None, guarded=True) for o in plain if facts_of(o).row.guardable
    ] + [case(o, allowed=_allowed(o, bounds[o]), guarded=True) for o in bounds]


def moves() -> list[Case]:
    """`mov` between registers and their parts, immediates, and the registers that the hardware sets."""
    cases = []
    for whole, part, count in (("b32", "b16", 2), ("b64", "b32", 2), ("b64", "b16", 4), ("b128", "b64", 2)):
        entry = Entry(f"mov.{whole}, {count} of .{part}")
        values = operands((part if part != "b16" else "b32",) * count)
        given = ", ".join(entry.read(v.astype(f"u{int(part[1:]) // 8}")) for v in values)
        packed, parts = entry.new(whole), entry.vector(part, count)
        entry.line(f"mov.{whole} {packed}, {{{given}}};", f"mov.{whole} {parts}, {packed};")
        if whole != "b128":
            entry.write(packed, whole)
        entry.writes(parts, part)
        cases.append(entry.case())
    entry = Entry("mov, immediates")
    for type_, value in (("b16", "-2"), ("s32", "-2147483648"), ("u32", "0xfedcba98"), ("b64", "0x123456789abcdef0"),
                         ("f32", "0f7F800001"), ("f32", "1.5"), ("f64", "0dBFF0000000000001"), ("f64", "-0.1"),
                         ("s64", "-5"), ("u16", "65535")):  # fmt: skip
        register = entry.new(type_)
        entry.line(f"mov.{type_} {register}, {value};")
        entry.write(register, f"b{type_[1:]}")
    cases.append(entry.case())
    entry = Entry("mov, special registers", 5, 96)
    names = "%tid.x %tid.y %ntid.x %ntid.z %ctaid.x %ctaid.z %nctaid.x %nctaid.y %laneid %lanemask_eq %lanemask_le"
    for name in f"{names} %lanemask_lt %lanemask_ge %lanemask_gt %clusterid.x %nclusterid.x %cluster_ctarank".split():
        register = entry.new("b32")
        entry.line(f"mov.u32 {register}, {name};")
        entry.write(register)
    cases.append(entry.case())
    return cases
