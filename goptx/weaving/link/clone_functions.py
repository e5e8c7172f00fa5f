"""Copies of the device functions in which kernels see different things under one name.

Requires: linked kernels. Ensures: each kernel calls functions in which its own values stand; functions that no kernel
calls any more are gone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from goptx.ptx.flatten import FlatBody, flatten
from goptx.ptx.ir import Function, Item, Name, Statement, Variable
from goptx.ptx.walk import free_name, operand_names
from goptx.weaving.link.call_graph import called_functions, held, holders
from goptx.weaving.link.substitute import Substitution
from goptx.weaving.model import Kernel, Linked


@dataclass(frozen=True, slots=True)
class Change:
    """What a kernel's copy of a function has in place of names, and the statements with which it begins."""

    substitution: Substitution
    begin: Sequence[Statement] = ()


def declared_in(function: Function, body: FlatBody) -> set[str]:
    """The names that a function declares itself."""
    variables = (*(d.variable for d in body.variables), *function.parameters, *function.results)
    return {v.name for v in variables} | {name for registers in body.registers for name, _ in registers.names}


def cloned_functions(
    linked: Linked, change: Callable[[Kernel, Function, FlatBody], Change | None]
) -> tuple[tuple[Item, ...], list[dict[str, str]]]:
    """The items of the woven module, and for each kernel the new names of functions. `change` is asked of each function
    that a kernel calls, in the order of the kernels; None means that it may stay as it is."""
    taken = {i.name for i in linked.items if isinstance(i, Function | Variable)}
    unchanged: set[str] = set()
    copies: list[dict[str, Function]] = []
    for kernel in linked.kernels:
        functions = {f.name: f for f in called_functions(kernel, linked.items)}
        bodies = {n: flatten(f.body or (), lambda name: name) for n, f in functions.items()}
        changes = {n: c for n, f in functions.items() if (c := change(kernel, f, bodies[n]))}
        changed = _changed({n: operand_names(b.code) for n, b in bodies.items()}, set(changes))
        renames = {n: free_name(f"{n}_{kernel.letter.lower()}", taken) for n in functions if n in changed}
        unchanged |= functions.keys() - changed
        own = [i for i in linked.items if isinstance(i, Variable) and i.name in kernel.symbols.values()]
        for name, holder in holders(own).items():
            if name in renames:
                raise held(f"{kernel.at(holder.line)}: `{holder.name}`", name)
        plain = Change(Substitution({}, kernel.at))
        copies.append({n: _copy(functions[n], bodies[n], changes.get(n, plain), renames) for n in renames})
    items: list[Item] = []
    for item in linked.items:
        apart = [c[item.name] for c in copies if isinstance(item, Function) and item.name in c]
        if not apart or (isinstance(item, Function) and item.name in unchanged):
            items.append(item)
        for copy in apart:
            declared = isinstance(item, Function) and item.body is None
            items.append(replace(copy, body=None) if declared else copy)
    return tuple(items), [{n: f.name for n, f in c.items()} for c in copies]


def _changed(mentions: Mapping[str, Sequence[str]], changed: set[str]) -> set[str]:
    """With the functions that call those."""
    while more := {n for n, names in mentions.items() if changed & set(names)} - changed:
        changed = changed | more
    return changed


def _copy(function: Function, body: FlatBody, change: Change, renames: Mapping[str, str]) -> Function:
    calls = {old: Name(new) for old, new in renames.items()}
    substitution = replace(change.substitution, values={**change.substitution.values, **calls})
    code = (substitution.statement(s) for s in body.code)
    return replace(function, name=renames[function.name], body=(*body.registers, *body.variables, *change.begin, *code))
