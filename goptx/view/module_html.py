"""A module for notebooks: what its entries are made of, and its PTX."""

from __future__ import annotations

from goptx.ptx.ir import Module
from goptx.view.html import box, display, element, folded, heading
from goptx.view.listing import listing
from goptx.view.ptx_html import ptx_html


def module_html(module: Module) -> str:
    head, _, entries = listing(module).partition("\n\n")
    lines = str(module).count("\n")
    return display(
        heading(", ".join(entry.name for entry in module.entries) or "a module without entries", head),
        box(element("div", entries, kind="text plain")),
        folded(f"PTX, {lines} lines", ptx_html(module)),
    )
