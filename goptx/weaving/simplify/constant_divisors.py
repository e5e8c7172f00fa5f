"""Divisions by a power of two become shifts: ptxas writes them out in full, as `x / warpSize` of CUDA C++.

Requires: a flow without regions. Ensures: every register that another instruction may read holds what it did.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace

from goptx.analysis.cfg import Code, Flow
from goptx.ptx.ir import Immediate, Instruction, Name, Operand
from goptx.weaving.shapes.scalar_code import Fresh
from goptx.weaving.simplify.definitions import DIVISION, Definitions


def by_shifts(flow: Flow, fresh: Fresh) -> Flow:
    """The flow without divisions by powers of two; the same flow if there are none."""
    known = Definitions.in_flow(flow)
    changed = flow.with_code(lambda codes: (c for code in codes for c in _shifted(known, code, fresh)))
    return flow if changed == flow else changed


def _shifted(known: Definitions, code: Code, fresh: Fresh) -> Iterator[Code]:
    """What computes the same; itself if it is not a division by 2**n with n > 0."""
    form = DIVISION.fullmatch(code.opcode) if isinstance(code, Instruction) else None
    if form is None or not isinstance(code, Instruction) or not isinstance(code.operands[1], Name):
        yield code
        return
    n, bits = known.power(code.operands[2]), int(form["bits"])
    if n and n < bits - 1:
        yield from _FORMS[form["name"] + form["kind"]](code, n, bits, fresh)
    else:
        yield code


def _unsigned_quotient(code: Instruction, n: int, bits: int, _: Fresh) -> Iterator[Instruction]:
    yield _last(code, f"shr.u{bits}", code.operands[1], _whole(n))


def _unsigned_remainder(code: Instruction, n: int, bits: int, _: Fresh) -> Iterator[Instruction]:
    yield _last(code, f"and.b{bits}", code.operands[1], _whole((1 << n) - 1))


def _signed_quotient(code: Instruction, n: int, bits: int, fresh: Fresh) -> Iterator[Instruction]:
    raised = yield from _raised(code.operands[1], n, bits, fresh)
    yield _last(code, f"shr.s{bits}", raised, _whole(n))


def _signed_remainder(code: Instruction, n: int, bits: int, fresh: Fresh) -> Iterator[Instruction]:
    raised, cut = (yield from _raised(code.operands[1], n, bits, fresh)), fresh.register(f".b{bits}")
    yield Instruction(f"and.b{bits}", (cut, raised, _whole(-(1 << n))))
    yield _last(code, f"sub.s{bits}", code.operands[1], cut)


def _raised(top: Operand, n: int, bits: int, fresh: Fresh) -> Generator[Instruction, None, Name]:
    """A number plus 2**n - 1 if it is negative: negative numbers are rounded towards zero."""
    sign, more, raised = (fresh.register(f".b{bits}") for _ in range(3))
    yield Instruction(f"shr.s{bits}", (sign, top, _whole(bits - 1)))
    yield Instruction(f"shr.u{bits}", (more, sign, _whole(bits - n)))
    yield Instruction(f"add.s{bits}", (raised, top, more))
    return raised


def _last(code: Instruction, opcode: str, *operands: Operand) -> Instruction:
    """What writes the result, under the guard of the division."""
    return replace(code, opcode=opcode, operands=(code.operands[0], *operands))


def _whole(n: int) -> Immediate:
    return Immediate(str(n))


_FORMS = {
    "divu": _unsigned_quotient, "remu": _unsigned_remainder, "divs": _signed_quotient, "rems": _signed_remainder,
}  # fmt: skip
