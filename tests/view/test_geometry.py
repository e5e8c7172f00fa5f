"""Nothing in a picture is cut off or lies over something else, whatever it shows and however wide it may be."""

from collections.abc import Callable
from typing import Any

import pytest
from anatomy.results import NAMES, result
from view import made_pictures
from view.geometry import Box, Layout, advance, layout_of, problems
from view.pages import check

from goptx.view.svg.activity_svg import activity_svg
from goptx.view.svg.drawing import NARROW, PAGE
from goptx.view.svg.flow_svg import anatomy_svg
from goptx.view.svg.graph_svg import graph_svg
from goptx.view.svg.text_width import CODE, HEAD, PLAIN, Font, fitted, lines_of, short, text_width
from goptx.view.svg.timeline_svg import timeline_svg

WIDTHS = (PAGE, NARROW)
KINDS: dict[str, Callable[[Any, float], str]] = {
    "timeline": timeline_svg,
    "activity": activity_svg,
    "anatomy": anatomy_svg,
}
SEEDS = range(14)


def sound(svg: str, most: float) -> None:
    layout = layout_of(svg)
    assert layout.texts and layout.width <= most
    found = list(problems(layout))
    assert not found, "\n".join(found[:5])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_of_results(name: str, kind: str) -> None:
    for width in WIDTHS:
        sound(KINDS[kind](getattr(result(name), kind)(), width), width)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", SEEDS)
def test_of_results_of_any_size(kind: str, number: int) -> None:
    made = getattr(made_pictures, kind)(number)
    for width in WIDTHS:
        svg = KINDS[kind](made, width)
        # The picture of a flow with very many arcs may be wider; on a page it is scaled down.
        sound(svg, width if kind != "anatomy" else 1.2 * width)
        check(svg)


@pytest.mark.parametrize("number", SEEDS)
def test_of_graphs(number: int) -> None:
    sound(graph_svg(*made_pictures.graph(number)), PAGE)


@pytest.mark.parametrize("number", range(6))
def test_of_charts(number: int) -> None:
    made = made_pictures.chart(number)
    for width in WIDTHS:
        sound(made.svg(width), width)


def test_problems_are_found() -> None:
    room = Box(10, 10, 60, 30, "", frozenset({"frame"}))
    one, other = Box(12, 12, 40, 24, "one"), Box(39, 12, 70, 24, "other")
    found = list(problems(Layout(65, 40, (one, other, Box(-3, 35, 4, 45, "low")), (room,))))
    for words in ("before the picture: Box(left=-3", "beyond 65 x 40: Box(left=39", "beyond 65 x 40: Box(left=-3",
                  "leaves its box: Box(left=39", "overlap: Box(left=12"):  # fmt: skip
        assert any(line.startswith(words) for line in found), words
    assert len(found) == 5
    assert not list(problems(Layout(65, 40, (one,), (room,))))


FONTS: dict[Font, dict[str, str]] = {PLAIN: {}, HEAD: {"font-weight": "600"}, CODE: {"font-family": "monospace"}}


@pytest.mark.parametrize("font", FONTS, ids=str)
@pytest.mark.parametrize("name", made_pictures.NAMES)
def test_texts_fit(name: str, font: Font) -> None:
    text = name.replace("\x01", "")
    assert text_width(text, font) >= advance(text, FONTS[font], font.size)
    for width in (0, 5, 12, 40, 180.5, 5000):
        cut = fitted(text, width, font)
        assert text_width(cut, font) <= width
        assert cut in ("", text) or (text.startswith(cut.partition("…")[0]) and text.endswith(cut.partition("…")[2]))
        longer = fitted(text, width, font) != text and cut and len(cut) < len(text) - 1
        if longer:  # one letter more would not fit
            assert text_width(short(text, len(cut) + 1), font) > width
        assert all(text_width(line, font) <= width for line in lines_of(text, width, font))
    assert fitted(text, 1e5, font) == text and " ".join(lines_of(text, 1e5, font)).split() == text.split()
