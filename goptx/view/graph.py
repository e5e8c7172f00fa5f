"""The control flow of entries as a graph in Graphviz's language.

Requires: entries whose branches have known targets.
"""

from __future__ import annotations

from json import dumps as quoted

from goptx.analysis.cfg import EXIT
from goptx.analysis.terminators import Branch, End
from goptx.ptx.ir import Function, Module
from goptx.view.listing import chosen_entries, extent, flow_of


def dot(module: Module, name: str | None = None) -> str:
    """A digraph of each entry, or of the one of that name.

    Raises `InputError` if no entry has that name, and `CannotWeave` if a branch has no known target.
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
            attributes = f" [label={quoted(label)}]" if label else ""
            lines.append(f"  {quoted(name)} -> {quoted(target)}{attributes};")
    return "\n".join([*lines, "}"]) + "\n"


def _label(end: End, kind: str) -> str:
    """The label of an edge: the guard for a taken branch, "case" for a case of `brx`; other edges have none."""
    if kind == "taken" and isinstance(end, Branch):
        return str(end.guard)
    return kind if kind == "case" else ""
