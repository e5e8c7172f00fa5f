"""Copies of the device functions in which kernels see different things under one name.

Requires: linked kernels. Ensures: each kernel calls functions in which its own values stand; functions that no kernel
calls any more are gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from goptx.analysis.dataflow import names_in
from goptx.ptx.flatten import FlatBody, flatten
from goptx.ptx.ir import Function, Instruction, Item, Name, Statement, Variable, Vector
from goptx.weaving.link import Kernel, Linked, called_functions
from goptx.weaving.substitute import Substitution
from goptx.weaving.symbols import statements_in

Change = Callable[[Kernel, Function, FlatBody], tuple[Substitution, Sequence[Statement]]]


def mentioned(statements: Iterable[Statement]) -> list[str]:
    """The names among the operands of instructions, those in braces too, sorted."""
    instructions = (s for s in statements_in(statements) if isinstance(s, Instruction))
    return sorted({n for i in instructions for operand in i.operands for n in names_in(operand)})


def in_vectors(statements: Iterable[Statement]) -> frozenset[str]:
    """The names among the parts of vectors."""
    operands = (o for s in statements_in(statements) if isinstance(s, Instruction) for o in s.operands)
    return frozenset(n for o in operands if isinstance(o, Vector) for n in names_in(o))


def functions_apart(linked: Linked, change: Change) -> tuple[tuple[Item, ...], list[dict[str, str]]]:
    """The items of the woven module, and for each kernel the new names of functions. `change` says of a function of a
    kernel what stands for names in it, and with what it begins."""
    taken = {i.name for i in linked.items if isinstance(i, Function | Variable)}
    unchanged: set[str] = set()
    copies: list[dict[str, Function]] = []
    for kernel in linked.kernels:
        functions = {f.name: f for f in called_functions(kernel, linked.items)}
        bodies = {n: flatten(f.body or (), lambda name: name) for n, f in functions.items()}
        changes = {n: change(kernel, f, bodies[n]) for n, f in functions.items()}
        renames = _renames(kernel, {n: mentioned(b.code) for n, b in bodies.items()}, changes, taken)
        unchanged |= functions.keys() - renames.keys()
        copies.append({n: _copy(functions[n], bodies[n], *changes[n], renames) for n in renames})
    items: list[Item] = []
    for item in linked.items:
        own = [c[item.name] for c in copies if isinstance(item, Function) and item.name in c]
        if not own or (isinstance(item, Function) and item.name in unchanged):
            items.append(item)
        for copy in own:
            declared = isinstance(item, Function) and item.body is None
            items.append(replace(copy, body=None) if declared else copy)
    return tuple(items), [{n: f.name for n, f in c.items()} for c in copies]


def _renames(
    kernel: Kernel,
    mentions: Mapping[str, Sequence[str]],
    changes: Mapping[str, tuple[Substitution, Sequence[Statement]]],
    taken: set[str],
) -> dict[str, str]:
    """New names of the functions in which something changes, and of those that call them."""
    changed = {n for n, (substitution, _) in changes.items() if substitution.values}
    while more := {n for n, names in mentions.items() if changed & set(names)} - changed:
        changed |= more
    renames = {}
    for name in (n for n in mentions if n in changed):
        new = f"{name}_{kernel.letter.lower()}"
        while new in taken:
            new += "_"
        taken.add(new)
        renames[name] = new
    return renames


def _copy(
    function: Function,
    body: FlatBody,
    substitution: Substitution,
    begin: Sequence[Statement],
    renames: Mapping[str, str],
) -> Function:
    calls = {old: Name(new) for old, new in renames.items()}
    changed = replace(substitution, values={**substitution.values, **calls})
    code = (changed.statement(s) for s in body.code)
    return replace(function, name=renames[function.name], body=(*body.registers, *body.variables, *begin, *code))
