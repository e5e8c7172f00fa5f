"""How often a warp executes each block of a kernel, as far as its code determines it.

Requires: a flow without regions. A loop that steps by the size of the grid iterates once (it is there for grids that
are too small); one that counts from one constant to another has that trip count; any other iterates ten times, as
elsewhere in goptx (latency/cost.py). Both sides of a branch count: which threads end early is not known.
"""

from __future__ import annotations

from collections.abc import Collection

from goptx.analysis.cfg import Flow, loops
from goptx.analysis.dataflow import read, written
from goptx.ptx.ir import Immediate, Instruction, Operand, whole_number
from goptx.ptx.opcodes import facts_of

UNKNOWN = 10.0


def trips(flow: Flow) -> tuple[dict[str, float], int]:
    """How often each block is executed, and the deepest nest of loops with unknown trip counts."""
    found = dict.fromkeys(flow.blocks, 1.0)
    unknown = dict.fromkeys(flow.blocks, 0)
    sizes = _from_sizes(flow)
    for body in loops(flow).values():
        times = _times(flow, body, sizes)
        for name in body:
            found[name] *= times or UNKNOWN
            unknown[name] += times is None
    return found, max(unknown.values())


def _from_sizes(flow: Flow) -> set[str]:
    """Registers that are computed from the size of the grid."""
    found: set[str] = set()
    code = list(flow.instructions())
    while more := {
        register
        for i in code if any(n in found or n.startswith("%nctaid") for n in read(i))
        for register in written(i) - found
    }:  # fmt: skip
        found |= more
    return found


def _times(flow: Flow, body: Collection[str], sizes: Collection[str]) -> float | None:
    inside = [i for name in body for i in flow.blocks[name].instructions()]
    changed = {register for i in inside for register in written(i)}
    for step in inside:
        if facts_of(step.opcode).adds and written(step) & read(step):
            if any(n in sizes and n not in changed for n in read(step)):
                return 1.0
            if (count := _counted(flow, body, inside, step)) is not None:
                return count
    return None


def _counted(flow: Flow, body: Collection[str], inside: Collection[Instruction], step: Instruction) -> float | None:
    """The trip count of a loop whose counter `step` takes from one constant to another; None if that is unknown."""
    (counter,) = written(step)
    first = [
        _number(i.operands[1])
        for name, block in flow.blocks.items() if name not in body
        for i in block.instructions() if counter in written(i) and facts_of(i.opcode).moves
    ]  # fmt: skip
    last = [_number(i.operands[-1]) for i in inside if facts_of(i.opcode).compares and counter in read(i)]
    by = _number(step.operands[-1])
    if len(first) != 1 or len(last) != 1 or first[0] is None or last[0] is None or not by:
        return None
    return max(abs(last[0] - first[0]) / abs(by), 1.0)


def _number(operand: Operand) -> int | None:
    if not isinstance(operand, Immediate):
        return None
    digits = operand.text.lstrip("-")
    try:
        return whole_number(digits) * (-1 if digits != operand.text else 1)
    except ValueError:
        return None
