"""Which registers and branches are the same for all threads of a CTA or a warp.

Requires: a flow. Everything not listed here is divergent.
PTX registers are not SSA, so a register written under divergent control is divergent everywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from goptx.analysis.cfg import Code, Flow, controls
from goptx.analysis.dataflow import KNOWN, read, register_of, written
from goptx.analysis.terminators import Branch, Switch
from goptx.ptx.ir import Immediate, Instruction, Scope
from goptx.ptx.opcodes import Facts, facts_of


class Uniformity(IntEnum):
    """How far the values of threads agree.

    CTA: the same for all threads of the CTA. WARP_DATA: the same for all lanes of a warp; only the input decides
    whether other warps have the same. WARP: the same for all lanes of a warp, and known to depend on the warp's number.
    DATA: came from memory, so only the input decides. DIVERGENT: known to depend on the thread's number.
    """

    CTA = 0
    WARP_DATA = 1
    WARP = 2
    DATA = 3
    DIVERGENT = 4

    def joined(self, other: Uniformity) -> Uniformity:
        """The uniformity of a value that depends on both. One that depends on the warp and on data may differ within
        the warp, and not by the input alone."""
        return _JOINED[self][other]


def _join(one: Uniformity, other: Uniformity) -> Uniformity:
    return Uniformity.DIVERGENT if {one, other} == {Uniformity.WARP, Uniformity.DATA} else max(one, other)


_JOINED = [[_join(one, other) for other in Uniformity] for one in Uniformity]

_DIVERGENT_REGISTERS = ("%tid", "%laneid", "%lanemask", "%clock", "%globaltimer", "%warpid", "%smid", "%pm")
_WHOLE_WARP = ("31", "0x1f", "0x1F")  # a shuffle's clamp operand for a segment of the whole warp
ALL_LANES = ("-1", "0xffffffff", "0xFFFFFFFF", "4294967295")


@dataclass(frozen=True, slots=True)
class Uniform:
    """The result: the uniformity of each register, and of the branch that ends each block."""

    registers: dict[str, Uniformity]
    branches: dict[str, Uniformity]

    def of(self, name: str) -> Uniformity:
        name = register_of(name)
        special = name.startswith(_DIVERGENT_REGISTERS)
        return self.registers.get(name, Uniformity.DIVERGENT if special else Uniformity.CTA)


# Maps the uniformity of what a definition depends on to that of its result.
_Passes = tuple[Uniformity, Uniformity, Uniformity, Uniformity, Uniformity]
_CTA, _WARP_DATA, _WARP, _DATA, _DIVERGES = Uniformity
_AS_IT_IS: _Passes = (_CTA, _WARP_DATA, _WARP, _DATA, _DIVERGES)
_WARP_AT_MOST: _Passes = (_CTA, _WARP_DATA, _WARP, _WARP_DATA, _WARP)
_WHOLE_WARPS_ONLY: _Passes = (_CTA, _WARP_DATA, _WARP, _DIVERGES, _DIVERGES)

_Key = str | tuple[str, str]  # a register; ("branch", block); ("control", block), all that decides whether it runs


class _Rules:
    """The uniformity rules of all keys: a given value, joined with the values of its sources as `passes` maps them."""

    def __init__(self) -> None:
        self.least: dict[_Key, Uniformity] = {}
        self.sources: dict[_Key, dict[_Key, list[_Passes]]] = {}

    def define(
        self, keys: Iterable[_Key], least: Uniformity, sources: Collection[_Key] = (), passes: _Passes = _AS_IT_IS
    ) -> None:
        for key in keys:
            self.least[key] = self.least.get(key, Uniformity.CTA).joined(least)
            own = self.sources.setdefault(key, {})
            for source in sources:
                several = own.setdefault(source, [])
                if passes not in several:
                    several.append(passes)

    def solved(self) -> dict[_Key, Uniformity]:
        """The least values that obey all rules. A source that rises is joined to its readers alone, so each dependence
        is looked at as often as its source rises, at most four times, however many sources a key has."""
        values = dict(self.least)
        readers: dict[_Key, list[tuple[_Key, list[_Passes]]]] = {}
        for key, own in self.sources.items():
            for source, several in own.items():
                readers.setdefault(source, []).append((key, several))
        risen = [key for key, value in values.items() if value]
        while risen:
            source = risen.pop()
            value = values[source]
            for key, several in readers.get(source, ()):
                before = found = values[key]
                for passes in several:
                    found = found.joined(passes[value])
                if found != before:
                    values[key] = found
                    risen.append(key)
        return values


def uniformity(flow: Flow, controlled: Mapping[str, Collection[str]] | None = None) -> Uniform:
    """The uniformity of the registers and branches of a flow, by data and by control: by `controls`, unless given."""
    rules = _Rules()
    for name, deciders in (controls(flow) if controlled is None else controlled).items():
        above = [(what, decider) for decider in deciders for what in ("branch", "control")]
        rules.define([("control", name)], Uniformity.CTA, above)
    for name, block in flow.blocks.items():
        control = ("control", name)
        for code in block.code:
            writes, least, sources, of_values, of_control = _definition(code)
            if writes:
                rules.define(writes, least, sources, of_values)
                rules.define(writes, least, [control], of_control)
        for instruction in block.instructions() if block.region else ():
            # What a region writes depends on the branches that its lanes took.
            rules.define(written(instruction), Uniformity.DIVERGENT)
        # `.uni` promises that the active lanes agree: enough for the warp, never for the CTA.
        promised = isinstance(block.end, Branch | Switch) and block.end.uniform
        passes = _WARP_AT_MOST if promised else _AS_IT_IS
        rules.define([("branch", name)], Uniformity.CTA, [register_of(n) for n in block.end.reads()], passes)
    used = dict.fromkeys(source for its in rules.sources.values() for source in its)
    special = [key for key in used if isinstance(key, str) and key.startswith(_DIVERGENT_REGISTERS)]
    rules.define(special, Uniformity.DIVERGENT)
    values = rules.solved()
    registers = {key: value for key, value in values.items() if value and isinstance(key, str)}
    return Uniform(registers, {n: values.get(("branch", n), Uniformity.CTA) for n in flow.blocks})


@lru_cache(KNOWN)
def _definition(code: Code) -> tuple[frozenset[str], Uniformity, frozenset[str], _Passes, _Passes]:
    """What an instruction writes, how uniform that is at best, what it depends on, and the functions that map the
    uniformity of its sources, and of what decides whether it runs, to that of the result."""
    least, of_values, of_control = _rule(code)
    return written(code), least, read(code) if of_values else frozenset(), of_values or _AS_IT_IS, of_control


def _rule(code: Code) -> tuple[Uniformity, _Passes | None, _Passes]:
    """How uniform the results of an instruction are at best, and the functions that map the uniformity of its sources
    (None if they do not count), and of what decides whether it runs, to that of the result."""
    facts = facts_of(code.opcode) if isinstance(code, Instruction) else None
    if isinstance(code, Scope) or facts is None or not facts.known:
        return _DIVERGENT
    if facts.is_lane_exchange:
        if not _is_of_warp(code, facts):
            return _DIVERGENT
        counts = facts.reduces_lanes or facts.is_ballot  # the last warp may have fewer lanes
        return _WARP if counts else _WARP_DATA, _WARP_AT_MOST, _WHOLE_WARPS_ONLY
    if facts.barrier and facts.row.writes:  # with a count, groups of threads may have separate results
        shared = code.guard is None and len(code.operands) <= 3
        return (Uniformity.CTA, None, _AS_IT_IS) if shared else _DIVERGENT
    if facts.is_atomic or facts.calls or facts.space == "local":
        return _DIVERGENT
    if facts.row.access and not is_constant_load(code, facts):
        return Uniformity.DATA, _AS_IT_IS, _AS_IT_IS
    return Uniformity.CTA, _AS_IT_IS, _AS_IT_IS


_DIVERGENT = (Uniformity.DIVERGENT, None, _AS_IT_IS)


def is_constant_load(code: Instruction, facts: Facts) -> bool:
    """Whether it is a load that gives every thread the same value where the address is the same."""
    if not facts.only_loads_element or facts.volatile:
        return False
    if facts.space == "param":
        return True
    return facts.space == "const" or "nc" in facts.modifiers


def _is_of_warp(code: Instruction, facts: Facts) -> bool:
    """Whether it gives all lanes of the warp the same value where whole warps execute it."""
    full = bool(code.operands) and str(code.operands[-1]) in ALL_LANES and code.guard is None
    of_all = facts.reduces_lanes or facts.votes
    return full and (of_all or _from_one_lane(code, facts))


def _from_one_lane(code: Instruction, facts: Facts) -> bool:
    """Whether it is a shuffle that gives all lanes of the warp the value of one."""
    if not facts.shuffles_by_index:
        return False
    lane, segments = code.operands[2:4]
    return isinstance(lane, Immediate) and str(segments) in _WHOLE_WARP
