"""Moves variables that outlive their function out of it. There, names identify what several kernels share.

Requires: a parsed module. Ensures: no function declares a variable in `.global` or `.const` space, except within the
braces of a call.
"""

from __future__ import annotations

from dataclasses import replace

from goptx.ptx.flatten import flatten, renamed_statement
from goptx.ptx.ir import Declaration, Function, Item, Module, Name, Scope, Statement, Variable

_LASTING = (".global", ".const")


def with_statics_outside(module: Module) -> Module:
    """The module with such variables before their functions, under names that nothing else in it has."""
    if not any(_declares(f.body or ()) for f in module.functions):
        return module
    taken = {i.name for i in module.items if isinstance(i, Function | Variable)}
    items: list[Item] = []
    for item in module.items:
        if isinstance(item, Function) and _declares(item.body or ()):
            items += _with_statics_before(item, taken)
        else:
            items.append(item)
    return replace(module, items=tuple(items))


def _declares(body: tuple[Statement, ...]) -> bool:
    return any(
        _declares(s.body) if isinstance(s, Scope) else isinstance(s, Declaration) and s.variable.space in _LASTING
        for s in body
    )


def _with_statics_before(function: Function, taken: set[str]) -> list[Item]:
    flat = flatten(function.body or (), lambda name: name)
    names: dict[str, str] = {}
    for variable in (d.variable for d in flat.variables if d.variable.space in _LASTING):
        name = f"{function.name}_{variable.name}"
        while name in taken:
            name += "_"
        taken.add(name)
        names[variable.name] = name

    def new(statement: Statement) -> Statement:
        return renamed_statement(statement, lambda name: names.get(name, name))

    def outside(variable: Variable) -> Variable:
        init = tuple(Name(names.get(p.text, p.text)) if isinstance(p, Name) else p for p in variable.init)
        return replace(variable, name=names[variable.name], init=init)

    lasting = [outside(d.variable) for d in flat.variables if d.variable.name in names]
    own = (d for d in flat.variables if d.variable.name not in names)
    return [*lasting, replace(function, body=(*flat.registers, *own, *map(new, flat.code)))]
