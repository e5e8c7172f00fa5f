"""From an instruction to the function that executes it for lanes: which family takes which opcode.

What no family takes becomes a function that reports so when it runs: nothing is skipped, and code that is never
reached does no harm.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from goptx.emulator import asynchronous, atomics, bulk, lane_groups, load_store, mbarrier, move, warp_matrices
from goptx.emulator.arithmetic.convert import convert
from goptx.emulator.arithmetic.floating import floating
from goptx.emulator.arithmetic.integer import integer
from goptx.emulator.arithmetic.lanewise import Array, Lanewise
from goptx.emulator.lanes import Lanes
from goptx.emulator.operands import CARRY, Names, Source, Write, operands_of
from goptx.emulator.trouble import Trouble
from goptx.ptx.ir import Instruction, Name
from goptx.ptx.opcodes import facts_of

Execute = Callable[[Lanes], None]

# By first words of the opcode; the longest that fits is taken.
BUILDERS: dict[str, Callable[[Instruction, Names], Execute]] = {
    **move.BUILDERS,
    **load_store.BUILDERS,
    **atomics.BUILDERS,
    **asynchronous.BUILDERS,
    **bulk.BUILDERS,
    **mbarrier.BUILDERS,
    **lane_groups.BUILDERS,
    **warp_matrices.BUILDERS,
}


def execution(instruction: Instruction, names: Names) -> Execute:
    """The function that executes the instruction for lanes, guards aside."""
    words = instruction.opcode.split(".")
    prefixes = (".".join(words[:n]) for n in range(len(words), 0, -1))
    builder = next((BUILDERS[p] for p in prefixes if p in BUILDERS), _lanewise)
    try:
        return builder(instruction, names)
    except Trouble as error:
        trouble = error
    except (ValueError, LookupError) as error:
        trouble = Trouble("unsupported", f"the operands do not fit ({error})")

    def fail(lanes: Lanes) -> None:
        raise Trouble(trouble.kind, trouble.message)

    return fail


def _lanewise(instruction: Instruction, names: Names) -> Execute:
    opcode = instruction.opcode
    operands = operands_of(instruction)
    found = integer(opcode) or floating(opcode, len(operands) - 1) or convert(opcode)
    if found is None:
        known = "has no such form" if facts_of(opcode).known else "is not known"
        raise Trouble("unsupported", f"`{opcode}` {known} to the emulator")
    given = [s for s in found.sources if s != "cc"]
    if len(given) != len(operands) - 1:
        raise Trouble("unsupported", f"`{opcode}` takes {len(given)} sources, {len(operands) - 1} are given")
    sources = [names.source(o, t) for o, t in zip(operands[1:], given, strict=True)]
    if "cc" in found.sources:
        sources.append(names.source(Name(CARRY), "pred"))
    plain = tuple(t for t in found.results if t != "cc")
    writes = names.targets(operands[0], plain)
    if "cc" in found.results:
        writes = [*writes[: len(plain)], names.target(Name(CARRY), "pred")]
    return computation(found, sources, writes, MISSING.get(opcode.partition(".")[0]))


Missing = Callable[[Lanes, list[Source], list[Array]], "Array | None"]


def computation(found: Lanewise, sources: list[Source], writes: list[Write], missing_of: Missing | None) -> Execute:
    """Reads the sources, computes, writes the results. A result has no value where a source that counts has none."""
    reads = [s.read for s in sources]
    registers = tuple(r for s in sources for r in s.registers)
    apply = found.apply
    several = len(found.results) > 1

    def execute(lanes: Lanes) -> None:
        values = [read(lanes) for read in reads]
        result = apply(*values)
        missing = lanes.unknown(registers)
        if missing is not None and missing_of is not None:
            missing = missing_of(lanes, sources, values)
        for write, values_of_one in zip(writes, result if several else (result,), strict=False):
            write(lanes, _own(values_of_one, values, lanes), missing)

    return execute


def _own(result: Array, values: list[Array], lanes: Lanes) -> Array:
    """The result as an array that nobody else holds; only whole arrays are kept by who gets them."""
    if lanes.index is None and np.ndim(result) and (result.base is not None or any(result is v for v in values)):
        return result.copy()
    return result


def _missing_of_selection(lanes: Lanes, sources: list[Source], values: list[Array]) -> Array | None:
    """Of `selp`, only what was selected counts."""
    first, second, choice = (_unknown(lanes, s) for s in sources)
    return np.asarray(choice | np.where(values[2], first, second))


def _missing_of_and(lanes: Lanes, sources: list[Source], values: list[Array]) -> Array | None:
    """Of `and`, a known zero decides whatever the other is."""
    first, second = (_unknown(lanes, s) for s in sources)
    return np.asarray((first | second) & ~(~first & (values[0] == 0)) & ~(~second & (values[1] == 0)))


def _missing_of_or(lanes: Lanes, sources: list[Source], values: list[Array]) -> Array | None:
    """Of `or`, a known value of all ones decides whatever the other is."""
    first, second = (_unknown(lanes, s) for s in sources)
    return (first | second) & ~(~first & _all_ones(values[0])) & ~(~second & _all_ones(values[1]))


def _all_ones(values: Array) -> Array:
    return np.asarray(~values == 0)


def _unknown(lanes: Lanes, source: Source) -> Array:
    missing = lanes.unknown(source.registers)
    return np.zeros(lanes.count, np.bool_) if missing is None else missing


MISSING: dict[str, Missing] = {"selp": _missing_of_selection, "and": _missing_of_and, "or": _missing_of_or}
