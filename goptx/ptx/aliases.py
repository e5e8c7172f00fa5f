"""Puts functions in place of their aliases.

Requires: a parsed module. Ensures: no `.alias`, and nothing that names one.
"""

from __future__ import annotations

from dataclasses import replace

from goptx.ptx.flatten import flatten
from goptx.ptx.ir import Directive, Function, Item, Module, Name, Variable


def without_aliases(module: Module) -> Module:
    """The module with each aliased function under its own name only. An alias may name another alias."""
    named = {i.values[0]: i.values[1] for i in module.items if isinstance(i, Directive) and i.name == ".alias"}
    if not named:
        return module
    found = {alias: _end(alias, named) for alias in named}

    def item(old: Item) -> Item:
        match old:
            case Function(body=tuple() as body):
                flat = flatten(body, lambda name: name, found)
                return replace(old, body=(*flat.registers, *flat.variables, *flat.code))
            case Variable():
                init = tuple(Name(found.get(p.text, p.text)) if isinstance(p, Name) else p for p in old.init)
                return replace(old, init=init)
        return old

    remaining = (i for i in module.items if not _is_alias(i, named))
    return replace(module, items=tuple(map(item, remaining)))


def _end(alias: str, named: dict[str, str]) -> str:
    seen: set[str] = set()
    while alias in named and alias not in seen:
        seen.add(alias)
        alias = named[alias]
    return alias


def _is_alias(item: Item, named: dict[str, str]) -> bool:
    """Whether the item is an `.alias` directive or declares an alias."""
    return (isinstance(item, Directive) and item.name == ".alias") or (
        isinstance(item, Function) and item.name in named
    )
