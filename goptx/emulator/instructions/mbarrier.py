"""`mbarrier` objects: arrivals and transactions counted in 8 bytes of shared memory, phase by phase.

The lanes of an instruction operate one after the other. A phase test changes nothing, so all lanes test at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from goptx.emulator.faults import Trouble
from goptx.emulator.instructions.lanewise import Array
from goptx.emulator.lanes import Lanes
from goptx.emulator.memory.address_spaces import Space
from goptx.emulator.operands import Names, operands_of
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of

Execute = Callable[[Lanes], None]


# The layout of an mbarrier object in its 8 bytes; the ISA does not specify it.
_COUNT = (1 << 20) - 1  # the largest count
_TX_BIAS = 1 << 20


@dataclass(slots=True)
class _Object:
    """pending: arrivals that the phase still waits for; expected: arrivals of a phase; transactions: bytes that it
    also waits for; phase: the number of completed phases, modulo 2."""

    pending: int
    expected: int
    transactions: int
    phase: int

    @classmethod
    def of(cls, word: int) -> _Object:
        return cls(word & _COUNT, word >> 20 & _COUNT, (word >> 40 & 0x1FFFFF) - _TX_BIAS, word >> 63)

    @property
    def word(self) -> int:
        return self.pending | self.expected << 20 | (self.transactions + _TX_BIAS) << 40 | self.phase << 63

    def arrive(self, count: int) -> None:
        if count > self.pending:
            raise Trouble("barrier count", f"{count} arrivals at an mbarrier object that waits for {self.pending}")
        self.pending -= count
        self.settle()

    def settle(self) -> None:
        """Begins the next phase if this one is complete."""
        if self.pending == 0 and self.transactions == 0:
            self.pending = self.expected
            self.phase ^= 1


_MBARRIER_WORDS = frozenset(
    """mbarrier init inval arrive arrive_drop test_wait try_wait parity expect_tx complete_tx noComplete pending_count
    release acquire relaxed cta cluster shared shared::cta shared::cluster b64 cp async
    noinc""".split()
)


def mbarrier(instruction: Instruction, names: Names) -> Execute:
    """All of `mbarrier` within a CTA, and `cp.async.mbarrier.arrive`."""
    words = instruction.opcode.split(".")
    if not set(words) <= _MBARRIER_WORDS:
        raise Trouble("unsupported", f"`{instruction.opcode}` is not known to the emulator")
    if "pending_count" in words:
        return _pending_count(instruction, names)
    operands = list(operands_of(instruction))
    operation = next((w for w in words[1:] if w not in ("async", "mbarrier")), "")
    returns = operation in ("test_wait", "try_wait") or (operation.startswith("arrive") and len(operands) > 1
                                                          and words[0] != "cp")  # fmt: skip
    target = operands.pop(0) if returns else None
    waits = operation in ("test_wait", "try_wait")
    write = None if target is None else names.target(target, "pred" if waits else "b64")
    source, space = names.address(operands.pop(0), facts_of(instruction.opcode).space or "")
    type_ = "b64" if waits and "parity" not in words else "b32"
    value = names.source(operands[0], type_) if operands else None
    act = _nothing if waits else _ACTIONS[operation]

    def execute(lanes: Lanes) -> None:
        machine = lanes.machine
        lanes.require((*source.registers, *(value.registers if value else ())), "an operand of an mbarrier operation")
        addresses = source.each(lanes)
        values = value.each(lanes) if value else np.ones(lanes.count, np.uint64)
        results: Array = np.zeros(lanes.count, np.bool_ if waits else np.uint64)
        for found, chosen, own in machine.memory.parts(space, addresses):
            if found.name != "shared":
                message = f"an mbarrier object lies in shared memory, not in {found.name} memory"
                raise Trouble("out of bounds", message, lanes.numbers[chosen])
            if words[0] == "cp":
                machine.copies.attach(lanes.numbers[chosen], found.places(own, lanes.numbers[chosen]))
            if waits:
                over = _tested(found, own, values[chosen], lanes.numbers[chosen], words)
                if machine.races:
                    machine.races.acquire(found, own[over], lanes.numbers[chosen][over])
                results[chosen] = over
                continue
            places = np.arange(lanes.count)[chosen]
            for i, address in zip(places, own, strict=True):
                results[i] = _apply(found, act, int(address), int(values[i]), lanes, i, words)
        if write is not None:
            write(lanes, results, None)

    return execute


def _tested(space: Space, addresses: Array, values: Array, numbers: Array, words: list[str]) -> Array:
    """For each lane whether the phase of the given state or parity is over."""
    objects, _ = space.load(addresses, 8, numbers, True)
    asked = values & 1 if "parity" in words else values >> np.uint64(63)
    return np.asarray(objects >> np.uint64(63) != asked)


Action = Callable[["_Object", int, list[str]], int]


def _apply(space: Space, act: Action, address: int, value: int, lanes: Lanes, lane: int, words: list[str]) -> int:
    """One lane's operation on the object at the address."""
    at, number = np.array([address]), lanes.numbers[lane : lane + 1]
    if "init" in words:
        if not 0 < value <= _COUNT:
            raise Trouble("barrier count", f"an mbarrier object cannot wait for {value} arrivals", number)
        word = _Object(value, value, 0, 0).word
        space.store(at, np.array([word], np.uint64), 8, number, None)
        return 0
    object_ = _Object.of(int(space.load(at, 8, number, True)[0][0]))
    before, phase = object_.word, object_.phase
    races = lanes.machine.races
    if races and any(w.startswith("arrive") for w in words):
        races.publish(space, at, number)
    try:
        result = act(object_, value, words)
    except Trouble as trouble:
        raise Trouble(trouble.kind, trouble.message, number) from None
    if object_.phase != phase:
        lanes.machine.copies.arrive(int(space.places(at, number)[0]))
    if object_.word != before or "inval" in words:
        missing = np.array([True]) if "inval" in words else None
        space.store(at, np.array([object_.word], np.uint64), 8, number, missing)
    return result


def complete_transaction(lanes: Lanes, lane: int, address: Array, count: int) -> None:
    """Bytes copied for one of the lanes have arrived: completes so many of those that the object waits for."""
    space, number = lanes.machine.spaces["shared"], lanes.numbers[lane : lane + 1]
    if lanes.machine.races:
        lanes.machine.races.publish(space, address, number)
    _apply(space, _complete, int(address[0]), count, lanes, lane, ["mbarrier", "complete_tx"])


def _arrive(object_: _Object, value: int, words: list[str]) -> int:
    state = object_.word
    if words[0] == "cp":
        if "noinc" in words:
            object_.arrive(1)
        return state
    if "expect_tx" in words:
        object_.transactions += value
        value = 1
    if "arrive_drop" in words:
        object_.expected -= value
    phase = object_.phase
    object_.arrive(value)
    if "noComplete" in words and object_.phase != phase:
        raise Trouble("barrier count", "an arrival with `.noComplete` completes the phase")
    return state


def _expect(object_: _Object, value: int, words: list[str]) -> int:
    object_.transactions += value
    return 0


def _complete(object_: _Object, value: int, words: list[str]) -> int:
    object_.transactions -= value
    object_.settle()
    return 0


def _nothing(object_: _Object, value: int, words: list[str]) -> int:
    return 0


_ACTIONS: dict[str, Action] = {
    "init": _nothing, "inval": _nothing, "arrive": _arrive, "arrive_drop": _arrive, "expect_tx": _expect,
    "complete_tx": _complete,
}  # fmt: skip


def _pending_count(instruction: Instruction, names: Names) -> Execute:
    target, state = operands_of(instruction)
    write, source = names.target(target, "b32"), names.source(state, "b64")

    def execute(lanes: Lanes) -> None:
        values = source.each(lanes)
        write(lanes, (values & np.uint64(_COUNT)).astype(np.uint32), lanes.unknown(source.registers))

    return execute


BUILDERS = {
    "cp.async.mbarrier.arrive": mbarrier,
    "mbarrier": mbarrier,
}
