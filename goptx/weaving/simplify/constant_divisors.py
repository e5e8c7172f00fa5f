"""Divisions by a power of two become shifts: ptxas writes them out in full, as `x / warpSize` of CUDA C++.

Requires: a flow without regions. Ensures: every register that another instruction may read holds what it did.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from goptx.analysis.cfg import Code, Flow
from goptx.ptx.ir import Immediate, Instruction, Name, Operand
from goptx.weaving.shapes.scalar_code import Fresh
from goptx.weaving.simplify.definitions import Definitions

DIVISION = re.compile(r"(div|rem)\.([su])(32|64)")


def by_shifts(flow: Flow, fresh: Fresh) -> Flow:
    """The flow without divisions by powers of two; the same flow if there are none."""
    known = Definitions.in_flow(flow)
    if not any(_power(known, code) for code in flow.codes()):
        return flow
    return flow.with_code(lambda codes: (c for code in codes for c in _shifted(known, code, fresh)))


def _power(known: Definitions, code: Code) -> int | None:
    """The n > 0 if the code is a division by 2**n."""
    if not isinstance(code, Instruction) or not DIVISION.fullmatch(code.opcode):
        return None
    if not isinstance(code.operands[1], Name):
        return None
    n, bits = known.power(code.operands[2]), int(code.opcode[-2:])
    return n if n and n < bits - 1 else None


def _shifted(known: Definitions, code: Code, fresh: Fresh) -> Iterator[Code]:
    n = _power(known, code)
    if n is None or not isinstance(code, Instruction):
        yield code
        return
    name, kind, bits = DIVISION.fullmatch(code.opcode).groups()  # type: ignore[union-attr]
    result, top, _ = code.operands

    def last(opcode: str, *operands: Operand) -> Instruction:
        return replace(code, opcode=opcode, operands=(result, *operands))

    if kind == "u":
        yield last(f"shr.u{bits}", top, _whole(n)) if name == "div" else last(f"and.b{bits}", top, _whole((1 << n) - 1))
        return
    sign, more, raised, cut = (fresh.register(f".b{bits}") for _ in range(4))
    yield Instruction(f"shr.s{bits}", (sign, top, _whole(int(bits) - 1)))
    yield Instruction(f"shr.u{bits}", (more, sign, _whole(int(bits) - n)))
    yield Instruction(f"add.s{bits}", (raised, top, more))  # negative numbers are rounded towards zero
    if name == "div":
        yield last(f"shr.s{bits}", raised, _whole(n))
    else:
        yield Instruction(f"and.b{bits}", (cut, raised, _whole(-(1 << n))))
        yield last(f"sub.s{bits}", top, cut)


def _whole(n: int) -> Immediate:
    return Immediate(str(n))
