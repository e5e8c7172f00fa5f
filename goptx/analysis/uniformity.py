"""Which registers and branches are the same for all threads of a CTA or a warp.

Requires: a flow. Everything not listed here is divergent. Registers that are written in several places are looked at
in versions (versions.py): what a loop counter holds before the loop, or what is written to it after all barriers, says
nothing of the loop. Where paths meet, the value depends on what decides whether each of its versions is written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from goptx.analysis.cfg import Code, Flow, controls
from goptx.analysis.dataflow import KNOWN, depends_on, read, register_of, replaced, sets, solve, written
from goptx.analysis.terminators import Branch, Switch
from goptx.analysis.values import windows
from goptx.analysis.values.windows import ANY, Window, special_windows
from goptx.analysis.versions import Value, Version, Versions
from goptx.launch.shape import Shape
from goptx.memo import Deferred
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
    """The result: the uniformity of the branch that ends each block, and of each register wherever it is read.
    Registers that decide no branch are looked at when one is asked for."""

    branches: dict[str, Uniformity]
    registers: Deferred[dict[str, Uniformity]]

    def of(self, name: str) -> Uniformity:
        name = register_of(name)
        special = name.startswith(_DIVERGENT_REGISTERS)
        return self.registers.value.get(name, Uniformity.DIVERGENT if special else Uniformity.CTA)


# Maps the uniformity of what a definition depends on to that of its result.
_Passes = tuple[Uniformity, Uniformity, Uniformity, Uniformity, Uniformity]
_CTA, _WARP_DATA, _WARP, _DATA, _DIVERGES = Uniformity
_AS_IT_IS: _Passes = (_CTA, _WARP_DATA, _WARP, _DATA, _DIVERGES)
_WARP_AT_MOST: _Passes = (_CTA, _WARP_DATA, _WARP, _WARP_DATA, _WARP)
_WHOLE_WARPS_ONLY: _Passes = (_CTA, _WARP_DATA, _WARP, _DIVERGES, _DIVERGES)

# A register, or a version of it; ("branch", block); ("control", block), all that decides whether it runs; ("together",
# place), all that the results of an instruction depend on.
_Key = str | Version | tuple[str, str]
_Values = Mapping[str, Value]  # of registers, at one place
MANY = 4  # an instruction with more results has one key for all that these depend on


class _Found(NamedTuple):
    """What is known of a key: its uniformity; for an integer, the windows that it has in each warp and in each CTA, if
    any, and how uniform the base of the first is (the base of the other is that of the CTA)."""

    uniformity: Uniformity
    warp: Window | None = None
    base: Uniformity = Uniformity.CTA
    cta: Window | None = None

    @staticmethod
    def plain(uniformity: Uniformity) -> _Found:
        return _PLAIN[uniformity]


_PLAIN = {
    u: _Found(u, ANY if u <= Uniformity.WARP else None, u, ANY if u == Uniformity.CTA else None) for u in Uniformity
}


class _Rules:
    """The uniformity rules of all keys: a given value, joined with the values of its sources as `passes` maps them. The
    instructions in `computed` define a register by their windows too, of the values that they read; `plain` are the
    registers that others define; in `either`, one that holds one of these values."""

    def __init__(self, special: Mapping[_Key, _Found]) -> None:
        self.special = special
        self.least: dict[_Key, Uniformity] = {}
        self.sources: dict[_Key, dict[_Key, list[_Passes]]] = {}
        self.computed: dict[_Key, list[tuple[Instruction, dict[str, Value]]]] = {}
        self.either: dict[_Key, list[Value]] = {}
        self.plain: set[_Key] = set()

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

    def compute(self, keys: Collection[_Key], instruction: Instruction, values: _Values) -> None:
        self.define(keys, Uniformity.CTA)
        own = {name: values[name] for name in read(instruction)}
        for key in keys:
            self.computed.setdefault(key, []).append((instruction, own))
            for source in own.values():
                self.sources[key].setdefault(source, [])

    def meet(self, key: _Key, values: Sequence[Value]) -> None:
        self.define([key], Uniformity.CTA)
        self.either.setdefault(key, []).extend(values)
        for source in values:
            self.sources[key].setdefault(source, [])

    def of(self, key: _Key, values: Mapping[_Key, _Found | None]) -> _Found | None:
        """None as long as nothing that is known defines the key."""
        found = self.least[key]
        for source, several in self.sources[key].items():
            if several and (value := values.get(source) or self.special.get(source)):
                for passes in several:
                    found = found.joined(passes[value.uniformity])
        if key not in self.computed and key not in self.either:
            return _Found.plain(found)
        made = [_Found.plain(found)] if key in self.plain else []
        made += [m for each in self.computed.get(key, ()) if (m := self._computed(*each, values)) is not None]
        made += [m for value in self.either.get(key, ()) if (m := values.get(value)) is not None]
        return _merged(made, found, values.get(key)) if made else None

    def _computed(self, instruction: Instruction, own: _Values, values: Mapping[_Key, _Found | None]) -> _Found | None:
        """What an instruction gives by its windows; None while one of its sources has no value yet."""
        known: dict[object, _Found] = {}
        for name, key in own.items():
            value = values.get(key) or self.special.get(key)
            if value is None and key in self.least:
                return None
            known[name] = value or _PLAIN[Uniformity.CTA]
        plain = joined(value.uniformity for value in known.values())
        names, immediates, others = _sources(instruction)
        agreed = joined(known[name].uniformity for name in others)
        cta = warp = None
        base, decided = agreed, plain
        if agreed <= Uniformity.WARP:
            operands = [known.get(name) for name in names]
            bounds = [o.warp if o else i for o, i in zip(operands, immediates, strict=True)]
            base = joined([agreed, *(o.base for o in operands if o)])
            if None not in bounds:
                if windows.decided(instruction, bounds):
                    decided = min(decided, base)
                warp = windows.result(instruction, bounds)
                if warp and warp.uniform:
                    decided = min(decided, base)
        if agreed == Uniformity.CTA:
            bounds = [o.cta if o else i for o, i in zip(operands, immediates, strict=True)]
            if None not in bounds:
                cta = windows.result(instruction, bounds)
                if windows.decided(instruction, bounds) or (cta and cta.uniform):
                    decided = Uniformity.CTA
        return _normal(_Found(decided, warp, base, cta))

    def solved(self) -> dict[_Key, Uniformity]:
        if not self.computed:
            return self._spread()
        # Registers and branches come first: one with many definitions is computed once for all that decides these.
        order = sorted(self.least, key=lambda key: isinstance(key, tuple) and key[0] == "control")
        found = solve(order, self.sources, self.of)
        return {key: value.uniformity if value else Uniformity.CTA for key, value in found.items()}

    def _spread(self) -> dict[_Key, Uniformity]:
        """The solution where no instruction has a rule for windows. Values only rise, so each is propagated when it
        does."""
        readers: dict[_Key, list[tuple[_Key, _Passes]]] = {}
        for key, sources in self.sources.items():
            for source, several in sources.items():
                readers.setdefault(source, []).extend((key, passes) for passes in several)
        for key, its in self.either.items():
            for source in its:
                readers.setdefault(source, []).append((key, _AS_IT_IS))
        values = dict(self.least)
        waiting = [key for key, value in values.items() if value]
        while waiting:
            source = waiting.pop()
            value = values[source]
            for key, passes in readers.get(source, ()):
                before = values[key]
                after = _JOINED[before][passes[value]]
                if after is not before:
                    values[key] = after
                    waiting.append(key)
        return values


def joined(several: Iterable[Uniformity]) -> Uniformity:
    """The uniformity of a value that depends on all of them."""
    found = Uniformity.CTA
    for value in several:
        found = _JOINED[found][value]
    return found


def _normal(found: _Found) -> _Found:
    """With windows for what is uniform: those of the CTA serve for its warps."""
    warp, base, cta = found.warp, found.base, found.cta
    if found.uniformity == Uniformity.CTA:
        cta = cta if cta and cta.uniform else ANY
        warp, base = warp if warp and warp.uniform else cta, Uniformity.CTA
    elif found.uniformity <= Uniformity.WARP:
        warp, base = warp if warp and warp.uniform else ANY, found.uniformity
    return _Found(found.uniformity, warp, base, cta)


def _merged(made: list[_Found], control: Uniformity, before: _Found | None) -> _Found:
    """What a register holds that several instructions write under some control, or other ones as uniform as that.
    Never more than is known of it `before`, so that the solver comes to an end."""
    uniformity = joined([control, *(m.uniformity for m in made)])
    base = joined([control, *(m.base for m in made)])
    warp = _window([m.warp for m in made]) if base <= Uniformity.WARP else None
    cta = _window([m.cta for m in made]) if control == Uniformity.CTA else None
    if before is not None:
        uniformity, base = max(uniformity, before.uniformity), max(base, before.base)
        warp = warp and before.warp and before.warp.widened(warp)
        cta = cta and before.cta and before.cta.widened(cta)
    return _normal(_Found(uniformity, warp, base, cta))


def _window(made: list[Window | None]) -> Window | None:
    found = made[0]
    for window in made[1:]:
        found = found and window and found.joined(window)
    return found


def uniformity(
    flow: Flow, controlled: Mapping[str, Collection[str]] | None = None, shape: Shape | None = None
) -> Uniform:
    """The uniformity of the registers and branches of a flow, by data and by control: by `controls`, unless given. The
    flow is launched in the `shape`, as far as that is known: where its block is known and has one axis, windows count
    (values/windows.py)."""
    deciders = controls(flow) if controlled is None else controlled
    special = _special(shape) if shape else {}
    decided = any(block.end.reads() for block in flow.blocks.values())
    values = _rules(flow, deciders, special, _deciding(flow)).solved() if decided else {}

    def registers() -> dict[str, Uniformity]:
        found: dict[str, Uniformity] = {}
        for key, value in _rules(flow, deciders, special).solved().items():
            if value and isinstance(key, Value):
                register = key if isinstance(key, str) else key.register
                found[register] = value.joined(found.get(register, Uniformity.CTA))
        return found

    return Uniform({n: values.get(("branch", n), Uniformity.CTA) for n in flow.blocks}, Deferred(registers))


def _deciding(flow: Flow) -> set[str]:
    """The registers that branches may depend on: in most kernels few."""
    writers: dict[str, list[Code]] = {}
    for block in flow.blocks.values():
        for code in block.code:
            for register in sets(code):
                writers.setdefault(register, []).append(code)
    waiting = [register_of(n) for block in flow.blocks.values() for n in block.end.reads()]
    found = set(waiting)
    while waiting:
        for code in writers.pop(waiting.pop(), ()):
            more = depends_on(code) - found
            found |= more
            waiting += more
    return found


def _rules(
    flow: Flow,
    deciders: Mapping[str, Collection[str]],
    special: Mapping[_Key, _Found],
    wanted: Set[str] | None = None,
) -> _Rules:
    """The rules of the branches of a flow and of its registers: of all, or of those `wanted`, among which are all that
    these depend on."""
    rules, versions = _Rules(special), Versions(flow, wanted)
    for name, its in deciders.items():
        above = [(what, decider) for decider in its for what in ("branch", "control")]
        rules.define([("control", name)], Uniformity.CTA, above)
    for name, block in flow.blocks.items():
        values = versions.at_start(name)
        for number, code in enumerate(block.code):
            writes = sets(code) if wanted is None else sets(code) & wanted
            if writes:
                after = versions.written(name, number)
                _define(rules, code, {w: after.get(w, w) for w in writes}, values, ("control", name))
                values |= after
        if block.region:  # what it writes depends on the branches that its lanes took
            after = versions.written(name, 0)
            for register in frozenset().union(*map(sets, block.instructions())):
                key = after.get(register, register)
                rules.define([key], Uniformity.DIVERGENT)
                rules.plain.add(key)
            values |= after
        # `.uni` promises that the active lanes agree: enough for the warp, never for the CTA.
        promised = isinstance(block.end, Branch | Switch) and block.end.uniform
        passes = _WARP_AT_MOST if promised else _AS_IT_IS
        rules.define([("branch", name)], Uniformity.CTA, [values[register_of(n)] for n in block.end.reads()], passes)
    for version, held in versions.meetings():
        rules.meet(version, held)
    used = dict.fromkeys(source for its in rules.sources.values() for source in its)
    differing = [k for k in used if isinstance(k, str) and k.startswith(_DIVERGENT_REGISTERS) and k not in special]
    rules.define(differing, Uniformity.DIVERGENT)
    return rules


def _define(rules: _Rules, code: Code, writes: Mapping[str, Value], values: _Values, control: _Key) -> None:
    """Adds the rules of what the code writes, which reads these values, under some control."""
    least, names, of_values, of_control = _definition(code)
    for register, key in writes.items():
        if key != register and register not in replaced(code):
            rules.meet(key, [values[register]])
    keys = writes.values()
    if rules.special and isinstance(code, Instruction) and _has_rule(code):
        computed = written(code)
        rules.compute([key for register, key in writes.items() if register in computed], code, values)
        carry = [key for register, key in writes.items() if register not in computed]
        rules.define(carry, least, [values[n] for n in names], of_values)
        rules.define(keys, Uniformity.CTA, [control])
        return
    rules.plain.update(keys)
    sources = [values[n] for n in names]
    if len(writes) > MANY:  # one key for what all of them depend on
        together = ("together", str(next(iter(keys))))
        rules.define([together], least, sources, of_values)
        rules.define([together], least, [control], of_control)
        rules.define(keys, least, [together])
    else:
        rules.define(keys, least, sources, of_values)
        rules.define(keys, least, [control], of_control)


def _special(shape: Shape) -> dict[_Key, _Found]:
    """The special registers with windows."""
    found: dict[_Key, _Found] = {}
    for name, (warp, cta) in special_windows(shape).items():
        base = Uniformity.WARP if warp.modulus and not warp.uniform else Uniformity.CTA
        uniform = Uniformity.CTA if warp.uniform else Uniformity.DIVERGENT
        found[name] = _Found(uniform, warp, base, cta)
    return found


_has_rule = lru_cache(KNOWN)(windows.has_rule)


@lru_cache(KNOWN)
def _sources(instruction: Instruction) -> tuple[list[str], list[Window | None], frozenset[str]]:
    """The names of the numeric operands; the window of each that is an immediate, None for the others; and what else
    the instruction reads: its guard, and the predicates of `setp` and `selp`."""
    numbers = windows.sources(instruction)
    names = [str(n) for n in numbers]
    return names, [windows.immediate(n) for n in numbers], read(instruction).difference(names)


@lru_cache(KNOWN)
def _definition(code: Code) -> tuple[Uniformity, frozenset[str], _Passes, _Passes]:
    """How uniform what an instruction writes is at best, what it depends on, and the functions that map the
    uniformity of its sources, and of what decides whether it runs, to that of the result."""
    least, of_values, of_control = _rule(code)
    return least, depends_on(code) if of_values else frozenset(), of_values or _AS_IT_IS, of_control


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
    return facts.read_only


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
