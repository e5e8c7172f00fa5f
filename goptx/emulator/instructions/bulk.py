"""Bulk operations: `cp.async.bulk` between global and shared memory, its groups, `cp.reduce.async.bulk`, `st.bulk`,
`discard`, and the copy of a tensor map by a warp.

A copy moves its bytes at once. In shared memory they count as unwritten until the phase of the mbarrier object that
they complete is over, so strict mode finds reads that come too early; to global memory they are written like a store.
Addresses of `.shared::cluster` are the CTA's own, since clusters have one CTA here. The results of a reduction are
there at once, since others may be added to them before the phase is over.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from goptx.emulator.faults import Trouble
from goptx.emulator.instructions.atomics import combination, in_lane_order
from goptx.emulator.instructions.lanewise import DTYPES, Array
from goptx.emulator.instructions.load_store import check_alignment
from goptx.emulator.instructions.mbarrier import complete_transaction
from goptx.emulator.lanes import WARP, Lanes
from goptx.emulator.memory.address_spaces import Space
from goptx.emulator.operands import Names, Source, operands_of
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of

Execute = Callable[[Lanes], None]

CHUNK = 16  # bytes; addresses and sizes are multiples of it
_WORDS = frozenset(
    """cp async bulk shared::cta shared::cluster global mbarrier::complete_tx::bytes bulk_group L2::cache_hint cp_mask
    multicast::cluster""".split()
)
_LINE = 128  # bytes of a tensor map, and of a line of the L2 cache
# The reductions into shared and into global memory, and the types that each is for.
_REDUCTIONS = {
    "shared": {"add": "u32 s32 u64", "inc": "u32", "dec": "u32", "min": "u32 s32", "max": "u32 s32",
               "and": "b32", "or": "b32", "xor": "b32"},
    "global": {"add": "u32 s32 u64 f32 f64 f16 bf16", "inc": "u32", "dec": "u32", "and": "b32 b64", "or": "b32 b64",
               "xor": "b32 b64", "min": "u32 s32 u64 s64 f16 bf16", "max": "u32 s32 u64 s64 f16 bf16"},
}  # fmt: skip


def copy(instruction: Instruction, names: Names) -> Execute:
    """cp.async.bulk.TO.FROM.{mbarrier::complete_tx::bytes,bulk_group} [to], [from], bytes {, [mbarrier]} {, CTAs}
    {, policy} {, mask}"""
    words = instruction.opcode.split(".")
    spaces = facts_of(instruction.opcode).spaces
    completes = "mbarrier::complete_tx::bytes" in words
    if not set(words) <= _WORDS or (spaces[:1] == ("shared",)) != completes or len(spaces) != 2:
        raise Trouble("unsupported", f"`{instruction.opcode}` is not known to the emulator")
    place, origin, size, *rest = operands_of(instruction)
    to, source = names.address(place, spaces[0])[0], names.address(origin, spaces[1])[0]
    amount = names.source(size, "u32")
    barrier = names.address(rest[0], "shared")[0] if completes else None
    ctas = names.source(rest[1], "u16") if "multicast::cluster" in words else None
    mask = names.source(rest[-1], "u16") if "cp_mask" in words else None
    operands = (to, source, amount, *(operand for operand in (barrier, ctas, mask) if operand))

    def execute(lanes: Lanes) -> None:
        lanes.require(tuple(r for operand in operands for r in operand.registers), "an operand of a copy")
        values = [operand.each(lanes).astype(np.int64) for operand in operands]
        written, read = (lanes.machine.spaces[space] for space in spaces)
        _check_ctas(ctas, lanes)
        for i in range(lanes.count):
            start, begin, count = (int(v[i]) for v in values[:3])
            _check_chunks(lanes.numbers[i : i + 1], start, begin, count)
            if count == 0:
                continue
            offsets = np.arange(0, count, CHUNK)
            if mask is not None:
                _move_masked(lanes, i, written, start + offsets, read, begin + offsets, int(values[-1][i]))
                continue
            numbers = np.repeat(lanes.numbers[i : i + 1], len(offsets))
            _move(lanes, written, start + offsets, read, begin + offsets, numbers, completes)
            if barrier is not None:
                at = values[3][i : i + 1]
                lanes.machine.copies.issue_until(numbers, start + offsets, CHUNK, written.places(at, numbers[:1]))
                complete_transaction(lanes, i, at, count)

    return execute


def _check_chunks(lane: Array, *numbers: int) -> None:
    """Checks the addresses and the size of what one lane moves."""
    if any(number % CHUNK for number in numbers):
        found = ", ".join(f"{number:#x}" for number in numbers[:-1])
        message = f"addresses and bytes of a bulk copy are multiples of {CHUNK}, not {found}, {numbers[-1]}"
        raise Trouble("misaligned", message, lane)


def _check_ctas(ctas: Source | None, lanes: Lanes) -> None:
    """Checks that a copy to several CTAs of a cluster names the only one."""
    if ctas is not None and (others := ctas.each(lanes) != 1).any():
        raise Trouble("out of bounds", "a copy is for CTAs other than the one of its cluster", lanes.numbers[others])


def _move_masked(lanes: Lanes, lane: int, to: Space, places: Array, source: Space, origins: Array, mask: int) -> None:
    """Copies those bytes of each chunk whose bit is set in the mask."""
    machine = lanes.machine
    numbers = np.repeat(lanes.numbers[lane : lane + 1], len(places))
    for byte in range(CHUNK):
        if mask >> byte & 1:
            content = source.load(origins + byte, 1, numbers, machine.strict)[0]
            if machine.races:
                machine.races.read(source, origins + byte, 1, numbers, False)
                machine.races.write(to, places + byte, content, 1, numbers, False)
            to.store(places + byte, content, 1, numbers, None)
    machine.traffic.count(source.name, origins, numbers, CHUNK)
    machine.traffic.count(to.name, places, numbers, CHUNK)


def _move(
    lanes: Lanes, to: Space, places: Array, source: Space, origins: Array, numbers: Array, completes_later: bool
) -> None:
    machine = lanes.machine
    content = source.load(origins, CHUNK, numbers, machine.strict)[0]
    if machine.races:
        machine.races.read(source, origins, CHUNK, numbers, False)
        machine.races.write(to, places, content, CHUNK, numbers, False)
    to.store(places, content, CHUNK, numbers, np.ones(len(numbers), np.bool_) if completes_later else None)
    machine.traffic.count(source.name, origins, numbers, CHUNK)
    machine.traffic.count(to.name, places, numbers, CHUNK)


def reduce(instruction: Instruction, names: Names) -> Execute:
    """cp.reduce.async.bulk.TO.shared::cta.{mbarrier::complete_tx::bytes,bulk_group}.OPERATION.TYPE [to], [from], bytes
    {, [mbarrier]} {, policy}"""
    words = instruction.opcode.split(".")
    facts = facts_of(instruction.opcode)
    completes = "mbarrier::complete_tx::bytes" in words
    to_space = "shared" if completes else "global"
    operation, type_ = next((w for w in words if w in _REDUCTIONS[to_space]), ""), words[-1]
    unknown = not set(words) <= {*_WORDS, "reduce", "noftz", operation, type_} or facts.spaces != (to_space, "shared")
    if unknown or type_ not in _REDUCTIONS[to_space].get(operation, "").split() or "tensor" in words:
        raise Trouble("unsupported", f"`{instruction.opcode}` is not known to the emulator")
    place, origin, size, *rest = operands_of(instruction)
    to, source = names.address(place, to_space)[0], names.address(origin, "shared")[0]
    amount = names.source(size, "u32")
    barrier = names.address(rest[0], "shared")[0] if completes else None
    operands = (to, source, amount, *([barrier] if barrier else []))
    combine, dtype = combination(operation, type_, False), DTYPES[type_]  # keeps subnormal singles, on an H200 too

    def execute(lanes: Lanes) -> None:
        lanes.require(tuple(r for operand in operands for r in operand.registers), "an operand of a reduction")
        machine = lanes.machine
        values = [operand.each(lanes).astype(np.int64) for operand in operands]
        written, read = machine.spaces[to_space], machine.spaces["shared"]
        for i in range(lanes.count):
            start, begin, count = (int(v[i]) for v in values[:3])
            _check_chunks(lanes.numbers[i : i + 1], start, begin, count)
            offsets = np.arange(0, count, dtype.itemsize)
            numbers = np.repeat(lanes.numbers[i : i + 1], len(offsets))
            if count:
                content = read.load(begin + offsets, dtype.itemsize, numbers, machine.strict)[0].view(dtype)
                if machine.races:
                    machine.races.read(read, begin + offsets, dtype.itemsize, numbers, False)
                    machine.races.atomic(written, start + offsets, dtype.itemsize, numbers)
                in_lane_order(written, start + offsets, [content], combine, numbers, dtype, machine.strict)
                machine.traffic.count("shared", begin + offsets, numbers, dtype.itemsize)
                machine.traffic.count(to_space, start + offsets, numbers, dtype.itemsize)
            if barrier is not None:
                complete_transaction(lanes, i, values[3][i : i + 1], count)

    return execute


def fill(instruction: Instruction, names: Names) -> Execute:
    """st.bulk{.weak}{.shared::cta} [to], bytes, 0"""
    words = instruction.opcode.split(".")
    place, size, value = operands_of(instruction)
    if not set(words) <= {"st", "bulk", "weak", "shared", "shared::cta"} or str(value) != "0":
        raise Trouble("unsupported", f"`{instruction.opcode}` with the value {value} is not known to the emulator")
    to, space = names.address(place, facts_of(instruction.opcode).space)
    amount = names.source(size, "u64")

    def execute(lanes: Lanes) -> None:
        lanes.require((*to.registers, *amount.registers), "an operand of a bulk store")
        machine = lanes.machine
        sizes = amount.each(lanes).astype(np.int64)
        for found, chosen, own in machine.memory.parts(space, to.each(lanes)):
            if found.name != "shared":
                raise Trouble(
                    "out of bounds", f"`st.bulk` is for shared memory, not {found.name}", lanes.numbers[chosen]
                )
            for start, count, number in zip(own, sizes[chosen], lanes.numbers[chosen], strict=True):
                if start % 8 or count % 8:
                    message = f"address and bytes of a bulk store are multiples of 8, not {start:#x}, {count}"
                    raise Trouble("misaligned", message, np.array([number]))
                places = np.arange(start, start + count, 8)
                numbers, zeros = np.full(len(places), number), np.zeros(len(places), np.uint64)
                if machine.races:
                    machine.races.write(found, places, zeros, 8, numbers, False)
                found.store(places, zeros, 8, numbers, None)
                machine.traffic.count("shared", places, numbers, 8)

    return execute


def discard(instruction: Instruction, names: Names) -> Execute:
    """discard{.global}.L2 [a], 128: what lies there counts as unwritten."""
    place, size = operands_of(instruction)
    if str(size) != str(_LINE):
        raise Trouble("unsupported", f"`{instruction.opcode}` discards {_LINE} bytes, not {size}")
    source, space = names.address(place, facts_of(instruction.opcode).space)

    def execute(lanes: Lanes) -> None:
        lanes.require(source.registers, "an address")
        addresses = source.each(lanes)
        check_alignment(addresses, _LINE, lanes)
        for found, chosen, own in lanes.machine.memory.parts(space, addresses):
            if found.name != "global":
                raise Trouble(
                    "out of bounds", f"`discard` is for global memory, not {found.name}", lanes.numbers[chosen]
                )
            for offset in range(0, _LINE, CHUNK):
                numbers = lanes.numbers[chosen]
                content = found.load(own + offset, CHUNK, numbers, False)[0]
                found.store(own + offset, content, CHUNK, numbers, np.ones(len(numbers), np.bool_))

    return execute


def copy_tensor_map(instruction: Instruction, names: Names) -> Execute:
    """tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.SCOPE.sync.aligned [to], [from], 128: one
    copy by all lanes of a warp."""
    place, origin, size = operands_of(instruction)
    if str(size) != str(_LINE):
        raise Trouble("unsupported", f"a tensor map has {_LINE} bytes, not {size}")
    to, source = names.address(place, "global")[0], names.address(origin, "shared")[0]

    def execute(lanes: Lanes) -> None:
        lanes.require((*to.registers, *source.registers), "an operand of a copy")
        _, firsts = np.unique(lanes.numbers // WARP, return_index=True)
        offsets = np.arange(0, _LINE, CHUNK)
        for i in firsts:
            start, begin = (int(operand.each(lanes)[i]) for operand in (to, source))
            numbers = np.repeat(lanes.numbers[i : i + 1], len(offsets))
            if start % _LINE or begin % _LINE:
                message = f"the addresses of a tensor map are multiples of {_LINE}, not {start:#x}, {begin:#x}"
                raise Trouble("misaligned", message, numbers[:1])
            written, read = (lanes.machine.spaces[space] for space in ("global", "shared"))
            _move(lanes, written, start + offsets, read, begin + offsets, numbers, False)

    return execute


def nothing(instruction: Instruction, names: Names) -> Execute:
    """Groups, waits for groups that have nothing in flight, and prefetches."""
    return lambda lanes: None


BUILDERS = {
    "cp.async.bulk": copy,
    "cp.async.bulk.commit_group": nothing,
    "cp.async.bulk.wait_group": nothing,
    "cp.async.bulk.prefetch.L2": nothing,
    "cp.reduce.async.bulk": reduce,
    "st.bulk": fill,
    "discard": discard,
    "tensormap.cp_fenceproxy": copy_tensor_map,
}
