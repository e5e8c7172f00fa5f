"""Slicing: Equation 1 over the blocks of a kernel's text, and where blocks are cut by it."""

from __future__ import annotations

import itertools
from functools import partial

import pytest
from bodies import HEAD, flow, kernel
from hypothesis import given
from hypothesis import strategies as st

import goptx
from goptx.analysis.build_cfg import text_blocks
from goptx.analysis.cfg import EXIT, Code
from goptx.latency.cost import cycles_of
from goptx.latency.table import load_table
from goptx.launch.shape import Shape
from goptx.options import Policy, Slicing
from goptx.ptx.ir import Instruction
from goptx.ptx.parse import parse
from goptx.sources.kernel_text import Chosen
from goptx.weaving.link.inline import inlined
from goptx.weaving.link.link import link
from goptx.weaving.merging.slice import adaptive_threshold, blocks_with_ends, cuts, slice_flow, slicings_of
from goptx.weaving.model import Choices
from goptx.weaving.shapes.shape_kernels import shape

CYCLES = {"ld": 290}


def cycles(code: Code) -> int:
    """4 for all that is not in `CYCLES`."""
    assert isinstance(code, Instruction)
    return CYCLES.get(code.opcode.partition(".")[0], 4)


def text(body: str) -> list[tuple[Code, ...]]:
    return text_blocks(parse(kernel(body)).entries[0].body)


def threshold(body: str) -> int:
    return adaptive_threshold(text(body), cycles)


def latencies(body: str) -> list[int]:
    """Of each block of the text."""
    return [sum(map(cycles, block)) for block in text(body)]


def slices(body: str, most: int | None = None) -> list[list[str]]:
    """The opcodes of each block that is left, without those that only end blocks."""
    cut = slice_flow(flow(body), threshold(body) if most is None else most, cycles)
    blocks = [[c.opcode.partition(".")[0] for c in b.code if isinstance(c, Instruction)] for b in cut.blocks.values()]
    return [block for block in blocks if block]


ADD, LOAD = "add.u32 %r1, %r1, 1;", "ld.global.u32 %r2, [%rd1];"


def test_the_papers_example() -> None:
    """Blocks of 4, 4, 290, 4 and of 4 cycles: the mean is 153."""
    body = f"{ADD} {ADD} {LOAD} @%p1 bra ON; ON: ret;"
    assert latencies(body) == [302, 4]
    assert threshold(body) == 153
    assert slices(body) == [["add", "add"], ["ld"]]


def test_straight_code_is_one_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    """One block, whose latency is the mean: neither the entry nor the exit of the flow is a block of the text."""
    body = f"{LOAD} {ADD * 32} bar.sync 0; ret;"
    monkeypatch.setitem(CYCLES, "bar", 3)
    assert threshold(body) == 290 + 32 * 4 + 3 + 4 == 425
    assert slices(body) == [["ld", *["add"] * 32, "bar"]]


def test_unequal_blocks() -> None:
    """40, 4 and 4 cycles: 16, not 12."""
    body = f"{ADD * 9} @%p1 bra ON; {ADD}\nON: ret;"
    assert latencies(body) == [40, 4, 4]
    assert threshold(body) == 16
    assert slices(body) == [["add"] * 4, ["add"] * 4, ["add"], ["add"]]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("ret;", [4]),
        ("exit;", [4]),
        (ADD, [4]),  # ends without `ret`
        (f"{ADD} A: B: {ADD} ret;", [12]),  # labels to which nothing branches
        (f"{ADD} bra.uni A; A: {ADD} ret;", [8, 8]),  # a branch ends a block, wherever it leads
        (f"{ADD} bra.uni A; {LOAD} A: ret;", [8, 4]),  # nothing comes to the load
        (f"A: {ADD} @%p1 bra A; ret;", [8, 4]),  # the flow begins with an empty block: it jumps to the loop
        (f"bra.uni A; A: {ADD} @%p1 bra A; ret;", [4, 8, 4]),  # here the text does
        (f"@%p1 ret; {ADD} ret;", [4, 8]),
        (f"@%p1 bra END; {ADD} END: ret;", [4, 4, 4]),  # the block of `ret`, to which flows jump past
        (f"@%p1 bra A; {ADD} bra.uni B; A: {ADD} B: ret;", [4, 8, 4, 4]),
        (f"T: .branchtargets A, B; brx.idx %r1, T; A: {ADD} B: ret;", [4, 4, 4]),
        (f"T: .branchtargets A, B; @%p1 brx.idx %r1, T; A: {ADD} B: ret;", [4, 4, 4]),
        (f"@%p1 bra A; A: {ADD} ret;", [4, 8]),
    ],
)
def test_the_blocks_of_a_text(body: str, expected: list[int]) -> None:
    assert sorted(latencies(body)) == sorted(expected)


def test_functions_in_place_of_their_calls_are_text() -> None:
    """One that waits stands where it is called; one that does not is a single instruction there."""
    functions = """
.func waits() { .reg .pred %p<2>; .reg .b32 %r<2>; @%p1 bra ON; bar.sync 0; ON: ret; }
.func plain() { .reg .pred %p<2>; .reg .b32 %r<2>; @%p1 bra ON; add.u32 %r1, %r1, 1; ON: ret; }
"""
    calls = kernel("call.uni waits; call.uni plain; ret;").replace(HEAD, HEAD + functions)
    found = [
        [c.opcode for c in b if isinstance(c, Instruction)] for b in text_blocks(inlined(parse(calls)).entries[0].body)
    ]
    assert ["bar.sync"] in [block[:1] for block in found]
    assert found[-1][-2:] == ["call.uni", "ret"]
    assert not any("add.u32" in block for block in found)


def test_the_terminator_counts_in_the_last_slice() -> None:
    """It never stands alone: together with the instruction above it the slice lasts too long, so that begins one."""
    body = f"{ADD} {ADD} {ADD} ret;"
    assert slices(body, 16) == [["add"] * 3]
    assert slices(body, 12) == [["add"] * 2, ["add"]]
    assert slices(body, 4) == [["add"]] * 3
    assert slices("ret;", 1) == []


def test_cuts_leave_a_long_instruction_a_slice_of_its_own() -> None:
    assert cuts([500, 500, 1], 100) == [1, 2]
    assert cuts([500], 100) == []


def test_a_merged_flow_has_the_blocks_that_it_stands_for() -> None:
    found = flow(f"{ADD} @%p1 bra ON; {ADD} @%p2 ret; ON: {LOAD} ret;")
    assert [sum(map(cycles, block)) for block in blocks_with_ends(found)] == [8, 8, 294]
    assert EXIT in found.blocks


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_the_table_says_how_long_terminators_last(arch: str) -> None:
    table = load_table(arch, arch)
    found = adaptive_threshold(text(f"{ADD} @%p1 bra ON; {ADD} ON: ret;"), partial(cycles_of, table))
    whole = 2 * table.cycles("add.u32") + table.cycles("bra") + table.cycles("ret")
    assert found == -(-whole // 3)


def test_what_shapes_and_divergence_add_does_not_count() -> None:
    """The code that finds out a kernel's own thread is not its text."""
    body = f"mov.u32 %r1, %tid.x; {ADD * 5} @%p1 bra ON; {ADD} ON: ret;"
    one, other = (Chosen(parse(kernel(body, name)), name) for name in ("k", "l"))
    choices = Choices("paper", "adaptive", load_table("sm_90", "sm_90"))
    for shapes in (None, [Shape(4, 64), Shape(2, 40)]):
        linked = shape(link([one, other], shapes=shapes), [one, other], shapes)
        assert [k.text_blocks() for k in linked.kernels] == [text(body)] * 2
        (slicing,) = slicings_of(linked, choices)
        for k, most in zip(linked.kernels, slicing.thresholds, strict=True):
            assert len(slice_flow(k.flow, most, choices.cycles).blocks) > len(k.flow.blocks)


def test_the_threshold_is_of_each_kernel() -> None:
    """ "All basic blocks" are those of one kernel: a long partner does not change how the other is sliced."""
    short, long = kernel(f"{ADD * 9} @%p1 bra ON; {ADD}\nON: ret;"), kernel(f"{LOAD * 9} ret;", "other")
    report = goptx.weave(short, long, policy="paper", name="w").report
    assert report.slicing == "adaptive"
    linked = link([Chosen(parse(short), "k"), Chosen(parse(long), "other")])
    assert adaptive_threshold(linked.kernels[0].text_blocks(), cycles) == 16


def order(policy: Policy, slicing: Slicing) -> str:
    """The kernel of each addition, in the woven kernel."""
    body = f"{ADD * 6} ret;"
    found = goptx.weave(kernel(body), kernel(body, "other"), policy=policy, slicing=slicing).ptx.splitlines()
    return "".join(line.strip()[len("add.u32 %")] for line in found if line.strip().startswith("add.u32"))


def test_published_policies_weave_each_pair_of_slices_by_itself() -> None:
    """ "concat" proves it: slices alternate. Policy "latency" orders what always follows each other as a whole."""
    cycle = load_table("sm_80", "sm_80").cycles("add.u32")
    assert order("concat", None) == "aaaaaabbbbbb"
    assert order("concat", 2 * cycle) == "aabb" * 2 + "ab" * 2  # the last slice has the `ret`
    assert order("paper", 2 * cycle) == order("paper", None) == "ab" * 6
    assert order("latency", 2 * cycle) == order("latency", None)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=40), st.integers(1, 120))
def test_no_slice_is_longer_than_the_threshold(found: list[int], most: int) -> None:
    """But a single instruction; and no two neighbours would fit into one by the first instruction of the second."""
    bounds = [0, *cuts(found, most), len(found)]
    pieces = [found[a:b] for a, b in itertools.pairwise(bounds)]
    assert all(len(p) == 1 or sum(p) <= most for p in pieces)
    assert all(sum(p) + q[0] > most for p, q in itertools.pairwise(pieces))
