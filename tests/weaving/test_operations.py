"""Weaving takes time in proportion to the number of divergent places of a kernel: calls of functions are counted, which
are the same on every machine."""

import pstats
from collections.abc import Callable
from cProfile import Profile

import pytest
from bounded_child import OTHER
from test_bounded_input import (
    adds,
    early_ends,
    ifs,
    ifs_in_a_loop,
    long_sides,
    loops,
    loops_in_a_loop,
    nested_ifs,
    voted_sides,
)

import goptx
from goptx.results.expected_gain import unjudged

FEW = 10  # places


@pytest.fixture(autouse=True, scope="module")
def all_is_imported() -> None:
    goptx.weave(ifs(1), OTHER)


def calls(text: str) -> int:
    """How many functions are called while the kernel is woven, without what its estimate takes."""
    profile = Profile()
    with unjudged(), profile:
        goptx.weave(text, OTHER)
    return int(vars(pstats.Stats(profile))["total_calls"])


@pytest.mark.slow(all_cases=True)
@pytest.mark.parametrize(
    "make", [ifs, ifs_in_a_loop, early_ends, loops, loops_in_a_loop, long_sides, voted_sides, adds]
)
def test_twice_as_many_places_take_twice_as_many_calls(make: Callable[[int], str]) -> None:
    few, more, most = (calls(make(places)) for places in (FEW, 2 * FEW, 4 * FEW))
    assert most - more < 2.6 * (more - few)  # 2 if linear, 2.4 if n log n, and 4 if quadratic


@pytest.mark.slow
def test_nested_ifs_of_any_depth() -> None:
    few, more = (calls(nested_ifs(depth)) for depth in (40, 80))  # too many for predicates in either
    assert more < 2.4 * few
