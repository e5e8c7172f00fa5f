"""The control flow of entries as a graph in Graphviz's language.

Requires: entries whose branches have targets that can be told.
"""

from __future__ import annotations

from json import dumps as quoted

from goptx.analysis.cfg import EXIT
from goptx.analysis.terminators import Branch, End
from goptx.ptx.ir import Function, Module
from goptx.view.listing import chosen_entries, extent, flow_of


def dot(module: Module, name: str | None = None) -> str:
    """A digraph of each entry, or of the one of that name.

    Raises `InputError` where there is none of that name and `CannotWeave` where a branch has no known target.
    """
    return "".join(_digraph(module, entry) for entry in chosen_entries(module, name))


def _digraph(module: Module, entry: Function) -> str:
    lines = [f"digraph {quoted(entry.name)} {{", '  node [shape=box, fontname="monospace"];']
    for name, block in flow_of(module, entry).blocks.items():
        count, where = extent(block)
        rows = [name] if name == EXIT else [name, f"instructions {count}", *([f"at {where}"] if where else [])]
        lines.append(f"  {quoted(name)} [label={quoted(chr(10).join(rows))}];")
        for kind, target in zip(block.end.kinds(), block.end.successors(), strict=True):
            label = _label(block.end, kind)
            shown = f" [label={quoted(label)}]" if label else ""
            lines.append(f"  {quoted(name)} -> {quoted(target)}{shown};")
    return "\n".join([*lines, "}"]) + "\n"


def _label(end: End, kind: str) -> str:
    """The guard on the way of a branch that is taken; nothing on the way that most flow takes."""
    if kind == "taken" and isinstance(end, Branch):
        return str(end.guard)
    return kind if kind == "case" else ""
