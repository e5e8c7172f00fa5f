"""What threads do: which warps of which CTAs, and that the woven code computes the same."""

import json
from itertools import pairwise

import pytest
from anatomy.results import NAMES, path, result

import goptx
from goptx import Shape
from goptx.anatomy.placed import carried, spans, warps
from goptx.launch.launch_plan import Plan
from goptx.weaving.shapes.interleaved import Interleaved


def test_interleaved_as_documented() -> None:
    front = goptx.fuse(
        path("harris"), path("sort"), strategy="interleave", placement="front", shapes=[Shape(4, 256), Shape(8, 128)]
    )
    plan = front.plan
    assert isinstance(plan, Interleaved)
    assert "".join("ab"[carried(plan, c)[0][0]] for c in range(12)) == "aaaabbbbbbbb"
    for name, expected in (("interleave", "abbabbabbabb"), ("ratio", "aabaabbbbbbb")):
        own = result(name).plan
        assert own
        assert "".join("ab"[carried(own, c)[0][0]] for c in range(12)) == expected


@pytest.mark.parametrize("name", ["interleave", "ratio"])
def test_every_cta_of_each_kernel_is_carried_once(name: str) -> None:
    plan = result(name).plan
    assert plan
    found = [carried(plan, c) for c in range(plan.shape.ctas or 0)]
    assert [sum(held[0][0] == k for held in found) for k in range(2)] == [4, 8]


def test_spread_and_front_under_weave() -> None:
    spread = goptx.weave(path("harris"), path("sort"), shapes=[Shape(9, 256), Shape(4, 128)]).plan
    assert isinstance(spread, Plan)
    assert sum(any(k == 1 for k, _ in carried(spread, c)) for c in range(9)) == 4
    front = result("shapes").plan
    assert front
    assert [(a, b, [k for k, _ in held]) for a, b, held in spans(front)] == [(0, 511, [0, 1]), (512, 1023, [0])]
    assert [(a, b, [k for k, _ in held]) for a, b, held in warps(front, ((0, 1), (1, 1)))] == [
        (0, 3, [0, 1]),
        (4, 7, [0]),
    ]


def test_left_over_ctas() -> None:
    found = result("left_over").activity()
    assert [r.ctas for r in found.rows] == [(0, 254), (255, 256)]
    assert {s.copy for s in found.rows[0].segments} == {0, 1, 2, 3}
    (one,) = found.rows[1].segments
    assert (one.copy, one.end) == (0, result("left_over").report.kernels["A"].estimated_cycles)


def test_no_more_ctas_in_one_than_there_are() -> None:
    """A grid of 3 CTAs with a coarsening factor of 4."""
    few, shapes = goptx.coarsen(path("sort"), 4), [Shape(7, 256), Shape(3, 256)]
    woven = goptx.fuse(path("harris"), few, strategy="interleave", placement="front", shapes=shapes)
    found = woven.activity()
    assert found.copies == (1, 3)
    first, second = found.rows
    assert (first.ctas, second.ctas) == ((0, 6), (7, 7))
    assert {s.copy for s in second.segments} == {0, 1, 2}


@pytest.mark.parametrize("name", ["pair", "barriers", "phases", "three", "coarsened", "copies", "vertical", "auto"])
def test_a_warp_of_all_kernels_lasts_as_long_as_in_the_report(name: str) -> None:
    woven = result(name)
    assert woven.activity().cycles == woven.report.merged.estimated_cycles


def test_strategies() -> None:
    (both,) = result("pair").activity().rows
    assert (both.ctas, both.warps, both.kernels) == ((0, None), (0, None), ("A", "B"))
    assert len(both.segments) > 5
    (turns,) = result("vertical").activity().rows
    assert [s.kernel for s in turns.segments] == ["A", "B"]
    beside = [r for r in result("horizontal").activity().rows if r.ctas[0] == 0]
    assert [(r.warps, r.kernels) for r in beside] == [((0, 7), ("A",)), ((8, 11), ("B",))]
    first, second = result("separate").activity().rows
    assert (first.ctas, second.ctas) == ((0, 1023), (0, 511))
    assert second.segments[0].begin == first.segments[-1].end > 0
    assert [first.label, second.label] == ["CTAs 0-1023 of A, warps 0-7", "CTAs 0-511 of B, warps 0-3"]
    assert {r.segments[0].begin for r in result("streams").activity().rows} == {0}


def test_kernels_that_only_end() -> None:
    nothing = ".version 8.0\n.target sm_90\n.address_size 64\n.entry nothing()\n{\n    ret;\n}\n"
    found = goptx.weave(nothing, nothing).activity()
    assert (found.cycles, [r.segments for r in found.rows]) == (0, [()])
    assert "nothing to do</text>" in found._repr_svg_() and "0 estimated cycles" in str(found)
    first, second = goptx.fuse(nothing, path("sort"), strategy="separate").activity().rows
    assert not first.segments and second.segments[0].begin == 0


def test_grids_that_are_known_at_launch_only() -> None:
    open_ = [Shape(None, 256), Shape(None, 128)]
    found = goptx.fuse(path("harris"), path("sort"), strategy="interleave", shapes=open_).activity()
    labels = ["every CTA of A, warps 0-7", "every CTA of B, warps 0-3", "every CTA of B, warps 4-7"]
    assert [r.label for r in found.rows] == labels
    assert [r.kernels for r in found.rows] == [("A",), ("B",), ()]
    assert found.notes == ("the shape of the launch is not known",)


@pytest.mark.parametrize("name", NAMES)
def test_segments_follow_each_other(name: str) -> None:
    found = result(name).activity()
    for row in found.rows:
        for one, next_ in pairwise(row.segments):
            assert one.begin < one.end <= next_.begin + 0.11
    assert max(s.end for r in found.rows for s in r.segments) == found.cycles
    assert json.loads(json.dumps(found.to_dict()))["strategy"] == found.strategy
    text = str(found).splitlines()
    assert text[0].startswith(f"strategy {found.strategy}, ")
    assert all(row.label in "\n".join(text) for row in found.rows)
