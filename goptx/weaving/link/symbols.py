"""Chooses the module symbols that the kernels need and gives them distinct names.

Requires: parsed modules and the entry chosen of each. Ensures: kernels of one module share its symbols;
different symbols of different modules have different names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from goptx.errors import CannotLink, CannotWeave
from goptx.launch.parameter_names import letter_of
from goptx.ptx.flatten import flatten
from goptx.ptx.ir import (
    Function,
    Instruction,
    Item,
    Module,
    Name,
    Registers,
    Variable,
)
from goptx.ptx.walk import mentioned, named_outside, names_of, statements_in
from goptx.weaving.link.call_graph import addresses_taken, calls_indirectly


def module_symbols(modules: Sequence[Module], entries: Sequence[Function]) -> tuple[list[dict[str, str]], list[Item]]:
    """Of each module, the symbols that its entry needs with their new names; and the items, renamed."""
    symbols: list[dict[str, str]] = []
    renames: list[dict[str, str]] = []  # kernels of one module have one of these, and one set of names
    shared: list[set[str]] = []
    items: list[Item] = []
    known: dict[str, Function | Variable] = {}
    for position, (module, entry) in enumerate(zip(modules, entries, strict=True)):
        twin = next((p for p in range(position) if modules[p].items == module.items), None)
        needed = _needed(module, entry)
        own = {_name(i) for i in module.items if isinstance(i, Function | Variable)}
        # Kernels of one module share its state; own_shared_variables.py separates what each CTA has for itself. What
        # other kernels of the module need has its name already.
        rename: dict[str, str] = {} if twin is None else renames[twin]
        named: set[str] = set() if twin is None else shared[twin]
        for item in _defined(needed):
            old = known.get(_name(item))
            if old is None or item.name in named or _same(old, item, own):
                continue
            if _is_extern(item) and not is_dynamic_shared(item):
                raise CannotLink(
                    f"{module.source}:{item.line}: `{_name(item)}` is declared differently in "
                    f"another kernel's module, and an external symbol cannot be renamed; declare both alike.",
                    rule="module-symbols",
                )
            rename[_name(item)] = _free(_name(item), position, own | known.keys())
        for item in needed:
            new = _renamed_item(item, rename)
            if new not in items and not (_is_extern(new) and isinstance(new, Function) and new.name in known):
                items.append(new)
        known |= {_name(i): i for i in _defined([_renamed_item(i, rename) for i in needed])}
        renames.append(rename)
        named.update(item.name for item in needed)
        shared.append(named)
        symbols.append({item.name: rename.get(item.name, item.name) for item in needed})
    return symbols, items


def _free(name: str, position: int, taken: Collection[str]) -> str:
    """A name like `name` for the kernel at that position."""
    name = f"{name}_{letter_of(position % 26).lower()}"
    while name in taken:
        name += "_"
    return name


def _defined(items: Sequence[Function | Variable]) -> list[Function | Variable]:
    """Each symbol once, by its definition where there is one beside its declarations."""
    chosen: dict[str, Function | Variable] = {}
    for item in items:
        if item.name not in chosen or not (isinstance(item, Function) and item.body is None):
            chosen[item.name] = item
    return list(chosen.values())


def _name(item: Item) -> str:
    return item.name if isinstance(item, Function | Variable) else str(item)


def _is_extern(item: Item) -> bool:
    return isinstance(item, Function | Variable) and ".extern" in item.linkage


def is_dynamic_shared(item: Item) -> bool:
    return isinstance(item, Variable) and item.space == ".shared" and not item.size


def _same(one: Item, other: Item, own: set[str]) -> bool:
    """Whether two modules may share it: declarations, and functions that neither read thread registers nor
    name another symbol of their module (`own`), which may be another thing in the other module."""
    if _is_extern(one) and _is_extern(other):
        return _nameless(one) == _nameless(other)
    if one != other or not isinstance(one, Function):
        return False
    words = {w for s in statements_in(one.body or ()) for w in re.findall(r"[\w$%]+", str(s))}
    return not words & (_THREAD_REGISTERS | (own - {one.name}))


def _nameless(item: Item) -> Item:
    """An external function without what its parameters are called."""
    if not isinstance(item, Function):
        return item
    formals = [tuple(replace(p, name="") for p in those) for those in (item.parameters, item.results)]
    return replace(item, parameters=formals[0], results=formals[1])


_THREAD_REGISTERS = frozenset("%tid %ntid %ctaid %nctaid %warpid %nwarpid %laneid %smid".split())


def _needed(module: Module, entry: Function) -> list[Function | Variable]:
    """The symbols that the entry reaches, in the order of the module."""
    if any(isinstance(item, Registers) for item in module.items):
        raise CannotLink(
            f"{module.source}: registers of the whole module (PTX 1) cannot be separated; compile it anew.",
            rule="module-symbols",
        )
    reached = reached_symbols(module, entry)
    _refuse_launches(module, {entry.name, *reached})
    declared: dict[str, Function | Variable] = {}
    chosen: list[Function | Variable] = []
    for item in module.items:
        if isinstance(item, Function | Variable) and item.name in reached:
            if declared.get(item.name) == item:
                continue
            declared[item.name] = item
            chosen.append(item)
    return chosen


def _refuse_launches(module: Module, names: Collection[str]) -> None:
    """Raises `CannotWeave` where one of these functions names an entry."""
    entries = {f.name for f in module.functions if f.is_entry}
    for function in (f for f in module.functions if f.name in names):
        meant = entries.intersection(named_outside(function))
        for instruction in (s for s in statements_in(function.body or ()) if meant and isinstance(s, Instruction)):
            for kernel in sorted(meant.intersection(mentioned((instruction,)))):
                raise CannotWeave(
                    f"{module.source}:{instruction.line}: `{instruction}` in `{function.name}` takes the address of "
                    f"the kernel `{kernel}`, to launch it from the GPU, but the woven module has no other kernel; use "
                    "separate launches.",
                    rule="kernel-address",
                )


def reached_variables(module: Module, entry: Function) -> list[Variable]:
    """Those of the module that the entry names or reaches."""
    reached = reached_symbols(module, entry)
    return [v for v in module.variables if v.name in reached]


def reached_symbols(module: Module, entry: Function) -> set[str]:
    """The names of the module's variables and functions that the entry names, or that those name in turn; where one of
    them calls through a pointer, also all functions whose address is taken, and the variables that hold it."""
    symbols = {i.name: i for i in module.items if isinstance(i, Function | Variable)}
    reached: set[str] = set()
    stack = [entry.name]
    while stack:
        symbol = symbols.get(stack.pop())
        if symbol is None or (symbol.name in reached):
            continue
        reached.add(symbol.name)
        if isinstance(symbol, Variable):
            stack += names_of(symbol)
        else:
            stack += [name for name in dict.fromkeys(named_outside(symbol)) if name in symbols]
            stack += addresses_taken(module.items) if calls_indirectly(symbol.body or ()) else ()
    return reached - {entry.name}


def _renamed_item(item: Function | Variable, rename: Mapping[str, str]) -> Function | Variable:
    name = rename.get(item.name, item.name)
    if isinstance(item, Variable):
        init = tuple(Name(rename.get(p.text, p.text)) if isinstance(p, Name) else p for p in item.init)
        return replace(item, name=name, init=init)
    if item.body is None or rename.keys().isdisjoint(named_outside(item)):  # what modules have in common stays alike
        return replace(item, name=name)
    flat = flatten(item.body, lambda n: n, rename)
    return replace(item, name=name, body=(*flat.registers, *flat.variables, *flat.code))
