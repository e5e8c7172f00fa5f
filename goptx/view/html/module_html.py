"""A module for notebooks: the contents of its entries, their control flow, and its PTX."""

from __future__ import annotations

import warnings
from functools import partial

from goptx.errors import LatencyTableWarning
from goptx.ptx.ir import Module
from goptx.view.html.elements_html import box, display, element, folded, heading, picture
from goptx.view.html.ptx_html import ptx_html
from goptx.view.listing import listing
from goptx.view.svg.flow_svg import flow_svg


def module_html(module: Module) -> str:
    head, _, entries = listing(module).partition("\n\n")
    names = [entry.name for entry in module.entries]
    lines = str(module).count("\n")
    return display(
        heading(", ".join(names) or "a module without entries", head),
        box(element("div", entries, kind="text plain")),
        *(folded(f"Control flow of {name}", picture(partial(_flow, module, name))) for name in names),
        folded(f"PTX, {lines} lines", ptx_html(module)),
    )


def _flow(module: Module, name: str, width: float) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LatencyTableWarning)  # cycles are only an annotation of the blocks here
        return flow_svg(module, name)
