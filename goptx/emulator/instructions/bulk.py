"""Bulk copies: `cp.async.bulk` between global and shared memory, and their groups.

A copy moves its bytes at once. In shared memory they count as unwritten until the phase of the mbarrier object that
they complete is over, so strict mode finds reads that come too early; to global memory they are written like a store.
Addresses of `.shared::cluster` are the CTA's own, since clusters have one CTA here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from goptx.emulator.faults import Trouble
from goptx.emulator.instructions.lanewise import Array
from goptx.emulator.instructions.mbarrier import complete_transaction
from goptx.emulator.lanes import Lanes
from goptx.emulator.memory.address_spaces import Space
from goptx.emulator.operands import Names, operands_of
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of

Execute = Callable[[Lanes], None]

CHUNK = 16  # bytes; addresses and sizes are multiples of it
_WORDS = frozenset(
    "cp async bulk shared::cta shared::cluster global mbarrier::complete_tx::bytes bulk_group L2::cache_hint".split()
)


def copy(instruction: Instruction, names: Names) -> Execute:
    """cp.async.bulk.TO.FROM.{mbarrier::complete_tx::bytes,bulk_group} [to], [from], bytes {, [mbarrier]} {, policy}"""
    words = instruction.opcode.split(".")
    spaces = facts_of(instruction.opcode).spaces
    completes = "mbarrier::complete_tx::bytes" in words
    if not set(words) <= _WORDS or (spaces[:1] == ("shared",)) != completes or len(spaces) != 2:
        raise Trouble("unsupported", f"`{instruction.opcode}` is not known to the emulator")
    place, origin, size, *rest = operands_of(instruction)
    to, source = names.address(place, spaces[0])[0], names.address(origin, spaces[1])[0]
    amount = names.source(size, "u32")
    barrier = names.address(rest[0], "shared")[0] if completes else None
    operands = (to, source, amount, *([barrier] if barrier else []))

    def execute(lanes: Lanes) -> None:
        lanes.require(tuple(r for operand in operands for r in operand.registers), "an operand of a copy")
        values = [operand.each(lanes).astype(np.int64) for operand in operands]
        written, read = (lanes.machine.spaces[space] for space in spaces)
        for i in range(lanes.count):
            start, begin, count = (int(v[i]) for v in values[:3])
            if any(v % CHUNK for v in (start, begin, count)):
                message = (
                    f"addresses and bytes of a bulk copy are multiples of {CHUNK}, not {start:#x}, {begin:#x}, {count}"
                )
                raise Trouble("misaligned", message, lanes.numbers[i : i + 1])
            if count == 0:
                continue
            offsets = np.arange(0, count, CHUNK)
            numbers = np.repeat(lanes.numbers[i : i + 1], len(offsets))
            _move(lanes, written, start + offsets, read, begin + offsets, numbers, completes)
            if barrier is not None:
                at = values[3][i : i + 1]
                lanes.machine.copies.issue_until(numbers, start + offsets, CHUNK, written.places(at, numbers[:1]))
                complete_transaction(lanes, i, at, count)

    return execute


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


def nothing(instruction: Instruction, names: Names) -> Execute:
    """Groups, waits for groups that have nothing in flight, and prefetches."""
    return lambda lanes: None


BUILDERS = {
    "cp.async.bulk": copy,
    "cp.async.bulk.commit_group": nothing,
    "cp.async.bulk.wait_group": nothing,
    "cp.async.bulk.prefetch.L2": nothing,
}
