"""Loads and stores in all spaces, with vectors."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from goptx.emulator.faults import Trouble
from goptx.emulator.instructions.lanewise import DTYPES, Array
from goptx.emulator.lanes import Lanes
from goptx.emulator.memory.address_spaces import MAPPED, WRITTEN, Space
from goptx.emulator.memory.undefined import whole
from goptx.emulator.operands import WIDE, Names, operands_of
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of

Execute = Callable[[Lanes], None]
_Part = tuple[Space, Array | slice, Array, Array]  # a space, which of the lanes access it, their addresses and numbers

# Words about visibility and caches. They have no effect here, where every access is visible at once.
_HINTS = frozenset(
    """weak relaxed acquire release volatile mmio cta cluster gpu sys nc ca cg cs lu cv wb wt
    L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate L2::evict_normal L2::evict_first
    L2::evict_last L2::cache_hint L2::64B L2::128B L2::256B unified""".split()
)
_SPACES = frozenset("global shared shared::cta shared::cluster local const param param::entry param::func".split())


class Access:
    """The access of an opcode: space ("" is generic), type, bytes of one element, number of elements, and whether it is
    strong (volatile, relaxed, acquire, release)."""

    def __init__(self, opcode: str) -> None:
        words = opcode.split(".")[1:]
        facts = facts_of(opcode)
        self.type = words[-1]
        self.space = facts.space
        self.elements = next((int(w[1:]) for w in words if w in ("v2", "v4", "v8")), 1)
        self.strong = bool(facts.modifiers & {"volatile", "relaxed", "acquire", "release", "mmio"})
        known = {*_SPACES, "v2", "v4", "v8", self.type}
        unknown = [w for w in words if w not in _HINTS and w not in known]
        if unknown or (self.type not in DTYPES and self.type != "b128"):
            raise Trouble(
                "unsupported", f"`.{(unknown or [self.type])[0]}` of a memory access is not known to the emulator"
            )
        self.dtype = WIDE if self.type == "b128" else DTYPES[self.type]
        self.width = self.dtype.itemsize


_access = lru_cache(1 << 12)(Access)


def load(instruction: Instruction, names: Names, checked: bool = True) -> Execute:
    """A load. If `checked`, reading uninitialised shared memory is a fault in strict mode; otherwise the loaded value
    is undefined there."""
    access = _access(instruction.opcode)
    operands = operands_of(instruction)
    source, space = names.address(operands[1], access.space)
    writes = names.targets(operands[0], (access.type,) * access.elements)
    if len(writes) != access.elements:
        raise Trouble("unsupported", f"{access.elements} elements do not fit `{operands[0]}`")
    total, width, dtype = access.width * access.elements, access.width, access.dtype
    raw = WIDE if width == 16 else np.dtype(f"u{width}")
    of_parameters = space == "param" and not source.registers

    def execute(lanes: Lanes) -> None:
        machine = lanes.machine
        strict = machine.strict and checked
        if of_parameters and not machine.races:
            content = _parameter(machine.memory.spaces[space], int(source.read(lanes)), total)
            if content is not None:
                for value, write in zip(content.view(raw), writes, strict=True):
                    write(lanes, np.full(lanes.count, value).view(dtype), None)
                return
        lanes.require(source.registers, "an address")
        addresses = source.each(lanes)
        check_alignment(addresses, total, lanes)
        parts = _parts(lanes, space, addresses)
        for found, _, own, numbers in parts:
            machine.traffic.count(found.name, own, numbers, total)
        for i, write in enumerate(writes):
            results = [
                found.load(own + i * width if i else own, width, numbers, strict, True)
                for found, _, own, numbers in parts
            ]
            values, missing = results[0] if len(parts) == 1 else _joined(results, parts, lanes.count, raw)
            write(lanes, values.view(dtype), missing)
        if machine.races:
            for found, _, own, numbers in parts:
                machine.races.read(found, own, total, numbers, access.strong)

    return execute


def _parts(lanes: Lanes, space: str, addresses: Array) -> list[_Part]:
    found = lanes.machine.memory.parts(space, addresses)
    if len(found) == 1:  # all of the lanes
        ((one, chosen, own),) = found
        return [(one, chosen, own, lanes.numbers)]
    return [(one, chosen, own, lanes.numbers[chosen]) for one, chosen, own in found]


def _parameter(space: Space, address: int, size: int) -> Array | None:
    """The bytes of a parameter, which are the same for all lanes; None where they cannot simply be read."""
    at = slice(address - space.base, address - space.base + size)
    if at.start < 0 or at.stop > space.size or address % size or (~space.state[at] & (MAPPED | WRITTEN)).any():
        return None
    return space.bytes[at]


def _joined(
    results: list[tuple[Array, Array | None]], parts: list[_Part], count: int, raw: np.dtype[np.generic]
) -> tuple[Array, Array | None]:
    """The parts of an access as one: values, and the undefined bits (None: all are defined)."""
    values, missing = np.empty(count, raw), np.zeros(count, np.bool_ if raw == WIDE else raw)
    for (part, lost), (_, where, _, _) in zip(results, parts, strict=True):
        values[where] = part
        missing[where] = 0 if lost is None else lost if raw == WIDE else whole(lost, raw)
    return values, missing if missing.any() else None


def store(instruction: Instruction, names: Names) -> Execute:
    access = _access(instruction.opcode)
    operands = operands_of(instruction)
    source, space = names.address(operands[0], access.space)
    values = [names.source(p, access.type) for p in names.parts(operands[1])]
    if len(values) != access.elements:
        raise Trouble("unsupported", f"{access.elements} elements do not fit `{operands[1]}`")
    total, width = access.width * access.elements, access.width
    raw = WIDE if width == 16 else np.dtype(f"u{width}")

    def execute(lanes: Lanes) -> None:
        machine = lanes.machine
        lanes.require(source.registers, "an address")
        addresses = source.each(lanes)
        check_alignment(addresses, total, lanes)
        parts = _parts(lanes, space, addresses)
        for found, _, own, numbers in parts:
            machine.traffic.count(found.name, own, numbers, total)
        for i, value in enumerate(values):
            content = value.each(lanes).view(raw)
            missing = value.missing(lanes)
            for found, chosen, own, numbers in parts:
                lost = None if missing is None else missing[chosen]
                at = own + i * width if i else own
                if lost is not None and found.name != "local" and machine.strict:
                    spoils = np.zeros(lanes.count, np.bool_)
                    spoils[chosen] = _spoils(found, at, lost, width, numbers)
                    lanes.where(spoils).require(value.registers, f"stored to {found.name} memory")
                if machine.races:
                    machine.races.write(found, at, content[chosen], width, numbers, access.strong)
                found.store(at, content[chosen], width, numbers, lost, True)

    return execute


def _spoils(space: Space, addresses: Array, lost: Array, width: int, numbers: Array) -> Array:
    """The lanes that store only undefined bits, or undefined bits over defined ones. The other lanes set some bits of a
    word and leave the rest as undefined as it was."""
    if lost.dtype == np.bool_ or not lost.any():
        return np.asarray(lost != 0)
    before = space.missing(space.words(addresses, width, numbers), width)
    return np.asarray((lost & ~before != 0) | (lost == ~lost.dtype.type(0)))


def check_alignment(addresses: Array, total: int, lanes: Lanes) -> None:
    """Checks that a vector is aligned to all of its bytes. Element accesses check the alignment of elements."""
    if total > 1 and total & (total - 1) == 0 and int(np.bitwise_or.reduce(addresses)) & (total - 1):
        wrong = (addresses & (total - 1)) != 0
        raise Trouble(
            "misaligned", f"address {int(addresses[wrong][0]):#x} is not a multiple of the access's {total} bytes",
            lanes.numbers[wrong],
        )  # fmt: skip


BUILDERS = {"ld": load, "ldu": load, "st": store}
