"""Which registers and branches are the same for all threads of a CTA or a warp.

Requires: a flow. Everything not listed here is divergent (design.md, "A way that meets the contract").
PTX registers are not SSA, so a register written under divergent control is divergent everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from goptx.analysis.cfg import Branch, Code, End, Flow, Switch, closure, controls
from goptx.analysis.dataflow import read, register_of, written
from goptx.ptx.ir import Immediate, Instruction, Scope
from goptx.ptx.opcodes import Facts, facts_of


class Uniformity(IntEnum):
    """How alike the threads' values are. `DATA` came from memory, so only the input decides."""

    CTA = 0
    WARP = 1
    DATA = 2
    DIVERGENT = 3


_DIVERGENT_REGISTERS = ("%tid", "%laneid", "%lanemask", "%clock", "%globaltimer", "%warpid", "%smid", "%pm")
_WHOLE_WARP = ("31", "0x1f", "0x1F")  # how a shuffle says that its segment is the warp
ALL_LANES = ("-1", "0xffffffff", "0xFFFFFFFF", "4294967295")


@dataclass(frozen=True, slots=True)
class Uniform:
    """The result: uniformity of each register, and of the branch that ends each block."""

    registers: dict[str, Uniformity]
    branches: dict[str, Uniformity]

    def of(self, name: str) -> Uniformity:
        return _value_of(self.registers, register_of(name))


def uniformity(flow: Flow) -> Uniform:
    """Fixpoint over registers and the control dependence of their definitions."""
    controlled = controls(flow)
    all_controls = {name: closure([name], controlled) for name in flow.blocks}
    registers: dict[str, Uniformity] = {}
    branches: dict[str, Uniformity] = dict.fromkeys(flow.blocks, Uniformity.CTA)
    definitions = {
        name: [(code, writes, read(code)) for code in block.code if (writes := written(code))]
        for name, block in flow.blocks.items()
    }
    for block in flow.blocks.values():  # what a region writes depends on the ways its lanes took
        for instruction in block.instructions() if block.region else ():
            registers.update(dict.fromkeys(written(instruction), Uniformity.DIVERGENT))
    changed = True
    while changed:
        changed = False
        for name, defined in definitions.items():
            control = max((branches[c] for c in all_controls[name]), default=Uniformity.CTA)
            for code, writes, reads in defined:
                known = min(registers.get(register, Uniformity.CTA) for register in writes)
                if known == Uniformity.DIVERGENT:
                    continue
                values = max((_value_of(registers, r) for r in reads), default=Uniformity.CTA)
                result = max(control, _result(code, values, control))
                if known < result:
                    registers.update({r: max(result, registers.get(r, Uniformity.CTA)) for r in writes})
                    changed = True
        for name, block in flow.blocks.items():
            result = _end(registers, block.end)
            if branches[name] < result:
                branches[name] = result
                changed = True
    return Uniform(registers, branches)


def _end(registers: dict[str, Uniformity], end: End) -> Uniformity:
    value = max((_value_of(registers, register_of(r)) for r in end.reads()), default=Uniformity.CTA)
    # `.uni` promises that the active lanes agree: enough for the warp, never for the CTA.
    if isinstance(end, Branch | Switch) and end.uniform:
        value = min(value, Uniformity.WARP)
    return value


def _value_of(registers: dict[str, Uniformity], name: str) -> Uniformity:
    if name.startswith(_DIVERGENT_REGISTERS) and name not in registers:
        return Uniformity.DIVERGENT
    return registers.get(name, Uniformity.CTA)


def _result(code: Code, values: Uniformity, control: Uniformity) -> Uniformity:
    """Uniformity of what an instruction writes, from that of what it reads."""
    if isinstance(code, Scope):
        return Uniformity.DIVERGENT
    facts = facts_of(code.opcode)
    if not facts.known:
        return Uniformity.DIVERGENT
    if facts.base in ("vote", "redux", "match", "shfl", "elect", "activemask"):
        return _warp_result(code, facts, values, control)
    if facts.barrier and facts.row.writes:  # a count lets groups of threads have results of their own
        shared = code.guard is None and len(code.operands) <= 3
        return control if shared else Uniformity.DIVERGENT
    if facts.base in ("atom", "call") or facts.space == "local":
        return Uniformity.DIVERGENT
    if facts.row.access and not _constant_load(code, facts):
        return max(values, Uniformity.DATA)
    return values


def _constant_load(code: Instruction, facts: Facts) -> bool:
    """A load that gives every thread the same value where the address is the same."""
    if facts.base != "ld" or facts.volatile:
        return False
    if facts.space == "param":
        return True
    return facts.space == "const" or "nc" in facts.modifiers


def _warp_result(code: Instruction, facts: Facts, values: Uniformity, control: Uniformity) -> Uniformity:
    full = bool(code.operands) and str(code.operands[-1]) in ALL_LANES and code.guard is None
    if not full or control > Uniformity.WARP:
        return Uniformity.DIVERGENT
    if facts.base == "redux" or (facts.base == "vote" and "sync" in facts.modifiers) or _from_one_lane(code, facts):
        return Uniformity.WARP
    return Uniformity.DIVERGENT


def _from_one_lane(code: Instruction, facts: Facts) -> bool:
    """A shuffle that gives all lanes of the warp the value of one."""
    if facts.base != "shfl" or not {"sync", "idx"} <= facts.modifiers:
        return False
    lane, segments = code.operands[2:4]
    return isinstance(lane, Immediate) and str(segments) in _WHOLE_WARP
