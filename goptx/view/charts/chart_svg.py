"""Converts a figure of matplotlib to self-contained SVG, light and dark.

Ensures: the same chart gives the same bytes, whatever the user has set in matplotlib. As in pictures of kernels, there
is no script, no identifier and no external file, and colours are variables of theme.py. The title and the description
are for readers who cannot see the chart. Each mark has a tooltip.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from io import BytesIO
from threading import Lock
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from goptx.errors import InputError
from goptx.view.svg.drawing import SPACE, clean, escaped, number
from goptx.view.svg.text_width import HEAD, fitted
from goptx.view.svg.theme import HUES, LIGHT, variables

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

MARGIN = 16  # around the chart; pixels, which are points of matplotlib here
TITLE = 28  # height of the title, pixels
KEY = 24  # width of a key of the legend beside its text, pixels
FONT = "DejaVu Sans"  # part of matplotlib; pages use the font of the reader, which is not wider
SETTINGS: dict[Any, Any] = {
    "figure.dpi": 72, "savefig.dpi": 72, "figure.facecolor": LIGHT["ground"], "savefig.facecolor": LIGHT["ground"],
    "font.family": FONT, "font.size": 11, "text.color": LIGHT["ink"], "text.parse_math": False,
    "axes.facecolor": "none", "axes.edgecolor": LIGHT["line"], "axes.labelcolor": LIGHT["ink"], "axes.axisbelow": True,
    "axes.spines.top": False, "axes.spines.right": False, "axes.spines.left": False,
    "xtick.color": LIGHT["line"], "xtick.labelcolor": LIGHT["faint"],
    "ytick.color": LIGHT["line"], "ytick.labelcolor": LIGHT["faint"], "ytick.major.size": 0,
    "axes.formatter.useoffset": False, "axes.formatter.limits": (-5, 12),
    "grid.color": LIGHT["line"], "legend.frameon": False, "svg.fonttype": "none", "svg.hashsalt": "goptx",
}  # fmt: skip
LINE: dict[str, Any] = {"color": LIGHT["ink"], "linestyle": (0, (4, 3)), "linewidth": 1.2}  # a value to compare with
GROUND = {
    "facecolor": LIGHT["ground"],
    "edgecolor": "none",
    "pad": 1,
}  # the background of a text that lines would cross
_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))  # left out, since they hold versions and times
_LINK = "{http://www.w3.org/1999/xlink}href"
_VARIABLES = {colour: f"var(--{name})" for name, colour in LIGHT.items()}
_SETTING = Lock()  # the process has one set of matplotlib settings

Tips = Mapping[str, Sequence[str]]  # by the group (`gid`) of marks, the tooltip of each mark


def check_charts() -> None:
    """Raises `InputError` if matplotlib is not installed."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise InputError(
            f"charts are drawn by matplotlib, which cannot be imported ({error}); `pip install 'goptx[charts]'`."
        ) from None


def chart_svg(title: str, description: str, size: tuple[float, float], draw: Callable[[Figure], Tips]) -> str:
    """The chart as an SVG document of that width and height in pixels; `draw` fills the figure. Raises `InputError`
    if matplotlib is not installed."""
    check_charts()
    import matplotlib
    from matplotlib.figure import Figure

    with _SETTING, matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # readers have fonts of their own
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        figure = Figure(figsize=(size[0] / 72, size[1] / 72), layout="constrained")
        tips = draw(figure)
        written = BytesIO()
        figure.savefig(written, format="svg", metadata=_METADATA)
    return _document(ElementTree.fromstring(written.getvalue()), title, description, tips)


def add_head(figure: Figure, title: str, keys: Sequence[Artist]) -> None:
    """Writes the title at the top, and below it the legend of these keys in as many lines as it needs. The axes are
    placed below both."""
    width, height = (72 * inches for inches in figure.get_size_inches())
    cut = clean(fitted(title, width - 2 * MARGIN, HEAD))
    figure.text(MARGIN / width, 1 - 22 / height, cut, fontsize=14, fontweight="bold")
    for key in keys:
        key.set_label(fitted(str(key.get_label()), width - 2 * MARGIN - KEY))
    for axes in figure.axes:
        axes.set_xlabel(fitted(axes.get_xlabel(), width - 8 * MARGIN), loc="right")
    top = float(TITLE)
    if keys:
        at = (MARGIN / width, 1 - (TITLE + 4) / height)
        for columns in range(len(keys), 0, -1):
            legend = figure.legend(
                handles=keys, loc="upper left", bbox_to_anchor=at, ncols=columns, borderpad=0, borderaxespad=0,
                handletextpad=0.5, columnspacing=1.5, handlelength=1.2,
            )  # fmt: skip
            box = legend.get_window_extent()
            if box.width <= width - 2 * MARGIN or columns == 1:
                top += box.height + 8
                break
            legend.remove()
    engine = figure.get_layout_engine()
    assert engine
    side = (MARGIN - 8) / width
    engine.set(rect=(side, 0, 1 - 2 * side, 1 - top / height), w_pad=8 / 72, h_pad=8 / 72)  # type: ignore[call-arg]


def _document(root: ElementTree.Element, title: str, description: str, tips: Tips) -> str:
    """The SVG document that this module ensures, from the SVG that matplotlib wrote."""
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]  # the document has one name space
    _add_tips(root, tips)
    _without_links(root)
    for element in root.iter():
        for name in ("id", "clip-path"):
            element.attrib.pop(name, None)
        if "style" in element.attrib:
            element.set("style", _with_variables(element.attrib["style"]))
    width, height = root.attrib["viewBox"].split()[2:]
    drawn = [_written(child) for child in root if child.tag not in ("metadata", "defs")]
    return "\n".join(
        [
            f'<svg class="goptx chart" xmlns="{SPACE}" viewBox="0 0 {width} {height}" width="{number(float(width))}" '
            f'height="{number(float(height))}" role="img">',
            f"<title>{escaped(title)}</title>",
            f"<desc>{escaped(description)}</desc>",
            f"<style>\n{variables()}\n.chart * {{ stroke-linejoin: round; }}\n</style>",
            *drawn,
            "</svg>\n",
        ]
    )


def _add_tips(root: ElementTree.Element, tips: Tips) -> None:
    """Adds its tooltip to each mark."""
    for group in root.iter("g"):
        for mark, tip in zip(_marks(group), tips.get(group.get("id", ""), ()), strict=False):
            ElementTree.SubElement(mark, "title").text = clean(tip)


def _marks(group: ElementTree.Element) -> list[ElementTree.Element]:
    """The shapes that the group draws; shapes in `defs` are only defined."""
    defined = {shape for defs in group.iter("defs") for shape in defs.iter()}
    return [e for e in group.iter() if e.tag in ("use", "path") and e not in defined]


def _without_links(root: ElementTree.Element) -> None:
    """Replaces each reference to a shape by a copy of the shape."""
    shapes = {e.get("id"): e for defs in root.iter("defs") for e in defs}
    for parent in list(root.iter()):
        for at, use in enumerate(parent):
            if use.tag == "use":
                shape = deepcopy(shapes[use.attrib[_LINK].removeprefix("#")])
                style = "; ".join(filter(None, (shape.get("style"), use.get("style"))))
                x, y = (number(float(use.get(axis, 0))) for axis in "xy")
                shape.attrib |= {"style": style, "transform": f"translate({x} {y})"}
                shape.extend(use)
                parent[at] = shape
        for defs in parent.findall("defs"):
            parent.remove(defs)


def _with_variables(style: str) -> str:
    """The style with variables instead of the theme's light colours."""
    style = style.replace(f"'{FONT}'", "system-ui, sans-serif")
    return re.sub("#[0-9a-f]{6}", lambda found: _VARIABLES.get(found[0], found[0]), style)


def _written(element: ElementTree.Element) -> str:
    return ElementTree.tostring(element, encoding="unicode").strip()


def hue_of(series: int) -> str:
    """The colour of a series, one of the theme's light colours; they repeat."""
    return LIGHT[f"hue{series % HUES}"]


def bar_tips(bars: Iterable[Artist], tips: Sequence[str], name: str = "bar") -> dict[str, list[str]]:
    """The tooltips by bar. Each bar gets its own group, whose name begins with `name`."""
    found = {}
    for k, (bar, tip) in enumerate(zip(bars, tips, strict=True)):
        bar.set_gid(f"{name}, {k}")
        found[f"{name}, {k}"] = [tip]
    return found
