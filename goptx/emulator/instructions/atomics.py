"""Atomic operations: `atom` and `red`, in lane order where several lanes use one address."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from goptx.emulator.faults import Trouble
from goptx.emulator.floating.floating import floating
from goptx.emulator.instructions.lanewise import DTYPES, Array
from goptx.emulator.instructions.load_store import check_alignment
from goptx.emulator.integer.integer import integer
from goptx.emulator.lanes import Lanes
from goptx.emulator.memory.address_spaces import Space
from goptx.emulator.operands import WIDE, Names, operands_of
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of

Execute = Callable[[Lanes], None]
Combine = Callable[..., Array]  # from the old value and the operands to the new value

_FLOATS = "f16 f16x2 bf16 bf16x2 f32 f64"
_EXTREMES = "u32 s32 u64 s64 f16 f16x2 bf16 bf16x2"
_FORMS: dict[str, str] = {  # operations, and the types that each is for
    "add": f"u32 s32 u64 {_FLOATS}", "inc": "u32", "dec": "u32", "min": _EXTREMES, "max": _EXTREMES,
    "and": "b32 b64", "or": "b32 b64", "xor": "b32 b64", "exch": "b32 b64 b128", "cas": "b16 b32 b64 b128",
}  # fmt: skip
_WORDS = frozenset(
    """atom red relaxed acquire release acq_rel cta cluster gpu sys noftz L2::cache_hint global shared shared::cta
    shared::cluster v2 v4 v8""".split()
)


def _inc(old: Array, limit: Array) -> Array:
    return np.where(old >= limit, 0, old + 1).astype(old.dtype)


def _dec(old: Array, limit: Array) -> Array:
    return np.where((old == 0) | (old > limit), limit, old - 1).astype(old.dtype)


def _exchange(old: Array, new: Array) -> Array:
    return new


def _swap_if_equal(old: Array, expected: Array, new: Array) -> Array:
    return np.where(old == expected, new, old)


_OWN: dict[str, Combine] = {"inc": _inc, "dec": _dec, "exch": _exchange, "cas": _swap_if_equal}


def combination(operation: str, type_: str, flush: bool) -> Combine:
    """The function from the old to the new value. `flush`: subnormal singles become zero, as for additions in global
    memory; in shared memory they do not."""
    if operation in _OWN:
        return _OWN[operation]
    ftz = ".ftz" if type_ == "f32" and flush else ""
    rounding = ".rn" if operation == "add" and type_ in _FLOATS.split() else ""
    found = integer(f"{operation}.{type_}") or floating(f"{operation}{rounding}{ftz}.{type_}")
    assert found is not None
    return found.apply


def atomic(instruction: Instruction, names: Names) -> Execute:
    words = instruction.opcode.split(".")
    returns = words[0] == "atom"
    facts = facts_of(instruction.opcode)
    operation = next((w for w in words if w in _FORMS), "")
    type_ = facts.types[0] if facts.types else ""
    unknown = not set(words) <= {*_WORDS, operation, type_} or (operation in ("exch", "cas") and not returns)
    if unknown or type_ not in _FORMS.get(operation, "").split():
        raise Trouble("unsupported", f"`{instruction.opcode}` is not known to the emulator")
    vector = next((int(w[1:]) for w in words if w in ("v2", "v4", "v8")), 1)
    combine, flushing = (combination(operation, type_, flush) for flush in (False, True))
    operands = operands_of(instruction)
    target, operands = (operands[0], operands[1:]) if returns else (None, operands)
    source, space = names.address(operands[0], facts.space)
    count = 2 if operation == "cas" else 1
    given = [[names.source(p, type_) for p in names.parts(o)] for o in operands[1 : 1 + count]]
    writes = names.targets(target, (type_,) * vector) if target is not None else []
    dtype = WIDE if type_ == "b128" else DTYPES[type_]
    width = dtype.itemsize
    additive = operation == "add" and type_ not in _FLOATS.split()

    def execute(lanes: Lanes) -> None:
        machine = lanes.machine
        registers = (*source.registers, *(r for parts in given for p in parts for r in p.registers))
        lanes.require(registers, "an operand of an atomic")
        addresses = source.each(lanes)
        check_alignment(addresses, vector * width, lanes)
        parts = machine.memory.parts(space, addresses)
        every = [[source.each(lanes) for source in sources] for sources in given]
        if vector > 1 and writes:  # a register may be both a result and a later element
            every = [[values.copy() for values in elements] for elements in every]
        for element in range(vector):
            values = [elements[element] for elements in every]
            olds = np.empty(lanes.count, dtype)
            for found, chosen, own in parts:
                numbers, at = lanes.numbers[chosen], own + element * width
                if found.name == "local":
                    raise Trouble("out of bounds", "atomics are for global and shared memory, not local", numbers)
                mine = [v[chosen] for v in values]
                machine.traffic.count(found.name, at, numbers, width)
                if machine.races:
                    machine.races.atomic(found, at, width, numbers)
                if additive:
                    olds[chosen] = _sum_in_lane_order(found, at, mine[0], numbers, machine.strict)
                else:
                    apply = combine if found.name == "shared" else flushing
                    olds[chosen] = in_lane_order(found, at, mine, apply, numbers, dtype, machine.strict)
            if writes:
                writes[element](lanes, olds, None)

    return execute


def _rounds(addresses: Array) -> list[Array]:
    """The positions of the addresses in rounds: no round has an address twice, and equal ones remain in order."""
    order = np.argsort(addresses, kind="stable")
    ordered = addresses[order]
    first = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    if len(first) == len(addresses):
        return [np.arange(len(addresses))]
    turn = np.arange(len(addresses)) - np.repeat(first, np.diff(np.append(first, len(addresses))))
    by_turn = np.argsort(turn, kind="stable")
    return np.split(order[by_turn], np.flatnonzero(np.diff(turn[by_turn])) + 1)


def in_lane_order(
    space: Space,
    addresses: Array,
    values: list[Array],
    combine: Combine,
    numbers: Array,
    dtype: np.dtype[np.generic],
    strict: bool,
) -> Array:
    """Executes the lanes one after the other where they use one address. Returns the old values."""
    olds = space.load(addresses, dtype.itemsize, numbers, strict)[0].view(dtype)
    _, first, at = np.unique(space.places(addresses, numbers), return_index=True, return_inverse=True)
    now = olds[first]
    if combine is _swap_if_equal:
        _swap_in_lane_order(olds, now, at, *values)
    else:
        for turn in _rounds(at):
            olds[turn] = now[at[turn]]
            now[at[turn]] = combine(olds[turn], *(v[turn] for v in values))
    space.store(addresses, now[at].view(_raw(dtype)), dtype.itemsize, numbers, None)
    return olds


def _swap_in_lane_order(olds: Array, now: Array, at: Array, expected: Array, new: Array) -> None:
    """`cas` of each lane on `now[at]`. Few swaps succeed where many lanes want one lock, so each round skips to the
    next one that does."""
    left = np.argsort(at, kind="stable")
    while len(left):
        olds[left] = now[at[left]]
        equal = np.flatnonzero(expected[left] == olds[left])
        places, first = np.unique(at[left[equal]], return_index=True)
        swaps = np.full(len(now), len(left))  # for each place the first of `left` to swap
        swaps[places] = equal[first]
        now[places] = new[left[equal[first]]]
        left = left[np.arange(len(left)) > swaps[at[left]]]


def _sum_in_lane_order(space: Space, addresses: Array, values: Array, numbers: Array, strict: bool) -> Array:
    """`in_lane_order` for integer sums: their order matters only to the old values, so all are added at once."""
    width = values.dtype.itemsize
    old = space.load(addresses, width, numbers, strict)[0].view(values.dtype)
    places = space.places(addresses, numbers)
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    first = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    lengths = np.diff(np.append(first, len(ordered)))
    running = np.cumsum(values[order], dtype=values.dtype)
    before = running - values[order]
    preceding = before - np.repeat(before[first], lengths)  # the sum of earlier lanes at the same address
    olds = np.empty_like(old)
    olds[order] = old[order] + preceding
    space.store(
        addresses[order], (old[order] + preceding + values[order]).view(_raw(values.dtype)), width, numbers[order], None
    )
    return olds


def _raw(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    return dtype if dtype == WIDE else np.dtype(f"u{dtype.itemsize}")


BUILDERS = {"atom": atomic, "red": atomic}
