"""Which blocks the merger pairs, parks and copies, as the woven module has them."""

from itertools import product
from pathlib import Path

import networkx as nx
import pytest
from bodies import GUARD, flow, kernel

import goptx
from goptx.analysis.build_cfg import control_flow
from goptx.analysis.cfg import Flow, loops
from goptx.options import Slicing
from goptx.ptx.flatten import flatten
from goptx.weaving.converge.single_entry import reducible

CONSTRUCTS = goptx.read(Path(__file__).parents[1] / "constructs" / "constructs.sm_80.ptx")
NAMES = [e.name for e in CONSTRUCTS.entries]
BRANCHING = ["uniform_switch", "nested_loops", "barriers_in_loop", "grid_stride", "loop_with_break", "choose"]


def flow_of(woven: goptx.Woven) -> Flow:
    return control_flow(flatten(woven.module.entries[0].body or (), lambda n: n))


def has_single_entry_loops(found: Flow) -> bool:
    graph = found.graph().copy()
    idom = nx.immediate_dominators(graph, found.entry)

    def dominates(above: str, below: str) -> bool:
        while below not in (above, found.entry):
            below = idom[below]
        return below == above

    back = [(s, t) for s, t in graph.edges if dominates(t, s)]
    graph.remove_edges_from(back)
    return nx.is_directed_acyclic_graph(graph)


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), list(product(BRANCHING, BRANCHING)))
def test_merged_flow_is_reducible(first: str, second: str) -> None:
    woven = goptx.weave(CONSTRUCTS, CONSTRUCTS, entries=[first, second])
    assert has_single_entry_loops(flow_of(woven))


def test_splitting_keeps_every_path() -> None:
    irreducible = flow(
        """
        mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r1, 1; @%p1 bra MIDDLE;
        TOP: mov.u32 %r2, 1; @%p2 bra DONE;
        MIDDLE: mov.u32 %r3, 2; @%p2 bra DONE;
        bra TOP;
        DONE: mov.u32 %r4, 3; ret;
        """
    )
    assert not has_single_entry_loops(irreducible)
    split, origin = reducible(irreducible)
    assert has_single_entry_loops(split)
    assert set(origin.values()) <= set(irreducible.blocks)

    def words(found: Flow, length: int) -> set[tuple[str, ...]]:
        """The code along each path, up to a number of blocks."""
        result: set[tuple[str, ...]] = set()
        work: list[tuple[str, tuple[str, ...]]] = [(found.entry, ())]
        while work:
            name, before = work.pop()
            text = (*before, *map(str, found.blocks[name].code))
            result.add(text)
            if length > len(text):
                work += [(t, text) for t in found.blocks[name].end.successors()]
        return result

    assert words(split, 12) == words(irreducible, 12)


def test_straight_kernels_become_one_block() -> None:
    body = GUARD.replace("{body}", "ld.global.u32 %r3, [%rd1]; st.global.u32 [%rd2], %r3;")
    woven = goptx.weave(kernel(body), kernel(body, "other").replace("k_n", "other_n"))
    assert woven.report.merged.blocks == 1
    assert woven.report.woven_fraction == 1.0
    assert "bra" not in woven.ptx
    loads = [i for i, line in enumerate(woven.ptx.splitlines()) if "ld.global" in line]
    stores = [i for i, line in enumerate(woven.ptx.splitlines()) if "st.global" in line]
    assert max(loads) < max(stores)


def test_both_branching_gives_four_paths() -> None:
    """Two two-way branches become one and two stubs."""
    body = """
        mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 3; @%p1 bra A;
        st.global.u32 [%rd1], 1; ret;
        A: st.global.u32 [%rd1], 2; ret;
    """
    woven = goptx.weave(kernel(body), kernel(body), slicing=None)
    found = flow_of(woven)
    stores = [b for b in found.blocks.values() if sum("st.global" in str(c) for c in b.code) == 2]
    assert len(stores) == 4
    assert woven.report.merged.dummy_blocks == 0


def test_a_divergent_region_parks_the_other_kernel() -> None:
    woven = goptx.weave(CONSTRUCTS, CONSTRUCTS, entries=["divergent_shuffle", "straight"], slicing=64)
    assert woven.report.merged.dummy_blocks >= 1
    inside = [b for b in flow_of(woven).blocks.values() if any("shfl" in str(c) for c in b.code)]
    assert len(inside) == 1
    assert all("%b_" not in str(c) for c in inside[0].code)


def test_convergent_instructions_stand_outside_divergent_flow() -> None:
    """A shuffle beside a diverging partner: every branch around it is uniform."""
    woven = goptx.weave(CONSTRUCTS, CONSTRUCTS, entries=["warp_reduce", "if_else"])
    found = flow_of(woven)
    assert loops(found) == {}
    assert len([b for b in found.blocks.values() if b.code]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_construct_weaves_with_every_other(name: str) -> None:
    """Of each two the one or the other comes first."""
    first = NAMES.index(name)
    for other in NAMES[first::2] + NAMES[(first + 1) % 2 : first : 2]:
        woven = goptx.weave(CONSTRUCTS, CONSTRUCTS, entries=[name, other])
        assert woven.report.merged.instructions > 0
        assert has_single_entry_loops(flow_of(woven))


@pytest.mark.parametrize("slicing", [None, "adaptive", 8, 64])
def test_nounroll_stays_with_its_loop(slicing: Slicing) -> None:
    """Also where merging makes another block of the loop its first one."""
    body = "add.u32 %r1, %r1, 1; mul.lo.u32 %r2, %r2, %r1; setp.lt.u32 %p1, %r1, 9; @%p1 bra L; ret;"
    loop = f'L:\n.pragma "nounroll";\n{body}'
    woven = goptx.weave(kernel(loop), kernel("add.u32 %r1, %r1, 7; ret;", "other"), slicing=slicing)
    assert woven.ptx.count('.pragma "nounroll"') == 1
    assert "bra" in woven.ptx.split('.pragma "nounroll"')[1]


STRIDE = """
    ld.param.u64 %rd1, [stride_in]; ld.param.u64 %rd2, [stride_out]; ld.param.u32 %r9, [stride_n];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %nctaid.x;
    mad.lo.u32 %r5, %r2, %r3, %r1; STEP
    setp.ge.u32 %p1, %r5, %r9; @%p1 bra DONE;
    AGAIN: mul.wide.u32 %rd3, %r5, 4; add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r7, [%rd4];
    add.u32 %r8, %r7, 1; add.s64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r8;
    add.u32 %r5, %r5, %r6; setp.lt.u32 %p2, %r5, %r9; @%p2 bra AGAIN;
    DONE: ret;
"""
GUARDED = """
    ld.param.u64 %rd1, [guarded_in]; ld.param.u64 %rd2, [guarded_out]; ld.param.u32 %r9, [guarded_n];
    mov.u32 %r1, %ctaid.x; div.u32 %r2, %r1, %r9; setp.eq.u32 %p1, %r2, 7; @%p1 bra DONE;
    mov.u32 %r3, %tid.x; mov.u32 %r4, %ntid.x; mad.lo.u32 %r5, %r1, %r4, %r3; mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd1, %rd3; ld.global.s32 %r7, [%rd4]; add.s32 %r8, %r7, %r7;
    add.s64 %rd5, %rd2, %rd3; st.global.s32 [%rd5], %r8;
    DONE: ret;
"""


@pytest.mark.parametrize(
    ("step", "beside"),
    [("mul.lo.u32 %r6, %r3, %r4;", True), ("mov.u32 %r6, 64;", False)],
    ids=["grid", "number"],
)
def test_a_loop_that_runs_once_stands_beside_the_longest_block(step: str, beside: bool) -> None:
    """One that steps by the size of the grid. One that runs often has enough iterations for all blocks."""
    kernels = [kernel(GUARDED, "guarded"), kernel(STRIDE.replace("STEP", step), "stride")]
    woven = goptx.weave(*kernels, slicing=None, policy="latency")
    first = next(b for b in flow_of(woven).blocks.values() if any("ld.global.u32" in str(c) for c in b.code))
    assert any("ld.global.s32" in str(code) for code in first.code) == beside
