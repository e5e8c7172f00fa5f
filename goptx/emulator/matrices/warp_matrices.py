"""Executes matrix instructions: gathers the registers of whole warps, computes or moves, writes them back.

Requires: the machine has gathered the lanes of each warp. All 32 of them must be present.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from goptx.emulator.faults import Trouble
from goptx.emulator.instructions.lanewise import Array
from goptx.emulator.lanes import WARP, Lanes
from goptx.emulator.matrices.fragments import Fragment, fragment, in_pairs, matrix_access
from goptx.emulator.matrices.matrix import product
from goptx.emulator.operands import Names, Source, Write, operands_of
from goptx.ptx.ir import Instruction, Operand
from goptx.ptx.opcodes import facts_of

Execute = Callable[[Lanes], None]


def _unknown(instruction: Instruction) -> Trouble:
    return Trouble("unsupported", f"`{instruction.opcode}` is not known to the emulator")


def _sources(names: Names, operand: Operand, type_: str, registers: int) -> list[Source]:
    parts = names.parts(operand)
    if len(parts) != registers:
        raise Trouble("unsupported", f"`{operand}` has {len(parts)} registers, the instruction takes {registers}")
    return [names.source(p, type_) for p in parts]


def _targets(names: Names, operand: Operand, type_: str, registers: int) -> list[Write]:
    if len(names.parts(operand)) != registers:
        raise Trouble("unsupported", f"`{operand}` does not have the {registers} registers that the instruction gives")
    return names.targets(operand, (type_,) * registers)


def _in_warps(lanes: Lanes) -> Lanes:
    """The lanes warp by warp, in order. Raises `Trouble` where a warp lacks some."""
    if lanes.index is None or (lanes.span and not lanes.span.start % WARP and not lanes.count % WARP):
        return lanes
    numbers = np.sort(lanes.numbers)
    whole = len(numbers) % WARP == 0
    rows = numbers.reshape(-1, WARP) if whole else numbers[:0]
    if not whole or (rows != rows[:, :1] // WARP * WARP + np.arange(WARP)).any():
        present = np.bincount(numbers // WARP)
        short = np.flatnonzero((present > 0) & (present < WARP))
        missing = f"a warp of {present[short[0]]} lanes" if len(short) else "some warps"
        raise Trouble("convergence", f"a matrix instruction needs all {WARP} lanes of a warp; it is run by {missing}")
    return Lanes(lanes.machine, lanes.frame, numbers)


def _registers(sources: list[Source], lanes: Lanes) -> Array:
    """(warps, 32, registers)"""
    columns = [s.each(lanes) for s in sources]
    return np.stack(columns, axis=-1).reshape(-1, WARP, len(sources))


def _missing(sources: list[Source], lanes: Lanes) -> Array | None:
    """The lanes of warps in which a register of any lane is undefined: the result of the whole warp is undefined."""
    missing = lanes.unknown(tuple(r for s in sources for r in s.registers))
    return None if missing is None else np.repeat(missing.reshape(-1, WARP).any(axis=1), WARP)


def _write(writes: list[Write], lanes: Lanes, registers: Array, missing: Array | None) -> None:
    flat = registers.reshape(lanes.count, -1)
    for i, write in enumerate(writes):
        write(lanes, flat[:, i].copy(), missing)


def multiply(instruction: Instruction, names: Names) -> Execute:
    """mma, wmma.mma, movmatrix"""
    found = product(instruction.opcode)
    operands = operands_of(instruction)
    if found is None or len(operands) != 1 + len(found.sources):
        raise _unknown(instruction)
    sources = [_sources(names, o, *s) for o, s in zip(operands[1:], found.sources, strict=True)]
    writes = _targets(names, operands[0], *found.result)
    flat = [s for part in sources for s in part]

    def execute(lanes: Lanes) -> None:
        lanes = _in_warps(lanes)
        result = found.apply(*(_registers(part, lanes) for part in sources))
        _write(writes, lanes, result, _missing(flat, lanes))

    return execute


def load_fragment(instruction: Instruction, names: Names) -> Execute:
    """wmma.load"""
    found = fragment(instruction.opcode)
    if found is None:
        raise _unknown(instruction)
    target, place, *rest = operands_of(instruction)
    writes = _targets(names, target, found.type, found.registers)
    source, space = names.address(place, facts_of(instruction.opcode).space)
    stride = names.source(rest[0], "b32") if rest else None
    pairs = in_pairs(instruction.opcode)

    def loaded(lanes: Lanes, part: Fragment) -> Array:
        addresses, numbers = _elements(lanes, source, stride, part.offsets, part.stride)
        return _load(lanes, space, addresses, numbers, part.element_bytes).reshape(-1, WARP, part.elements)

    def execute(lanes: Lanes) -> None:
        lanes = _in_warps(lanes)
        elements: Array | None = None
        if pairs is not None and not lanes.machine.races:
            with suppress(Trouble):  # which would not name elements
                elements = loaded(lanes, pairs).view(f"u{found.element_bytes}")
                elements = np.tile(elements, found.elements // elements.shape[-1])
        _write(writes, lanes, found.pack(loaded(lanes, found) if elements is None else elements), None)

    return execute


def store_fragment(instruction: Instruction, names: Names) -> Execute:
    """wmma.store"""
    found = fragment(instruction.opcode)
    if found is None:
        raise _unknown(instruction)
    place, given, *rest = operands_of(instruction)
    sources = _sources(names, given, found.type, found.registers)
    source, space = names.address(place, facts_of(instruction.opcode).space)
    stride = names.source(rest[0], "b32") if rest else None
    width = found.element_bytes

    def execute(lanes: Lanes) -> None:
        lanes = _in_warps(lanes)
        lanes.require(tuple(r for s in sources for r in s.registers), "stored")
        addresses, numbers = _elements(lanes, source, stride, found.offsets, found.stride)
        _store(lanes, space, addresses, numbers, found.unpack(_registers(sources, lanes)).reshape(-1), width)

    return execute


def _elements(
    lanes: Lanes, source: Source, stride: Source | None, offsets: Callable[[Array | int], Array], default: int
) -> tuple[Array, Array]:
    """The address of every element of every lane, and the lane."""
    lanes.require((*source.registers, *(stride.registers if stride else ())), "an address")
    base = source.each(lanes).reshape(-1, WARP)
    steps: Array | int = default
    if stride is not None:
        steps = stride.each(lanes).reshape(-1, WARP).astype(np.int64)
        if np.minimum.reduce(steps, axis=None) == np.maximum.reduce(steps, axis=None):  # as nearly always
            steps = int(steps[0, 0])
    addresses = base[..., None] + offsets(steps)
    return addresses.reshape(-1), np.repeat(lanes.numbers, addresses.shape[-1])


def load_rows(instruction: Instruction, names: Names) -> Execute:
    """ldmatrix"""
    found = matrix_access(instruction.opcode)
    if found is None:
        raise _unknown(instruction)
    target, place = operands_of(instruction)
    writes = _targets(names, target, "b32", found.matrices)
    source, space = names.address(place, facts_of(instruction.opcode).space)

    def execute(lanes: Lanes) -> None:
        lanes = _in_warps(lanes)
        addresses, numbers = _rows(lanes, source, found.row_addresses)
        rows = np.ascontiguousarray(_load(lanes, space, addresses, numbers, 16)).view(np.uint8)
        _write(writes, lanes, found.registers(rows.reshape(-1, found.matrices, 8, 16)), None)

    return execute


def store_rows(instruction: Instruction, names: Names) -> Execute:
    """stmatrix"""
    found = matrix_access(instruction.opcode)
    if found is None:
        raise _unknown(instruction)
    place, given = operands_of(instruction)
    sources = _sources(names, given, "b32", found.matrices)
    source, space = names.address(place, facts_of(instruction.opcode).space)

    def execute(lanes: Lanes) -> None:
        lanes = _in_warps(lanes)
        lanes.require(tuple(r for s in sources for r in s.registers), "stored")
        addresses, numbers = _rows(lanes, source, found.row_addresses)
        rows = np.ascontiguousarray(found.rows(_registers(sources, lanes)))
        _store(lanes, space, addresses, numbers, rows.reshape(-1, 16).view("V16")[:, 0], 16)

    return execute


def _rows(lanes: Lanes, source: Source, arrange: Callable[[Array], Array]) -> tuple[Array, Array]:
    """The address of every row of every matrix, and the lane that provides it."""
    lanes.require(source.registers, "an address")
    addresses = source.each(lanes).reshape(-1, WARP)
    return arrange(addresses).reshape(-1), arrange(lanes.numbers.reshape(-1, WARP)).reshape(-1)


def _load(lanes: Lanes, space: str, addresses: Array, numbers: Array, width: int) -> Array:
    machine = lanes.machine
    values = np.empty(len(addresses), f"u{width}" if width < 16 else "V16")
    for found, chosen, own in machine.memory.parts(space, addresses):
        values[chosen] = found.load(own, width, numbers[chosen], machine.strict)[0]
        machine.traffic.count(found.name, own, numbers[chosen], width)
        if machine.races:
            machine.races.read(found, own, width, numbers[chosen], False)
    return values


def _store(lanes: Lanes, space: str, addresses: Array, numbers: Array, values: Array, width: int) -> None:
    machine = lanes.machine
    for found, chosen, own in machine.memory.parts(space, addresses):
        machine.traffic.count(found.name, own, numbers[chosen], width)
        if machine.races:
            machine.races.write(found, own, values[chosen], width, numbers[chosen], False)
        found.store(own, values[chosen], width, numbers[chosen], None)


BUILDERS = {
    "mma": multiply,
    "wmma.mma": multiply,
    "movmatrix": multiply,
    "wmma.load": load_fragment,
    "wmma.store": store_fragment,
    "ldmatrix": load_rows,
    "stmatrix": store_rows,
}
