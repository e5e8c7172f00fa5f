"""Chooses the module symbols that the kernels need and keeps their names apart.

Requires: parsed modules and the entry chosen of each. Ensures: kernels of one module share its symbols;
symbols of different modules that are not the same thing have different names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from goptx.analysis.dataflow import names_in
from goptx.errors import CannotLink
from goptx.ptx.flatten import flatten
from goptx.ptx.ir import (
    Declaration,
    Directive,
    Function,
    Instruction,
    Item,
    Module,
    Name,
    Registers,
    Scope,
    Statement,
    Variable,
)


def module_symbols(modules: Sequence[Module], entries: Sequence[Function]) -> tuple[list[dict[str, str]], list[Item]]:
    """Of each module, the symbols that its entry needs with their new names; and the items, renamed."""
    symbols: list[dict[str, str]] = []
    renames: list[dict[str, str]] = []
    items: list[Item] = []
    known: dict[str, Function | Variable] = {}
    for position, (module, entry) in enumerate(zip(modules, entries, strict=True)):
        twin = next((p for p in range(position) if modules[p].items == module.items), None)
        needed = _needed(module, entry)
        rename: dict[str, str] = {}
        own = {_name(i) for i in module.items if isinstance(i, Function | Variable)}
        if twin is not None:  # kernels of one module share its state, but not what each CTA has by itself
            rename = dict(renames[twin])
            for name in _in_shared_memory(_defined(needed)):
                if rename.get(name, name) in known:
                    rename[name] = _free(name, position, own | known.keys())
        else:
            for item in _defined(needed):
                old = known.get(_name(item))
                if old is None or _same(old, item, own):
                    continue
                if _is_extern(item) and not is_dynamic_shared(item):
                    raise CannotLink(
                        f"{module.source}:{item.line}: `{_name(item)}` is declared differently in "
                        f"another kernel's module, and an external symbol cannot be renamed; declare both alike."
                    )
                rename[_name(item)] = _free(_name(item), position, own | known.keys())
        for item in needed:
            new = _renamed_item(item, rename)
            if new not in items:
                items.append(new)
        known |= {_name(i): i for i in _defined([_renamed_item(i, rename) for i in needed])}
        renames.append(rename)
        symbols.append({item.name: rename.get(item.name, item.name) for item in needed})
    return symbols, items


def _free(name: str, position: int, taken: Collection[str]) -> str:
    """A name like `name` for the kernel at that position."""
    name = f"{name}_{chr(ord('a') + position)}"
    while name in taken:
        name += "_"
    return name


def _in_shared_memory(items: Sequence[Function | Variable]) -> list[str]:
    """The shared variables whose size is known, and the functions that name one or another such function."""
    found = [v.name for v in items if isinstance(v, Variable) and v.space == ".shared" and not is_dynamic_shared(v)]
    functions = {f.name: {*mentioned(f.body or ())} for f in items if isinstance(f, Function)}
    while more := [n for n, names in functions.items() if n not in found and not names.isdisjoint(found)]:
        found += more
    return found


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
    if one != other:
        return False
    if not isinstance(one, Function):
        return _is_extern(one)
    words = {w for s in statements_in(one.body or ()) for w in re.findall(r"[\w$%]+", str(s))}
    return not words & (_THREAD_REGISTERS | (own - {one.name}))


_THREAD_REGISTERS = frozenset("%tid %ntid %ctaid %nctaid %warpid %nwarpid %laneid %smid".split())


def _needed(module: Module, entry: Function) -> list[Function | Variable]:
    """The symbols that the entry reaches, in the order of the module."""
    aliases = {i.values[0]: i.values[1] for i in module.items if isinstance(i, Directive) and i.name == ".alias"}
    if aliases:
        raise CannotLink(f"{module.source}: .alias is not supported yet; call the aliased function by its own name.")
    if any(isinstance(item, Registers) for item in module.items):
        raise CannotLink(
            f"{module.source}: registers of the whole module (PTX 1) cannot be kept apart; compile it anew."
        )
    reached = reached_symbols(module, entry)
    declared: dict[str, Function | Variable] = {}
    kept: list[Function | Variable] = []
    for item in module.items:
        if isinstance(item, Function | Variable) and item.name in reached:
            if declared.get(item.name) == item:
                continue
            declared[item.name] = item
            kept.append(item)
    return kept


def reached_symbols(module: Module, entry: Function) -> set[str]:
    """The names of the module's variables and functions that the entry names, or that those name in turn."""
    symbols = {i.name: i for i in module.items if isinstance(i, Function | Variable)}
    reached: set[str] = set()
    stack = [entry.name]
    while stack:
        symbol = symbols.get(stack.pop())
        if symbol is None or (symbol.name in reached):
            continue
        reached.add(symbol.name)
        if isinstance(symbol, Variable):
            stack += [part.text for part in symbol.init if isinstance(part, Name)]
        else:
            stack += [name for name in dict.fromkeys(mentioned(symbol.body or ())) if name in symbols]
    return reached - {entry.name}


def _renamed_item(item: Function | Variable, rename: Mapping[str, str]) -> Function | Variable:
    name = rename.get(item.name, item.name)
    if isinstance(item, Variable):
        init = tuple(Name(rename.get(p.text, p.text)) if isinstance(p, Name) else p for p in item.init)
        return replace(item, name=name, init=init)
    if not rename or item.body is None:
        return replace(item, name=name)
    flat = flatten(item.body, lambda n: n, rename)
    return replace(item, name=name, body=(*flat.registers, *flat.variables, *flat.code))


def mentioned(body: Iterable[Statement]) -> Iterator[str]:
    """What the statements of a body and its scopes name as operands, in initialisers and in lists of targets."""
    for statement in statements_in(body):
        match statement:
            case Instruction(_, operands):
                yield from (name.partition(".")[0] for operand in operands for name in names_in(operand))
            case Declaration(variable):
                yield from (part.text for part in variable.init if isinstance(part, Name))
            case Directive(_, values):
                yield from values


def statements_in(body: Iterable[Statement]) -> Iterable[Statement]:
    """Every statement of a body and of the scopes within it."""
    for statement in body:
        yield statement
        if isinstance(statement, Scope):
            yield from statements_in(statement.body)
