"""Copies that complete later: `cp.async` and its groups.

A copy moves its bytes at once, but they count as unwritten until the thread has waited for it. So strict mode finds
reads that come too early.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from goptx.emulator.faults import Trouble
from goptx.emulator.instructions.constant_expression import whole
from goptx.emulator.instructions.lanewise import Array
from goptx.emulator.instructions.load_store import check_alignment
from goptx.emulator.lanes import Lanes
from goptx.emulator.memory.address_spaces import Space
from goptx.emulator.memory.races import Races
from goptx.emulator.operands import Names, operands_of
from goptx.ptx.ir import Instruction, Name

Execute = Callable[[Lanes], None]


@dataclass(slots=True)
class _Copy:
    """Bytes in flight: for each lane the address, the number of its group, and the place of the mbarrier object at
    which its completion arrives (-1: none)."""

    lanes: Array
    groups: Array
    barriers: Array
    addresses: Array
    width: int


@dataclass(slots=True)
class Copies:
    """The copies of a machine that no thread has waited for. `committed` counts the groups of each lane."""

    shared: Space
    committed: Array
    races: Races | None
    pending: list[_Copy] = field(default_factory=list)

    def issue(self, lanes: Array, addresses: Array, width: int) -> None:
        self.pending.append(_Copy(lanes, self.committed[lanes], np.full(len(lanes), -1), addresses, width))

    def issue_until(self, lanes: Array, addresses: Array, width: int, barrier: Array) -> None:
        """Issues bytes that complete with a phase of the mbarrier object, whatever groups are waited for."""
        never = np.full(len(lanes), np.iinfo(np.int64).max)
        self.pending.append(_Copy(lanes, never, np.repeat(barrier, len(lanes)), addresses, width))

    def attach(self, lanes: Array, barriers: Array) -> None:
        """Makes the lanes' copies complete also with the phase of an mbarrier object."""
        places = np.full(len(self.committed), -1)
        places[lanes] = barriers
        for copy in self.pending:
            copy.barriers = np.where(copy.barriers < 0, places[copy.lanes], copy.barriers)

    def arrive(self, barrier: int) -> None:
        """Completes the copies attached to the object, whose phase is over."""
        self._complete(lambda copy: copy.barriers == barrier)

    def wait(self, lanes: Array, groups: Array) -> None:
        """Completes the lanes' copies in groups numbered below `groups` (one number for each of the lanes)."""
        limit = np.zeros(len(self.committed), np.int64)
        limit[lanes] = groups
        for copy in self._complete(lambda copy: copy.groups < limit[copy.lanes]):
            own = copy.barriers < 0  # the phase orders the others for the threads that wait for it
            if self.races:
                self.races.written(self.shared, copy.addresses[own], copy.width, copy.lanes[own])

    def _complete(self, which: Callable[[_Copy], Array]) -> list[_Copy]:
        pending, self.pending = self.pending, []
        complete: list[_Copy] = []
        for copy in pending:
            done = which(copy)
            for where, part in ((complete, done), (self.pending, ~done)):
                if part.any():
                    lanes, groups, barriers, addresses = (
                        a[part] for a in (copy.lanes, copy.groups, copy.barriers, copy.addresses)
                    )
                    where.append(_Copy(lanes, groups, barriers, addresses, copy.width))
        for copy in complete:
            self.shared.finish(copy.addresses, copy.width, copy.lanes)
        return complete


_COPY_WORDS = frozenset("cp async ca cg shared shared::cta global L2::cache_hint L2::64B L2::128B L2::256B".split())


def cp_async(instruction: Instruction, names: Names) -> Execute:
    """cp.async.{ca,cg}.shared.global [to], [from], bytes {, bytes read | ignore} {, policy}"""
    words = instruction.opcode.split(".")
    if not set(words) <= _COPY_WORDS:
        raise Trouble("unsupported", f"`{instruction.opcode}` is not known to the emulator")
    place, origin, size, *rest = operands_of(instruction)
    to, _ = names.address(place, "shared")
    source, _ = names.address(origin, "global")
    total = whole(str(size))
    if total not in (4, 8, 16) or ("cg" in words and total != 16):
        raise Trouble("unsupported", f"`{instruction.opcode}` copies no {size} bytes")
    if rest and "L2::cache_hint" in words:
        rest = rest[:-1]
    ignored = None
    if rest:
        is_predicate = isinstance(rest[0], Name) and names.holds_predicate(rest[0].text)
        ignored = names.source(rest[0], "pred" if is_predicate else "b32")

    def execute(lanes: Lanes) -> None:
        machine, numbers = lanes.machine, lanes.numbers
        lanes.require(
            (*to.registers, *source.registers, *(ignored.registers if ignored else ())), "an operand of a copy"
        )
        addresses, origins = (s.each(lanes) for s in (to, source))
        amount = np.full(lanes.count, total)
        if ignored is not None:
            given = ignored.each(lanes)
            amount = np.where(given, 0, total) if given.dtype == np.bool_ else given.astype(np.int64)
            if int(amount.max()) > total:
                raise Trouble("out of bounds", f"a copy of {total} bytes reads more than them", numbers[amount > total])
        shared, global_ = machine.spaces["shared"], machine.spaces["global"]
        check_alignment(addresses, total, lanes)
        check_alignment(origins, total, lanes)
        machine.traffic.count("global", origins, numbers, total)
        machine.traffic.count("shared", addresses, numbers, total)
        missing = np.ones(lanes.count, np.bool_)  # defined when the copy is complete
        if (amount == total).all():
            content = global_.load(origins, total, numbers, machine.strict)[0]
            if machine.races:
                machine.races.read(global_, origins, total, numbers, False)
                machine.races.write(shared, addresses, content, total, numbers, False)
            shared.store(addresses, content, total, numbers, missing)
        else:
            for i in range(total):  # byte by byte: beyond the bytes read it writes zeros
                reads = amount > i
                values = np.zeros(lanes.count, np.uint8)
                if reads.any():
                    values[reads] = global_.load(origins[reads] + i, 1, numbers[reads], machine.strict)[0]
                if machine.races:
                    machine.races.read(global_, origins[reads] + i, 1, numbers[reads], False)
                    machine.races.write(shared, addresses + i, values, 1, numbers, False)
                shared.store(addresses + i, values, 1, numbers, missing)
        machine.copies.issue(numbers, addresses, total)

    return execute


def commit_group(instruction: Instruction, names: Names) -> Execute:
    def execute(lanes: Lanes) -> None:
        lanes.machine.copies.committed[lanes.numbers] += 1

    return execute


def wait_group(instruction: Instruction, names: Names) -> Execute:
    (left,) = (whole(str(o)) for o in operands_of(instruction))

    def execute(lanes: Lanes) -> None:
        copies = lanes.machine.copies
        copies.wait(lanes.numbers, copies.committed[lanes.numbers] - left)

    return execute


def wait_all(instruction: Instruction, names: Names) -> Execute:
    def execute(lanes: Lanes) -> None:
        copies = lanes.machine.copies
        copies.wait(lanes.numbers, copies.committed[lanes.numbers] + 1)

    return execute


BUILDERS = {
    "cp.async": cp_async,
    "cp.async.commit_group": commit_group,
    "cp.async.wait_group": wait_group,
    "cp.async.wait_all": wait_all,
}
