"""Charts: their marks, axes and legends, and what replaces them without matplotlib.

They were looked at, light and dark. The layout differs between versions of matplotlib, so it is not compared.
"""

import sys
from collections.abc import Callable
from xml.etree import ElementTree

import matplotlib
import pytest
from view.pages import SVG, check, read, texts
from view.test_results import SWEEP, TABLE

from goptx.errors import InputError
from goptx.measuring.profiling.metrics import ALL
from goptx.measuring.profiling.profile_result import Launched, Profile
from goptx.results.report import Counts, Report
from goptx.view.bars import Bars, Group
from goptx.view.charts.points_chart import Point, Points
from goptx.view.charts.ranked_chart import Bar, Ranked
from goptx.view.html.sweep_html import chart_of
from goptx.view.html.tuning_html import in_order, ranked

BARS = Bars("t", ("A", "B"), 1, (Group("g", "us", (1.0, None)), Group("h", "%", (4.0, 3.0), 100.0)), "x")
CHARTS: dict[str, Callable[[], str]] = {
    "sweep": chart_of(SWEEP)._repr_svg_,
    "ranked": ranked(TABLE)._repr_svg_,
    "in order": in_order(TABLE)._repr_svg_,
    "bars": BARS._repr_svg_,
}
HOSTILE = "<&\"'$x_1$\x01"
READ = "<&\"'$x_1$\ufffd"


def tips(root: ElementTree.Element) -> list[str]:
    """The tooltips of marks."""
    return [title.text or "" for title in root.iter(f"{SVG}title")][1:]


@pytest.mark.slow
@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_self_contained(name: str) -> None:
    svg = CHARTS[name]()
    root = check(svg)
    assert root[1].tag == f"{SVG}desc" and root[1].text
    assert len(svg) < 100_000


@pytest.mark.parametrize("name", CHARTS)
def test_it_is_the_same_whatever_is_set(name: str) -> None:
    pyplot = "matplotlib.pyplot" in sys.modules
    before = CHARTS[name]()
    with matplotlib.rc_context({"font.size": 30, "svg.fonttype": "path", "axes.grid": True, "text.color": "red"}):
        assert CHARTS[name]() == before
        assert matplotlib.rcParams["font.size"] == 30
    assert ("matplotlib.pyplot" in sys.modules) == pyplot  # pyplot has state of the process


def test_points() -> None:
    points = tuple(Point(x, y, x, f"{HOSTILE}{x}", y and y - 1, y and y + 1) for x, y in enumerate([5.0, None, 9.0]))
    chart = Points(
        "a & b", "across, s", "up, ms", tuple(HOSTILE), points, line=("one", 2.0), lacking="none there"
    )  # fmt: skip
    root = check(chart._repr_svg_())
    assert sorted(tips(root)) == [f"{READ}{x}" for x in range(3)]
    written = texts(root).splitlines()
    assert {"a & b", "across, s", "up, ms", "none there", "one", "<", "&"} <= {*written}
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    for mark in root.iter(f"{SVG}path"):
        if mark.find(f"{SVG}title") is not None:
            x, y = map(float, mark.attrib["transform"].removeprefix("translate(").rstrip(")").split())
            assert 0 < x < width and 0 < y < height


def test_a_single_point() -> None:
    root = check(Points("t", "x", "y", ("",), (Point(3, 1.0, 0, "one", chosen=True),))._repr_svg_())
    assert tips(root) == ["one"] and "chosen" in texts(root).splitlines()
    assert root[1].text == "1 points: y, from 1 to 1, over x. chosen: one."


def test_trials_that_went_wrong_have_a_shape_of_their_own() -> None:
    root = check(in_order(TABLE)._repr_svg_())
    assert "wrong or failed" in texts(root).splitlines()
    wrong = [
        m for m in root.iter(f"{SVG}path") if "var(--wrong)" in m.get("style", "") and m.find(f"{SVG}title") is not None
    ]
    assert len(wrong) == 2 and len(tips(root)) == len(TABLE.trials)


def test_long_names_are_cut_and_titled() -> None:
    name = "horizontal x4 x4 x4 partition=128,256,384 streams=True capped at 128"
    root = check(Ranked("t", "speedup", ("horizontal",), (Bar(name, 1.5, 0, True),), ("one", 1.0))._repr_svg_())
    written = texts(root).splitlines()
    (cut,) = (text for text in written if "…" in text)
    assert name not in written and name.startswith(cut.partition("…")[0]) and name.endswith(cut.partition("…")[2])
    assert len(cut) > 30 and "1.50 ★" in written
    assert tips(root) == [f"{name}: 1.50"]


def test_bars_of_one_scale_have_an_axis() -> None:
    groups = tuple(Group(name, "", (1.0, 1.5), 2.0, ("streams", 1.0)) for name in "ab")
    root = check(Bars("t", ("A", "B"), 2, groups, "speedup", digits=2)._repr_svg_())
    written = texts(root).splitlines()
    assert {"speedup", "0", "0.5", "2", "streams 1.00", "1.50"} <= {*written} and "a" in written
    assert tips(root)[:2] == ["A: a 1.00", "B: a 1.50"]


def test_a_long_legend_has_several_lines() -> None:
    names = tuple(f"{'<&' * 20}{i}" for i in range(6))
    group = Group("a", "%", (1.0, 2.0, 3.0, 4.0, None, 60.0), 100.0, ("I12", 50.0))
    root = check(Bars("<t>", names, 5, (group,), "per cent")._repr_svg_())
    found = {t.text: t for t in root.iter(f"{SVG}text")}
    places = [found[name].get("transform") or (found[name].get("x"), found[name].get("y")) for name in names]
    assert len({*places}) == 6
    assert "n/a" in found


# without matplotlib -----------------------------------------------------------------------------------


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)


@pytest.mark.usefixtures("without")
def test_a_requested_chart_is_an_error() -> None:
    with pytest.raises(InputError, match=r"charts are drawn by matplotlib, .* `pip install 'goptx\[charts\]'`"):
        chart_of(SWEEP)._repr_svg_()


@pytest.mark.usefixtures("without")
def test_pages_have_tables_instead() -> None:
    for rendered in (SWEEP._repr_html_(), TABLE._repr_html_()):
        page = read(rendered)
        assert not page.all("svg") and page.all("table") and "pip install 'goptx[charts]'" in page.text


@pytest.mark.usefixtures("without")
def test_a_profile_has_bars_of_text_instead() -> None:
    one, fused = (Launched(label, "k", dict.fromkeys((m.short for m in ALL), 1.0)) for label in ("A", "fused"))
    report = Report({}, Counts("k", 0, 0, 0, 0, 0), 0.0, "latency", None, "sm_90", (), ())
    page = read(Profile((one,), (fused,), "weave", "NVIDIA H200", "sm_90", "Nsight Compute", report)._repr_html_())
    (bars,) = page.all(kind="text")
    assert "█" in bars.text and "A k" in bars.text
