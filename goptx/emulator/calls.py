"""Calls: the callee, how arguments and results are passed, and the few functions that the emulator itself provides."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from goptx.emulator.faults import Trouble
from goptx.emulator.instructions.lanewise import Array
from goptx.emulator.lane_groups import Groups
from goptx.emulator.lanes import Lanes
from goptx.emulator.memory.address_spaces import CODE
from goptx.emulator.memory.layout import FUNCTION_BYTES
from goptx.emulator.program import Code, Invoke
from goptx.ptx.ir import Immediate, Name, Operand, Variable

if TYPE_CHECKING:
    from goptx.emulator.lane_positions import Context, Place
    from goptx.emulator.machine import Machine


def call(machine: Machine, place: Place, invoke: Invoke, groups: Groups, lanes: Lanes) -> Iterator[tuple[str, Array]]:
    """The functions with a body that the groups call, each with its lanes. Functions without a body run here."""
    program = machine.launch.program
    if isinstance(invoke.callee, str):
        if invoke.callee in program.codes:
            yield invoke.callee, groups.masks
            return
        if invoke.callee not in KNOWN:
            raise Trouble(
                "unsupported", f"the function `{invoke.callee}` has no body here and is not known to the emulator"
            )
        KNOWN[invoke.callee](lanes, invoke)
        machine.pass_by(place, invoke, groups)
        return
    lanes.require(invoke.callee.registers, "the address of a function")
    addresses = invoke.callee.each(lanes).astype(np.int64)
    numbers, rest = np.divmod(addresses - CODE, FUNCTION_BYTES)
    for number in np.unique(numbers):
        chosen = groups.packed(numbers == number)
        parted = (chosen != 0) & (chosen != groups.masks)
        if invoke.uniform and machine.strict and parted.any():
            lanes_of = groups.chosen(parted).lanes()
            raise Trouble("convergence", "it is `.uni`, but lanes of one warp call different functions", lanes_of)
        functions = program.layout.functions
        name = functions[number] if 0 <= number < len(functions) else ""
        if name not in program.codes or rest.any():
            wrong = lanes.numbers[numbers == number]
            raise Trouble(
                "out of bounds", f"{int(addresses[numbers == number][0]):#x} is not the address of a function", wrong
            )
        yield name, chosen


def pass_arguments(outer: Lanes, inner: Lanes, invoke: Invoke, code: Code) -> None:
    """Copies the caller's arguments to the callee's parameters."""
    if len(invoke.arguments) != len(code.parameters) or len(invoke.results) != len(code.results):
        raise Trouble("unsupported", f"`{code.name}` takes {len(code.parameters)} arguments")
    for argument, formal in zip(invoke.arguments, code.parameters, strict=True):
        _pass(outer, argument, inner, code, formal)


def pass_results(inner: Lanes, outer: Lanes, context: Context) -> None:
    """Copies the callee's results to the caller."""
    assert context.invoke is not None and context.caller is not None
    caller = context.caller.context.code
    for formal, result in zip(context.code.results, context.invoke.results, strict=True):
        _hand(inner, context.code, formal.name, outer, caller, str(result), formal)


def _pass(outer: Lanes, argument: Operand, inner: Lanes, code: Code, formal: Variable) -> None:
    caller = outer.frame.code
    if isinstance(argument, Name):
        _hand(outer, caller, argument.text, inner, code, formal.name, formal)
        return
    if not isinstance(argument, Immediate):
        raise Trouble("unsupported", f"`{argument}` cannot be passed to a function")
    value = caller.names.source(argument, formal.type).read(outer)
    _put(inner, code, formal.name, np.full(inner.count, value), None, formal)


def _hand(give: Lanes, giver: Code, name: str, take: Lanes, taker: Code, to: str, formal: Variable) -> None:
    """Copies a register, a vector of registers or a parameter variable of one activation to one of another."""
    given, taken = (code.names.vectors.get(n, ()) for code, n in ((giver, name), (taker, to)))
    if len(given) != len(taken):
        raise Trouble("unsupported", f"`{name}` is passed as `{to}`: they are not both vectors of one length")
    if given:
        for one, other in zip(given, taken, strict=True):
            _hand(give, giver, one, take, taker, other, formal)
        return
    if name in giver.names.registers:
        source = giver.names.source(Name(name), formal.type)
        values = source.each(give)
        _put(take, taker, to, values, source.missing(give), formal)
        return
    symbol = giver.names.symbol(name)
    local = give.machine.spaces["local"]
    start = give.numbers[:, None] * local.size + give.frame.local + symbol.address  # for each lane, among all bytes
    if to in taker.names.registers:
        size = formal.size
        found = start + np.arange(size)
        values, missing = (a.view(f"u{size}")[:, 0] for a in (local.bytes[found], local.undefined(found)))
        _put(take, taker, to, values, missing if missing.any() else None, formal)
        return
    target = taker.names.symbol(to)
    size = min(symbol.size, target.size)
    begin = take.numbers[:, None] * local.size + take.frame.local + target.address
    for array in (local.bytes, local.state, local.partly):
        if array is not None:
            array[begin + np.arange(size)] = array[start + np.arange(size)]


def _put(take: Lanes, taker: Code, to: str, values: Array, missing: Array | None, formal: Variable) -> None:
    if to in taker.names.registers:
        taker.names.target(Name(to), formal.type)(take, values.copy(), missing)
        return
    symbol = taker.names.symbol(to)
    local = take.machine.spaces["local"]
    addresses = np.full(take.count, local.base + take.frame.local + symbol.address)
    raw = values.view(f"u{values.dtype.itemsize}")
    local.store(addresses, raw, values.dtype.itemsize, take.numbers, missing)


# functions without a body ---------------------------------------------------------------------------


def _parameter(lanes: Lanes, operand: Operand, dtype: str) -> Array:
    """The value of an argument in one of the caller's parameter variables."""
    code = lanes.frame.code
    symbol = code.names.symbol(str(operand))
    local = lanes.machine.spaces["local"]
    addresses = np.full(lanes.count, local.base + lanes.frame.local + symbol.address)
    width = np.dtype(dtype).itemsize
    return local.load(addresses, width, lanes.numbers, lanes.machine.strict)[0].view(dtype)


def _printf(lanes: Lanes, invoke: Invoke) -> None:
    """`int vprintf(const char *format, void *arguments)`, which returns the number of arguments, lane by lane."""
    formats, arguments = (_parameter(lanes, operand, "i8") for operand in invoke.arguments)
    counts = np.zeros(lanes.count, np.uint32)
    for i, number in enumerate(lanes.numbers):
        text = _string(lanes, int(formats[i]), number)
        counts[i] = sum((width == "*") + (kind != "%") for _, width, _, _, kind in _CONVERSION.findall(text))
        lanes.machine.launch.printed.append(_formatted(text, lanes, int(arguments[i]), number))
    code = lanes.frame.code
    if invoke.results:
        result = Variable(".param", (".b32",), str(invoke.results[0]))
        _put(lanes, code, result.name, counts, None, result)


_CONVERSION = re.compile(r"%([-+ #0]*)(\*|\d*)(?:\.(\d*))?(hh|h|ll|l|z|j|t)?([diouxXfFeEgGaAcsp%])")


def _formatted(text: str, lanes: Lanes, arguments: int, lane: int) -> str:
    """C's printf, except that `*` as a precision is text, as on a GPU. Arguments follow each other, each at a multiple
    of its size."""

    def take(size: int) -> bytes:
        nonlocal arguments
        arguments += -arguments % size
        raw = _bytes(lanes, arguments, size, lane)
        arguments += size
        return raw

    def one(match: re.Match[str]) -> str:
        flags, width, precision, length, kind = match.groups()
        if kind == "%":
            return "%"
        width = str(int.from_bytes(take(4), "little", signed=True)) if width == "*" else width
        style = f"%{flags}{width}" + ("" if precision is None else f".{precision}")
        if kind in "fFeEgGaA":
            value = float(np.frombuffer(take(8), np.float64)[0])
            return value.hex() if kind in "aA" else (style + kind) % value
        if kind == "s":
            string = _string(lanes, int.from_bytes(take(8), "little"), lane)
            return ((style + "s").encode() % string.encode()).decode("utf-8", "replace")  # widths count bytes
        if kind == "p":
            return hex(int.from_bytes(take(8), "little"))
        size = {"h": 2, "hh": 1, None: 4}.get(length, 8)  # short arguments are passed as words
        number = int.from_bytes(take(max(size, 4))[:size], "little", signed=kind in "dic")
        return (style + ("c" if kind == "c" else "d" if kind in "diu" else kind)) % (
            number % 256 if kind == "c" else number
        )

    return _CONVERSION.sub(one, text)


def _bytes(lanes: Lanes, address: int, size: int, lane: int) -> bytes:
    machine = lanes.machine
    numbers = np.array([lane])
    ((space, _, own),) = machine.memory.parts("", np.array([address]))
    values = [int(space.load(own + i, 1, numbers, machine.strict)[0][0]) for i in range(size)]
    return bytes(values)


def _string(lanes: Lanes, address: int, lane: int) -> str:
    found = bytearray()
    while (byte := _bytes(lanes, address + len(found), 1, lane)) != b"\0":
        found += byte
    return found.decode("utf-8", "replace")


def _assertion(lanes: Lanes, invoke: Invoke) -> None:
    """`__assertfail(message, file, line, function, character size)`"""
    message, file, function = (_string(lanes, int(_parameter(lanes, invoke.arguments[i], "i8")[0]), lanes.numbers[0])
                               for i in (0, 1, 3))  # fmt: skip
    line = int(_parameter(lanes, invoke.arguments[2], "i4")[0])
    raise Trouble("trap", f"{file}:{line}: {function}: assertion `{message}` failed")


KNOWN: dict[str, Callable[[Lanes, Invoke], None]] = {"vprintf": _printf, "__assertfail": _assertion}
