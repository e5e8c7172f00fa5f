"""Weaving takes time in proportion to the number of divergent places of a kernel: calls of functions are counted, which
are the same on every machine."""

import pstats
from collections.abc import Callable
from cProfile import Profile

import pytest
from bounded_child import OTHER
from test_bounded_input import (
    LOADED,
    adds,
    early_ends,
    ifs,
    ifs_in_a_loop,
    kernel,
    long_sides,
    loops,
    loops_in_a_loop,
    nested_ifs,
    voted_sides,
)

import goptx
from goptx.results.expected_gain import unjudged

FEW = 10  # places
STORE = "st.global.u32 [%d3], %r2;\n"
CALLED = ".func (.param .b32 r) f(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; st.param.b32 [r], %x; ret; }\n"
CALL = "{{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r2; call (r), f, (a); ld.param.b32 %r2, [r]; }}\n"
PIECES = {  # repeated with numbers
    "barriers": f"add.s32 %r2, %r2, 1;\n{STORE}bar.sync 0;\n",
    "loads": f"ld.global.u32 %r3, [%d3];\nadd.s32 %r2, %r2, %r3;\n{STORE}",
    "shuffles": "shfl.sync.bfly.b32 %r2, %r2, 1, 31, -1;\n",
    "carries": "add.cc.u32 %r2, %r2, 1;\naddc.u32 %r2, %r2, 0;\n",
    "labels": "L{0}:\nadd.s32 %r2, %r2, 1;\n",
    "uniform branches": "setp.eq.s32 %p1, %r4, {0};\n@%p1 bra L{0};\nadd.s32 %r2, %r2, 1;\nL{0}:\n",
    "shared variables": ".shared .u32 s{0};\nst.shared.u32 [s{0}], %r2;\n",
    "registers": ".reg .b32 %x{0}_;\nmov.u32 %x{0}_, %r2;\n",
    "calls": CALL,
}


@pytest.fixture(autouse=True, scope="module")
def all_is_imported() -> None:
    goptx.weave(ifs(1), OTHER)


def switch(targets: int) -> str:
    """Of data: lanes go to any of the targets."""
    labels = ", ".join(f"L{i}" for i in range(targets))
    sides = "".join(f"L{i}:\nadd.s32 %r2, %r2, {i};\nbra E;\n" for i in range(targets))
    return kernel(f"{LOADED}T: .branchtargets {labels};\nbrx.idx %r2, T;\n{sides}E:\n{STORE}")


def calls(text: str) -> int:
    """How many functions are called while the kernel is woven, without what its estimate takes."""
    profile = Profile()
    with unjudged(), profile:
        goptx.weave(text, OTHER)
    return int(vars(pstats.Stats(profile))["total_calls"])


def growth(make: Callable[[int], str]) -> float:
    """How many times as many calls twice as many places take, beside the fixed costs of a kernel: 2 if linear, 2.4 if
    n log n, and 4 if quadratic."""
    few, more, most = (calls(make(places)) for places in (FEW, 2 * FEW, 4 * FEW))
    return (most - more) / (more - few)


@pytest.mark.slow(all_cases=True)
@pytest.mark.parametrize(
    "make", [ifs, ifs_in_a_loop, early_ends, loops, loops_in_a_loop, long_sides, voted_sides, switch, adds]
)
def test_twice_as_many_places_take_twice_as_many_calls(make: Callable[[int], str]) -> None:
    assert growth(make) < 2.6


@pytest.mark.slow(all_cases=True)
@pytest.mark.parametrize("piece", PIECES)
def test_twice_as_long_code_takes_twice_as_many_calls(piece: str) -> None:
    assert growth(lambda places: kernel(LOADED + "".join(map(PIECES[piece].format, range(places))), CALLED)) < 2.6


@pytest.mark.slow
def test_nested_ifs_of_any_depth() -> None:
    few, more = (calls(nested_ifs(depth)) for depth in (40, 80))  # too many for predicates in either
    assert more < 2.4 * few
