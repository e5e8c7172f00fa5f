"""Charts of points and bars."""

import xml.etree.ElementTree as ET

import pytest

from goptx.view.svg.points_svg import Point, Points, number, steps
from goptx.view.svg.ranked_svg import Bar, Ranked

SPACE = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0, 1, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]), (0, 2.1, ["0.0", "0.5", "1.0", "1.5", "2.0", "2.5"]),
     (97, 103, ["96", "98", "100", "102", "104"]), (0, 7000, ["0", "2000", "4000", "6000", "8000"])],
)  # fmt: skip
def test_axes_have_round_numbers(low: float, high: float, expected: list[str]) -> None:
    found = steps(low, high)
    assert [number(value, found) for value in found] == expected
    assert found[0] <= low and found[-1] >= high


def test_points_lie_in_the_field() -> None:
    points = [
        Point(x, y, x % 7, f"<{x}>", y - 1 if y else None, y + 1 if y else None) for x, y in enumerate([5, None, 9])
    ]
    drawn = ET.fromstring(Points("a & b", "x", "y", tuple("<ABCDEF"), tuple(points), line=("one", 2.0))._repr_svg_())
    width, height = map(float, drawn.attrib["viewBox"].split()[2:])
    for shape in drawn.iter(f"{SPACE}path"):
        x, y = map(float, shape.attrib["transform"].removeprefix("translate(").rstrip(")").split())
        assert 0 < x < width and 0 < y < height
    titles = [title.text for title in drawn.iter(f"{SPACE}title")]
    assert titles == ["a & b", "one", "<0>", "<2>", "<1>"]


def test_a_single_point() -> None:
    assert ET.fromstring(Points("t", "x", "y", ("",), (Point(3, 1.0, 0, "one", chosen=True),))._repr_svg_()) is not None


def test_long_names_are_cut_and_titled() -> None:
    name = "horizontal x4 x4 x4 partition=128,256,384 streams=True capped at 128"
    drawn = Ranked("t", ("horizontal",), (Bar(name, 1.5, 0, True),), ("one", 1.0))._repr_svg_()
    assert f">{name}<" not in drawn and f"{name}: 1.50" in drawn and "1.50 ★" in drawn
