"""Warp instructions: `shfl`, `vote`, `match`, `redux`, `elect`, `activemask`, `bar.warp.sync`.

Requires: the machine has gathered the lanes that the mask names. So all of them are among `lanes`, and all have the
same mask.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np

from goptx.emulator.faults import Trouble
from goptx.emulator.floating.floating import floating
from goptx.emulator.instructions.lanewise import DTYPES, Array
from goptx.emulator.lane_groups import pack
from goptx.emulator.lanes import WARP, Lanes
from goptx.emulator.memory.undefined import whole
from goptx.emulator.operands import Names, Source, operands_of
from goptx.ptx.ir import Instruction

Execute = Callable[[Lanes], None]


def _synchronous(instruction: Instruction) -> list[str]:
    """The opcode's words. The forms without `.sync` ended with sm_70."""
    words = instruction.opcode.split(".")
    if "sync" not in words:
        raise Trouble("unsupported", f"`{instruction.opcode}` has no `.sync`, which sm_70 and later require")
    return words


def _per_warp(lanes: Lanes, chosen: Array) -> Array:
    """For every warp of the machine, the mask of the chosen lanes."""
    bits = np.zeros(lanes.machine.lanes, np.bool_)
    bits[lanes.numbers] = chosen
    return pack(bits.reshape(-1, WARP))


def _peers(lanes: Lanes, mask: Source) -> Array:
    """For each lane, the mask of the lanes that execute together with it."""
    wanted = mask.each(lanes)
    return np.asarray(wanted & lanes.machine.alive[lanes.numbers // WARP])


def _read(source: Source, lanes: Lanes) -> Array:
    return source.each(lanes)


def _shared_out(source: Source, lanes: Lanes, use: str) -> Array:
    """The contribution of each lane to the common result."""
    lanes.require(source.registers, use)
    return _read(source, lanes)


def shfl(instruction: Instruction, names: Names) -> Execute:
    words = _synchronous(instruction)
    mode = words[2]
    if words[3:] != ["b32"] or mode not in ("up", "down", "bfly", "idx"):
        raise Trouble("unsupported", f"`{instruction.opcode}` is not known to the emulator")
    target, *given = operands_of(instruction)
    value, distance, clamp, mask = (names.source(o, "b32") for o in given)
    writes = [names.target(o, t) for o, t in zip(names.parts(target), ("b32", "pred"), strict=False)]

    def execute(lanes: Lanes) -> None:
        lanes.require((*distance.registers, *clamp.registers), "an operand of a shuffle")
        lane = lanes.numbers % WARP
        b = _read(distance, lanes).astype(np.int64) & 31
        c = _read(clamp, lanes).astype(np.int64)
        segment = c >> 8 & 31
        last = (lane & segment) | (c & 31 & ~segment)
        if mode == "up":
            other = lane - b
            inside = other >= last
        else:
            other = lane + b if mode == "down" else lane ^ b if mode == "bfly" else (lane & segment) | (b & ~segment)
            inside = other <= last
        source = lanes.numbers - lane + np.where(inside, other, lane)
        values = np.zeros(lanes.machine.lanes, np.uint32)
        values[lanes.numbers] = _read(value, lanes)
        undefined = np.full(lanes.machine.lanes, ~np.uint32(0))  # undefined bits of each lane
        lost = value.missing(lanes)
        undefined[lanes.numbers] = 0 if lost is None else whole(lost, undefined.dtype)
        absent = (_peers(lanes, mask) >> (source % WARP).astype(np.uint32) & np.uint32(1)) == 0
        missing = undefined[source] | whole(absent, undefined.dtype)
        writes[0](lanes, values[source], missing if missing.any() else None)
        if len(writes) > 1:
            writes[1](lanes, inside, None)

    return execute


def vote(instruction: Instruction, names: Names) -> Execute:
    words = _synchronous(instruction)
    mode = words[2]
    target, given, members = operands_of(instruction)
    value, mask = names.source(given, "pred"), names.source(members, "b32")
    write = names.target(target, "b32" if mode == "ballot" else "pred")
    results: dict[str, Callable[[Array, Array], Array]] = {
        "all": lambda held, asked: held == asked,
        "any": lambda held, asked: held != 0,
        "uni": lambda held, asked: (held == 0) | (held == asked),
        "ballot": lambda held, asked: held,
    }
    result = results.get(mode)
    if result is None:
        raise Trouble("unsupported", f"`{instruction.opcode}` is not known to the emulator")

    def execute(lanes: Lanes) -> None:
        held = _per_warp(lanes, _shared_out(value, lanes, "voted on"))[lanes.numbers // WARP]
        asked = _peers(lanes, mask)
        write(lanes, result(held & asked, asked), None)

    return execute


def match(instruction: Instruction, names: Names) -> Execute:
    words = _synchronous(instruction)
    mode, type_ = words[1], words[-1]
    target, given, members = operands_of(instruction)
    value, mask = names.source(given, type_), names.source(members, "b32")
    writes = [names.target(o, t) for o, t in zip(names.parts(target), ("b32", "pred"), strict=False)]
    if mode not in ("any", "all"):
        raise Trouble("unsupported", f"`{instruction.opcode}` is not known to the emulator")

    def execute(lanes: Lanes) -> None:
        values = np.zeros(lanes.machine.lanes, DTYPES[type_])
        values[lanes.numbers] = _shared_out(value, lanes, "matched")
        rows = values.reshape(-1, WARP)[lanes.numbers // WARP]
        asked = _peers(lanes, mask)
        equal = pack(rows == values[lanes.numbers][:, None]) & asked
        if mode == "any":
            writes[0](lanes, equal, None)
            return
        agreed = equal == asked
        writes[0](lanes, np.where(agreed, asked, np.uint32(0)), None)
        if len(writes) > 1:
            writes[1](lanes, agreed, None)

    return execute


_REDUCTIONS: dict[str, np.ufunc] = {
    "add": np.add, "min": np.minimum, "max": np.maximum,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip


def _groups(lanes: Lanes, mask: Source) -> tuple[Array, Array]:
    """The groups of lanes that execute together, and the number of each lane's group."""
    asked = _peers(lanes, mask)
    groups, members = np.unique(lanes.numbers // WARP << 32 | asked.astype(np.int64), return_inverse=True)
    return groups, members.reshape(-1)


def _redux_of_floats(instruction: Instruction, names: Names) -> Execute:
    """redux.sync.{min,max}{.abs}{.NaN}.f32"""
    _, _, operation, *modifiers, type_ = _synchronous(instruction)
    found = floating(".".join([operation, *sorted({*modifiers} & {"NaN"}), type_]))
    if operation not in ("min", "max") or modifiers not in ([], ["abs"], ["NaN"], ["abs", "NaN"]) or found is None:
        raise Trouble("unsupported", f"`{instruction.opcode}` is not known to the emulator")
    target, given, members = operands_of(instruction)
    value, mask, write = names.source(given, "f32"), names.source(members, "b32"), names.target(target, "f32")
    none = np.float32("inf" if operation == "min" else "-inf") if "NaN" in modifiers else np.float32("nan")

    def execute(lanes: Lanes) -> None:
        values = _shared_out(value, lanes, "reduced")
        groups, group = _groups(lanes, mask)
        rows = np.full((WARP, len(groups)), none)
        rows[lanes.numbers % WARP, group] = np.abs(values) if "abs" in modifiers else values
        write(lanes, reduce(found.apply, rows)[group], None)

    return execute


def redux(instruction: Instruction, names: Names) -> Execute:
    words = _synchronous(instruction)
    operation, type_ = words[2], words[-1]
    if type_ == "f32":
        return _redux_of_floats(instruction, names)
    if operation not in _REDUCTIONS or len(words) != 4 or type_ not in ("u32", "s32", "b32"):
        raise Trouble("unsupported", f"`{instruction.opcode}` is not known to the emulator")
    target, given, members = operands_of(instruction)
    value, mask, write = names.source(given, type_), names.source(members, "b32"), names.target(target, type_)
    combine = _REDUCTIONS[operation]

    def execute(lanes: Lanes) -> None:
        values = _shared_out(value, lanes, "reduced")
        groups, members = _groups(lanes, mask)
        order = np.argsort(members, kind="stable")
        starts = np.searchsorted(members[order], np.arange(len(groups)))
        reduced = combine.reduceat(np.ascontiguousarray(values[order]), starts, dtype=values.dtype)
        write(lanes, reduced[members], None)

    return execute


def elect(instruction: Instruction, names: Names) -> Execute:
    target, members = operands_of(instruction)
    mask = names.source(members, "b32")
    writes = [names.target(o, t) for o, t in zip(names.parts(target), ("b32", "pred"), strict=False)]

    def execute(lanes: Lanes) -> None:
        asked = _peers(lanes, mask).astype(np.int64)
        leader = np.log2(asked & -asked).astype(np.uint32)  # the lowest lane
        for write, values in zip(writes, (leader, leader == lanes.numbers % WARP), strict=False):
            write(lanes, values, None)

    return execute


def activemask(instruction: Instruction, names: Names) -> Execute:
    write = names.target(operands_of(instruction)[0], "b32")

    def execute(lanes: Lanes) -> None:
        running = _per_warp(lanes, np.ones(lanes.count, np.bool_))[lanes.numbers // WARP]
        groups = lanes.machine.groups
        own = np.zeros(lanes.machine.lanes, np.uint32)  # each lane's group: a warp may have several
        own[groups.lanes()] = np.repeat(groups.masks, groups.active().sum(axis=1))
        write(lanes, running & own[lanes.numbers], None)

    return execute


def bar_warp_sync(instruction: Instruction, names: Names) -> Execute:
    (members,) = operands_of(instruction)
    mask = names.source(members, "b32")

    def execute(lanes: Lanes) -> None:
        if lanes.machine.races:
            lanes.machine.races.warp(lanes.numbers, _peers(lanes, mask))

    return execute


BUILDERS = {
    "shfl": shfl,
    "vote": vote,
    "match": match,
    "redux": redux,
    "elect": elect,
    "activemask": activemask,
    "bar.warp": bar_warp_sync,
}
