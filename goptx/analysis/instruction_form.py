"""Refuses instructions that no assembler takes, before analyses rely on their form: too few or too many operands,
undeclared registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from goptx.errors import InputError
from goptx.ptx.flatten import FlatBody, numbered
from goptx.ptx.ir import Declaration, Instruction, Label, Registers
from goptx.ptx.opcodes import facts_of
from goptx.ptx.verify import SPECIAL
from goptx.ptx.walk import named_by, statements_in

# The fewest and the most operands of opcodes by their first word, as the PTX ISA has them. A list in braces or brackets
# is one operand, as is a pair `%p1|%p2`.
_COUNTS: Mapping[str, tuple[int, int]] = {
    **dict.fromkeys("bra activemask prefetch prefetchu".split(), (1, 1)),
    **dict.fromkeys(
        "abs neg not cnot cvta popc clz brev bfind rcp sqrt rsqrt sin cos lg2 ex2 tanh mov".split(), (2, 2)
    ),
    **dict.fromkeys("isspacep testp ldu brx".split(), (2, 2)),
    **dict.fromkeys("ld st red vote".split(), (2, 3)),
    **dict.fromkeys("add sub mul mul24 div rem and or xor shl shr copysign addc subc bmsk szext".split(), (3, 3)),
    **dict.fromkeys("match redux".split(), (3, 3)),
    **dict.fromkeys("min max set setp".split(), (3, 4)),
    **dict.fromkeys("mad mad24 fma madc sad selp slct bfe prmt shf dp2a dp4a".split(), (4, 4)),
    "cvt": (2, 4),
    "atom": (3, 5),
    "shfl": (4, 5),
    "bfi": (5, 5),
    "lop3": (5, 6),
}


def refuse_malformed(body: FlatBody, outside: Iterable[str], describe: Callable[[Instruction], str]) -> None:
    """`outside`: the names declared outside of the body. `describe` gives the file, line and text of an instruction.
    Raises `InputError` for the first malformed one."""
    code = [s for s in statements_in(body.code) if isinstance(s, Instruction)]
    for instruction in code:
        least, most = _COUNTS.get(facts_of(instruction.opcode).base, (0, 1000))
        if not least <= len(instruction.operands) <= most:
            right = f"{least}" if least == most else f"{least} to {most}"
            raise InputError(
                f"{describe(instruction)} has {len(instruction.operands)} operands instead of {right}; assemble the "
                "file to see what else is wrong."
            )
    unknown = {n for i in code for n in _registers(i)} - SPECIAL
    labels = {s.name for s in body.code if isinstance(s, Label)}
    for name in sorted(unknown - _declared(body, unknown) - labels - set(outside)):
        first = next(i for i in code if name in _registers(i))
        if not name.startswith(("%envreg", "%pm", "%lanemask")):
            raise InputError(f"{describe(first)} uses `{name}`, which is not declared; declare it with `.reg`.")


def _registers(instruction: Instruction) -> set[str]:
    """The names in an instruction that begin with `%`, as those of registers do."""
    names = [n.partition(".")[0] for n in named_by(instruction) if n[0] == "%"]
    if instruction.guard and instruction.guard.predicate.text[0] == "%":
        names.append(instruction.guard.predicate.text.partition(".")[0])
    return set(names)


def _declared(body: FlatBody, names: Iterable[str]) -> set[str]:
    """Those of the names that the body declares."""
    inside = list(statements_in(body.code))  # calls remain in braces, with declarations of their own
    registers = [*body.registers, *(s for s in inside if isinstance(s, Registers))]
    variables = {d.variable.name for d in (*body.variables, *inside) if isinstance(d, Declaration)}
    counts = {name: count for each in registers for name, count in each.names}

    def is_declared(name: str) -> bool:
        if name in variables or counts.get(name, 0) is None:
            return True
        return any(number < (counts.get(stem) or 0) and f"{stem}{number}" == name for stem, number in numbered(name))

    return {name for name in names if is_declared(name)}
