"""From an instruction to the function that executes it for lanes: which family takes which opcode.

An instruction without a family becomes a `Missing`, which reports so when it runs. So nothing is skipped, and code that
is never reached does no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import or_

import numpy as np

from goptx.emulator.faults import Trouble
from goptx.emulator.floating.convert import convert
from goptx.emulator.floating.floating import floating
from goptx.emulator.instructions import (
    asynchronous,
    atomics,
    bulk,
    cluster_operations,
    load_store,
    mbarrier,
    move,
    register_pool,
    warp_operations,
)
from goptx.emulator.instructions.lanewise import Array, Lanewise
from goptx.emulator.integer.integer import integer
from goptx.emulator.integer.video import separated, video
from goptx.emulator.lanes import Lanes
from goptx.emulator.matrices import warp_matrices
from goptx.emulator.memory.undefined import SPOILED, Rule, bits, rule_of, whole
from goptx.emulator.operands import CARRY, Names, Source, Write, operands_of
from goptx.ptx.ir import Instruction, Name
from goptx.ptx.opcodes import facts_of

Execute = Callable[[Lanes], None]
OPCODES = 1 << 12  # whose functions are cached

# By first words of the opcode; the longest match is taken.
BUILDERS: dict[str, Callable[[Instruction, Names], Execute]] = {
    **move.BUILDERS,
    **load_store.BUILDERS,
    **atomics.BUILDERS,
    **asynchronous.BUILDERS,
    **bulk.BUILDERS,
    **cluster_operations.BUILDERS,
    **mbarrier.BUILDERS,
    **register_pool.BUILDERS,
    **warp_operations.BUILDERS,
    **warp_matrices.BUILDERS,
}


@dataclass(frozen=True, slots=True)
class Missing:
    """What stands for an instruction that the emulator lacks: reports so when it runs."""

    kind: str
    message: str

    def __call__(self, lanes: Lanes) -> None:
        raise Trouble(self.kind, self.message)


def execution(instruction: Instruction, names: Names) -> Execute:
    """The function that executes the instruction for lanes, without its guard."""
    try:
        return _builder(instruction.opcode)(instruction, names)
    except Trouble as error:
        return Missing(error.kind, error.message)
    except (ValueError, LookupError) as error:
        return Missing("unsupported", f"the operands do not fit ({error})")


@lru_cache(OPCODES)
def _builder(opcode: str) -> Callable[[Instruction, Names], Execute]:
    words = opcode.split(".")
    prefixes = (".".join(words[:n]) for n in range(len(words), 0, -1))
    return next((BUILDERS[p] for p in prefixes if p in BUILDERS), _lanewise)


@lru_cache(OPCODES)
def lanewise(opcode: str, operands: int) -> Lanewise | None:
    """The function of an instruction with so many sources on each lane's own values; None for other instructions."""
    return integer(opcode) or floating(opcode, operands) or convert(opcode)


@dataclass(frozen=True, slots=True)
class _Computed:
    """What all instructions of one form have in common: the function, its sources and results that operands name, and
    what is undefined where a source is (`computation`)."""

    function: Lanewise
    sources: tuple[str, ...]
    results: tuple[str, ...]
    rule: Rule | None
    spoiled: bool


@lru_cache(OPCODES)
def _computed(opcode: str, operands: int, selectors: tuple[str, ...]) -> _Computed:
    """Of an instruction with so many sources as written. Raises `Trouble` for one that is not computed lane by lane."""
    found = video(opcode, selectors) if selectors else lanewise(opcode, operands)
    if found is None:
        known = "has no such form" if facts_of(opcode).known else "is not known"
        raise Trouble("unsupported", f"`{opcode}` {known} to the emulator")
    given, plain = (tuple(t for t in types if t != "cc") for types in (found.sources, found.results))
    if len(given) != operands:
        raise Trouble("unsupported", f"`{opcode}` takes {len(given)} sources, {operands} are given")
    return _Computed(found, given, plain, rule_of(opcode, found), opcode.partition(".")[0] in SPOILED)


def _lanewise(instruction: Instruction, names: Names) -> Execute:
    operands, selectors = separated(operands_of(instruction))
    made = _computed(instruction.opcode, len(operands) - 1, selectors)
    found = made.function
    sources = [names.source(o, t) for o, t in zip(operands[1:], made.sources, strict=True)]
    if len(made.sources) < len(found.sources):
        sources.append(names.source(Name(CARRY), "pred"))
    writes = names.targets(operands[0], made.results)
    if len(made.results) < len(found.results):
        writes = [*writes[: len(made.results)], names.target(Name(CARRY), "pred")]
    return computation(found, sources, writes, made.rule, made.spoiled)


def computation(
    found: Lanewise, sources: list[Source], writes: list[Write], rule: Rule | None, spoiled: bool
) -> Execute:
    """Reads the sources, computes, writes. Without a rule, a result is undefined where a source is; with `spoiled`, it
    is also undefined where a source has no defined bit."""
    reads = [s.read for s in sources]
    registers = tuple([r for s in sources for r in s.registers])
    apply = found.apply
    several = len(found.results) > 1
    defined: Sequence[Array | None] = (None,) * len(writes)

    def execute(lanes: Lanes) -> None:
        values = [read(lanes) for read in reads]
        result = apply(*values)
        missing = defined
        if lanes.unknown(registers) is not None:
            missing = _missing(lanes, sources, values, len(found.results), rule, spoiled)
        for write, of_one, lost in zip(writes, result if several else (result,), missing, strict=False):
            write(lanes, _own(of_one, values, lanes), lost)

    return execute


def _missing(
    lanes: Lanes, sources: list[Source], values: list[Array], results: int, rule: Rule | None, spoiled: bool
) -> Sequence[Array | None]:
    """For each result its undefined bits, None if there are none."""
    found = [source.missing(lanes) for source in sources]
    some = [f for f in found if f is not None]
    if rule is None or (spoiled and all(f.dtype == np.bool_ for f in some)):
        return (reduce(or_, (f != 0 for f in some)) if some else None,) * results
    shapes = [bits(v).dtype for v in values]
    lost = [np.zeros((), d) if f is None else whole(f, d) for f, d in zip(found, shapes, strict=True)]
    made = (np.broadcast_to(m, lanes.count) for m in rule(values, lost))
    return [m if m.any() else None for m in made]


def _own(result: Array, values: list[Array], lanes: Lanes) -> Array:
    """The result as an array of its own. Only results for all lanes may be stored without a copy."""
    if lanes.index is not None or not result.ndim:
        return result
    if result.base is not None:
        return result.copy()
    for value in values:
        if value is result:
            return result.copy()
    return result
