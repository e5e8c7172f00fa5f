"""Loads and stores in all spaces, with vectors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from goptx.emulator.faults import Trouble
from goptx.emulator.instructions.lanewise import DTYPES, Array
from goptx.emulator.lanes import Lanes
from goptx.emulator.memory.address_spaces import Space
from goptx.emulator.memory.undefined import whole
from goptx.emulator.operands import WIDE, Names, operands_of
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of

Execute = Callable[[Lanes], None]

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

    def __init__(self, instruction: Instruction) -> None:
        words = instruction.opcode.split(".")[1:]
        facts = facts_of(instruction.opcode)
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


def load(instruction: Instruction, names: Names, checked: bool = True) -> Execute:
    """A load. If `checked`, reading uninitialised shared memory is a fault in strict mode; otherwise the loaded value
    is undefined there."""
    access = Access(instruction)
    operands = operands_of(instruction)
    source, space = names.address(operands[1], access.space)
    writes = names.targets(operands[0], (access.type,) * access.elements)
    if len(writes) != access.elements:
        raise Trouble("unsupported", f"{access.elements} elements do not fit `{operands[0]}`")
    total, width, dtype = access.width * access.elements, access.width, access.dtype
    raw = WIDE if width == 16 else np.dtype(f"u{width}")

    def execute(lanes: Lanes) -> None:
        machine = lanes.machine
        lanes.require(source.registers, "an address")
        addresses = source.each(lanes)
        check_alignment(addresses, total, lanes)
        parts = machine.memory.parts(space, addresses)
        for found, chosen, own in parts:
            machine.traffic.count(found.name, own, lanes.numbers[chosen], total)
        for i, write in enumerate(writes):
            results = [
                found.load(own + i * width if i else own, width, lanes.numbers[chosen], machine.strict and checked)
                for found, chosen, own in parts
            ]
            values, missing = _joined(results, [c for _, c, _ in parts], lanes.count, raw)
            write(lanes, values.view(dtype), missing)
        if machine.races:
            for found, chosen, own in parts:
                machine.races.read(found, own, total, lanes.numbers[chosen], access.strong)

    return execute


def _joined(
    results: list[tuple[Array, Array | None]], chosen: list[Array | slice], count: int, raw: np.dtype[np.generic]
) -> tuple[Array, Array | None]:
    """The parts of an access as one: values, and the undefined bits (None: all are defined)."""
    if len(results) == 1:
        return results[0]
    values, missing = np.empty(count, raw), np.zeros(count, np.bool_ if raw == WIDE else raw)
    for (part, lost), where in zip(results, chosen, strict=True):
        values[where] = part
        missing[where] = 0 if lost is None else lost if raw == WIDE else whole(lost, raw)
    return values, missing if missing.any() else None


def store(instruction: Instruction, names: Names) -> Execute:
    access = Access(instruction)
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
        parts = machine.memory.parts(space, addresses)
        for found, chosen, own in parts:
            machine.traffic.count(found.name, own, lanes.numbers[chosen], total)
        for i, value in enumerate(values):
            content = value.each(lanes).view(raw)
            missing = value.missing(lanes)
            for found, chosen, own in parts:
                lost = None if missing is None else missing[chosen]
                at = own + i * width if i else own
                if lost is not None and found.name != "local" and machine.strict:
                    spoils = np.zeros(lanes.count, np.bool_)
                    spoils[chosen] = _spoils(found, at, lost, width, lanes.numbers[chosen])
                    lanes.where(spoils).require(value.registers, f"stored to {found.name} memory")
                if machine.races:
                    machine.races.write(found, at, content[chosen], width, lanes.numbers[chosen], access.strong)
                found.store(at, content[chosen], width, lanes.numbers[chosen], lost)

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
    if total & (total - 1) == 0 and int(np.bitwise_or.reduce(addresses)) & (total - 1):
        wrong = (addresses & (total - 1)) != 0
        raise Trouble(
            "misaligned", f"address {int(addresses[wrong][0]):#x} is not a multiple of the access's {total} bytes",
            lanes.numbers[wrong],
        )  # fmt: skip


BUILDERS = {"ld": load, "ldu": load, "st": store}
