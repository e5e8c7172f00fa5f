"""Comparisons of quotients become comparisons of products: `if (i / width >= height) return;` needs no division.

A division of 32 bits takes some 25 instructions, four of them in the slow unit of conversions and reciprocals. What
takes its place takes about twelve, of which all but four are one for the warp and so run in the uniform data path.

With unsigned numbers, t / s >= h where t >= h * s, and t / s > h where t >= h * s + s, in 64 bits. With signed numbers
t / s = t' / a for a = |s| and t' = t, or t' = -t where s < 0. Rounded towards zero,

    t' / a >= h    where    t' >= h * a                for h > 0,     t' > (h - 1) * a,  t' >= h * a + (1 - a)   else;
    t' / a >  h    where    t' >= h * a + a            for h >= 0,    t' > h * a,        t' >= h * a + 1         else.

|s| may be 2**31, but -|s| is a number of 32 bits. So both sides change their sign: with n = -a,

    t' / a >= h    where    -t' <= h * n + (0 if h > 0 else -1 - n),
    t' / a >  h    where    -t' <= h * n + (n if h >= 0 else -1).

All products fit in 64 bits. PTX leaves a quotient by zero unspecified; -2**31 / -1 is no number of 32 bits.

Where a quotient is multiplied by 2**k before it is compared, and cannot overflow then because what was divided had been
shifted right by more than k bits, 2**k * q > m where q > floor(m / 2**k), and 2**k * q >= m where 2**k * q > m - 1.

Requires: a flow without regions. Ensures: every register that another instruction may read holds what it did.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from goptx.analysis.cfg import Block, Code, Flow
from goptx.analysis.dataflow import written
from goptx.ptx.ir import Immediate, Instruction, Name, Operand, Vector
from goptx.weaving.shapes.scalar_code import Fresh
from goptx.weaving.simplify.definitions import Definitions
from goptx.weaving.simplify.sink import can_wait, early_ends

_COMPARISON = re.compile(r"setp\.(lt|le|gt|ge|lo|ls|hi|hs)((?:\.(?:and|or|xor))?)\.([su])32")
_QUOTIENTS = {kind: re.compile(rf"div\.{kind}32") for kind in "su"}
_SHIFT = re.compile(r"shr\.s32")
_SCALES: Mapping[str, Callable[[Definitions, Operand], int | None]] = {  # the k of a multiplication by 2**k
    "shl.b32": Definitions.number, "mul.lo.s32": Definitions.power, "mul.lo.u32": Definitions.power,
}  # fmt: skip
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
_LEAST = 1 - 2**31


@dataclass(frozen=True, slots=True)
class _Guard:
    """A comparison `top / bottom RELATION limit`; `scale` is the k if the quotient is multiplied by 2**k. `joined` is
    how the result is combined with another predicate, such as ".and"."""

    comparison: Instruction
    relation: str
    joined: str
    signed: bool
    top: Name
    bottom: Name
    limit: Name
    division: Instruction
    scale: int = 0

    def saves(self, known: Definitions) -> bool:
        """Whether nothing else needs the quotient."""
        quotient, operands = str(self.division.operands[0]), self.comparison.operands[1:3]
        compared = {str(operand) for operand in operands} - {self.limit.text}
        return all(known.uses[register] == 1 for register in {quotient, *compared})

    def compared(self, relation: str, kind: str, one: Name, other: Name) -> Instruction:
        """The comparison with another relation and other numbers."""
        result, _, _, *rest = self.comparison.operands
        opcode = f"setp.{relation}{self.joined}.{kind}"
        return replace(self.comparison, opcode=opcode, operands=(result, one, other, *rest))


def by_products(flow: Flow, fresh: Fresh, is_long: bool = False) -> Flow:
    """The flow with these comparisons where they take the place of divisions; the same flow if there are none.
    `is_long`: a dozen instructions more do not count for threads that do not end early. Then also where only these need
    the quotient, which divide after the comparison."""
    known, early = Definitions.in_flow(flow), dict(early_ends(flow)) if is_long else {}
    found = {n: guards for n, block in flow.blocks.items() if (guards := _guards(known, block, n in early))}
    if not found:
        return flow
    blocks = {n: _rewritten(block, found[n], fresh) if n in found else block for n, block in flow.blocks.items()}
    return replace(flow, blocks=blocks)


def _guards(known: Definitions, block: Block, is_early_end: bool) -> dict[int, _Guard]:
    """By their places in the block: those by which a division is saved, or at least for threads that end early."""
    guards = ((place, _guard(known, block, place)) for place in range(len(block.code)))
    found = {place: guard for place, guard in guards if guard}
    rest = replace(block, code=tuple(code for place, code in enumerate(block.code) if place not in found))
    return {
        p: guard
        for p, guard in found.items()
        if guard.saves(known) or (is_early_end and can_wait(rest, guard.division))
    }


def _guard(known: Definitions, block: Block, place: int) -> _Guard | None:
    """The comparison at that place, if it is one of a quotient that is computed in the same block."""
    code = block.code[place]
    matched = _COMPARISON.fullmatch(code.opcode) if isinstance(code, Instruction) else None
    if matched is None or not isinstance(code, Instruction):
        return None
    relation, joined, kind = matched.groups()
    relation = _UNSIGNED.get(relation, relation)
    for own, other in ((1, 2), (2, 1)):
        scale, chain = _quotient(known, code.operands[own], kind)
        limit = code.operands[other]
        if not chain or not isinstance(limit, Name):
            continue
        top, bottom = chain[0].operands[1:]
        if not isinstance(top, Name) or not isinstance(bottom, Name) or known.number(bottom) is not None:
            continue
        if _is_special(known, bottom) or not _still_there(block, chain, place, {top.text, bottom.text}):
            continue
        if scale and not (kind == "s" and _is_below(known, top, scale)):
            continue
        wanted = relation if own == 1 else _MIRRORED[relation]
        return _Guard(code, wanted, joined, kind == "s", top, bottom, limit, chain[0], scale)
    return None


def _quotient(known: Definitions, operand: Operand, kind: str) -> tuple[int, tuple[Instruction, ...]]:
    """The division of this kind that gives an operand, if there is one; and if its quotient is multiplied by 2**k
    before, that instruction, too, and the k."""
    found, scale, after = _definition(known, operand), 0, tuple[Instruction, ...]()
    if found and (scale_of := _SCALES.get(found.opcode)):
        scale, after = scale_of(known, found.operands[2]) or 0, (found,)
        found = _definition(known, found.operands[1]) if 0 < scale < 31 else None
    return (scale, (found, *after)) if found and _QUOTIENTS[kind].fullmatch(found.opcode) else (0, ())


def _definition(known: Definitions, operand: Operand) -> Instruction | None:
    return known.of.get(operand.text) if isinstance(operand, Name) else None


def _is_below(known: Definitions, top: Name, scale: int) -> bool:
    """Whether a signed number was shifted right by more than `scale` bits."""
    shift = _definition(known, top)
    by = known.number(shift.operands[2]) if shift and _SHIFT.fullmatch(shift.opcode) else None
    return by is not None and scale < by < 32


def _is_special(known: Definitions, bottom: Name) -> bool:
    """Whether a register holds a special one, such as %ntid.x: what is computed of those alone is known by launches."""
    found = known.of.get(bottom.text)
    sources = found.operands[1:] if found and len(found.operands) == 2 else (bottom,)
    return any(isinstance(s, Name) and s.text.startswith("%") and "." in s.text for s in sources)


def _still_there(block: Block, chain: Sequence[Instruction], place: int, registers: set[str]) -> bool:
    """Whether these instructions stand before that place in the block, in their order, and what the first of them
    reads still is what it has read."""
    left = list(chain)
    for code in reversed(block.code[:place]):
        if registers & written(code):
            return False
        if code is left[-1]:
            left.pop()
            if not left:
                return True
    return False


def _rewritten(block: Block, guards: Mapping[int, _Guard], fresh: Fresh) -> Block:
    code: list[Code] = []
    for place, item in enumerate(block.code):
        code += _compared(guards[place], fresh) if place in guards else [item]
    return replace(block, code=tuple(code))


def _compared(guard: _Guard, fresh: Fresh) -> Iterator[Instruction]:
    """The comparison without a division."""
    limit, relation = guard.limit, guard.relation
    if guard.scale:
        lower = guard.limit
        if relation in ("ge", "lt"):
            least, lower = fresh.register(".b32"), fresh.register(".b32")
            yield Instruction("max.s32", (least, guard.limit, _whole(_LEAST)))
            yield Instruction("add.s32", (lower, least, _whole(-1)))
            relation = {"ge": "gt", "lt": "le"}[relation]
        limit = fresh.register(".b32")
        yield Instruction("shr.s32", (limit, lower, _whole(guard.scale)))
    strict, holds = relation in ("gt", "le"), relation in ("ge", "gt")
    made = _signed if guard.signed else _unsigned
    yield from made(guard, limit, strict, holds, fresh)


def _signed(guard: _Guard, limit: Name, strict: bool, holds: bool, fresh: Fresh) -> Iterator[Instruction]:
    sign, flipped, negative, positive, factor, more = (fresh.register(".b32") for _ in range(6))
    wide_more, product, bound, wide_top = (fresh.register(".b64") for _ in range(4))
    above = fresh.register(".pred")
    yield Instruction("shr.s32", (sign, guard.bottom, _whole(31)))
    yield Instruction("xor.b32", (flipped, guard.bottom, sign))
    yield Instruction("sub.s32", (negative, sign, flipped))
    yield Instruction("not.b32", (positive, sign))
    yield Instruction("or.b32", (factor, positive, _whole(1)))
    yield Instruction("setp.lt.s32", (above, limit, _whole(0 if strict else 1)))
    if strict:
        yield Instruction("selp.b32", (more, _whole(-1), negative, above))
    else:
        less = fresh.register(".b32")
        yield Instruction("not.b32", (less, negative))
        yield Instruction("selp.b32", (more, less, _whole(0), above))
    yield Instruction("cvt.s64.s32", (wide_more, more))
    yield Instruction("mul.wide.s32", (product, limit, negative))
    yield Instruction("add.s64", (bound, product, wide_more))
    yield Instruction("mul.wide.s32", (wide_top, guard.top, factor))
    yield guard.compared("le" if holds else "gt", "s64", wide_top, bound)


def _unsigned(guard: _Guard, limit: Name, strict: bool, holds: bool, fresh: Fresh) -> Iterator[Instruction]:
    wide_top, bound = fresh.register(".b64"), fresh.register(".b64")
    yield Instruction("mov.b64", (wide_top, Vector((guard.top, _whole(0)))))
    yield Instruction("mul.wide.u32", (bound, limit, guard.bottom))
    if strict:
        wide_bottom, product = fresh.register(".b64"), bound
        bound = fresh.register(".b64")
        yield Instruction("mov.b64", (wide_bottom, Vector((guard.bottom, _whole(0)))))
        yield Instruction("add.u64", (bound, product, wide_bottom))
    yield guard.compared("ge" if holds else "lt", "u64", wide_top, bound)


def _whole(n: int) -> Immediate:
    return Immediate(str(n))
