"""Pictures of kernels: they are self-contained, never use a colour alone to convey a fact, and stay small. One of each
kind is in docs/pictures/; they were looked at, light and dark."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from anatomy.results import NAMES, path, result
from view.pages import SVG, check, texts

import goptx
from goptx.anatomy.blocks import Anatomy, Block, Chart, Edge
from goptx.anatomy.chart import anatomy_of
from goptx.view.svg.arcs import lanes
from goptx.view.svg.drawing import escaped, hatching
from goptx.view.svg.flow_rows import MANY, RowEdge, edges_of, rows_of
from goptx.view.svg.flow_svg import flow_svg
from goptx.view.svg.text_width import short

Golden = Callable[[str, str], None]
KINDS = ("anatomy", "timeline", "activity")


def drawn(name: str, kind: str) -> str:
    picture: str = getattr(result(name), kind)()._repr_svg_()
    return picture


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_is_self_contained(name: str, kind: str) -> None:
    svg = drawn(name, kind)
    check(svg)
    assert len(svg) < 300_000
    assert svg == drawn(name, kind)


@pytest.mark.parametrize(("kind", "name"), [("anatomy", "barriers"), ("timeline", "barriers"), ("activity", "shapes")])
def test_pictures_of_the_documents_are_those_of_today(kind: str, name: str, golden: Golden) -> None:
    golden(f"../../docs/pictures/{kind}.svg", drawn(name, kind))


def test_the_legend_of_flow_names_all_that_is_drawn() -> None:
    found = texts(check(drawn("phases", "anatomy")))
    for text in ("another kernel waits", "A waits", "barrier", "loop", "forward edge", "code of A", "x10", "exit"):
        assert text in found, text
    plain = texts(check(drawn("separate", "anatomy")))
    assert "waits" not in plain


def test_legend_has_only_what_occurs() -> None:
    plain = texts(check(drawn("horizontal", "timeline")))
    assert "B: from issue to result" in plain and "A: from" not in plain and "barrier" not in plain
    assert "ended, or nothing to do" not in texts(check(drawn("pair", "activity")))
    assert "ended, or nothing to do" in texts(check(drawn("shapes", "activity")))


def test_every_instruction_has_a_bar() -> None:
    found = result("barriers").timeline()
    root = check(found._repr_svg_())
    titles = [e.text or "" for e in root.iter(f"{SVG}title")]
    for run in (*found.alone, found.woven):
        for s in run.slots:
            assert any(t.startswith(f"{s.text}\n") and f"issued at {s.issue}," in t for t in titles), s


@pytest.mark.slow
def test_long_blocks_have_small_pictures() -> None:
    woven = goptx.weave(path("sha256"), path("wmma"))
    chart = max(woven.anatomy().woven[0].blocks, key=lambda b: b.instructions)
    found = woven.timeline(chart.name)
    assert len(found.woven.slots) > 500
    svg = found._repr_svg_()
    check(svg)
    assert len(svg) < 300_000
    slots = found.woven.slots * 4
    longer = replace(found, woven=replace(found.woven, slots=slots))
    assert len(longer._repr_svg_()) < 300_000


def large(blocks: int) -> Chart:
    """A chain of blocks with a loop around each twenty, and one for each block of its own in every fortieth."""
    made = []
    for i in range(blocks):
        edges = [Edge(f"b{i + 1}" if i + 1 < blocks else "exit", "fallen", "")]
        if i % 20 == 19:
            edges.append(Edge(f"b{i - 19}", "taken", "@%p1"))
        elif i % 3 == 0 and i + 3 < blocks:
            edges.append(Edge(f"b{i + 3}", "taken", "@%p2"))
        made.append(Block(f"b{i}", i + 1, i + 1, 3, 6, 1, (), tuple(edges)))
    return Chart("", "large", "large.ptx", (*made, Block("exit", 0, 0, 0, 0, 0, (), ())))


def test_large_kernels_stay_legible() -> None:
    chart = large(300)
    rows = rows_of(chart)
    assert len(rows) <= MANY
    assert [b for row in rows for b in row.blocks] == list(chart.blocks)
    back = [edge for edge in edges_of(rows) if edge.back]
    assert len(back) == 15  # every loop is there, each between rows of its own
    assert all(len(rows[i].blocks) == 1 for w in back for i in (w.begin, w.end))
    assert len(rows_of(large(20))) == 21
    root = check(Anatomy("weave", "sm_90", (), (chart,))._repr_svg_())
    assert "… 18 blocks" in texts(root) and "several similar blocks" in texts(root)


def test_arcs_do_not_overlap() -> None:
    ends = [(0, 9), (1, 4), (2, 4), (5, 8), (3, 6), (7, 9), (4, 6)]
    edges = [RowEdge(begin, end, "") for begin, end in ends]
    found = lanes(edges)
    spans = {end: (min(edge.begin for edge in edges if edge.end == end), end) for end in found}
    for one, (low, high) in spans.items():
        for other, (begin, end) in spans.items():
            if one != other and low <= end and begin <= high:
                assert found[one] != found[other]
            if one != other and low <= begin and end <= high:
                assert found[one] > found[other]


def test_flow_of_a_file() -> None:
    module = goptx.read(path("lud"))
    assert "lud" in texts(check(flow_svg(module)))
    assert flow_svg(module) == flow_svg(module, "lud")
    check(flow_svg(replace(module, items=())))


def test_unknown_flow() -> None:
    chart = Chart("A", "jump", "jump.ptx", (), "jump.ptx:8: `brx.idx`: why")
    assert "the flow is unknown" in texts(check(Anatomy("weave", "sm_90", (chart,), ())._repr_svg_()))


def test_hostile_names() -> None:
    chart = replace(anatomy_of(goptx.read(path("sort"))), name='<b>&"\x01', source="a<b>/&\x02.ptx", letter="A")
    svg = Anatomy("<s>", "sm_90", (chart,), (replace(chart, letter=""),))._repr_svg_()
    check(svg)
    assert "<b>" not in svg and "<s>" not in svg


def test_text() -> None:
    assert escaped("a<b\x00\ud800&") == "a&lt;b\ufffd\ufffd&amp;"
    assert short("abcdefghij", 10) == "abcdefghij"
    assert (short("abcdefghijk", 5), short("abcdefghijk", 4)) == ("ab…jk", "ab…k")


@pytest.mark.parametrize(("width", "height"), [(30, 10), (10, 30), (5, 5), (200.5, 20)])
def test_hatching_stays_within_its_box(width: float, height: float) -> None:
    path_ = hatching(10, 20, width, height)
    numbers = [tuple(map(float, p)) for p in re.findall(r"[ML]([\d.]+) ([\d.]+)", path_)]
    assert numbers
    for x, y in numbers:
        assert 9.9 <= x <= 10.1 + width and 19.9 <= y <= 20.1 + height
