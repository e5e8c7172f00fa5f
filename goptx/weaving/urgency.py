"""Orders one kernel's part of a merged block, and ranks it against the others' (the policy "latency").

Requires: the units of a part. Ensures: dependences through registers and through memory hold.

Far memory answers after hundreds of cycles. The *level* of a unit is how many such answers are still to be awaited,
one after the other, from it to the end of the block. Kernels go down the levels together: the one with the longest
way begins, and they await their answers together. Between two *pins* the assembler orders code by itself, but it
lifts no load across one; so pins come last in a level, and of these first the one with the most loads behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from goptx.analysis.cfg import Code, instructions_in
from goptx.analysis.dataflow import read, written
from goptx.ptx.ir import Scope
from goptx.ptx.opcodes import Facts, facts_of
from goptx.ptx.opcodes import Scope as Convergence

Unit = tuple[Code, ...]
Rank = tuple[int, bool, int]  # minus the level, whether it is a pin, minus the loads behind a pin; the least goes first

_CONSTANT = ("param", "const")  # never written while the kernel runs
_NEAR = ("shared", "local", *_CONSTANT)  # answers within tens of cycles
_CLOCKS = frozenset("%clock %clock_hi %clock64 %globaltimer %globaltimer_lo %globaltimer_hi".split())


def by_urgency(part: Sequence[Unit]) -> tuple[list[Unit], list[Rank]]:
    """The units from the highest level to the lowest, otherwise as they stood, and the rank of each."""
    levels = _levels(part)
    order = sorted(range(len(part)), key=lambda i: -levels[i])
    facts = [list(_facts(part[i])) for i in order]
    loads = [sum(f.loads and f.space not in _CONSTANT for f in unit) for unit in facts]
    behind = list(accumulate(reversed(loads)))[::-1]
    pins = [any(map(_pins, unit)) for unit in facts]
    ranks = [(-levels[i], pin, -count if pin else 0) for i, pin, count in zip(order, pins, behind, strict=True)]
    return [part[i] for i in order], ranks


def _levels(part: Sequence[Unit]) -> list[int]:
    """None is below a unit that has to come after it, and a far load is above those that read it. What a warpgroup
    multiplies is there behind a wait that names no register, so there all stays as it stood."""
    if not all(f.known and f.row.scope != Convergence.WARPGROUP for unit in part for f in _facts(unit)):
        return [0] * len(part)
    # The highest level, among the units further on, that reads or writes each register, and that loads from each
    # kind of memory or is ordered there with all else.
    reads: dict[str, int] = {}
    writes: dict[str, int] = {}
    loads: dict[str, int] = {}
    ordered: dict[str, int] = {}
    levels: list[int] = []
    for unit in reversed(part):
        facts = list(_facts(unit))
        inputs = [r for code in unit for r in read(code)]
        outputs = [r for code in unit for r in written(code)]
        timed = not _CLOCKS.isdisjoint(inputs)  # what it times has to stay on its side
        memory = {"near", "far"} if timed else {kind for f in facts for kind in _memory(f)}
        plain = all(map(_plain_load, facts))
        answer = max((reads.get(r, 0) for r in outputs), default=0)
        far = any(f.loads and f.space not in _NEAR for f in facts)
        others = [writes.get(r, 0) for r in inputs + outputs] + [ordered.get(kind, 0) for kind in memory]
        level = max([answer + far, *others, *(loads.get(kind, 0) for kind in memory if not plain)])
        for known, names in ((reads, inputs), (writes, outputs), (loads if plain else ordered, memory)):
            known.update((name, max(level, known.get(name, 0))) for name in names)
        levels.append(level)
    return levels[::-1]


def _facts(unit: Unit) -> Iterator[Facts]:
    for code in unit:
        for instruction in instructions_in(code) if isinstance(code, Scope) else (code,):
            yield facts_of(instruction.opcode)


def _memory(facts: Facts) -> tuple[str, ...]:
    """The kinds of memory in which it is ordered with other accesses; what concerns other threads is in both."""
    if facts.row.scope or facts.row.blocking or facts.volatile or facts.row.access == "f":
        return ("near", "far")
    if not facts.row.access or (facts.row.access == "l" and ("nc" in facts.modifiers or facts.space in _CONSTANT)):
        return ()
    return tuple("near" if space in _NEAR else "far" for space in facts.spaces) or ("near", "far")


def _plain_load(facts: Facts) -> bool:
    return facts.row.access == "l" and not (facts.row.scope or facts.volatile)


def _pins(facts: Facts) -> bool:
    """Whether the assembler lifts no load across it: barriers and fences, stores to far memory, volatile accesses,
    calls, and what it expands with a branch inside."""
    stores = "s" in facts.row.access and facts.space not in _NEAR
    return facts.row.access == "f" or stores or facts.volatile or facts.slow_path
