"""PTX as immutable values. `str(x)` of each value is legal PTX; line numbers serve messages only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from goptx.display import as_html, as_listing, brief


def whole_number(text: str) -> int:
    """The value of PTX's integer literals: `16`, `0x10`, `0b10000`, `020`, each with or without a `U`."""
    digits = text.removesuffix("U")
    return int(digits, 8 if digits.isdigit() and digits.startswith("0") else 0)


# Operands -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Name:
    """A register, special register, label, function or variable. Its scope decides which."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Immediate:
    """A number as it was written (`-1`, `0f3F800000`, `0x10U`) or a constant expression of numbers."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Sum:
    """`base` followed by a constant tail, for example `%rd1+4` or `table+8`.

    The tail is a sequence of texts and names: ("+4",) or ("*", Name("WARP_SZ"), "-1").
    """

    base: Name | Immediate
    tail: tuple[Name | str, ...]

    def __str__(self) -> str:
        return f"{self.base}{''.join(map(str, self.tail))}"


@dataclass(frozen=True, slots=True)
class Expression:
    """A constant expression with names that begins with a sign, parenthesis or cast: `(WARP_SZ-1)*2`. Also the `-%r1`
    of video instructions. Texts and names alternate in it."""

    pieces: tuple[Name | str, ...]

    def __str__(self) -> str:
        return "".join(map(str, self.pieces))


@dataclass(frozen=True, slots=True)
class Element:
    """An element of an array: `table[4]`, `table[%r1+1]`."""

    array: Name
    index: Operand

    def __str__(self) -> str:
        return f"{self.array}[{self.index}]"


@dataclass(frozen=True, slots=True)
class Negated:
    """A predicate operand that is inverted: `!%p1`."""

    name: Name

    def __str__(self) -> str:
        return f"!{self.name}"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two destinations, `%p1|%p2` or `{%f1, %f2}|%p1`."""

    first: Name | Vector
    second: Name

    def __str__(self) -> str:
        return f"{self.first}|{self.second}"


@dataclass(frozen=True, slots=True)
class Vector:
    """`{%r1, %r2}`."""

    parts: tuple[Operand, ...]

    def __str__(self) -> str:
        return f"{{{', '.join(map(str, self.parts))}}}"


@dataclass(frozen=True, slots=True)
class Address:
    """`[%rd1+4]`, or several parts as texture and tensor instructions have: `[map, {%r1, %r2}]`."""

    parts: tuple[Operand, ...]

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self.parts))}]"


@dataclass(frozen=True, slots=True)
class Arguments:
    """The parenthesised lists of a call."""

    parts: tuple[Operand, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.parts))})"


Operand = Name | Immediate | Sum | Expression | Element | Negated | Pair | Vector | Address | Arguments


# Statements -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Guard:
    """`@%p1` or `@!%p1`."""

    predicate: Name
    negated: bool = False

    def __str__(self) -> str:
        return f"@{'!' if self.negated else ''}{self.predicate}"


class Provenance(NamedTuple):
    """The kernel that an instruction comes from, by its place among the kernels that are woven (copies of a coarsened
    kernel count one by one), and the number of the instruction in that kernel. Copies of an instruction share it."""

    kernel: int
    number: int


class _OfKernel:
    """What may come from a kernel."""

    __slots__ = ()
    provenance: Provenance | None

    @property
    def kernel(self) -> int | None:
        """The kernel that it comes from, as `Provenance` counts them; None where that is not known or not one."""
        return self.provenance.kernel if self.provenance else None


class _Code:
    """Slots for what follows from the value of an instruction or scope and is asked again and again: its hash, the
    names in its operands (walk.py), and the registers that it reads, may write, and surely overwrites
    (analysis/dataflow.py). Pickles leave them out."""

    __slots__ = ("_hash", "_killed", "_names", "_read", "_written")
    _hash: int
    _killed: frozenset[str]
    _names: tuple[str, ...]
    _read: frozenset[str]
    _written: frozenset[str]


@dataclass(frozen=True, slots=True)
class Instruction(_Code, _OfKernel):
    """`line` is where it stands in its file, 0 where goptx has made it. `also` are instructions of other kernels that
    it replaces. Values that differ in these and in provenance only are equal."""

    opcode: str
    operands: tuple[Operand, ...] = ()
    guard: Guard | None = None
    line: int = field(default=0, compare=False)
    provenance: Provenance | None = field(default=None, compare=False, repr=False)
    also: tuple[Instruction, ...] = field(default=(), compare=False, repr=False)

    def __str__(self) -> str:
        guard = f"{self.guard} " if self.guard else ""
        operands = f" {', '.join(map(str, self.operands))}" if self.operands else ""
        return f"{guard}{self.opcode}{operands};"

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            object.__setattr__(self, "_hash", hash((self.opcode, self.operands, self.guard)))
            return self._hash

    def with_provenance(self, provenance: Provenance) -> Instruction:
        """The instruction with this provenance. What is cached of it remains cached."""
        copy = Instruction(self.opcode, self.operands, self.guard, self.line, provenance)
        for slot in _Code.__slots__:
            if hasattr(self, slot):
                object.__setattr__(copy, slot, getattr(self, slot))
        return copy


@dataclass(frozen=True, slots=True)
class Label:
    name: str
    line: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return f"{self.name}:"


@dataclass(frozen=True, slots=True)
class Registers:
    """`.reg .b32 %r<10>, %x;` as names with a count, or None for a single register."""

    types: tuple[str, ...]
    names: tuple[tuple[str, int | None], ...]
    line: int = field(default=0, compare=False)

    def __str__(self) -> str:
        names = ", ".join(name if count is None else f"{name}<{count}>" for name, count in self.names)
        return f".reg {' '.join(self.types)} {names};"


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable or parameter without its semicolon.

    `qualifiers` are the words between space and name (`.align 4`, `.v2`, `.u64`, `.ptr`) in order. `dims` are the
    array sizes, "" for `[]`. A name within an initialiser is a `Name`.
    """

    space: str
    qualifiers: tuple[str, ...]
    name: str = ""
    dims: tuple[str, ...] = ()
    init: tuple[Name | str, ...] = ()
    linkage: tuple[str, ...] = ()
    line: int = field(default=0, compare=False)

    @property
    def type(self) -> str:
        """The scalar type without its dot, for example `u64`."""
        return next((q[1:] for q in self.qualifiers if q[1:] in TYPE_BYTES), "b8")

    @property
    def alignment(self) -> int:
        """Bytes: the `.align` of the declaration, else the size of one element."""
        stated = [whole_number(q.split()[1]) for q in self.qualifiers if q.startswith(".align ")]
        if ".ptr" in self.qualifiers or not stated:  # after .ptr, .align describes the memory pointed to
            return self.element_bytes
        return stated[0]

    @property
    def element_bytes(self) -> int:
        lanes = next((int(q[2:]) for q in self.qualifiers if q in (".v2", ".v4", ".v8")), 1)
        return TYPE_BYTES[self.type] * lanes

    @property
    def size(self) -> int:
        """Bytes; 0 for an array of unstated size."""
        size = self.element_bytes
        for dim in self.dims:
            size *= whole_number(dim) if dim else 0
        return size

    def __str__(self) -> str:
        words = [*self.linkage, self.space, *self.qualifiers]
        name = self.name + "".join(f"[{dim}]" for dim in self.dims)
        init = f" = {''.join(map(str, self.init))}" if self.init else ""
        return " ".join([*words, name] if name else words) + init


TYPE_BYTES = {
    "pred": 1, "b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2,
    "b32": 4, "u32": 4, "s32": 4, "f32": 4, "f16x2": 4, "bf16x2": 4, "b64": 8, "u64": 8, "s64": 8, "f64": 8,
    "b128": 16, "texref": 8, "samplerref": 8, "surfref": 8,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Directive:
    """A directive as its name and values: `.pragma "nounroll";`, `.maxntid 256, 1, 1`, `.loc 1 2 3`, `.file 1 "x"`."""

    name: str
    values: tuple[str, ...] = ()
    line: int = field(default=0, compare=False)

    def __str__(self) -> str:
        separator = " " if self.name in (".loc", ".loc_intermediate", ".file") else ", "
        text = f"{self.name} {separator.join(self.values)}" if self.values else self.name
        return f"{text};" if self.name in (".pragma", ".branchtargets", ".calltargets", ".alias") else text


@dataclass(frozen=True, slots=True)
class Prototype:
    """`.callprototype (ret) _ (params);`, which follows its label."""

    results: tuple[Variable, ...]
    name: str
    parameters: tuple[Variable, ...]
    directives: tuple[Directive, ...] = ()
    line: int = field(default=0, compare=False)

    def __str__(self) -> str:
        results = f"({', '.join(map(str, self.results))}) " if self.results else ""
        directives = "".join(f" {d}" for d in self.directives)
        return f".callprototype {results}{self.name} ({', '.join(map(str, self.parameters))}){directives};"


@dataclass(frozen=True, slots=True)
class Scope(_Code, _OfKernel):
    """`{ ... }` within a body, with names of its own."""

    body: tuple[Statement, ...]
    provenance: Provenance | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return "{\n" + "\n".join(map(str, self.body)) + "\n}"


@dataclass(frozen=True, slots=True)
class Declaration:
    """A variable declared within a body."""

    variable: Variable

    def __str__(self) -> str:
        return f"{self.variable};"


Statement = Instruction | Label | Registers | Declaration | Directive | Prototype | Scope


# Module ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Function:
    """An `.entry` or `.func`; `body` is None for a declaration. `directives` stand before the body."""

    kind: str
    name: str
    parameters: tuple[Variable, ...] = ()
    results: tuple[Variable, ...] = ()
    directives: tuple[Directive, ...] = ()
    body: tuple[Statement, ...] | None = None
    linkage: tuple[str, ...] = ()
    line: int = field(default=0, compare=False)

    @property
    def is_entry(self) -> bool:
        return self.kind == ".entry"

    def __str__(self) -> str:
        before = [d.name for d in self.directives if d.name.startswith(".attribute")]
        head = " ".join([*self.linkage, self.kind, *before])
        results = f" ({', '.join(map(str, self.results))})" if self.results else ""
        parameters = ",\n".join(f"    {p}" for p in self.parameters)
        text = f"{head}{results} {self.name}" + (f"(\n{parameters}\n)" if parameters else "()")
        text += "".join(f"\n{directive}" for directive in self.directives if directive.name not in before)
        if self.body is None:
            return f"{text};"
        return f"{text}\n{{\n{indent(self.body)}}}"


def indent(body: tuple[Statement, ...]) -> str:
    """The lines of a body; labels are not indented."""
    return "".join(f"{line}\n" for line, _ in lines_of(body))


def lines_of(body: tuple[Statement, ...], depth: int = 1) -> Iterator[tuple[str, Statement | None]]:
    """Each line of a body with its statement, None for the braces of a scope."""
    pad = "    " * depth
    for statement in body:
        if isinstance(statement, Scope):
            yield f"{pad}{{", None
            yield from lines_of(statement.body, depth + 1)
            yield f"{pad}}}", None
        else:
            yield f"{statement}" if isinstance(statement, Label) else f"{pad}{statement}", statement


@dataclass(frozen=True, slots=True)
class Section:
    """A debug section, its words in order."""

    name: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        lines = [""]
        for i, word in enumerate(self.words):
            follows_label = i + 1 < len(self.words) and self.words[i + 1] == ":"
            if word in (".b8", ".b16", ".b32", ".b64") or follows_label:
                lines.append(word)
            else:
                lines[-1] += word if word in (",", ":") else f" {word}"
        return f".section {self.name}\n{{\n" + "\n".join(line for line in lines if line) + "\n}"


Item = Directive | Variable | Function | Section | Registers


@dataclass(frozen=True, slots=True)
class Module:
    """One PTX file: `version` such as (9, 0), `target` such as ("sm_90", "debug"), then its items.

    `Registers` among the items are those that PTX before 3.0 may declare for all functions.
    """

    __repr__ = brief

    version: tuple[int, int]
    target: tuple[str, ...]
    address_size: int
    items: tuple[Item, ...]
    source: str = field(default="<ptx>", compare=False)
    lines: Mapping[str, int] = field(default_factory=dict, compare=False, hash=False)  # of `.version` etc.

    def at(self, directive: str) -> str:
        """The file, and the line of `directive` (such as `.target`) if it has one, for messages."""
        return f"{self.source}:{self.lines[directive]}" if directive in self.lines else self.source

    @property
    def entries(self) -> tuple[Function, ...]:
        """The kernels: entries that have a body."""
        return tuple(f for f in self.functions if f.is_entry and f.body is not None)

    @property
    def functions(self) -> Iterator[Function]:
        """Entries, device functions, and declarations of either."""
        return (item for item in self.items if isinstance(item, Function))

    @property
    def variables(self) -> Iterator[Variable]:
        """The variables of the module, which all functions see."""
        return (item for item in self.items if isinstance(item, Variable))

    _repr_pretty_ = as_listing

    _repr_html_ = as_html

    def __str__(self) -> str:
        target = re.sub(r", (?=sm_)", "\n.target ", ", ".join(self.target))  # each directive names one architecture
        head = [f".version {self.version[0]}.{self.version[1]}", f".target {target}"]
        if self.version >= (2, 3):  # earlier versions lack the directive
            head.append(f".address_size {self.address_size}")
        items = [f"{item};" if isinstance(item, Variable) else str(item) for item in self.items]
        return "\n".join(head) + "\n\n" + "\n\n".join(items) + "\n"
