"""The result of a check, for notebooks."""

from __future__ import annotations

from goptx.checking.verdict import Check, launch_text, value_text
from goptx.view.html.elements_html import Markup, box, display, element, folded, heading, line, markup, table
from goptx.view.html.report_html import mark, report_parts, verdict

DIFFERENCES = ("array", "element", "alone", "woven", "differ", "of")


def check_html(check: Check) -> str:
    passed = heading(f"✓ {check.name}", f"does what its kernels do alone: all {check.compared} bytes are equal")
    failed = heading(element("span", f"✗ {check.name}", kind="wrong"), "does not do what its kernels do alone")
    how = f"{launch_text(check.shape)}, seed {check.seed}, strict, in {len(check.orders)} orders of the warps"
    return display(
        passed if check.passed else failed,
        line(how, kind="faint"),
        *(line(f"not compared: {name}, a temporary") for name in check.undefined),
        _fault(check),
        folded("What they were run on", box(_inputs(check)), unfolded=not check.passed),
        folded("Report of the weaving", verdict(check.report), report_parts(check.report)),
    )


def _fault(check: Check) -> Markup:
    if check.fault is not None:
        return box(element("div", f"{type(check.fault).__name__}: {check.fault}", kind="text"))
    rows = [(d.parameter, d.index, d.alone, d.woven, d.count, d.length) for d in check.differences]
    return markup(box(table(DIFFERENCES, rows))) if rows else markup()


def _inputs(check: Check) -> Markup:
    """For each kernel its launch, if it differs from that of the fused kernel, and its arguments."""
    letters = check.report.kernels
    parts = []
    for kernel in check.kernels:
        own = "" if kernel.shape == check.shape else f"  {launch_text(kernel.shape)}"
        source = element("span", f"  {kernel.source}{own}", kind="faint")
        rows = [(name, value_text(i.value), i.source) for name, i in kernel.inputs.items()]
        parts.append(line(mark(kernel.letter, letters), f" {kernel.name}", source))
        parts.append(table(("parameter", "value", "from"), rows, words=(0, 1, 2)))
    return markup(*parts)
