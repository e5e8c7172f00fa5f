"""Shared variables of its own for each kernel.

Requires: linked kernels. Ensures: no two of them use one static shared variable. Such a variable is a different one in
each CTA, although kernels of one module, and functions that modules have in common, use one name for it.
"""

from __future__ import annotations

from dataclasses import replace

from goptx.ptx.flatten import FlatBody
from goptx.ptx.ir import Declaration, Function, Item, Name, Operand, Variable
from goptx.ptx.walk import free_name, operand_names, statements_in
from goptx.weaving.link.clone_functions import Change, cloned_functions, declared_in
from goptx.weaving.link.substitute import Substitution
from goptx.weaving.model import Kernel, Linked
from goptx.weaving.shapes.shared_pool import shared_of


def own_shared(linked: Linked) -> Linked:
    """The first kernel that uses a variable owns it. The others get copies, and copies of the functions that name it
    or declare it."""
    taken = {i.name for i in linked.items if isinstance(i, Function | Variable)}
    renames: dict[str, dict[str, Operand]] = {}
    items = list(linked.items)
    used: set[str] = set()
    for kernel in linked.kernels:
        variables = [v for v in shared_of(kernel, linked).static if v in linked.items]
        renames[kernel.prefix] = {}
        for variable in (v for v in variables if v.name in used):
            new = free_name(f"{variable.name}_{kernel.letter.lower()}", taken)
            renames[kernel.prefix][variable.name] = Name(new)
            items.insert(items.index(variable) + 1, replace(variable, name=new))
        used.update(v.name for v in variables)
    if not any(renames.values()) and not any(map(_declares_shared, linked.items)):
        return linked
    called: set[str] = set()

    def change(kernel: Kernel, function: Function, body: FlatBody) -> Change | None:
        named = set(operand_names(body.code)) - declared_in(function, body)
        values = {n: v for n, v in renames[kernel.prefix].items() if n in named}
        shares = function.name in called and _declares_shared(function)
        called.add(function.name)
        return Change(Substitution(values, kernel.at)) if values or shares else None

    own, functions = cloned_functions(replace(linked, items=tuple(items)), change)
    kernels = []
    for kernel, calls in zip(linked.kernels, functions, strict=True):
        values = {**renames[kernel.prefix], **{old: Name(new) for old, new in calls.items()}}
        substitution = Substitution(values, kernel.at)
        symbols = kernel.calling({old: str(new) for old, new in values.items()})
        callees = tuple(map(substitution.statement, kernel.callees))
        kernels.append(replace(kernel, flow=substitution.flow(kernel.flow), symbols=symbols, callees=callees))
    return replace(linked, items=own, kernels=tuple(kernels))


def _declares_shared(item: Item) -> bool:
    """Whether it is a function with shared variables of its own."""
    statements = statements_in(item.body or ()) if isinstance(item, Function) else ()
    return any(isinstance(s, Declaration) and s.variable.space == ".shared" for s in statements)
