"""What CTAs of a cluster do with each other: `mapa`, `getctarank`, `st.async`, `red.async`.

A cluster has one CTA here, of rank 0, so shared memory of the cluster is that of the CTA.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from goptx.emulator.faults import Trouble
from goptx.emulator.instructions.atomics import atomic
from goptx.emulator.instructions.lanewise import DTYPES
from goptx.emulator.instructions.load_store import check_alignment, store
from goptx.emulator.instructions.mbarrier import complete_transaction
from goptx.emulator.lanes import Lanes
from goptx.emulator.operands import Names, Source, operands_of
from goptx.ptx.ir import Instruction

Execute = Callable[[Lanes], None]

_COMPLETION = "mbarrier::complete_tx::bytes"
_TO_SHARED = frozenset(f"async weak relaxed cluster shared::cluster {_COMPLETION} v2 v4".split())
_TO_GLOBAL = frozenset("async mmio release gpu sys global".split())


def mapa(instruction: Instruction, names: Names) -> Execute:
    """mapa{.shared::cluster}.TYPE to, address, rank"""
    type_ = instruction.opcode.split(".")[-1]
    target, address, rank = operands_of(instruction)
    source, number, write = names.source(address, type_), names.source(rank, "u32"), names.target(target, type_)

    def execute(lanes: Lanes) -> None:
        lanes.require(number.registers, "the rank of a CTA")
        others = number.each(lanes) != 0
        if others.any():
            wanted = int(number.each(lanes)[others][0])
            raise Trouble("out of bounds", f"a cluster of one CTA has none of rank {wanted}", lanes.numbers[others])
        write(lanes, source.each(lanes).copy(), source.missing(lanes))

    return execute


def getctarank(instruction: Instruction, names: Names) -> Execute:
    write = names.target(operands_of(instruction)[0], "u32")
    return lambda lanes: write(lanes, np.zeros(lanes.count, np.uint32), None)


def st_async(instruction: Instruction, names: Names) -> Execute:
    """st.async into shared memory, whose bytes count as unwritten until the phase of the mbarrier object is over; or a
    store with release semantics to global memory."""
    words = instruction.opcode.split(".")[1:]
    type_, vector = words[-1], next((w for w in words if w in ("v2", "v4")), "")
    if _COMPLETION not in words:
        _check(instruction, words[:-1], _TO_GLOBAL, {"release"})
        return store(replace(instruction, opcode=f"st.global.{type_}"), names)
    _check(instruction, words[:-1], _TO_SHARED - {"relaxed", "cluster"}, {"shared::cluster"})
    place, given, barrier = operands_of(instruction)
    to, object_ = names.address(place, "shared")[0], names.address(barrier, "shared")[0]
    values = [names.source(part, type_) for part in names.parts(given)]
    if len(values) != int(vector[1:] or 1):
        raise Trouble("unsupported", f"{vector or 1} elements do not fit `{given}`")
    width = DTYPES[type_].itemsize
    registers = tuple(r for source in (to, object_, *values) for r in source.registers)

    def execute(lanes: Lanes) -> None:
        machine = lanes.machine
        lanes.require(registers, "an operand of an asynchronous store")
        addresses, shared = to.each(lanes), machine.spaces["shared"]
        check_alignment(addresses, width * len(values), lanes)
        places = shared.places(object_.each(lanes), lanes.numbers)
        for i, value in enumerate(values):
            at, content = addresses + i * width, value.each(lanes).view(f"u{width}")
            if machine.races:
                machine.races.write(shared, at, content, width, lanes.numbers, False)
            shared.store(at, content, width, lanes.numbers, np.ones(lanes.count, np.bool_))
            for k in range(lanes.count):
                machine.copies.issue_until(lanes.numbers[k : k + 1], at[k : k + 1], width, places[k : k + 1])
        machine.traffic.count("shared", addresses, lanes.numbers, width * len(values))
        _complete(lanes, object_, width * len(values))

    return execute


def red_async(instruction: Instruction, names: Names) -> Execute:
    """red.async in shared memory, which completes bytes of an mbarrier object; or with release semantics in global
    memory."""
    words = instruction.opcode.split(".")[1:]
    *rest, operation, type_ = words
    if _COMPLETION not in words:
        _check(instruction, rest, _TO_GLOBAL, {"release"})
        return atomic(replace(instruction, opcode=f"red.global.{operation}.{type_}"), names)
    _check(instruction, rest, _TO_SHARED - {"v2", "v4", "weak"}, {"relaxed", "cluster"})
    place, given, barrier = instruction.operands
    object_ = names.address(barrier, "shared")[0]
    act = atomic(replace(instruction, opcode=f"red.shared.{operation}.{type_}", operands=(place, given)), names)
    width = DTYPES[type_].itemsize

    def execute(lanes: Lanes) -> None:
        lanes.require(object_.registers, "an operand of an asynchronous reduction")
        act(lanes)
        _complete(lanes, object_, width)

    return execute


def _complete(lanes: Lanes, object_: Source, count: int) -> None:
    """The bytes of every lane have arrived."""
    addresses = object_.each(lanes)
    for i in range(lanes.count):
        complete_transaction(lanes, i, addresses[i : i + 1], count)


def _check(instruction: Instruction, words: list[str], known: frozenset[str], needed: set[str]) -> None:
    """Checks the words before the operation and the type."""
    if not needed <= set(words) <= known:
        raise Trouble("unsupported", f"`{instruction.opcode}` is not known to the emulator")


BUILDERS = {"mapa": mapa, "getctarank": getctarank, "st.async": st_async, "red.async": red_async}
