"""Writes a register cap into a module as `.maxnreg`: ptxas ignores its own option where launch bounds are given."""

from __future__ import annotations

from dataclasses import replace

from goptx.errors import InputError
from goptx.ptx.ir import Directive, Function, Module
from goptx.ptx.opcodes import facts_of
from goptx.ptx.walk import instructions_of


def with_register_cap(module: Module, cap: int) -> Module:
    """The module with `.maxnreg cap` on its entries; directives that contradict it are removed. Raises `InputError` for
    entries that move registers among their warps, by what they have when they begin."""
    dropped = (".maxnreg", ".minnctapersm", ".maxnctapersm")
    items = []
    for item in module.items:
        if isinstance(item, Function) and item.is_entry and item.body is not None:
            moving = next((i for i in instructions_of(item) if facts_of(i.opcode).exclusive == "registers"), None)
            if moving is not None and register_cap(module) != cap:
                raise InputError(
                    f"a cap of {cap} registers does not fit `{item.name}`, which moves registers (`{moving}`) by what "
                    f"it begins with (.maxnreg {register_cap(module)}): some warps would wait for ever. Give none, or "
                    "other role_registers=."
                )
            remaining = tuple(d for d in item.directives if d.name not in dropped)
            item = replace(item, directives=(*remaining, Directive(".maxnreg", (str(cap),))))
        items.append(item)
    return replace(module, items=tuple(items))


def register_cap(module: Module) -> int | None:
    """The most registers of a thread that the entries allow (`.maxnreg`); None where none of them has a cap."""
    caps = [int(d.values[0]) for entry in module.entries for d in entry.directives if d.name == ".maxnreg"]
    return max(caps, default=None)
