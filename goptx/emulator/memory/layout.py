"""The addresses and initial values of a program's variables.

Requires: the flat bodies of all functions that the entry may reach. Shared variables are in the order of their
declaration, dynamic ones (`.extern .shared` without a size) all at the end, as on a GPU.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from goptx.emulator.instructions.constant_expression import whole
from goptx.emulator.instructions.literal import literal
from goptx.emulator.memory.address_spaces import CODE, FIRST, WINDOWS
from goptx.emulator.operands import Symbol
from goptx.errors import InputError
from goptx.ptx.flatten import FlatBody
from goptx.ptx.ir import Function, Module, Name, Variable

Token = Name | str
FUNCTION_BYTES = 16  # the distance between the addresses of functions


@dataclass(slots=True)
class Layout:
    """`sizes` in bytes of the spaces `shared`, `param`, `const` and `global`; `symbols` of the module, `own` those of
    each function in addition; `initial` the initial bytes by space and address."""

    module: Module
    symbols: dict[str, Symbol] = field(default_factory=dict)
    own: dict[str, dict[str, Symbol]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("shared", "param", "const", "global"), 0))
    initial: list[tuple[str, int, bytes]] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    static_shared: int = 0

    def place(self, variable: Variable) -> Symbol | None:
        """The next address for a variable, by its alignment; None for variables in frames or in other modules."""
        space = variable.space.removeprefix(".")
        if space not in self.sizes or (".extern" in variable.linkage and space in ("global", "const")):
            return None
        start = self.sizes[space] + -self.sizes[space] % max(variable.alignment, 1)
        self.sizes[space] = start + variable.size
        return Symbol(space, start + (FIRST if space == "shared" else WINDOWS[space]), variable.size)


def layout(module: Module, entry: Function, bodies: Mapping[str, FlatBody], shared: int) -> Layout:
    """Lays out the module's variables and those of the functions; `shared` bytes of dynamic shared memory."""
    made = Layout(module)
    for number, function in enumerate(module.functions):
        made.functions.append(function.name)
        made.symbols.setdefault(function.name, Symbol("code", CODE + number * FUNCTION_BYTES, FUNCTION_BYTES))
    variables = [(_complete(v), made.symbols) for v in module.variables]
    for name, body in bodies.items():
        own: dict[str, Symbol] = made.own.setdefault(name, {})
        variables += [(_complete(d.variable), own) for d in body.variables]
    variables += [(p, made.own[entry.name]) for p in entry.parameters]
    dynamic = [(v, names) for v, names in variables if _is_dynamic(v)]
    for variable, names in variables:
        if not _is_dynamic(variable) and (symbol := made.place(variable)) is not None:
            names[variable.name] = symbol
    made.static_shared = made.sizes["shared"]
    start = made.static_shared
    for variable, names in dynamic:  # each begins at or after those declared before it, as for ptxas 13.0
        start += -start % max(16, variable.alignment)
        names[variable.name] = Symbol("shared", FIRST + start, shared)
    made.sizes["shared"] = start + shared
    for variable, names in variables:
        if variable.init:
            if variable.space not in (".global", ".const"):
                raise InputError(
                    f"{module.source}:{variable.line}: `{variable.name}`: only variables in .global and .const memory "
                    "have initialisers."
                )
            symbol = names[variable.name]
            made.initial.append((symbol.space, symbol.address, _initial(module, variable, {**made.symbols, **names})))
    return made


def _is_dynamic(variable: Variable) -> bool:
    return variable.space == ".shared" and ".extern" in variable.linkage and not variable.size


def _complete(variable: Variable) -> Variable:
    """The variable with its first size, which an array with an initialiser may omit."""
    if not variable.init or not variable.dims or variable.dims[0]:
        return variable
    (rows,) = _nested(iter(variable.init))
    return replace(variable, dims=(str(len(rows) if isinstance(rows, list) else 1), *variable.dims[1:]))


def _initial(module: Module, variable: Variable, symbols: Mapping[str, Symbol]) -> bytes:
    """The bytes of an initialiser; omitted values are zero."""
    try:
        (cells,) = _nested(iter(variable.init))
        dims = [whole(d) for d in variable.dims]
        width = _width(variable)
        lanes = variable.element_bytes // width
        found = _filled(cells, [*dims, lanes] if lanes > 1 else dims)
        return b"".join(_bytes(cell, variable.type, width, symbols) for cell in found)
    except (ValueError, KeyError) as error:
        raise InputError(
            f"{module.source}:{variable.line}: the initialiser of `{variable.name}` cannot be emulated ({error})."
        ) from None


def _width(variable: Variable) -> int:
    return len(literal("0", variable.type).tobytes())


def _nested(tokens: Iterator[Token]) -> list[object]:
    """The items up to the closing brace: lists for braces, tuples of tokens for values."""
    items: list[object] = []
    value: list[Token] = []
    for token in tokens:
        word = token if isinstance(token, Name) else token.strip()
        if word == "{":
            items.append(_nested(tokens))
        elif word in ("}", ","):
            if value:
                items.append(tuple(value))
            value = []
            if word == "}":
                return items
        else:
            value.append(word)
    return [*items, tuple(value)] if value else items


def _filled(item: object, dims: Sequence[int]) -> Iterator[tuple[Token, ...]]:
    """The values of an initialiser for an array of these sizes, row by row; rows may be short."""
    if isinstance(item, list) != bool(dims) and item is not None:
        raise ValueError("its braces do not fit its sizes")
    if not dims:
        assert item is None or isinstance(item, tuple)
        yield item or ("0",)
        return
    rows = item if isinstance(item, list) else []
    if len(rows) > dims[0]:
        raise ValueError(f"{len(rows)} values for {dims[0]}")
    for i in range(dims[0]):
        yield from _filled(rows[i] if i < len(rows) else None, dims[1:])


def _bytes(cell: tuple[Token, ...], type_: str, width: int, symbols: Mapping[str, Symbol]) -> bytes:
    """One value: a number, or an address; `0xFF00(symbol)` is the byte of an address under the mask."""
    if not any(isinstance(token, Name) for token in cell):
        return literal("".join(map(str, cell)), type_).tobytes()
    mask = -1
    if not isinstance(cell[0], Name) and cell[1] == "(":
        mask, cell = whole(cell[0]), cell[2:-1]
    address = whole("".join(_number(token, symbols) for token in cell)) & mask
    return (address // (mask & -mask) % (1 << 8 * width)).to_bytes(width, "little")


def _number(token: Token, symbols: Mapping[str, Symbol]) -> str:
    """The token, with the address in place of a name. In constant and global memory both kinds of addresses are equal,
    so `generic(symbol)` is the symbol."""
    if not isinstance(token, Name):
        return token
    if token.text == "generic":
        return ""
    if symbols[token.text].space not in ("global", "const", "code"):
        raise ValueError(f"`{token}` is not in .global or .const memory")
    return str(symbols[token.text].address)
