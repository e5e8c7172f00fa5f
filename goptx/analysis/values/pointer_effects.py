"""Whether a kernel reads or writes what its parameters point to.

Requires: an entry with a body. Ensures: a parameter through which the kernel can write is never reported as only read
or not accessed. The order of instructions does not count: a register may hold whatever any of them gives it. Products,
shifted or widened values, floating-point numbers and integers shorter than an address are numbers. They do not count
where another operand may be the address.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from itertools import zip_longest

from goptx.analysis.cfg import instructions_in
from goptx.analysis.dataflow import register_of, written
from goptx.launch.arguments import Access
from goptx.ptx.flatten import flat_as_written
from goptx.ptx.ir import TYPE_BYTES, Address, Arguments, Function, Instruction, Name, Operand, Scope, Sum, Vector
from goptx.ptx.opcodes import Facts, facts_of
from goptx.ptx.walk import names_in

_CALLERS = ("", "global", "const", "texture", "surface")  # spaces in which the arrays of a kernel's caller may lie
_HANDLES = ("texture", "surface")  # addressed by a handle and coordinates
_LOADED = "*"  # before a parameter's name: loaded through it; by itself: loaded from the kernel's own memory
_VARIABLE = ""  # the address of a variable


class Part(IntEnum):
    """The role of an origin in a value: a number, possibly a pointer, or surely a pointer."""

    NUMBER = 0
    MAYBE = 1
    POINTER = 2


@dataclass(frozen=True, slots=True)
class Value:
    """What a register may hold: its origins, and whether it is an address whichever origin it comes from."""

    parts: Mapping[str, Part] = field(default_factory=dict)
    address: bool = False

    def bases(self) -> list[str]:
        """The origins of which it may be an address."""
        return [origin for origin, part in self.parts.items() if part]


@lru_cache(maxsize=256)  # a kernel is often woven again
def pointer_accesses(entry: Function, address_size: int = 64) -> Mapping[str, Access]:
    """By parameter, what the kernel does to the memory that it points to, or to the texture or surface whose handle it
    is; `address_size` is the module's, in bits.

    Numbers are "none", too. "unknown" is what cannot be tracked: pointers that are passed to functions, that are loaded
    from memory, or that are parts of structures passed by value. A sum of two pointers accesses both.
    """
    return dict(reach(entry, address_size).accesses)


@dataclass(frozen=True, slots=True)
class Reach:
    """The memory that a kernel may access. `accesses` is the result of `pointer_accesses`; `writes_variables` states
    whether it may write a variable of its module; `beyond` whether it may access memory that neither its parameters nor
    such variables lead to: by addresses from memory, in functions that it calls, by handles of textures. `inside` has
    the accesses through pointers in structures that are passed by value, by their offsets, as far as they can be
    tracked. `tracked` are the structures all of whose pointers are `inside`; `elsewhere` states whether it may access
    memory that no parameter and no variable leads to, whatever is in structures."""

    accesses: Mapping[str, Access]
    writes_variables: bool
    beyond: bool
    inside: Mapping[str, Mapping[int, Access]] = field(default_factory=dict)
    tracked: frozenset[str] = frozenset()
    elsewhere: bool = True


@lru_cache(maxsize=256)
def reach(entry: Function, address_size: int = 64) -> Reach:
    """The reach of a kernel. `address_size` is the module's, in bits."""
    search = _Search(entry, address_size // 8)
    search.run()
    accesses = {p.name: search.access(p.name, bool(p.dims)) for p in entry.parameters}
    beyond = search.fetches or search.handles or "unknown" in accesses.values()
    elsewhere = search.fetches or search.handles
    return Reach(accesses, search.writes_variables, beyond, search.inside(), search.tracked(), elsewhere)


@dataclass(frozen=True, slots=True)
class _Step:
    """One instruction in parts; its results depend on `sources`."""

    instruction: Instruction
    facts: Facts
    addresses: list[Address]
    sources: tuple[Operand, ...]
    reads: frozenset[str]
    writes: frozenset[str]


class _Search:
    def __init__(self, entry: Function, pointer: int) -> None:
        self.pointer = pointer  # bytes
        self.long = {p.name for p in entry.parameters if p.size == pointer and not p.dims}
        self.parameters = {p.name: Part.POINTER if ".ptr" in p.qualifiers else Part.MAYBE for p in entry.parameters}
        self.fields: dict[str, tuple[str, int]] = {}  # loads from structures: the structure and the offset
        self.structures = {p.name for p in entry.parameters if p.dims}
        code = flat_as_written(entry.body).code
        inner = [i for s in code for i in (instructions_in(s) if isinstance(s, Scope) else [s])]
        self.steps = [_step(i) for i in inner if isinstance(i, Instruction)]
        self.defined = frozenset(register for step in self.steps for register in step.writes)
        self.readers: dict[str, list[int]] = {register: [] for register in self.defined}  # indices into `steps`
        for i, step in enumerate(self.steps):
            for register in step.reads & self.defined:
                self.readers[register].append(i)
        for step in self.steps:
            self.fields |= self.fields_of(step)
        self.parameters |= dict.fromkeys(self.fields, Part.MAYBE)
        self.values: dict[str, Value] = {}
        self.done: dict[str, set[str]] = {name: set() for name in self.parameters}  # letters as in `Row.access`
        self.untracked: set[str] = set()  # parameters whose uses cannot all be tracked
        self.stored: set[str] = set()  # the origins of what it stores in memory
        self.fetches = False  # whether it may load an address from memory
        self.handles = False  # whether it uses handles of textures or surfaces
        self.writes_variables = False

    def access(self, name: str, structure: bool) -> Access:
        if structure:
            inside = [name, *(f for f, (whole, _) in self.fields.items() if whole == name)]
            return "unknown" if any(f in self.untracked or self.done[f] for f in inside) else "none"
        done = self.done[name]
        if name in self.untracked:
            return "unknown"
        if len(done) == 2:
            return "both"
        return "none" if not done else "read" if "l" in done else "written"

    def inside(self) -> dict[str, dict[int, Access]]:
        """The accesses for `Reach.inside`."""
        found: dict[str, dict[int, Access]] = {}
        for name, (whole, offset) in self.fields.items():
            access = self.access(name, False)
            if access not in ("none", "unknown") and whole not in self.untracked:
                found.setdefault(whole, {})[offset] = access
        return found

    def tracked(self) -> frozenset[str]:
        """The structures for `Reach.tracked`."""
        lost = {self.fields[f][0] for f in self.fields if f in self.untracked}
        return frozenset(s for s in self.structures - lost - self.untracked if not self.done[s])

    def fields_of(self, step: _Step) -> dict[str, tuple[str, int]]:
        """The fields of a structure that an instruction loads, by name."""
        if not step.facts.loads_parameter or not step.facts.types or not step.addresses:
            return {}
        base = step.addresses[0].parts[0]
        name, tail = (str(base.base), "".join(map(str, base.tail))) if isinstance(base, Sum) else (str(base), "0")
        if name not in self.structures or not tail.lstrip("+").isdigit():
            return {}
        bytes_, lanes = TYPE_BYTES.get(step.facts.types[-1], 0), max(len(step.writes), 1)
        offsets = [int(tail.lstrip("+")) + i * bytes_ for i in range(lanes)]
        return {f"{name}+{offset}": (name, offset) for offset in offsets}

    def run(self) -> None:
        self.define(waiting=True)
        if not all(map(self.is_known, self.steps)):
            self.define(waiting=False)  # a register without a value is a number, and so are results computed from it
        for step in self.steps:
            self.note(step)
        if self.fetches:
            self.lose(self.stored)

    # values ------------------------------------------------------------------------------------------

    def define(self, waiting: bool) -> None:
        """Visits instructions until no register's value changes. An instruction with a source of which nothing is known
        yet waits, or takes that source for a number."""
        todo = deque(range(len(self.steps)))
        due = set(todo)
        while todo:
            due.discard(i := todo.popleft())
            step = self.steps[i]
            if waiting and not self.is_known(step):
                continue
            result = self.result(step)
            for register in step.writes:
                old = self.values.get(register)
                new = _either(old, result) if old else result
                if new != old:
                    self.values[register] = new
                    later = [reader for reader in self.readers[register] if reader not in due]
                    todo.extend(later)
                    due.update(later)

    def is_known(self, step: _Step) -> bool:
        """Whether all sources of the instruction have a value."""
        return step.reads & self.defined <= self.values.keys()

    def result(self, step: _Step) -> Value:
        """The value of the instruction's destinations."""
        facts = step.facts
        if not facts.row.access:
            return _RULES.get(facts.base, _mixed)(facts, *map(self.of, step.sources))
        long = any(t[0] in "usb" and TYPE_BYTES.get(t, 0) >= self.pointer for t in facts.types) or not facts.types
        by_name = facts.loads_parameter and step.addresses
        if by_name and (name := str(_base(step.addresses[0]))) in self.parameters:
            halved = name in self.long and 2 * TYPE_BYTES.get("".join(facts.types[-1:]), 0) == self.pointer
            part = self.parameters[name] if long or halved else Part.NUMBER
            return Value(dict.fromkeys(self.fields_of(step) or [name], part), long and part == Part.POINTER)
        return Value(dict.fromkeys(self.loaded_from(step.addresses), Part.MAYBE if long else Part.NUMBER))

    def loaded_from(self, addresses: Iterable[Address]) -> list[str]:
        """The origins of what is loaded from there."""
        values = [self.of(address) for address in addresses]
        return sorted({_LOADED + o.removeprefix(_LOADED) for v in values for o in v.bases() or v.parts}) or [_LOADED]

    def of(self, operand: Operand) -> Value:
        match operand:
            case Name(text):
                register = register_of(text)
                if register in self.defined or text.startswith("%"):
                    return self.values.get(register, Value())
                return Value({text if text in self.parameters else _VARIABLE: Part.POINTER}, True)
            case Sum(Name() as base, _):
                return self.of(base)
            case Address():
                return self.of(_base(operand))
            case Vector(parts) | Arguments(parts):
                return _mixed(None, *map(self.of, parts))
        return Value()

    # accesses ----------------------------------------------------------------------------------------

    def note(self, step: _Step) -> None:
        """Records what an instruction does to memory."""
        row, facts = step.facts.row, step.facts
        self.lose(self.addressed(step))
        if not row.access:
            return
        passed = [o for o in step.instruction.operands[row.writes :] if not isinstance(o, Address)]
        away = {origin for o in passed for origin in self.of(o).bases()}
        if facts.calls or not facts.known or (facts.space == "param" and "s" in row.access):
            self.lose({origin for o in step.instruction.operands for origin in self.of(o).bases()})
            self.fetches = True
            return
        if "s" in row.access:
            self.stored |= away
        for i, (address, space) in enumerate(zip_longest(step.addresses, facts.spaces[: len(step.addresses)])):
            how = row.access
            if how == "sl":
                how = how[i : i + 1]
                self.stored.update(self.loaded_from([address]) if how == "l" else ())
            self.handles |= space in _HANDLES
            if (space or "") in _CALLERS:
                self.touch(self.of(address), how)
                if len(address.parts) > 1 and space not in _HANDLES:  # a tensor map points to the tensor
                    self.lose(self.of(address).bases())
                    self.fetches = True

    def touch(self, address: Value, how: str) -> None:
        for origin in address.bases():
            if origin in self.parameters:
                self.done[origin] |= set(how)
            elif origin == _VARIABLE:
                self.writes_variables |= "s" in how
            elif origin.startswith(_LOADED):
                self.fetches = True
                self.lose([origin])
        if not address.bases():  # an address made of numbers
            self.fetches = True
            self.lose(address.parts)

    def lose(self, origins: Iterable[str]) -> None:
        self.untracked |= {origin.removeprefix(_LOADED) for origin in origins} & self.parameters.keys()

    def addressed(self, step: _Step) -> Iterator[str]:
        """The parameters whose own address is taken."""
        for operand in step.instruction.operands:
            if not (step.facts.space == "param" and isinstance(operand, Address)):
                yield from (n for n in names_in(operand) if n in self.parameters and n not in self.defined)


def _step(instruction: Instruction) -> _Step:
    facts = facts_of(instruction.opcode)
    addresses = [o for o in instruction.operands if isinstance(o, Address)]
    sources = instruction.operands[0 if facts.row.updates else facts.row.writes :]
    reads = frozenset(register_of(name) for operand in sources for name in names_in(operand))
    return _Step(instruction, facts, addresses, sources, reads, written(instruction))


def _base(address: Address) -> Operand:
    base = address.parts[0]
    return base.base if isinstance(base, Sum) else base


# Rules: the value of a result, from the opcode's facts and the values of its operands ------------------------


def _either(*values: Value) -> Value:
    """A value that is one of them."""
    parts: dict[str, Part] = {}
    for value in values:
        for origin, part in value.parts.items():
            parts[origin] = max(part, parts.get(origin, part))
    return Value(parts, all(v.address for v in values))


def _mixed(_: Facts | None, *values: Value) -> Value:
    """A value with bits of all of them."""
    return Value(_either(*values).parts)


def _number(_: Facts, *values: Value) -> Value:
    return Value(dict.fromkeys(_either(*values).parts, Part.NUMBER))


def _offset(value: Value) -> Value:
    """An addend of an address: numbers, and what is surely a pointer."""
    return Value({o: p if p == Part.POINTER else Part.NUMBER for o, p in value.parts.items()}, value.address)


def _sum(_: Facts, a: Value, b: Value) -> Value:
    a, b = _offset(a) if b.address else a, _offset(b) if a.address else b
    return Value(_either(a, b).parts, a.address != b.address)


def _difference(_: Facts, a: Value, b: Value) -> Value:
    """With a pointer added, the distance of two pointers leads to where the first points."""
    if not a.address and b.bases():
        a = Value({o: Part.POINTER if p else p for o, p in a.parts.items()})
    return Value(_either(a, _offset(b)).parts, a.address and not b.address)


def _multiply_add(facts: Facts, a: Value, b: Value, c: Value) -> Value:
    return _sum(facts, _number(facts, a, b), c)


def _address(_: Facts, value: Value) -> Value:
    return Value({o: Part.POINTER if p else p for o, p in value.parts.items()}, True)


def _converted(facts: Facts, *values: Value) -> Value:
    """What is widened was too short for an address, except the address of a shared or local variable."""
    to, source = (TYPE_BYTES.get(t, 0) for t in facts.types[:1] + facts.types[-1:])
    result = _mixed(facts, *values)
    return Value({o: p if o == _VARIABLE else Part.NUMBER for o, p in result.parts.items()}) if source < to else result


_RULES: dict[str, Callable[..., Value]] = {
    "mov": lambda _, value: value,
    "cvta": _address,
    "add": _sum,
    "sub": _difference,
    "mad": _multiply_add,
    "mad24": _multiply_add,
    "cvt": _converted,
    "selp": lambda _, a, b, p: _either(a, b),
    "slct": lambda _, a, b, c: _either(a, b),
    **dict.fromkeys(("mul", "mul24", "shl", "shr", "div", "rem", "neg", "popc", "clz", "bfind"), _number),
    **dict.fromkeys(("set", "setp", "testp", "isspacep"), lambda _, *values: Value()),
}
