"""Addresses as sums of products of thread numbers, sizes, parameters and values that are not looked into.

Requires: a flow without regions. For estimates only: sums are taken not to overflow, conversions to keep their value,
and a clamp to leave most values as they are. So two addresses whose sums differ by a number have that distance in bytes
for most threads; `goptx/analysis/values` has what can be proved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from goptx.analysis.cfg import Flow
from goptx.analysis.dataflow import read, written
from goptx.analysis.values.thread_values import number
from goptx.ptx.ir import Address, Instruction, Name, Operand, Sum
from goptx.ptx.opcodes import Facts, facts_of

MOST_TERMS = 16  # of a sum; a longer one is not looked into
UNIFORM = ("%ntid", "%nctaid")  # special registers that are the same for all threads

Product = tuple[str, ...]  # of atoms, sorted; () is 1
Terms = Mapping[Product, int]  # products, and how often each is in a sum


def address_sums(flow: Flow) -> Callable[[Instruction], Terms | None]:
    """For an instruction that accesses memory at one address, that address; None for any other."""
    return _Sums(flow).address


def difference(one: Terms, other: Terms) -> Terms:
    return _plus(one, other, -1)


def is_uniform(product: Product) -> bool:
    """Whether a product is the same for all threads, in all iterations."""
    return all(atom.startswith(UNIFORM) or not atom.startswith("%") for atom in product)


class _Sums:
    def __init__(self, flow: Flow) -> None:
        makers: dict[str, list[Instruction]] = {}
        for instruction in flow.instructions():
            for register in written(instruction):
                makers.setdefault(register, []).append(instruction)
        self._once = {r: own[0] for r, own in makers.items() if len(own) == 1 and not own[0].guard}
        self._known: dict[str, Terms] = {}
        for instruction in _in_order(flow, self._once):
            (register,) = written(instruction)
            found = _result(instruction, facts_of(instruction.opcode), self.of)
            if found is not None and len(found) <= MOST_TERMS:
                self._known[register] = found

    def address(self, instruction: Instruction) -> Terms | None:
        found = [operand for operand in instruction.operands if isinstance(operand, Address)]
        return self.of(found[0].parts[0]) if len(found) == 1 and len(found[0].parts) == 1 else None

    def of(self, operand: Operand) -> Terms:
        if (value := number(operand)) is not None:
            return {(): value} if value else {}
        if isinstance(operand, Sum):
            tail = "".join(map(str, operand.tail)).removeprefix("+")
            return _plus(self.of(operand.base), {(): int(tail)} if tail.removeprefix("-").isdigit() else {(tail,): 1})
        text = str(operand)
        return self._known.get(text, {(text,): 1})


def _in_order(flow: Flow, once: Mapping[str, Instruction]) -> Iterator[Instruction]:
    """The instructions from which addresses are computed, in an order in which values are made before they are used."""
    waiting = [
        part.text if isinstance(part, Name) else str(part.base)
        for instruction in flow.instructions()
        for operand in instruction.operands
        if isinstance(operand, Address)
        for part in operand.parts
        if isinstance(part, Name | Sum)
    ]
    wanted: set[str] = set()
    while waiting:
        register = waiting.pop()
        if register in once and register not in wanted:
            wanted.add(register)
            waiting += read(once[register])
    for name in flow.reverse_postorder():
        for instruction in flow.blocks[name].instructions():
            if len(found := written(instruction)) == 1 and found <= wanted:
                yield instruction


def _result(code: Instruction, facts: Facts, of: Callable[[Operand], Terms]) -> Terms | None:
    """What an instruction computes; None where that is not looked into."""
    sources = code.operands[1:]
    if facts.loads_parameter:
        return {(f"parameter {sources[0]}",): 1}
    if facts.loads or not facts.types or not all(t[0] in "usb" for t in facts.types):
        return None
    rule = _RULES.get(facts.base)
    values = [*map(of, sources)]
    if rule is not None and (found := rule(values)) is not None:
        return found
    inputs = ", ".join(str(sorted(value.items())) for value in values)
    return {(f"%{facts.base}({inputs})",): 1}  # equal where what it is computed from is


def _plus(one: Terms, other: Terms, times: int = 1) -> Terms:
    found = dict(one)
    for product, count in other.items():
        found[product] = found.get(product, 0) + times * count
    return {product: count for product, count in found.items() if count}


def _times(one: Terms, other: Terms) -> Terms:
    found: dict[Product, int] = {}
    for mine, count in one.items():
        for its, often in other.items():
            product = tuple(sorted((*mine, *its)))
            found[product] = found.get(product, 0) + count * often
    return found


def _constant(value: Terms) -> int | None:
    return value.get((), 0) if set(value) <= {()} else None


def _shifted(values: Sequence[Terms]) -> Terms | None:
    by = _constant(values[1])
    return _times(values[0], {(): 1 << by}) if by is not None and 0 <= by < 64 else None


def _clamped(values: Sequence[Terms]) -> Terms | None:
    """The side of a minimum or maximum that threads differ in, if only one is."""
    varying = [value for value in values if not all(map(is_uniform, value))]
    return varying[0] if len(varying) == 1 else None


_RULES: Mapping[str, Callable[[Sequence[Terms]], Terms | None]] = {
    "mov": lambda values: values[0],
    "cvt": lambda values: values[0],
    "cvta": lambda values: values[0],
    "add": lambda values: _plus(values[0], values[1]),
    "sub": lambda values: _plus(values[0], values[1], -1),
    "neg": lambda values: _plus({}, values[0], -1),
    "mul": lambda values: _times(values[0], values[1]),
    "mad": lambda values: _plus(_times(values[0], values[1]), values[2]),
    "shl": _shifted,
    "min": _clamped,
    "max": _clamped,
    "selp": lambda values: _clamped(values[:2]),
}
