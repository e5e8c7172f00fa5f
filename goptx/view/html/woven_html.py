"""A woven kernel for notebooks: how to launch it, its parameters, its report, pictures and PTX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from goptx.errors import GoptxError
from goptx.launch.parameter import Parameter
from goptx.launch.shape import Shape
from goptx.memo import Deferred
from goptx.results.fused_kernel import Woven
from goptx.view.html.elements_html import (
    Markup,
    box,
    code,
    display,
    element,
    folded,
    heading,
    line,
    markup,
    picture,
    table,
)
from goptx.view.html.ptx_html import ptx_html
from goptx.view.html.report_html import mark, report_parts, verdict
from goptx.view.svg.activity_svg import activity_svg
from goptx.view.svg.flow_svg import anatomy_svg
from goptx.view.svg.timeline_svg import timeline_svg

HEAD = ("", "kernel", "parameter", "in its own PTX", "type", "bytes", "memory", "")
PICTURES: dict[str, tuple[str, Callable[[Any, float], str]]] = {  # the method of `Woven`, and what draws its result
    "Timeline": ("timeline", timeline_svg),
    "What threads do": ("activity", activity_svg),
    "Control flow": ("anatomy", anatomy_svg),
}


def woven_html(woven: Woven) -> str:
    return display(woven_parts(woven))


def woven_parts(woven: Woven) -> Markup:
    """What is expected of the kernel as the headline, its pictures, of which the first is unfolded, how it is launched,
    and how it was made."""
    report = woven.report
    kernels = {letter: counts.name for letter, counts in report.kernels.items()}
    pictures = (folded(title, _picture(woven, *how), unfolded=not k) for k, (title, how) in enumerate(PICTURES.items()))
    lines = woven.ptx.count("\n")
    return markup(
        verdict(report),
        heading(woven.name, _title(woven)),
        *pictures,
        _launching(woven),
        _parameters(woven),
        report_parts(report),
        folded(f"PTX, {lines} lines", _files(woven), ptx_html(woven.module, woven.origins, kernels)),
    )


def _picture(woven: Woven, method: str, draw: Callable[[Any, float], str]) -> Markup:
    found = Deferred(lambda: getattr(woven, method)())  # computed once for all widths
    return picture(lambda width: draw(found.value, width))


def _title(woven: Woven) -> str:
    names = [counts.name for counts in woven.report.kernels.values()]
    many = "launched side by side" if woven.streams else "launched one after the other"
    return f"{' + '.join(names)}: {woven.strategy}" + (f", {many}" if len(woven.entries) > 1 else "")


def _launching(woven: Woven) -> Markup:
    """The call that launches the kernel, and the shape of that launch."""
    args = ", ".join(f"args_{letter.lower()}" for letter in woven.report.kernels)
    in_own_shapes = woven.plan is not None and not woven.plan.common
    call = f"launch(stream, {args}{'' if in_own_shapes else ', grid=..., block=...'})"
    shapes = [
        line(*((code(launch.entry), " ") if len(woven.launches) > 1 else ()), f"as {_shape(launch.plan.shape)}")
        for launch in woven.launches
        if launch.plan is not None and not launch.plan.common
    ]
    cap = line(f"at most {woven.max_registers} registers per thread") if woven.max_registers else ""
    return markup(line(code(call)), *shapes, cap)


def _shape(shape: Shape) -> str:
    grid, block = ("x".join("?" if n is None else str(n) for n in extent) for extent in (shape.grid, shape.block))
    text = f"{grid} CTAs of {block} threads"
    if shape.shared != 0:
        text += f", {'?' if shape.shared is None else shape.shared} bytes of dynamic shared memory"
    if shape.cluster:
        text += f", clusters of {'x'.join(map(str, shape.cluster))}"
    return text + (" (? is known at launch only)" if not shape.known else "")


def _parameters(woven: Woven) -> Markup:
    rows = [
        (
            i,
            mark(p.kernel or "", woven.report.kernels),
            p.name,
            p.role or p.original,
            p.type,
            p.size,
            _access(p),
            _instead(p),
        )
        for i, p in enumerate(woven.params)
    ]
    return folded(f"{len(rows)} parameters", table(HEAD, rows, words=(1, 2, 3, 4, 6, 7)), unfolded=len(rows) <= 24)


def _access(parameter: Parameter) -> str:
    return "" if parameter.access == "none" else "read and written" if parameter.access == "both" else parameter.access


def _instead(parameter: Parameter) -> str:
    if parameter.kernel is None:
        return "filled by launch()"
    return "" if parameter.instead is None else f"{parameter.instead} instead" if parameter.instead else "not needed"


def _files(woven: Woven) -> Markup:
    """The letter of each kernel, its name and its file."""
    sources = dict.fromkeys((o.kernel, o.source) for o in woven.origins if o)
    kernels = woven.report.kernels
    return markup(
        *(
            line(mark(letter, kernels), f" {kernels[letter].name}  ", element("span", source, kind="faint"))
            for letter, source in sorted(sources)
            if letter in kernels
        )
    )


def refusal_html(reason: GoptxError) -> str:
    text = element("div", reason, kind="text")
    return display(heading(element("span", "not woven", kind="wrong"), type(reason).__name__), box(text))
