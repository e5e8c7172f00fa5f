"""Which functions may be called, by name or through a pointer.

A pointer may lead to every function of its module whose address is taken anywhere, in code or in a variable: the host
may have read it there, or have put it where it is called from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeGuard

from goptx.errors import CannotLink
from goptx.ptx.ir import (
    Arguments,
    Declaration,
    Directive,
    Function,
    Instruction,
    Item,
    Prototype,
    Statement,
    Variable,
)
from goptx.ptx.opcodes import facts_of
from goptx.ptx.walk import mentioned, names_in, names_of, statements_in

if TYPE_CHECKING:
    from goptx.weaving.model import Kernel


def is_call(statement: Statement) -> TypeGuard[Instruction]:
    return isinstance(statement, Instruction) and facts_of(statement.opcode).calls


def declared_only(items: Iterable[Item]) -> frozenset[str]:
    """The functions of which nothing is known: without a body, and none of CUDA's own, which wait for nobody."""
    functions = [i for i in items if isinstance(i, Function)]
    defined = {f.name for f in functions if f.body is not None}
    return frozenset(f.name for f in functions) - defined - _OF_CUDA


_OF_CUDA = frozenset(("vprintf", "malloc", "free", "__assertfail"))


def is_indirect(statement: Statement) -> bool:
    """Whether it calls through a pointer: such a call names a prototype or a list of targets as well."""
    if not is_call(statement):
        return False
    return sum(not isinstance(o, Arguments) for o in statement.operands) > 1


def calls_indirectly(body: Iterable[Statement]) -> bool:
    return any(map(is_indirect, statements_in(body)))


def is_list_of_callees(statement: Statement) -> bool:
    """Whether it says, behind a label, what a call through a pointer may lead to."""
    return isinstance(statement, Prototype) or (isinstance(statement, Directive) and statement.name == ".calltargets")


def addresses_taken(items: Iterable[Item]) -> Iterator[str]:
    """The functions that are named other than to call them, and the variables that hold addresses of functions."""
    items = list(items)
    functions = {i.name for i in items if isinstance(i, Function) and not i.is_entry}
    for item in items:
        if isinstance(item, Variable) and functions.intersection(names_of(item)):
            yield item.name
            yield from (name for name in names_of(item) if name in functions)
        elif isinstance(item, Function):
            yield from (name for s in statements_in(item.body or ()) for name in _taken(s) if name in functions)


def _taken(statement: Statement) -> Iterator[str]:
    match statement:
        case Instruction(opcode, operands):
            direct = facts_of(opcode).calls and not is_indirect(statement)
            callee = next((o for o in operands if not isinstance(o, Arguments)), None) if direct else None
            yield from (name for o in operands if o is not callee for name in names_in(o))
        case Declaration(variable):
            yield from names_of(variable)
        case Directive(".calltargets", values):
            yield from values


def held(holder: str, function: str) -> CannotLink:
    """The refusal where a variable holds the address of a function of which each kernel needs one of its own."""
    return CannotLink(
        f"{holder} holds the address of the device function `{function}`, of which each kernel needs one of its own "
        "(for its shared memory, or the shape of its launch), and has one state for all kernels; call the function by "
        "its name, or use separate launches.",
        rule="function-address",
    )


def holders(items: Iterable[Item]) -> Mapping[str, Variable]:
    """The names that initialisers hold, each with a variable that does."""
    return {name: i for i in items if isinstance(i, Variable) for name in names_of(i)}


def called_functions(kernel: Kernel, items: Sequence[Item]) -> list[Function]:
    """The device functions that a kernel reaches; a call through a pointer may lead to all that are its symbols."""
    functions = {f.name: f for f in items if isinstance(f, Function) and f.body is not None}
    if not functions:
        return []

    def follow(body: Sequence[Statement]) -> list[str]:
        pointed = kernel.symbols.values() if calls_indirectly(body) else ()
        return [name for name in sorted({*mentioned(body), *pointed}) if name in functions]

    stack = follow(list(kernel.flow.codes()))
    reached: dict[str, Function] = {}
    while stack:
        function = functions[stack.pop()]
        if function.name not in reached:
            reached[function.name] = function
            stack += follow(function.body or ())
    return list(reached.values())
