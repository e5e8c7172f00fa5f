"""Moves between registers: `mov` with its packing and unpacking of vectors, `cvta`, `isspacep`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from goptx.emulator.faults import Trouble
from goptx.emulator.instructions.lanewise import DTYPES, Array
from goptx.emulator.lanes import Lanes
from goptx.emulator.memory import undefined
from goptx.emulator.memory.address_spaces import WINDOWS
from goptx.emulator.operands import WIDE, Names, Source, Write, operands_of
from goptx.ptx.ir import TYPE_BYTES, Instruction, Vector

Execute = Callable[[Lanes], None]
_NARROW = {1: "b8", 2: "b16", 4: "b32", 8: "b64", 16: "b128"}


def mov(instruction: Instruction, names: Names) -> Execute:
    """`mov` of a value, of an address, of a vector into its parts or of parts into a vector."""
    type_ = instruction.opcode.split(".")[-1]
    target, given = operands_of(instruction)
    parts, pieces = names.parts(target), names.parts(given)
    if len(parts) == 1 and len(pieces) == 1 and not isinstance(given, Vector):
        return _copy(names, parts[0], given, type_)
    if len(parts) == len(pieces):  # vectors of one kind, part by part
        sources, writes = [names.source(g, type_) for g in pieces], [names.target(p, type_) for p in parts]
        return lambda lanes: _move_all(sources, writes, lanes)
    if len(parts) > 1:
        return _unpack(names, target, given, type_, _part(type_, len(parts)), len(parts))
    return _pack(names, target, given, type_, _part(type_, len(pieces)))


def _part(type_: str, count: int) -> str:
    """The type of each of `count` equal parts."""
    size, rest = divmod(TYPE_BYTES[type_], count)
    if rest or size not in _NARROW:
        raise Trouble("unsupported", f"a .{type_} has no {count} parts")
    return _NARROW[size]


def _move_all(sources: list[Source], writes: list[Write], lanes: Lanes) -> None:
    """Reads all sources before it writes any target: a register may be both."""
    found = [(np.array(source.read(lanes)), _own(source.missing(lanes))) for source in sources]
    for write, (values, missing) in zip(writes, found, strict=True):
        write(lanes, values, missing)


def _own(missing: Array | None) -> Array | None:
    return None if missing is None else missing.copy()


def _copy(names: Names, target: object, given: object, type_: str) -> Execute:
    source, write = names.source(given, type_), names.target(target, type_)  # type: ignore[arg-type]
    return lambda lanes: write(lanes, _fresh(source.read(lanes), lanes), source.missing(lanes))


def _fresh(values: Array, lanes: Lanes) -> Array:
    return values.copy() if lanes.index is None and values.ndim else values


def _unpack(names: Names, target: object, given: object, type_: str, part: str, count: int) -> Execute:
    source = names.source(given, type_)  # type: ignore[arg-type]
    writes = names.targets(target, (part,) * count)  # type: ignore[arg-type]
    dtype = DTYPES.get(part, np.dtype(np.uint64))

    def execute(lanes: Lanes) -> None:
        values = source.each(lanes)
        pieces = np.ascontiguousarray(values).view(dtype).reshape(lanes.count, count)
        missing = source.missing(lanes)
        of_each: list[Array | None] = [missing] * count
        if missing is not None and missing.dtype != np.bool_:
            lost = np.ascontiguousarray(missing).view(f"u{dtype.itemsize}").reshape(lanes.count, count)
            of_each = [lost[:, i] if lost[:, i].any() else None for i in range(count)]
        for i, write in enumerate(writes):
            write(lanes, pieces[:, i].copy(), of_each[i])

    return execute


def _pack(names: Names, target: object, given: object, type_: str, part: str) -> Execute:
    sources = [names.source(p, part) for p in names.parts(given)]  # type: ignore[arg-type]
    write = names.target(target, type_)  # type: ignore[arg-type]
    whole = WIDE if type_ == "b128" else DTYPES[type_]
    registers = tuple(r for s in sources for r in s.registers)
    dtype = DTYPES[part]

    def execute(lanes: Lanes) -> None:
        pieces = np.empty((lanes.count, len(sources)), dtype)
        for i, source in enumerate(sources):
            pieces[:, i] = source.read(lanes)
        missing = lanes.unknown(registers)
        if missing is not None and whole != WIDE:
            lost = np.zeros((lanes.count, len(sources)), f"u{dtype.itemsize}")
            for i, source in enumerate(sources):
                found = source.missing(lanes)
                lost[:, i] = 0 if found is None else undefined.whole(found, lost.dtype)
            missing = lost.view(f"u{whole.itemsize}")[:, 0]
        write(lanes, pieces.view(whole)[:, 0].copy(), missing)

    return execute


def cvta(instruction: Instruction, names: Names) -> Execute:
    """Converts between generic addresses and those of a space; only shared and local memory have separate addresses."""
    words = instruction.opcode.split(".")
    space = next((w.partition("::")[0] for w in words[1:] if w.partition("::")[0] in WINDOWS), "")
    if not space:
        raise Trouble("unsupported", f"`{instruction.opcode}` names no space that the emulator knows")
    target, given = operands_of(instruction)
    source, write = names.source(given, words[-1]), names.target(target, words[-1])
    offset = WINDOWS[space] if space in ("shared", "local") else 0
    dtype = DTYPES[words[-1]].type
    shift = dtype(offset % (1 << 64)) if "to" not in words else dtype(-offset % (1 << 64))

    def execute(lanes: Lanes) -> None:
        values = source.read(lanes)
        write(lanes, values + shift, lanes.unknown(source.registers))

    return execute


def isspacep(instruction: Instruction, names: Names) -> Execute:
    """Whether generic addresses lie in the window of a space. Global memory is everything in no other window, and the
    window of the parameters."""
    space = instruction.opcode.split(".")[1].partition("::")[0]
    if space not in WINDOWS:
        raise Trouble("unsupported", f"`{instruction.opcode}` names no space that the emulator knows")
    target, given = operands_of(instruction)
    source, write = names.source(given, "s64"), names.target(target, "pred")
    starts = list(WINDOWS.values())
    others = [list(WINDOWS).index(name) for name in ("shared", "local", "const")]
    number = list(WINDOWS).index(space)

    def execute(lanes: Lanes) -> None:
        window = np.searchsorted(starts, source.read(lanes), side="right") - 1
        inside = ~np.isin(window, others) if space == "global" else window == number
        write(lanes, inside, lanes.unknown(source.registers))

    return execute


def nothing(instruction: Instruction, names: Names) -> Execute:
    """Instructions that order, hint or wait without an effect here: the emulator runs one instruction after the other,
    and every access is visible at once."""
    return lambda lanes: None


def trap(instruction: Instruction, names: Names) -> Execute:
    def execute(lanes: Lanes) -> None:
        raise Trouble("trap", "the kernel gives up here", lanes.numbers)

    return execute


def createpolicy(instruction: Instruction, names: Names) -> Execute:
    """A cache policy is a hint, so any value will do."""
    write = names.target(operands_of(instruction)[0], "b64")
    return lambda lanes: write(lanes, np.zeros(lanes.count, np.uint64), None)


BUILDERS = {
    "mov": mov,
    "cvta": cvta,
    "isspacep": isspacep,
    "trap": trap,
    "createpolicy": createpolicy,
    **dict.fromkeys(
        """membar fence nanosleep pmevent prefetch prefetchu applypriority griddepcontrol.launch_dependents
        griddepcontrol.wait""".split(),
        nothing,
    ),
}
